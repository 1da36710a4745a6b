"""Hand a model to a solver and report what it says."""

from functools import partial
from typing import Any

import pulp

from stagecut.backend import highs
from stagecut.backend.catalogue import installed
from stagecut.backend.modelling import OutOfTimeError
from stagecut.backend.request import Answer, Request, Stop
from stagecut.backend.watch import Watch
from stagecut.errors import SolverError

OWN_LIMITS = (
    pulp.LpSolveStatus.NodeLimit,
    pulp.LpSolveStatus.IterationLimit,
    pulp.LpSolveStatus.SolutionLimit,
    pulp.LpSolveStatus.MemoryLimit,
)
"""Limits that only a solver's own options set."""


def run(model: pulp.LpProblem, solver: str, request: Request) -> Answer:
    """Solve ``model``; values are left in its variables when ``has_solution``.

    Raises
    ------
    SolverNotInstalledError
        If the solver is not installed.
    SolverError
        If it crashes or gives up for a reason that is neither a proof nor a limit.
    """
    entry = installed(solver)
    watch = Watch(request)
    ours = {"msg": request.log, **entry.options(request)}
    if request.relaxed and entry.relaxes:
        ours["mip"] = False
    options = {**ours, **request.options}
    if solver == "highs":
        highs.silence_banner()
        highs.refuse_unknown(request.options)
    try:
        with watch.interruptible():
            engine = _engine(solver, entry.pulp_name, watch, options)
            stats = model.solve(engine)
    except OutOfTimeError:
        return Answer("stopped", stopped_by="time")
    except KeyboardInterrupt:
        return Answer("stopped", stopped_by="interrupt")
    except Exception as error:
        if error is watch.failure:
            raise
        raise SolverError(f"{solver} failed: {error or type(error).__name__}") from error
    return _answer(solver, model, stats, engine, watch)


def _engine(solver: str, pulp_name: str, watch: Watch, options: dict[str, Any]) -> pulp.LpSolver:
    if solver == "highs":
        return highs.Highs(watch, **options)
    return pulp.getSolver(pulp_name, **options)


def _answer(
    solver: str,
    model: pulp.LpProblem,
    stats: pulp.LpSolveStats,
    engine: pulp.LpSolver,
    watch: Watch,
) -> Answer:
    status = pulp.LpSolveStatus
    has_solution = bool(stats.has_solution)
    objective, nodes = stats.objective, stats.nodes
    if isinstance(engine, highs.Highs):
        objective, nodes, nonzeros = engine.figures(model)
    else:
        nonzeros = sum(map(len, model.constraints()))
    say = partial(Answer, nodes=nodes, nonzeros=nonzeros)
    objective = objective if has_solution else None
    if stats.status == status.Optimal or (stats.status == status.GapLimit and has_solution):
        bound = stats.best_bound if stats.best_bound is not None else objective
        return say("optimal", has_solution, objective, bound)
    if stats.status in (status.Infeasible, status.GapLimit):  # the latter: none below the cutoff
        return say("infeasible")
    return say(
        "stopped",
        has_solution,
        objective,
        stats.best_bound,
        stopped_by=_reason(solver, stats, watch),
    )


def _reason(solver: str, stats: pulp.LpSolveStats, watch: Watch) -> Stop:
    """Return what stopped the solver.

    Raises
    ------
    SolverError
        If nothing that was asked of it did.
    """
    if watch.stopped_by is not None:
        return watch.stopped_by
    if stats.status == pulp.LpSolveStatus.TimeLimit:
        return "time"
    if stats.status in OWN_LIMITS:
        return "solver"
    raise SolverError(
        f"{solver} stopped without an answer: {stats.status_str}; try another solver or formulation"
    )
