"""Layer profiles: what was measured (or computed) per layer, and the cluster it will run on."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal, get_args

from stagecut.costs.collectives import Link
from stagecut.errors import ProblemError
from stagecut.problem import positive_integer

LayerKind = Literal["embedding", "decoder", "mtp", "head", "other"]
Schedule = Literal["1f1b", "gpipe", "inference"]
LAYER_KINDS: tuple[str, ...] = get_args(LayerKind)
SCHEDULES: tuple[str, ...] = get_args(Schedule)


@dataclass(frozen=True, slots=True)
class Layer:
    """One layer of the chain.

    Parameters
    ----------
    name
        Name, as the model calls it.
    kind
        ``"embedding"``, ``"decoder"``, ``"mtp"`` (extra prediction), ``"head"`` or ``"other"``.
    forward_seconds, backward_seconds
        Seconds of one micro-batch by tensor-parallel degree; both name the same degrees.
    parameter_bytes
        Bytes of the layer's parameters on all devices of a tensor-parallel group together.
    activation_bytes
        Bytes kept for the backward pass per micro-batch in flight, group together.
    boundary_bytes
        Bytes of one micro-batch handed to the next layer; as many come back as gradients.
    spread_seconds
        By how much a micro-batch may take longer, forward and backward together, for the same
        degrees; ``None`` where nobody knows.
    """

    name: str
    kind: LayerKind
    forward_seconds: Mapping[int, float]
    backward_seconds: Mapping[int, float]
    parameter_bytes: float = 0.0
    activation_bytes: float = 0.0
    boundary_bytes: float = 0.0
    spread_seconds: Mapping[int, float] | None = None

    def __post_init__(self) -> None:
        if self.kind not in LAYER_KINDS:
            raise ProblemError(
                f"layer {self.name!r}: kind must be one of {', '.join(LAYER_KINDS)}, "
                f"got {self.kind!r}"
            )
        for field in ("forward_seconds", "backward_seconds", "spread_seconds"):
            given = getattr(self, field)
            if given is not None:
                times = _times(self.name, field, given)
                object.__setattr__(self, field, MappingProxyType(times))
        for field in ("backward_seconds", "spread_seconds"):
            other = getattr(self, field)
            if other is not None and set(self.forward_seconds) != set(other):
                raise ProblemError(
                    f"layer {self.name!r}: forward_seconds and {field} must name the same "
                    f"tensor-parallel degrees, got {sorted(self.forward_seconds)} and "
                    f"{sorted(other)}"
                )
        for field in ("parameter_bytes", "activation_bytes", "boundary_bytes"):
            _at_least_zero(f"layer {self.name!r}: {field}", "bytes", getattr(self, field))


@dataclass(frozen=True, slots=True)
class Cluster:
    """The devices.

    Parameters
    ----------
    hosts, devices_per_host
        Shape of the cluster.
    memory_bytes
        Bytes of one device.
    intra_host, inter_host
        Links of one device within a host and between hosts.
    """

    hosts: int
    devices_per_host: int
    memory_bytes: float
    intra_host: Link
    inter_host: Link

    def __post_init__(self) -> None:
        positive_integer("cluster hosts", self.hosts)
        positive_integer("cluster devices_per_host", self.devices_per_host)
        if not self.memory_bytes > 0:
            raise ProblemError(f"cluster memory_bytes must be above 0, got {self.memory_bytes!r}")

    @property
    def num_devices(self) -> int:
        """Devices of all hosts together."""
        return self.hosts * self.devices_per_host


@dataclass(frozen=True, slots=True)
class LayerProfile:
    """A chain of layers, a cluster and a schedule: all that a cost table is made from.

    Parameters
    ----------
    name
        Name of model and cluster.
    source
        Where the figures come from.
    layers
        The chain, in order.
    cluster
        The devices.
    micro_batch
        Samples in a micro-batch; data-parallel replicas share them evenly.
    num_microbatches
        ``B``.
    schedule
        ``"1f1b"``: ``min(B, successors + 1)`` micro-batches in flight; ``"gpipe"``: ``B``;
        ``"inference"``: 1, and no backward pass.
    state_factor
        Bytes of parameters, gradients and optimiser state per byte of parameters; 8 is Adam in
        mixed precision (2 + 2 + 12 bytes for a 2-byte parameter).

    Raises
    ------
    ProblemError
        If a field breaks a rule.
    """

    name: str
    source: str
    layers: tuple[Layer, ...]
    cluster: Cluster
    micro_batch: int
    num_microbatches: int
    schedule: Schedule = "1f1b"
    state_factor: float = 8.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "layers", tuple(self.layers))
        if not self.layers:
            raise ProblemError("a layer profile must have at least one layer, got none")
        positive_integer("micro_batch", self.micro_batch)
        positive_integer("num_microbatches", self.num_microbatches)
        if self.schedule not in SCHEDULES:
            raise ProblemError(
                f"schedule must be one of {', '.join(SCHEDULES)}, got {self.schedule!r}"
            )
        _at_least_zero("state_factor", "bytes per byte", self.state_factor)

    @property
    def degrees(self) -> tuple[int, ...]:
        """Tensor-parallel degrees that some layer has times for, ascending: the config axis."""
        return tuple(sorted({degree for layer in self.layers for degree in layer.forward_seconds}))


def _times(layer: str, field: str, times: Mapping[int, float]) -> dict[int, float]:
    if not times:
        raise ProblemError(f"layer {layer!r}: {field} must name at least one degree, got none")
    for degree, seconds in times.items():
        positive_integer(f"layer {layer!r}: tensor-parallel degree", degree)
        _at_least_zero(f"layer {layer!r}: {field}[{degree}]", "seconds", seconds)
    return {degree: float(times[degree]) for degree in sorted(times)}


def _at_least_zero(name: str, unit: str, value: float) -> None:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < math.inf:
        raise ProblemError(f"{name} must be {unit} >= 0, got {value!r}")
