"""The dynamic programme as an engine: which problems it can state, and its answer as a result.

It takes masks and counts of stages as they are. A coupling that holds when one of a few masks
allows all stages is solved once per mask; the best plan and the least bound count.
"""

import logging
import math
import time
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

import stagecut_dp
from stagecut import backend
from stagecut.constraints import Float, compile_constraints
from stagecut.errors import SolverError, UnsupportedError
from stagecut.evaluate import evaluate
from stagecut.plan import Plan
from stagecut.problem import StageProblem
from stagecut.result import Limit, Result, Statistics
from stagecut.strategies.decode import Incumbent
from stagecut.strategies.direct import judge

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
    return () if problem.rules.is_empty else compile_constraints(problem).without_choices


def solve_dp(problem: StageProblem, request: backend.Request) -> Result:
    """Solve by the dynamic programme, and let the referee judge the answer.

    Raises
    ------
    UnsupportedError
        Naming the rules that it cannot state.
    SolverError
        If its answer does not survive the referee.
    """
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


def stated_tables(problem: StageProblem) -> Iterator[tuple[Float, dict[str, int]]]:
    """Yield what says the problem to the dynamic programme.

    Yields
    ------
    cost, counts
        A table of shape ``(K, K, S, C)``, seconds, and bounds on the number of stages. A plan
        obeys the rules when one of the tables allows it.

    Raises
    ------
    UnsupportedError
        Naming the rules that it cannot state.
    """
    if problem.rules.is_empty:
        yield problem.cost, {}
        return
    if unstated := unstated_by_dp(problem):
        raise UnsupportedError(
            f"solver 'dp' cannot state {', '.join(unstated)}; ask for solver='highs' or 'auto'"
        )
    constraints = compile_constraints(problem)
    if constraints.min_stages > constraints.max_stages:
        return
    counts = {"min_stages": constraints.min_stages, "max_stages": constraints.max_stages}
    for mask in constraints.choices():
        yield np.where(mask, problem.cost, np.inf), counts


def _search(
    problem: StageProblem, request: backend.Request, start: float
) -> list[stagecut_dp.Outcome]:
    """Search each table; a search that a limit kept from starting has bound 0."""
    if request.progress is not None and not problem.rules.is_empty:
        request = replace(request, progress=_best_so_far(request.progress))
    outcomes: list[stagecut_dp.Outcome] = []
    for cost, counts in stated_tables(problem):
        if outcomes and outcomes[-1].stopped:
            outcomes.append(stagecut_dp.Outcome(math.inf, None, 0.0, 0, outcomes[-1].stopped))
            break
        outcomes.append(_search_once(problem, cost, request, start, **counts))
    return outcomes or [stagecut_dp.Outcome(math.inf, None, math.inf, 0)]


def _best_so_far(progress: backend.Progress) -> backend.Progress:
    """Return a ``progress`` for several searches: what one of them proves is no bound for all."""
    best = math.inf

    def report(incumbent: float | None, _: float | None) -> None:
        nonlocal best
        best = min(best, math.inf if incumbent is None else incumbent)
        progress(best if math.isfinite(best) else None, None)

    return report


def _search_once(
    problem: StageProblem, cost: Any, request: backend.Request, start: float, **counts: int
) -> stagecut_dp.Outcome:
    limit = request.time_limit
    return stagecut_dp.search(
        cost,
        problem.sizes,
        problem.num_devices,
        problem.num_microbatches,
        objective=problem.objective,
        max_successors=problem.max_successors,
        use_all_devices=problem.use_all_devices,
        time_limit=None if limit is None else max(limit - (time.perf_counter() - start), 0.0),
        progress=_known(request.progress),
        **counts,
    )


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
