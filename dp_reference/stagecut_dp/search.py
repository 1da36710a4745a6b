"""Entry points: one search per objective, with limits on time."""

from collections.abc import Callable

import numpy.typing as npt

from stagecut_dp.bottleneck import least_bottleneck, least_latency, least_product
from stagecut_dp.instance import Choice, Instance, make_instance
from stagecut_dp.outcome import Clock, Incumbent, Outcome, Progress, Stop
from stagecut_dp.training import TrainingSearch
from stagecut_dp.validation import known_objective, seconds


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
    limit = seconds("time_limit", time_limit)
    instance = make_instance(
        cost,
        sizes,
        num_devices,
        num_microbatches,
        max_successors=max_successors,
        use_all_devices=use_all_devices,
        min_stages=min_stages,
        max_stages=max_stages,
    )
    clock, best, stopped = Clock(limit), Incumbent(progress), None
    try:
        _METHODS[objective](instance, clock, best)
    except Stop:
        stopped = "time"
    except KeyboardInterrupt:
        stopped = "interrupt"
    return Outcome(best.objective, best.plan, best.bound, clock.passes, stopped)


def _least_training(instance: Instance, clock: Clock, best: Incumbent) -> None:
    TrainingSearch(instance, clock, best).run()


_METHODS: dict[str, Callable[[Instance, Clock, Incumbent], None]] = {
    "training": _least_training,
    "bottleneck": least_bottleneck,
    "latency": least_latency,
    "stages_times_bottleneck": least_product,
}
