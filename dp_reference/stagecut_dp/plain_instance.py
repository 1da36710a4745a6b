"""One stage assignment instance on plain arrays, validated once.

Symbols: ``K`` layers, ``S`` submeshes, ``C`` configs, ``D`` devices, ``B`` micro-batches; a stage
is a range ``i..j`` on submesh ``m`` in config ``c``. A *choice* is a pair ``(m, c)``; programmes
see ``M`` choices, with configs already reduced to those that can matter.
"""

from dataclasses import dataclass
from numbers import Integral

import numpy as np
import numpy.typing as npt

OBJECTIVES = ("training", "bottleneck", "latency", "stages_times_bottleneck")

type Float = npt.NDArray[np.float64]
type Int = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Instance:
    """A validated instance.

    Parameters
    ----------
    cost
        float64, shape ``(K, K, M)``, seconds; ``inf`` where a stage is not allowed.
    limit
        int64, shape ``(K, K, M)``: the most stages that may follow; ``None`` = no limit.
    submesh
        int64, shape ``(M,)`` or ``(K, K, M)``: index of the submesh of each choice.
    config
        int64, shape ``(K, K, M)``: index of the config of each choice.
    sizes
        int64, shape ``(M,)``: devices of each choice.
    num_devices, num_microbatches
        ``D`` and ``B``.
    use_all_devices
        Whether sizes must sum to exactly ``D``.
    min_stages, max_stages
        Bounds on the number of stages, both included.
    """

    cost: Float
    limit: Int | None
    submesh: Int
    config: Int
    sizes: Int
    num_devices: int
    num_microbatches: int
    use_all_devices: bool
    min_stages: int
    max_stages: int

    @property
    def num_layers(self) -> int:
        """``K``."""
        return len(self.cost)

    @property
    def counts_stages(self) -> bool:
        """Whether a limit or a stage-count rule asks for the stage axis."""
        return self.limit is not None or self.min_stages > 1 or self.max_stages < self.num_layers


def make_instance(
    cost: npt.ArrayLike,
    sizes: npt.ArrayLike,
    num_devices: int,
    num_microbatches: int = 1,
    *,
    max_successors: npt.ArrayLike | None = None,
    use_all_devices: bool = True,
    min_stages: int | None = None,
    max_stages: int | None = None,
) -> Instance:
    """Validate the arguments of :func:`stagecut_dp.solve` and reduce the config axis.

    Raises
    ------
    ValueError
        Naming the argument, the rule and the value.
    """
    table = _cost_table(cost)
    device_counts = _sizes(sizes, table.shape[2])
    limits = _limits(max_successors, np.shape(cost), table.shape)
    fits = device_counts <= positive("num_devices", num_devices)
    reduced, limit, submesh, config = _reduce(table, limits, np.flatnonzero(fits))
    return Instance(
        cost=reduced,
        limit=limit,
        submesh=submesh,
        config=config,
        sizes=device_counts[submesh],
        num_devices=int(num_devices),
        num_microbatches=positive("num_microbatches", num_microbatches),
        use_all_devices=bool(use_all_devices),
        min_stages=1 if min_stages is None else positive("min_stages", min_stages),
        max_stages=len(table)
        if max_stages is None
        else min(positive("max_stages", max_stages), len(table)),
    )


def positive(name: str, value: object) -> int:
    """Return ``value`` as an ``int`` of at least 1, or raise ``ValueError``."""
    if isinstance(value, bool) or not isinstance(value, Integral) or int(value) < 1:
        raise ValueError(f"{name} must be an integer of at least 1, got {value!r}")
    return int(value)


def known_objective(objective: str) -> str:
    """Return ``objective`` if it is one of ours, or raise ``ValueError``."""
    if objective not in OBJECTIVES:
        raise ValueError(f"objective must be one of {', '.join(OBJECTIVES)}, got {objective!r}")
    return objective


def _cost_table(cost: npt.ArrayLike) -> Float:
    table = np.asarray(cost, dtype=np.float64)
    if table.ndim not in (3, 4) or table.shape[0] != table.shape[1] or 0 in table.shape:
        raise ValueError(
            f"cost must have shape (K, K, S) or (K, K, S, C) with no empty axis, got {table.shape}"
        )
    upper = np.triu(np.ones(table.shape[:2], dtype=bool))
    wrong = ~(table[upper] >= 0)
    if wrong.any():
        layer, *rest = (int(axis[0]) for axis in np.nonzero(wrong))
        i, j = (int(axis[layer]) for axis in np.nonzero(upper))
        index = (i, j, *rest)
        raise ValueError(
            f"cost must be seconds >= 0, or inf where a stage is not allowed, "
            f"got cost{list(index)} = {table[index]}"
        )
    return table if table.ndim == 4 else table[..., None]


def _sizes(sizes: npt.ArrayLike, num_submeshes: int) -> Int:
    given = np.asarray(sizes)
    if given.shape != (num_submeshes,):
        raise ValueError(
            f"sizes must hold one number per submesh ({num_submeshes}), got shape {given.shape}"
        )
    if given.dtype.kind not in "iu" or (given < 1).any():
        raise ValueError(f"sizes must be integers of at least 1, got {given.tolist()}")
    return given.astype(np.int64)


def _limits(
    limits: npt.ArrayLike | None, given_shape: tuple[int, ...], shape: tuple[int, ...]
) -> Int | None:
    if limits is None:
        return None
    table = np.asarray(limits)
    if table.shape not in (given_shape, shape):
        raise ValueError(
            f"max_successors must have the shape of cost {given_shape}, got {table.shape}"
        )
    if table.dtype.kind not in "iu":
        raise ValueError(f"max_successors must be integers, got dtype {table.dtype}")
    return table.reshape(shape).astype(np.int64)


def _reduce(table: Float, limits: Int | None, submeshes: Int) -> tuple[Float, Int | None, Int, Int]:
    """Drop oversized submeshes; keep the cheapest config, or every config where limits differ."""
    num_layers, num_configs = len(table), table.shape[3]
    table = table[:, :, submeshes]
    shape = (num_layers, num_layers, len(submeshes))
    if num_configs == 1 or limits is None:
        best = table.argmin(axis=3)
        cost = np.take_along_axis(table, best[..., None], axis=3)[..., 0]
        limit = None if limits is None else limits[:, :, submeshes, 0]
        return _masked(cost, limit), limit, submeshes, best
    flat = (num_layers, num_layers, len(submeshes) * num_configs)
    config = np.broadcast_to(np.arange(num_configs), (*shape, num_configs)).reshape(flat)
    limit = limits[:, :, submeshes].reshape(flat)
    return (
        _masked(table.reshape(flat), limit),
        limit,
        np.repeat(submeshes, num_configs),
        np.ascontiguousarray(config),
    )


def _masked(cost: Float, limit: Int | None) -> Float:
    """Return a copy that is ``inf`` below the diagonal and where a stage never fits."""
    result = np.array(cost)
    result[np.tril_indices(len(cost), -1)] = np.inf
    if limit is not None:
        result[limit < 0] = np.inf
    return result
