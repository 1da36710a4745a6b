"""The training objective: sum of stage costs + (B - 1) x largest stage cost.

Symbols: ``t`` a threshold on the stage cost, ``λ`` the price of a device, ``w = B - 1``.

1. Guess from a coarse chain where the best ``t`` and ``λ`` lie (:mod:`stagecut_dp.guess`).
2. Split the range of ``t`` into parts around it and bound each by chains over layers alone.
3. Assume that the optimum is within a budget just above the best ``L(t) + w t``; list the stages
   that a plan within it can use; narrow parts and list further, on the list alone.
4. Settle what is left by exact passes. No plan within the budget proves it a bound: raise it.
"""

import math
from dataclasses import replace

import numpy as np

from stagecut_dp.candidates import Candidates, list_candidates
from stagecut_dp.chains import list_weights
from stagecut_dp.first_look import first_parts, open_ranges, sharpen
from stagecut_dp.guess import make_guess
from stagecut_dp.instance import Float, Instance
from stagecut_dp.outcome import Clock, Incumbent
from stagecut_dp.parts import Part, chain_bounds, cut_parts, reduced_costs
from stagecut_dp.prices import Curve, estimate, is_sharp, likely_top, next_prices, own_bounds
from stagecut_dp.settle import priced_plan, settle, shorten
from stagecut_dp.small import MOST_WORK, PASS_WORK, least_small, work
from stagecut_dp.staged_parts import enter_nodes, tighten_staged
from stagecut_dp.stages import keeps_counts

LIMITED_MARGIN = 0.004
"""The same above the optimum without limits."""
MARGIN = 0.002
"""First budget above the best ``L(t) + w t``, relative."""
GROWTH = 8
"""How much further above the estimate the next budget lies."""
MOST_OPEN = 16
"""Parts above which no part is cut further."""
SHORT = 4
"""Candidates per layer that need no further narrowing."""


