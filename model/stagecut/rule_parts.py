"""Parts of the rules that have fields of their own, and checks of plain values."""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any

from stagecut.errors import ProblemError
from stagecut.submesh import Submesh

type LayerRange = tuple[int, int]


@dataclass(frozen=True, slots=True)
class AllowedSubmeshes:
    """Every stage that holds a layer of a range runs on one of some submeshes.

    Parameters
    ----------
    first_layer, last_layer
        The range, both included.
    submeshes
        Submeshes of the problem, :class:`Submesh` or ``(hosts, devices_per_host)``.

    Examples
    --------
    >>> AllowedSubmeshes(0, 3, [(1, 8)]).submeshes
    (Submesh(hosts=1, devices_per_host=8, pool=None),)
    """

    first_layer: int
    last_layer: int
    submeshes: tuple[Submesh, ...]

    def __post_init__(self) -> None:
        layer_range("allowed_submeshes", (self.first_layer, self.last_layer))
        shapes = tuple(Submesh.of(shape) for shape in self.submeshes)
        if not shapes:
            raise ProblemError(
                f"allowed_submeshes of layers {self.first_layer}..{self.last_layer} must name at "
                "least one submesh, got none"
            )
        object.__setattr__(self, "submeshes", shapes)


@dataclass(frozen=True, slots=True)
class Budget:
    """A limit on something that every stage takes by its submesh: price, power, licences.

    Parameters
    ----------
    limit
        Most that all stages may take together, in a unit of the user's.
    weights
        What one stage on a submesh takes, in the same unit: a mapping from submesh, or pairs. Every
        submesh of the problem needs one.
    name
        What messages call it.

    Examples
    --------
    >>> Budget(40.0, {(1, 4): 12.0, (1, 8): 22.0}, name="price").of(Submesh(1, 8))
    22.0
    """

    limit: float
    weights: tuple[tuple[Submesh, float], ...]
    name: str = "budget"

    def __init__(
        self,
        limit: float,
        weights: Mapping[Any, float] | Iterable[tuple[Any, float]],
        name: str = "budget",
    ) -> None:
        pairs: Any = weights.items() if isinstance(weights, Mapping) else weights
        if not isinstance(name, str) or not name:
            raise ProblemError(f"the name of a budget must be a non-empty string, got {name!r}")
        object.__setattr__(self, "name", name)
        object.__setattr__(self, "limit", amount(f"budget {name!r}: limit", limit))
        entries = tuple(
            (shape := Submesh.of(key), amount(f"budget {name!r}: weight of {shape}", value))
            for key, value in pairs
        )
        object.__setattr__(self, "weights", entries)

    def of(self, submesh: Submesh) -> float:
        """Return what one stage on ``submesh`` takes.

        Raises
        ------
        ProblemError
            If the budget has no weight for it.
        """
        for shape, weight in self.weights:
            if shape == submesh:
                return weight
        raise ProblemError(f"budget {self.name!r} has no weight for submesh {submesh}; add one")


def integer_from(name: str, value: object, least: int = 0) -> int:
    """Return ``value`` as an ``int`` of at least ``least``, or raise :class:`ProblemError`."""
    if isinstance(value, bool) or not isinstance(value, Integral) or value < least:
        raise ProblemError(f"{name} must be an integer of at least {least}, got {value!r}")
    return int(value)


def amount(name: str, value: object) -> float:
    """Return ``value`` as a finite ``float`` >= 0, or raise :class:`ProblemError`."""
    if isinstance(value, bool) or not isinstance(value, Real) or not 0 <= float(value) < math.inf:
        raise ProblemError(f"{name} must be a number >= 0, got {value!r}")
    return float(value)


def entries(name: str, value: object, of: str) -> tuple[Any, ...]:
    """Return the entries of a sequence, or raise :class:`ProblemError`."""
    if isinstance(value, str) or not isinstance(value, Iterable):
        raise ProblemError(f"{name} must be a sequence of {of}, got {value!r}")
    return tuple(value)


def layer_range(name: str, pair: object) -> LayerRange:
    """Return a pair ``first <= last`` of layers, or raise :class:`ProblemError`."""
    ends = tuple(pair) if isinstance(pair, Iterable) else ()
    if len(ends) != 2:
        raise ProblemError(f"{name} must be a pair (first, last), got {pair!r}")
    first, last = integer_from(f"{name} first", ends[0]), integer_from(f"{name} last", ends[1])
    if first > last:
        raise ProblemError(f"{name} must have first <= last, got {first}..{last}")
    return first, last
