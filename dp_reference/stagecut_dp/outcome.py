"""What a search returns, and the clock that may stop it."""

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from stagecut_dp.candidates import Candidates
from stagecut_dp.instance import Choice

type Progress = Callable[[float, float], None]
"""Called with (incumbent, bound) in seconds; ``inf`` while there is no plan."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """Result of :func:`stagecut_dp.search`.

    Parameters
    ----------
    objective
        Value of ``plan`` in seconds (for ``stages_times_bottleneck`` stages x seconds), ``inf``
        without a plan.
    plan
        Tuples ``(first, last, submesh, config)``, or ``None``.
    bound
        Valid lower bound in seconds; equal to ``objective`` when ``stopped`` is ``None``.
    passes
        Passes over layers and devices.
    stopped
        ``"time"`` or ``"interrupt"`` when the search ended early, otherwise ``None``.
    """

    objective: float
    plan: list[Choice] | None
    bound: float
    passes: int
    stopped: str | None = None


class Stop(Exception):  # noqa: N818 - control flow, not an error
    """Raised between passes when the clock has run out."""


@dataclass(slots=True)
class Clock:
    """Counts passes and raises :class:`Stop` after ``time_limit`` seconds of wall time."""

    time_limit: float | None = None
    passes: int = 0
    start: float = field(default_factory=lambda: time.monotonic())

    def check(self) -> None:
        """Stop when the time is over."""
        if self.time_limit is not None and time.monotonic() - self.start > self.time_limit:
            raise Stop

    def tick(self) -> None:
        """Count one pass about to start."""
        self.check()
        self.passes += 1


@dataclass(slots=True)
class Incumbent:
    """The best plan so far and the least bound of what is still open."""

    progress: Progress | None = None
    objective: float = math.inf
    plan: list[Choice] | None = None
    path: Candidates | None = None
    bound: float = 0.0

    def offer(self, objective: float, plan: list[Choice], path: Candidates | None = None) -> None:
        """Keep a plan if it is better."""
        if objective < self.objective:
            self.objective, self.plan, self.path = objective, plan, path
            self._tell()

    def prove(self, bound: float) -> None:
        """Raise the bound, never above the incumbent."""
        bound = min(bound, self.objective)
        if bound > self.bound:
            self.bound = bound
            self._tell()

    def close(self) -> None:
        """Say that the incumbent is optimal, or that there is no plan."""
        self.bound = self.objective
        self._tell()

    def _tell(self) -> None:
        if self.progress is not None:
            self.progress(self.objective, self.bound)
