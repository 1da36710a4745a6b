"""Results: a plan, how good it is known to be, and how it was found."""

from dataclasses import dataclass, field
from enum import StrEnum

from stagecut.plan import Plan


class Status(StrEnum):
    """What is known when the search ends."""

    OPTIMAL = "optimal"
    """The plan is proven to be within the requested gap of the best."""
    FEASIBLE = "feasible"
    """A plan was found; a limit stopped the proof."""
    INFEASIBLE = "infeasible"
    """It is proven that no plan exists."""
    UNKNOWN = "unknown"
    """A limit stopped the search before a plan or a proof of infeasibility."""


class Limit(StrEnum):
    """What stopped a search early."""

    TIME = "time"
    INTERRUPT = "interrupt"
    SOLVER = "solver"
    """A limit among the solver's own options."""


@dataclass(frozen=True, slots=True)
class Statistics:
    """Figures about one search; ``None`` where the engine does not tell.

    Parameters
    ----------
    wall_seconds, cpu_seconds
        Time of the whole call, in seconds.
    build_seconds
        Part of ``wall_seconds`` spent on building models.
    rows, columns, nonzeros
        Size of the largest model handed to the solver.
    nodes
        Branch-and-bound nodes, over all models.
    models
        Number of LPs and MILPs solved.
    passes
        Passes of the dynamic programme.
    """

    wall_seconds: float | None = None
    cpu_seconds: float | None = None
    build_seconds: float | None = None
    rows: int | None = None
    columns: int | None = None
    nonzeros: int | None = None
    nodes: int | None = None
    models: int | None = None
    passes: int | None = None


@dataclass(frozen=True, slots=True)
class Result:
    """Outcome of :func:`stagecut.solve`.

    Parameters
    ----------
    status
        What is known.
    plan
        The best plan found, or ``None``.
    objective
        Its value in seconds as the referee computes it from the cost table, or ``None``.
    bound
        Proven lower bound on the best value in seconds, or ``None``.
    limit
        The limit that stopped the search, or ``None`` if it ran to its end.
    solver, formulation, strategy
        What was used, "auto" resolved; formulation and strategy are ``None`` for the DP.
    statistics
        Times and model sizes.
    """

    status: Status
    plan: Plan | None
    objective: float | None
    bound: float | None
    limit: Limit | None
    solver: str
    formulation: str | None = None
    strategy: str | None = None
    statistics: Statistics = field(default_factory=Statistics)

    @property
    def gap(self) -> float | None:
        """``(objective - bound) / objective``, 0 when both are 0, ``None`` when one is unknown."""
        if self.objective is None or self.bound is None:
            return None
        if self.objective <= self.bound:
            return 0.0
        return (self.objective - self.bound) / self.objective
