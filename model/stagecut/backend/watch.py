"""One run of a solver, watched: its deadline, Ctrl-C, and what it has found so far."""

import contextlib
import signal
import threading
import time
from collections.abc import Iterator

from stagecut.backend.request import Progress, Request, Stop


class Watch:
    """Deadline, interrupt and progress of one run.

    Parameters
    ----------
    request
        Its time limit counts from now.
    """

    def __init__(self, request: Request) -> None:
        limit = request.time_limit
        self.deadline = None if limit is None else time.monotonic() + limit
        self.interrupted = False
        self.known: tuple[float | None, float | None] = (None, None)
        self.failure: Exception | None = None
        self._progress: Progress | None = request.progress
        self._told: tuple[float | None, float | None] = self.known

    @property
    def left(self) -> float | None:
        """Seconds until the deadline, ``None`` without one."""
        return None if self.deadline is None else self.deadline - time.monotonic()

    @property
    def stopped_by(self) -> Stop | None:
        """Why the run should stop, or ``None`` while it should not."""
        if self.interrupted:
            return "interrupt"
        return "time" if self.left is not None and self.left <= 0 else None

    def tell(self) -> None:
        """Report (incumbent, bound) if they changed; keep what the report raises."""
        if self._progress is None or self.known == self._told:
            return
        self._told = self.known
        try:
            self._progress(*self.known)
        except Exception as error:
            self.failure = error
            raise

    @contextlib.contextmanager
    def interruptible(self) -> Iterator[None]:
        """Turn SIGINT into a request to stop, in the main thread; a second one raises."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        previous = signal.getsignal(signal.SIGINT)

        def on_signal(_number: int, _frame: object) -> None:
            if self.interrupted:
                raise KeyboardInterrupt
            self.interrupted = True

        signal.signal(signal.SIGINT, on_signal)
        try:
            yield
        finally:
            signal.signal(signal.SIGINT, previous)
