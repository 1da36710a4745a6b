"""The one module that knows PuLP's solvers.

It takes a PuLP problem and hands back what the solver says, unjudged: whether the search ended, the
values if there are any, objective, bound and nodes. Gaps are set to zero here, time limits are kept
by a callback of our own (HiGHS alone may overrun), and Ctrl-C stops the search, not the program.
"""

import contextlib
import importlib
import importlib.util
import inspect
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Literal

import pulp

from stagecut.errors import ProblemError, SolverError, SolverNotInstalledError

type Stop = Literal["time", "interrupt", "solver"]
"""What ended a search early: the clock, Ctrl-C, or a limit among the solver's own options."""

type Progress = Callable[[float | None, float | None], None]
"""Called with (incumbent, bound); ``None`` where unknown."""


@dataclass(frozen=True, slots=True)
class SolverEntry:
    """A solver: PuLP's name for it, the package that brings it, and our extra for that."""

    pulp_name: str
    module: str
    extra: str | None
    options: Callable[["Request"], dict[str, Any]]


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
    relaxed
        Whether to solve the LP relaxation: binaries may take any value within 0..1.
    progress
        Called with the model's incumbent and bound while the search runs (HiGHS only).
    """

    time_limit: float | None = None
    rel_gap: float = 0.0
    threads: int | None = None
    warm_start: bool = False
    options: Mapping[str, Any] = field(default_factory=dict)
    log: bool = False
    relaxed: bool = False
    progress: Progress | None = None


@dataclass(frozen=True, slots=True)
class Answer:
    """What a solver said about a model, in the model's units; ``None`` where it said nothing."""

    status: Literal["optimal", "infeasible", "stopped"]
    has_solution: bool
    objective: float | None
    bound: float | None
    nodes: int | None
    stopped_by: Stop | None


def run(model: pulp.LpProblem, solver: str, request: Request) -> Answer:
    """Solve ``model``; values are left in its variables when ``has_solution``.

    Raises
    ------
    SolverNotInstalledError
        If the solver is not installed.
    SolverError
        If it crashes or gives up for a reason that is neither a proof nor a limit.
    """
    entry = _installed(solver)
    watch = _Watch(request)
    options = {
        "msg": request.log,
        "mip": not request.relaxed,
        **entry.options(request),
        **request.options,
    }
    if solver == "highs":
        _silence_banner()
        _refuse_unknown(request.options)
        options.update(callbackTuple=(watch.on_event, None), callbacksToActivate=_events())
    try:
        with watch.interruptible():
            stats = model.solve(pulp.getSolver(entry.pulp_name, **options))
    except KeyboardInterrupt:
        return Answer("stopped", False, None, None, None, "interrupt")
    except Exception as error:
        raise SolverError(f"{solver} failed: {error or type(error).__name__}") from error
    return _answer(solver, model, stats, watch)


def available_solvers() -> tuple[str, ...]:
    """Return the solvers that can be used now: ``"dp"``, then installed MILP solvers.

    Examples
    --------
    >>> available_solvers()[:2]
    ('dp', 'highs')
    """
    return ("dp", *(name for name, entry in SOLVERS.items() if _is_installed(entry)))


def known_solver(name: str) -> str:
    """Return ``name`` if it names a solver, installed or not.

    Raises
    ------
    ProblemError
        If it does not.
    """
    if name not in ("auto", "dp", *SOLVERS):
        raise ProblemError(f"solver must be one of auto, dp, {', '.join(SOLVERS)}, got {name!r}")
    return name


def _highs_options(request: Request) -> dict[str, Any]:
    return {
        "gapRel": request.rel_gap,
        "gapAbs": 0.0,
        "timeLimit": request.time_limit,
        "threads": request.threads,
        "warmStart": request.warm_start,
        "output_flag": request.log,
        "mip_allow_restart": False,
        "mip_feasibility_tolerance": 1e-9,
        "primal_feasibility_tolerance": 1e-9,
        "dual_feasibility_tolerance": 1e-9,
    }


def _pulp_options(request: Request) -> dict[str, Any]:
    given = {
        "gapRel": request.rel_gap,
        "timeLimit": request.time_limit,
        "threads": request.threads,
        "warmStart": request.warm_start or None,
    }
    return {name: value for name, value in given.items() if value is not None}


SOLVERS: dict[str, SolverEntry] = {
    "highs": SolverEntry("HiGHS", "highspy", None, _highs_options),
    "scip": SolverEntry("SCIP_PY", "pyscipopt", "scip", _pulp_options),
    "cbc": SolverEntry("COIN_CMD", "cbcbox", "cbc", _pulp_options),
    "cpsat": SolverEntry("CPSAT", "ortools", "cpsat", _pulp_options),
    "gurobi": SolverEntry("GUROBI", "gurobipy", "gurobi", _pulp_options),
    "cplex": SolverEntry("CPLEX_PY", "cplex", "cplex", _pulp_options),
    "xpress": SolverEntry("XPRESS_PY", "xpress", "xpress", _pulp_options),
    "copt": SolverEntry("COPT", "coptpy", "copt", _pulp_options),
    "mosek": SolverEntry("MOSEK", "mosek", "mosek", _pulp_options),
}


