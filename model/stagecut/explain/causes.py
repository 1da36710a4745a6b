"""What an explanation consists of, and the question that all parts of it ask."""

from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from stagecut.plan import Plan
from stagecut.problem import StageProblem
from stagecut.result import Result, Status
from stagecut.solve import solve

type Kind = Literal["layer", "cover", "devices", "memory", "rules", "placement"]


@dataclass(frozen=True, slots=True)
class Cause:
    """One reason why there is no plan.

    Parameters
    ----------
    kind
        ``"layer"`` (it fits no submesh), ``"cover"`` (allowed stages do not join), ``"devices"``
        (no sum of sizes fits), ``"memory"``, ``"rules"`` or ``"placement"``.
    message
        What is wrong, in one sentence.
    changes
        The smallest changes known that give the problem a plan, each enough by itself; empty where
        none was computed.
    rules
        For ``"rules"`` and ``"placement"``: rules that cannot hold together, none of which can be
        left out of the set.
    """

    kind: Kind
    message: str
    changes: tuple[str, ...] = ()
    rules: tuple[str, ...] = ()

    def __str__(self) -> str:
        if not self.changes:
            return self.message
        return f"{self.message}; to change that, {', or '.join(self.changes)}"


@dataclass(frozen=True, slots=True)
class Explanation:
    """Why a problem has no plan; no causes where it has one, or where that is not known.

    Parameters
    ----------
    status
        ``INFEASIBLE``, or what was found instead.
    causes
        Each by itself enough to leave no plan.
    """

    status: Status
    causes: tuple[Cause, ...] = field(default=())

    def __str__(self) -> str:
        if self.status is Status.INFEASIBLE:
            return "\n".join(map(str, self.causes))
        return (
            "it is not known whether there is a plan"
            if self.status is Status.UNKNOWN
            else ("there is a plan")
        )


@dataclass(frozen=True, slots=True)
class Oracle:
    """Says whether variants of a problem have a plan, whatever it costs.

    Parameters
    ----------
    time_limit
        Wall seconds for each question; a question without an answer counts as "no".
    """

    time_limit: float | None

    def status(self, problem: StageProblem) -> Status:
        """Return whether there is a plan."""
        return self._solve(problem).status

    def plan(self, problem: StageProblem) -> Plan | None:
        """Return some plan, its costs those of ``problem``."""
        found = self._solve(problem).plan
        return None if found is None else found.priced_by(problem)

    def has_plan(self, problem: StageProblem) -> bool:
        """Whether some plan was found."""
        return self._solve(problem).plan is not None

    def _solve(self, problem: StageProblem) -> Result:
        free = np.where(np.isfinite(problem.cost), 0.0, np.inf)
        problem = problem.replace(cost_spread=None, robustness=0, transfers=None)
        return solve(problem.replace(cost=free, objective="latency"), time_limit=self.time_limit)
