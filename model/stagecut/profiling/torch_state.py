"""PyTorch and the state of a model: loaded late, put back afterwards."""

import importlib
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from stagecut.errors import ProblemError, UnsupportedError


def load_torch() -> Any:
    """Return the module ``torch``.

    Raises
    ------
    UnsupportedError
        If it is not installed.
    """
    try:
        return importlib.import_module("torch")
    except ImportError:
        raise UnsupportedError(
            "measuring a model needs PyTorch; install it with: pip install 'stagecut[torch]'"
        ) from None


@contextmanager
def restored(torch: Any, modules: Iterable[Any], device: Any) -> Iterator[None]:
    """Put training modes, buffers and the random generators' states back at the end.

    Gradients need no care: blocks are differentiated without writing any.
    """
    every = {id(child): child for module in modules for child in module.modules()}.values()
    modes = [(child, child.training) for child in every]
    buffers = [
        (child, name, buffer, buffer.detach().clone())
        for child in every
        for name, buffer in child.named_buffers(recurse=False)
    ]
    own = [] if device.type == "cpu" else [device]
    try:
        with torch.random.fork_rng(own, device_type="cuda" if not own else device.type):
            yield
    finally:
        for child, mode in modes:
            child.training = mode
        with torch.no_grad():
            for child, name, buffer, value in buffers:
                setattr(child, name, buffer.copy_(value))


def device_memory(torch: Any, device: Any) -> float:
    """Return the bytes of a device's memory.

    Raises
    ------
    ProblemError
        If it is not known.
    """
    if device.type == "cuda":
        return float(torch.cuda.get_device_properties(device).total_memory)
    try:
        return float(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    except (AttributeError, ValueError, OSError):
        raise ProblemError(f"the memory of {device} is not known; give cluster") from None
