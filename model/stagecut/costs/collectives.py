"""Time of collective operations in the alpha-beta model.

Symbols: ``alpha`` seconds to start a message, ``beta`` bytes per second of one device in one
direction, ``n`` devices. Source: Thakur, Rabenseifner and Gropp, "Optimization of collective
communication operations in MPICH", 2005 (ring algorithms), with 1 / beta as their beta.
"""

from dataclasses import dataclass

from stagecut.errors import ProblemError


@dataclass(frozen=True, slots=True)
class Link:
    """One device's share of a network.

    Parameters
    ----------
    bandwidth
        Bytes per second in one direction, above 0.
    latency
        Seconds to start a message, at least 0.

    Raises
    ------
    ProblemError
        If a number breaks its rule.

    Examples
    --------
    >>> Link(bandwidth=1e9, latency=1e-6).send_seconds(1e6)
    0.001001
    """

    bandwidth: float
    latency: float = 0.0

    def __post_init__(self) -> None:
        if not 0 < self.bandwidth < float("inf"):
            raise ProblemError(f"bandwidth must be bytes/s above 0, got {self.bandwidth!r}")
        if not 0 <= self.latency < float("inf"):
            raise ProblemError(f"latency must be seconds >= 0, got {self.latency!r}")

    def send_seconds(self, num_bytes: float) -> float:
        """Return ``alpha + bytes / beta``."""
        return self.latency + num_bytes / self.bandwidth

    def all_reduce_seconds(self, num_bytes: float, num_devices: int) -> float:
        """Return ``2 (n - 1) alpha + 2 (n - 1) / n x bytes / beta``: ring all-reduce.

        ``num_bytes`` is the size of the whole vector, which every device holds. A reduce-scatter
        and an all-gather, as sequence parallelism uses them, take the same time together.
        """
        steps = 2 * (num_devices - 1)
        return steps * self.latency + steps / num_devices * num_bytes / self.bandwidth

    def all_to_all_seconds(self, num_bytes: float, num_devices: int) -> float:
        """Return ``(n - 1) alpha + (n - 1) / n x bytes / beta``: pairwise exchange.

        ``num_bytes`` is what one device holds before the exchange.
        """
        steps = num_devices - 1
        return steps * self.latency + steps / num_devices * num_bytes / self.bandwidth
