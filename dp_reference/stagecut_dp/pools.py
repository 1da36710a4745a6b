"""Several device pools: a dynamic programme over a vector of devices, in plain NumPy.

Symbols: ``p`` a pool of ``D_p`` devices; submesh ``m`` takes ``n_m`` devices of its pool. For a
threshold ``t`` on stage costs::

    F[K, 0] = 0,   F[k, d] = min over j, m, c with cost <= t of cost[k, j, m, c] + F[j + 1, d - n_m]

with ``d`` a vector; an axis for the number of stages is added where a limit needs it. A pass at
``t`` gives the least sum ``F(t)``, which falls with ``t``, so that plans whose largest stage lies
in ``[a, b]`` cost at least ``F(b) + (B - 1) a``: best-first bisection on ``t``, each pass snapped
to its plan's real largest stage. Sums are right-associated, as everywhere in this package.
"""

import heapq
import math
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from stagecut_dp.instance import Choice
from stagecut_dp.outcome import Clock, Incumbent, Outcome, Progress, Stop
from stagecut_dp.validation import known_objective, seconds

type Float = npt.NDArray[np.float64]
type Int = npt.NDArray[np.int64]

MOST_POOLS = 3
"""More pools than this make a table too large."""

MOST_WORK = 3e9
"""Additions of one pass that are still within reason (about two seconds)."""


def pass_work(
    num_layers: int, num_submeshes: int, num_configs: int, pools: Sequence[int], staged: bool
) -> float:
    """Return the additions of one pass, the size by which a caller may choose another engine."""
    states = math.prod(float(devices) + 1 for devices in pools)
    ranges = num_layers * (num_layers + 1) / 2
    return ranges * num_submeshes * num_configs * states * (num_layers if staged else 1)


def search_pools(
    cost: npt.ArrayLike,
    sizes: npt.ArrayLike,
    pool_of: npt.ArrayLike,
    pools: Sequence[int],
    num_microbatches: int = 1,
    *,
    objective: str = "training",
    max_successors: npt.ArrayLike | None = None,
    use_all_devices: bool = True,
    min_stages: int = 1,
    max_stages: int | None = None,
    time_limit: float | None = None,
    progress: Progress | None = None,
) -> Outcome:
    """Find the best plan on several pools of devices.

    Parameters
    ----------
    cost
        Seconds, shape ``(K, K, S, C)``; ``inf`` = not allowed.
    sizes, pool_of
        Shape ``(S,)``: devices of each submesh, and the index of the pool that they come from.
    pools
        Devices of each pool.
    num_microbatches, objective, max_successors, use_all_devices, min_stages, max_stages
        As for :func:`stagecut_dp.solve`; ``use_all_devices`` holds for every pool.
    time_limit, progress
        As for :func:`stagecut_dp.search`.

    Examples
    --------
    >>> table = np.full((2, 2, 2, 1), np.inf)
    >>> table[0, 0], table[1, 1] = [[1.0], [3.0]], [[2.0], [5.0]]
    >>> search_pools(table, [1, 1], [0, 1], [1, 1]).plan  # 3 + 2 and not 1 + 5
    [(0, 0, 1, 0), (1, 1, 0, 0)]
    """
    known_objective(objective)
    table = np.asarray(cost, dtype=np.float64)
    limits = None if max_successors is None else np.asarray(max_successors, dtype=np.int64)
    layout = _Layout(
        np.asarray(sizes, dtype=np.int64),
        np.asarray(pool_of, dtype=np.int64),
        tuple(map(int, pools)),
        use_all_devices,
    )
    free = _Table(table, None, layout, objective, num_microbatches)
    clock, best = Clock(seconds("time_limit", time_limit)), Incumbent(progress)
    stopped = None
    counts = (min_stages, min(max_stages or len(table), free.most_stages(limits)))
    try:
        relaxed = Incumbent()
        _search(free, clock, relaxed)
        if relaxed.plan is not None and _obeys(relaxed.plan, limits, counts):
            best.offer(relaxed.objective, relaxed.plan)
        elif relaxed.plan is not None and counts[0] <= counts[1]:
            counted = replace(layout, stages=counts)
            _search(_Table(table, limits, counted, objective, num_microbatches), clock, best)
        best.close()
    except Stop:
        stopped = "time"
    except KeyboardInterrupt:
        stopped = "interrupt"
    return Outcome(best.objective, best.plan, best.bound, clock.passes, stopped)


