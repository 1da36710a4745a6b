"""Stages still in play, as one list sorted by first and last layer.

Symbols: ``R`` candidates of an instance with ``K`` layers; ``i`` first layer, ``j`` last layer,
``n`` devices and ``c`` cost of a candidate, as in the recurrence.
"""

from dataclasses import dataclass, replace
from typing import Self

import numpy as np
import numpy.typing as npt

from stagecut_dp.instance import Float, Instance, Int

type Bool = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Candidates:
    """A list of stages.

    Parameters
    ----------
    num_layers
        ``K``.
    first, last
        int64, shape ``(R,)``: layers ``i`` and ``j``, ascending by ``(i, j)``.
    devices
        int64, shape ``(R,)``: ``n``.
    cost
        float64, shape ``(R,)``, seconds.
    choice
        int64, shape ``(R,)``: index on the choice axis of the instance.
    limit
        int64, shape ``(R,)``: the most stages that may follow; ``None`` = no limit.
    """

    num_layers: int
    first: Int
    last: Int
    devices: Int
    cost: Float
    choice: Int
    limit: Int | None

    def __len__(self) -> int:
        return len(self.cost)

    def take(self, chosen: Bool | Int) -> Self:
        """Return the candidates at a mask or at ascending indices."""
        return replace(
            self,
            first=self.first[chosen],
            last=self.last[chosen],
            devices=self.devices[chosen],
            cost=self.cost[chosen],
            choice=self.choice[chosen],
            limit=None if self.limit is None else self.limit[chosen],
        )

    def plain(self) -> "Candidates":
        """Return the candidates with layers for layers: themselves."""
        return self

    def starts(self) -> list[int]:
        """Return where each first layer's candidates begin, ``K + 1`` numbers."""
        starts: list[int] = np.searchsorted(self.first, np.arange(self.num_layers + 1)).tolist()
        return starts

    def ranges(self) -> tuple[Int, Int]:
        """Return where each distinct range begins, and its flat index ``i K + j``."""
        keys = self.first * self.num_layers + self.last
        begins = np.flatnonzero(np.diff(keys, prepend=-1))
        return begins, keys[begins]


def list_candidates(instance: Instance, ranges: Bool, threshold: float) -> Candidates:
    """Return the stages on ``ranges`` (bool, shape ``(K, K)``) that cost at most ``threshold``."""
    first, last = np.nonzero(ranges)
    cost = instance.table[:, first, last].T
    position, choice = np.nonzero((cost <= threshold) & (cost < np.inf))
    first, last = first[position], last[position]
    return Candidates(
        num_layers=instance.num_layers,
        first=first,
        last=last,
        devices=instance.sizes[choice],
        cost=cost[position, choice],
        choice=choice,
        limit=None if instance.limit is None else instance.limit[choice, first, last],
    )