class TrainingSearch:
    """One search; ``best`` is valid at any moment."""

    plain = True
    """Whether small instances take passes at several thresholds without bounds."""

    def __init__(self, instance: Instance, clock: Clock, best: Incumbent) -> None:
        self.instance, self.clock, self.best = instance, clock, best
        self.devices, self.weight = instance.num_devices, instance.num_microbatches - 1
        self.limited = False
        self.cap, self.hoping = math.inf, True

    def run(self, cap: float = math.inf) -> None:
        """Bring ``best`` to the optimum over plans with no stage above ``cap`` seconds."""
        self.cap = cap
        if self.plain and work(self.instance) <= MOST_WORK:
            least_small(self.instance, cap, self.clock, self.best)
            return
        costs = self.instance.table[self.instance.table <= cap]
        largest = float(costs.max(where=costs < np.inf, initial=-np.inf))
        if largest > -np.inf:
            guess = make_guess(self.instance, cap)
            parts, weights = first_parts(self.instance, guess, largest)
            if parts:
                sharpen(self.instance, parts)
                self.search(parts, weights)
        self.best.close()

    def search(self, parts: list[Part], weights: Float) -> None:
        """Raise the budget until it holds a plan: first without limits, then with them."""
        likely = self.aim(parts)
        if not self.instance.counts_stages:
            self.raise_budget(parts, weights, likely, MARGIN)
            return
        relaxed = self.without_counts(parts, weights, likely)
        if relaxed.plan is None or relaxed.path is None:
            return
        if keeps_counts(self.instance, relaxed.path):
            self.best.offer(relaxed.objective, relaxed.plan, relaxed.path)
            return
        self.limited = True
        self.raise_budget(parts, weights, relaxed.objective, LIMITED_MARGIN)

    def try_coarse(self) -> None:
        """Offer the best plan with few places to cut."""
        num_layers = self.instance.num_layers
        pieces = num_layers // 4 if num_layers >= 96 else num_layers // 2
        if pieces < 12:
            return
        coarse = Incumbent()
        TrainingSearch(self.instance.coarse(pieces), self.clock, coarse).run(self.cap)
        if coarse.path is not None:
            cuts = np.arange(pieces + 1) * num_layers // pieces
            path = replace(
                coarse.path,
                num_layers=num_layers,
                first=cuts[coarse.path.first],
                last=cuts[coarse.path.last + 1] - 1,
            )
            self.best.offer(*priced_plan(self.instance, path), path)

    def aim(self, parts: list[Part]) -> float:
        """Set where to cut parts and how prices fall; return about the optimum, seconds."""
        hopeful = min(parts, key=lambda part: estimate(part, self.devices, self.weight))
        self.centre, self.curve = likely_top(hopeful), Curve.through(parts)
        return estimate(hopeful, self.devices, self.weight)

    def without_counts(self, parts: list[Part], weights: Float, likely: float) -> Incumbent:
        """Return the optimum without limits and rules on stages: a bound, and perhaps enough."""
        wanted, self.best = self.best, Incumbent()
        try:
            self.raise_budget(parts, weights, likely, MARGIN)
            self.best.close()
        finally:
            wanted.prove(self.best.bound)
            relaxed, self.best = self.best, wanted
        return relaxed

    def raise_budget(self, parts: list[Part], weights: Float, likely: float, margin: float) -> None:
        """Search within growing budgets above ``likely`` seconds."""
        budget = min(likely * (1 + margin), self.best.objective)
        self.hoping = not self.limited
        while True:
            asked, budget = budget, self.attempt(parts, weights, budget)
            if self.best.objective <= budget or budget == math.inf:
                return
            self.best.prove(budget)
            lost = self.limited and self.best.objective == math.inf
            if lost and budget > 1.03 * likely:
                self.try_coarse()
            if budget < asked:
                budget, self.hoping = asked, False
            else:
                gap = max(budget - likely, likely * margin)
                budget = likely + GROWTH * gap if gap < 0.5 * likely < math.inf else math.inf
            budget = min(budget, self.best.objective)

    def attempt(self, parts: list[Part], weights: Float, budget: float) -> float:
        """Find the best plan within ``budget`` seconds, if there is one.

        Returns the budget that was searched in full: a smaller one where narrower parts show that
        the optimum is likely to be smaller.
        """
        chosen = [p for p, part in enumerate(parts) if part.objective(self.weight) <= budget]
        if not chosen:
            return budget
        opened = [Part(q.least, q.most, q.total, q.bounds) for q in (parts[p] for p in chosen)]
        ranges = open_ranges(self.instance, opened, weights[chosen], budget)
        listed = list_candidates(self.instance, ranges, opened[-1].most)
        for part in opened:
            part.reduced = reduced_costs(part.bounds, listed, self.devices)
        listed = shorten(listed, opened, self.weight, budget)
        shrinking = budget < math.inf
        while opened:
            long = max(SHORT * self.instance.num_layers, PASS_WORK // (self.devices + 1))
            if shrinking and len(listed) > long:
                before = len(listed)
                listed, opened = self.narrow(listed, opened, min(budget, self.best.objective))
                hope = self.hope(opened) if self.hoping else math.inf
                if hope < budget:
                    budget = hope
                    listed = shorten(listed, opened, self.weight, budget)
                shrinking = len(listed) < 0.8 * before and len(opened) <= MOST_OPEN
                continue
            if self.limited:
                self.settle_limited(listed, opened, budget)
                return budget
            known = self.best.objective
            listed, opened = self.settle(listed, opened, budget)
            shrinking = self.best.objective < known and len(opened) <= MOST_OPEN
        return budget

    def settle_limited(self, listed: Candidates, parts: list[Part], budget: float) -> None:
        """Settle parts on stages that know how many follow."""
        staged = enter_nodes(self.instance, listed, parts, min(budget, self.best.objective))
        known, tightened = math.inf, math.inf
        while parts:
            self.clock.check()
            limit = min(budget, self.best.objective)
            if limit < known or len(staged) < 0.7 * tightened:
                pieces = parts if known == math.inf else cut_parts(parts, self.centre)
                staged, parts = tighten_staged(self.instance, staged, pieces, limit)
                known, tightened = limit, len(staged)
            if parts:
                staged, parts = self.settle(staged, parts, budget)

    def hope(self, parts: list[Part]) -> float:
        """Return a budget just above the best estimate of a part with sharp bounds."""
        best = math.inf
        for part in parts:
            own = Part(part.least, part.most, part.total, own_bounds(part))
            if is_sharp(own, self.devices):
                best = min(best, estimate(own, self.devices, self.weight))
        return best * (1 + MARGIN)

    def settle[C: Candidates](
        self, listed: C, parts: list[Part], budget: float
    ) -> tuple[C, list[Part]]:
        """Run one exact pass; return what may still improve on the incumbent."""
        return settle(self.instance, listed, parts, budget, self.clock, self.best)

    def narrow(
        self, listed: Candidates, parts: list[Part], budget: float
    ) -> tuple[Candidates, list[Part]]:
        """Split every part and bound its pieces by chains over the list."""
        for part in parts:
            part.lower_top(self.weight, budget)
        pieces = cut_parts(parts, self.centre)
        if not pieces:
            return listed, []
        prices = np.array([next_prices(self.instance, piece, self.curve) for piece in pieces])
        tops = np.repeat([piece.most for piece in pieces], prices.shape[1])
        weights = list_weights(listed, tops, prices.ravel())
        bounds = chain_bounds(self.instance, weights, tops, prices.ravel())
        opened = []
        for p, piece in enumerate(pieces):
            rows = bounds.rows(slice(p * prices.shape[1], (p + 1) * prices.shape[1]))
            piece.total = max(piece.total, float(np.fmax.reduce(rows.values)))
            if piece.objective(self.weight) <= budget:
                piece.bounds = piece.bounds.joined(rows)
                piece.lower_top(self.weight, budget)
                piece.reduced = np.fmax(piece.reduced, reduced_costs(rows, listed, self.devices))
                opened.append(piece)
        return shorten(listed, opened, self.weight, budget), opened
