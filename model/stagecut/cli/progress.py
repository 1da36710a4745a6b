"""Progress of a long solve: one line on a terminal, nothing in a pipe."""

import contextlib
import sys
import time
from collections.abc import Callable, Iterator

FIRST_SHOWN = 0.5
"""Seconds before the line appears."""


@contextlib.contextmanager
def shown_progress(
    solver: str,
) -> Iterator[Callable[[float | None, float | None], None] | None]:
    """Yield a callback for (incumbent, bound) that keeps a line on standard error up to date."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console

    console = Console(stderr=True)
    start = time.monotonic()
    status = console.status(f"{solver}: searching")

    def progress(incumbent: float | None, bound: float | None) -> None:
        elapsed = time.monotonic() - start
        if elapsed >= FIRST_SHOWN:
            status.update(f"{solver}: {progress_line(incumbent, bound)}  {elapsed:.0f} s")

    with status:
        yield progress


def progress_line(incumbent: float | None, bound: float | None) -> str:
    """Return incumbent, bound and gap in words.

    Examples
    --------
    >>> progress_line(4.0, 3.0)
    'best 4 s  bound 3 s  gap 25.00%'
    >>> progress_line(None, 3.0)
    'no plan yet  bound 3 s'
    """
    best = "no plan yet" if incumbent is None else f"best {incumbent:.6g} s"
    low = "no bound yet" if bound is None else f"bound {bound:.6g} s"
    if not incumbent or bound is None:
        return f"{best}  {low}"
    return f"{best}  {low}  gap {max(incumbent - bound, 0.0) / incumbent:.2%}"
