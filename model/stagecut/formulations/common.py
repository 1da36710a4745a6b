"""Families of variables and rows that every formulation over ranges shares.

Symbols: candidate ``r`` with range ``i_r..j_r``, size ``n_r``, cost ``c_r`` and successor limit
``p_r``; ``x_r`` = 1 if used; ``t`` the epigraph variable. Costs are divided by ``scale``.
"""

from collections.abc import Iterable, Sequence

import numpy as np
import pulp

from stagecut.candidates import Candidates
from stagecut.problem import StageProblem

type Terms = list[tuple[pulp.LpVariable, float]]


def cost_scale(candidates: Candidates, num_layers: int, floor: float = 0.0) -> float:
    """Seconds that the model calls 1: a lower bound on the largest stage cost.

    Every layer runs somewhere, so the dearest of the layers' cheapest stages is such a bound; a
    known ``floor`` may be higher. The epigraph variable is then at least 1, whatever the unit of
    the table.
    """
    cheapest = np.full(num_layers, np.inf)
    for layer in range(num_layers):
        covering = (candidates.first <= layer) & (layer <= candidates.last)
        cheapest[layer] = candidates.cost[covering].min(initial=np.inf)
    bound = float(cheapest[np.isfinite(cheapest)].max(initial=floor))
    if bound > 0:
        return bound
    largest = float(candidates.cost.max(initial=0.0))
    return largest if largest > 0 else 1.0


def expression(terms: Terms) -> pulp.LpAffineExpression:
    """Return a linear expression from (variable, coefficient) pairs, the cheapest way in PuLP."""
    return pulp.LpAffineExpression.from_list(terms)


def use_variables(model: pulp.LpProblem, candidates: Candidates) -> list[pulp.LpVariable]:
    """Add ``x_r``, named ``x_<i>_<j>_<m>_<c>``."""
    names = zip(
        candidates.first.tolist(),
        candidates.last.tolist(),
        candidates.submesh.tolist(),
        candidates.config.tolist(),
        strict=True,
    )
    return [model.add_variable(f"x_{i}_{j}_{m}_{c}", 0, 1, "Binary") for i, j, m, c in names]


def add_flow_rows(
    model: pulp.LpProblem, candidates: Candidates, use: Sequence[pulp.LpVariable], num_layers: int
) -> None:
    """Add the cover of all layers as a path: as many stages start at ``l`` as end at ``l - 1``.

    One stage starts at layer 0. Two nonzeros a column; equal to cover rows, whose differences these
    are.
    """
    rows: list[Terms] = [[] for _ in range(num_layers + 1)]
    for x, i, j in zip(use, candidates.first.tolist(), candidates.last.tolist(), strict=True):
        rows[i].append((x, 1.0))
        rows[j + 1].append((x, -1.0))
    for layer, terms in enumerate(rows[:-1]):
        model.addConstraint(expression(terms) == float(layer == 0), f"flow_{layer}")


def add_cover_rows(
    model: pulp.LpProblem, candidates: Candidates, use: Sequence[pulp.LpVariable], num_layers: int
) -> None:
    """Add one row a layer: exactly one used range covers it."""
    for layer in range(num_layers):
        covering = np.flatnonzero((candidates.first <= layer) & (layer <= candidates.last))
        terms = [(use[r], 1.0) for r in covering.tolist()]
        model.addConstraint(expression(terms) == 1.0, f"cover_{layer}")


def add_device_row(
    model: pulp.LpProblem,
    problem: StageProblem,
    candidates: Candidates,
    use: Sequence[pulp.LpVariable],
) -> None:
    """Add ``sum of n_r x_r = D`` (or ``<= D``)."""
    used = expression(list(zip(use, map(float, candidates.size.tolist()), strict=True)))
    if problem.use_all_devices:
        model.addConstraint(used == float(problem.num_devices), "devices")
    else:
        model.addConstraint(used <= float(problem.num_devices), "devices")


def add_successor_rows(
    model: pulp.LpProblem, candidates: Candidates, use: Sequence[pulp.LpVariable], num_layers: int
) -> None:
    """Add the successor limit without a stage index.

    For each layer ``l``: stages that start after ``l`` number at most the limit of the stage that
    covers ``l``. Binding where the covering stage ends at ``l``, implied before.
    """
    if candidates.limit is None:
        return
    limit = np.minimum(candidates.limit, num_layers).tolist()
    for layer in range(num_layers - 1):
        after = np.flatnonzero(candidates.first > layer).tolist()
        cover = np.flatnonzero((candidates.first <= layer) & (layer <= candidates.last)).tolist()
        terms = [(use[r], 1.0) for r in after] + [(use[r], -float(limit[r])) for r in cover]
        model.addConstraint(expression(terms) <= 0.0, f"successors_{layer}")


def set_objective(
    model: pulp.LpProblem,
    problem: StageProblem,
    use: Sequence[pulp.LpVariable],
    costs: Sequence[float],
    bottleneck: pulp.LpVariable,
) -> None:
    """Minimise the problem's objective in units of ``scale``.

    ``"stages_times_bottleneck"`` is a product; with one binary ``y_s`` per number of stages ``s``
    and ``t = sum of w_s``, ``w_s <= T y_s``, it is ``sum of s w_s``, exactly.
    """
    total: Terms = list(zip(use, costs, strict=True))
    match problem.objective:
        case "training":
            weight = float(problem.num_microbatches - 1)
            model.setObjective(expression([*total, (bottleneck, weight)]))
        case "bottleneck":
            model.setObjective(expression([(bottleneck, 1.0)]))
        case "latency":
            model.setObjective(expression(total))
        case "stages_times_bottleneck":
            largest = max(costs, default=0.0)
            counts = range(1, problem.num_layers + 1)
            model.setObjective(expression(_product_terms(model, use, bottleneck, counts, largest)))


def _product_terms(
    model: pulp.LpProblem,
    use: Sequence[pulp.LpVariable],
    bottleneck: pulp.LpVariable,
    counts: Iterable[int],
    largest: float,
) -> Terms:
    """Add ``y_s``, ``w_s`` and their rows; return the terms of ``sum of s w_s``."""
    one: Terms = []
    count: Terms = [(x, -1.0) for x in use]
    parts: Terms = [(bottleneck, -1.0)]
    product: Terms = []
    for s in counts:
        y = model.add_variable(f"y_{s}", 0, 1, "Binary")
        w = model.add_variable(f"w_{s}", 0)
        model.addConstraint(expression([(w, 1.0), (y, -largest)]) <= 0.0, f"part_{s}")
        one.append((y, 1.0))
        count.append((y, float(s)))
        parts.append((w, 1.0))
        product.append((w, float(s)))
    model.addConstraint(expression(one) == 1.0, "one_count")
    model.addConstraint(expression(count) == 0.0, "count")
    model.addConstraint(expression(parts) == 0.0, "parts")
    return product
