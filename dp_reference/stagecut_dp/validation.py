"""Rules on the arguments of every entry point; a broken one raises ``ValueError`` in one line.

Each message names the argument, the rule, the value with its index and a way out.
"""

import math
from numbers import Integral, Real

import numpy as np
import numpy.typing as npt

OBJECTIVES = ("training", "bottleneck", "latency", "stages_times_bottleneck")

type Float = npt.NDArray[np.float64]
type Int = npt.NDArray[np.int64]


def positive(name: str, value: object) -> int:
    """Return ``value`` as an ``int`` of at least 1."""
    if isinstance(value, bool | np.bool_) or not isinstance(value, Integral) or int(value) < 1:
        raise ValueError(f"{name} must be an integer of at least 1, got {value!r}; pass 1 or more")
    return int(value)


def counted(name: str, value: object) -> int:
    """Return ``value`` as an ``int`` of at least 1 that float64 counts exactly."""
    count = positive(name, value)
    if count > 2**53:
        raise ValueError(f"{name} must be at most 2**53, which float64 counts exactly")
    return count


def known_objective(objective: str) -> str:
    """Return ``objective`` if it is one of :data:`OBJECTIVES`."""
    if not isinstance(objective, str) or objective not in OBJECTIVES:
        raise ValueError(f"objective must be one of {', '.join(OBJECTIVES)}, got {objective!r}")
    return objective


def seconds(name: str, value: object) -> float | None:
    """Return a time limit as a ``float``, or ``None``."""
    if value is None:
        return None
    wrong = isinstance(value, bool) or not isinstance(value, Real) or math.isnan(float(value))
    if wrong or float(value) < 0:  # type: ignore[arg-type]
        raise ValueError(f"{name} must be seconds >= 0, got {value!r}; None means no limit")
    return float(value)  # type: ignore[arg-type]


def stage_counts(least: object, most: object, num_layers: int) -> tuple[int, int]:
    """Return the bounds on the number of stages, ``1..K`` where not given."""
    low = 1 if least is None else positive("min_stages", least)
    high = num_layers if most is None else min(positive("max_stages", most), num_layers)
    if most is not None and low > int(most):  # type: ignore[call-overload]
        raise ValueError(
            f"min_stages must be at most max_stages, got {low} and {most}; swap or drop one"
        )
    return low, high


def cost_table(cost: npt.ArrayLike) -> Float:
    """Return ``cost`` as float64 of shape ``(K, K, S, C)``, a view where it can be one."""
    try:
        given = np.asarray(cost)
    except ValueError as error:
        raise ValueError(
            f"cost must be one rectangular array (K, K, S) or (K, K, S, C): {error}"
        ) from None
    if given.dtype.kind not in "fiu":
        raise ValueError(f"cost must hold real numbers, got dtype {given.dtype}; pass float64")
    if given.ndim not in (3, 4) or given.shape[0] != given.shape[1] or 0 in given.shape:
        raise ValueError(
            "cost must have shape (K, K, S) or (K, K, S, C) with no empty axis, "
            f"got {given.shape}; cost[i, j, m] prices layers i..j, both included"
        )
    table: Float = given.astype(np.float64, copy=False)
    return table if table.ndim == 4 else table[..., None]


def check_costs(table: Float) -> None:
    """Look for the first entry with ``i <= j`` that is NaN or negative."""
    for i, row in enumerate(table):
        wrong = np.argwhere(~(row[i:] >= 0))
        if len(wrong):
            j, m, c = wrong[0].tolist()
            index = [i, i + j, m] if table.shape[3] == 1 else [i, i + j, m, c]
            raise ValueError(
                f"cost must be seconds >= 0, got cost{index} = {row[i + j, m, c]}; "
                "use inf where a stage is not allowed"
            )


def device_counts(sizes: npt.ArrayLike, num_submeshes: int) -> Int:
    """Return ``sizes`` as int64 of shape ``(S,)``."""
    given = np.asarray(sizes)
    if given.shape != (num_submeshes,):
        raise ValueError(
            f"sizes must hold one number for each of the {num_submeshes} submeshes of cost, "
            f"got shape {given.shape}; cost has the submesh on axis 2"
        )
    if given.dtype.kind not in "iu":
        raise ValueError(f"sizes must be integers, got dtype {given.dtype}; pass devices as int")
    small = np.flatnonzero(given < 1)
    if len(small):
        m = int(small[0])
        raise ValueError(
            f"sizes must be at least 1, got sizes[{m}] = {given[m]}; drop that submesh"
        )
    counts: Int = np.minimum(given, np.iinfo(np.int64).max).astype(np.int64)
    return counts


def successor_limits(
    limits: npt.ArrayLike | None, given_shape: tuple[int, ...], shape: tuple[int, ...]
) -> Int | None:
    """Return ``max_successors`` as int64 of shape ``(K, K, S, C)``, or ``None``."""
    if limits is None:
        return None
    table = np.asarray(limits)
    if table.shape != given_shape:
        raise ValueError(
            f"max_successors must have the shape of cost {given_shape}, got {table.shape}; "
            "pass None for no limit"
        )
    if table.dtype.kind not in "iu":
        raise ValueError(
            f"max_successors must be integers, got dtype {table.dtype}; round down and pass int64"
        )
    result: Int = table.reshape(shape).astype(np.int64, copy=False)
    return result
