"""Layers that fit nowhere, stages that do not join, and device counts that no plan can use."""

import numpy as np
import numpy.typing as npt

from stagecut.couplings import Mask
from stagecut.explain.causes import Cause
from stagecut.problem import StageProblem

MOST_DEVICES = 100_000
"""Counts above this are not enumerated."""


def layer_causes(problem: StageProblem) -> list[Cause]:
    """Return a cause for each run of layers that no allowed stage holds."""
    causes: list[Cause] = []
    finite = np.isfinite(problem.cost)
    fitting = finite & (problem.sizes <= problem.available)[:, None]
    remembered = (
        fitting if problem.max_successors is None else (fitting & (problem.max_successors >= 0))
    )
    told = np.zeros(problem.num_layers, dtype=bool)
    for allowed, tell in ((finite, _not_allowed), (fitting, _too_large), (remembered, _no_memory)):
        lost = ~_held(allowed) & ~told
        told |= lost
        causes.extend(tell(problem, first, last) for first, last in _runs(lost))
    return causes


def _held(allowed: Mask) -> Mask:
    """Return which layers some allowed stage holds, shape ``(K,)``."""
    ranges = allowed.any(axis=(2, 3))
    return np.array([ranges[: layer + 1, layer:].any() for layer in range(len(ranges))])


