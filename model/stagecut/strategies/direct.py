"""Strategy ``direct``: one model, handed to the solver as it is."""

import time
from dataclasses import replace

import numpy as np

from stagecut import backend
from stagecut.candidates import Int, select
from stagecut.formulations.built import BuiltModel
from stagecut.plan import Plan
from stagecut.problem import StageProblem
from stagecut.result import Result, Statistics
from stagecut.strategies.decode import Incumbent, decode
from stagecut.strategies.fixing import hopeful, reduced_costs
from stagecut.strategies.floor import Feasibility
from stagecut.strategies.nodes import build_model
from stagecut.strategies.outcome import conclude
from stagecut.strategies.relaxation import relaxation
from stagecut.strategies.start import better_of_start, priced_start, set_start
from stagecut.strategies.tightening import Tightening, tightened


def solve_direct(
    problem: StageProblem,
    *,
    solver: str,
    formulation: str,
    request: backend.Request,
    warm_start: Plan | None = None,
    tightening: Tightening | None = None,
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
    built = None
    try:
        with backend.modelling(asked.left):
            built = _build(problem, formulation, asked, start, tightening or Tightening())
    except backend.OutOfTimeError:
        asked.stopped_by = "time"
    except KeyboardInterrupt:
        asked.stopped_by = "interrupt"
    return solve_built(built, asked, formulation, start)


def solve_built(
    built: BuiltModel | None, asked: Feasibility, formulation: str, start: Incumbent | None = None
) -> Result:
    """Solve a model as it is; ``None`` or a search that was stopped gives what is known so far.

    Raises
    ------
    SolverError
        If the solver fails or its answer does not survive the referee.
    """
    built_after = time.perf_counter() - asked.start
    answer, incumbent, bound = backend.Answer("stopped", stopped_by=asked.stopped_by), None, None
    if built is not None and asked.stopped_by is None:
        request = _in_seconds(asked.request, built.scale, asked.left)
        answer = backend.run(built.model, asked.solver, request)
        asked.stopped_by = answer.stopped_by
        asked.count += 1
        bound = None if answer.bound is None else answer.bound * built.scale
        incumbent = decode(built, answer.objective, asked.solver) if answer.has_solution else None
    if start is not None:
        incumbent = better_of_start(start, incumbent, answer.status, asked.solver, asked.request)
    figures = Statistics(
        build_seconds=built_after,
        rows=None if built is None else built.model.numConstraints(),
        columns=None if built is None else built.model.numVariables(),
        nonzeros=answer.nonzeros,
        nodes=answer.nodes,
        models=asked.count,
    )
    return conclude(asked, (formulation, "direct"), answer.status, incumbent, bound, figures)


def _build(
    problem: StageProblem,
    formulation: str,
    asked: Feasibility,
    start: Incumbent | None,
    tightening: Tightening,
) -> BuiltModel | None:
    """Build the model; with a warm start, of the stages that a better plan may use."""
    candidates, floor = tightened(problem, formulation, asked, tightening)
    if asked.stopped_by is not None:
        return None
    built = build_model(problem, candidates, formulation, floor, tightening.raised)
    if start is None:
        return built
    if tightening.fixing and built.owner is not None:
        kept = _fixed(built, asked, start.objective)
        built = build_model(
            problem, select(candidates, kept), formulation, floor, tightening.raised
        )
    set_start(built, start.plan)
    return built


def _fixed(built: BuiltModel, asked: Feasibility, best: float) -> Int:
    """Return the stages that a plan better than ``best`` may use, by the model's LP."""
    every = np.arange(len(built.candidates))
    request = replace(asked.request, time_limit=asked.left, warm_start=False, progress=None)
    answer = relaxation(built, asked.solver, request)
    asked.count += 1
    asked.stopped_by = answer.stopped_by
    if answer.status != "optimal" or answer.objective is None or built.owner is None:
        return every
    bound = answer.objective * built.scale
    return hopeful(every, built.owner, bound, reduced_costs(built), best)


def _in_seconds(request: backend.Request, scale: float, left: float | None) -> backend.Request:
    """Return the request with ``left`` seconds to go, and progress in seconds."""
    report = request.progress

    def progress(incumbent: float | None, bound: float | None) -> None:
        assert report is not None
        report(*(None if value is None else value * scale for value in (incumbent, bound)))

    return replace(request, time_limit=left, progress=None if report is None else progress)
