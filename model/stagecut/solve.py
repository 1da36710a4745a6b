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
from stagecut.formulations.built import BuiltModel
from stagecut.plan import Plan
from stagecut.problem import StageProblem, positive_integer
from stagecut.result import Result
from stagecut.strategies import STRATEGIES, Feasibility, Tightening, bisect_built, solve_built
from stagecut.strategies.start import priced_start
from stagecut.worst_case import plain_equivalent

logger = logging.getLogger(__name__)


def solve(
    problem: StageProblem | BuiltModel,
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
    tightening: Tightening | None = None,
) -> Result:
    """Solve a stage assignment problem to proven optimality.

    Parameters
    ----------
    problem
        The problem, or a model that :func:`build` made, with whatever rows were added to it.
    solver
        ``"auto"`` (the dynamic programme where it can state the problem, otherwise HiGHS),
        ``"dp"``, or a MILP solver: ``"highs"``, ``"scip"``, ``"cbc"``, ``"cpsat"``, ``"gurobi"``,
        ``"cplex"``, ``"xpress"``, ``"copt"``, ``"mosek"``. Asking for a formulation or strategy
        makes ``"auto"`` mean HiGHS.
    formulation
        ``"auto"`` or one of :func:`available_formulations`; MILP solvers only.
    strategy
        ``"direct"`` (one model), ``"bisection"`` (branching on the epigraph variable) or ``"auto"``
        (bisection for the default formulation, otherwise direct); MILP solvers only.
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
    tightening
        How models are tightened, for study; MILP solvers only.

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
    request = backend.Request(
        time_limit=_seconds("time_limit", time_limit),
        rel_gap=_seconds("rel_gap", rel_gap) or 0.0,
        threads=None if threads is None else positive_integer("threads", threads),
        warm_start=warm_start is not None,
        options=dict(solver_options or {}),
        log=log,
        progress=progress,
    )
    if isinstance(problem, BuiltModel):
        _refuse_for_models(formulation, warm_start, tightening)
        return _solve_model(problem, backend.known_solver(solver), strategy, request)
    if not isinstance(problem, StageProblem):
        raise ProblemError(f"problem must be a StageProblem, got {type(problem).__name__}")
    plain = plain_equivalent(problem)
    if plain is not None and warm_start is not None:
        warm_start = priced_start(problem, warm_start).plan.priced_by(plain)
    result = _solve_problem(
        problem if plain is None else plain,
        (solver, formulation, strategy),
        request,
        warm_start,
        tightening,
    )
    return result if plain is None else _in_costs_of(problem, result)


def _solve_problem(
    problem: StageProblem,
    asked: tuple[str, str, str],
    request: backend.Request,
    warm_start: Plan | None,
    tightening: Tightening | None,
) -> Result:
    """Choose solver, formulation and strategy, and run them."""
    solver, formulation, strategy = asked
    chosen = _choose(backend.known_solver(solver), formulation, strategy, request, tightening)
    if chosen == "auto":
        unstated = unstated_by_dp(problem)
        chosen = "highs" if unstated else "dp"
        logger.info("solver auto is %s%s", chosen, "".join(f", for {rule}" for rule in unstated))
    if chosen == "dp":
        return solve_dp(problem, request)
    name = DEFAULT if formulation == "auto" else formulation
    how = _known_strategy(strategy, name)
    logger.info("solver %s, formulation %s, strategy %s", chosen, name, how)
    return STRATEGIES[how](
        problem,
        solver=chosen,
        formulation=name,
        request=request,
        warm_start=warm_start,
        tightening=tightening,
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


def _solve_model(built: BuiltModel, solver: str, strategy: str, request: backend.Request) -> Result:
    """Solve a model that a user may have changed."""
    if solver == "dp":
        raise UnsupportedError("solver 'dp' takes no model; ask for solver='highs'")
    asked = Feasibility("highs" if solver == "auto" else solver, request)
    name = built.model.name
    if _known_strategy(strategy, name) == "bisection":
        return bisect_built(built, asked, name)
    return solve_built(built, asked, name)


def _refuse_for_models(
    formulation: str, warm_start: Plan | None, tightening: Tightening | None
) -> None:
    """Refuse options that say how a model is made, where there is one already."""
    given = [
        name
        for name, is_given in (
            ("formulation", formulation != "auto"),
            ("warm_start", warm_start is not None),
            ("tightening", tightening is not None),
        )
        if is_given
    ]
    if given:
        raise UnsupportedError(
            f"a model that is built takes no {', '.join(given)}; leave it out or give the problem"
        )


def _known_strategy(strategy: str, formulation: str) -> str:
    """Resolve "auto" by what was measured (docs/strategies.md).

    Raises
    ------
    ProblemError
        If there is no such strategy.
    """
    if strategy == "auto":
        return "bisection" if formulation == DEFAULT else "direct"
    if strategy not in STRATEGIES:
        raise ProblemError(
            f"strategy must be 'auto' or one of {', '.join(STRATEGIES)}, got {strategy!r}"
        )
    return strategy


def _choose(
    solver: str,
    formulation: str,
    strategy: str,
    request: backend.Request,
    tightening: Tightening | None,
) -> str:
    """Refuse options that the DP has no use for; "auto" stays where the problem may decide."""
    if formulation != "auto":
        builder(formulation)
    _known_strategy(strategy, formulation)
    asked = {
        f"formulation={formulation!r}": formulation != "auto",
        f"strategy={strategy!r}": strategy != "auto",
        "warm_start": request.warm_start,
        "solver_options": bool(request.options),
        "log=True": request.log,
        "tightening": tightening is not None,
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
