"""The range model with the largest stage cost cut into levels.

Reference: incremental (delta) form of a piecewise linear variable, after Markowitz and Manne
(Econometrica 1957), on the clique rows of :mod:`stagecut.formulations.range`.

Sets
    candidates ``r`` (layers ``i_r..j_r``, size ``n_r``, cost ``c_r``), layers ``l``, levels ``b``
    from ``T_b`` to ``T_b + w_b``; ``T_0 = t_lo`` and widths double, so that levels are narrow near
    the best bottleneck.
Variables
    ``x_r`` binary: the stage is used; ``d_b``: part of ``t`` in level ``b``; ``u_bl``: part of the
    stage that covers layer ``l`` in level ``b``; ``y_b`` binary: ``t`` exceeds ``T_b``; ``t``.
Objective
    minimise ``sum of c_r x_r + (B - 1) t`` (other objectives: :func:`common.set_objective`).
Constraints
    | (R1) flow       starts at l = ends at l - 1, for each l; one start at layer 0
    | (R2) devices    sum of n_r x_r = D (or <= D)
    | (R3) levels     t = T_0 + sum of d_b, w_(b-1) y_b <= d_(b-1), d_b <= w_b y_b
    | (R4) carry      u_bl = sum of min(max(c_r - T_b, 0), w_b) x_r covering l, for each b and l
    | (R5) epigraph   d_b >= u_bl, for each b and l
    | (R6) successors sum of x_r that start after l <= sum of p_r x_r that cover l, with limits

Summed over ``b``, (R5) is the epigraph row of ``range`` with coefficients ``max(c_r, T_0)``; each
level may take its maximum at another layer, so the LP bound is at least that of ``range``.

Cannot express: nothing of the problem. It has up to five times the nonzeros of ``range``.
"""

from itertools import pairwise

import numpy as np
import pulp

from stagecut.candidates import Candidates, Float
from stagecut.formulations import carry, common
from stagecut.formulations.built import BuiltModel
from stagecut.problem import StageProblem

NUM_LEVELS = 5
FIRST_WIDTH = 1 / 64
"""Width of the lowest level, in units of ``T_0``."""


def build(problem: StageProblem, candidates: Candidates, floor: float = 0.0) -> BuiltModel:
    """Build the model; ``floor`` is ``t_lo`` in seconds."""
    model = pulp.LpProblem("levels", pulp.LpMinimize)
    num_layers = problem.num_layers
    scale = common.cost_scale(candidates, num_layers, floor)
    costs = candidates.cost / scale
    use = common.use_variables(model, candidates)
    bottleneck = model.add_variable("t", 0)
    total = common.cost_terms(use, costs)
    bounds = common.counts(problem, candidates, floor, scale)
    common.set_objective(model, problem, total, use, bottleneck, bounds)
    common.add_flow_rows(model, candidates, use, num_layers)  # (R1)
    common.add_device_row(model, problem, candidates, use)  # (R2)
    edges = thresholds(bounds.least, float(costs.max(initial=0.0)))
    parts = _add_levels(model, bottleneck, edges)  # (R3)
    for b, (part, low, high) in enumerate(zip(parts, edges[:-1], edges[1:], strict=True)):
        within = np.clip(costs - low, 0.0, high - low)
        carried = carry.add_carry_rows(  # (R4)
            model, use, within, candidates.first, candidates.last, num_layers, f"{b}_"
        )
        carry.add_epigraph_rows(model, carried, part, f"{b}_")  # (R5)
    common.add_successor_rows(model, candidates, use, num_layers)  # (R6)
    owner = np.arange(len(candidates), dtype=np.int64)
    return BuiltModel(problem, candidates, model, use, owner, bottleneck, scale)


def thresholds(lowest: float, largest: float) -> Float:
    """Return ``T_0 < T_1 < ...`` and the end of the last level, which is the largest cost.

    Examples
    --------
    >>> thresholds(1.0, 1.5).tolist()
    [1.0, 1.015625, 1.046875, 1.109375, 1.234375, 1.5]
    """
    unit = lowest if lowest > 0 else 1.0
    edges = lowest + unit * FIRST_WIDTH * (2.0 ** np.arange(NUM_LEVELS) - 1)
    return np.append(edges[edges < largest], max(largest, lowest))


def _add_levels(
    model: pulp.LpProblem, bottleneck: pulp.LpVariable, edges: Float
) -> list[pulp.LpVariable]:
    widths = np.diff(edges).tolist()
    parts = [model.add_variable(f"d_{b}", 0, width) for b, width in enumerate(widths)]
    whole = common.expression([(bottleneck, 1.0), *((part, -1.0) for part in parts)])
    model.addConstraint(whole == float(edges[0]), "levels")
    exceeds = [model.add_variable(f"over_{b}", 0, 1, "Binary") for b in range(1, len(parts))]
    for b, ((below, part), y) in enumerate(zip(pairwise(parts), exceeds, strict=True), start=1):
        full = common.expression([(below, 1.0), (y, -widths[b - 1])])
        model.addConstraint(full >= 0.0, f"below_{b}")
        opened = common.expression([(part, 1.0), (y, -widths[b])])
        model.addConstraint(opened <= 0.0, f"within_{b}")
    return parts
