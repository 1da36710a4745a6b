"""HiGHS through PuLP, in a thread of its own, so that no limit is overrun.

HiGHS asks whether to stop only now and then: its presolve goes on for many times a limit without a
question. So the search runs beside the caller, who waits no longer than the deadline, or Ctrl-C,
and a grace in which HiGHS may stop by itself. After that the run is abandoned: its best solution so
far is the answer, and its thread ends at HiGHS's next question. Python waits for the thread before
it exits, since C++ code that goes on while a process closes aborts it; :func:`leave` does not wait.
"""

import importlib
import inspect
import math
import os
import sys
import threading
import time
from collections.abc import Mapping
from functools import cache
from typing import Any, NoReturn

import pulp

from stagecut.backend.modelling import modelling
from stagecut.backend.watch import Watch
from stagecut.errors import ProblemError

GRACE = 0.25
"""Seconds after the deadline in which HiGHS may stop by itself."""

THREAD = "stagecut: HiGHS"

POLL = 0.05
"""Seconds between looks at the clock and reports of progress."""


class Highs(pulp.HiGHS):
    """PuLP's HiGHS, watched.

    Parameters
    ----------
    watch
        Deadline and Ctrl-C; learns incumbents and bounds.
    options
        As PuLP's.
    """

    name = "HiGHS"

    def __init__(self, watch: Watch, **options: Any) -> None:
        kinds = _highspy().cb.HighsCallbackType
        # HiGHS makes its event for logging only while its log is on; this one always comes.
        self._mip_event = kinds.kCallbackMipInterrupt
        self._solution_event = kinds.kCallbackMipImprovingSolution
        simplex, interior = kinds.kCallbackSimplexInterrupt, kinds.kCallbackIpmInterrupt
        self._events = [simplex, interior, self._mip_event, self._solution_event]
        super().__init__(
            callbackTuple=(self._on_event, None), callbacksToActivate=self._events, **options
        )
        self.abandoned = False
        self._watch = watch
        self._solution: tuple[float, list[float]] | None = None

    def buildSolverModel(self, lp: pulp.LpProblem) -> None:  # noqa: N802 (PuLP's name)
        """Hand the model to HiGHS, while the clock allows.

        Raises
        ------
        RuntimeError
            If HiGHS refuses it; PuLP would go on with what is there.
        """
        with modelling(self._watch.left):
            super().buildSolverModel(lp)
        highs: Any = lp.solverModel
        if highs.getNumRow() != lp.numConstraints():
            raise RuntimeError("it refuses the model; are there coefficients of 1e15 or more?")

    def callSolver(self, lp: pulp.LpProblem) -> None:  # noqa: N802 (PuLP's name)
        """Run HiGHS beside the caller; return when it ends or is abandoned."""
        highs: Any = lp.solverModel
        ended, failures = threading.Event(), []

        def search() -> None:
            try:
                highs.run()
            except BaseException as error:  # handed to the caller, whatever it is
                failures.append(error)
            finally:
                ended.set()

        threading.Thread(target=search, name=THREAD).start()
        try:
            self._wait(ended)
        except BaseException:
            self._watch.interrupted = True
            raise
        if failures:
            raise failures[0]

    def findSolutionValues(  # noqa: N802 (PuLP's name)
        self, lp: pulp.LpProblem
    ) -> tuple[pulp.LpSolveStatus, bool]:
        """Read HiGHS's answer, or the best solution that an abandoned run has reported."""
        if not self.abandoned:
            read: Any = super().findSolutionValues
            status, has_solution = read(lp)
            return status, has_solution
        if self._solution is not None:
            for variable, value in zip(lp.exported_variables(), self._solution[1], strict=True):
                variable.varValue = value
        return pulp.LpSolveStatus.Interrupted, self._solution is not None

    def findBestBound(self, lp: pulp.LpProblem) -> float | None:  # noqa: N802 (PuLP's name)
        """Return the best bound proven, in the model's units."""
        return self._watch.known[1] if self.abandoned else super().findBestBound(lp)

    def figures(self, lp: pulp.LpProblem) -> tuple[float | None, int | None, int]:
        """Return objective of the variables' values, nodes (unknown if abandoned) and nonzeros."""
        highs: Any = lp.solverModel
        nonzeros = int(highs.getNumNz())
        if self.abandoned:
            return None if self._solution is None else self._solution[0], None, nonzeros
        nodes = max(int(highs.getInfo().mip_node_count), 0)
        return float(highs.getObjectiveValue()), nodes, nonzeros

    def _wait(self, ended: threading.Event) -> None:
        give_up, over = math.inf, False
        while not over and not self.abandoned:
            try:
                over = ended.wait(POLL)
                self._watch.tell()
            except KeyboardInterrupt:  # from the report of progress, or a second Ctrl-C
                self.abandoned = self._watch.interrupted
                self._watch.interrupted = True
            if self._watch.stopped_by is not None:
                give_up = min(give_up, time.monotonic() + GRACE)
            self.abandoned |= not over and time.monotonic() > give_up

    def _on_event(
        self, kind: Any, _message: str, data_out: Any, data_in: Any, _user_data: Any
    ) -> None:
        """Answer a HiGHS callback: note what it knows, and ask it to stop when it is time."""
        if data_in is not None and self._watch.stopped_by is not None:
            data_in.user_interrupt = True
        if self.abandoned:
            return
        if kind == self._solution_event:
            self._solution = float(data_out.objective_function_value), list(data_out.mip_solution)
        elif kind == self._mip_event:
            found, bound = data_out.mip_primal_bound, data_out.mip_dual_bound
            self._watch.known = _finite(found), _finite(bound)


def leave(code: int) -> NoReturn:
    """End the process with ``code`` at once, even beside a run that was given up."""
    if any(thread.name == THREAD for thread in threading.enumerate()):
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)
    sys.exit(code)


def refuse_unknown(options: Mapping[str, Any]) -> None:
    """Raise on a name that HiGHS does not know; PuLP would pass over it in silence.

    Raises
    ------
    ProblemError
        If there is such a name.
    """
    known = inspect.signature(pulp.HiGHS.__init__).parameters
    highs = _highspy().Highs()
    highs.setOptionValue("output_flag", False)
    for name in options:
        if name not in known and highs.getOptionValue(name)[0] == _highspy().HighsStatus.kError:
            raise ProblemError(f"solver_options: HiGHS has no option {name!r}")


@cache
def silence_banner() -> None:
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


def _highspy() -> Any:
    """Return the module ``highspy``, whose callbacks are not typed."""
    return importlib.import_module("highspy")


def _finite(value: float) -> float | None:
    return value if abs(value) < 1e30 else None
