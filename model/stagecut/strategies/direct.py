"""Strategy ``direct``: one model, handed to the solver as it is."""

import time
from dataclasses import replace

from stagecut import backend
from stagecut.candidates import compile_candidates
from stagecut.formulations import TIGHTENED, builder
from stagecut.formulations.built import BuiltModel
from stagecut.plan import Plan
from stagecut.problem import StageProblem
from stagecut.result import Result, Statistics
from stagecut.strategies.decode import decode
from stagecut.strategies.floor import Feasibility, bottleneck_floor
from stagecut.strategies.outcome import conclude
from stagecut.strategies.reach import within_reach
from stagecut.strategies.start import better_of_start, priced_start, set_start


def solve_direct(
    problem: StageProblem,
    *,
    solver: str,
    formulation: str,
    request: backend.Request,
    warm_start: Plan | None = None,
) -> Result:
    """Build one model, solve it, and let the referee judge the answer.

    ``request.progress`` is called with seconds here, not with model units.

    Raises
    ------
    ProblemError
        If ``warm_start`` is not a plan of the problem.
    SolverError
        If the solver fails or its answer does not survive the referee.
    """
    asked = Feasibility(solver, request)
    start = None if warm_start is None else priced_start(problem, warm_start)
    built = _build(problem, formulation, asked, warm_start)
    built_after = time.perf_counter() - asked.start
    answer, incumbent, bound = backend.Answer("stopped", stopped_by=asked.stopped_by), None, None
    if built is not None:
        answer = backend.run(built.model, solver, _in_seconds(request, built.scale, asked.left))
        asked.stopped_by = answer.stopped_by
        bound = None if answer.bound is None else answer.bound * built.scale
        incumbent = decode(built, answer.objective, solver) if answer.has_solution else None
    if start is not None:
        incumbent = better_of_start(start, incumbent, answer.status, solver, request)
    figures = Statistics(
        build_seconds=built_after,
        rows=None if built is None else built.model.numConstraints(),
        columns=None if built is None else built.model.numVariables(),
        nonzeros=answer.nonzeros,
        nodes=answer.nodes,
        models=asked.count + (built is not None),
    )
    return conclude(asked, (formulation, "direct"), answer.status, incumbent, bound, figures)


def _build(
    problem: StageProblem, formulation: str, asked: Feasibility, warm_start: Plan | None
) -> BuiltModel | None:
    """Build the model; ``None`` if a limit came first."""
    try:
        with backend.modelling(asked.left):
            candidates, floor = within_reach(problem, compile_candidates(problem), asked)
            if formulation in TIGHTENED and problem.objective != "latency":
                floor = max(floor, bottleneck_floor(problem, candidates, asked))
            built = builder(formulation)(problem, candidates, floor)
            if warm_start is not None:
                set_start(built, warm_start)
            return None if asked.stopped_by is not None else built
    except backend.OutOfTimeError:
        asked.stopped_by = "time"
        return None


def _in_seconds(request: backend.Request, scale: float, left: float | None) -> backend.Request:
    """Return the request with ``left`` seconds to go, and progress in seconds."""
    report = request.progress

    def progress(incumbent: float | None, bound: float | None) -> None:
        assert report is not None
        report(*(None if value is None else value * scale for value in (incumbent, bound)))

    return replace(request, time_limit=left, progress=None if report is None else progress)
