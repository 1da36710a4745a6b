"""Paths through a network of layers and devices, with all layer cuts and device cuts.

Reference: a device-expanded network, as in the recurrence of Zheng et al. (OSDI 2022, eq. 4), whose
states are the nodes here.

Sets
    nodes ``(l, d)``: layers before ``l`` done on ``d`` devices; arcs ``a``: candidate ``r`` from
    ``(i_r, d)`` to ``(j_r + 1, d + n_r)``, where the ends can be reached from ``(0, 0)`` and lead
    to ``(K, D)`` (or to any ``(K, d)``, with at most ``D``).
Variables
    ``x_a`` binary: the path takes arc ``a``; ``u_l``, ``v_d``: cost of the stage that covers layer
    ``l``, that holds device ``d``; ``t``: at least the largest stage cost.
Objective
    minimise ``sum of c_a x_a + (B - 1) t`` (other objectives: :func:`common.set_objective`).
Constraints
    | (R1) path       arcs into (l, d) = arcs out of it, for 0 < l < K; one arc out of (0, 0)
    | (R2) layer cuts  u_l = sum of c_a x_a covering l, t >= u_l
    | (R3) device cuts v_d = sum of c_a x_a holding device d, t >= v_d
    | (R4) successors sum of x_a that start after l <= sum of p_a x_a that cover l, with limits

``c_a`` in (R2) and (R3) is ``max(c_r, t_lo)``. Each path crosses each cut at most once. Devices are
counted by (R1). A point of the LP is one of ``range`` when summed over ``d``, so the LP bound is at
least that of ``range``.

``flow_all_cuts`` has a row for every cut between source and sink, by multiplying (R1) with ``t``:

Variables
    ``f_e``: ``t`` times the sum of ``x_a`` over the arcs ``a`` from one node to another, ``e``.
Constraints
    | (R5) all cuts   f_e >= sum of c_a x_a over e; sum of f_e into a node = out of it; out of
    |                 (0, 0): t

By max-flow min-cut, the least ``t`` of (R5) is the dearest cut, layer and device cuts among them.
So it takes the place of (R2) and (R3), and its LP bound is at least that of ``flow``.

Cannot express: nothing of the problem. It has up to ``D`` times the columns of ``range``; it pays
in the bound, not in time.
"""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pulp

from stagecut.candidates import Candidates, Int, select
from stagecut.formulations import carry, common
from stagecut.formulations.built import BuiltModel, PlacedModel
from stagecut.problem import StageProblem

type Node = tuple[int, int]


def build(problem: StageProblem, candidates: Candidates, floor: float = 0.0) -> BuiltModel:
    """Build the model with layer and device cuts; ``floor`` is ``t_lo`` in seconds."""
    built, before = _build_paths("flow", problem, candidates, floor)
    r, model = built.stages(), built.model
    raised = np.maximum(r.cost, floor) / built.scale
    families = {
        "": (r.first, r.last, problem.num_layers),  # (R2)
        "device_": (before, before + r.size - 1, problem.num_devices),  # (R3)
    }
    for name, (first, last, num_cuts) in families.items():
        carried = carry.add_carry_rows(model, built.columns, raised, first, last, num_cuts, name)
        carry.add_epigraph_rows(model, carried, built.bottleneck, name)
    return built


def build_all_cuts(problem: StageProblem, candidates: Candidates, floor: float = 0.0) -> BuiltModel:
    """Build the model with every cut; ``floor`` is ``t_lo`` in seconds."""
    built, before = _build_paths("flow_all_cuts", problem, candidates, floor)
    raised = np.maximum(built.stages().cost, floor) / built.scale
    ends = _ends(built.stages(), before)
    priced: dict[tuple[Node, Node], common.Terms] = {}
    for end, term in zip(ends, common.cost_terms(built.columns, raised), strict=True):
        priced.setdefault(end, []).append(term)
    flows = []
    for ((i, d), (j, e)), terms in priced.items():
        flows.append(built.model.add_variable(f"f_{i}_{d}_{j}_{e}", 0))
        row = [(flows[-1], 1.0), *((x, -cost) for x, cost in terms)]
        built.model.addConstraint(common.expression(row) >= 0.0, f"priced_{i}_{d}_{j}_{e}")
    _add_path_rows(
        built.model, flows, list(priced), problem.num_layers, (built.bottleneck, 1.0), "all_cuts"
    )
    return built


