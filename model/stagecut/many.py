"""The best plans in order, for those who choose among several."""

from dataclasses import dataclass

import stagecut_dp
from stagecut.errors import ProblemError, SolverError
from stagecut.evaluate import evaluate
from stagecut.plan import Plan
from stagecut.problem import StageProblem, positive_integer
from stagecut.stated import stated_tables


@dataclass(frozen=True, slots=True)
class RankedPlan:
    """A plan and its objective in seconds, as the referee computes it."""

    objective: float
    plan: Plan


def solve_many(problem: StageProblem, k: int) -> tuple[RankedPlan, ...]:
    """Return the ``k`` best distinct plans, best first, by the dynamic programme.

    There is no time limit; Ctrl-C raises ``KeyboardInterrupt``.

    Parameters
    ----------
    problem
        The problem.
    k
        Plans wanted; fewer are returned when there are fewer.

    Returns
    -------
    tuple of RankedPlan
        Plans differ in some stage's layers, submesh or config. Among plans of equal objective at
        the end, which ones are returned is not defined, but it is the same each time.

    Raises
    ------
    ProblemError
        If ``problem`` is not a problem, or ``k`` is not an integer of at least 1.
    UnsupportedError
        If the problem has rules that the dynamic programme cannot state.
    SolverError
        If a plan's price is not the one that the dynamic programme found.

    Examples
    --------
    >>> import stagecut as sc
    >>> problem = sc.StageProblem([[[1.0], [2.5]], [[9.0], [2.0]]], [(1, 1)], 2, 2,
    ...                           use_all_devices=False)
    >>> [(ranked.objective, ranked.plan.num_stages) for ranked in sc.solve_many(problem, k=5)]
    [(5.0, 2), (5.0, 1)]
    """
    if not isinstance(problem, StageProblem):
        raise ProblemError(f"problem must be a StageProblem, got {type(problem).__name__}")
    wanted = positive_integer("k", k)
    ranked: dict[Plan, RankedPlan] = {}
    for cost, counts in stated_tables(problem):
        found = stagecut_dp.k_best(
            cost,
            problem.sizes,
            problem.num_devices,
            problem.num_microbatches,
            k=wanted,
            objective=problem.objective,
            max_successors=problem.max_successors,
            use_all_devices=problem.use_all_devices,
            **counts,
        )
        for objective, choices in found:
            entry = _priced(problem, objective, choices)
            ranked[entry.plan] = entry
    return tuple(sorted(ranked.values(), key=lambda entry: entry.objective)[:wanted])


def _priced(
    problem: StageProblem, objective: float, choices: list[tuple[int, int, int, int]]
) -> RankedPlan:
    plan = Plan.from_choices(problem, choices)
    price = evaluate(problem, plan).objective
    if price != objective:
        raise SolverError(
            f"dp claims an objective of {objective!r} s, but its plan costs {price!r} s"
        )
    return RankedPlan(objective, plan)
