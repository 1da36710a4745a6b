"""All non-dominated pairs of total and bottleneck, with plans.

Symbols: ``F(t)`` = least sum with no stage above ``t``, a falling step function; its steps are the
front. Between two thresholds ``a < b`` with known sums, plans of interest have their largest stage
cost strictly between and a sum below ``F(a)``: a budget that lists few stages
(:mod:`stagecut_dp.parts`). Passes at several thresholds split an interval until it holds no step.
"""

import itertools
import math

import numpy as np
import numpy.typing as npt

from stagecut_dp.bottleneck import least_bottleneck
from stagecut_dp.candidates import Candidates, list_candidates
from stagecut_dp.chains import Weights, list_weights, table_weights
from stagecut_dp.device_pass import within
from stagecut_dp.instance import Float, Instance, make_instance
from stagecut_dp.levels import LevelSums, run_levels
from stagecut_dp.outcome import Clock, Incumbent
from stagecut_dp.pareto import ParetoFront, make_front
from stagecut_dp.parts import ROUNDING, Bounds, Part, chain_bounds, reduced_costs
from stagecut_dp.prices import Curve, is_sharp, next_prices
from stagecut_dp.settle import joint_windows, pick_thresholds, shorten
from stagecut_dp.staged_parts import staged_within
from stagecut_dp.training import TrainingSearch

INTERVALS = 12
"""Thresholds solved one by one before intervals are split by passes."""
SHORT = 6
"""Candidates per layer that need no further narrowing."""
FIRST_PRICES = np.array([0.003, 0.02, 0.08, 0.3])
"""Prices tried first at each threshold, relative to it."""


def pareto_front(
    cost: npt.ArrayLike,
    sizes: npt.ArrayLike,
    num_devices: int,
    *,
    max_successors: npt.ArrayLike | None = None,
    use_all_devices: bool = True,
    min_stages: int | None = None,
    max_stages: int | None = None,
) -> ParetoFront:
    """Return every non-dominated (total, bottleneck) with one plan each.

    Arguments as for :func:`stagecut_dp.solve`. A plan is dominated when another has no larger sum
    of stage costs and no larger largest stage cost, and one of them smaller. The front answers
    every number of micro-batches at once. A part of it would say nothing about the rest, so there
    is no time limit; Ctrl-C raises ``KeyboardInterrupt``.

    Raises
    ------
    ValueError
        If an argument breaks a rule.

    Examples
    --------
    >>> import numpy as np
    >>> cost = np.array([[[1.0], [2.5]], [[np.inf], [2.0]]])
    >>> front = pareto_front(cost, [1], 2, use_all_devices=False)
    >>> front.totals.tolist(), front.bottlenecks.tolist()
    ([2.5, 3.0], [2.5, 2.0])
    >>> front.best(8)
    (17.0, [(0, 0, 0, 0), (1, 1, 0, 0)])
    """
    instance = make_instance(
        cost,
        sizes,
        num_devices,
        max_successors=max_successors,
        use_all_devices=use_all_devices,
        min_stages=min_stages,
        max_stages=max_stages,
    )
    return make_front(instance, FrontSearch(instance).paths())


type _Known = tuple[float, float, float]
"""Lowest and highest threshold with the same sum, and that sum; seconds."""


