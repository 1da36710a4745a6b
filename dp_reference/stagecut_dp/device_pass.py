"""The recurrence over layers and devices on a list of candidates, many rows at once.

``F[k, r, d]`` is the least value of layers ``k..K-1`` with ``d`` devices left. A row ``r`` is
either a threshold on the stage cost (rows do not mix) or the exact number of stages (row ``r``
follows row ``r - 1``). Only a window of ``d`` is kept for each layer. The value is the
right-associated sum of stage costs (``np.add``) or their maximum (``np.maximum``). Rounding of both
is monotone, so the least value over plans is exact in float64.

Storage: layer ``k`` is block ``k + 1`` of a buffer whose rows are ``2 W`` wide, ``W`` values and
``W`` times ``inf``, so that a shifted read that leaves a window finds ``inf``.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from stagecut_dp.candidates import Candidates
from stagecut_dp.instance import Float, Int

type Combine = Callable[..., Any]
"""``np.add``, ``np.maximum`` or a monotone function with the same call shape."""

BLOCK = 1 << 17
"""Values combined at once: what stays in cache."""


@dataclass(frozen=True, slots=True)
class Windows:
    """Fewest and most devices left before each layer, int64, each of shape ``(K + 1,)``."""

    fewest: Int
    most: Int

    @classmethod
    def full(cls, num_layers: int, num_devices: int) -> "Windows":
        """Return windows that hold every count."""
        return cls(
            np.zeros(num_layers + 1, dtype=np.int64),
            np.full(num_layers + 1, num_devices, dtype=np.int64),
        )

    @property
    def width(self) -> int:
        """``W``."""
        return max(int((self.most - self.fewest).max()) + 1, 1)


@dataclass(frozen=True, slots=True)
class DevicePass:
    """A finished pass: values, and the paths behind them."""

    candidates: Candidates
    windows: Windows
    base: Float
    step: int
    combine: Combine
    values: Float
    starts: list[int]

    def ends(self, num_devices: int) -> Float:
        """Return ``F[0, :, D]``, one value per row."""
        return self.values[1, :, num_devices - int(self.windows.fewest[0])]

    def path(self, row: int, num_devices: int) -> Int:
        """Return the candidates along the best path of a row, first match first."""
        listed, fewest = self.candidates, self.windows.fewest
        width, found, k, d = self.windows.width, [], 0, num_devices
        while k < listed.num_layers:
            here = slice(self.starts[k], self.starts[k + 1])
            behind = listed.last[here] + 1
            offset = d - listed.devices[here] - fewest[behind]
            inside = (offset >= 0) & (offset < width)
            tail = self.values[behind + 1, row - self.step, np.where(inside, offset, width)]
            value = self.combine(self.base[here, row - self.step], tail)
            best = self.starts[k] + int(np.argmin(value))
            found.append(best)
            k, d, row = int(listed.last[best]) + 1, d - int(listed.devices[best]), row - self.step
        return np.array(found, dtype=np.int64)


def run_pass(
    candidates: Candidates,
    base: Float,
    windows: Windows,
    *,
    step: int = 0,
    heads: slice = slice(None),
    any_left: bool = False,
    combine: Combine = np.add,
) -> DevicePass:
    """Fill ``F`` from the last layer to the first.

    Parameters
    ----------
    candidates
        ``R`` stages; windows at both ends of each must hold at least one count.
    base
        Shape ``(R, rows - step)``, seconds: cost of a candidate before row ``r + step``; ``inf``
        where it is not allowed.
    windows
        Devices left before each layer.
    step
        0: rows are thresholds; 1: rows count stages.
    heads
        Rows that may hold an empty plan.
    any_left
        Whether devices may be left over at the end.
    combine
        ``np.add`` or ``np.maximum``.
    """
    num_layers, width = candidates.num_layers, windows.width
    rows = base.shape[1] + step
    values = np.full((num_layers + 2, rows, 2 * width), np.inf)
    values[num_layers + 1, heads, : width if any_left else 1] = 0.0
    starts = candidates.starts()
    _fill(candidates, base, windows, step, combine, values, starts)
    return DevicePass(candidates, windows, base, step, combine, values, starts)


def _fill(
    candidates: Candidates,
    base: Float,
    windows: Windows,
    step: int,
    combine: Combine,
    values: Float,
    starts: list[int],
) -> None:
    block, stride, _ = values.strides
    rows, size = base.shape[1], values.size
    fewest = windows.fewest
    shift = fewest[candidates.first] - candidates.devices - fewest[candidates.last + 1]
    begin = (candidates.last + 2) * (block // 8) + shift
    widths = (windows.most - fewest + 1).tolist()
    cost = base[..., None]
    views: dict[int, Float] = {}
    for k in range(candidates.num_layers - 1, -1, -1):
        low, high, width = starts[k], starts[k + 1], widths[k]
        if low == high or width <= 0:
            continue
        view = views.get(width)
        if view is None:
            count = size - (rows - 1) * (stride // 8) - width + 1
            view = np.ndarray((count, rows, width), np.float64, values, 0, (8, stride, 8))
            views[width] = view
        out = values[k + 1, step:, :width]
        each = max(BLOCK // (rows * width), 1)
        for at in range(low, high, each):
            upto = min(at + each, high)
            total = view[begin[at:upto]]
            combine(cost[at:upto], total, out=total)
            if at == low:
                np.minimum.reduce(total, axis=0, out=out)
            else:
                np.minimum(out, np.minimum.reduce(total, axis=0), out=out)


def within(candidates: Candidates, windows: Windows) -> Int:
    """Return the candidates that lead from one window into another."""
    first, behind, n = candidates.first, candidates.last + 1, candidates.devices
    low = np.maximum(windows.fewest[first] - n, windows.fewest[behind])
    high = np.minimum(windows.most[first] - n, windows.most[behind])
    return np.flatnonzero(low <= high)
