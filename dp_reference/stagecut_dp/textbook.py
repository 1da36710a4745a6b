"""The plain recurrence, simple enough to check by eye.

``F[s, k, d]`` = least sum of ``s`` stages that hold layers ``k..K-1`` on exactly ``d`` devices with
no stage cost above ``t`` (Zheng et al., OSDI 2022, eq. 3)::

    F[0, K, 0] = 0
    F[s, k, d] = min over i..j = k..j, m, c with cost <= t and s - 1 <= max_successors of
                 cost[k, j, m, c] + F[s - 1, j + 1, d - sizes[m]]

Every distinct cost is tried as ``t``. Slow, and meant to be: the fast path is compared with it.
"""

import math

import numpy as np
import numpy.typing as npt

type Choice = tuple[int, int, int, int]


def solve(
    cost: npt.ArrayLike,
    sizes: npt.ArrayLike,
    num_devices: int,
    num_microbatches: int = 1,
    *,
    objective: str = "training",
    max_successors: npt.ArrayLike | None = None,
    use_all_devices: bool = True,
    min_stages: int | None = None,
    max_stages: int | None = None,
) -> tuple[float, list[Choice] | None]:
    """Solve one instance; arguments and result as in :func:`stagecut_dp.solve`.

    Examples
    --------
    >>> import numpy as np
    >>> cost = np.array([[[1.0], [3.0]], [[np.inf], [2.0]]])
    >>> solve(cost, [1], 2, 4)  # 1 + 2 + (4 - 1) * 2
    (9.0, [(0, 0, 0, 0), (1, 1, 0, 0)])
    """
    table = np.asarray(cost, dtype=np.float64)
    limits = np.full(table.shape, len(table)) if max_successors is None else max_successors
    stages = _stages(table, np.asarray(limits), np.asarray(sizes).tolist())
    counts = range(min_stages or 1, min(max_stages or len(table), len(table)) + 1)
    devices = [num_devices] if use_all_devices else range(1, num_devices + 1)
    value, plan = math.inf, None
    for threshold in sorted({stage[3] for stages_at in stages for stage in stages_at}):
        best = _recurrence(stages, threshold, num_devices)
        for s in counts:
            for d in devices:
                if (0, s, d) not in best:
                    continue
                candidate = _path(best, s, d)
                new = _value(objective, candidate, num_microbatches)
                if new < value:
                    value, plan = new, [choice for choice, _ in candidate]
    return value, plan


def _stages(
    table: npt.NDArray[np.float64], limits: npt.NDArray[np.int64], sizes: list[int]
) -> list[list[tuple[int, Choice, int, float]]]:
    """For each first layer: (devices, choice, max successors, cost) of every allowed stage."""
    four = table if table.ndim == 4 else table[..., None]
    most = limits.reshape(four.shape)
    found: list[list[tuple[int, Choice, int, float]]] = [[] for _ in four]
    for i, j, m, c in np.argwhere(np.isfinite(four)).tolist():
        if i <= j:
            stage = (sizes[m], (i, j, m, c), int(most[i, j, m, c]), float(four[i, j, m, c]))
            found[i].append(stage)
    return found


type _Entry = tuple[float, tuple[Choice, float, int, int] | None]


def _recurrence(
    stages: list[list[tuple[int, Choice, int, float]]], threshold: float, num_devices: int
) -> dict[tuple[int, int, int], _Entry]:
    """``best[k, s, d]`` = (least sum, its first stage and what follows)."""
    num_layers = len(stages)
    best: dict[tuple[int, int, int], _Entry] = {(num_layers, 0, 0): (0.0, None)}
    for k in range(num_layers - 1, -1, -1):
        for n, choice, successors, cost in stages[k]:
            if cost > threshold:
                continue
            for s in range(1, min(num_layers - k, successors + 1) + 1):
                for d in range(n, num_devices + 1):
                    tail = best.get((choice[1] + 1, s - 1, d - n))
                    if tail is None:
                        continue
                    total = cost + tail[0]
                    if (k, s, d) not in best or total < best[k, s, d][0]:
                        best[k, s, d] = (total, (choice, cost, s - 1, d - n))
    return best


def _path(best: dict[tuple[int, int, int], _Entry], s: int, d: int) -> list[tuple[Choice, float]]:
    path = []
    step = best[0, s, d][1]
    while step is not None:
        choice, cost, s, d = step
        path.append((choice, cost))
        step = best[choice[1] + 1, s, d][1]
    return path


def _value(objective: str, path: list[tuple[Choice, float]], num_microbatches: int) -> float:
    total = 0.0
    for _, cost in reversed(path):
        total = cost + total
    largest = max(cost for _, cost in path)
    return {
        "training": total + (num_microbatches - 1) * largest,
        "bottleneck": largest,
        "latency": total,
        "stages_times_bottleneck": len(path) * largest,
    }[objective]
