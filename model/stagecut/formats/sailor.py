"""Sailor's own planner profiles (Strati et al., SOSP 2025), with its ``llm_info.json``.

Symbols: ``b`` bytes per second, ``mbs`` sequences in a micro-batch. Time of a range = sum of
forward and backward + ``2 mbs act_output_bytes / b`` of the layer before it and of its last layer,
where a neighbour follows. Memory with ``q`` micro-batches in flight =
``q mbs sum(act_mem_bytes) + 5 sum(params_bytes)``, Sailor's factors. The update step is left out.
"""

from typing import Annotated, Any

import numpy as np
import numpy.typing as npt
from pydantic import Field, RootModel

from stagecut.costs import max_successors
from stagecut.costs.ranges import range_sums
from stagecut.errors import FormatError
from stagecut.formats.external import Foreign, Number, degrees_of, validated
from stagecut.formats.files import PathLike, read_json
from stagecut.problem import StageProblem

STATE_FACTOR = 5.0
"""Sailor's bytes of weights, gradients and optimiser state per byte of parameters."""

_Times = Annotated[list[Number], Field(min_length=3, max_length=3)]


class _Profile(RootModel[dict[str, dict[str, dict[str, _Times]]]]):
    """``[micro-batch][degree][layer] = [forward, backward, update]``, seconds."""


class _LayerInfo(Foreign):
    params_bytes: Number
    act_mem_bytes: Number
    act_output_bytes: Number


class _Info(RootModel[dict[str, dict[str, dict[str, _LayerInfo]]]]):
    """``[model][degree][layer]``, bytes for one sequence."""


def read_sailor(
    path: PathLike,
    *,
    llm_info: PathLike,
    model: str,
    micro_batch: int,
    num_devices: int,
    memory_bytes: float,
    bandwidth: float,
    num_microbatches: int,
    objective: Any = "training",
    use_all_devices: bool = True,
) -> StageProblem:
    """Read a Sailor planner profile; submeshes are its tensor-parallel degrees.

    Parameters
    ----------
    path, llm_info
        The profile and Sailor's ``llm_info.json``.
    model
        The model's name in ``llm_info``.
    micro_batch
        Micro-batch size, an entry of the profile.
    memory_bytes, bandwidth
        Bytes of one device, bytes per second between stages.
    num_devices, num_microbatches, objective, use_all_devices
        As in :class:`stagecut.StageProblem`.

    Raises
    ------
    FormatError
        If a file is not of Sailor's form, or has no such model, micro-batch or layer.
    """
    times = _pick(validated(_Profile, read_json(path), path).root, "micro_batch", micro_batch, path)
    info = _pick(validated(_Info, read_json(llm_info), llm_info).root, "model", model, llm_info)
    degrees = [str(degree) for degree in degrees_of([times], path)]
    num_layers = len(times[degrees[0]])
    shape = (num_layers, num_layers, len(degrees))
    cost, limit = np.zeros(shape), np.zeros(shape, dtype=np.int64)
    for m, degree in enumerate(degrees):
        bytes_of = _pick(info, "tensor-parallel degree", degree, llm_info)
        layers = [_pick(bytes_of, "layer", str(k), llm_info) for k in range(num_layers)]
        measured = [_pick(times[degree], "layer", str(k), path) for k in range(num_layers)]
        sent = np.array([2 * micro_batch * layer.act_output_bytes / bandwidth for layer in layers])
        cost[:, :, m] = _seconds([forward + backward for forward, backward, _ in measured], sent)
        limit[:, :, m] = max_successors(
            state=STATE_FACTOR * range_sums([layer.params_bytes for layer in layers]),
            activation=micro_batch * range_sums([layer.act_mem_bytes for layer in layers]),
            capacity=memory_bytes,
            num_microbatches=num_microbatches,
            schedule="1f1b",
        )
    return StageProblem(
        np.where(limit < 0, np.inf, cost),
        [(1, int(degree)) for degree in degrees],
        num_devices,
        num_microbatches,
        max_successors=limit,
        objective=objective,
        use_all_devices=use_all_devices,
    )


def _seconds(times: list[float], sent: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    before = np.insert(sent[:-1], 0, 0.0)
    after = np.append(sent[:-1], 0.0)
    seconds: npt.NDArray[np.float64] = range_sums(times) + before[:, None] + after[None, :]
    return seconds


def _pick[V](table: dict[str, V], name: str, key: object, path: PathLike) -> V:
    if str(key) not in table:
        raise FormatError(f"{path}: {name} must be one of {', '.join(table)}, got {key!r}")
    return table[str(key)]
