"""Exact passes over a short list until no part can hold a better plan.

Symbols: ``F(t)`` = least sum with no stage above ``t``; ``w = B - 1``. Plans with a largest stage
cost in ``(s, t]`` cost at least ``F(t) + w s'`` with ``s'`` the next cost above ``s``, in float64
as in the reals. Each pass takes several thresholds at once and splits the parts at them. ``F`` is
the same from the largest stage of the path behind ``F(t)`` up to ``t``: that path is best there.
"""

import math
from bisect import bisect_left, bisect_right
from collections.abc import Callable

import numpy as np

from stagecut_dp.candidates import Candidates
from stagecut_dp.device_pass import Windows, within
from stagecut_dp.instance import Choice, Float, Instance
from stagecut_dp.levels import run_levels
from stagecut_dp.outcome import Clock, Incumbent
from stagecut_dp.parts import Part, device_windows

WORK = 400_000
"""Values that a pass may combine before it takes fewer thresholds."""
MOST_THRESHOLDS = 24
"""Thresholds in one pass."""
FEW = 8
"""Thresholds up to which a pass also settles those from a path's largest stage to its own."""


def settle[C: Candidates](
    instance: Instance,
    candidates: C,
    parts: list[Part],
    budget: float,
    clock: Clock,
    best: Incumbent,
) -> tuple[C, list[Part]]:
    """Run one pass; return what candidates and parts may still improve on ``best``."""
    weight = instance.num_microbatches - 1
    parts = _pass(instance, candidates, parts, budget, clock, best)
    if best.objective <= budget:
        budget = best.objective
        parts = [part for part in parts if part.objective(weight) < budget]
    parts = [part for part in parts if part.objective(weight) <= budget]
    if parts:
        best.prove(min(budget, *(part.objective(weight) for part in parts)))
        candidates = shorten(candidates, parts, weight, budget)
    return candidates, parts


def shorten[C: Candidates](candidates: C, parts: list[Part], weight: int, budget: float) -> C:
    """Drop the candidates that no part can use within ``budget``."""
    used = np.zeros(len(candidates), dtype=bool)
    for part in parts:
        used |= part.useful(candidates, weight, budget)
    kept = np.flatnonzero(used)
    if len(kept) < len(used):
        for part in parts:
            part.reduced = part.reduced[kept]
    return candidates.take(kept)


def joint_windows(instance: Instance, parts: list[Part], budget: float) -> Windows:
    """Return windows that hold every plan within ``budget`` of every part."""
    devices, weight = instance.num_devices, instance.num_microbatches - 1
    each = [device_windows(part, devices, weight, budget) for part in parts]
    fewest = np.min([low for low, _ in each], axis=0)
    most = np.max([high for _, high in each], axis=0)
    empty = fewest > most
    fewest[empty], most[empty] = devices + 1, -1
    fewest[-1] = 0 if most[-1] >= 0 else fewest[-1]
    return Windows(fewest.astype(np.int64), most.astype(np.int64))


def _pass(
    instance: Instance,
    candidates: Candidates,
    parts: list[Part],
    budget: float,
    clock: Clock,
    best: Incumbent,
) -> list[Part]:
    devices, weight = instance.num_devices, instance.num_microbatches - 1
    windows = joint_windows(instance, parts, budget)
    kept = within(candidates, windows)
    listed = candidates.take(kept)
    levels = _levels(listed, parts)
    if not len(levels) or windows.most[0] < devices or windows.fewest[0] > devices:
        return []
    thresholds = pick_thresholds(levels, len(listed) * windows.width)
    clock.tick()
    done = run_levels(instance, listed, windows, thresholds)

    def offer(row: int) -> float:
        """Offer the path of a threshold; return its largest stage cost, seconds."""
        path = done.path(row)
        top = float(path.cost.max())
        if done.sums[row] + weight * top < best.objective:
            best.offer(*priced_plan(instance, path), path)
        return top

    objectives = done.sums + weight * thresholds
    row = int(np.argmin(objectives))
    if objectives[row] < best.objective:
        offer(row)
    known, sums = np.searchsorted(levels, thresholds).tolist(), done.sums.tolist()
    settled = offer if len(known) <= FEW else lambda row: float(thresholds[row])
    return _split(parts, levels.tolist(), known, sums, settled, weight, budget)


def _levels(listed: Candidates, parts: list[Part]) -> Float:
    """Return the distinct costs that may be the largest of a plan of some part."""
    costs = np.unique(listed.cost)
    wanted = np.zeros(len(costs), dtype=bool)
    for part in parts:
        low, high = np.searchsorted(costs, part.least), np.searchsorted(costs, part.most, "right")
        wanted[low:high] = True
    return costs[wanted]


def pick_thresholds(levels: Float, work: int) -> Float:
    """Return evenly spread levels, the last among them; as many as the work allows."""
    count = min(max(WORK // max(work, 1), 2), MOST_THRESHOLDS, len(levels))
    at = np.arange(1, count + 1) * len(levels) // count - 1
    return levels[at]


def priced_plan(instance: Instance, path: Candidates) -> tuple[float, list[Choice]]:
    """Return the training objective, seconds, and the stages of a path."""
    total = 0.0
    for cost in reversed(path.cost.tolist()):
        total = cost + total
    objective = total + (instance.num_microbatches - 1) * float(path.cost.max())
    return objective, named_plan(instance, path)


def named_plan(instance: Instance, path: Candidates) -> list[Choice]:
    """Return the stages of a path as the caller numbers them."""
    columns = (path.first.tolist(), path.last.tolist(), path.choice.tolist())
    return [instance.named(*stage) for stage in zip(*columns, strict=True)]


def _split(
    parts: list[Part],
    costs: list[float],
    known: list[int],
    totals: list[float],
    settled: Callable[[int], float],
    weight: int,
    budget: float,
) -> list[Part]:
    """Split the parts at the levels ``known``, whose sums are ``totals``.

    Each is settled, and so are the levels below it down to ``settled(row)`` seconds.
    """
    pieces = []
    for part in parts:
        low, high = bisect_left(costs, part.least), bisect_right(costs, part.most) - 1
        row = bisect_left(known, low)
        while low <= high and row < len(known):
            upto = min(known[row] - 1, high)
            total = max(part.total, totals[row])
            some = low <= upto and total < math.inf
            if some and total + weight * costs[low] <= budget:
                upto = min(upto, bisect_left(costs, settled(row)) - 1)
                if low <= upto:
                    pieces.append(Part(costs[low], costs[upto], total, part.bounds, part.reduced))
            low, row = known[row] + 1, row + 1
    return pieces
