"""Checks of the two big tables of a problem; each returns a read-only copy."""

import numpy as np
import numpy.typing as npt

from stagecut.errors import ProblemError


def as_cost_table(
    cost: npt.ArrayLike, num_submeshes: int, name: str = "cost"
) -> npt.NDArray[np.float64]:
    """Return the cost table as read-only float64 of shape ``(K, K, S, C)``.

    Entries below the diagonal (``i > j``) are never read and come back as ``inf``; ``name`` is
    what messages call the table.

    Raises
    ------
    ProblemError
        On a wrong shape, or on NaN, negative or ``-inf`` at ``i <= j``.
    """
    table = _numeric(name, cost)
    if np.iscomplexobj(table):
        raise ProblemError(f"{name} must be real numbers in seconds, got dtype {table.dtype}")
    if table.ndim not in (3, 4) or table.shape[0] != table.shape[1] or 0 in table.shape:
        raise ProblemError(
            f"{name} must have shape (K, K, S) or (K, K, S, C) with no empty axis, "
            f"got {table.shape}"
        )
    if table.shape[2] != num_submeshes:
        raise ProblemError(
            f"{name} must have one entry per submesh on axis 2: there are {num_submeshes} "
            f"submeshes, got shape {table.shape}"
        )
    result = _upper_triangle(table, np.float64, np.inf)
    wrong = np.isnan(result) | (result < 0)
    if wrong.any():
        raise ProblemError(
            f"{name} must be seconds >= 0, or inf where a stage is not allowed, "
            f"got {_first_wrong(name, table, wrong)}"
        )
    result.flags.writeable = False
    return result


def as_limit_table(
    limits: npt.ArrayLike | None, given_shape: tuple[int, ...], shape: tuple[int, ...]
) -> npt.NDArray[np.int64] | None:
    """Return ``max_successors`` as read-only int64 of shape ``(K, K, S, C)``, or ``None``.

    Entries below the diagonal come back as -1.

    Raises
    ------
    ProblemError
        On a shape other than that of ``cost``, on fractions, or on values below -1.
    """
    if limits is None:
        return None
    table = _numeric("max_successors", limits)
    if table.shape not in (given_shape, shape):
        raise ProblemError(
            f"max_successors must have the shape of cost {given_shape}, got {table.shape}"
        )
    if table.dtype.kind not in "iuf":
        raise ProblemError(f"max_successors must be integers, got dtype {table.dtype}")
    values = _upper_triangle(table, np.float64, -1)
    wrong = ~np.isfinite(values) | (values != np.floor(values)) | (values < -1)
    if wrong.any():
        raise ProblemError(
            "max_successors must be whole numbers >= -1 (-1 = never fits), "
            f"got {_first_wrong('max_successors', table, wrong)}"
        )
    most = np.int64(shape[0])
    result = np.where(_upper(shape[0]), np.minimum(values, most), -1).astype(np.int64)
    result.flags.writeable = False
    return result


def as_spread_table(
    spread: npt.ArrayLike | None, given_shape: tuple[int, ...], cost: npt.NDArray[np.float64]
) -> npt.NDArray[np.float64] | None:
    """Return ``cost_spread`` as read-only float64 seconds in the shape of ``cost``, or ``None``.

    Entries of stages that are not allowed come back as 0.

    Raises
    ------
    ProblemError
        On a shape other than that of ``cost``, or on values that are not finite and >= 0.
    """
    if spread is None:
        return None
    allowed = np.isfinite(cost)
    given = _numeric("cost_spread", spread)
    if given.ndim == 0:
        share = float(given)
        if not 0 <= share < np.inf:
            raise ProblemError(f"cost_spread must be a share >= 0 of each cost, got {share!r}")
        table = np.where(allowed, cost, 0.0) * share
    elif given.shape != given_shape:
        raise ProblemError(
            f"cost_spread must be one number or have the shape of cost, {given_shape}, "
            f"got {given.shape}"
        )
    else:
        table = np.where(allowed, given.reshape(cost.shape), 0.0).astype(np.float64)
        wrong = ~np.isfinite(table) | (table < 0)
        if wrong.any():
            raise ProblemError(
                f"cost_spread must be seconds >= 0, got {_first_wrong('cost_spread', given, wrong)}"
            )
    table.flags.writeable = False
    return table


def as_transfer_table(
    transfers: npt.ArrayLike | None, num_layers: int, num_submeshes: int
) -> npt.NDArray[np.float64] | None:
    """Return ``transfers`` as read-only float64 seconds, shape ``(K - 1, S, S)``, or ``None``.

    Raises
    ------
    ProblemError
        On another shape, or on values that are not finite and >= 0.
    """
    if transfers is None:
        return None
    table = _numeric("transfers", transfers).astype(np.float64)
    shape = (num_layers - 1, num_submeshes, num_submeshes)
    if table.shape != shape:
        raise ProblemError(f"transfers must have shape (K - 1, S, S), {shape}, got {table.shape}")
    wrong = ~np.isfinite(table) | (table < 0)
    if wrong.any():
        where = tuple(int(place) for place in np.argwhere(wrong)[0])
        raise ProblemError(
            f"transfers must be seconds >= 0, got transfers{list(where)} = {table[where]!r}"
        )
    table.flags.writeable = False
    return table


def _numeric(name: str, value: npt.ArrayLike) -> npt.NDArray[np.generic]:
    try:
        table = np.asarray(value)
    except ValueError:
        raise ProblemError(f"{name} must be a full array of numbers, got ragged rows") from None
    if table.dtype.kind not in "biufc":
        raise ProblemError(f"{name} must be an array of numbers, got dtype {table.dtype}")
    return table


def _upper(num_layers: int) -> npt.NDArray[np.bool_]:
    return np.triu(np.ones((num_layers, num_layers), dtype=bool))[:, :, None, None]


def _upper_triangle[T: np.generic](
    table: npt.NDArray[np.generic], dtype: "type[T] | np.dtype[T]", fill: float
) -> npt.NDArray[T]:
    full = table if table.ndim == 4 else table[:, :, :, None]
    result = np.array(full, dtype=dtype, order="C")
    result[np.tril_indices(full.shape[0], -1)] = fill
    return result


def _first_wrong(name: str, table: npt.NDArray[np.generic], wrong: npt.NDArray[np.bool_]) -> str:
    index = tuple(int(axis[0]) for axis in np.nonzero(wrong))[: table.ndim]
    place = ", ".join(map(str, index))
    return f"{name}[{place}] = {table[index]} ({int(wrong.sum())} such entries)"
