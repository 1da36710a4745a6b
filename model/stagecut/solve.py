"""The library call: choose an engine, solve, and return a result the referee has priced."""

import logging
import math
from collections.abc import Mapping
from dataclasses import replace
from numbers import Real
from typing import Any

from stagecut import backend
from stagecut.dynamic import solve_dp, unstated_by_dp
from stagecut.errors import ProblemError, UnsupportedError
from stagecut.evaluate import evaluate
from stagecut.formulations import DEFAULT, builder
from stagecut.plan import Plan
from stagecut.problem import StageProblem, positive_integer
from stagecut.result import Result
from stagecut.strategies import STRATEGIES, solve_direct
from stagecut.strategies.direct import check_start
from stagecut.worst_case import plain_equivalent

logger = logging.getLogger(__name__)


def solve(
    problem: StageProblem,
    solver: str = "auto",
    formulation: str = "auto",
    strategy: str = "auto",
    time_limit: float | None = None,
    rel_gap: float = 0.0,
    threads: int | None = None,
    warm_start: Plan | None = None,
    log: bool = False,
    solver_options: Mapping[str, Any] | None = None,
    progress: backend.Progress | None = None,
) -> Result:
    """Solve a stage assignment problem to proven optimality.

    Parameters
    ----------
    problem
        The problem.
    solver
        ``"auto"`` (the dynamic programme where it can state the problem, otherwise HiGHS),
        ``"dp"``, or a MILP solver: ``"highs"``, ``"scip"``, ``"cbc"``, ``"cpsat"``, ``"gurobi"``,
        ``"cplex"``, ``"xpress"``, ``"copt"``, ``"mosek"``. Asking for a formulation or strategy
        makes ``"auto"`` mean HiGHS.
    formulation
        ``"auto"`` or one of :func:`available_formulations`; MILP solvers only.
    strategy
        ``"auto"`` or ``"direct"``; MILP solvers only.
    time_limit
        Wall seconds for the whole call; the best plan by then is returned as ``FEASIBLE``. A HiGHS
        that does not ask in time is given up and ends beside the caller; Python waits for it at
        exit.
    rel_gap
        Relative gap at which a plan counts as optimal, 0 = proven best (solvers' own tolerances
        leave 1e-6).
    threads
        Threads of the MILP solver; ``None`` = its choice.
    warm_start
        A plan of this problem to start from; MILP solvers only.
    log
        Whether the MILP solver prints its own log.
    solver_options
        The MILP solver's own options; they win over ours.
    progress
        Called with (incumbent, bound) in seconds, ``None`` where unknown.

    Returns
    -------
    Result
        Status, plan, objective (recomputed by the referee), bound and statistics.

    Raises
    ------
    ProblemError
        If an argument breaks a rule.
    UnsupportedError
        If the engine asked for cannot take an option.
    SolverError
        If a solver is missing, crashes, or its answer does not survive the referee.

    Examples
    --------
    >>> import stagecut as sc
    >>> problem = sc.StageProblem([[[1.0], [2.0]], [[1.0], [1.0]]], [(1, 1)], 2, 4)
    >>> result = sc.solve(problem)
    >>> result.status, result.objective, result.solver
    (<Status.OPTIMAL: 'optimal'>, 5.0, 'dp')
    """
    if not isinstance(problem, StageProblem):
        raise ProblemError(f"problem must be a StageProblem, got {type(problem).__name__}")
    request = backend.Request(
        time_limit=_seconds("time_limit", time_limit),
        rel_gap=_seconds("rel_gap", rel_gap) or 0.0,
        threads=None if threads is None else positive_integer("threads", threads),
        warm_start=warm_start is not None,
        options=dict(solver_options or {}),
        log=log,
        progress=progress,
    )
    if (plain := plain_equivalent(problem)) is not None:
        if warm_start is not None:
            check_start(problem, warm_start)
            warm_start = warm_start.priced_by(plain)
        return _in_costs_of(
            problem, _solved(plain, solver, formulation, strategy, request, warm_start)
        )
    return _solved(problem, solver, formulation, strategy, request, warm_start)


def _solved(
    problem: StageProblem,
    solver: str,
    formulation: str,
    strategy: str,
    request: backend.Request,
    warm_start: Plan | None,
) -> Result:
    """Choose the engine and run it."""
    chosen = _choose(backend.known_solver(solver), formulation, strategy, request)
    if chosen == "auto":
        unstated = unstated_by_dp(problem)
        chosen = "highs" if unstated else "dp"
        logger.info("solver auto is %s%s", chosen, "".join(f", for {rule}" for rule in unstated))
    if chosen == "dp":
        return solve_dp(problem, request)
    name = DEFAULT if formulation == "auto" else formulation
    logger.info("solver %s, formulation %s, strategy direct", chosen, name)
    return solve_direct(
        problem, solver=chosen, formulation=name, request=request, warm_start=warm_start
    )


def _in_costs_of(problem: StageProblem, result: Result) -> Result:
    """Return the result of an equivalent problem with the costs of the one that was asked."""
    if result.plan is None:
        return result
    plan = result.plan.priced_by(problem)
    objective = evaluate(problem, plan).objective
    exact = result.bound is not None and (result.gap == 0 or result.bound > objective)
    return replace(
        result, plan=plan, objective=objective, bound=objective if exact else result.bound
    )


def _choose(solver: str, formulation: str, strategy: str, request: backend.Request) -> str:
    """Refuse options that the DP has no use for; "auto" stays where the problem may decide."""
    if formulation != "auto":
        builder(formulation)
    if strategy not in ("auto", *STRATEGIES):
        raise ProblemError(
            f"strategy must be 'auto' or one of {', '.join(STRATEGIES)}, got {strategy!r}"
        )
    asked = {
        f"formulation={formulation!r}": formulation != "auto",
        f"strategy={strategy!r}": strategy != "auto",
        "warm_start": request.warm_start,
        "solver_options": bool(request.options),
        "log=True": request.log,
    }
    milp_only = [name for name, given in asked.items() if given]
    if solver == "auto":
        return "highs" if milp_only else "auto"
    if solver == "dp" and milp_only:
        raise UnsupportedError(
            f"solver 'dp' takes no {', '.join(milp_only)}; leave it out or ask for solver='highs'"
        )
    return solver


def _seconds(name: str, value: float | None) -> float | None:
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, Real) or not 0 <= value < math.inf:
        raise ProblemError(f"{name} must be a number >= 0 or None, got {value!r}")
    return float(value)
