"""Galvatron's computation and memory profiles (Miao et al., VLDB 2023) as a layer profile.

Per sample: ``f`` forward ms of a layer, ``o`` forward ms of the rest of the model, ``A`` MiB of
activations; ``W`` MiB of a layer's weights in 32 bits. As in Galvatron's own cost model the
backward pass takes twice the forward one, embedding and head take half of ``o`` each, and weights,
gradients and optimiser state take ``4 W``. The files hold times on one device only, so the one
tensor-parallel degree is 1.
"""

from typing import Annotated, Any

from pydantic import Field, RootModel

from stagecut.costs import Cluster, Layer, LayerProfile, Link
from stagecut.costs.profile import LayerKind, Schedule
from stagecut.errors import FormatError
from stagecut.formats.external import Foreign, Number, validated
from stagecut.formats.files import PathLike, read_json
from stagecut.problem import positive_integer

BACKWARD = 2.0
"""Backward time over forward time."""

STATE_FACTOR = 4.0
"""Bytes of weights, gradients and optimiser state per byte of weights in 32 bits."""

MEBIBYTE = 2**20

type Held = tuple[float, float]
"""MiB of weights in 32 bits, and of activations per sample."""


class _Times(RootModel[dict[str, Number]]):
    """Milliseconds by name."""


class _ByDegree(Foreign):
    one: Annotated[Number, Field(alias="1")]


class _LayerMemory(Foreign):
    parameter_size: Number
    activations: Annotated[_ByDegree, Field(alias="tp_activation_per_bsz_dict")]


class _OtherMemory(Foreign):
    model_states: _ByDegree
    activation: _ByDegree


def read_galvatron(
    path: PathLike,
    *,
    memory_profile: PathLike,
    num_layers: int,
    sequence_length: int,
    hidden_size: int,
    micro_batch: int,
    num_microbatches: int,
    hosts: int,
    devices_per_host: int,
    memory_bytes: float,
    bandwidth: float,
    host_bandwidth: float | None = None,
    element_bytes: int = 2,
    schedule: Schedule = "1f1b",
) -> LayerProfile:
    """Read Galvatron's profiles of a model with one type of layer.

    Parameters
    ----------
    path, memory_profile
        ``computation_profiling_*.json`` and ``memory_profiling_*.json``.
    num_layers
        Decoder layers of the model to plan; the files hold the figures of one.
    sequence_length, micro_batch
        Entries of the profiles.
    hidden_size, element_bytes
        Width of the hidden state and bytes of a number in it, for what stages send; the files do
        not say.
    num_microbatches, schedule
        As in :class:`stagecut.costs.LayerProfile`.
    hosts, devices_per_host, memory_bytes
        The cluster, and bytes of one device.
    bandwidth, host_bandwidth
        Bytes per second between hosts and within a host, by default the same.

    Returns
    -------
    LayerProfile
        Embedding, decoder layers and head, at tensor-parallel degree 1.

    Raises
    ------
    FormatError
        If a file is not of Galvatron's form, or has no such entry.

    Examples
    --------
    >>> read_galvatron(
    ...     "times.json",
    ...     memory_profile="memory.json",
    ...     num_layers=32, sequence_length=2048, hidden_size=4096, micro_batch=1,
    ...     num_microbatches=64, hosts=1, devices_per_host=8, memory_bytes=80e9, bandwidth=300e9,
    ... )
    Traceback (most recent call last):
    ...
    stagecut.errors.FormatError: cannot read times.json: No such file or directory
    """
    sizes = {"micro_batch": micro_batch, "sequence_length": sequence_length}
    for argument, value in {**sizes, "num_layers": num_layers, "hidden_size": hidden_size}.items():
        positive_integer(argument, value)
    layer_ms, other_ms = _milliseconds(path, micro_batch, sequence_length)
    block, first, last = _memory(memory_profile, sequence_length)
    boundary = micro_batch * sequence_length * hidden_size * element_bytes
    chain = [
        ("embedding", other_ms / 2, first),
        *((f"decoder.{k}", layer_ms, block) for k in range(num_layers)),
        ("head", other_ms / 2, last),
    ]
    return LayerProfile(
        name=f"{num_layers} layers of {path}",
        source=f"Galvatron's profiles {path} and {memory_profile}",
        layers=tuple(_layer(*entry, micro_batch, boundary) for entry in chain),
        cluster=Cluster(
            hosts,
            devices_per_host,
            memory_bytes,
            Link(bandwidth if host_bandwidth is None else host_bandwidth),
            Link(bandwidth),
        ),
        micro_batch=micro_batch,
        num_microbatches=num_microbatches,
        schedule=schedule,
        state_factor=STATE_FACTOR,
    )


def _layer(name: str, ms: float, mebibytes: Held, micro_batch: int, boundary: float) -> Layer:
    kind: LayerKind = "decoder"
    if name in ("embedding", "head"):
        kind = "embedding" if name == "embedding" else "head"
    forward = 1e-3 * micro_batch * ms
    weights, activations = mebibytes
    return Layer(
        name,
        kind,
        {1: forward},
        {1: BACKWARD * forward},
        MEBIBYTE * weights,
        MEBIBYTE * micro_batch * activations,
        0 if kind == "head" else boundary,
    )


def _milliseconds(path: PathLike, micro_batch: int, sequence_length: int) -> tuple[float, float]:
    """Return forward ms per sample of a layer and of the rest of the model."""
    times = validated(_Times, read_json(path), path).root
    prefix, suffix = "layertype_0_", f"bsz{micro_batch}_seq{sequence_length}"
    known = [key.removeprefix(prefix) for key in times if key.startswith(prefix)]
    if suffix not in known or f"layertype_other_{suffix}" not in times:
        raise FormatError(
            f"{path}: micro_batch and sequence_length must be one of "
            f"{', '.join(known) or 'none'}, got {suffix}"
        )
    return times[prefix + suffix], times[f"layertype_other_{suffix}"]


def _memory(path: PathLike, sequence_length: int) -> tuple[Held, Held, Held]:
    """Return what a layer, the embedding and the head hold."""
    tables = read_json(path)
    block = validated(_LayerMemory, _section(tables, "layertype_0", path, sequence_length), path)
    first, last = (
        validated(
            _OtherMemory,
            _section(tables, f"other_memory_pp_on_{end}", path, sequence_length),
            path,
        )
        for end in ("first", "last")
    )
    return (
        (block.parameter_size, block.activations.one),
        (first.model_states.one / STATE_FACTOR, first.activation.one),
        (last.model_states.one / STATE_FACTOR, last.activation.one),
    )


def _section(tables: Any, name: str, path: PathLike, sequence_length: int) -> Any:
    """Return the figures of one sequence length, with the sequence split where both are there."""
    found = [tables.get(key) for key in (f"{name}_sp", name)] if isinstance(tables, dict) else []
    for table in found:
        if isinstance(table, dict) and str(sequence_length) in table:
            return table[str(sequence_length)]
    raise FormatError(f"{path}: {name}_sp has no sequence_length {sequence_length}")
