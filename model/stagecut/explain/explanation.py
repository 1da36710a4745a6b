"""The order of questions: layers, chains, devices, memory, rules."""

import numpy as np

from stagecut.costs import LayerProfile
from stagecut.explain.causes import Cause, Explanation, Oracle
from stagecut.explain.conflicts import conflict_cause
from stagecut.explain.devices import cover_cause, device_cause, layer_causes
from stagecut.explain.memory import memory_cause
from stagecut.problem import StageProblem
from stagecut.result import Status
from stagecut.rules import StageRules


def explain_infeasibility(
    problem: StageProblem,
    *,
    profile: LayerProfile | None = None,
    time_limit: float | None = None,
) -> Explanation:
    """Say why a problem has no plan, and the smallest change that gives it one where known.

    Parameters
    ----------
    problem
        The problem.
    profile
        The layer profile that the problem was made from; memory is then told in bytes.
    time_limit
        Wall seconds for each question put to a solver; one without an answer counts as "no plan".

    Returns
    -------
    Explanation
        Its ``str`` is one line per cause.

    Examples
    --------
    >>> import stagecut as sc
    >>> table = [[[1.0], [2.0]], [[1.0], [1.0]]]
    >>> print(sc.explain_infeasibility(sc.StageProblem(table, [(1, 2)], 3, 4)))
    no sum of sizes reaches 3 devices: stages have 2 devices each, at most 2 stages; the nearest \
counts that a plan can use are 2 and 4; to change that, set num_devices to 2, or set num_devices \
to 4, or set use_all_devices=False
    """
    oracle = Oracle(time_limit)
    status = oracle.status(problem)
    if status is not Status.INFEASIBLE:
        return Explanation(Status.OPTIMAL if status is Status.FEASIBLE else status)
    return Explanation(status, tuple(_causes(problem, oracle, profile)))


def _causes(problem: StageProblem, oracle: Oracle, profile: LayerProfile | None) -> list[Cause]:
    if causes := layer_causes(problem):
        return causes
    free = problem.replace(rules=StageRules())
    allowed = np.isfinite(problem.cost)
    allowed[:, :, problem.sizes > problem.available] = False
    for cause in (cover_cause(problem, allowed), device_cause(problem, allowed)):
        if cause is not None:
            return [cause]
    if oracle.has_plan(free):
        return [conflict_cause(problem, oracle)]
    if cause := memory_cause(free, oracle, profile):
        return [cause]
    return [_devices_together(free, oracle)]


def _devices_together(problem: StageProblem, oracle: Oracle) -> Cause:
    """Return the cause of pools, each of which can be filled, but not all by one chain."""
    change = "set use_all_devices=False"
    helps = problem.use_all_devices and oracle.has_plan(problem.replace(use_all_devices=False))
    return Cause(
        "devices",
        "no chain of allowed stages uses the devices of all pools as asked",
        (change,) if helps else (),
    )
