"""The training objective by best-first branching on the largest stage cost.

``F(t)`` = least sum with no stage above ``t`` falls as ``t`` grows. A plan whose largest stage cost
lies in ``[T[lo], T[hi]]`` therefore costs at least ``F(T[hi]) + (B - 1) T[lo]``, in float64 as in
the reals, since rounding is monotone. Each pass at ``t`` is snapped to the largest cost ``u <= t``
of its own path: every threshold in ``[u, t]`` is then settled at once.
"""

import heapq
import math
from dataclasses import dataclass, field

import numpy as np

from stagecut_dp.outcome import Clock, Progress
from stagecut_dp.plain_instance import Float, Instance
from stagecut_dp.recurrence import Choice, plain_pass, plain_path, staged_pass, staged_path


@dataclass(slots=True)
class Incumbent:
    """The best plan so far and the least bound of what is still open."""

    objective: float = math.inf
    plan: list[Choice] | None = None
    bound: float = 0.0


@dataclass(slots=True)
class _Branching:
    instance: Instance
    clock: Clock
    best: Incumbent
    progress: Progress | None
    thresholds: Float = field(init=False)
    heap: list[tuple[float, int, int, float]] = field(default_factory=list)

    def __post_init__(self) -> None:
        cost = self.instance.cost
        self.thresholds = np.unique(cost[np.isfinite(cost)])

    def run(self) -> None:
        self.expand(len(self.thresholds) - 1, 0, len(self.thresholds) - 1, 0.0)
        while self.heap:
            bound, lo, hi, least = heapq.heappop(self.heap)
            if bound >= self.best.objective:
                break
            self.best.bound = bound
            if self.progress is not None:
                self.progress(self.best.objective, bound)
            hi = self.last_useful(lo, hi, least)
            self.expand((lo + hi) // 2, lo, hi, least)
        self.best.bound = self.best.objective

    def expand(self, mid: int, lo: int, hi: int, least: float) -> None:
        """Solve at ``T[mid]`` and open what remains of ``lo..hi`` on either side."""
        if hi < 0:
            return
        value, path = least_sum(self.instance, float(self.thresholds[mid]), self.clock)
        if path is not None:
            largest = path_bottleneck(self.instance, path)
            objective = value + (self.instance.num_microbatches - 1) * largest
            if objective < self.best.objective:
                self.best.objective, self.best.plan = objective, path
            settled = int(np.searchsorted(self.thresholds, largest))
            self.push(lo, settled - 1, value)
        self.push(mid + 1, hi, least)

    def push(self, lo: int, hi: int, least: float) -> None:
        if lo <= hi:
            bound = least + (self.instance.num_microbatches - 1) * float(self.thresholds[lo])
            if bound < self.best.objective:
                heapq.heappush(self.heap, (bound, lo, hi, least))

    def last_useful(self, lo: int, hi: int, least: float) -> int:
        """Largest threshold in ``lo..hi`` that may still beat the incumbent."""
        weight = self.instance.num_microbatches - 1
        open_part = least + weight * self.thresholds[lo : hi + 1] < self.best.objective
        return lo + int(np.count_nonzero(open_part)) - 1


def least_training(
    instance: Instance, clock: Clock, best: Incumbent, progress: Progress | None
) -> None:
    """Bring ``best`` to the optimum of sum + (B - 1) x largest; it is valid at any moment."""
    _Branching(instance, clock, best, progress).run()


def least_sum(
    instance: Instance, threshold: float, clock: Clock
) -> tuple[float, list[Choice] | None]:
    """Return the least sum with no stage above ``threshold``, and its path.

    Limits are first left out: a path that keeps them by itself needs no stage axis.
    """
    clock.tick()
    best = plain_pass(instance, threshold)
    value = float(best[0, instance.num_devices])
    if not math.isfinite(value):
        return math.inf, None
    path = plain_path(instance, best, threshold)
    if not instance.counts_stages or keeps_counts(instance, path):
        return value, path
    clock.tick()
    staged = staged_pass(instance, threshold)
    ends = staged[:, 0, instance.num_devices].copy()
    ends[: instance.min_stages] = np.inf
    stages = int(np.argmin(ends))
    if not math.isfinite(ends[stages]):
        return math.inf, None
    return float(ends[stages]), staged_path(instance, staged, stages, threshold)


def keeps_counts(instance: Instance, path: list[Choice]) -> bool:
    """Whether a path keeps the stage-count rules and every successor limit."""
    if not instance.min_stages <= len(path) <= instance.max_stages:
        return False
    if instance.limit is None:
        return True
    return all(
        instance.limit[i, j, column(instance, i, j, m, c)] >= len(path) - 1 - s
        for s, (i, j, m, c) in enumerate(path)
    )


def column(instance: Instance, i: int, j: int, m: int, c: int) -> int:
    """Index on the choice axis of submesh ``m`` in config ``c``."""
    return int(np.flatnonzero((instance.submesh == m) & (instance.config[i, j] == c))[0])


def path_bottleneck(instance: Instance, path: list[Choice]) -> float:
    """Largest stage cost of a path."""
    return max(float(instance.cost[i, j, column(instance, i, j, m, c)]) for i, j, m, c in path)
