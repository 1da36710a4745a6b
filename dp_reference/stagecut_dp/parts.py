"""Intervals of the largest stage cost, each with its Lagrangian bound.

Symbols: plans of a part have their largest stage cost in ``[a, b]``; ``λ`` is the price of a
device. With ``f`` and ``g`` the least weights ``c + λ n`` of the layers before and after a stage,
using stages of cost at most ``b``, every plan that holds the stage has a sum of at least::

    rc = f[i] + c + λ n + g[j + 1] - λ D        (Lagrange; the largest over λ counts)

and an objective of at least ``rc + (B - 1) max(c, a)``. Rounding is covered by a slack.
"""

from dataclasses import dataclass, field

import numpy as np

from stagecut_dp.candidates import Bool, Candidates
from stagecut_dp.chains import backward_chains, forward_chains
from stagecut_dp.instance import Float

ROUNDING = 8 * float(np.finfo(np.float64).eps)
"""Relative error allowed for each addition along a chain."""


@dataclass(frozen=True, slots=True)
class Bounds:
    """Chains at ``P`` pairs of threshold and price.

    Parameters
    ----------
    prices
        Shape ``(P,)``, seconds per device.
    forward, backward
        Shape ``(P, K + 1)``, seconds: least weights before and after each layer.
    values
        Shape ``(P,)``, seconds: lower bounds on the sum of any plan within the threshold.
    slack
        Shape ``(P,)``, seconds: what rounding may add to a bound.
    """

    prices: Float
    forward: Float
    backward: Float
    values: Float
    slack: Float

    def rows(self, chosen: slice) -> "Bounds":
        """Return the bounds of some of the pairs."""
        return Bounds(
            self.prices[chosen],
            self.forward[chosen],
            self.backward[chosen],
            self.values[chosen],
            self.slack[chosen],
        )

    def joined(self, other: "Bounds") -> "Bounds":
        """Return the bounds of both, those of ``other`` last."""
        return Bounds(
            np.concatenate([self.prices, other.prices]),
            np.concatenate([self.forward, other.forward]),
            np.concatenate([self.backward, other.backward]),
            np.concatenate([self.values, other.values]),
            np.concatenate([self.slack, other.slack]),
        )


def chain_bounds(weights: Float, prices: Float, num_devices: int) -> Bounds:
    """Run the chains over ``weights`` of shape ``(P, K, K)`` at ``prices`` of shape ``(P,)``."""
    num_layers = weights.shape[1]
    forward, backward = forward_chains(weights), backward_chains(weights)
    largest = np.where(np.isfinite(forward), np.abs(forward), 0.0).max(axis=1)
    largest = np.maximum(
        largest, np.where(np.isfinite(backward), np.abs(backward), 0.0).max(axis=1)
    )
    largest += np.abs(prices) * num_devices
    values = forward[:, num_layers] - prices * num_devices
    slack = ROUNDING * (num_layers + 4) * largest
    return Bounds(prices, forward, backward, values - slack, slack)


def reduced_costs(bounds: Bounds, candidates: Candidates, num_devices: int) -> Float:
    """Return ``rc``, shape ``(R,)``, seconds: the best bound over the pairs."""
    best = np.full(len(candidates), -np.inf)
    spare = candidates.devices - num_devices
    behind = candidates.last + 1
    for p, price in enumerate(bounds.prices.tolist()):
        value = bounds.forward[p, candidates.first]
        value += bounds.backward[p, behind]
        value += price * spare
        value -= bounds.slack[p]
        np.fmax(best, value, out=best)
    best += candidates.cost
    return best


@dataclass(slots=True)
class Part:
    """Plans with a largest stage cost in ``[least, most]``.

    Parameters
    ----------
    least, most
        ``a`` and ``b``, seconds.
    total
        Lower bound on the sum of such plans, seconds.
    bounds
        Chains at thresholds of at least ``b``.
    reduced
        ``rc`` of every candidate in the current list, shape ``(R,)``.
    """

    least: float
    most: float
    total: float
    bounds: Bounds
    reduced: Float = field(default_factory=lambda: np.zeros(0))

    def objective(self, weight: int) -> float:
        """Lower bound on the objective, ``weight`` being ``B - 1``."""
        return self.total + weight * self.least

    def useful(self, candidates: Candidates, weight: int, budget: float) -> Bool:
        """Mask of the candidates that a plan of this part within ``budget`` may use."""
        costly = np.maximum(candidates.cost, self.least)
        costly *= weight
        costly += self.reduced
        # A bound that is not a number excludes nothing.
        return ~(costly > budget * (1 + ROUNDING)) & (candidates.cost <= self.most)


def device_windows(part: Part, num_devices: int, weight: int, budget: float) -> tuple[Float, Float]:
    """Return the fewest and most devices left before each layer, each of shape ``(K + 1,)``.

    A plan within ``budget`` that has ``d`` devices left for layers ``k..`` obeys, for any two
    prices, ``f[k] - λ (D - d) + g[k] - μ d <= budget - (B - 1) a``: linear in ``d``.
    """
    bounds = part.bounds
    room = budget * (1 + ROUNDING) - weight * part.least
    before = bounds.forward - (bounds.prices * num_devices + bounds.slack)[:, None]
    after = bounds.backward - bounds.slack[:, None]
    rise = bounds.prices[:, None] - bounds.prices
    with np.errstate(divide="ignore", invalid="ignore"):
        spare = room - before[:, None] - after
        limit = spare / rise[..., None]
    unreachable = (before == np.inf).any(axis=0) | (after == np.inf).any(axis=0)
    most = np.fmin.reduce(
        np.where(rise[..., None] > 0, limit, np.inf), axis=(0, 1), initial=float(num_devices)
    )
    fewest = np.fmax.reduce(np.where(rise[..., None] < 0, limit, -np.inf), axis=(0, 1), initial=0.0)
    most[unreachable] = -np.inf
    margin = 1e-6
    return np.ceil(fewest - margin), np.floor(most + margin)
