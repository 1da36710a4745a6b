"""Warm starts: a plan that the user has, and what it says of a solver's claims."""

import numpy as np

from stagecut import backend
from stagecut.errors import PlanError, ProblemError, SolverError
from stagecut.evaluate import evaluate
from stagecut.formulations.built import BuiltModel
from stagecut.plan import Plan
from stagecut.problem import StageProblem
from stagecut.strategies.decode import AGREEMENT, Incumbent


def priced_start(problem: StageProblem, plan: Plan) -> Incumbent:
    """Return a warm start and its objective.

    Raises
    ------
    ProblemError
        If ``plan`` is not a plan of the problem.
    """
    try:
        return Incumbent(plan, evaluate(problem, plan).objective)
    except PlanError as error:
        raise ProblemError(f"warm_start is not a plan of this problem: {error}") from error


def set_start(built: BuiltModel, plan: Plan) -> None:
    """Give the model's variables the values of ``plan``.

    A stage whose config was dropped starts as the cheapest kept one that allows its successors; a
    plan with a stage that no best plan has starts nothing.
    """
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


def better_of_start(
    known: Incumbent,
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
