"""Successor limits and rules on the number of stages, as a longer chain.

Symbols: node ``(s, k)`` = ``s`` stages are left for layers ``k..K-1``. A stage ``i..j`` that ``s``
stages follow leads from ``(s + 1, i)`` to ``(s, j + 1)``; one of limit ``p`` may do so for every
``s <= p``. With nodes in the place of layers, a plan within its limits is a chain like any other:
bounds, windows and passes know how many stages follow, and need no axis of their own.

Nodes are numbered from the source, which stands for every ``(s, 0)``, by falling ``s`` and rising
``k``, to the end ``(0, K)``.
"""

import itertools
from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from stagecut_dp.candidates import Bool, Candidates
from stagecut_dp.instance import Float, Int
from stagecut_dp.parts import ROUNDING, Bounds


@dataclass(frozen=True, slots=True)
class StagedList(Candidates):
    """Candidates, once for each number of stages that may follow; layers are nodes.

    Parameters
    ----------
    source
        The candidates themselves.
    which
        int64, shape ``(E,)``: the candidate behind each entry.
    follow
        int64, shape ``(E,)``: the stages that follow, falling but for the entries at the source.
    """

    source: Candidates
    which: Int
    follow: Int

    def take(self, chosen: Bool | Int) -> Self:
        """Return the entries at a mask or at ascending indices; nodes keep their numbers."""
        columns = ("first", "last", "devices", "cost", "choice", "which", "follow")
        return replace(self, **{name: getattr(self, name)[chosen] for name in columns})

    def plain(self) -> Candidates:
        """Return the candidates behind the entries."""
        return self.source.take(self.which)

    def layers(self) -> Int:
        """Return the layer of each node in use, int64, shape ``(N + 1,)``."""
        layers = np.zeros(self.num_layers + 1, dtype=np.int64)
        layers[self.first] = self.source.first[self.which]
        layers[self.last + 1] = self.source.last[self.which] + 1
        return layers

    def levels(self) -> list[slice]:
        """Return the entries that start beyond the source, by falling number of followers."""
        begin = int(np.searchsorted(self.first, 1))
        edges = begin + np.flatnonzero(np.diff(self.follow[begin:])) + 1
        bounds = [begin, *edges.tolist(), len(self)]
        return [slice(low, high) for low, high in itertools.pairwise(bounds)]

    def compact(self) -> tuple[Self, Int]:
        """Return the list with only the nodes in use, and which of the old nodes those are."""
        used = np.zeros(self.num_layers + 1, dtype=bool)
        used[[0, -1]] = True
        used[self.first] = True
        used[self.last + 1] = True
        number = np.cumsum(used) - 1
        first, last = number[self.first], number[self.last + 1] - 1
        nodes = int(number[-1])
        return replace(self, num_layers=nodes, first=first, last=last), np.flatnonzero(used)


def _stage_list(source: Candidates, which: Int, follow: Int) -> StagedList:
    """Return entries, in the order of :class:`StagedList`, with their nodes numbered."""
    num_layers = source.num_layers
    first, behind = source.first[which], source.last[which] + 1
    most = int(follow.max(initial=0)) + 1
    tails = (most - follow - 1) * (num_layers + 1) + first
    tails[first == 0] = -1
    heads = (most - follow) * (num_layers + 1) + behind
    used = np.zeros((most + 1) * (num_layers + 1), dtype=bool)
    used[tails[first > 0]] = True
    used[heads] = True
    number = np.cumsum(used)
    return StagedList(
        num_layers=max(int(number[-1]), 1),
        first=np.where(first == 0, 0, number[tails]),
        last=number[heads] - 1,
        devices=source.devices[which],
        cost=source.cost[which],
        choice=source.choice[which],
        limit=None,
        source=source,
        which=which,
        follow=follow,
    )


def expand(listed: Candidates, weights: Float, limit: float, least: int, most: int) -> StagedList:
    """Return the entries of ``listed`` that chains of ``least..most`` stages may use.

    Parameters
    ----------
    weights
        Shape ``(R,)``: what each candidate weighs.
    limit
        The most that a chain through an entry may weigh.
    """
    rows, after = _least_after(listed, weights, limit, most)
    before = np.full((len(rows) + 1, listed.num_layers + 1), np.inf)
    before[least:, 0] = 0.0
    kept: list[tuple[int, Int]] = []
    for follow in range(len(rows) - 1, -1, -1):
        row = rows[follow]
        spent = before[follow + 1][listed.first[row]]
        spent += weights[row]
        behind = listed.last[row] + 1
        inside = _within(spent + after[follow][behind], limit)
        np.minimum.at(before[follow], behind[inside], spent[inside])
        kept.append((follow, row[inside]))
    at_source = [int(np.searchsorted(listed.first[row], 1)) for _, row in kept]
    pieces = [(s, row[:n]) for (s, row), n in zip(kept, at_source, strict=True)]
    pieces += [(s, row[n:]) for (s, row), n in zip(kept, at_source, strict=True)]
    which = np.concatenate([np.zeros(0, dtype=np.int64), *(row for _, row in pieces)])
    follows = np.array([s for s, _ in pieces], dtype=np.int64)
    return _stage_list(listed, which, np.repeat(follows, [len(row) for _, row in pieces]))


