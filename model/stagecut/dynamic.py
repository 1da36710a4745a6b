"""The dynamic programme as an engine: which problems it can state, and its answer as a result.

It takes masks and counts of stages as they are, and up to three device pools. A coupling that holds
when one of a few masks allows all stages is solved once per mask; the best plan and the least bound
count.
"""

import logging
import math
import time
from dataclasses import replace
from typing import Any

import numpy as np

import stagecut_dp
from stagecut import backend
from stagecut.constraints import choice_masks, couplings, stage_counts
from stagecut.couplings import POOLS, TRANSFERS, Mask
from stagecut.errors import SolverError, UnsupportedError
from stagecut.evaluate import evaluate
from stagecut.plan import Plan
from stagecut.problem import StageProblem
from stagecut.result import Limit, Result, Statistics
from stagecut.strategies.decode import Incumbent
from stagecut.strategies.outcome import judge

logger = logging.getLogger(__name__)


def unstated_by_dp(problem: StageProblem) -> tuple[str, ...]:
    """Return the rules of a problem that the dynamic programme cannot state.

    Examples
    --------
    >>> import stagecut as sc
    >>> price = sc.Budget(3.0, {(1, 1): 1.0}, name="price")
    >>> table = [[[1.0], [2.0]], [[1.0], [1.0]]]
    >>> unstated_by_dp(sc.StageProblem(table, [(1, 1)], 2, 4, rules=sc.StageRules(budgets=[price])))
    ("budget 'price'",)
    """
    return tuple(
        tie.rule
        for tie in couplings(problem)
        if tie.choices is None and not (tie.rule in (POOLS, TRANSFERS) and _states_fit(problem))
    )


def _states_fit(problem: StageProblem) -> bool:
    """Whether the table of the programme over a vector of devices stays within reason."""
    pools = problem.pools or {"": problem.num_devices}
    shape = (problem.num_layers, len(problem.submeshes), problem.num_configs)
    staged = problem.max_successors is not None
    staged |= stage_counts(problem) != (1, problem.num_layers)
    work = stagecut_dp.pools.pass_work(*shape, tuple(pools.values()), staged)
    return len(pools) <= stagecut_dp.pools.MOST_POOLS and work <= stagecut_dp.pools.MOST_WORK


def solve_dp(problem: StageProblem, request: backend.Request) -> Result:
    """Solve by the dynamic programme, and let the referee judge the answer.

    Raises
    ------
    UnsupportedError
        Naming the rules that it cannot state.
    SolverError
        If its answer does not survive the referee.
    """
    if unstated := unstated_by_dp(problem):
        raise UnsupportedError(
            f"solver 'dp' cannot state {', '.join(unstated)}; ask for solver='highs' or 'auto'"
        )
    wall, cpu = time.perf_counter(), time.process_time()
    logger.info("solver dp")
    outcomes = _search(problem, request, wall)
    best = min(outcomes, key=lambda outcome: outcome.objective)
    incumbent = _judged(problem, best)
    stopped = next((outcome.stopped for outcome in outcomes if outcome.stopped), None)
    claimed = "stopped" if stopped else "optimal" if incumbent else "infeasible"
    bound = min(outcome.bound for outcome in outcomes)
    status, known = judge(
        claimed, incumbent, bound if math.isfinite(bound) else None, request.rel_gap
    )
    return Result(
        status=status,
        plan=None if incumbent is None else incumbent.plan,
        objective=None if incumbent is None else incumbent.objective,
        bound=known,
        limit=None if stopped is None else Limit(stopped),
        solver="dp",
        statistics=Statistics(
            wall_seconds=time.perf_counter() - wall,
            cpu_seconds=time.process_time() - cpu,
            passes=sum(outcome.passes for outcome in outcomes),
        ),
    )


def _search(
    problem: StageProblem, request: backend.Request, start: float
) -> list[stagecut_dp.Outcome]:
    """Search once per mask; a search that a limit kept from starting has bound 0."""
    nothing = stagecut_dp.Outcome(math.inf, None, math.inf, 0)
    least, most = stage_counts(problem)
    if least > most:
        return [nothing]
    ties = [tie for tie in couplings(problem) if tie.choices is not None]
    if ties and request.progress is not None:
        request = replace(request, progress=_best_so_far(request.progress))
    outcomes: list[stagecut_dp.Outcome] = []
    for mask in choice_masks(problem, ties):
        if outcomes and outcomes[-1].stopped:
            outcomes.append(stagecut_dp.Outcome(math.inf, None, 0.0, 0, outcomes[-1].stopped))
            break
        outcomes.append(_search_once(problem, mask, request, start))
    return outcomes or [nothing]


def _search_once(
    problem: StageProblem, mask: Mask, request: backend.Request, start: float
) -> stagecut_dp.Outcome:
    least, most = stage_counts(problem)
    limit = request.time_limit
    cost = np.where(mask, problem.cost, np.inf)
    options: dict[str, Any] = {
        "objective": problem.objective,
        "max_successors": problem.max_successors,
        "use_all_devices": problem.use_all_devices,
        "min_stages": least,
        "max_stages": most,
        "time_limit": None if limit is None else max(limit - (time.perf_counter() - start), 0.0),
        "progress": _known(request.progress),
    }
    if problem.pools is None and problem.transfers is None:
        return stagecut_dp.search(
            cost, problem.sizes, problem.num_devices, problem.num_microbatches, **options
        )
    pools = problem.pools or {"None": problem.num_devices}
    names = list(pools)
    return stagecut_dp.pools.search_pools(
        cost,
        problem.sizes,
        [names.index(str(shape.pool)) for shape in problem.submeshes],
        list(pools.values()),
        problem.num_microbatches,
        transfers=problem.transfers,
        **options,
    )


def _best_so_far(progress: backend.Progress) -> backend.Progress:
    """Return a ``progress`` for several searches: what one of them proves is no bound for all."""
    best = math.inf

    def report(incumbent: float | None, _: float | None) -> None:
        nonlocal best
        best = min(best, math.inf if incumbent is None else incumbent)
        progress(best if math.isfinite(best) else None, None)

    return report


def _judged(problem: StageProblem, outcome: stagecut_dp.Outcome) -> Incumbent | None:
    """Return the plan as the referee prices it; its word and the programme's must be equal."""
    if outcome.plan is None:
        return None
    plan = Plan.from_choices(problem, outcome.plan)
    incumbent = Incumbent(plan, evaluate(problem, plan).objective)
    if incumbent.objective != outcome.objective:
        raise SolverError(
            f"dp claims an objective of {outcome.objective!r} s, "
            f"but its plan costs {incumbent.objective!r} s"
        )
    return incumbent


def _known(progress: backend.Progress | None) -> Any:
    """Return ``progress`` for an engine that says ``inf`` where nothing is known."""
    if progress is None:
        return None
    return lambda incumbent, bound: progress(
        incumbent if math.isfinite(incumbent) else None, bound if math.isfinite(bound) else None
    )
