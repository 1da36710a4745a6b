"""The worst case of up to ``Γ`` slow stages, on top of any formulation over candidate stages.

Reference: Bertsimas and Sim (Operations Research, 2004). The sum of the ``Γ`` largest of ``w`` is
the least ``Γ θ + sum of p_i`` with ``p_i >= w_i - θ`` and ``p_i, θ >= 0`` (LP duality).

Variables
    ``s_i``: spread of the stage that starts at layer ``i`` (0 where none does); ``θ_l``, ``p_l_i``
    for each layer ``l`` at which the largest stage may start, and once more without one; ``z``:
    what the worst case adds to the sum of stage costs.
Objective
    minimise ``sum of c_r x_r + z``.
Constraints
    | (W1) spread    s_i = sum of s_r x_r over r that start at i
    | (W2) slow      p_l_i >= s_i - θ_l, and p_l_l >= B s_l - θ_l
    | (W3) worst     z >= (B - 1) x cost of the stage that starts at l + Γ θ_l + sum of p_l_i
    | (W4) bound     z >= (B - 1) t + Γ θ + sum of p_i, implied, and strong in the LP
"""

import numpy as np
import pulp

from stagecut.errors import UnsupportedError
from stagecut.formulations.built import BuiltModel
from stagecut.formulations.common import Terms, expression


def add_worst_case(built: BuiltModel) -> None:
    """Replace the objective of ``built`` by the worst case, for ``training`` and ``latency``.

    Raises
    ------
    UnsupportedError
        For other objectives, which :func:`stagecut.worst_case.plain_equivalent` states.
    """
    problem, model = built.problem, built.model
    if problem.objective not in ("training", "latency"):
        raise UnsupportedError(
            f"a model of {problem.objective!r} has no worst case of its own; build it for "
            "cost + cost_spread with robustness=0, which is the same"
        )
    weight = float(problem.num_microbatches - 1) if problem.objective == "training" else 0.0
    spreads = _spread_variables(built)  # (W1)
    worst = model.add_variable("z", 0)
    bound = _largest_spreads(built, "all", spreads, None)  # (W2)
    row = expression([*bound, (built.bottleneck, weight), (worst, -1.0)])
    model.addConstraint(row <= 0.0, "worst_all")  # (W4)
    if weight > 0:
        for layer in range(problem.num_layers):
            terms = _largest_spreads(built, str(layer), spreads, layer)  # (W2)
            costs = built.candidates.cost / built.scale * (built.candidates.first == layer)
            used = built.weighted(costs * weight)
            model.addConstraint(used + expression([*terms, (worst, -1.0)]) <= 0.0, f"worst_{layer}")
    model.setObjective(built.total + expression([(worst, 1.0)]))


def _spread_variables(built: BuiltModel) -> list[pulp.LpVariable]:
    r, table = built.candidates, built.problem.cost_spread
    assert table is not None
    spread = table[r.first, r.last, r.submesh, r.config] / built.scale
    made = []
    for layer in range(built.problem.num_layers):
        variable = built.model.add_variable(f"s_{layer}", 0)
        used = built.weighted(np.where(r.first == layer, spread, 0.0))
        built.model.addConstraint(used - variable == 0.0, f"spread_{layer}")
        made.append(variable)
    return made


def _largest_spreads(
    built: BuiltModel, name: str, spreads: list[pulp.LpVariable], bottleneck: int | None
) -> Terms:
    """Add ``θ``, ``p`` and their rows; return the terms of ``Γ θ + sum of p_i``."""
    model = built.model
    threshold = model.add_variable(f"theta_{name}", 0)
    terms: Terms = [(threshold, float(built.problem.robustness))]
    for layer, spread in enumerate(spreads):
        excess = model.add_variable(f"p_{name}_{layer}", 0)
        times = float(built.problem.num_microbatches) if layer == bottleneck else 1.0
        row = expression([(excess, 1.0), (spread, -times), (threshold, 1.0)])
        model.addConstraint(row >= 0.0, f"slow_{name}_{layer}")
        terms.append((excess, 1.0))
    return terms
