"""Least sums at several thresholds on the stage cost, by one pass.

Symbols: ``F(t)`` = least sum with no stage above ``t``. Rows of the pass are thresholds; with the
stage axis, each threshold has a row for every number of stages.
"""

from dataclasses import dataclass

import numpy as np

from stagecut_dp.candidates import Candidates
from stagecut_dp.device_pass import DevicePass, Windows, run_pass
from stagecut_dp.instance import Float, Instance, Int
from stagecut_dp.stages import StageAxis


@dataclass(frozen=True, slots=True)
class LevelSums:
    """``F`` at ``T`` thresholds.

    Parameters
    ----------
    sums
        Shape ``(T,)``, seconds; ``inf`` where there is no plan.
    ends
        Shape ``(T,)``: row of the pass that holds each sum.
    """

    sums: Float
    ends: Int
    done: DevicePass
    num_devices: int

    def path(self, row: int) -> Candidates:
        """Return a plan of least sum at threshold number ``row``."""
        path = self.done.path(int(self.ends[row]), self.num_devices)
        return self.done.candidates.take(path).plain()


def run_levels(
    instance: Instance,
    listed: Candidates,
    windows: Windows,
    thresholds: Float,
    axis: StageAxis | None = None,
) -> LevelSums:
    """Run one pass over a list at ``T`` thresholds, seconds."""
    rows, devices = 1 if axis is None else axis.most + 1, instance.num_devices
    done = run_pass(
        listed,
        _base(listed, thresholds, axis),
        windows,
        step=0 if axis is None else 1,
        heads=slice(None, None, rows),
        any_left=not instance.use_all_devices,
    )
    ends = done.ends(devices).reshape(len(thresholds), rows)
    if axis is not None:
        ends = np.where(np.arange(rows) >= axis.least, ends, np.inf)
    counts = np.argmin(ends, axis=1)
    each = np.arange(len(thresholds))
    return LevelSums(ends[each, counts], each * rows + counts, done, devices)


def _base(listed: Candidates, thresholds: Float, axis: StageAxis | None) -> Float:
    """Return the cost of each candidate before each row, ``inf`` where it is not allowed."""
    base = np.where(listed.cost[:, None] <= thresholds, listed.cost[:, None], np.inf)
    if axis is None:
        return base
    follow = np.arange(axis.most + 1)
    most = np.full(len(listed), axis.most - 1)
    if listed.limit is not None:
        most = np.minimum(most, listed.limit)
    staged = np.where(follow <= most[:, None, None], base[..., None], np.inf)
    return staged.reshape(len(listed), -1)[:, :-1]