def _build_paths(
    name: str, problem: StageProblem, candidates: Candidates, floor: float
) -> tuple[PlacedModel, Int]:
    """Build all but the epigraph rows; return the devices before each column too."""
    model = pulp.LpProblem(name, pulp.LpMinimize)
    num_layers = problem.num_layers
    scale = common.cost_scale(candidates, num_layers, floor)
    before, owner = _arcs(problem, candidates)
    r = select(candidates, owner)
    use = common.use_variables(model, r, before)
    bottleneck = model.add_variable("t", 0)
    bounds = common.counts(problem, candidates, floor, scale)
    total = common.cost_terms(use, r.cost / scale)
    common.set_objective(model, problem, total, use, bottleneck, bounds)
    _add_path_rows(model, use, _ends(r, before), num_layers, 1.0, "path")  # (R1)
    common.add_successor_rows(model, r, use, num_layers)  # (R4)
    built = PlacedModel(
        problem, candidates, model, use, owner, bottleneck, scale, before, _devices_before
    )
    return built, before


def _devices_before(stages: Candidates) -> Int:
    return np.cumsum(stages.size) - stages.size


def _arcs(problem: StageProblem, candidates: Candidates) -> tuple[Int, Int]:
    """Return devices before, and candidate, of each arc on some path."""
    reached, leads = _useful_nodes(problem, candidates)
    befores, owners = [np.empty(0, np.int64)], [np.empty(0, np.int64)]
    moves = zip(
        candidates.first.tolist(), candidates.last.tolist(), candidates.size.tolist(), strict=True
    )
    for index, (i, j, n) in enumerate(moves):
        before = np.flatnonzero(reached[i, : reached.shape[1] - n] & leads[j + 1, n:])
        befores.append(before)
        owners.append(np.full(len(before), index))
    return np.concatenate(befores), np.concatenate(owners)


def _useful_nodes(
    problem: StageProblem, candidates: Candidates
) -> tuple[npt.NDArray[np.bool_], npt.NDArray[np.bool_]]:
    """Return, shape ``(K + 1, D + 1)``, which nodes are reached and which lead to an end."""
    num_layers, num_devices = problem.num_layers, problem.num_devices
    reached = np.zeros((num_layers + 1, num_devices + 1), dtype=bool)
    leads = reached.copy()
    reached[0, 0] = True
    leads[num_layers, num_devices if problem.use_all_devices else slice(None)] = True
    moves = np.unique(np.stack([candidates.first, candidates.last, candidates.size]), axis=1)
    for i, j, n in moves.T.tolist():
        reached[j + 1, n:] |= reached[i, : num_devices + 1 - n]
    for i, j, n in moves.T[::-1].tolist():
        leads[i, : num_devices + 1 - n] |= leads[j + 1, n:]
    return reached, leads


def _ends(r: Candidates, before: Int) -> list[tuple[Node, Node]]:
    columns = (r.first, before, r.last + 1, before + r.size)
    return [((i, d), (j, e)) for i, d, j, e in zip(*(c.tolist() for c in columns), strict=True)]


def _add_path_rows(
    model: pulp.LpProblem,
    flows: Sequence[pulp.LpVariable],
    ends: list[tuple[Node, Node]],
    num_layers: int,
    value: float | tuple[pulp.LpVariable, float],
    name: str,
) -> None:
    """Let what flows into a node flow out of it, and ``value`` out of the source."""
    rows: dict[Node, common.Terms] = {(0, 0): []}
    for flow, (tail, head) in zip(flows, ends, strict=True):
        rows.setdefault(tail, []).append((flow, 1.0))
        if head[0] < num_layers:
            rows.setdefault(head, []).append((flow, -1.0))
    for (layer, device), terms in rows.items():
        right = value if (layer, device) == (0, 0) else 0.0
        if isinstance(right, tuple):
            terms, right = [*terms, (right[0], -right[1])], 0.0
        model.addConstraint(common.expression(terms) == right, f"{name}_{layer}_{device}")
