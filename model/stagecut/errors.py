"""Exceptions of stagecut: one base class, one subclass per kind of failure."""

from collections.abc import Iterable


class StagecutError(Exception):
    """Base class of every exception that stagecut raises on purpose."""


class ProblemError(StagecutError, ValueError):
    """A problem, profile or argument breaks a rule; the message names argument, rule and value."""


class UnsupportedError(StagecutError, ValueError):
    """A valid request that the chosen engine, formulation or target cannot express."""


class FormatError(StagecutError, ValueError):
    """A file cannot be read as what it claims to be."""


class PlanError(StagecutError, ValueError):
    """A plan breaks at least one rule of its problem.

    Parameters
    ----------
    violations
        One sentence per broken rule.

    Attributes
    ----------
    violations
        The same sentences, as a tuple.
    """

    def __init__(self, violations: Iterable[str]) -> None:
        self.violations = tuple(violations)
        super().__init__("; ".join(self.violations))


class SolverError(StagecutError, RuntimeError):
    """A solver crashed, or what it returned does not survive the referee."""


class SolverNotInstalledError(SolverError):
    """The solver asked for is not installed; the message names the extra that installs it."""
