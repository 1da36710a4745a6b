"""Strategy ``bisection``: branching on the epigraph variable, see :mod:`~.search`."""

import math
import time
from dataclasses import replace

from stagecut import backend
from stagecut.formulations.built import BuiltModel
from stagecut.plan import Plan
from stagecut.problem import StageProblem
from stagecut.result import Result, Statistics
from stagecut.strategies.floor import Feasibility
from stagecut.strategies.nodes import BoundedModels, FreshModels
from stagecut.strategies.outcome import conclude
from stagecut.strategies.search import Search
from stagecut.strategies.start import priced_start
from stagecut.strategies.tightening import Tightening, tightened


def solve_bisection(
    problem: StageProblem,
    *,
    solver: str,
    formulation: str,
    request: backend.Request,
    warm_start: Plan | None = None,
    tightening: Tightening | None = None,
) -> Result:
    """Solve by branching on the epigraph variable, and let the referee judge the answer.

    Raises
    ------
    ProblemError
        If ``warm_start`` is not a plan of the problem.
    UnsupportedError
        If the formulation has no column for a stage as a whole.
    SolverError
        If the solver fails or an answer does not survive the referee.
    """
    asked, chosen = Feasibility(solver, request), tightening or Tightening()
    start = None if warm_start is None else priced_start(problem, warm_start)
    try:
        with backend.modelling(asked.left):
            candidates, floor = tightened(problem, formulation, asked, chosen)
    except (backend.OutOfTimeError, KeyboardInterrupt) as stop:
        asked.stopped_by = "interrupt" if isinstance(stop, KeyboardInterrupt) else "time"
        figures = Statistics(models=asked.count)
        return conclude(asked, (formulation, "bisection"), "stopped", start, None, figures)
    models = FreshModels(problem, candidates, formulation, chosen.raised)
    search = Search(models, asked, problem, chosen.fixing, start)
    return _conclude(search, floor, formulation)


def bisect_built(built: BuiltModel, asked: Feasibility, formulation: str) -> Result:
    """Solve a model with whatever rows were added to it; its own bounds are put back at the end.

    Raises
    ------
    UnsupportedError
        If the formulation has no column for a stage as a whole.
    SolverError
        If the solver fails or an answer does not survive the referee.
    """
    models = BoundedModels(built)
    try:
        return _conclude(Search(models, asked, built.problem), 0.0, formulation)
    finally:
        models.put_back()


def _conclude(search: Search, floor: float, formulation: str) -> Result:
    """Run a search and return its result."""
    asked, built_after = search.asked, time.perf_counter() - search.asked.start
    if asked.stopped_by is None:
        search.run(floor)
    return conclude(
        asked,
        (formulation, "bisection"),
        search.claim,
        search.incumbent,
        search.bound if math.isfinite(search.bound) else None,
        replace(search.figures, build_seconds=built_after),
    )
