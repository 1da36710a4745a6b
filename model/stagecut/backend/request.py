"""What is asked of a solver, and what it says."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

type Stop = Literal["time", "interrupt", "solver"]
"""What ended a search early: the clock, Ctrl-C, or a limit among the solver's own options."""

type Progress = Callable[[float | None, float | None], None]
"""Called with (incumbent, bound); ``None`` where unknown."""


@dataclass(frozen=True, slots=True)
class Request:
    """What to ask of a solver, in our own terms.

    Parameters
    ----------
    time_limit
        Wall seconds, or ``None``.
    rel_gap
        Relative gap at which the search may stop.
    threads
        Number of threads, or ``None`` for the solver's choice.
    warm_start
        Whether variables hold values to start from.
    options
        The solver's own options; they win over ours.
    log
        Whether the solver may print its log.
    cutoff
        Objective in the model's units; solutions that are no better are not wanted (HiGHS; other
        solvers pass over it).
    relaxed
        Whether to solve the LP relaxation: binaries may take any value within 0..1.
    progress
        Called with the model's incumbent and bound while the search runs (HiGHS only), in the
        caller's thread; what it raises stops the search and comes through.
    """

    time_limit: float | None = None
    rel_gap: float = 0.0
    threads: int | None = None
    warm_start: bool = False
    options: Mapping[str, Any] = field(default_factory=dict)
    log: bool = False
    cutoff: float | None = None
    relaxed: bool = False
    progress: Progress | None = None


@dataclass(frozen=True, slots=True)
class Answer:
    """What a solver said about a model, in the model's units; ``None`` where it said nothing."""

    status: Literal["optimal", "infeasible", "stopped"]
    has_solution: bool = False
    objective: float | None = None
    bound: float | None = None
    nodes: int | None = None
    stopped_by: Stop | None = None
    nonzeros: int | None = None
