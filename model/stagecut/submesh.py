"""Submeshes: the shapes a stage may run on."""

from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import Self

from stagecut.errors import ProblemError

type SubmeshLike = "Submesh | Sequence[int]"


@dataclass(frozen=True, slots=True, order=True)
class Submesh:
    """A rectangle of devices: some hosts, and as many devices on each of them.

    Parameters
    ----------
    hosts
        Number of hosts, at least 1.
    devices_per_host
        Devices used on each host, at least 1.
    pool
        Name of the device pool the devices are taken from; ``None`` where there is one pool.

    Raises
    ------
    ProblemError
        If a number is not a positive integer.

    Examples
    --------
    >>> Submesh(2, 8).size
    16
    """

    hosts: int
    devices_per_host: int
    pool: str | None = None

    def __post_init__(self) -> None:
        for name in ("hosts", "devices_per_host"):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, Integral) or value < 1:
                raise ProblemError(
                    f"submesh {name} must be an integer of at least 1, got {value!r}; "
                    "write a shape as (hosts, devices_per_host), for example (1, 8)"
                )
            object.__setattr__(self, name, int(value))
        if self.pool is not None and (not isinstance(self.pool, str) or not self.pool):
            raise ProblemError(f"submesh pool must be a non-empty name or None, got {self.pool!r}")

    @property
    def size(self) -> int:
        """Number of devices, ``hosts * devices_per_host``."""
        return self.hosts * self.devices_per_host

    @property
    def shape(self) -> tuple[int, int]:
        """The pair ``(hosts, devices_per_host)``."""
        return self.hosts, self.devices_per_host

    @classmethod
    def of(cls, value: SubmeshLike) -> Self:
        """Return ``value`` as a submesh: one already, or a pair ``(hosts, devices_per_host)``.

        Raises
        ------
        ProblemError
            If ``value`` is neither.
        """
        if isinstance(value, cls):
            return value
        try:
            hosts, devices_per_host = value  # type: ignore[misc]
        except (TypeError, ValueError):
            raise ProblemError(
                f"a submesh must be a Submesh or a pair (hosts, devices_per_host), got {value!r}"
            ) from None
        return cls(hosts, devices_per_host)

    def __str__(self) -> str:
        shape = f"{self.hosts}x{self.devices_per_host}"
        return shape if self.pool is None else f"{shape} {self.pool}"
