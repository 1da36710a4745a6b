"""What a search returns, and the clock that may stop it."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field

from stagecut_dp.recurrence import Choice

type Progress = Callable[[float, float], None]
"""Called with (incumbent, bound) in seconds; ``inf`` while there is no plan."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """Result of :func:`stagecut_dp.search`.

    Parameters
    ----------
    objective
        Value of ``plan`` in seconds, ``inf`` without a plan.
    plan
        Tuples ``(first, last, submesh, config)``, or ``None``.
    bound
        Valid lower bound in seconds; equal to ``objective`` when ``stopped`` is ``None``.
    passes
        Passes of the recurrence.
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
    start: float = field(default_factory=time.monotonic)

    def tick(self) -> None:
        """Count one pass about to start."""
        if self.time_limit is not None and time.monotonic() - self.start > self.time_limit:
            raise Stop
        self.passes += 1
