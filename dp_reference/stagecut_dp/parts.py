"""Intervals of the largest stage cost, each with its Lagrangian bound.

Symbols: plans of a part have their largest stage cost in ``[a, b]``; ``λ`` is the price of a
device. With ``f`` and ``g`` the least weights ``c + λ n`` of the layers before and after a stage,
using stages of cost at most ``b``, every plan that holds the stage has a sum of at least::

    rc = f[i] + c + λ n + g[j + 1] - λ D        (Lagrange; the largest over λ counts)

and an objective of at least ``rc + (B - 1) max(c, a)``. Rounding is covered by a slack.
"""

from dataclasses import dataclass, field, replace

import numpy as np

from stagecut_dp.candidates import Bool, Candidates
from stagecut_dp.chains import Weights, backward_chains, chain_ends, forward_chains
from stagecut_dp.instance import Float, Instance, Int

MOST_PIECES = 6
"""Parts bounded at once, about."""
ROUNDING = 8 * float(np.finfo(np.float64).eps)
"""Relative error allowed for each addition along a chain."""


@dataclass(frozen=True, slots=True)
class Bounds:
    """Chains at ``P`` pairs of threshold and price.

    Parameters
    ----------
    thresholds, prices
        Shape ``(P,)``, seconds, and seconds per device.
    forward, backward
        Shape ``(P, K + 1)``, seconds: least weights before and after each layer.
    values
        Shape ``(P,)``, seconds: lower bounds on the sum of any plan within the threshold.
    slack
        Shape ``(P,)``, seconds: what rounding may add to a bound.
    devices, tops
        Shape ``(P,)``: devices of the lightest chain and its largest stage cost in seconds.
    """

    thresholds: Float
    prices: Float
    forward: Float
    backward: Float
    values: Float
    slack: Float
    devices: Float
    tops: Float

    @classmethod
    def none(cls, num_layers: int) -> "Bounds":
        """Return the bounds of no pairs."""
        single, chain = np.zeros(0), np.zeros((0, num_layers + 1))
        return cls(single, single, chain, chain, single, single, single, single)

    def rows(self, chosen: slice | Bool) -> "Bounds":
        """Return the bounds of some of the pairs."""
        return Bounds(*(getattr(self, name)[chosen] for name in _FIELDS))

    def at(self, layers: Int) -> "Bounds":
        """Return the bounds at some of the layers only."""
        return replace(self, forward=self.forward[:, layers], backward=self.backward[:, layers])

    def joined(self, other: "Bounds") -> "Bounds":
        """Return the bounds of both, those of ``other`` last."""
        return Bounds(
            *(np.concatenate([getattr(self, name), getattr(other, name)]) for name in _FIELDS)
        )


_FIELDS = ("thresholds", "prices", "forward", "backward", "values", "slack", "devices", "tops")


def chain_bounds(instance: Instance, weights: Weights, thresholds: Float, prices: Float) -> Bounds:
    """Run the chains over ``weights`` at ``P`` thresholds and prices."""
    num_layers = instance.num_layers
    forward, backward = forward_chains(weights), backward_chains(weights)
    fees = np.abs(prices) * instance.num_devices
    largest = np.maximum(_largest(forward), _largest(backward)) + fees
    values = forward[:, num_layers] - prices * instance.num_devices
    slack = ROUNDING * (num_layers + 4) * largest
    devices, tops = chain_ends(instance, weights, backward, thresholds, prices)
    return Bounds(thresholds, prices, forward, backward, values - slack, slack, devices, tops)


def _largest(weights: Float) -> Float:
    return np.where(np.isfinite(weights), np.abs(weights), 0.0).max(axis=1)


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

    def lower_top(self, weight: int, budget: float) -> None:
        """Lower ``b`` to the largest stage of a chain above which no plan is within ``budget``."""
        for value, top in zip(self.bounds.values.tolist(), self.bounds.tops.tolist(), strict=True):
            if top < self.most and value + weight * top > budget * (1 + ROUNDING):
                self.most = max(top, self.least)
        if weight and budget < np.inf:
            highest = (budget - self.total) / weight * (1 + ROUNDING)
            self.most = min(self.most, max(highest, self.least))

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


def cut_parts(parts: list[Part], centre: float) -> list[Part]:
    """Cut parts evenly, and at ``centre``, seconds."""
    widths = np.array([part.most - part.least for part in parts])
    counts = np.ceil(MOST_PIECES * widths / max(float(widths.sum()), 1e-300)).astype(np.int64)
    pieces = []
    for part, count in zip(parts, counts.tolist(), strict=True):
        cuts = np.linspace(part.least, part.most, max(count, 1) + 1)[1:-1].tolist()
        inside = sorted({cut for cut in (*cuts, centre) if part.least < cut < part.most})
        for least, most in zip([part.least, *inside], [*inside, part.most], strict=True):
            pieces.append(Part(least, most, part.total, part.bounds, part.reduced))
    return pieces
