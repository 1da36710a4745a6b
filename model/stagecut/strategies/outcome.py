"""From what a strategy knows at its end to a result."""

import time
from dataclasses import replace

from stagecut.result import Limit, Result, Statistics, Status
from stagecut.strategies.decode import AGREEMENT, Incumbent
from stagecut.strategies.floor import Feasibility


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


def conclude(
    asked: Feasibility,
    names: tuple[str, str],
    claimed: str,
    incumbent: Incumbent | None,
    bound: float | None,
    figures: Statistics,
) -> Result:
    """Return the result of a strategy.

    Parameters
    ----------
    asked
        The solver, the request, and what stopped the search.
    names
        Formulation and strategy.
    claimed
        ``"optimal"``, ``"infeasible"`` or ``"stopped"``; :func:`judge` holds it against the bound.
    incumbent, bound
        The best plan, and a bound in seconds.
    figures
        Statistics without times.
    """
    status, known = judge(claimed, incumbent, bound, asked.request.rel_gap)
    return Result(
        status=status,
        plan=None if incumbent is None else incumbent.plan,
        objective=None if incumbent is None else incumbent.objective,
        bound=known,
        limit=None if asked.stopped_by is None else Limit(asked.stopped_by),
        solver=asked.solver,
        formulation=names[0],
        strategy=names[1],
        statistics=replace(
            figures,
            wall_seconds=time.perf_counter() - asked.start,
            cpu_seconds=time.process_time() - asked.cpu_start,
        ),
    )
