"""Passes of the programme over a vector of devices, see :mod:`stagecut_dp.pools`.

Symbols as there; a *head* is the submesh of the first stage, part of the state where transfers
depend on it.
"""

import math
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from stagecut_dp.instance import Choice
from stagecut_dp.outcome import Clock

type Float = npt.NDArray[np.float64]
type Int = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Layout:
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


class Table:
    """The stages by first layer, submesh and config, and passes over them."""

    def __init__(
        self,
        cost: Float,
        limits: Int | None,
        sent: Float | None,
        layout: Layout,
        objective: str,
        num_microbatches: int,
    ) -> None:
        self.cost, self.limits, self.sent, self.layout = cost, limits, sent, layout
        self.objective, self.weight = objective, num_microbatches - 1
        self.fits = np.flatnonzero(layout.sizes <= np.array(layout.pools)[layout.pool_of])
        upper = np.triu(np.ones(cost.shape[:2], dtype=bool))
        self.thresholds = np.unique(cost[:, :, self.fits][upper])
        if sent is not None:
            self.thresholds = np.union1d(self.thresholds, sent)
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
        heads = 1 if self.sent is None else self.cost.shape[2]
        best = np.full((num_layers + 1, heads, *self.layout.shape), np.inf)
        tails = best if self.sent is None else best.copy()
        tails[num_layers].reshape(heads, -1)[:, 0] = 0.0
        for k in range(num_layers - 1, -1, -1):
            clock.check()
            for m in self.fits.tolist():
                before, after = self.layout.shift(m)
                for c in range(self.cost.shape[3]):
                    _, sums = self._sums(tails, k, m, c, threshold, before)
                    if len(sums):
                        into = best[k, self._head(m)][after]
                        np.minimum(into, sums.min(axis=0), out=into)
            if self.sent is not None and k > 0:
                tails[k] = self._sent_on(best[k], k, threshold)
        ends = np.full(best[0].shape, np.inf)
        allowed = (slice(None), *self.layout.ends())
        ends[allowed] = best[0][allowed]
        least = float(ends.min())
        if math.isinf(least):
            return least, []
        head, *state = map(int, np.unravel_index(int(ends.argmin()), ends.shape))
        return least, self._path(best, tails, head, state, threshold)

    def _head(self, m: int) -> int:
        """Return the place of a first stage on ``m`` in the state."""
        return 0 if self.sent is None else m

    def _sent_on(self, following: Float, k: int, threshold: float) -> Float:
        """Return the least of transfer and what follows from ``k``, by the submesh before it."""
        rows = self._transfer(k, threshold)
        shape = (-1, *[1] * (following.ndim - 1))
        return np.array([(row.reshape(shape) + following).min(axis=0) for row in rows])

    def _transfer(self, k: int, threshold: float) -> Float:
        """Return what the cut before layer ``k`` adds to sums, by submesh before and after it."""
        assert self.sent is not None
        sent = self.sent[k - 1]
        return np.where(sent <= threshold, 0.0 if self.counts_stages else sent, np.inf)

    def _sums(
        self, tails: Float, k: int, m: int, c: int, threshold: float, before: tuple[slice, ...]
    ) -> tuple[Int, Float]:
        """Return the last layers of stages from ``k``, and sums with what follows, a row each."""
        costs = self.cost[k, k:, m, c]
        (lengths,) = np.nonzero((costs <= threshold) & np.isfinite(costs))
        added = np.ones(len(lengths)) if self.counts_stages else costs[lengths]
        follow = tails[k + 1 + lengths, self._head(m)][:, *before]
        sums = follow + added.reshape(-1, *[1] * (follow.ndim - 1))
        if self.limits is not None:
            successors = (before[0].start or 0) + np.arange(follow.shape[1])
            sums[successors[None, :] > self.limits[k, k + lengths, m, c][:, None]] = np.inf
        return lengths + k, sums

    @property
    def counts_stages(self) -> bool:
        """Whether sums count stages instead of seconds."""
        return self.objective == "stages_times_bottleneck"

    def largest(self, plan: list[Choice]) -> float:
        """Return the largest stage cost or transfer of a plan."""
        found = [float(self.cost[choice]) for choice in plan]
        if self.sent is not None:
            pairs = pairwise(plan)
            found += [float(self.sent[one[1], one[2], two[2]]) for one, two in pairs]
        return max(found)

    def _path(
        self, best: Float, tails: Float, head: int, at: list[int], threshold: float
    ) -> list[Choice]:
        """Walk along stages whose sum is the best one of their state."""
        path: list[Choice] = []
        k = 0
        while k < len(self.cost):
            choice, at = self._step(tails, k, head, at, float(best[k, head, *at]), threshold)
            path.append(choice)
            k = choice[1] + 1
            if self.sent is not None and k < len(self.cost):
                sent = self._transfer(k, threshold)[choice[2]]
                head = int(np.argmin(sent + [row[tuple(at)] for row in best[k]]))
        return path

    def _step(
        self, tails: Float, k: int, head: int, at: list[int], wanted: float, threshold: float
    ) -> tuple[Choice, list[int]]:
        for m in self.fits.tolist() if self.sent is None else [head]:
            source = list(at)
            source[1 + int(self.layout.pool_of[m])] -= int(self.layout.sizes[m])
            source[0] -= self.layout.stages is not None
            if min(source) < 0:
                continue
            point = tuple(slice(place, place + 1) for place in source)
            for c in range(self.cost.shape[3]):
                lasts, sums = self._sums(tails, k, m, c, threshold, point)
                found = np.flatnonzero(sums.ravel() == wanted)
                if len(found):
                    return (k, int(lasts[found[0]]), m, c), source
        raise AssertionError("a best sum has no stage")
