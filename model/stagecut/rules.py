"""Side constraints that a real cluster or a framework puts on a plan."""

from dataclasses import dataclass, fields


@dataclass(frozen=True, slots=True)
class StageRules:
    """Side constraints, all optional; the default has none.

    Examples
    --------
    >>> StageRules().is_empty
    True
    """

    @property
    def is_empty(self) -> bool:
        """Whether no rule is set."""
        return all(getattr(self, rule.name) == rule.default for rule in fields(self))
