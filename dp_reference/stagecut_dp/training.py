"""The training objective: sum of stage costs + (B - 1) x largest stage cost.

Symbols: ``t`` a threshold on the stage cost, ``λ`` the price of a device, ``w = B - 1``.

1. Guess from a coarse chain where the best ``t`` and ``λ`` lie (:mod:`stagecut_dp.guess`).
2. Split the range of ``t`` into parts around it and bound each by chains over layers alone.
3. Assume that the optimum is within a budget just above the best ``L(t) + w t``; list the stages
   that a plan within it can use; narrow parts and list further, on the list alone.
4. Settle what is left by exact passes. No plan within the budget proves it a bound: raise it.
"""

import math

import numpy as np

from stagecut_dp.candidates import Bool, Candidates, list_candidates
from stagecut_dp.chains import list_weights, table_weights
from stagecut_dp.guess import Guess, make_guess
from stagecut_dp.instance import Float, Instance
from stagecut_dp.outcome import Clock, Incumbent
from stagecut_dp.parts import Bounds, Part, chain_bounds, reduced_costs
from stagecut_dp.settle import settle, shorten

EDGES = np.array([0.9, 0.97, 0.995, 1.01, 1.04, 1.2, 1.6, np.inf])
"""Where the parts end, relative to the guess."""
PRICES = np.array([0.6, 1.5])
"""Prices tried at each edge, relative to the guess."""
MARGIN = 0.002
"""First budget above the best ``L(t) + w t``, relative."""
PIECES = 4
"""Into how many a part is split at most."""
MOST_PIECES = 16
"""Parts bounded at once, about."""
SHORT = 4
"""Candidates per layer that need no further narrowing."""


