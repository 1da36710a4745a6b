"""The range model with the number of successors as an index of each stage.

Reference: Zheng et al. (OSDI 2022, section 5.2) number stages from the end in their recurrence; a
set partition over (successors, range, submesh) is its model.

Sets
    successors ``s``, candidates ``r`` (layers ``i_r..j_r``, size ``n_r``, cost ``c_r``, limit
    ``p_r``), layers ``l``.
Variables
    ``x_sr`` binary: the stage is used and ``s`` stages follow. It exists where ``s <= p_r``, for
    the cheapest config of its range and submesh among those; ``s = 0`` only at the last layer.
    ``u_l``: cost of the stage that covers layer ``l``; ``t``: at least the largest stage cost.
Objective
    minimise ``sum of c_r x_sr + (B - 1) t`` (other objectives: :func:`common.set_objective`).
Constraints
    | (R1) chain      sum of x_sr that end at l - 1 = sum of x_(s-1)r that start at l, for s >= 1
    | (R2) start      sum of x_sr that start at layer 0 = 1
    | (R3) devices    sum of n_r x_sr = D (or <= D)
    | (R4) carry      u_l = sum of c_r x_sr covering l, in sparse form
    | (R5) epigraph   t >= u_l, for each l

``c_r`` in (R4) is ``max(c_r, t_lo)``. Successor limits take no rows. A point of its LP is one of
``range`` when summed over ``s``, so its LP bound is at least that of ``range``. A row ``t >= sum of
c_r x_sr`` for each ``s`` is valid too, but raises the bound little and makes HiGHS far slower.

Cannot express: nothing of the problem. It has up to ``K`` times the columns of ``range``.
"""

import numpy as np
import pulp

from stagecut.candidates import Candidates, Int, select
from stagecut.formulations import carry, common
from stagecut.formulations.built import BuiltModel, PlacedModel
from stagecut.problem import StageProblem


def build(problem: StageProblem, candidates: Candidates, floor: float = 0.0) -> BuiltModel:
    """Build the model; ``floor`` is ``t_lo`` in seconds."""
    model = pulp.LpProblem("stage_indexed", pulp.LpMinimize)
    num_layers = problem.num_layers
    scale = common.cost_scale(candidates, num_layers, floor)
    successors, owner = _columns(problem, candidates)
    r = select(candidates, owner)
    use = common.use_variables(model, r, successors)
    bottleneck = model.add_variable("t", 0)
    bounds = common.counts(problem, candidates, floor, scale)
    total = common.cost_terms(use, r.cost / scale)
    common.set_objective(model, problem, total, use, bottleneck, bounds)
    _add_chain_rows(model, r, successors, use, num_layers)  # (R1)
    starting = [(use[k], 1.0) for k in np.flatnonzero(r.first == 0).tolist()]
    model.addConstraint(common.expression(starting) == 1.0, "start")  # (R2)
    common.add_device_row(model, problem, r, use)  # (R3)
    raised = np.maximum(r.cost, floor) / scale
    carried = carry.add_carry_rows(model, use, raised, r.first, r.last, num_layers)  # (R4)
    carry.add_epigraph_rows(model, carried, bottleneck)  # (R5)
    return PlacedModel(
        problem, candidates, model, use, owner, bottleneck, scale, successors, _successors
    )


def _successors(stages: Candidates) -> Int:
    return np.arange(len(stages))[::-1]


def _columns(problem: StageProblem, candidates: Candidates) -> tuple[Int, Int]:
    """Return successors and candidate of each column."""
    num_layers, smallest = problem.num_layers, int(candidates.size.min(initial=1))
    indices, owners = [np.empty(0, np.int64)], [np.empty(0, np.int64)]
    for s in range(min(num_layers, problem.num_devices // smallest)):
        after = num_layers - 1 - candidates.last
        fits = (after >= s) & ((after == 0) == (s == 0))
        fits &= candidates.size + s * smallest <= problem.num_devices
        if candidates.limit is not None:
            fits &= candidates.limit >= s
        chosen = _cheapest(candidates, np.flatnonzero(fits))
        indices.append(np.full(len(chosen), s))
        owners.append(chosen)
    return np.concatenate(indices), np.concatenate(owners)


def _cheapest(candidates: Candidates, chosen: Int) -> Int:
    """Return those of ``chosen`` that are the cheapest of their range and submesh, ascending."""
    r = select(candidates, chosen)
    order = np.lexsort((r.cost, r.submesh, r.last, r.first))
    place = np.stack([r.first, r.last, r.submesh])[:, order]
    is_first = np.ones(len(order), dtype=bool)
    is_first[1:] = (place[:, 1:] != place[:, :-1]).any(axis=0)
    return np.sort(chosen[order[is_first]])


def _add_chain_rows(
    model: pulp.LpProblem,
    r: Candidates,
    successors: Int,
    use: list[pulp.LpVariable],
    num_layers: int,
) -> None:
    rows: dict[tuple[int, int], common.Terms] = {}
    columns = zip(use, r.first.tolist(), r.last.tolist(), successors.tolist(), strict=True)
    for x, i, j, s in columns:
        if j < num_layers - 1:
            rows.setdefault((s, j + 1), []).append((x, 1.0))
        if i > 0:
            rows.setdefault((s + 1, i), []).append((x, -1.0))
    for (s, layer), terms in sorted(rows.items()):
        model.addConstraint(common.expression(terms) == 0.0, f"chain_{s}_{layer}")
