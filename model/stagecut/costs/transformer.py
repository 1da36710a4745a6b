"""Layer profiles of transformers from published figures, where nothing was measured.

Formulas, units and sources: docs/transformer.md. Symbols: ``b`` sequences of a micro-batch, ``t``
tensor-parallel degree, ``w`` bytes per element, ``eta`` share of the peak that is reached.
"""

from collections.abc import Iterable
from typing import Literal

from stagecut.costs.architecture import TransformerSpec
from stagecut.costs.devices import Device
from stagecut.costs.devices import device as known_device
from stagecut.costs.profile import SCHEDULES, Cluster, Layer, LayerProfile, Schedule
from stagecut.costs.timing import LayerTiming
from stagecut.costs.work import RECOMPUTE, LayerWork, Recompute, WorkModel
from stagecut.errors import ProblemError
from stagecut.problem import positive_integer

Precision = Literal["fp32", "tf32", "fp16", "bf16", "fp8"]

ELEMENT_BYTES = {"fp32": 4, "tf32": 4, "fp16": 2, "bf16": 2, "fp8": 2}
"""``w`` by precision; with fp8 products, weights and activations stay in 16 bits."""

ADAM_BYTES = 16
"""Weight, gradient and optimiser state of one parameter (Rajbhandari et al., 2020, section 3)."""


def transformer_profile(
    spec: TransformerSpec,
    device: Device | str,
    *,
    hosts: int,
    devices_per_host: int | None = None,
    micro_batch: int,
    num_microbatches: int,
    precision: Precision = "fp16",
    efficiency: float = 0.5,
    tensor_parallel_degrees: Iterable[int] | None = None,
    recompute: Recompute = "selective",
    schedule: Schedule = "1f1b",
    name: str | None = None,
) -> LayerProfile:
    """Return the layer profile of a transformer on a cluster of one kind of device.

    Parameters
    ----------
    spec
        The model.
    device
        A :class:`~stagecut.costs.devices.Device` or the name of a known one.
    hosts, devices_per_host
        The cluster; by default as many devices per host as the device's usual server has.
    micro_batch, num_microbatches
        ``b`` sequences in a micro-batch, and ``B``.
    precision
        Of the matrix products, one that the device has a figure for.
    efficiency
        ``eta`` in (0, 1]: share of the peak FLOP/s that matrix products reach.
    tensor_parallel_degrees
        Degrees to time, each a divisor of the number of heads; by default the powers of two up to
        a host.
    recompute
        What the backward pass does again: ``"none"``, ``"selective"`` or ``"full"``.
    schedule
        ``"1f1b"``, ``"gpipe"``, or ``"inference"``: forward only, weights without gradients and
        optimiser state, and keys and values kept instead of activations.
    name
        Name of the profile; by default model and cluster.

    Returns
    -------
    LayerProfile
        Embedding, decoder layers, extra prediction layers and head.

    Raises
    ------
    ProblemError
        If an argument breaks a rule, or a device or precision is not known.

    Examples
    --------
    >>> from stagecut.costs.models import GPT3_2_6B
    >>> profile = transformer_profile(
    ...     GPT3_2_6B, "V100", hosts=1, micro_batch=8, num_microbatches=64
    ... )
    >>> len(profile.layers), profile.degrees
    (34, (1, 2, 4, 8))
    >>> print(f"{1e3 * profile.layers[1].forward_seconds[1]:.1f} ms")
    22.0 ms
    """
    chip = known_device(device) if isinstance(device, str) else device
    per_host = chip.devices_per_host if devices_per_host is None else devices_per_host
    cluster = Cluster(hosts, per_host, chip.memory_bytes, chip.intra_host, chip.inter_host)
    _check_choices(efficiency, recompute, schedule)
    chip.flops(precision)
    degrees = _degrees(spec, cluster, tensor_parallel_degrees)
    element_bytes = ELEMENT_BYTES[precision]
    sequences = positive_integer("micro_batch", micro_batch)
    timing = LayerTiming(chip, precision, efficiency, recompute, per_host)
    training = schedule != "inference"
    return LayerProfile(
        name=name or f"{spec.name} on {cluster.num_devices} x {chip.name}",
        source=_source(spec, chip, precision, efficiency, recompute),
        layers=tuple(
            _layer(work, timing, degrees, element_bytes, training)
            for work in WorkModel(spec, sequences, element_bytes, recompute).layers()
        ),
        cluster=cluster,
        micro_batch=sequences,
        num_microbatches=num_microbatches,
        schedule=schedule,
        state_factor=ADAM_BYTES / element_bytes if training else 1.0,
    )


def _layer(
    work: LayerWork, timing: LayerTiming, degrees: list[int], element_bytes: int, training: bool
) -> Layer:
    return Layer(
        name=work.name,
        kind=work.kind,
        forward_seconds={degree: timing.forward_seconds(work, degree) for degree in degrees},
        backward_seconds={degree: timing.backward_seconds(work, degree) for degree in degrees},
        parameter_bytes=work.parameters * element_bytes,
        activation_bytes=work.activation_bytes if training else work.cache_bytes,
        boundary_bytes=work.boundary_bytes,
    )


def _degrees(spec: TransformerSpec, cluster: Cluster, given: Iterable[int] | None) -> list[int]:
    """Degrees to time, ascending."""
    if given is None:
        powers = (1 << bit for bit in range(cluster.devices_per_host.bit_length()))
        return [degree for degree in powers if spec.num_heads % degree == 0]
    degrees = sorted({positive_integer("tensor_parallel_degrees", degree) for degree in given})
    if not degrees:
        raise ProblemError("tensor_parallel_degrees must name at least one degree, got none")
    for degree in degrees:
        if spec.num_heads % degree:
            raise ProblemError(
                f"tensor_parallel_degrees must divide the number of heads ({spec.num_heads}), "
                f"got {degree}"
            )
    return degrees


def _check_choices(efficiency: float, recompute: str, schedule: str) -> None:
    if not 0 < efficiency <= 1:
        raise ProblemError(f"efficiency must be in (0, 1], got {efficiency!r}")
    if recompute not in RECOMPUTE:
        raise ProblemError(f"recompute must be one of {', '.join(RECOMPUTE)}, got {recompute!r}")
    if schedule not in SCHEDULES:
        raise ProblemError(f"schedule must be one of {', '.join(SCHEDULES)}, got {schedule!r}")


def _source(
    spec: TransformerSpec, chip: Device, precision: str, efficiency: float, recompute: str
) -> str:
    """One sentence with the figures that the times come from."""
    reference = f" ({spec.source})" if spec.source else ""
    return (
        f"analytic model of stagecut.costs.transformer: {spec.name}{reference}, "
        f"{spec.num_parameters:,} parameters, sequence {spec.sequence_length}; {chip.name}: "
        f"{chip.flops(precision):g} FLOP/s in {precision} at efficiency {efficiency:g}, "
        f"{chip.memory_bytes:g} bytes, {chip.memory_bandwidth:g} B/s, "
        f"links {chip.intra_host.bandwidth:g} and {chip.inter_host.bandwidth:g} B/s "
        f"({chip.source}); recompute {recompute}"
    )
