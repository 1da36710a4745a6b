"""Plain bisection on the threshold, one full pass each: slow, and independent of the package.

Only the training objective. ``F[s, k, d]`` with a stage axis where a limit asks for it.
"""

import heapq
import math

import numpy as np

type Array = np.ndarray


def plain_training(
    cost: Array,
    sizes: Array,
    num_devices: int,
    num_microbatches: int,
    limits: Array | None,
    use_all_devices: bool,
) -> float:
    """Return the least sum + (B - 1) x largest, ``inf`` without a plan."""
    table = np.where(np.tri(len(cost), k=-1, dtype=bool)[..., None], np.inf, cost)
    if limits is not None:
        table = np.where(limits < 0, np.inf, table)
    levels = np.unique(table[np.isfinite(table)])
    weight, best = num_microbatches - 1, math.inf
    heap = [(-math.inf, 0, len(levels) - 1, -math.inf)]
    first = True
    while heap:
        bound, low, high, least = heapq.heappop(heap)
        if bound >= best or low > high:
            continue
        middle = high if first else (low + high) // 2
        first = False
        total = least_sum(table, sizes, num_devices, float(levels[middle]), limits, use_all_devices)
        best = min(best, total + weight * float(levels[middle]))
        if total < math.inf and middle > low:
            heapq.heappush(heap, (total + weight * float(levels[low]), low, middle - 1, total))
        if middle < high:
            heapq.heappush(
                heap, (least + weight * float(levels[middle + 1]), middle + 1, high, least)
            )
    return best


def least_sum(
    table: Array,
    sizes: Array,
    num_devices: int,
    threshold: float,
    limits: Array | None,
    use_all_devices: bool,
) -> float:
    """Return the least sum with no stage above ``threshold``."""
    layers = len(table)
    counts = 1 if limits is None else layers + 1
    best = np.full((layers + 1, counts, num_devices + 1), np.inf)
    best[layers, 0, 0 if use_all_devices else slice(None)] = 0.0
    follow = np.arange(counts)[:, None]
    for first in range(layers - 1, -1, -1):
        for last in range(first, layers):
            for m, size in enumerate(sizes.tolist()):
                price = table[first, last, m]
                if price > threshold or size > num_devices or price == np.inf:
                    continue
                tail = price + best[last + 1, :, : num_devices + 1 - size]
                if limits is None:
                    here = best[first, :, size:]
                else:
                    tail = np.where(follow <= limits[first, last, m], tail, np.inf)[:-1]
                    here = best[first, 1:, size:]
                np.minimum(here, tail, out=here)
    return float(best[0, :, num_devices].min())
