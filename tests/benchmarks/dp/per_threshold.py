"""One compiled DP per threshold, with numba: two baselines.

Thresholds ``t`` ascend over the distinct costs. For each, ``F[k, d]`` = least sum of layers ``k..``
on exactly ``d`` devices with stage costs at most ``t``; the search ends when ``B t`` alone is no
better than the best plan.

- :func:`solve` stands for what people use today: devices in the outer loop, the allowed candidates
  listed anew for each threshold, and for every state the best stage behind it and the number of
  stages, with a check of a successor limit.
- :func:`solve_lean` keeps only what the value needs: candidates listed once, sums alone, and an
  inner loop over devices that the compiler can vectorise. It is the strongest plain method that we
  could write, and the stricter yardstick.
"""

import math

import numba
import numpy as np
import numpy.typing as npt

type Float = npt.NDArray[np.float64]
type Int = npt.NDArray[np.int64]


def solve(cost: Float, sizes: Int, num_devices: int, num_microbatches: int) -> float:
    """Return the least sum + (B - 1) x largest over plans on exactly ``D`` devices, seconds."""
    first, last, devices, costs = _listed(cost, sizes, num_devices)
    order = np.argsort(costs, kind="stable")
    first, last, devices, costs = first[order], last[order], devices[order], costs[order]
    most_successors = np.full(len(costs), 4096)
    best = math.inf
    for threshold in np.unique(costs).tolist():
        if threshold * num_microbatches >= best:
            break
        allowed = costs <= threshold
        # Back to front: what follows a stage is known before it.
        chosen = np.flatnonzero(allowed)
        chosen = chosen[np.lexsort((last[chosen], -first[chosen]))]
        total = _fill(
            len(cost),
            num_devices,
            first[chosen],
            last[chosen],
            devices[chosen],
            costs[chosen],
            most_successors[chosen],
        )
        best = min(best, total + (num_microbatches - 1) * threshold)
    return best


def solve_lean(cost: Float, sizes: Int, num_devices: int, num_microbatches: int) -> float:
    """Return the same by the leanest loops."""
    first, last, devices, costs = _listed(cost, sizes, num_devices)
    order = np.lexsort((last, -first))
    return float(
        _search(
            len(cost),
            num_devices,
            num_microbatches,
            first[order],
            last[order],
            devices[order],
            costs[order],
            np.unique(costs),
        )
    )


def _listed(cost: Float, sizes: Int, num_devices: int) -> tuple[Int, Int, Int, Float]:
    first, last, submesh = np.nonzero(np.isfinite(cost))
    inside = (first <= last) & (sizes[submesh] <= num_devices)
    first, last, submesh = first[inside], last[inside], submesh[inside]
    return first, last, sizes[submesh], cost[first, last, submesh]


@numba.njit(cache=False)
def _fill(
    num_layers: int,
    num_devices: int,
    first: Int,
    last: Int,
    devices: Int,
    costs: Float,
    most_successors: Int,
) -> float:
    best = np.full((num_layers + 1, num_devices + 1), np.inf)
    stages = np.full((num_layers + 1, num_devices + 1), -1)
    choice = np.full((num_layers + 1, num_devices + 1), -1)
    best[num_layers, 0] = 0.0
    stages[num_layers, 0] = 0
    for d in range(1, num_devices + 1):
        for e in range(len(costs)):
            left = d - devices[e]
            if left < 0:
                continue
            i, behind = first[e], last[e] + 1
            if stages[behind, left] < 0 or stages[behind, left] > most_successors[e]:
                continue
            value = costs[e] + best[behind, left]
            if value < best[i, d]:
                best[i, d] = value
                stages[i, d] = stages[behind, left] + 1
                choice[i, d] = e
    return best[0, num_devices]


@numba.njit(cache=False)
def _search(
    num_layers: int,
    num_devices: int,
    num_microbatches: int,
    first: Int,
    last: Int,
    devices: Int,
    costs: Float,
    thresholds: Float,
) -> float:
    best = math.inf
    table = np.empty((num_layers + 1, num_devices + 1))
    for threshold in thresholds:
        if threshold * num_microbatches >= best:
            break
        table[:] = math.inf
        table[num_layers, 0] = 0.0
        for e in range(len(costs)):
            cost = costs[e]
            if cost > threshold:
                continue
            head = table[first[e]]
            tail = table[last[e] + 1]
            shift = devices[e]
            for d in range(shift, num_devices + 1):
                value = cost + tail[d - shift]
                if value < head[d]:
                    head[d] = value
        total = table[0, num_devices] + (num_microbatches - 1) * threshold
        best = min(best, total)
    return best
