"""Measure the blocks of a PyTorch model, one after the other, as a layer profile.

Each block runs on the output of the block before it. What a block takes is the median of repeated
runs, its spread how far the ninth tenth of them lies above the median. Activations are the tensors
that autograd saves for the backward pass, counted through
``torch.autograd.graph.saved_tensors_hooks``.
"""

import logging
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from stagecut.costs import Cluster, Layer, LayerProfile, Link
from stagecut.costs.profile import LayerKind, Schedule
from stagecut.costs.transformer import ADAM_BYTES
from stagecut.errors import ProblemError
from stagecut.problem import positive_integer
from stagecut.profiling.block import Block, Measured
from stagecut.profiling.torch_state import device_memory, load_torch, restored

logger = logging.getLogger(__name__)


def profile_torch(
    model: Any,
    sample: Any,
    *,
    cluster: Cluster | None = None,
    num_microbatches: int = 1,
    schedule: Schedule = "1f1b",
    micro_batch: int | None = None,
    kinds: Sequence[LayerKind] | None = None,
    tensor_parallel_degree: int = 1,
    state_factor: float | None = None,
    warmup: int = 2,
    repeats: int = 10,
    name: str | None = None,
) -> LayerProfile:
    """Measure each block of a model, forward and backward, on the device where it is.

    Parameters
    ----------
    model
        An ``nn.Sequential``, ``nn.ModuleList``, a list of modules or a dict of modules by name:
        the blocks in order, each of which takes what the one before it returns (a tensor or a
        tuple of tensors). Its parameters, gradients, buffers, training mode and the state of the
        random generators are as before afterwards.
    sample
        Input of the first block: one micro-batch, a tensor or a tuple of tensors. It is moved to
        the model's device and not changed.
    cluster
        The devices to plan for, as the one measured on; by default that one alone, with its
        memory.
    num_microbatches
        ``B``.
    schedule
        Under ``"inference"`` the blocks run in evaluation mode without gradients; otherwise in
        training mode.
    micro_batch
        Samples in ``sample``; by default the first dimension of its first tensor.
    kinds
        Kind of each block; by default ``"other"``.
    tensor_parallel_degree
        Degree that the model as given is split by: every process of the group holds such a model,
        and the bytes of all of them together are stated.
    state_factor
        As in :class:`stagecut.costs.LayerProfile`; by default Adam's 16 bytes per parameter, and
        1 under ``"inference"``.
    warmup, repeats
        Runs of each block that are not timed, and that are.
    name
        Name of the profile.

    Returns
    -------
    LayerProfile
        Medians, with ``spread_seconds``, at the one tensor-parallel degree.

    Raises
    ------
    ProblemError
        If the model is not such a chain, or an argument breaks a rule.
    UnsupportedError
        If PyTorch is not installed.

    Examples
    --------
    >>> from torch import nn, rand  # doctest: +SKIP
    >>> model = nn.Sequential(*(nn.Linear(64, 64) for _ in range(4)))  # doctest: +SKIP
    >>> profile = profile_torch(model, rand(8, 64))  # doctest: +SKIP
    >>> [layer.parameter_bytes for layer in profile.layers]  # doctest: +SKIP
    [16640.0, 16640.0, 16640.0, 16640.0]
    """
    torch = load_torch()
    blocks = _blocks(torch, model, kinds)
    positive_integer("repeats", repeats)
    if warmup != 0:
        positive_integer("warmup", warmup)
    degree = positive_integer("tensor_parallel_degree", tensor_parallel_degree)
    training = schedule != "inference"
    modules = [module for _, module, _ in blocks]
    device = _device(torch, modules)
    inputs = _tensors(torch, sample, "sample", device)
    size = _samples(inputs) if micro_batch is None else positive_integer("micro_batch", micro_batch)
    layers = []
    with restored(torch, modules, device):
        for index, (label, module, kind) in enumerate(blocks):
            block = Block(torch, label, module, inputs, device, training)
            measured = block.measure(warmup, repeats)
            logger.info("measured %s: %s", label, measured)
            inputs = block.outputs
            layers.append(_layer(label, kind, measured, degree, index == len(blocks) - 1))
    return LayerProfile(
        name=name or f"{type(model).__name__} on {device}",
        source=f"measured with PyTorch {torch.__version__} on {device}: median of {repeats} runs",
        layers=tuple(layers),
        cluster=cluster or Cluster(1, 1, device_memory(torch, device), Link(1.0), Link(1.0)),
        micro_batch=size,
        num_microbatches=num_microbatches,
        schedule=schedule,
        state_factor=_state_factor(modules, training) if state_factor is None else state_factor,
    )


