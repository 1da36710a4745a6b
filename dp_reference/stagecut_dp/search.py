"""Entry points: one search per objective, with limits on time."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from stagecut_dp.instance import make_instance as make_priced_instance
from stagecut_dp.outcome import Clock, Outcome, Progress, Stop
from stagecut_dp.outcome import Incumbent as Best
from stagecut_dp.plain_instance import Instance, make_instance
from stagecut_dp.plain_training import Incumbent, keeps_counts, least_sum, least_training
from stagecut_dp.recurrence import Choice, plain_pass, plain_path, staged_pass, staged_path
from stagecut_dp.training import TrainingSearch
from stagecut_dp.validation import known_objective, seconds

LARGEST = 2**53
"""Largest number of micro-batches."""


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
    """Solve one stage assignment instance exactly.

    Parameters
    ----------
    cost
        Shape ``(K, K, S)`` or ``(K, K, S, C)``, seconds: one micro-batch through layers ``i..j``
        (both included) on submesh ``m`` in config ``c``; ``inf`` = not allowed. Only ``i <= j`` is
        read.
    sizes
        Shape ``(S,)``, devices of each submesh.
    num_devices
        ``D``.
    num_microbatches
        ``B``.
    objective
        ``"training"`` (sum + (B - 1) x largest; Zheng et al., OSDI 2022, eq. 2), ``"bottleneck"``
        (largest; the smaller sum among equals), ``"latency"`` (sum) or
        ``"stages_times_bottleneck"``.
    max_successors
        Integers in the shape of ``cost``: the most stages that may follow; -1 = never fits.
    use_all_devices
        Whether sizes must sum to exactly ``D``, or to at most ``D``.
    min_stages, max_stages
        Bounds on the number of stages, both included.

    Returns
    -------
    objective
        Seconds; sums are right-associated float64. ``inf`` when there is no plan.
    plan
        Tuples ``(first, last, submesh, config)``, or ``None``.

    Raises
    ------
    ValueError
        If an argument breaks a rule.

    Examples
    --------
    >>> import numpy as np
    >>> cost = np.array([[[1.0], [3.0]], [[np.inf], [2.0]]])
    >>> solve(cost, [1], 2, 4)  # 1 + 2 + (4 - 1) * 2
    (9.0, [(0, 0, 0, 0), (1, 1, 0, 0)])
    """
    outcome = search(
        cost,
        sizes,
        num_devices,
        num_microbatches,
        objective=objective,
        max_successors=max_successors,
        use_all_devices=use_all_devices,
        min_stages=min_stages,
        max_stages=max_stages,
    )
    return outcome.objective, outcome.plan


def search(
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
    time_limit: float | None = None,
    progress: Progress | None = None,
) -> Outcome:
    """Solve as :func:`solve` does, under a time limit and with a bound.

    ``time_limit`` (wall seconds) and ``KeyboardInterrupt`` end the search between or within passes;
    the outcome then holds the best plan so far and a valid bound. ``progress`` is called with
    (incumbent, bound) in seconds. Other arguments as for :func:`solve`.
    """
    known_objective(objective)
    seconds("time_limit", time_limit)
    arguments: dict[str, Any] = {
        "max_successors": max_successors,
        "use_all_devices": use_all_devices,
        "min_stages": min_stages,
        "max_stages": max_stages,
    }
    clock = Clock(time_limit)
    priced = make_priced_instance(cost, sizes, num_devices, num_microbatches, **arguments)
    reach = priced.num_layers * int(np.max(np.asarray(sizes)))
    if num_devices > reach:  # no sum of sizes gets there: infeasible, or the rest stays idle
        num_devices = reach + bool(use_all_devices)
        priced = make_priced_instance(cost, sizes, num_devices, num_microbatches, **arguments)
    if num_microbatches > LARGEST:
        raise ValueError("num_microbatches must be at most 2**53, which float64 counts exactly")
    best: Best | Incumbent
    if objective == "training" and not priced.counts_stages:
        best = Best(progress)
        stopped = _until_stopped(TrainingSearch(priced, clock, best).run)
    else:
        best = Incumbent()
        plain = make_instance(cost, sizes, num_devices, num_microbatches, **arguments)
        stopped = _until_stopped(lambda: _dispatch(objective, plain, clock, best, progress))
    return Outcome(best.objective, best.plan, best.bound, clock.passes, stopped)


def _until_stopped(work: Callable[[], None]) -> str | None:
    """Run ``work``; return what stopped it early, if anything did."""
    try:
        work()
    except Stop:
        return "time"
    except KeyboardInterrupt:
        return "interrupt"
    return None


def _dispatch(
    objective: str, instance: Instance, clock: Clock, best: Incumbent, progress: Progress | None
) -> None:
    if objective == "training":
        least_training(instance, clock, best, progress)
        return
    methods = {
        "latency": _least_latency,
        "bottleneck": _least_bottleneck,
        "stages_times_bottleneck": _least_product,
    }
    best.objective, best.plan = methods[objective](instance, clock)
    best.bound = best.objective


def _least_latency(instance: Instance, clock: Clock) -> tuple[float, list[Choice] | None]:
    return least_sum(instance, math.inf, clock)


def _least_bottleneck(instance: Instance, clock: Clock) -> tuple[float, list[Choice] | None]:
    """One pass in (min, max), then one in (min, +) below the value found."""
    clock.tick()
    best = plain_pass(instance, math.inf, np.maximum)
    value = float(best[0, instance.num_devices])
    if math.isfinite(value) and instance.counts_stages:
        path = plain_path(instance, best, math.inf, np.maximum)
        if not keeps_counts(instance, path):
            clock.tick()
            staged = staged_pass(instance, math.inf, np.maximum)
            value = float(
                staged[instance.min_stages :, 0, instance.num_devices].min(initial=np.inf)
            )
    if not math.isfinite(value):
        return math.inf, None
    return value, least_sum(instance, value, clock)[1]


def _least_product(instance: Instance, clock: Clock) -> tuple[float, list[Choice] | None]:
    """Least bottleneck for every number of stages, from one (min, max) pass with a stage axis."""
    clock.tick()
    staged = staged_pass(instance, math.inf, np.maximum)
    ends = staged[:, 0, instance.num_devices].copy()
    ends[: instance.min_stages] = np.inf
    finite = np.isfinite(ends)
    values = np.where(finite, np.arange(len(ends)) * np.where(finite, ends, 0.0), np.inf)
    stages = int(np.argmin(values))
    if not finite.any():
        return math.inf, None
    return float(values[stages]), staged_path(instance, staged, stages, math.inf, np.maximum)