def _runs(chosen: Mask) -> list[tuple[int, int]]:
    """Return the runs of neighbouring entries that are true."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], chosen, [False]])))
    return [(int(a), int(b) - 1) for a, b in zip(edges[::2], edges[1::2], strict=True)]


def layers(problem: StageProblem, first: int, last: int) -> str:
    """Return the words for a range of layers, with names where there are names."""
    named = problem.layer_names is not None
    if first == last:
        return f"layer {first}" + (f" ({problem.layer_name(first)})" if named else "")
    names = f" ({problem.layer_name(first)} .. {problem.layer_name(last)})" if named else ""
    return f"layers {first}..{last}{names}"


def _not_allowed(problem: StageProblem, first: int, last: int) -> Cause:
    words = layers(problem, first, last)
    fits = "fits" if first == last else "fit"
    return Cause(
        "layer",
        f"{words} {fits} no submesh: every stage that holds one is not allowed (cost inf)",
        ("allow a stage there in cost",),
    )


def _too_large(problem: StageProblem, first: int, last: int) -> Cause:
    held = np.isfinite(problem.cost[: last + 1, first:]).any(axis=(0, 1, 3))
    missing = np.where(held, problem.sizes - problem.available, np.iinfo(np.int64).max)
    m = int(np.argmin(missing))
    shape = problem.submeshes[m]
    where = "" if shape.pool is None else f" in pool {shape.pool!r}"
    return Cause(
        "layer",
        f"{layers(problem, first, last)} only run on submeshes larger than the devices: the nearest"
        f" is {shape} with {shape.size}, there are {int(problem.available[m])}{where}",
        (f"raise num_devices{where} to {shape.size}",),
    )


def _no_memory(problem: StageProblem, first: int, last: int) -> Cause:
    return Cause(
        "memory",
        f"{layers(problem, first, last)} never fit in memory: max_successors is -1 for every stage "
        "that holds them",
    )


def cover_cause(problem: StageProblem, allowed: Mask) -> Cause | None:
    """Return a cause if no chain of allowed stages covers all layers, on any number of devices."""
    ranges = allowed.any(axis=(2, 3))
    reached = np.zeros(problem.num_layers + 1, dtype=bool)
    reached[0] = True
    for layer in range(problem.num_layers):
        if reached[layer]:
            reached[1:] |= ranges[layer]
    if reached[-1]:
        return None
    furthest = int(np.flatnonzero(reached)[-1])
    return Cause(
        "cover",
        f"no chain of allowed stages covers all layers: one can reach the end of layer "
        f"{furthest - 1} at most, and no allowed stage starts at layer {furthest} and leads on"
        if furthest
        else "no chain of allowed stages covers all layers: no allowed stage starts at layer 0",
    )


def device_cause(problem: StageProblem, allowed: Mask) -> Cause | None:
    """Return a cause if no chain of allowed stages uses the devices as asked."""
    if problem.pools is not None:
        return _pool_cause(problem, allowed)
    most = min(2 * problem.num_devices, problem.num_layers * int(problem.sizes.max()))
    most = max(most, int(problem.sizes.max()))
    if most > MOST_DEVICES:
        return None
    counts = _reachable(problem, allowed, most)
    devices = problem.num_devices
    if not problem.use_all_devices:
        if (counts <= devices).any():
            return None
        return Cause(
            "devices",
            f"every plan needs more than the {devices} devices: the least is {_list(counts[:1])}",
            tuple(f"raise num_devices to {count}" for count in counts[:1].tolist()),
        )
    if devices in counts:
        return None
    near = [*counts[counts < devices][-1:].tolist(), *counts[counts > devices][:1].tolist()]
    sizes = np.unique(problem.sizes[allowed.any(axis=(0, 1, 3))])
    changes = [f"set num_devices to {count}" for count in near]
    if near and near[0] < devices:
        changes.append("set use_all_devices=False")
    return Cause(
        "devices",
        f"no sum of sizes reaches {devices} devices: stages have {_list(sizes)} devices each, at "
        f"most {problem.num_layers} stages; the nearest counts that a plan can use are "
        f"{_list(near) or 'unknown'}",
        tuple(changes),
    )


def _reachable(problem: StageProblem, allowed: Mask, most: int) -> npt.NDArray[np.int64]:
    """Return the device counts up to ``most`` of chains of allowed stages, ascending."""
    choices = allowed.any(axis=3)
    counts = np.zeros((problem.num_layers + 1, most + 1), dtype=bool)
    counts[-1, 0] = True
    for first in range(problem.num_layers - 1, -1, -1):
        for m, size in enumerate(problem.sizes.tolist()):
            (lasts,) = np.nonzero(choices[first, :, m])
            if len(lasts) and size <= most:
                tails = counts[lasts + 1].any(axis=0)
                counts[first, size:] |= tails[: most + 1 - size]
    return np.flatnonzero(counts[0])


def _pool_cause(problem: StageProblem, allowed: Mask) -> Cause | None:
    """Return a cause if one pool's devices are no sum of at most ``K`` of its sizes."""
    used = allowed.any(axis=(0, 1, 3))
    for name, devices in (problem.pools or {}).items():
        mine = [shape.pool == name for shape in problem.submeshes]
        sizes = np.unique(problem.sizes[used & mine])
        most = min(2 * devices, problem.num_layers * int(sizes.max(initial=0)))
        if not problem.use_all_devices or most > MOST_DEVICES:
            continue
        counts = _sums(sizes, problem.num_layers, max(most, devices))
        if devices in counts:
            continue
        near = [*counts[counts < devices][-1:].tolist(), *counts[counts > devices][:1].tolist()]
        return Cause(
            "devices",
            f"no sum of sizes reaches the {devices} devices of pool {name!r}: its stages have "
            f"{_list(sizes) or 'no allowed size of'} devices each; the nearest counts are "
            f"{_list(near) or 'unknown'}",
            (*(f"set num_devices[{name!r}] to {count}" for count in near),),
        )
    return None


def _sums(sizes: npt.NDArray[np.int64], num_stages: int, most: int) -> npt.NDArray[np.int64]:
    """Return the sums of 1 to ``num_stages`` sizes, up to ``most``, ascending."""
    fewest = np.full(most + 1, num_stages + 1)
    fewest[0] = 0
    for total in range(1, most + 1):
        for size in sizes[sizes <= total].tolist():
            fewest[total] = min(fewest[total], fewest[total - size] + 1)
    return np.flatnonzero(fewest <= num_stages)[1:]


def _list(values: "npt.NDArray[np.int64] | list[int]") -> str:
    return " and ".join(map(str, list(values)))
