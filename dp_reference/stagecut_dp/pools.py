"""Several device pools: a dynamic programme over a vector of devices, in plain NumPy.

Symbols: ``p`` a pool of ``D_p`` devices; submesh ``m`` takes ``n_m`` devices of its pool. For a
threshold ``t`` on stage costs::

    F[K, 0] = 0,   F[k, d] = min over j, m, c with cost <= t of cost[k, j, m, c] + F[j + 1, d - n_m]

with ``d`` a vector. Transfers that depend on both neighbours make the submesh of the first stage
part of the state: ``F[k, m, d]``, and what follows a stage on ``m`` is the least over ``q`` of
``transfer[k - 1, m, q] + F[k, q, d]``. An axis for the number of stages is added where a limit
needs it. A pass at ``t`` gives the least sum ``F(t)``, which falls with ``t``, so that plans whose
largest stage lies in ``[a, b]`` cost at least ``F(b) + (B - 1) a``: best-first bisection on ``t``,
each pass snapped to its plan's real largest stage. Sums are right-associated, as everywhere in this
package.
"""

import heapq
import math
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from stagecut_dp.instance import Choice
from stagecut_dp.outcome import Clock, Incumbent, Outcome, Progress, Stop
from stagecut_dp.pool_table import Int, Layout, Table
from stagecut_dp.validation import known_objective, seconds

MOST_POOLS = 3
"""More pools than this make a table too large."""

MOST_WORK = 3e9
"""Additions of one pass that are still within reason (about two seconds)."""


def pass_work(
    num_layers: int, num_submeshes: int, num_configs: int, pools: Sequence[int], staged: bool
) -> float:
    """Return the additions of one pass, the size by which a caller may choose another engine."""
    states = math.prod(float(devices) + 1 for devices in pools)
    ranges = num_layers * (num_layers + 1) / 2
    return ranges * num_submeshes * num_configs * states * (num_layers if staged else 1)


def search_pools(
    cost: npt.ArrayLike,
    sizes: npt.ArrayLike,
    pool_of: npt.ArrayLike,
    pools: Sequence[int],
    num_microbatches: int = 1,
    *,
    objective: str = "training",
    max_successors: npt.ArrayLike | None = None,
    use_all_devices: bool = True,
    min_stages: int = 1,
    max_stages: int | None = None,
    transfers: npt.ArrayLike | None = None,
    time_limit: float | None = None,
    progress: Progress | None = None,
) -> Outcome:
    """Find the best plan on several pools of devices.

    Parameters
    ----------
    cost
        Seconds, shape ``(K, K, S, C)``; ``inf`` = not allowed.
    sizes, pool_of
        Shape ``(S,)``: devices of each submesh, and the index of the pool that they come from.
    pools
        Devices of each pool.
    num_microbatches, objective, max_successors, use_all_devices, min_stages, max_stages
        As for :func:`stagecut_dp.solve`; ``use_all_devices`` holds for every pool.
    transfers
        Seconds, shape ``(K - 1, S, S)``: at the cut after a layer, from one submesh to the next.
    time_limit, progress
        As for :func:`stagecut_dp.search`.

    Examples
    --------
    >>> table = np.full((2, 2, 2, 1), np.inf)
    >>> table[0, 0], table[1, 1] = [[1.0], [3.0]], [[2.0], [5.0]]
    >>> search_pools(table, [1, 1], [0, 1], [1, 1]).plan  # 3 + 2 and not 1 + 5
    [(0, 0, 1, 0), (1, 1, 0, 0)]
    """
    known_objective(objective)
    table = np.asarray(cost, dtype=np.float64)
    limits = None if max_successors is None else np.asarray(max_successors, dtype=np.int64)
    layout = Layout(
        np.asarray(sizes, dtype=np.int64),
        np.asarray(pool_of, dtype=np.int64),
        tuple(map(int, pools)),
        use_all_devices,
    )
    sent = None if transfers is None else np.asarray(transfers, dtype=np.float64)
    free = Table(table, None, sent, layout, objective, num_microbatches)
    clock, best = Clock(seconds("time_limit", time_limit)), Incumbent(progress)
    stopped = None
    counts = (min_stages, min(max_stages or len(table), free.most_stages(limits)))
    try:
        relaxed = Incumbent()
        _search(free, clock, relaxed)
        if relaxed.plan is not None and _obeys(relaxed.plan, limits, counts):
            best.offer(relaxed.objective, relaxed.plan)
        elif relaxed.plan is not None and counts[0] <= counts[1]:
            counted = replace(layout, stages=counts)
            _search(Table(table, limits, sent, counted, objective, num_microbatches), clock, best)
        best.close()
    except Stop:
        stopped = "time"
    except KeyboardInterrupt:
        stopped = "interrupt"
    return Outcome(best.objective, best.plan, best.bound, clock.passes, stopped)


def _obeys(plan: list[Choice], limits: Int | None, counts: tuple[int, int]) -> bool:
    """Whether a plan keeps to its successor limits and to the number of stages."""
    if not counts[0] <= len(plan) <= counts[1]:
        return False
    after = range(len(plan) - 1, -1, -1)
    return limits is None or all(limits[c] >= s for c, s in zip(plan, after, strict=True))


def _search(table: Table, clock: Clock, best: Incumbent) -> None:
    """Best-first bisection on the largest stage cost."""
    costs = table.thresholds
    open_parts: list[tuple[float, int, int, float]] = []

    def push(low: int, high: int, total: float) -> None:
        if high >= low:
            heapq.heappush(open_parts, (table.value(total, float(costs[low])), low, high, total))

    def look(low: int, high: int) -> None:
        total, plan = table.run(float(costs[high]), clock)
        if math.isinf(total):
            return
        largest = table.largest(plan)
        best.offer(table.value(total, largest), plan)
        if table.objective != "latency":
            push(low, int(np.searchsorted(costs, largest)) - 1, total)

    if len(costs):
        look(0, len(costs) - 1)
    while open_parts:
        bound, low, high, total = heapq.heappop(open_parts)
        best.prove(bound)
        better = range(low, high + 1)
        count = bisect_left(
            better, best.objective, key=lambda t: table.value(total, float(costs[t]))
        )
        if count == 0:
            return
        high = low + count - 1
        middle = (low + high) // 2
        if middle < high:
            push(middle + 1, high, total)
        look(low, middle)
