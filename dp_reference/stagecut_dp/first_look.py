"""A first look at the whole table: parts of the range of the largest stage cost, with bounds.

Symbols: ``t`` a threshold on the stage cost, ``λ`` the price of a device, ``w = B - 1``.
"""

import numpy as np

from stagecut_dp.candidates import Bool
from stagecut_dp.chains import Weights, forward_chains, table_weights
from stagecut_dp.guess import Guess
from stagecut_dp.instance import Float, Instance
from stagecut_dp.parts import ROUNDING, Part, chain_bounds
from stagecut_dp.prices import Curve, estimate, is_sharp, next_prices

EDGES = np.array([0.8, 0.9, 0.96, 1.0, 1.04, 1.15, 1.5, np.inf])
"""Where the parts end, relative to the guess."""
PRICES = np.array([0.6, 1.5])
"""Prices tried at each edge, relative to the guess."""
SHARPENINGS, SHARPENED = 2, 2
"""Rounds of better prices, and parts in each."""


def first_parts(
    instance: Instance, guess: Guess | None, largest: float
) -> tuple[list[Part], Float]:
    """Bound parts around the guess, up to ``largest`` seconds.

    Returns
    -------
    parts
        Ascending; together they hold every plan with no stage above ``largest``.
    weights
        Shape ``(parts, prices, K, K)``: of the ranges at the first prices of each part.
    """
    if guess is None:
        edges, prices = np.array([largest]), np.array([[0.0, 0.1 * largest]])
    else:
        edges = np.unique(np.minimum(guess.threshold * EDGES, largest))
        prices = np.array([guess.price(float(edge)) for edge in edges])[:, None] * PRICES
    count = prices.shape[1]
    weights = table_weights(instance.table, instance.sizes, edges, prices)
    thresholds = np.repeat(edges, count)
    bounds = chain_bounds(instance, Weights.of_table(weights), thresholds, prices.ravel())
    least, parts = least_top(instance), []
    for p, edge in enumerate(edges.tolist()):
        if edge < least:
            continue
        rows = bounds.rows(slice(p * count, (p + 1) * count))
        total = max(0.0, float(np.fmax.reduce(rows.values)))
        parts.append(Part(max(float(edges[p - 1]) if p else 0.0, least), edge, total, rows))
    shaped = weights.reshape(len(edges), count, *weights.shape[1:])
    return parts, shaped[len(edges) - len(parts) :]


def sharpen(instance: Instance, parts: list[Part]) -> None:
    """Try more prices on the whole table where the optimum seems to lie."""
    devices, weight = instance.num_devices, instance.num_microbatches - 1
    for _ in range(SHARPENINGS):
        curve = Curve.through(parts)
        order = sorted(parts, key=lambda part: estimate(part, devices, weight))
        if is_sharp(order[0], devices):
            return
        order = order[:SHARPENED]
        prices = np.array([next_prices(instance, part, curve) for part in order])
        tops = np.array([part.most for part in order])
        weights = Weights.of_table(table_weights(instance.table, instance.sizes, tops, prices))
        bounds = chain_bounds(instance, weights, np.repeat(tops, 2), prices.ravel())
        for p, part in enumerate(order):
            rows = bounds.rows(slice(2 * p, 2 * p + 2))
            part.bounds = part.bounds.joined(rows)
            part.total = max(part.total, float(np.fmax.reduce(rows.values)))


def open_ranges(instance: Instance, parts: list[Part], weights: Float, budget: float) -> Bool:
    """Mask of the ranges that some part can use within ``budget`` seconds; shape ``(K, K)``."""
    num_layers, weight = instance.num_layers, instance.num_microbatches - 1
    opened = np.zeros((num_layers, num_layers), dtype=bool)
    for part, ranges in zip(parts, weights, strict=True):
        least, bounds = np.full((num_layers, num_layers), -np.inf), part.bounds
        for row, total in enumerate(ranges):
            fixed = bounds.prices[row] * instance.num_devices + bounds.slack[row]
            value = total + (bounds.forward[row, :-1, None] - fixed)
            value += bounds.backward[row, 1:]
            np.fmax(least, value, out=least)
        opened |= ~(least + weight * part.least > budget * (1 + ROUNDING))
    return opened


def least_top(instance: Instance) -> float:
    """Return a lower bound on the largest stage cost of any plan, seconds.

    Device-seconds of a plan are at most ``D`` times its largest stage cost.
    """
    work = np.full(instance.table.shape[1:], np.inf)
    spent = np.empty_like(work)
    for cost, size in zip(instance.table, instance.sizes.tolist(), strict=True):
        np.multiply(cost, float(size), out=spent)
        np.minimum(work, spent, out=work)
    least = float(forward_chains(Weights.of_table(work[None]))[0, -1])
    return least / instance.num_devices * (1 - ROUNDING * (instance.num_layers + 4))