def _within(sums: Float, limit: float) -> Bool:
    """Mask of the sums of chains that exist and keep a limit, which may be ``inf``."""
    return (sums < np.inf) & (sums <= limit)


def _least_after(
    listed: Candidates, weights: Float, limit: float, most: int
) -> tuple[list[Int], list[Float]]:
    """Return which candidates may stand before ``s`` stages, and the least weight of those."""
    end = np.full(listed.num_layers + 1, np.inf)
    end[-1] = 0.0
    rows, after = [], [end]
    for follow in range(most):
        behind = after[-1][listed.last + 1]
        behind += weights
        fits = _within(behind, limit)
        if listed.limit is not None:
            fits &= listed.limit >= follow
        row = np.flatnonzero(fits)
        if not len(row):
            break
        first = listed.first[row]
        starts = np.flatnonzero(np.diff(first, prepend=-1))
        least = np.full_like(end, np.inf)
        least[first[starts]] = np.minimum.reduceat(behind[row], starts)
        rows.append(row)
        after.append(least)
    return rows, after


def staged_bounds(listed: StagedList, threshold: float, prices: Float, num_devices: int) -> Bounds:
    """Run chains over nodes at ``P`` prices, seconds per device; stages cost ``threshold`` at most.

    As :func:`stagecut_dp.parts.chain_bounds`, but chains are not followed: where they end and their
    largest stage is left unknown (``inf``).
    """
    weights = prices[:, None] * listed.devices
    weights += listed.cost
    weights[:, listed.cost > threshold] = np.inf
    levels = listed.levels()
    forward, backward = _forward(listed, weights, levels), _backward(listed, weights, levels)
    largest = np.maximum(_largest(forward), _largest(backward)) + np.abs(prices) * num_devices
    slack = ROUNDING * (listed.source.num_layers + 4) * largest
    values = backward[:, 0] - prices * num_devices - slack
    unknown = np.full(len(prices), np.inf)
    tops = np.full(len(prices), threshold)
    return Bounds(tops, prices, forward, backward, values, slack, unknown, unknown)


def _largest(chains: Float) -> Float:
    return np.where(np.isfinite(chains), np.abs(chains), 0.0).max(axis=1)


def _backward(listed: StagedList, weights: Float, levels: list[slice]) -> Float:
    """Return the least weight from each node to the end, shape ``(P, N + 1)``."""
    nodes = listed.num_layers
    backward = np.full((len(weights), nodes + 1), np.inf)
    backward[:, nodes] = 0.0
    for here in reversed(levels):
        _relax(backward, listed.first[here], listed.last[here] + 1, weights[:, here])
    source = slice(0, levels[0].start)
    _relax(backward, listed.first[source], listed.last[source] + 1, weights[:, source])
    return backward


def _forward(listed: StagedList, weights: Float, levels: list[slice]) -> Float:
    """Return the least weight from the source to each node, shape ``(P, N + 1)``."""
    forward = np.full((len(weights), listed.num_layers + 1), np.inf)
    forward[:, 0] = 0.0
    source = slice(0, levels[0].start)
    _relax(forward, listed.last[source] + 1, listed.first[source], weights[:, source])
    for here in levels:
        order = here.start + np.argsort(listed.last[here], kind="stable")
        _relax(forward, listed.last[order] + 1, listed.first[order], weights[:, order])
    return forward


def _relax(chains: Float, to: Int, by: Int, weights: Float) -> None:
    """Lower ``chains`` at the nodes ``to``, ascending, to those at ``by`` plus weights."""
    if len(to):
        starts = np.flatnonzero(np.diff(to, prepend=-1))
        total = chains[:, by]
        total += weights
        least = np.minimum.reduceat(total, starts, axis=1)
        chains[:, to[starts]] = np.minimum(chains[:, to[starts]], least)
