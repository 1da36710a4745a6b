"""The referee: the only definition of a right plan and of what it costs.

It imports no solver. Sums are right-associated float64, ``c_0 + (c_1 + (c_2 + ...))``, the order in
which the dynamic programme adds, so that the two agree to the last bit.
"""

from dataclasses import dataclass

import numpy as np

from stagecut.errors import PlanError, ProblemError
from stagecut.plan import Plan, Stage
from stagecut.problem import Objective, StageProblem
from stagecut.rule_check import rule_violations
from stagecut.worst_case import is_robust, worst_objective

COST_TOLERANCE = 1e-9
"""Relative difference allowed between a stage's recorded cost and the table."""


@dataclass(frozen=True, slots=True)
class Evaluation:
    """What a plan costs, in seconds.

    Parameters
    ----------
    total
        Sum of stage costs and transfers.
    bottleneck
        Largest stage cost or transfer.
    objective
        The problem's objective; in the worst case where the problem asks for ``robustness``. Total
        and bottleneck are always those of the costs as they are.
    """

    total: float
    bottleneck: float
    objective: float


def check(problem: StageProblem, plan: Plan) -> None:
    """Raise unless ``plan`` is a valid plan of ``problem``.

    Raises
    ------
    PlanError
        Naming every violation: layers not covered once in order, unknown submesh or config, a
        stage that is not allowed, a recorded cost that is not the table's, devices, successors,
        rules.

    Examples
    --------
    >>> import stagecut as sc
    >>> problem = sc.StageProblem([[[1.0], [2.0]], [[1.0], [1.0]]], [(1, 1)], 2, 4)
    >>> sc.check(problem, sc.Plan.from_choices(problem, [(0, 1, 0, 0)]))
    Traceback (most recent call last):
    ...
    stagecut.errors.PlanError: the plan uses 1 devices, the problem requires exactly 2
    """
    violations = [
        *_coverage(problem, plan),
        *(text for s, stage in enumerate(plan.stages) for text in _stage(problem, plan, s, stage)),
        *_devices(problem, plan),
        *rule_violations(problem.rules, plan),
    ]
    if violations:
        raise PlanError(violations)


def evaluate(problem: StageProblem, plan: Plan) -> Evaluation:
    """Price a valid plan anew from the problem's cost table.

    Raises
    ------
    PlanError
        If the plan is not valid.

    Examples
    --------
    >>> import stagecut as sc
    >>> problem = sc.StageProblem([[[1.0], [2.0]], [[1.0], [1.0]]], [(1, 1)], 2, 4)
    >>> sc.evaluate(problem, sc.Plan.from_choices(problem, [(0, 0, 0, 0), (1, 1, 0, 0)]))
    Evaluation(total=2.0, bottleneck=1.0, objective=5.0)
    """
    check(problem, plan)
    total, bottleneck, after = 0.0, 0.0, None
    for stage in reversed(plan.stages):
        cost, sent = _table_cost(problem, stage), _transfer(problem, stage, after)
        total = cost + (sent + total)
        bottleneck, after = max(bottleneck, cost, sent), stage
    if is_robust(problem):
        objective = _worst(problem, plan)
    else:
        objective = combine(
            problem.objective, total, bottleneck, plan.num_stages, problem.num_microbatches
        )
    return Evaluation(total, bottleneck, objective)


def _transfer(problem: StageProblem, stage: Stage, after: Stage | None) -> float:
    """Return the seconds between a stage and the one after it."""
    if problem.transfers is None or after is None:
        return 0.0
    shapes = problem.submeshes
    pair = shapes.index(stage.submesh), shapes.index(after.submesh)
    return float(problem.transfers[stage.last_layer, *pair])


def _worst(problem: StageProblem, plan: Plan) -> float:
    assert problem.cost_spread is not None
    return worst_objective(
        problem.objective,
        [_table_cost(problem, stage) for stage in plan.stages],
        [float(problem.cost_spread[_index(problem, stage)]) for stage in plan.stages],
        problem.robustness,
        problem.num_microbatches,
    )


def combine(
    objective: Objective, total: float, bottleneck: float, num_stages: int, num_microbatches: int
) -> float:
    """Return the objective in seconds from a plan's total, bottleneck and number of stages."""
    match objective:
        case "training":
            return total + (num_microbatches - 1) * bottleneck
        case "bottleneck":
            return bottleneck
        case "latency":
            return total
        case "stages_times_bottleneck":
            return num_stages * bottleneck
    raise ProblemError(f"objective {objective!r} is unknown")


def _coverage(problem: StageProblem, plan: Plan) -> list[str]:
    if not plan.stages:
        return ["the plan has no stages"]
    found, expected = [], 0
    for s, stage in enumerate(plan.stages):
        if stage.first_layer != expected:
            found.append(f"stage {s} starts at layer {stage.first_layer}, expected {expected}")
        if stage.last_layer < stage.first_layer:
            found.append(
                f"stage {s} ends at layer {stage.last_layer}, before its first layer "
                f"{stage.first_layer}"
            )
        expected = stage.last_layer + 1
    if expected != problem.num_layers:
        found.append(
            f"the last stage ends at layer {expected - 1}, the problem's last layer is "
            f"{problem.num_layers - 1}"
        )
    return found


def _stage(problem: StageProblem, plan: Plan, s: int, stage: Stage) -> list[str]:
    where = f"stage {s} (layers {stage.first_layer}..{stage.last_layer} on {stage.submesh})"
    if stage.submesh not in problem.submeshes:
        return [f"{where}: the problem has no submesh {stage.submesh}"]
    if not 0 <= stage.config < problem.num_configs:
        return [f"{where}: config {stage.config} is outside 0..{problem.num_configs - 1}"]
    if not 0 <= stage.first_layer <= stage.last_layer < problem.num_layers:
        return [f"{where}: the range is outside 0..{problem.num_layers - 1}"]
    cost = _table_cost(problem, stage)
    if not np.isfinite(cost):
        return [f"{where}: config {stage.config} is not allowed there (cost inf)"]
    found = []
    if not abs(stage.cost - cost) <= COST_TOLERANCE * cost:
        found.append(f"{where}: recorded cost {stage.cost!r} s, the table says {cost!r} s")
    if problem.max_successors is not None:
        most = int(problem.max_successors[_index(problem, stage)])
        successors = plan.num_stages - 1 - s
        if most < 0:
            found.append(f"{where}: never fits in memory (max_successors -1)")
        elif successors > most:
            found.append(f"{where}: {successors} stages follow, memory allows {most}")
    return found


def _devices(problem: StageProblem, plan: Plan) -> list[str]:
    if problem.pools is None:
        return _device_count(problem, "", plan.num_devices, problem.num_devices)
    return [
        text
        for pool, devices in problem.pools.items()
        for text in _device_count(problem, f"pool {pool!r}: ", plan.devices_of(pool), devices)
    ]


def _device_count(problem: StageProblem, where: str, used: int, devices: int) -> list[str]:
    if used == devices or (used < devices and not problem.use_all_devices):
        return []
    rule = "requires exactly" if problem.use_all_devices else "has"
    return [f"{where}the plan uses {used} devices, the problem {rule} {devices}"]


def _index(problem: StageProblem, stage: Stage) -> tuple[int, int, int, int]:
    submesh = problem.submeshes.index(stage.submesh)
    return stage.first_layer, stage.last_layer, submesh, stage.config


def _table_cost(problem: StageProblem, stage: Stage) -> float:
    return float(problem.cost[_index(problem, stage)])
