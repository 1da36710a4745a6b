"""The solvers that PuLP drives, what brings each, and our options in each one's words."""

import importlib.util
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from stagecut.backend.request import Request
from stagecut.errors import ProblemError, SolverNotInstalledError, UnsupportedError


@dataclass(frozen=True, slots=True)
class SolverEntry:
    """A solver that PuLP drives.

    Parameters
    ----------
    pulp_name
        PuLP's name for it.
    module
        The package that brings it.
    extra
        Our extra for that package.
    options
        Our options in its words.
    relaxes
        Whether it solves LP relaxations; one that does not solves the model itself instead, whose
        optimum is a bound as well.
    refusal
        Why it cannot be used, ``None`` if it can.
    """

    pulp_name: str
    module: str
    extra: str | None
    options: Callable[[Request], dict[str, Any]]
    relaxes: bool = True
    refusal: str | None = None


def highs_options(request: Request) -> dict[str, Any]:
    """Return HiGHS's options: zero gaps, tight tolerances, no restarts (they overrun limits)."""
    cutoff = {} if request.cutoff is None else {"objective_bound": request.cutoff}
    return cutoff | {
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


def pulp_options(request: Request) -> dict[str, Any]:
    """Return the options that PuLP translates for every solver."""
    given = {
        "gapRel": request.rel_gap,
        "timeLimit": request.time_limit,
        "threads": request.threads,
        "warmStart": request.warm_start or None,
    }
    return {name: value for name, value in given.items() if value is not None}


ROUNDS = "PuLP rounds its continuous variables, so that its optimum would not be exact"

SOLVERS: dict[str, SolverEntry] = {
    "highs": SolverEntry("HiGHS", "highspy", None, highs_options),
    "scip": SolverEntry("SCIP_PY", "pyscipopt", "scip", pulp_options, relaxes=False),
    "cbc": SolverEntry("COIN_CMD", "cbcbox", "cbc", pulp_options),
    "cpsat": SolverEntry("CPSAT", "ortools", "cpsat", pulp_options, relaxes=False, refusal=ROUNDS),
    "gurobi": SolverEntry("GUROBI", "gurobipy", "gurobi", pulp_options),
    "cplex": SolverEntry("CPLEX_PY", "cplex", "cplex", pulp_options),
    "xpress": SolverEntry("XPRESS_PY", "xpress", "xpress", pulp_options),
    "copt": SolverEntry("COPT", "coptpy", "copt", pulp_options),
    "mosek": SolverEntry("MOSEK", "mosek", "mosek", pulp_options),
}


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


def installed(name: str) -> SolverEntry:
    """Return the entry of a solver.

    Raises
    ------
    SolverNotInstalledError
        If the solver is not installed.
    UnsupportedError
        If it cannot give exact results.
    """
    entry = SOLVERS[name]
    if entry.refusal is not None:
        raise UnsupportedError(f"solver {name!r} cannot be used: {entry.refusal}")
    if not _is_installed(entry):
        raise SolverNotInstalledError(
            f"solver {name!r} is not installed; install it with: "
            f"pip install 'stagecut[{entry.extra}]'"
        )
    return entry


def _is_installed(entry: SolverEntry) -> bool:
    return entry.refusal is None and importlib.util.find_spec(entry.module) is not None
