"""Hugging Face ``config.json`` of Llama-, Mixtral-, DeepSeek- and Qwen-like models.

Times and bytes come from the analytic model (docs/transformer.md). Sliding windows are not
counted: attention is taken over the whole sequence.
"""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from stagecut.costs import LayerProfile, TransformerSpec, transformer_profile
from stagecut.costs.devices import Device
from stagecut.costs.profile import Schedule
from stagecut.costs.transformer import Precision
from stagecut.costs.work import Recompute
from stagecut.errors import FormatError, ProblemError
from stagecut.formats.external import validated
from stagecut.formats.files import PathLike, read_json
from stagecut.formats.huggingface_families import FAMILIES


def hf_spec(config: PathLike | Mapping[str, Any], *, sequence_length: int) -> TransformerSpec:
    """Return the model that a Hugging Face configuration describes.

    Parameters
    ----------
    config
        A ``config.json``, the folder that holds it, or its fields.
    sequence_length
        Tokens of a sequence; the configuration only knows the longest possible.

    Raises
    ------
    FormatError
        If the ``model_type`` is not known, or a field is missing or wrong.

    Examples
    --------
    >>> fields = {
    ...     "model_type": "llama", "hidden_size": 4096, "num_hidden_layers": 32,
    ...     "num_attention_heads": 32, "num_key_value_heads": 8, "intermediate_size": 14336,
    ...     "vocab_size": 128256,
    ... }
    >>> hf_spec(fields, sequence_length=8192).num_parameters
    8030261248
    """
    if isinstance(config, Mapping):
        where, fields = "config", dict(config)
    else:
        path = Path(config) / "config.json" if Path(config).is_dir() else Path(config)
        where, fields = str(path), read_json(path)
    model_type = fields.get("model_type") if isinstance(fields, dict) else None
    if not isinstance(model_type, str) or model_type not in FAMILIES:
        raise FormatError(
            f"{where}: model_type must be one of {', '.join(FAMILIES)}, got {model_type!r}"
        )
    try:
        return validated(FAMILIES[model_type], fields, where).spec(sequence_length)
    except ProblemError as error:
        raise FormatError(f"{where}: {error}") from None


def read_hf_config(
    path: PathLike | Mapping[str, Any],
    *,
    device: Device | str,
    hosts: int,
    sequence_length: int,
    micro_batch: int,
    num_microbatches: int,
    devices_per_host: int | None = None,
    precision: Precision = "fp16",
    efficiency: float = 0.5,
    tensor_parallel_degrees: Iterable[int] | None = None,
    recompute: Recompute = "selective",
    schedule: Schedule = "1f1b",
    name: str | None = None,
) -> LayerProfile:
    """Read a Hugging Face ``config.json`` as a layer profile on a cluster.

    Parameters
    ----------
    path, sequence_length
        As ``config`` and ``sequence_length`` of :func:`hf_spec`.
    device, hosts, micro_batch, num_microbatches, devices_per_host, precision, efficiency, \
tensor_parallel_degrees, recompute, schedule, name
        As in :func:`stagecut.costs.transformer_profile`.

    Raises
    ------
    FormatError
        If the ``model_type`` is not known, or a field is missing or wrong.
    ProblemError
        If another argument breaks a rule.

    Examples
    --------
    >>> fields = {
    ...     "model_type": "llama", "hidden_size": 4096, "num_hidden_layers": 32,
    ...     "num_attention_heads": 32, "num_key_value_heads": 8, "intermediate_size": 14336,
    ...     "vocab_size": 128256,
    ... }
    >>> profile = read_hf_config(
    ...     fields, device="H100", hosts=1, sequence_length=8192, micro_batch=1, num_microbatches=64
    ... )
    >>> profile.name, len(profile.layers)
    ('llama on 8 x H100-80GB', 34)
    """
    return transformer_profile(
        hf_spec(path, sequence_length=sequence_length),
        device,
        hosts=hosts,
        devices_per_host=devices_per_host,
        micro_batch=micro_batch,
        num_microbatches=num_microbatches,
        precision=precision,
        efficiency=efficiency,
        tensor_parallel_degrees=tensor_parallel_degrees,
        recompute=recompute,
        schedule=schedule,
        name=name,
    )