class FrontSearch:
    """Collects paths that include every point of the front."""

    def __init__(self, instance: Instance) -> None:
        self.instance = instance
        self.clock = Clock()
        self.kept: list[Candidates] = []

    def paths(self) -> list[Candidates]:
        """Return the paths, dominated ones among them."""
        known = self.first_sums()
        for below, above in itertools.pairwise(known):
            part = _between(below, above, self.instance.num_layers)
            if below[2] > above[2] and part.least <= part.most:
                self.sharpen(part)
                self.split(self.listed(part, below[2]), part, below[2])
        return self.kept

    def first_sums(self) -> list[_Known]:
        """Solve at thresholds from the least bottleneck to that of the least sum."""
        narrow = Incumbent()
        least_bottleneck(self.instance, self.clock, narrow)
        if narrow.path is None:
            return []
        low, high = float(narrow.path.cost.max()), math.inf
        self.kept.append(narrow.path)
        known = [(low, low, _total(narrow.path))]
        widest = self.least_sum(high)
        caps = np.geomspace(low, widest[0], INTERVALS)[1:-1] if low > 0 else np.zeros(0)
        known += [self.least_sum(cap) for cap in caps.tolist() if low < cap < widest[0]]
        return sorted({*known, widest})

    def least_sum(self, cap: float) -> _Known:
        """Return the sum at a threshold and from where on it holds."""
        best = Incumbent()
        TrainingSearch(self.instance, self.clock, best).run(cap)
        if best.path is None:
            raise AssertionError("a looser threshold keeps the plans of a tighter one")
        self.kept.append(best.path)
        return float(best.path.cost.max()), cap, _total(best.path)

    def sharpen(self, part: Part) -> None:
        """Bound a part by chains over the whole table, at better and better prices."""
        curve = Curve(np.ones(1), np.zeros(1))
        prices = part.most * FIRST_PRICES
        for _ in range(4):
            weights = self.weights(part.most, prices)
            thresholds = np.full(len(prices), part.most)
            bounds = chain_bounds(self.instance, Weights.of_table(weights), thresholds, prices)
            part.bounds = part.bounds.joined(bounds)
            if is_sharp(part, self.instance.num_devices):
                break
            prices = np.array(next_prices(self.instance, part, curve))
        part.total = max(part.total, float(np.fmax.reduce(part.bounds.values)))

    def weights(self, threshold: float, prices: Float) -> Float:
        """Weigh the ranges of the whole table, shape ``(P, K, K)``."""
        table, sizes = self.instance.table, self.instance.sizes
        return table_weights(table, sizes, np.array([threshold]), prices[None])

    def listed(self, part: Part, budget: float) -> Candidates:
        """List what a plan of the part with a sum within ``budget`` can use."""
        bounds = part.bounds
        row = int(np.argmax(bounds.values))
        fixed = bounds.prices[row] * self.instance.num_devices + bounds.slack[row]
        sums = self.weights(part.most, bounds.prices[row : row + 1])[0]
        sums += bounds.forward[row, :-1, None] - fixed
        sums += bounds.backward[row, 1:]
        listed = list_candidates(self.instance, ~(sums > budget * (1 + ROUNDING)), part.most)
        part.reduced = reduced_costs(bounds, listed, self.instance.num_devices)
        return shorten(listed, [part], 0, budget)

    def split(self, listed: Candidates, part: Part, budget: float) -> None:
        """Find every step of ``F`` inside a part; its plans have sums below ``budget``."""
        windows = joint_windows(self.instance, [part], budget)
        inside = listed.take(within(listed, windows))
        levels = np.unique(inside.cost[inside.cost >= part.least])
        devices = self.instance.num_devices
        if not len(levels) or not windows.fewest[0] <= devices <= windows.most[0]:
            return
        if self.instance.counts_stages:
            inside, windows = staged_within(self.instance, inside, windows)
        thresholds = pick_thresholds(levels, len(inside) * windows.width)
        sums = run_levels(self.instance, inside, windows, thresholds)
        self.clock.tick()
        known = self.steps(sums, thresholds, budget)
        edge, above = (part.least, budget), part.total
        for low, high, total in known:
            self.descend(listed, part, levels, edge, (low, max(total, above)))
            edge = (float(np.nextafter(high, math.inf)), total)
        self.descend(listed, part, levels, edge, (part.most, above), last=True)

    def steps(self, sums: LevelSums, thresholds: Float, budget: float) -> list[_Known]:
        """Keep a path for each new sum; return where the sums hold, ascending."""
        known: list[_Known] = []
        least = budget
        for row, total in enumerate(sums.sums.tolist()):
            if total < least:
                path = sums.path(row)
                self.kept.append(path)
                known.append((float(path.cost.max()), float(thresholds[row]), total))
                least = total
            elif known:
                known[-1] = (known[-1][0], float(thresholds[row]), known[-1][2])
            else:
                known.append((float(thresholds[row]), float(thresholds[row]), least))
        return known

    def descend(
        self,
        listed: Candidates,
        part: Part,
        levels: Float,
        edge: tuple[float, float],
        end: tuple[float, float],
        last: bool = False,
    ) -> None:
        """Go on between two thresholds with known sums, if steps may lie between them."""
        (least, budget), (most, total) = edge, end
        most = most if last else float(np.nextafter(most, 0.0))
        some = ((levels >= least) & (levels <= most)).any()
        if total >= budget or not some:
            return
        piece = Part(least, most, total, part.bounds, part.reduced)
        shorter = shorten(listed, [piece], 0, budget)
        if len(shorter) > SHORT * self.instance.num_layers and len(shorter) > len(listed) // 8:
            prices = np.array(next_prices(self.instance, piece, Curve(np.ones(1), np.zeros(1))))
            tops = np.full(2, most)
            bounds = chain_bounds(self.instance, list_weights(shorter, tops, prices), tops, prices)
            piece.bounds = piece.bounds.joined(bounds)
            more = reduced_costs(bounds, shorter, self.instance.num_devices)
            piece.reduced = np.fmax(piece.reduced, more)
            shorter = shorten(shorter, [piece], 0, budget)
        self.split(shorter, piece, budget)


def _between(below: _Known, above: _Known, num_layers: int) -> Part:
    """Return the open interval between two known sums."""
    least, most = np.nextafter(below[1], math.inf), np.nextafter(above[0], 0.0)
    return Part(float(least), float(most), above[2], Bounds.none(num_layers))


def _total(path: Candidates) -> float:
    total = 0.0
    for cost in reversed(path.cost.tolist()):
        total = cost + total
    return total