def _layer(name: str, kind: LayerKind, measured: Measured, degree: int, last: bool) -> Layer:
    return Layer(
        name,
        kind,
        {degree: measured.forward_seconds},
        {degree: measured.backward_seconds},
        parameter_bytes=degree * measured.parameter_bytes,
        activation_bytes=degree * measured.saved_bytes,
        boundary_bytes=0 if last else measured.output_bytes,
        spread_seconds={degree: measured.spread_seconds},
    )


def _blocks(
    torch: Any, model: Any, kinds: Sequence[LayerKind] | None
) -> list[tuple[str, Any, LayerKind]]:
    """Return name, module and kind of each block."""
    nn = torch.nn
    if isinstance(model, nn.Sequential | nn.ModuleList | nn.ModuleDict):
        every = model.named_modules(remove_duplicate=False)
        named = [(label, module) for label, module in every if label and "." not in label]
    elif isinstance(model, Mapping):
        named = [(str(key), module) for key, module in model.items()]
    elif isinstance(model, Sequence):
        named = [(str(index), module) for index, module in enumerate(model)]
    else:
        raise ProblemError(
            "model must be an nn.Sequential, an nn.ModuleList, or a list or dict of modules, got "
            f"{type(model).__name__}; list its blocks"
        )
    if not named:
        raise ProblemError("model must hold at least one block, got none")
    for label, module in named:
        if not isinstance(module, nn.Module):
            raise ProblemError(f"model[{label!r}] must be a module, got {type(module).__name__}")
    unknown: list[LayerKind] = ["other"] * len(named)
    chosen = unknown if kinds is None else kinds
    if len(chosen) != len(named):
        raise ProblemError(f"kinds must name one kind per block ({len(named)}), got {len(chosen)}")
    return [(*pair, kind) for pair, kind in zip(named, chosen, strict=True)]


def _device(torch: Any, modules: Iterable[Any]) -> Any:
    """Return the one device of all parameters; the default device where there are none."""
    devices = {parameter.device for module in modules for parameter in module.parameters()}
    if len(devices) > 1:
        raise ProblemError(
            f"model must be on one device, got {', '.join(sorted(map(str, devices)))}"
        )
    return devices.pop() if devices else torch.get_default_device()


def _tensors(torch: Any, value: Any, name: str, device: Any) -> tuple[Any, ...]:
    values = value if isinstance(value, tuple | list) else (value,)
    if not values or not all(isinstance(item, torch.Tensor) for item in values):
        got = ", ".join(type(item).__name__ for item in values) or "none"
        raise ProblemError(f"{name} must be a tensor or a tuple of tensors, got {got}")
    return tuple(item.to(device) for item in values)


def _samples(inputs: tuple[Any, ...]) -> int:
    if not inputs[0].ndim or not len(inputs[0]):
        raise ProblemError(
            f"sample must have samples in its first dimension, got shape {tuple(inputs[0].shape)}"
            "; or give micro_batch"
        )
    return len(inputs[0])


def _state_factor(modules: Iterable[Any], training: bool) -> float:
    """Adam's bytes per parameter over those of the parameters themselves."""
    parameters = {id(p): p for module in modules for p in module.parameters()}.values()
    held = sum(p.numel() * p.element_size() for p in parameters)
    if not training or not held:
        return 1.0
    return float(ADAM_BYTES * sum(p.numel() for p in parameters) / held)
