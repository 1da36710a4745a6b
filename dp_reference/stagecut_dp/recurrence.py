"""The recurrence over layers and devices, with or without a stage axis.

``F[k, d]`` is the least value of layers ``k..K-1`` on exactly ``d`` devices using stages that cost
at most a threshold ``t``; with the stage axis, ``F[s, k, d]`` in exactly ``s`` stages. The value is
the right-associated sum of stage costs (``combine=np.add``) or their maximum (``np.maximum``).
Rounding of sums and maxima is monotone, so the minimum over plans is exact in float64.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from stagecut_dp.plain_instance import Float, Instance

type Choice = tuple[int, int, int, int]
"""``(first, last, submesh, config)``."""

type Combine = Callable[..., Any]


def plain_pass(instance: Instance, threshold: float, combine: Combine = np.add) -> Float:
    """Return ``F``, shape ``(K + 1, D + 1)``, without a stage axis."""
    num_layers, num_devices = instance.num_layers, instance.num_devices
    best = np.full((num_layers + 1, num_devices + 1), np.inf)
    best[num_layers, 0 if instance.use_all_devices else slice(None)] = 0.0
    for k in range(num_layers - 1, -1, -1):
        _extend(instance, instance.cost[k], threshold, best, best[k], k, combine)
    return best


def staged_pass(instance: Instance, threshold: float, combine: Combine = np.add) -> Float:
    """Return ``F``, shape ``(max_stages + 1, K + 1, D + 1)``, with successor limits kept."""
    num_layers, num_devices = instance.num_layers, instance.num_devices
    best = np.full((instance.max_stages + 1, num_layers + 1, num_devices + 1), np.inf)
    best[0, num_layers, 0 if instance.use_all_devices else slice(None)] = 0.0
    for s in range(1, instance.max_stages + 1):
        for k in range(num_layers - s, -1, -1):
            allowed = _allowed(instance, k, s)
            _extend(instance, allowed, threshold, best[s - 1], best[s, k], k, combine)
    return best


def plain_path(
    instance: Instance, best: Float, threshold: float, combine: Combine = np.add
) -> list[Choice]:
    """Recover the stages of a finite ``plain_pass``, first match first."""
    path, k, d = [], 0, instance.num_devices
    while k < instance.num_layers:
        choice, k, d = _step(
            instance, instance.cost[k], threshold, best, float(best[k, d]), k, d, combine
        )
        path.append(choice)
    return path


def staged_path(
    instance: Instance, best: Float, stages: int, threshold: float, combine: Combine = np.add
) -> list[Choice]:
    """Recover the ``stages`` stages of a finite ``staged_pass``, first match first."""
    path, k, d = [], 0, instance.num_devices
    for s in range(stages, 0, -1):
        allowed = _allowed(instance, k, s)
        choice, k, d = _step(
            instance, allowed, threshold, best[s - 1], float(best[s, k, d]), k, d, combine
        )
        path.append(choice)
    return path


def _allowed(instance: Instance, k: int, s: int) -> Float:
    """Costs of the stages that start at ``k`` and may have ``s - 1`` successors."""
    costs: Float = instance.cost[k]
    if instance.limit is None:
        return costs
    return np.where(instance.limit[k] >= s - 1, costs, np.inf)


def _extend(
    instance: Instance,
    costs: Float,
    threshold: float,
    tail: Float,
    out: Float,
    k: int,
    combine: Combine,
) -> None:
    """Set ``out[d]`` to the least value of a first stage ``k..j`` and the tail behind it."""
    num_devices = instance.num_devices
    usable = (costs <= threshold) & (costs < np.inf)
    for m, n in enumerate(instance.sizes.tolist()):
        last = np.flatnonzero(usable[k:, m]) + k
        if len(last):
            values = combine(costs[last, m, None], tail[last + 1, : num_devices + 1 - n])
            np.minimum(out[n:], values.min(axis=0), out=out[n:])


def _step(
    instance: Instance,
    costs: Float,
    threshold: float,
    tail: Float,
    value: float,
    k: int,
    d: int,
    combine: Combine,
) -> tuple[Choice, int, int]:
    for m, n in enumerate(instance.sizes.tolist()):
        if n > d:
            continue
        column = costs[k:, m]
        values = combine(column, tail[k + 1 :, d - n])
        match = np.flatnonzero((values == value) & (column <= threshold))
        if len(match):
            j = k + int(match[0])
            choice = (k, j, int(instance.submesh[m]), int(instance.config[k, j, m]))
            return choice, j + 1, d - n
    raise AssertionError("a finite value has a path")
