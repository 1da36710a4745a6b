"""From a solver's values to a plan that the referee has priced."""

from dataclasses import dataclass

from stagecut.errors import PlanError, SolverError
from stagecut.evaluate import evaluate
from stagecut.formulations.built import BuiltModel
from stagecut.plan import Plan

INTEGRALITY = 1e-4
"""Distance from 0 or 1 that is rounded away; more is not an answer."""

AGREEMENT = 1e-6
"""Relative difference allowed between a solver's word and the referee."""


@dataclass(frozen=True, slots=True)
class Incumbent:
    """A plan and its objective in seconds, as the referee computes it."""

    plan: Plan
    objective: float


def decode(built: BuiltModel, claimed: float | None, solver: str) -> Incumbent:
    """Read the plan from the model's variables, once, and check it.

    Parameters
    ----------
    claimed
        The solver's objective in the model's units.

    Raises
    ------
    SolverError
        If a value is not near 0 or 1, the plan breaks a rule, or the objective claimed is not the
        plan's.
    """
    plan = Plan.from_choices(built.problem, _used(built, solver))
    try:
        objective = evaluate(built.problem, plan).objective
    except PlanError as error:
        raise SolverError(f"{solver} returned a plan that breaks a rule: {error}") from error
    if claimed is not None and not _agree(claimed * built.scale, objective, built.scale):
        raise SolverError(
            f"{solver} claims an objective of {claimed * built.scale!r} s, "
            f"but its plan costs {objective!r} s"
        )
    return Incumbent(plan, objective)


def _used(built: BuiltModel, solver: str) -> list[tuple[int, int, int, int]]:
    for variable in built.columns:
        value = variable.varValue
        if value is None or min(abs(value), abs(value - 1)) > INTEGRALITY:
            raise SolverError(f"{solver} returned {variable.name} = {value!r}, neither 0 nor 1")
    r = built.candidates
    return [
        (int(r.first[k]), int(r.last[k]), int(r.submesh[k]), int(r.config[k])) for k in built.used()
    ]


def _agree(claimed: float, objective: float, scale: float) -> bool:
    return abs(claimed - objective) <= AGREEMENT * max(abs(objective), scale)
