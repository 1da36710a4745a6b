"""JSON graphs of dnn-partitioning (Tarnawski et al., NeurIPS 2020), one accelerator a stage.

Time of a range = sum of ``fpgaLatency`` + ``cost(u)`` of every node ``u`` with an edge that has
exactly one end in the range, once a node. A range above the memory limit is not allowed.
"""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import numpy.typing as npt
from pydantic import Field

from stagecut.costs.ranges import range_sums
from stagecut.errors import FormatError
from stagecut.formats.external import Foreign, Number, topological_order, validated
from stagecut.formats.files import PathLike, read_json
from stagecut.problem import StageProblem


class _Node(Foreign):
    id: int
    latency: Annotated[Number, Field(alias="fpgaLatency")]
    size: Number


class _Edge(Foreign):
    source: Annotated[int, Field(alias="sourceId")]
    target: Annotated[int, Field(alias="destId")]
    cost: Number


class _Graph(Foreign):
    memory: Annotated[Number, Field(alias="maxSizePerFPGA")]
    accelerators: Annotated[int, Field(alias="maxFPGAs", ge=1)]
    nodes: Annotated[list[_Node], Field(min_length=1)]
    edges: list[_Edge]


def read_dnn_partitioning(
    path: PathLike,
    *,
    order: Sequence[Sequence[int]] | PathLike | None = None,
    num_devices: int | None = None,
    num_microbatches: int = 1,
    memory_bytes: float | None = None,
    seconds_per_unit: float = 1e-3,
    objective: Any = "bottleneck",
    use_all_devices: bool = False,
) -> StageProblem:
    """Read a dnn-partitioning graph along a chain order.

    Parameters
    ----------
    path
        The file.
    order
        The chain: for each position the node ids that stay together; or a JSON file with such a
        list, or with an object that has one under the name of the graph's file without suffix. May
        be left out where the edges allow one order only.
    num_devices
        ``D``; by default the file's ``maxFPGAs``.
    num_microbatches, objective, use_all_devices
        As in :class:`stagecut.StageProblem`; dnn-partitioning minimises the bottleneck and may
        leave accelerators idle.
    memory_bytes
        Bytes of one accelerator; by default the file's ``maxSizePerFPGA``.
    seconds_per_unit
        The file names no unit of time; its figures fit milliseconds.

    Raises
    ------
    FormatError
        If the file is not such a graph, or the order does not hold each node once.
    """
    graph = validated(_Graph, read_json(path), path)
    ids = [node.id for node in graph.nodes]
    if order is None:
        edges = [(edge.source, edge.target) for edge in graph.edges]
        order = [[node] for node in topological_order(ids, edges, path)]
    elif isinstance(order, str | os.PathLike):
        order = _order_from(order, Path(path).stem)
    position = _positions(order, ids, path)
    latency, size = np.zeros(len(order)), np.zeros(len(order))
    for node in graph.nodes:
        latency[position[node.id]] += node.latency
        size[position[node.id]] += node.size
    capacity = graph.memory if memory_bytes is None else memory_bytes
    seconds = (range_sums(latency) + _cut_costs(graph.edges, position, len(order), path)) * (
        seconds_per_unit
    )
    return StageProblem(
        np.where(range_sums(size) > capacity, np.inf, seconds)[:, :, None],
        [(1, 1)],
        graph.accelerators if num_devices is None else num_devices,
        num_microbatches,
        objective=objective,
        use_all_devices=use_all_devices,
        layer_names=["+".join(map(str, group)) for group in order],
    )


def _order_from(path: PathLike, name: str) -> Sequence[Sequence[int]]:
    value: Any = read_json(path)
    if isinstance(value, dict):
        if name not in value:
            raise FormatError(f"{path} has no order for {name!r}, only for {', '.join(value)}")
        value = value[name]
    if not isinstance(value, list):
        raise FormatError(f"{path} must hold a list of lists of node ids")
    return value


def _positions(order: Sequence[Sequence[int]], ids: list[int], path: PathLike) -> dict[int, int]:
    try:
        placed = [(node, k) for k, group in enumerate(order) for node in group]
        named = sorted(node for node, _ in placed)
    except TypeError:
        raise FormatError("order must be a list of lists of node ids") from None
    if named != sorted(ids):
        odd = sorted(set(named) ^ set(ids)) or sorted({n for n in named if named.count(n) > 1})
        raise FormatError(f"order must hold each node of {path} once; look at node {odd[0]}")
    return dict(placed)


def _cut_costs(
    edges: list[_Edge], position: dict[int, int], num_positions: int, path: PathLike
) -> npt.NDArray[np.float64]:
    """Transfer time of every range, shape ``(K, K)``, in the file's unit."""
    first, last = np.ogrid[:num_positions, :num_positions]
    cut: dict[int, npt.NDArray[np.bool_]] = {}
    costs: dict[int, float] = {}
    for edge in edges:
        if edge.source not in position or edge.target not in position:
            raise FormatError(
                f"{path}: an edge joins {edge.source} and {edge.target}, not both there"
            )
        inside = [
            (first <= position[end]) & (position[end] <= last) for end in (edge.source, edge.target)
        ]
        crossing = inside[0] ^ inside[1]
        cut[edge.source] = cut.get(edge.source, np.False_) | crossing
        costs[edge.source] = edge.cost
    total = np.zeros((num_positions, num_positions))
    for source, crossing in cut.items():
        total += costs[source] * crossing
    return total
