"""One compiled DP per threshold: what people use today, with numba.

Thresholds ``t`` ascend over the distinct costs. For each, ``F[k, d]`` = least sum of layers ``k..``
on exactly ``d`` devices with stage costs at most ``t``; the search ends when ``B t`` alone is no
better than the best plan. Only the recurrence's own loops are compiled and measured: candidates
are listed and sorted before.
"""

import math

import numba
import numpy as np
import numpy.typing as npt

type Float = npt.NDArray[np.float64]
type Int = npt.NDArray[np.int64]


def solve(cost: Float, sizes: Int, num_devices: int, num_microbatches: int) -> float:
    """Return the least sum + (B - 1) x largest over plans on exactly ``D`` devices, seconds."""
    num_layers = len(cost)
    first, last, submesh = np.nonzero(np.isfinite(cost))
    inside = (first <= last) & (sizes[submesh] <= num_devices)
    first, last, submesh = first[inside], last[inside], submesh[inside]
    costs = cost[first, last, submesh]
    order = np.lexsort((last, -first))
    return float(
        _search(
            num_layers,
            num_devices,
            num_microbatches,
            first[order],
            last[order],
            sizes[submesh[order]],
            costs[order],
            np.unique(costs),
        )
    )


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
