"""Families of variables and rows that every formulation over ranges shares.

Symbols: candidate ``r`` with range ``i_r..j_r``, size ``n_r``, cost ``c_r`` and successor limit
``p_r``; ``x_r`` = 1 if used; ``t`` the epigraph variable. Costs are divided by ``scale``.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pulp

from stagecut.candidates import Candidates, Float, Int
from stagecut.problem import StageProblem

type Terms = list[tuple[pulp.LpVariable, float]]


def lower_bound(candidates: Candidates, num_layers: int, floor: float = 0.0) -> float:
    """Return a lower bound on the largest stage cost of any plan, in seconds.

    Every layer runs somewhere, so the dearest of the layers' cheapest stages is such a bound; a
    known ``floor`` may be higher.
    """
    cheapest = np.full(num_layers, np.inf)
    for layer in range(num_layers):
        covering = (candidates.first <= layer) & (layer <= candidates.last)
        cheapest[layer] = candidates.cost[covering].min(initial=np.inf)
    return float(cheapest[np.isfinite(cheapest)].max(initial=floor))


def cost_scale(candidates: Candidates, num_layers: int, floor: float = 0.0) -> float:
    """Seconds that the model calls 1: :func:`lower_bound` where it is not 0.

    The epigraph variable is then at least 1, whatever the unit of the table.
    """
    bound = lower_bound(candidates, num_layers, floor)
    if bound > 0:
        return bound
    largest = float(candidates.cost.max(initial=0.0))
    return largest if largest > 0 else 1.0


def expression(terms: Terms) -> pulp.LpAffineExpression:
    """Return a linear expression from (variable, coefficient) pairs, the cheapest way in PuLP."""
    return pulp.LpAffineExpression.from_list(terms)


def cost_terms(columns: Sequence[pulp.LpVariable], costs: Float) -> Terms:
    """Return the terms of ``sum of c_a x_a``, for costs of shape ``(len(columns),)``."""
    return list(zip(columns, costs.tolist(), strict=True))


def use_variables(
    model: pulp.LpProblem, stages: Candidates, place: Int | None = None
) -> list[pulp.LpVariable]:
    """Add ``x_a``, named ``x_<i>_<j>_<m>_<c>``, and ``_<place>`` where columns have places."""
    axes = [stages.first, stages.last, stages.submesh, stages.config]
    axes += [] if place is None else [place]
    names = zip(*(axis.tolist() for axis in axes), strict=True)
    return [model.add_variable("_".join(["x", *map(str, key)]), 0, 1, "Binary") for key in names]


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
    covers ``l``. Binding where the covering stage ends at ``l``, implied before. Their differences
    from layer to layer would have three nonzeros a column, but HiGHS takes far longer with those.
    """
    if candidates.limit is None:
        return
    limit = np.minimum(candidates.limit, num_layers).tolist()
    for layer in range(num_layers - 1):
        after = np.flatnonzero(candidates.first > layer).tolist()
        cover = np.flatnonzero((candidates.first <= layer) & (layer <= candidates.last)).tolist()
        terms = [(use[r], 1.0) for r in after] + [(use[r], -float(limit[r])) for r in cover]
        model.addConstraint(expression(terms) <= 0.0, f"successors_{layer}")


@dataclass(frozen=True, slots=True)
class Counts:
    """What may be said of a plan of ``s = 1..K`` stages, for the product of ``s`` and ``t``.

    Parameters
    ----------
    dearest
        float64, shape ``(K,)``: entry ``s - 1`` is the largest cost of a stage in any plan of ``s``
        stages, in units of the model's scale; ``-inf`` where there is no such plan.
    least
        A lower bound on the largest stage cost of any plan, in the same units.
    """

    dearest: Float
    least: float


def counts(problem: StageProblem, candidates: Candidates, floor: float, scale: float) -> Counts:
    """Bound stage costs by the number of stages: ``s`` stages leave none longer than ``K - s + 1``.

    A stage with layers before it, or after it, is not the only one.
    """
    num_layers, r = problem.num_layers, candidates
    length = r.last - r.first + 1
    fewest = 1 + (r.first > 0).astype(np.int64) + (r.last < num_layers - 1)
    most_stages = problem.num_devices // int(r.size.min(initial=1))
    dearest = np.full(num_layers, -np.inf)
    for s in range(1, min(num_layers, most_stages) + 1):
        fits = (length <= num_layers - s + 1) & (fewest <= s)
        dearest[s - 1] = r.cost[fits].max(initial=-np.inf) / scale
    return Counts(dearest, lower_bound(candidates, num_layers, floor) / scale)


def set_objective(
    model: pulp.LpProblem,
    problem: StageProblem,
    total: Terms,
    stages: Sequence[pulp.LpVariable],
    bottleneck: pulp.LpVariable,
    bounds: Counts,
) -> None:
    """Minimise the problem's objective in units of ``scale``.

    ``"stages_times_bottleneck"`` is a product; with one binary ``y_s`` per number of stages ``s``,
    ``t = sum of w_s`` and ``t_lo y_s <= w_s <= T_s y_s``, it is ``sum of s w_s``, exactly. ``T_s``
    is the dearest stage of a plan of ``s`` stages.

    Parameters
    ----------
    total
        Terms of the sum of stage costs.
    stages
        Variables that sum to the number of stages.
    bottleneck
        ``t``.
    bounds
        ``T_s`` and ``t_lo``.
    """
    match problem.objective:
        case "training":
            weight = float(problem.num_microbatches - 1)
            model.setObjective(expression([*total, (bottleneck, weight)]))
        case "bottleneck":
            model.setObjective(expression([(bottleneck, 1.0)]))
        case "latency":
            model.setObjective(expression(total))
        case "stages_times_bottleneck":
            model.setObjective(expression(_product_terms(model, stages, bottleneck, bounds)))


def _product_terms(
    model: pulp.LpProblem,
    stages: Sequence[pulp.LpVariable],
    bottleneck: pulp.LpVariable,
    bounds: Counts,
) -> Terms:
    """Add ``y_s``, ``w_s`` and their rows; return the terms of ``sum of s w_s``."""
    one: Terms = []
    count: Terms = [(x, -1.0) for x in stages]
    parts: Terms = [(bottleneck, -1.0)]
    product: Terms = []
    for s, dearest in enumerate(bounds.dearest.tolist(), start=1):
        if dearest < bounds.least:
            continue
        y = model.add_variable(f"y_{s}", 0, 1, "Binary")
        w = model.add_variable(f"w_{s}", 0)
        model.addConstraint(expression([(w, 1.0), (y, -dearest)]) <= 0.0, f"most_{s}")
        model.addConstraint(expression([(w, 1.0), (y, -bounds.least)]) >= 0.0, f"least_{s}")
        one.append((y, 1.0))
        count.append((y, float(s)))
        parts.append((w, 1.0))
        product.append((w, float(s)))
    model.addConstraint(expression(one) == 1.0, "one_count")
    model.addConstraint(expression(count) == 0.0, "count")
    model.addConstraint(expression(parts) == 0.0, "parts")
    return product
