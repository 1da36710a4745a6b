"""Which price of a device to try next.

Symbols: ``λ`` the price, ``D`` devices; a chain of sum ``s`` on ``n`` devices bounds the sum of
any plan by ``s + λ (n - D)``, a line in ``λ``. Chains on more than ``D`` devices ask for a higher
price, those on fewer for a lower one; where two such lines cross is the next price (Kelley's
cutting planes), and their height there the most that the bound can still reach.
"""

import math
from dataclasses import dataclass

import numpy as np

from stagecut_dp.instance import Float, Instance
from stagecut_dp.parts import Bounds, Part

SPREAD = 0.08
"""Prices are tried this far below and above the crossing, relative."""
SHARP = 3e-3
"""What a bound may lack, relative."""
LARGEST = 1e6
"""Largest price, relative to the threshold: no price may run away to ``inf``."""


@dataclass(frozen=True, slots=True)
class Curve:
    """How the best price falls with the threshold, both in seconds, shape ``(N,)``."""

    thresholds: Float
    prices: Float

    @classmethod
    def through(cls, parts: list[Part]) -> "Curve":
        """Return the curve through the best price of each part."""
        best = [int(np.argmax(part.bounds.values)) for part in parts]
        prices = np.array([part.bounds.prices[row] for part, row in zip(parts, best, strict=True)])
        return cls(np.array([part.most for part in parts]), prices)

    def ratio(self, start: float, end: float) -> float:
        """Return the best price at threshold ``end`` over that at ``start``, about."""
        if start == end or not (self.prices > 0).all() or not (self.thresholds > 0).all():
            return 1.0
        ends = np.log([start, end]) if end > 0 else np.zeros(2)
        before, after = np.interp(ends, np.log(self.thresholds), np.log(self.prices)).tolist()
        return math.exp(min(max(after - before, -3.0), 3.0))


def next_prices(instance: Instance, part: Part, curve: Curve) -> tuple[float, float]:
    """Return two prices to try for a part, seconds per device."""
    own = own_bounds(part)
    nearest = float(own.thresholds[0])
    price, spread = crossing(own, instance.num_devices)[0], SPREAD
    scale, either_sign = part.most, instance.use_all_devices
    if price == math.inf:
        highest = float(own.prices.max())
        price, spread = 3 * highest if highest > 0 else 0.01 * scale, 0.4
    elif price == -math.inf:
        lowest = float(own.prices.min())
        price, spread = lowest / 3 if lowest > 1e-9 * scale else 4 * lowest - 0.01 * scale, 0.4
    price *= curve.ratio(nearest, part.most)
    low, high = price - spread * abs(price), price + spread * abs(price)
    least, most = -LARGEST * scale if either_sign else 0.0, LARGEST * scale
    return min(max(low, least), most), min(max(high, least), most)


def crossing(bounds: Bounds, num_devices: int) -> tuple[float, float]:
    """Return the price where the innermost lines cross, and their height there.

    The price is ``inf`` when every chain uses too many devices, ``-inf`` when none does.
    """
    prices, values = bounds.prices.tolist(), bounds.values.tolist()
    used = bounds.devices.tolist()
    rows = range(len(used))
    exact = [row for row in rows if used[row] == num_devices]
    if exact:
        best = max(exact, key=lambda row: values[row])
        return prices[best], values[best]
    over = [row for row in rows if used[row] > num_devices]
    under = [row for row in rows if used[row] < num_devices]
    if not under:
        return math.inf, math.inf
    if not over:
        return -math.inf, math.inf
    low = max(over, key=lambda row: prices[row])
    high = min(under, key=lambda row: prices[row])
    if used[low] == math.inf:
        return 2 * prices[high], math.inf
    rise, fall = used[low] - num_devices, used[high] - num_devices
    climbed = values[high] - values[low] + rise * prices[low] - fall * prices[high]
    price = climbed / (rise - fall)
    return price, max(values[low] + rise * (price - prices[low]), values[low], values[high])


def estimate(part: Part, num_devices: int, weight: int) -> float:
    """Return about the least objective of a plan of the part, seconds; ``weight`` is ``B - 1``."""
    height = crossing(part.bounds, num_devices)[1]
    best = int(np.argmax(part.bounds.values))
    known = part.total if height == math.inf else max(height, part.total)
    return known + weight * min(float(part.bounds.tops[best]), part.most)


def own_bounds(part: Part) -> Bounds:
    """Return the bounds of the threshold nearest to the part's own."""
    return part.bounds.rows(part.bounds.thresholds == part.bounds.thresholds.min())


def likely_top(part: Part) -> float:
    """Return the largest stage cost, seconds, of the chain with the best bound of a part."""
    return min(float(part.bounds.tops[int(np.argmax(part.bounds.values))]), part.most)


def is_sharp(part: Part, num_devices: int) -> bool:
    """Whether better prices can raise the bound of a part by little only."""
    height = crossing(part.bounds, num_devices)[1]
    return height - part.total <= SHARP * abs(height) < math.inf
