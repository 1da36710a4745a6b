"""Checks of the small arguments of a problem; the big tables have :mod:`stagecut.validation`."""

from collections.abc import Mapping, Sequence
from numbers import Integral

import numpy as np

from stagecut.errors import ProblemError
from stagecut.submesh import Submesh, SubmeshLike

LARGEST = 2**53


def positive_integer(name: str, value: object) -> int:
    """Return ``value`` as an ``int`` of at least 1, or raise :class:`ProblemError`."""
    if isinstance(value, bool) or not isinstance(value, Integral) or value < 1:
        raise ProblemError(f"{name} must be an integer of at least 1, got {value!r}")
    if int(value) > LARGEST:
        raise ProblemError(f"{name} must be at most 2**53, which float64 counts exactly")
    return int(value)


def distinct_submeshes(submeshes: Sequence[SubmeshLike]) -> tuple[Submesh, ...]:
    """Return the shapes, or raise :class:`ProblemError` if there are none or one repeats."""
    try:
        shapes = tuple(Submesh.of(value) for value in submeshes)
    except TypeError:
        raise ProblemError(
            f"submeshes must be a sequence of (hosts, devices_per_host), got {submeshes!r}"
        ) from None
    if not shapes:
        raise ProblemError("submeshes must name at least one shape, got none")
    for index, shape in enumerate(shapes):
        if shape in shapes[:index]:
            raise ProblemError(
                f"submeshes must be distinct, but submeshes[{index}] repeats {shape}; "
                "put variants of one shape on the config axis of cost"
            )
    return shapes


def pool_devices(
    num_devices: int | Mapping[str, int], submeshes: tuple[Submesh, ...]
) -> tuple[tuple[str, int], ...] | None:
    """Return the devices of each pool, or ``None``, and hold the submeshes against them."""
    if not isinstance(num_devices, Mapping):
        for index, shape in enumerate(submeshes):
            if shape.pool is not None:
                raise ProblemError(
                    f"submeshes[{index}] is in pool {shape.pool!r}, so num_devices must give "
                    f'devices by pool, such as {{"{shape.pool}": 8}}, got {num_devices!r}'
                )
        return None
    for name in num_devices:
        if not isinstance(name, str) or not name:
            raise ProblemError(f"num_devices must have non-empty pool names, got {name!r}")
    pools = {
        name: positive_integer(f"num_devices[{name!r}]", count)
        for name, count in num_devices.items()
    }
    for index, shape in enumerate(submeshes):
        if shape.pool not in pools:
            raise ProblemError(
                f"submeshes[{index}] ({shape}) must be in one of the pools of num_devices "
                f"({', '.join(pools) or 'none given'}), got pool {shape.pool!r}"
            )
    return tuple(pools.items())


def robustness_of(robustness: int, cost_spread: object) -> int:
    """Return ``Γ``, or raise :class:`ProblemError` if it lacks a spread or is no number."""
    if robustness == 0 and not isinstance(robustness, bool):
        return 0
    if cost_spread is None:
        raise ProblemError(f"robustness={robustness!r} needs cost_spread; give one")
    return positive_integer("robustness", robustness)


def truth(name: str, value: object) -> bool:
    """Return a ``bool``, or raise :class:`ProblemError`."""
    if not isinstance(value, bool | np.bool_):
        raise ProblemError(f"{name} must be True or False, got {value!r}")
    return bool(value)


def names_of(layer_names: Sequence[str] | None, num_layers: int) -> tuple[str, ...] | None:
    """Return one name per layer or ``None``, or raise :class:`ProblemError`."""
    if layer_names is None:
        return None
    names = tuple(layer_names)
    if isinstance(layer_names, str) or not all(isinstance(name, str) for name in names):
        raise ProblemError(f"layer_names must be a sequence of strings, got {layer_names!r}")
    if len(names) != num_layers:
        raise ProblemError(
            f"layer_names must hold one name per layer ({num_layers}), got {len(names)}"
        )
    return names
