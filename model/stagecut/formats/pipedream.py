"""PipeDream's ``graph.txt`` (Narayanan et al., SOSP 2019): a stage is ``r`` data-parallel replicas.

Symbols: ``T`` seconds forward and backward, ``W`` parameter bytes, ``b`` bytes per second, ``a``
bytes that cross a cut. Time of a stage = ``(T + 4 (r - 1) W / (b r)) / r``; with transfers, the
largest of that and ``2 a / (b r)`` for the cut before it and, unless it is the first stage, the cut
after it (PipeDream's rule).
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from stagecut.costs.ranges import range_sums
from stagecut.errors import FormatError
from stagecut.formats.external import topological_order
from stagecut.formats.files import PathLike, read_text
from stagecut.problem import StageProblem

_NUMBER = r"(\d+(?:\.\d*)?(?:[eE][+-]?\d+)?)"
_NODE = re.compile(
    rf"(\S+) -- (.+) -- forward_compute_time={_NUMBER}, backward_compute_time={_NUMBER}, "
    rf"activation_size=(\[[^\]]*\]|[^,\s]+), parameter_size={_NUMBER}(?:,.*| -- .*)?$"
)


@dataclass(frozen=True, slots=True)
class _Node:
    name: str
    description: str
    seconds: float
    activation_bytes: float
    parameter_bytes: float


def read_pipedream(
    path: PathLike,
    *,
    num_devices: int,
    bandwidth: float,
    num_microbatches: int = 1,
    sizes: Sequence[int] | None = None,
    transfers: bool = True,
    objective: Any = "bottleneck",
    use_all_devices: bool = True,
) -> StageProblem:
    """Read a PipeDream profile.

    Parameters
    ----------
    path
        The file. Its node ``Input`` (loading data) is left out.
    num_devices, num_microbatches, objective, use_all_devices
        As in :class:`stagecut.StageProblem`; PipeDream minimises the bottleneck on all devices.
    bandwidth
        Bytes per second.
    sizes
        Numbers of replicas to choose from; by default ``1..num_devices``.
    transfers
        Whether activations that cross a cut count.

    Raises
    ------
    FormatError
        If the file is not such a profile, or its graph allows more than one order.
    """
    if not bandwidth > 0:
        raise FormatError(f"bandwidth must be bytes per second above 0, got {bandwidth!r}")
    nodes, edges = _parse(read_text(path), path)
    order = topological_order(list(nodes), edges, path)
    chain = [nodes[name] for name in order]
    place = {name: k for k, name in enumerate(order)}
    crossing = _crossing(chain, [(place[a], place[b]) for a, b in edges])
    replicas = list(range(1, num_devices + 1) if sizes is None else sizes)
    return StageProblem(
        np.stack([_seconds(chain, crossing * transfers, bandwidth, r) for r in replicas], axis=2),
        [(1, r) for r in replicas],
        num_devices,
        num_microbatches,
        objective=objective,
        use_all_devices=use_all_devices,
        layer_names=[f"{node.name} {node.description}" for node in chain],
    )


def _seconds(
    chain: list[_Node], crossing: npt.NDArray[np.float64], bandwidth: float, r: int
) -> npt.NDArray[np.float64]:
    weights = range_sums([node.parameter_bytes for node in chain])
    compute = range_sums([node.seconds for node in chain])
    seconds = (compute + 4 * (r - 1) * weights / (bandwidth * r)) / r
    moved = 2 * crossing / (bandwidth * r)
    after = np.broadcast_to(moved[1:], seconds.shape).copy()
    after[0] = 0.0
    result: npt.NDArray[np.float64] = np.maximum.reduce(
        [seconds, np.broadcast_to(moved[:-1, None], seconds.shape), after]
    )
    return result


def _crossing(chain: list[_Node], edges: list[tuple[int, int]]) -> npt.NDArray[np.float64]:
    """Bytes across the cut before each position, shape ``(K + 1,)``; 0 at both ends."""
    last_use = [max((b for a, b in edges if a == k), default=k) for k in range(len(chain))]
    sizes = np.array([node.activation_bytes for node in chain])
    cuts = np.arange(len(chain) + 1)[:, None]
    used_after = (np.arange(len(chain)) < cuts) & (np.array(last_use) >= cuts)
    return np.asarray((used_after * sizes).sum(axis=1), dtype=np.float64)


def _parse(text: str, path: PathLike) -> tuple[dict[str, _Node], list[tuple[str, str]]]:
    nodes: dict[str, _Node] = {}
    edges: list[tuple[str, str]] = []
    skipped: set[str] = set()
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.strip():
            continue
        if line.startswith("\t"):
            tail, dashes, head = line.strip().partition(" -- ")
            if not dashes:
                raise FormatError(f"{path}: line {number} is not an edge 'a -- b', got {line!r}")
            edges.append((tail, head))
            continue
        node = _node(line, number, path)
        if node.description.startswith("Input"):
            skipped.add(node.name)
        else:
            nodes[node.name] = node
    if not nodes:
        raise FormatError(f"{path} holds no node lines; is it a PipeDream graph.txt?")
    return nodes, [edge for edge in edges if not skipped & set(edge)]


def _node(line: str, number: int, path: PathLike) -> _Node:
    match = _NODE.match(line)
    if match is None:
        raise FormatError(
            f"{path}: line {number} is not 'node -- description -- forward_compute_time=..., "
            f"backward_compute_time=..., activation_size=..., parameter_size=...', "
            f"got {line[:60]!r}"
        )
    name, description, forward, backward, activations, parameters = match.groups()
    try:
        sizes = [float(size) for size in activations.strip("[]").split(";")]
    except ValueError:
        raise FormatError(
            f"{path}: line {number}: activation_size must be bytes, got {activations!r}"
        ) from None
    seconds = (float(forward) + float(backward)) / 1e3
    return _Node(name, description, seconds, sum(sizes), float(parameters))
