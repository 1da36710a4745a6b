"""Transfers between neighbouring stages, on top of any formulation over candidate stages.

Sets
    cuts ``k``; submeshes ``m`` before and ``q`` after a cut.
Variables
    ``y_k_m_q``: the cut after layer ``k`` is made, from ``m`` to ``q``; whole where ``x`` is.
    ``v``: at least the largest stage cost and transfer.
Constraints
    | (Y1) before    sum over q of y_k_m_q = sum of x_r that end at k on m
    | (Y2) after     sum over m of y_k_m_q = sum of x_r that start at k + 1 on q
    | (Y3) largest   v >= t, and v >= sum of transfers[k, m, q] y_k_m_q
"""

import numpy as np
import numpy.typing as npt
import pulp

from stagecut.errors import UnsupportedError
from stagecut.formulations.built import BuiltModel
from stagecut.formulations.common import Terms, expression

type Pairs = dict[tuple[int, int, int], pulp.LpVariable]


def add_transfers(built: BuiltModel, transfers: npt.NDArray[np.float64]) -> None:
    """Add transfers to the objective of ``built``.

    Raises
    ------
    UnsupportedError
        If the objective is a product with the bottleneck.
    """
    problem = built.problem
    if problem.objective == "stages_times_bottleneck":
        raise UnsupportedError(
            "models cannot state transfers with objective 'stages_times_bottleneck'; "
            "ask for solver='dp'"
        )
    pairs = _pair_variables(built, transfers.shape)  # (Y1), (Y2)
    scaled = transfers / built.scale
    largest = built.model.add_variable("v", 0)
    _add_largest_rows(built, pairs, scaled, largest)  # (Y3)
    total = built.total + expression([(y, float(scaled[place])) for place, y in pairs.items()])
    match problem.objective:
        case "training":
            weight = float(problem.num_microbatches - 1)
            built.model.setObjective(total + expression([(largest, weight)]))
        case "latency":
            built.model.setObjective(total)
        case _:
            built.model.setObjective(expression([(largest, 1.0)]))


def _pair_variables(built: BuiltModel, shape: tuple[int, ...]) -> Pairs:
    pairs = {
        (k, m, q): built.model.add_variable(f"y_{k}_{m}_{q}", 0, 1)
        for k, m, q in np.ndindex(*shape)
    }
    r = built.candidates
    for k in range(shape[0]):
        for m in range(shape[1]):
            out: Terms = [(pairs[k, m, q], -1.0) for q in range(shape[2])]
            ends = built.weighted((r.last == k) & (r.submesh == m))
            built.model.addConstraint(ends + expression(out) == 0.0, f"before_{k}_{m}")
            into: Terms = [(pairs[k, q, m], -1.0) for q in range(shape[1])]
            starts = built.weighted((r.first == k + 1) & (r.submesh == m))
            built.model.addConstraint(starts + expression(into) == 0.0, f"after_{k}_{m}")
    return pairs


def _add_largest_rows(
    built: BuiltModel,
    pairs: Pairs,
    scaled: npt.NDArray[np.float64],
    largest: pulp.LpVariable,
) -> None:
    row = expression([(largest, 1.0), (built.bottleneck, -1.0)])
    built.model.addConstraint(row >= 0.0, "largest")
    for k in range(len(scaled)):
        terms: Terms = [
            (pairs[k, m, q], -float(scaled[k, m, q])) for m, q in np.ndindex(*scaled.shape[1:])
        ]
        built.model.addConstraint(expression([(largest, 1.0), *terms]) >= 0.0, f"largest_{k}")
