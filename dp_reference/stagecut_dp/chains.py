"""Shortest chains of stages over layers alone, for many prices of a device at once.

Symbols: ``K`` layers, ``M`` choices, ``P`` pairs of a threshold ``t`` and a price ``λ``. A stage of
cost ``c`` on ``n`` devices weighs ``c + λ n``, or ``inf`` when ``c > t``; a range weighs what its
cheapest choice does.
"""

import numpy as np

from stagecut_dp.candidates import Candidates
from stagecut_dp.instance import Float, Int


def table_weights(table: Float, sizes: Int, thresholds: Float, prices: Float) -> Float:
    """Weigh every range of a table.

    Parameters
    ----------
    table
        Shape ``(M, K, K)``, seconds.
    sizes
        Shape ``(M,)``, devices.
    thresholds
        Shape ``(T,)``, seconds.
    prices
        Shape ``(T, L)``: prices tried at each threshold, seconds per device.

    Returns
    -------
    weights
        Shape ``(T L, K, K)``, seconds.
    """
    num_layers = table.shape[1]
    weights = np.empty((*prices.shape, num_layers, num_layers))
    priced = np.empty_like(weights) if num_layers <= 64 else None
    if priced is None:
        for t, threshold in enumerate(thresholds.tolist()):
            _weigh_one(table, sizes, threshold, prices[t], weights[t])
    else:
        _weigh_all(table, sizes, thresholds, prices, weights, priced)
    return weights.reshape(-1, num_layers, num_layers)


def _weigh_all(
    table: Float, sizes: Int, thresholds: Float, prices: Float, weights: Float, priced: Float
) -> None:
    """Small tables: few calls on large blocks."""
    least = thresholds[:, None, None, None]
    for m, size in enumerate(sizes.tolist()):
        allowed = np.where(table[m] <= least, table[m], np.inf)
        fee = (prices * size)[:, :, None, None]
        if m == 0:
            np.add(allowed, fee, out=weights)
        else:
            np.add(allowed, fee, out=priced)
            np.minimum(weights, priced, out=weights)


def _weigh_one(table: Float, sizes: Int, threshold: float, prices: Float, weights: Float) -> None:
    """Large tables: blocks that stay in cache."""
    priced = np.empty(table.shape[1:])
    weights[:] = np.inf
    for m, size in enumerate(sizes.tolist()):
        allowed = table[m]
        if threshold < np.inf:
            allowed = np.where(allowed <= threshold, allowed, np.inf)
        for weight, price in zip(weights, prices.tolist(), strict=True):
            np.add(allowed, price * size, out=priced)
            np.minimum(weight, priced, out=weight)


def list_weights(candidates: Candidates, thresholds: Float, prices: Float) -> Float:
    """Weigh the ranges of a list for ``P`` pairs ``(t, λ)``; shape ``(P, K, K)``, seconds."""
    num_layers = candidates.num_layers
    weights = np.full((len(thresholds), num_layers * num_layers), np.inf)
    if len(candidates):
        begins, keys = candidates.ranges()
        priced = prices[:, None] * candidates.devices
        priced += candidates.cost
        priced[candidates.cost > thresholds[:, None]] = np.inf
        weights[:, keys] = np.minimum.reduceat(priced, begins, axis=1)
    return weights.reshape(-1, num_layers, num_layers)


def forward_chains(weights: Float) -> Float:
    """Return the least weight of layers ``0..k-1``, shape ``(P, K + 1)``."""
    pairs, num_layers, _ = weights.shape
    forward = np.full((pairs, num_layers + 1), np.inf)
    forward[:, 0] = 0.0
    sums = np.empty((pairs, num_layers))
    for i in range(num_layers):
        ahead, total = forward[:, i + 1 :], sums[:, i:]
        np.add(weights[:, i, i:], forward[:, i : i + 1], out=total)
        np.minimum(ahead, total, out=ahead)
    return forward


def backward_chains(weights: Float) -> Float:
    """Return the least weight of layers ``k..K-1``, shape ``(P, K + 1)``."""
    pairs, num_layers, _ = weights.shape
    backward = np.full((pairs, num_layers + 1), np.inf)
    backward[:, num_layers] = 0.0
    sums = np.empty((pairs, num_layers))
    for i in range(num_layers - 1, -1, -1):
        total = sums[:, i:]
        np.add(weights[:, i, i:], backward[:, i + 1 :], out=total)
        np.minimum.reduce(total, axis=1, out=backward[:, i])
    return backward
