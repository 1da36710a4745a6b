"""Piper's JSON profile of a chain (Tarnawski et al., NeurIPS 2021); Sailor's files use it too.

Symbols: node ``k`` with time ``T``, activations ``A`` and weights ``W`` in bytes at a degree of
tensor parallelism; ``b`` bytes per second. Time of a range = sum of ``T`` + for each cut edge
``2 (communicationCost + sync) / b``; memory with ``q`` micro-batches in flight = sum of
``q A + W``.
"""

from typing import Annotated, Any

import numpy as np
import numpy.typing as npt
from pydantic import Field

from stagecut.costs import max_successors
from stagecut.costs.ranges import range_sums
from stagecut.errors import FormatError
from stagecut.formats.external import Foreign, Number, chain_order, degrees_of, validated
from stagecut.formats.files import PathLike, read_json
from stagecut.problem import StageProblem

type Float = npt.NDArray[np.float64]


class _Entry(Foreign):
    id: str
    time: Annotated[Number, Field(alias="timePerSample")]
    activations: Annotated[Number, Field(alias="memoryUsageA")]
    weights: Annotated[Number, Field(alias="memoryUsageB")]
    sync_forward: Annotated[dict[str, Number], Field(alias="syncTimeFw", default_factory=dict)]
    sync_backward: Annotated[dict[str, Number], Field(alias="syncTimeBw", default_factory=dict)]


class _Node(Foreign):
    id: int
    name: str = ""
    entries: Annotated[dict[str, list[_Entry]], Field(alias="TMPCs", min_length=1)]


class _Edge(Foreign):
    source: Annotated[int, Field(alias="sourceId")]
    target: Annotated[int, Field(alias="destId")]
    communication: Annotated[Number, Field(alias="communicationCost")]


class _Profile(Foreign):
    memory: Annotated[Number, Field(alias="maxMemoryPerDevice")]
    bandwidth: Number
    nodes: Annotated[list[_Node], Field(min_length=1)]
    edges: list[_Edge]


def read_piper(
    path: PathLike,
    *,
    num_devices: int,
    num_microbatches: int,
    bandwidth: float | None = None,
    memory_bytes: float | None = None,
    micro_batch: int | None = None,
    objective: Any = "bottleneck",
    use_all_devices: bool = False,
) -> StageProblem:
    """Read a Piper profile; submeshes are its tensor-parallel degrees, configs its entry ids.

    Parameters
    ----------
    path
        The file.
    num_devices, num_microbatches, objective, use_all_devices
        As in :class:`stagecut.StageProblem`; Piper minimises the bottleneck and may leave devices
        idle.
    bandwidth
        Bytes per second; by default the file's, unless that is the placeholder 1.
    memory_bytes
        Bytes of one device; by default the file's.
    micro_batch
        Which top-level entry to take, where the file holds one profile per micro-batch size.

    Raises
    ------
    FormatError
        If the file is not such a profile, or its nodes are not a chain.
    """
    profile = validated(_Profile, _chosen(read_json(path), micro_batch, path), path)
    speed = profile.bandwidth if bandwidth is None else bandwidth
    if bandwidth is None and speed <= 1:
        raise FormatError(
            f"{path}: bandwidth is {speed:g}, a placeholder; give bandwidth in bytes per second"
        )
    edges = [(edge.source, edge.target) for edge in profile.edges]
    nodes = {node.id: node for node in profile.nodes}
    if len(nodes) < len(profile.nodes):
        raise FormatError(f"{path}: nodes must have distinct ids")
    chain = [nodes[node] for node in chain_order(list(nodes), edges, path)]
    bytes_sent = {(e.source, e.target): e.communication for e in profile.edges}
    degrees = degrees_of((node.entries for node in chain), path)
    configs = list(dict.fromkeys(e.id for n in chain for es in n.entries.values() for e in es))
    shape = (len(chain), len(chain), len(degrees), len(configs))
    cost, limit = np.full(shape, np.inf), np.full(shape, -1, dtype=np.int64)
    for m, degree in enumerate(degrees):
        for c, config in enumerate(configs):
            entries = [_entry(node, degree, config) for node in chain]
            cost[:, :, m, c] = _seconds(chain, entries, bytes_sent, speed)
            limit[:, :, m, c] = max_successors(
                state=_sums(entries, "weights"),
                activation=_sums(entries, "activations"),
                capacity=profile.memory if memory_bytes is None else memory_bytes,
                num_microbatches=num_microbatches,
                schedule="1f1b",
            )
    return StageProblem(
        np.where(limit < 0, np.inf, cost),
        [(1, degree) for degree in degrees],
        num_devices,
        num_microbatches,
        max_successors=np.where(np.isfinite(cost), limit, -1),
        objective=objective,
        use_all_devices=use_all_devices,
        layer_names=[node.name or str(node.id) for node in chain],
    )


def _chosen(value: Any, micro_batch: int | None, path: PathLike) -> Any:
    """Return the profile itself, or the one of a micro-batch size."""
    if not isinstance(value, dict) or "nodes" in value:
        return value
    sizes = [key for key in value if key.isdecimal()]
    if str(micro_batch) not in sizes:
        raise FormatError(
            f"{path}: micro_batch must be one of {', '.join(sizes) or 'none'}, got {micro_batch!r}"
        )
    return value[str(micro_batch)]


def _entry(node: _Node, degree: int, config: str) -> _Entry | None:
    found = [e for e in node.entries.get(str(degree), []) if e.id == config]
    return found[0] if found else None


def _sums(entries: list[_Entry | None], name: str) -> Float:
    return range_sums([0.0 if e is None else getattr(e, name) for e in entries])


def _seconds(
    chain: list[_Node],
    entries: list[_Entry | None],
    bytes_sent: dict[tuple[int, int], float],
    bandwidth: float,
) -> Float:
    """Seconds of every range, ``inf`` where a node has no entry."""
    before, after = np.zeros(len(chain)), np.zeros(len(chain))
    for k in range(len(chain) - 1):
        tail, head = chain[k].id, chain[k + 1].id
        sent, out, into = bytes_sent[tail, head], entries[k], entries[k + 1]
        if out is not None:
            after[k] = 2 * (sent + out.sync_backward.get(str(head), 0.0)) / bandwidth
        if into is not None:
            before[k + 1] = 2 * (sent + into.sync_forward.get(str(tail), 0.0)) / bandwidth
    times = [np.inf if e is None else e.time for e in entries]
    seconds: Float = range_sums(times) + before[:, None] + after[None, :]
    return seconds