class TrainingSearch:
    """One search; ``best`` is valid at any moment."""

    def __init__(self, instance: Instance, clock: Clock, best: Incumbent) -> None:
        self.instance, self.clock, self.best = instance, clock, best
        self.devices, self.weight = instance.num_devices, instance.num_microbatches - 1

    def run(self, cap: float = math.inf) -> None:
        """Bring ``best`` to the optimum over plans with no stage above ``cap`` seconds."""
        table = self.instance.table
        costs = table[table <= cap]
        largest = float(costs.max(where=costs < np.inf, initial=-np.inf))
        if largest == -np.inf:
            self.best.close()
            return
        guess = make_guess(self.instance, cap)
        parts, weights = self.first_parts(guess, largest)
        self.sharpen(parts)
        estimate = min(part.total + self.weight * part.most for part in parts)
        budget = min(estimate * (1 + MARGIN), self.best.objective)
        while True:
            self.attempt(parts, weights, budget)
            if self.best.objective <= budget or budget == math.inf:
                break
            self.best.prove(budget)
            budget = self.raised(budget, estimate)
        self.best.close()

    def sharpen(self, parts: list[Part]) -> None:
        """Try more prices on the whole table where the optimum seems to lie."""
        order = sorted(parts, key=lambda part: part.total + self.weight * part.most)[:3]
        prices = np.array([self.next_prices(part) for part in order])
        tops = np.array([part.most for part in order])
        weights = table_weights(self.instance.table, self.instance.sizes, tops, prices)
        bounds = chain_bounds(weights, prices.ravel(), self.devices)
        for p, part in enumerate(order):
            rows = bounds.rows(slice(2 * p, 2 * p + 2))
            part.bounds = part.bounds.joined(rows)
            part.total = max(part.total, float(np.fmax.reduce(rows.values)))

    def raised(self, budget: float, estimate: float) -> float:
        """Return the next budget after one that holds no plan."""
        if self.best.objective < math.inf:
            return self.best.objective
        gap = max(budget - estimate, estimate * MARGIN)
        return estimate + 8 * gap if gap < 0.5 * estimate and estimate > 0 else math.inf

    def first_parts(self, guess: Guess | None, largest: float) -> tuple[list[Part], Float]:
        """Bound the parts around the guess on the whole table."""
        if guess is None:
            edges, prices = np.array([largest]), np.array([[0.0, 0.1 * largest]])
        else:
            edges = np.unique(np.minimum(guess.threshold * EDGES, largest))
            prices = np.array([guess.price(float(edge)) for edge in edges])[:, None] * PRICES
        weights = table_weights(self.instance.table, self.instance.sizes, edges, prices)
        bounds = chain_bounds(weights, prices.ravel(), self.devices)
        count = prices.shape[1]
        parts = []
        for p, edge in enumerate(edges.tolist()):
            rows = bounds.rows(slice(p * count, (p + 1) * count))
            total = max(0.0, float(np.fmax.reduce(rows.values)))
            parts.append(Part(edges[p - 1] if p else 0.0, edge, total, rows))
        return parts, weights.reshape(len(edges), count, *weights.shape[1:])

    def attempt(self, parts: list[Part], weights: Float, budget: float) -> None:
        """Find the best plan within ``budget`` seconds, if there is one."""
        chosen = [p for p, part in enumerate(parts) if part.objective(self.weight) <= budget]
        if not chosen:
            return
        opened = [Part(q.least, q.most, q.total, q.bounds) for q in (parts[p] for p in chosen)]
        ranges = self.open_ranges(opened, weights[chosen], budget)
        listed = list_candidates(self.instance, ranges, opened[-1].most)
        for part in opened:
            part.reduced = reduced_costs(part.bounds, listed, self.devices)
        listed = shorten(listed, opened, self.weight, budget)
        shrinking = budget < math.inf
        while opened:
            if shrinking and len(listed) > SHORT * self.instance.num_layers:
                before = len(listed)
                listed, opened = self.narrow(listed, opened, min(budget, self.best.objective))
                shrinking = len(listed) < 0.8 * before and len(opened) <= 2 * MOST_PIECES
            else:
                known = self.best.objective
                listed, opened = settle(
                    self.instance, listed, opened, budget, self.clock, self.best
                )
                shrinking = self.best.objective < known and len(opened) <= 2 * MOST_PIECES

    def open_ranges(self, parts: list[Part], weights: Float, budget: float) -> Bool:
        """Mask of the ranges that some part can use within ``budget``; shape ``(K, K)``."""
        num_layers = self.instance.num_layers
        opened = np.zeros((num_layers, num_layers), dtype=bool)
        for part, weight in zip(parts, weights, strict=True):
            least, bounds = np.full((num_layers, num_layers), -np.inf), part.bounds
            for row, total in enumerate(weight):
                fixed = bounds.prices[row] * self.devices + bounds.slack[row]
                value = total + (bounds.forward[row, :-1, None] - fixed)
                value += bounds.backward[row, 1:]
                np.fmax(least, value, out=least)
            opened |= ~(least + self.weight * part.least > budget * (1 + 1e-12))
        return opened

    def narrow(
        self, listed: Candidates, parts: list[Part], budget: float
    ) -> tuple[Candidates, list[Part]]:
        """Split every part and bound its pieces by chains over the list."""
        count = min(max(MOST_PIECES // len(parts), 1), PIECES)
        pieces = [piece for part in parts for piece in _pieces(part, count)]
        if not pieces:
            return listed, []
        prices = np.array([self.next_prices(piece) for piece in pieces])
        tops = np.repeat([piece.most for piece in pieces], prices.shape[1])
        weights = list_weights(listed, tops, prices.ravel())
        bounds = chain_bounds(weights, prices.ravel(), self.devices)
        opened = []
        for p, piece in enumerate(pieces):
            rows = bounds.rows(slice(p * prices.shape[1], (p + 1) * prices.shape[1]))
            piece.total = max(piece.total, float(np.fmax.reduce(rows.values)))
            if piece.objective(self.weight) <= budget:
                piece.bounds = piece.bounds.joined(rows)
                piece.reduced = np.fmax(piece.reduced, reduced_costs(rows, listed, self.devices))
                opened.append(piece)
        return shorten(listed, opened, self.weight, budget), opened

    def next_prices(self, part: Part) -> list[float]:
        """Return a price on either side of the best one."""
        return _around(part.bounds, part.most, self.instance.use_all_devices)


def _pieces(part: Part, count: int) -> list[Part]:
    low = max(part.least, part.most / 8)
    edges = np.geomspace(low, part.most, count + 1)[1:] if low > 0 else np.array([part.most])
    edges[-1] = part.most
    lows = [part.least, *edges[:-1].tolist()]
    return [
        Part(least, most, part.total, part.bounds, part.reduced)
        for least, most in zip(lows, edges.tolist(), strict=True)
    ]


def _around(bounds: Bounds, scale: float, either_sign: bool) -> list[float]:
    order = np.argsort(bounds.prices, kind="stable")
    prices, at = bounds.prices[order], int(np.argmax(bounds.values[order]))
    best, largest = float(prices[at]), 1e6 * scale
    if at:
        low = float(prices[at - 1])
    else:
        low = best / 4 if best > 0 else 4 * best - 0.01 * scale if either_sign else 0.0
    beyond = 4 * best if best > 0 else 0.01 * scale
    high = float(prices[at + 1]) if at + 1 < len(prices) else beyond
    pair = [_middle(low, best), _middle(best, high)]
    return [min(max(price, -largest), largest) for price in pair]


def _middle(low: float, high: float) -> float:
    return math.sqrt(low * high) if low > 0 else (low + high) / 2
