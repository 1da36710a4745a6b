"""All plans worth having, whatever the number of micro-batches: the front of total and bottleneck.

Symbols: point ``p`` is a plan with total ``S_p`` and bottleneck ``t_p``, in seconds; ``B``
micro-batches. The training objective ``S_p + (B - 1) t_p`` is least on the front, for any ``B``.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

import stagecut_dp
from stagecut.errors import ProblemError, SolverError
from stagecut.evaluate import combine, evaluate
from stagecut.plan import Plan
from stagecut.problem import StageProblem, positive_integer
from stagecut.stated import stated_tables


@dataclass(frozen=True, slots=True)
class ParetoPoint:
    """A plan that no other plan beats in both figures.

    Parameters
    ----------
    total
        Sum of stage costs, seconds.
    bottleneck
        Largest stage cost, seconds.
    plan
        The plan.
    """

    total: float
    bottleneck: float
    plan: Plan

    def objective(self, num_microbatches: int) -> float:
        """Return total + (B - 1) x bottleneck, seconds."""
        return combine(
            "training", self.total, self.bottleneck, self.plan.num_stages, num_microbatches
        )


@dataclass(frozen=True, slots=True)
class MicrobatchRange:
    """The numbers of micro-batches for which one point is best.

    Parameters
    ----------
    first
        The least of them.
    last
        The largest, ``None`` = no end.
    point
        The best point.
    """

    first: int
    last: int | None
    point: ParetoPoint


@dataclass(frozen=True, slots=True)
class ParetoFront:
    """Every non-dominated (total, bottleneck) of a problem, totals ascending.

    Parameters
    ----------
    points
        The points; none if the problem is infeasible.
    """

    points: tuple[ParetoPoint, ...]

    def __len__(self) -> int:
        return len(self.points)

    def best(self, num_microbatches: int) -> ParetoPoint | None:
        """Return the point with the least training objective, ``None`` for an empty front.

        Raises
        ------
        ProblemError
            Unless ``num_microbatches`` is an integer of at least 1.
        """
        count = positive_integer("num_microbatches", num_microbatches)
        return min(self.points, key=lambda point: point.objective(count), default=None)

    def ranges(self) -> tuple[MicrobatchRange, ...]:
        """Return which point is best for which ``B``: the lower hull, in exact arithmetic.

        Ranges follow each other from ``B = 1`` without a gap. Between equals the smaller total
        counts.
        """
        hull: list[tuple[int, ParetoPoint]] = []
        for point in self.points:
            while hull and _overtakes(hull[-1][1], point) <= hull[-1][0]:
                hull.pop()
            hull.append((_overtakes(hull[-1][1], point) if hull else 1, point))
        ends = [*(first - 1 for first, _ in hull[1:]), None]
        return tuple(
            MicrobatchRange(first, last, point)
            for (first, point), last in zip(hull, ends, strict=False)
        )


def _overtakes(left: ParetoPoint, right: ParetoPoint) -> int:
    """Return the least ``B`` at which ``right`` is strictly better."""
    dearer = Fraction(right.total) - Fraction(left.total)
    faster = Fraction(left.bottleneck) - Fraction(right.bottleneck)
    return math.floor(dearer / faster) + 2


def pareto_front(problem: StageProblem) -> ParetoFront:
    """Return every non-dominated (total, bottleneck) with one plan each.

    One call answers every number of micro-batches, at little more than the cost of one solve. The
    problem's own objective and number of micro-batches play no part. There is no time limit: a part
    of the front would answer nothing. Ctrl-C raises ``KeyboardInterrupt``.

    Parameters
    ----------
    problem
        The problem.

    Returns
    -------
    ParetoFront
        Each plan priced by the referee.

    Raises
    ------
    ProblemError
        If ``problem`` is not a problem.
    UnsupportedError
        If it has rules that the dynamic programme cannot state.
    SolverError
        If a plan's price is not the one that the dynamic programme found.

    Examples
    --------
    >>> import stagecut as sc
    >>> problem = sc.StageProblem([[[3.0], [9.0]], [[4.0], [3.0]]], [(1, 1)], 2, 4,
    ...                           use_all_devices=False)
    >>> front = sc.pareto_front(problem)
    >>> [(point.total, point.bottleneck) for point in front.points]
    [(6.0, 3.0)]
    """
    if not isinstance(problem, StageProblem):
        raise ProblemError(f"problem must be a StageProblem, got {type(problem).__name__}")
    points: list[ParetoPoint] = []
    for cost, counts in stated_tables(problem):
        found = stagecut_dp.pareto_front(
            cost,
            problem.sizes,
            problem.num_devices,
            max_successors=problem.max_successors,
            use_all_devices=problem.use_all_devices,
            **counts,
        )
        claims = zip(found.totals.tolist(), found.bottlenecks.tolist(), found.plans, strict=True)
        points += [_priced(problem, *claim) for claim in claims]
    return ParetoFront(tuple(_not_dominated(points)))


def _not_dominated(points: list[ParetoPoint]) -> Iterator[ParetoPoint]:
    least = math.inf
    for point in sorted(points, key=lambda point: (point.total, point.bottleneck)):
        if point.bottleneck < least:
            least = point.bottleneck
            yield point


def _priced(
    problem: StageProblem,
    total: float,
    bottleneck: float,
    choices: list[tuple[int, int, int, int]],
) -> ParetoPoint:
    plan = Plan.from_choices(problem, choices)
    costs = evaluate(problem, plan)
    if (costs.total, costs.bottleneck) != (total, bottleneck):
        raise SolverError(
            f"dp claims a total of {total!r} s and a bottleneck of {bottleneck!r} s, "
            f"but its plan has {costs.total!r} s and {costs.bottleneck!r} s"
        )
    return ParetoPoint(total, bottleneck, plan)
