"""Shortest chains of stages over layers alone, for many prices of a device at once.

Symbols: ``K`` layers, ``M`` choices, ``P`` pairs of a threshold ``t`` and a price ``λ``. A stage of
cost ``c`` on ``n`` devices weighs ``c + λ n``, or ``inf`` when ``c > t``; a range weighs what its
cheapest choice does.
"""

from dataclasses import dataclass

import numpy as np

from stagecut_dp.candidates import Candidates
from stagecut_dp.instance import Float, Instance, Int


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


@dataclass(frozen=True, slots=True)
class Weights:
    """Weights of ranges for ``P`` pairs, for each first layer a span of last layers.

    Parameters
    ----------
    values
        Shape ``(P, N)``, seconds; ``inf`` where no stage is allowed.
    begins, ends
        Span of layer ``i``: positions ``begins[i]..ends[i] - 1`` of ``values``; ``K`` numbers each.
    lowest
        Last layer at the start of each span; ``K`` numbers.
    """

    values: Float
    begins: list[int]
    ends: list[int]
    lowest: list[int]

    @classmethod
    def of_table(cls, weights: Float) -> "Weights":
        """Wrap weights of shape ``(P, K, K)``."""
        pairs, num_layers, _ = weights.shape
        layers = range(num_layers)
        return cls(
            weights.reshape(pairs, -1),
            [i * num_layers + i for i in layers],
            [(i + 1) * num_layers for i in layers],
            list(layers),
        )

    def rows(self, layer: int) -> Float:
        """Return the weights of the stages that start at a layer, shape ``(P, span)``."""
        return self.values[:, self.begins[layer] : self.ends[layer]]


def list_weights(candidates: Candidates, thresholds: Float, prices: Float) -> Weights:
    """Weigh the ranges of a list for ``P`` pairs ``(t, λ)``."""
    num_layers = candidates.num_layers
    first = np.arange(num_layers)
    starts = np.searchsorted(candidates.first, np.arange(num_layers + 1))
    some = starts[1:] > starts[:-1]
    lowest, spans = first.copy(), np.zeros(num_layers, dtype=np.int64)
    lowest[some] = candidates.last[starts[:-1][some]]
    spans[some] = candidates.last[starts[1:][some] - 1] - lowest[some] + 1
    ends = np.cumsum(spans)
    begins = ends - spans
    values = np.full((len(thresholds), int(ends[-1])), np.inf)
    if len(candidates):
        at, _ = candidates.ranges()
        where = begins[candidates.first[at]] + candidates.last[at] - lowest[candidates.first[at]]
        priced = prices[:, None] * candidates.devices
        priced += candidates.cost
        priced[candidates.cost > thresholds[:, None]] = np.inf
        values[:, where] = np.minimum.reduceat(priced, at, axis=1)
    return Weights(values, begins.tolist(), ends.tolist(), lowest.tolist())


def forward_chains(weights: Weights) -> Float:
    """Return the least weight of layers ``0..k-1``, shape ``(P, K + 1)``."""
    pairs, num_layers = len(weights.values), len(weights.begins)
    forward = np.full((pairs, num_layers + 1), np.inf)
    forward[:, 0] = 0.0
    sums, values = np.empty((pairs, num_layers)), weights.values
    for i, (begin, end, low) in enumerate(
        zip(weights.begins, weights.ends, weights.lowest, strict=True)
    ):
        if begin == end:
            continue
        ahead, total = forward[:, low + 1 : low + 1 + end - begin], sums[:, : end - begin]
        np.add(values[:, begin:end], forward[:, i : i + 1], out=total)
        np.minimum(ahead, total, out=ahead)
    return forward


def backward_chains(weights: Weights) -> Float:
    """Return the least weight of layers ``k..K-1``, shape ``(P, K + 1)``."""
    pairs, num_layers = len(weights.values), len(weights.begins)
    backward = np.full((pairs, num_layers + 1), np.inf)
    backward[:, num_layers] = 0.0
    sums, values = np.empty((pairs, num_layers)), weights.values
    for i in range(num_layers - 1, -1, -1):
        begin, end, low = weights.begins[i], weights.ends[i], weights.lowest[i]
        if begin == end:
            continue
        total = sums[:, : end - begin]
        np.add(values[:, begin:end], backward[:, low + 1 : low + 1 + end - begin], out=total)
        np.minimum.reduce(total, axis=1, out=backward[:, i])
    return backward


def chain_ends(
    instance: Instance, weights: Weights, backward: Float, thresholds: Float, prices: Float
) -> tuple[Float, Float]:
    """Follow the lightest chain of every pair.

    Returns
    -------
    devices
        Shape ``(P,)``: devices that it uses; ``inf`` where there is no chain.
    tops
        Shape ``(P,)``, seconds: its largest stage cost; ``inf`` where there is no chain.
    """
    pairs = np.flatnonzero(np.isfinite(backward[:, 0]))
    devices, tops = np.full(len(backward), np.inf), np.full(len(backward), np.inf)
    if not len(pairs):
        return devices, tops
    devices[pairs], tops[pairs] = 0.0, 0.0
    seen = _follow(weights, backward, pairs.tolist())
    pair, first, last, value = (np.array(column) for column in zip(*seen, strict=True))
    costs = instance.table[:, first, last]
    miss = np.abs(costs + instance.sizes[:, None] * prices[pair] - value)
    miss[costs > thresholds[pair]] = np.inf
    choice = np.argmin(miss, axis=0)
    np.add.at(devices, pair, instance.sizes[choice])
    np.maximum.at(tops, pair, costs[choice, np.arange(len(pair))])
    return devices, tops


def _follow(
    weights: Weights, backward: Float, pairs: list[int]
) -> list[tuple[int, int, int, float]]:
    """Return pair, first layer, last layer and weight along the lightest chains."""
    seen = []
    for pair in pairs:
        values, ahead, i = weights.values[pair], backward[pair], 0
        while i < len(weights.begins):
            begin, end, low = weights.begins[i], weights.ends[i], weights.lowest[i]
            span = values[begin:end]
            at = int((span + ahead[low + 1 : low + 1 + end - begin]).argmin())
            seen.append((pair, i, low + at, float(span[at])))
            i = low + at + 1
    return seen
