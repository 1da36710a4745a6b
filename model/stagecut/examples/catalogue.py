"""What the packaged examples are: a published model, devices, and a schedule."""

from collections.abc import Callable, Mapping
from types import MappingProxyType

from stagecut.costs.models import DEEPSEEK_V3, GPT3_2_6B, GPT3_39B, LLAMA3_70B
from stagecut.costs.profile import LayerProfile
from stagecut.costs.transformer import transformer_profile


def _gpt3_2_6b() -> LayerProfile:
    return transformer_profile(
        GPT3_2_6B, "V100-16GB", hosts=1, micro_batch=1, num_microbatches=1024, efficiency=0.4
    )


def _gpt3_39b() -> LayerProfile:
    return transformer_profile(
        GPT3_39B, "V100-16GB", hosts=8, micro_batch=1, num_microbatches=1024, efficiency=0.4
    )


def _llama3_70b() -> LayerProfile:
    return transformer_profile(
        LLAMA3_70B, "H100", hosts=8, micro_batch=1, num_microbatches=256, precision="bf16"
    )


def _moe_61_layer() -> LayerProfile:
    return transformer_profile(
        DEEPSEEK_V3,
        "H200",
        hosts=16,
        micro_batch=4,
        num_microbatches=256,
        precision="fp8",
        efficiency=0.3,
    )


BUILDERS: Mapping[str, Callable[[], LayerProfile]] = MappingProxyType(
    {
        "gpt3-2.6b": _gpt3_2_6b,
        "gpt3-39b": _gpt3_39b,
        "llama3-70b": _llama3_70b,
        "moe-61-layer": _moe_61_layer,
    }
)
"""How each example's layer profile is computed, by the example's name."""
