"""The stage axis: successor limits and rules on the number of stages.

Symbols: ``s`` stages that follow; ``G[s, k]`` least weight of layers ``0..k-1`` when ``s`` stages
follow, ``H[s, k]`` least weight of layers ``k..K-1`` in exactly ``s`` stages, with a stage of cost
``c`` on ``n`` devices weighing ``c + λ n``. A stage of limit ``p`` may be used where ``s <= p``.
"""

from dataclasses import dataclass

import numpy as np

from stagecut_dp.candidates import Candidates
from stagecut_dp.instance import Float, Instance, Int
from stagecut_dp.parts import ROUNDING


@dataclass(frozen=True, slots=True)
class StageAxis:
    """Bounds on the number of stages of a plan, both included."""

    least: int
    most: int


@dataclass(frozen=True, slots=True)
class StagedBounds:
    """Bounds by chains that count stages.

    Parameters
    ----------
    totals
        Lower bound on the sum of plans in ``least, least + 1, ...`` stages, seconds.
    reduced
        Lower bound on the sum of plans through each candidate, shape ``(R,)``, seconds.
    """

    totals: Float
    reduced: Float


def keeps_counts(instance: Instance, path: Candidates) -> bool:
    """Whether a path keeps the rules on stages and every successor limit."""
    if not instance.min_stages <= len(path) <= instance.max_stages:
        return False
    follow = np.arange(len(path))[::-1]
    return path.limit is None or bool((path.limit >= follow).all())


def longest_chain(candidates: Candidates) -> int:
    """Return the most stages that candidates can form, 0 if they form no plan."""
    num_layers, starts = candidates.num_layers, candidates.starts()
    most = np.full(num_layers + 1, -1, dtype=np.int64)
    most[num_layers] = 0
    for k in range(num_layers - 1, -1, -1):
        if starts[k] < starts[k + 1]:
            behind = int(most[candidates.last[starts[k] : starts[k + 1]] + 1].max())
            most[k] = behind + 1 if behind >= 0 else -1
    return max(int(most[0]), 0)


def staged_bounds(
    candidates: Candidates, price: float, num_devices: int, least: int, most: int
) -> StagedBounds:
    """Bound plans in ``least..most`` stages at one price of a device, seconds."""
    weights = candidates.cost + price * candidates.devices
    backward = _backward(candidates, weights, most)
    forward = _forward(candidates, weights, least, most)
    finite = np.concatenate([forward[np.isfinite(forward)], backward[np.isfinite(backward)]])
    scale = float(np.abs(finite).max(initial=0.0)) + abs(price) * num_devices
    fixed = price * num_devices + ROUNDING * (candidates.num_layers + 4) * scale
    reduced = np.full(len(candidates), np.inf)
    for low in range(0, len(candidates), 4096):
        here = slice(low, low + 4096)
        around = forward[candidates.first[here], 1:] + backward[candidates.last[here] + 1, :-1]
        if candidates.limit is not None:
            around[candidates.limit[here, None] < np.arange(most)] = np.inf
        reduced[here] = around.min(axis=1, initial=np.inf)
    return StagedBounds(backward[0, least:] - fixed, reduced + weights - fixed)


def best_staged(
    candidates: Candidates, price: float, num_devices: int, least: int, most: int
) -> StagedBounds:
    """Bound plans at a price, then at others while that raises the bound."""
    best = staged_bounds(candidates, price, num_devices, least, most)
    for factor in (1.6, 0.6):
        tried = price
        for _ in range(4):
            tried *= factor
            other = staged_bounds(candidates, tried, num_devices, least, most)
            better = other.totals.min(initial=np.inf) > best.totals.min(initial=np.inf)
            best = StagedBounds(
                np.fmax(best.totals, other.totals), np.fmax(best.reduced, other.reduced)
            )
            if not better:
                break
    return best


def _backward(candidates: Candidates, weights: Float, most: int) -> Float:
    """Return ``H``, shape ``(K + 1, most + 1)``."""
    num_layers, starts = candidates.num_layers, candidates.starts()
    backward = np.full((num_layers + 1, most + 1), np.inf)
    backward[num_layers, 0] = 0.0
    follow = np.arange(most)
    for k in range(num_layers - 1, -1, -1):
        here = slice(starts[k], starts[k + 1])
        if starts[k] < starts[k + 1]:
            value = backward[candidates.last[here] + 1, :-1]
            value += weights[here, None]
            if candidates.limit is not None:
                value[candidates.limit[here, None] < follow] = np.inf
            np.minimum.reduce(value, axis=0, out=backward[k, 1:])
    return backward


def _forward(candidates: Candidates, weights: Float, least: int, most: int) -> Float:
    """Return ``G``, shape ``(K + 1, most + 1)``."""
    num_layers = candidates.num_layers
    order = np.argsort(candidates.last, kind="stable")
    last: Int = candidates.last[order]
    starts = np.searchsorted(last, np.arange(num_layers + 1)).tolist()
    forward = np.full((num_layers + 1, most + 1), np.inf)
    forward[0, least:] = 0.0
    follow = np.arange(most)
    for j in range(num_layers):
        here = order[starts[j] : starts[j + 1]]
        if len(here):
            value = forward[candidates.first[here], 1:]
            value += weights[here, None]
            if candidates.limit is not None:
                value[candidates.limit[here, None] < follow] = np.inf
            np.minimum.reduce(value, axis=0, out=forward[j + 1, :-1])
    return forward