def _obeys(plan: list[Choice], limits: Int | None, counts: tuple[int, int]) -> bool:
    """Whether a plan keeps to its successor limits and to the number of stages."""
    if not counts[0] <= len(plan) <= counts[1]:
        return False
    after = range(len(plan) - 1, -1, -1)
    return limits is None or all(limits[c] >= s for c, s in zip(plan, after, strict=True))


@dataclass(frozen=True, slots=True)
class _Layout:
    """Axes of the state: number of stages (where counted), then devices of each pool."""

    sizes: Int
    pool_of: Int
    pools: tuple[int, ...]
    exact: bool
    stages: tuple[int, int] | None = None

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of the state."""
        counts = 1 if self.stages is None else self.stages[1] + 1
        return (counts, *(devices + 1 for devices in self.pools))

    def shift(self, submesh: int) -> tuple[tuple[slice, ...], tuple[slice, ...]]:
        """Where a stage on ``submesh`` leads from and to."""
        size = int(self.sizes[submesh])
        before = [slice(None)] * len(self.shape)
        after = list(before)
        axis = 1 + int(self.pool_of[submesh])
        before[axis], after[axis] = slice(None, self.shape[axis] - size), slice(size, None)
        if self.stages is not None:
            before[0], after[0] = slice(None, -1), slice(1, None)
        return tuple(before), tuple(after)

    def ends(self) -> tuple[slice, ...]:
        """Return the states in which a plan may end."""
        counts = slice(None) if self.stages is None else slice(self.stages[0], None)
        return (counts, *(slice(d, d + 1) if self.exact else slice(None) for d in self.pools))


class _Table:
    """The stages by first layer, submesh and config, and passes over them."""

    def __init__(
        self,
        cost: Float,
        limits: Int | None,
        layout: _Layout,
        objective: str,
        num_microbatches: int,
    ) -> None:
        self.cost, self.limits, self.layout = cost, limits, layout
        self.objective, self.weight = objective, num_microbatches - 1
        self.fits = np.flatnonzero(layout.sizes <= np.array(layout.pools)[layout.pool_of])
        upper = np.triu(np.ones(cost.shape[:2], dtype=bool))
        self.thresholds = np.unique(cost[:, :, self.fits][upper])
        self.thresholds = self.thresholds[np.isfinite(self.thresholds)]

    def most_stages(self, limits: Int | None) -> int:
        """Return a number of stages that no plan exceeds."""
        num_layers = len(self.cost)
        smallest = int(self.layout.sizes[self.fits].min(initial=num_layers))
        most = min(num_layers, sum(self.layout.pools) // smallest)
        return most if limits is None else min(most, int(limits[0].max(initial=-1)) + 1)

    def value(self, total: float, largest: float) -> float:
        """Objective of a plan with this sum (of ones for a number of stages) and largest stage."""
        match self.objective:
            case "training":
                return total + self.weight * largest
            case "latency":
                return total
            case "bottleneck":
                return largest if math.isfinite(total) else math.inf
        return total * largest if math.isfinite(total) else math.inf

    def run(self, threshold: float, clock: Clock) -> tuple[float, list[Choice]]:
        """Return the least sum over plans with no stage above ``threshold``, and such a plan."""
        clock.tick()
        num_layers = len(self.cost)
        best = np.full((num_layers + 1, *self.layout.shape), np.inf)
        best[num_layers].flat[0] = 0.0
        for k in range(num_layers - 1, -1, -1):
            clock.check()
            for m in self.fits.tolist():
                before, after = self.layout.shift(m)
                for c in range(self.cost.shape[3]):
                    _, sums = self._sums(best, k, m, c, threshold, before)
                    if len(sums):
                        into = best[k][after]
                        np.minimum(into, sums.min(axis=0), out=into)
        ends = best[0][self.layout.ends()]
        least = float(ends.min(initial=np.inf))
        if math.isinf(least):
            return least, []
        allowed = np.full(self.layout.shape, np.inf)
        allowed[self.layout.ends()] = ends
        state = np.unravel_index(int(allowed.argmin()), allowed.shape)
        return least, self._path(best, state, threshold)

    def _sums(
        self, best: Float, k: int, m: int, c: int, threshold: float, before: tuple[slice, ...]
    ) -> tuple[Int, Float]:
        """Return the last layers of stages from ``k``, and sums with what follows, a row each."""
        costs = self.cost[k, k:, m, c]
        (lengths,) = np.nonzero((costs <= threshold) & np.isfinite(costs))
        added = np.ones(len(lengths)) if self.counts_stages else costs[lengths]
        tails = best[k + 1 + lengths][(slice(None), *before)]
        sums = tails + added.reshape(-1, *[1] * (tails.ndim - 1))
        if self.limits is not None:
            successors = (before[0].start or 0) + np.arange(tails.shape[1])
            sums[successors[None, :] > self.limits[k, k + lengths, m, c][:, None]] = np.inf
        return lengths + k, sums

    @property
    def counts_stages(self) -> bool:
        """Whether sums count stages instead of seconds."""
        return self.objective == "stages_times_bottleneck"

    def _path(self, best: Float, state: tuple[np.intp, ...], threshold: float) -> list[Choice]:
        """Walk along stages whose sum is the best one of their state."""
        path: list[Choice] = []
        k, at = 0, [int(place) for place in state]
        while k < len(self.cost):
            k, at, choice = self._step(best, k, at, threshold)
            path.append(choice)
        return path

    def _step(
        self, best: Float, k: int, at: list[int], threshold: float
    ) -> tuple[int, list[int], Choice]:
        wanted = best[(k, *at)]
        for m in self.fits.tolist():
            source = list(at)
            source[1 + int(self.layout.pool_of[m])] -= int(self.layout.sizes[m])
            source[0] -= self.layout.stages is not None
            if min(source) < 0:
                continue
            point = tuple(slice(place, place + 1) for place in source)
            for c in range(self.cost.shape[3]):
                lasts, sums = self._sums(best, k, m, c, threshold, point)
                found = np.flatnonzero(sums.ravel() == wanted)
                if len(found):
                    last = int(lasts[found[0]])
                    return last + 1, source, (k, last, m, c)
        raise AssertionError("a best sum has no stage")


def _search(table: _Table, clock: Clock, best: Incumbent) -> None:
    """Best-first bisection on the largest stage cost."""
    costs = table.thresholds
    open_parts: list[tuple[float, int, int, float]] = []

    def push(low: int, high: int, total: float) -> None:
        if high >= low:
            heapq.heappush(open_parts, (table.value(total, float(costs[low])), low, high, total))

    def look(low: int, high: int) -> None:
        total, plan = table.run(float(costs[high]), clock)
        if math.isinf(total):
            return
        largest = max(float(table.cost[choice]) for choice in plan)
        best.offer(table.value(total, largest), plan)
        if table.objective != "latency":
            push(low, int(np.searchsorted(costs, largest)) - 1, total)

    if len(costs):
        look(0, len(costs) - 1)
    while open_parts:
        bound, low, high, total = heapq.heappop(open_parts)
        best.prove(bound)
        better = range(low, high + 1)
        count = bisect_left(
            better, best.objective, key=lambda t: table.value(total, float(costs[t]))
        )
        if count == 0:
            return
        high = low + count - 1
        middle = (low + high) // 2
        if middle < high:
            push(middle + 1, high, total)
        look(low, middle)
