"""Where the optimum may lie: a look at a coarse chain.

Symbols: ``t`` a threshold on the stage cost, ``λ`` the price of a device, ``ρ = λ / t``.

``L(t)``, the Lagrangian bound on the sum, plus ``(B - 1) t`` is close to the optimum for the best
``t``. It is explored by zooming in on a grid of ``(t, ρ)``, on a chain that may be cut at a few
layers only. Nothing here is a bound for the instance itself: it only says where to look first.
"""

from dataclasses import dataclass

import numpy as np

from stagecut_dp.chains import Weights, forward_chains, table_weights
from stagecut_dp.instance import Float, Instance

COARSE_LAYERS = 16
"""Pieces of the coarse chain."""
ROUNDS = 4
"""Grids tried."""
FIRST_THRESHOLDS = np.array([1.05, 1.2, 1.5, 2.2, 4.0, 12.0, np.inf])
"""Relative to the least device-seconds over ``D``."""
FIRST_PRICES = np.array([0.0, 0.01, 0.05, 0.2, 0.8])
"""Values of ``ρ``."""


@dataclass(frozen=True, slots=True)
class Guess:
    """Best grid point, and every one tried.

    Parameters
    ----------
    threshold
        ``t``, seconds.
    thresholds, prices, values
        Every grid point: ``t``, ``λ`` and the bound there, seconds; shape ``(N,)``.
    """

    threshold: float
    thresholds: Float
    prices: Float
    values: Float

    def price(self, threshold: float) -> float:
        """Return the best price seen at the thresholds nearest to one."""
        distance = np.abs(np.log(self.thresholds / threshold))
        near = distance <= distance.min() * (1 + 1e-9)
        best = np.flatnonzero(near)[np.argmax(self.values[near])]
        return float(self.prices[best] / self.thresholds[best] * threshold)


def make_guess(instance: Instance, cap: float) -> Guess | None:
    """Explore the coarse chain below ``cap`` seconds a stage; ``None`` if it has no plan."""
    table = _coarse(instance)
    table = np.where(table <= cap, table, np.inf)
    devices, weight = instance.num_devices, instance.num_microbatches - 1
    largest = float(np.max(table, where=table < np.inf, initial=0.0))
    work = table_weights(
        table * instance.sizes.astype(np.float64)[:, None, None],
        instance.sizes,
        np.array([np.inf]),
        np.zeros((1, 1)),
    )
    least = float(forward_chains(Weights.of_table(work))[0, -1]) / devices
    if not 0 < least < np.inf:
        return None
    thresholds, ratios = np.minimum(FIRST_THRESHOLDS * least, largest), FIRST_PRICES
    seen: list[tuple[Float, Float, Float]] = []
    threshold = largest
    for _ in range(ROUNDS):
        prices = thresholds[:, None] * ratios
        weights = table_weights(table, instance.sizes, thresholds, prices)
        values = (
            forward_chains(Weights.of_table(weights))[:, -1].reshape(prices.shape)
            - prices * devices
        )
        seen.append((np.repeat(thresholds, len(ratios)), prices.ravel(), values.ravel()))
        at = int(np.argmin(values.max(axis=1) + weight * thresholds))
        threshold = float(thresholds[at])
        ratios = _zoom(ratios, int(np.argmax(values[at])), instance.use_all_devices)
        low, high = thresholds[max(at - 1, 0)], thresholds[min(at + 1, len(thresholds) - 1)]
        thresholds = np.geomspace(low / 1.02 if at == 0 else low, high, 4)
    return Guess(threshold, *(np.concatenate(part) for part in zip(*seen, strict=True)))


def _coarse(instance: Instance) -> Float:
    """Return the table of ranges between about evenly spread cuts."""
    num_layers = instance.num_layers
    pieces = min(num_layers, COARSE_LAYERS)
    cuts = np.arange(pieces + 1) * num_layers // pieces
    return instance.table[:, cuts[:-1, None], cuts[1:] - 1]


def _zoom(ratios: Float, best: int, either_sign: bool) -> Float:
    """Return a finer grid around the best ratio, open where it lies at an end."""
    low, high = float(ratios[max(best - 1, 0)]), float(ratios[min(best + 1, len(ratios) - 1)])
    if best == len(ratios) - 1:
        high *= 4
    if best == 0:
        low = low / 4 if low > 0 else 4 * low - 0.01 if either_sign else 0.0
    return np.linspace(low, high, 4) if low <= 0 else np.geomspace(low, high, 4)
