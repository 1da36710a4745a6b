"""One block of a PyTorch model: its times and its bytes."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from stagecut.errors import ProblemError

HIGH = 90
"""Percentile of the repeated runs that the spread reaches up to."""


@dataclass(frozen=True, slots=True)
class Measured:
    """What one block takes, for one micro-batch.

    Parameters
    ----------
    forward_seconds, backward_seconds
        Medians; backward is 0 without gradients.
    spread_seconds
        How far the 90th percentile lies above the median, forward and backward added.
    parameter_bytes
        Of its parameters, each once.
    saved_bytes
        Its input, and what autograd saves, without parameters, buffers and the output, which is the
        next block's input; 0 without gradients.
    output_bytes
        Of its output.
    """

    forward_seconds: float
    backward_seconds: float
    spread_seconds: float
    parameter_bytes: int
    saved_bytes: int
    output_bytes: int


class Block:
    """A module, what comes in and what goes out.

    Parameters
    ----------
    torch
        The module ``torch``.
    name
        Name of the block, for messages.
    module
        The block.
    inputs
        What it is called with, as detached tensors.
    device
        Where it runs.
    training
        Whether it runs in training mode with gradients, or in evaluation mode without.
    """

    def __init__(
        self,
        torch: Any,
        name: str,
        module: Any,
        inputs: tuple[Any, ...],
        device: Any,
        training: bool,
    ) -> None:
        self._torch, self._name, self._module = torch, name, module
        self._device, self._training = device, training
        self._given = inputs
        self.outputs: tuple[Any, ...] = ()
        module.train(training)

    def measure(self, warmup: int, repeats: int) -> Measured:
        """Run the block and return what it takes; its outputs are kept for the next block."""
        saved = self._saved_bytes() if self._training else 0
        for _ in range(warmup):
            self._run()
        runs = np.array([self._run() for _ in range(repeats)])
        medians = np.median(runs, axis=0)
        spread = (np.percentile(runs, HIGH, axis=0) - medians).sum()
        return Measured(
            float(medians[0]),
            float(medians[1]),
            float(spread),
            sum(_bytes(parameter) for parameter in self._module.parameters()),
            saved,
            sum(_bytes(output) for output in self.outputs),
        )

    def _run(self) -> tuple[float, float]:
        """Return seconds of one forward and one backward pass."""
        leaves, inputs = self._inputs()
        with self._gradients():
            forward, outputs = self._timed(lambda: self._forward(inputs))
        backward = self._backward(leaves, outputs)
        self.outputs = tuple(
            output.detach().requires_grad_(output.requires_grad) for output in outputs
        )
        return forward, backward

    def _inputs(self) -> tuple[list[Any], list[Any]]:
        """Return leaves to differentiate by, and copies of them that the block may overwrite."""
        leaves, inputs = [], []
        with self._gradients():
            for given in self._given:
                leaf = given.detach().clone()
                if self._training and given.requires_grad:
                    leaves.append(leaf.requires_grad_())
                inputs.append(leaf.clone() if leaf.requires_grad else leaf)
        return leaves, inputs

    def _forward(self, inputs: list[Any]) -> tuple[Any, ...]:
        try:
            value = self._module(*inputs)
        except (RuntimeError, TypeError, ValueError, IndexError) as error:
            reason = str(error).splitlines()[0] if str(error) else type(error).__name__
            raise ProblemError(
                f"model[{self._name!r}] fails on the output of the block before it: {reason}"
            ) from error
        outputs = value if isinstance(value, tuple | list) else (value,)
        if not all(isinstance(output, self._torch.Tensor) for output in outputs):
            got = ", ".join(type(output).__name__ for output in outputs)
            raise ProblemError(
                f"model[{self._name!r}] must return a tensor or a tuple of tensors, got {got}"
            )
        return tuple(outputs)

    def _backward(self, leaves: list[Any], outputs: tuple[Any, ...]) -> float:
        """Return seconds to differentiate by parameters and inputs; no gradient is written."""
        wanted = [*leaves, *(p for p in self._module.parameters() if p.requires_grad)]
        ends = [output for output in outputs if output.requires_grad]
        if not ends or not wanted:
            return 0.0
        seeds = [self._torch.ones_like(end) for end in ends]
        seconds, _ = self._timed(
            lambda: self._torch.autograd.grad(ends, wanted, seeds, allow_unused=True)
        )
        return seconds

    def _saved_bytes(self) -> int:
        """Run once and count the storages that stay for the backward pass, each once."""
        _, inputs = self._inputs()
        held: list[Any] = []

        def keep(tensor: Any) -> Any:
            held.append(tensor)
            return tensor

        hooks = self._torch.autograd.graph.saved_tensors_hooks(keep, lambda tensor: tensor)
        with self._gradients(), hooks:
            outputs = self._forward(inputs)
        own = [*self._module.parameters(), *self._module.buffers(), *outputs]
        arrived = _storages(inputs)
        left_out = _storages(own).keys() - arrived.keys()
        kept = {**_storages(held), **arrived}
        return sum(size for key, size in kept.items() if key not in left_out)

    def _gradients(self) -> Any:
        return self._torch.enable_grad() if self._training else self._torch.no_grad()

    def _timed[T](self, work: Callable[[], T]) -> tuple[float, T]:
        self._synchronise()
        start = time.perf_counter()
        value = work()
        self._synchronise()
        return time.perf_counter() - start, value

    def _synchronise(self) -> None:
        if self._device.type == "cuda":
            self._torch.cuda.synchronize(self._device)


def _bytes(tensor: Any) -> int:
    return int(tensor.numel() * tensor.element_size())


def _storages(tensors: list[Any]) -> dict[int, int]:
    """Return bytes of each storage by its address."""
    storages = [tensor.untyped_storage() for tensor in tensors]
    return {storage.data_ptr(): storage.nbytes() for storage in storages}
