"""Strategy ``bisection``: branching on the epigraph variable, see :mod:`~.search`."""

import math
import time
from dataclasses import replace

from stagecut import backend
from stagecut.candidates import compile_candidates
from stagecut.plan import Plan
from stagecut.problem import StageProblem
from stagecut.result import Result, Statistics
from stagecut.strategies.floor import Feasibility, bottleneck_floor
from stagecut.strategies.nodes import FreshModels
from stagecut.strategies.outcome import conclude
from stagecut.strategies.reach import within_reach
from stagecut.strategies.search import Search
from stagecut.strategies.start import priced_start


def solve_bisection(
    problem: StageProblem,
    *,
    solver: str,
    formulation: str,
    request: backend.Request,
    warm_start: Plan | None = None,
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
    asked = Feasibility(solver, request)
    start = None if warm_start is None else priced_start(problem, warm_start)
    search, floor = None, 0.0
    try:
        with backend.modelling(asked.left):
            candidates, floor = within_reach(problem, compile_candidates(problem), asked)
            branches = problem.objective != "latency"
            if branches:
                # Successor rows make these programs slow, and raise the floor little.
                unlimited = replace(candidates, limit=None)
                floor = max(floor, bottleneck_floor(problem, unlimited, asked))
            models = FreshModels(problem, candidates, formulation)
            search = Search(models, asked, problem.num_layers, branches, incumbent=start)
    except backend.OutOfTimeError:
        asked.stopped_by = "time"
    built_after = time.perf_counter() - asked.start
    if search is None:
        figures = Statistics(build_seconds=built_after, models=asked.count)
        return conclude(asked, (formulation, "bisection"), "stopped", start, None, figures)
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
