"""Strategy ``direct``: one model, handed to the solver as it is."""

import time
from dataclasses import replace

import numpy as np

from stagecut import backend
from stagecut.candidates import compile_candidates
from stagecut.errors import PlanError, ProblemError, SolverError
from stagecut.evaluate import check, evaluate
from stagecut.formulations import TIGHTENED, builder
from stagecut.formulations.built import BuiltModel
from stagecut.plan import Plan
from stagecut.problem import StageProblem
from stagecut.result import Limit, Result, Statistics, Status
from stagecut.strategies.decode import AGREEMENT, Incumbent, decode
from stagecut.strategies.floor import Feasibility, bottleneck_floor
from stagecut.strategies.reach import within_reach


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
    wall, cpu = time.perf_counter(), time.process_time()
    lps = Feasibility(solver, request, wall)
    built = _build(problem, formulation, lps, warm_start)
    built_at = time.perf_counter()
    answer, incumbent, bound = backend.Answer("stopped", stopped_by=lps.stopped_by), None, None
    if built is not None:
        answer = backend.run(built.model, solver, _in_seconds(request, built.scale, lps.left))
        bound = None if answer.bound is None else answer.bound * built.scale
        incumbent = decode(built, answer.objective, solver) if answer.has_solution else None
    if warm_start is not None:
        incumbent = _better_of_start(problem, warm_start, incumbent, answer.status, solver, request)
    status, bound = judge(answer.status, incumbent, bound, request.rel_gap)
    return Result(
        status=status,
        plan=None if incumbent is None else incumbent.plan,
        objective=None if incumbent is None else incumbent.objective,
        bound=bound,
        limit=None if answer.stopped_by is None else Limit(answer.stopped_by),
        solver=solver,
        formulation=formulation,
        strategy="direct",
        statistics=Statistics(
            wall_seconds=time.perf_counter() - wall,
            cpu_seconds=time.process_time() - cpu,
            build_seconds=built_at - wall,
            rows=None if built is None else built.model.numConstraints(),
            columns=None if built is None else built.model.numVariables(),
            nonzeros=answer.nonzeros,
            nodes=answer.nodes,
            models=lps.count + (built is not None),
        ),
    )


def _build(
    problem: StageProblem, formulation: str, lps: Feasibility, warm_start: Plan | None
) -> BuiltModel | None:
    """Build the model; ``None`` if a limit came first."""
    try:
        with backend.modelling(lps.left):
            candidates, floor = within_reach(problem, compile_candidates(problem), lps)
            if formulation in TIGHTENED and problem.objective != "latency":
                floor = max(floor, bottleneck_floor(problem, candidates, lps))
            built = builder(formulation)(problem, candidates, floor)
            if warm_start is not None:
                set_start(built, warm_start)
            return None if lps.stopped_by is not None else built
    except backend.OutOfTimeError:
        lps.stopped_by = "time"
        return None


def judge(
    claimed: str, incumbent: Incumbent | None, bound: float | None, rel_gap: float
) -> tuple[Status, float | None]:
    """Return the status that the figures support, and a bound that is not above the objective."""
    if incumbent is None:
        if claimed == "infeasible":
            return Status.INFEASIBLE, None
        return Status.UNKNOWN, bound
    if bound is not None:
        bound = min(bound, incumbent.objective)
        allowed = max(rel_gap, AGREEMENT) * abs(incumbent.objective)
        if claimed == "optimal" and incumbent.objective - bound <= allowed:
            return Status.OPTIMAL, bound
    return Status.FEASIBLE, bound


def check_start(problem: StageProblem, plan: Plan) -> None:
    """Raise unless ``plan`` is a plan of the problem.

    Raises
    ------
    ProblemError
        With what the referee says.
    """
    try:
        check(problem, plan)
    except PlanError as error:
        raise ProblemError(f"warm_start is not a plan of this problem: {error}") from error


def set_start(built: BuiltModel, plan: Plan) -> None:
    """Give the model's variables the values of ``plan``.

    A stage whose config was dropped starts as the cheapest kept one that allows its successors; a
    plan with a stage that no best plan has starts nothing.

    Raises
    ------
    ProblemError
        If ``plan`` is not a plan of the problem.
    """
    check_start(built.problem, plan)
    for variable in built.columns:
        variable.setInitialValue(0.0)
    for column in built.columns_of(_kept(built, plan)):
        built.columns[column].setInitialValue(1.0)


def _kept(built: BuiltModel, plan: Plan) -> list[int]:
    """Return the cheapest candidate for each stage of ``plan`` that allows its successors.

    Empty if a stage has none: solvers pass over a start that is no plan.
    """
    submesh = {shape: m for m, shape in enumerate(built.problem.submeshes)}
    r, kept = built.candidates, list[int]()
    for position, stage in enumerate(plan.stages):
        fits = (r.first == stage.first_layer) & (r.last == stage.last_layer)
        fits &= r.submesh == submesh[stage.submesh]
        if r.limit is not None:
            fits &= r.limit >= len(plan.stages) - 1 - position
        (places,) = np.nonzero(fits)
        if not len(places):
            return []
        kept.append(int(places[np.argmin(r.cost[places])]))
    return kept


def _better_of_start(
    problem: StageProblem,
    start: Plan,
    found: Incumbent | None,
    claimed: str,
    solver: str,
    request: backend.Request,
) -> Incumbent:
    """Return the better of the user's plan and the solver's, if the claim allows both.

    Raises
    ------
    SolverError
        If the solver denies that there is a plan, or calls one optimal that is dearer than the
        start by more than the requested gap.
    """
    known = Incumbent(start, evaluate(problem, start).objective)
    if claimed == "infeasible":
        raise SolverError(f"{solver} claims that there is no plan, but warm_start is one")
    if found is None:
        return known
    allowed = max(request.rel_gap, AGREEMENT) * found.objective
    if claimed == "optimal" and found.objective - known.objective > allowed:
        raise SolverError(
            f"{solver} claims an optimum of {found.objective!r} s, "
            f"but warm_start costs {known.objective!r} s"
        )
    return min(found, known, key=lambda incumbent: incumbent.objective)


def _in_seconds(request: backend.Request, scale: float, left: float | None) -> backend.Request:
    """Return the request with ``left`` seconds to go, and progress in seconds."""
    report = request.progress

    def progress(incumbent: float | None, bound: float | None) -> None:
        assert report is not None
        report(*(None if value is None else value * scale for value in (incumbent, bound)))

    return replace(request, time_limit=left, progress=None if report is None else progress)
