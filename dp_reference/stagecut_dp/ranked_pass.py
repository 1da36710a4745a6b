"""The ``k`` least sums of every state: the recurrence of :mod:`stagecut_dp.device_pass`, ranked.

Symbols: ``F[k, s, r, d]`` = the ``r``-th least right-associated sum of layers ``k..K-1`` in ``s``
stages with ``d`` devices left (without the stage axis, ``s`` is left out). Different ranks are
different plans: each continues a different pair of a stage and a rank behind it.
"""

from dataclasses import dataclass

import numpy as np

from stagecut_dp.candidates import Candidates
from stagecut_dp.device_pass import Windows
from stagecut_dp.instance import Float
from stagecut_dp.stages import StageAxis


@dataclass(frozen=True, slots=True)
class RankedPass:
    """A pass that keeps ``k`` values per state.

    Parameters
    ----------
    values
        Shape ``(K + 1, S, k, D + 1)``, seconds, ascending over ranks.
    """

    candidates: Candidates
    axis: StageAxis | None
    values: Float
    starts: list[int]

    def plans(self, num_devices: int) -> list[Candidates]:
        """Return the ``k`` best plans, or as many as there are, by sum."""
        least = 0 if self.axis is None else self.axis.least
        ends = self.values[0, least:, :, num_devices]
        order = np.argsort(ends, axis=None, kind="stable")[: ends.shape[1]]
        found = []
        for flat in order.tolist():
            s, rank = divmod(flat, ends.shape[1])
            if np.isfinite(ends[s, rank]):
                found.append(self.path(s + least, rank, num_devices))
        return found

    def path(self, s: int, rank: int, num_devices: int) -> Candidates:
        """Follow one plan."""
        k, d, found = 0, num_devices, []
        step = 0 if self.axis is None else 1
        while k < self.candidates.num_layers:
            low, high = self.starts[k], self.starts[k + 1]
            options = self.options(low, high, s, d)
            at = int(np.argsort(options, axis=None, kind="stable")[rank])
            stage, rank = divmod(at, options.shape[1])
            found.append(low + stage)
            d -= int(self.candidates.devices[low + stage])
            k, s = int(self.candidates.last[low + stage]) + 1, s - step
        return self.candidates.take(np.array(found, dtype=np.int64)).plain()

    def options(self, low: int, high: int, s: int, d: int) -> Float:
        """Return the values of candidates ``low..high - 1`` with every rank behind them."""
        listed, step = self.candidates, 0 if self.axis is None else 1
        left = d - listed.devices[low:high]
        tail = self.values[listed.last[low:high] + 1, s - step, :, np.maximum(left, 0)]
        blocked = left < 0
        if step and listed.limit is not None:
            blocked |= listed.limit[low:high] < s - 1
        options: Float = listed.cost[low:high, None] + tail
        options[blocked] = np.inf
        return options


def run_ranked(
    candidates: Candidates,
    windows: Windows,
    num_devices: int,
    ranks: int,
    *,
    axis: StageAxis | None = None,
    any_left: bool,
) -> RankedPass:
    """Fill ``F`` from the last layer to the first, within the windows of devices left."""
    num_layers, step = candidates.num_layers, 0 if axis is None else 1
    counts = 1 if axis is None else axis.most + 1
    values = np.full((num_layers + 1, counts, ranks, num_devices + 1), np.inf)
    values[num_layers, 0, 0, slice(None) if any_left else 0] = 0.0
    starts = candidates.starts()
    for k in range(num_layers - 1, -1, -1):
        low, high = int(windows.fewest[k]), int(windows.most[k])
        if starts[k] == starts[k + 1] or low > high:
            continue
        here = range(starts[k], starts[k + 1])
        pool = [_behind(candidates, e, values, step, low, high) for e in here]
        pool.append(values[k, step:, :, low : high + 1])
        merged = np.concatenate(pool, axis=1)
        values[k, step:, :, low : high + 1] = np.sort(merged, axis=1, kind="stable")[:, :ranks]
    return RankedPass(candidates, axis, values, starts)


def _behind(candidates: Candidates, e: int, values: Float, step: int, low: int, high: int) -> Float:
    """Return the values of one candidate in front of every state, shape ``(S - step, k, W)``."""
    devices = int(candidates.devices[e])
    tail = values[int(candidates.last[e]) + 1, : values.shape[1] - step]
    result = np.full((*tail.shape[:2], high - low + 1), np.inf)
    start = max(low, devices)
    if start <= high:
        result[:, :, start - low :] = (
            candidates.cost[e] + tail[:, :, start - devices : high + 1 - devices]
        )
    if step and candidates.limit is not None:
        result[int(candidates.limit[e]) + 1 :] = np.inf
    return result