OWN_LIMITS = (
    pulp.LpSolveStatus.NodeLimit,
    pulp.LpSolveStatus.IterationLimit,
    pulp.LpSolveStatus.SolutionLimit,
    pulp.LpSolveStatus.MemoryLimit,
)
"""Limits that only a solver's own options set."""


class _Watch:
    """Deadline, interrupt flag and progress of one run."""

    def __init__(self, request: Request) -> None:
        self.progress = request.progress
        limit = request.time_limit
        self.deadline = None if limit is None else time.monotonic() + limit
        self.interrupted = False
        self.timed_out = False
        self.reported: tuple[float | None, float | None] = (None, None)
        # HiGHS makes its event for logging only while its log is on; this one always comes.
        self.mip_event = _highspy().cb.HighsCallbackType.kCallbackMipInterrupt

    def on_event(
        self, kind: Any, _message: str, data_out: Any, data_in: Any, _user_data: Any
    ) -> None:
        """Answer a HiGHS callback: report, and ask it to stop when it is time."""
        if self.deadline is not None and time.monotonic() > self.deadline:
            self.timed_out = True
        if data_in is not None and (self.interrupted or self.timed_out):
            data_in.user_interrupt = True
        if self.progress is not None and kind == self.mip_event:
            known = _finite(data_out.mip_primal_bound), _finite(data_out.mip_dual_bound)
            if known != self.reported:
                self.reported = known
                self.progress(*known)

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


def _answer(solver: str, model: pulp.LpProblem, stats: pulp.LpSolveStats, watch: _Watch) -> Answer:
    status = pulp.LpSolveStatus
    has_solution = bool(stats.has_solution)
    objective = stats.objective if has_solution else None
    nodes = stats.nodes
    if solver == "highs":
        highs: Any = model.solverModel
        nodes = max(int(highs.getInfo().mip_node_count), 0)
    if stats.status == status.Optimal or (stats.status == status.GapLimit and has_solution):
        bound = stats.best_bound if stats.best_bound is not None else objective
        return Answer("optimal", has_solution, objective, bound, nodes, None)
    if stats.status == status.Infeasible:
        return Answer("infeasible", False, None, None, nodes, None)
    stopped_by: Stop | None = "interrupt" if watch.interrupted else None
    if stopped_by is None and (watch.timed_out or stats.status == status.TimeLimit):
        stopped_by = "time"
    if stopped_by is None and stats.status in OWN_LIMITS:
        stopped_by = "solver"
    if stopped_by is None:
        raise SolverError(
            f"{solver} stopped without an answer: {stats.status_str}; "
            "try another solver or formulation"
        )
    return Answer("stopped", has_solution, objective, stats.best_bound, nodes, stopped_by)


def _installed(solver: str) -> SolverEntry:
    entry = SOLVERS[solver]
    if not _is_installed(entry):
        raise SolverNotInstalledError(
            f"solver {solver!r} is not installed; install it with: "
            f"pip install 'stagecut[{entry.extra}]'"
        )
    return entry


def _is_installed(entry: SolverEntry) -> bool:
    return importlib.util.find_spec(entry.module) is not None


def _events() -> list[Any]:
    kinds = _highspy().cb.HighsCallbackType
    return [
        kinds.kCallbackMipInterrupt,
        kinds.kCallbackSimplexInterrupt,
        kinds.kCallbackIpmInterrupt,
    ]


def _highspy() -> Any:
    """Return the module ``highspy``, whose callbacks are not typed."""
    return importlib.import_module("highspy")


def _refuse_unknown(options: Mapping[str, Any]) -> None:
    """Raise on a name that HiGHS does not know; PuLP would pass over it in silence."""
    known = inspect.signature(pulp.HiGHS.__init__).parameters
    highs = _highspy().Highs()
    highs.setOptionValue("output_flag", False)
    for name in options:
        if name not in known and highs.getOptionValue(name)[0] == _highspy().HighsStatus.kError:
            raise ProblemError(f"solver_options: HiGHS has no option {name!r}")


def _finite(value: float) -> float | None:
    return value if abs(value) < 1e30 else None


@cache
def _silence_banner() -> None:
    """Let HiGHS print its banner, once per process, into nothing."""
    sys.stdout.flush()
    saved = os.dup(1)
    sink = os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(sink, 1)
        _highspy().Highs().setOptionValue("output_flag", False)
    finally:
        os.dup2(saved, 1)
        os.close(saved)
        os.close(sink)
