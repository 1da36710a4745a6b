"""Layers assigned to stages: the model that most papers write.

Reference: the layer-to-device assignment programs of the field (for one, Tarnawski et al., NeurIPS
2020, whose contiguous splits are such a model), with a submesh for each stage.

Sets
    layers ``l``, stages ``s = 0..S-1`` counted by successors, so that stage 0 is the last one;
    submeshes ``m`` of ``n_m`` devices.
Variables
    ``z_ls`` binary: layer ``l`` is in stage ``s``; ``g_sm`` binary: stage ``s`` runs on submesh
    ``m``; ``v_lsm = z_ls g_sm``, linearised; ``t``: at least the largest stage cost.
Objective
    minimise ``sum of c_lm v_lsm + (B - 1) t`` (other objectives: :func:`common.set_objective`).
Constraints
    | (R1) one stage   sum of z_ls over s = 1, for each l; z_(K-1)0 = 1
    | (R2) contiguous  0 <= sum of s z_ls - sum of s z_(l+1)s <= 1, for each l < K - 1
    | (R3) one submesh sum of g_sm over m <= 1, and <= sum of z_ls over l, for each s
    | (R4) devices     sum of n_m g_sm = D (or <= D)
    | (R5) product     v_lsm <= g_sm; sum of v_lsm over m = z_ls
    | (R6) epigraph    t >= sum of c_lm v_lsm over l and m, for each s; t >= t_lo

Cannot express: costs of a range that are not the sum of its layers' costs; ranges that are not
allowed although their layers are; successor limits; rows and rules about
a stage that ask for more than its submesh.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pulp

from stagecut.candidates import Candidates, Float, Int, compile_candidates
from stagecut.errors import SolverError
from stagecut.formulations import additive, common
from stagecut.formulations.built import BuiltModel
from stagecut.problem import StageProblem

type Grid = list[list[pulp.LpVariable]]


@dataclass(frozen=True, slots=True)
class AssignmentModel(BuiltModel):
    """The built model: ``columns`` are all ``z_ls``, then all ``g_sm``.

    Parameters
    ----------
    layer_in
        ``z_ls`` by layer and stage.
    stage_on
        ``g_sm`` by stage and submesh.
    product
        ``v_lsm`` by (layer, stage, submesh), where the layer may run on the submesh.
    """

    layer_in: Grid
    stage_on: Grid
    product: dict[tuple[int, int, int], pulp.LpVariable]

    def layer_on(self, layer: int, submesh: int) -> pulp.LpAffineExpression:
        """Return 1 if ``layer`` runs on ``submesh``, otherwise 0."""
        self._check_layer(layer)
        self._check_submesh(submesh)
        places = [(layer, s, submesh) for s in range(len(self.stage_on))]
        return common.expression([(self.product[p], 1.0) for p in places if p in self.product])

    @property
    def total(self) -> pulp.LpAffineExpression:
        """Sum of stage costs, in units of ``scale``."""
        costs = additive.layer_costs(self.problem, self.candidates) / self.scale
        return common.expression([(v, float(costs[p[0], p[2]])) for p, v in self.product.items()])

    def weighted(self, weights: npt.ArrayLike) -> pulp.LpAffineExpression:
        """Return the sum of ``weights`` over the stages used.

        Raises
        ------
        UnsupportedError
            If a weight depends on more than the submesh.
        """
        by_stage = np.asarray(weights, dtype=np.float64)
        by_submesh = np.zeros(len(self.problem.submeshes))
        by_submesh[self.candidates.submesh] = by_stage
        if (by_submesh[self.candidates.submesh] != by_stage).any():
            self.stages()
        terms = [(g, w) for row in self.stage_on for g, w in zip(row, by_submesh, strict=True) if w]
        return common.expression([(g, float(w)) for g, w in terms])

    def used(self) -> list[int]:
        """Return the candidates that the values of the columns choose, in layer order."""
        stage_of = [_chosen(row) for row in self.layer_in]
        index = {key: r for r, key in enumerate(_places(self.candidates))}
        chosen = []
        for s in sorted(set(stage_of), reverse=True):
            layers = [layer for layer, stage in enumerate(stage_of) if stage == s]
            key = (layers[0], layers[-1], _chosen(self.stage_on[s]))
            if key not in index:
                raise SolverError(f"the values of {self.model.name!r} choose no stage at {key}")
            chosen.append(index[key])
        return chosen

    def columns_of(self, stages: Sequence[int]) -> list[int]:
        """Return the columns that are 1 in the plan of these candidates, in layer order."""
        position = {column.name: k for k, column in enumerate(self.columns)}
        r, names = self.candidates, []
        for s, stage in enumerate(reversed(stages)):
            names.append(self.stage_on[s][int(r.submesh[stage])].name)
            layers = range(int(r.first[stage]), int(r.last[stage]) + 1)
            names += [self.layer_in[layer][s].name for layer in layers]
        return [position[name] for name in names]


def build(problem: StageProblem, candidates: Candidates, floor: float = 0.0) -> BuiltModel:
    """Build the model; ``floor`` is ``t_lo`` in seconds.

    Of ``candidates``, only the dearest counts, as an upper bound on ``t``: others that are missing
    among the problem's stages stay possible here, since no row could rule out one range.

    Raises
    ------
    UnsupportedError
        If costs are not additive, a range is not allowed although its layers are, or a successor
        limit may bind.
    """
    stages, dearest = compile_candidates(problem), float(candidates.cost.max(initial=floor))
    layer_costs = additive.layer_costs(problem, stages)
    additive.refuse(problem, stages, layer_costs)
    layer_costs = np.where(layer_costs <= dearest, layer_costs, np.inf)
    model = pulp.LpProblem("assignment", pulp.LpMinimize)
    scale = common.cost_scale(candidates, problem.num_layers, floor)
    num_stages = min(problem.num_layers, problem.num_devices // int(problem.sizes.min()))
    layer_in = _grid(model, "z", problem.num_layers, num_stages)
    stage_on = _grid(model, "g", num_stages, len(problem.submeshes))
    product = _products(model, layer_costs, layer_in, stage_on)
    bottleneck = model.add_variable("t", floor / scale, dearest / scale)
    costs = [(v, float(layer_costs[p[0], p[2]]) / scale) for p, v in product.items()]
    used = [g for row in stage_on for g in row]
    bounds = common.counts(problem, candidates, floor, scale)
    common.set_objective(model, problem, costs, used, bottleneck, bounds)
    _add_layer_rows(model, layer_in)  # (R1), (R2)
    _add_stage_rows(model, problem, layer_in, stage_on)  # (R3), (R4)
    _add_product_rows(model, layer_in, stage_on, product)  # (R5)
    _add_epigraph_rows(model, dict(zip(product, costs, strict=True)), num_stages, bottleneck)  # R6
    columns = [z for row in layer_in for z in row] + used
    return AssignmentModel(
        problem, stages, model, columns, None, bottleneck, scale, layer_in, stage_on, product
    )


def _places(candidates: Candidates) -> list[tuple[int, int, int]]:
    columns = (candidates.first, candidates.last, candidates.submesh)
    return list(zip(*(column.tolist() for column in columns), strict=True))


def _chosen(row: list[pulp.LpVariable]) -> int:
    return int(np.argmax([variable.varValue or 0.0 for variable in row]))


def _grid(model: pulp.LpProblem, name: str, rows: int, columns: int) -> Grid:
    return [
        [model.add_variable(f"{name}_{i}_{k}", 0, 1, "Binary") for k in range(columns)]
        for i in range(rows)
    ]


def _products(
    model: pulp.LpProblem, layer_costs: Float, layer_in: Grid, stage_on: Grid
) -> dict[tuple[int, int, int], pulp.LpVariable]:
    allowed: Int = np.argwhere(np.isfinite(layer_costs))
    return {
        (layer, s, m): model.add_variable(f"v_{layer}_{s}_{m}", 0, 1)
        for layer, m in allowed.tolist()
        for s in range(len(stage_on))
    }


def _add_layer_rows(model: pulp.LpProblem, layer_in: Grid) -> None:
    for layer, row in enumerate(layer_in):
        one = common.expression([(z, 1.0) for z in row])
        model.addConstraint(one == 1.0, f"one_{layer}")
    last = common.expression([(z, 1.0) for z in layer_in[-1][:1]])
    model.addConstraint(last == 1.0, "last")
    for layer in range(len(layer_in) - 1):
        here = [(z, float(s)) for s, z in enumerate(layer_in[layer])]
        after = [(z, -float(s)) for s, z in enumerate(layer_in[layer + 1])]
        step = common.expression([*here, *after])
        model.addConstraint(step >= 0.0, f"order_{layer}")
        model.addConstraint(step <= 1.0, f"step_{layer}")


def _add_stage_rows(
    model: pulp.LpProblem, problem: StageProblem, layer_in: Grid, stage_on: Grid
) -> None:
    devices: common.Terms = []
    for s, row in enumerate(stage_on):
        shapes = [(g, 1.0) for g in row]
        model.addConstraint(common.expression(shapes) <= 1.0, f"submesh_{s}")
        layers = [(of_layer[s], -1.0) for of_layer in layer_in]
        model.addConstraint(common.expression([*shapes, *layers]) <= 0.0, f"filled_{s}")
        devices += list(zip(row, map(float, problem.sizes.tolist()), strict=True))
    used = common.expression(devices)
    available = float(problem.num_devices)
    model.addConstraint(
        used == available if problem.use_all_devices else used <= available, "devices"
    )


def _add_product_rows(
    model: pulp.LpProblem,
    layer_in: Grid,
    stage_on: Grid,
    product: dict[tuple[int, int, int], pulp.LpVariable],
) -> None:
    parts: dict[tuple[int, int], common.Terms] = {
        (layer, s): [(z, -1.0)] for layer, row in enumerate(layer_in) for s, z in enumerate(row)
    }
    for (layer, s, m), v in product.items():
        row = common.expression([(v, 1.0), (stage_on[s][m], -1.0)])
        model.addConstraint(row <= 0.0, f"product_{layer}_{s}_{m}")
        parts[layer, s].append((v, 1.0))
    for (layer, s), terms in parts.items():
        model.addConstraint(common.expression(terms) == 0.0, f"whole_{layer}_{s}")


def _add_epigraph_rows(
    model: pulp.LpProblem,
    costs: dict[tuple[int, int, int], tuple[pulp.LpVariable, float]],
    num_stages: int,
    bottleneck: pulp.LpVariable,
) -> None:
    rows: list[common.Terms] = [[(bottleneck, 1.0)] for _ in range(num_stages)]
    for (_, s, _), (v, cost) in costs.items():
        rows[s].append((v, -cost))
    for s, row in enumerate(rows):
        model.addConstraint(common.expression(row) >= 0.0, f"epigraph_{s}")
