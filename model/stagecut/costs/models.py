"""Published models as :class:`TransformerSpec`, each with its source."""

from stagecut.costs.architecture import TransformerSpec
from stagecut.costs.blocks import LatentAttention, MixtureOfExperts


def gpt3(
    name: str,
    hidden_size: int,
    num_layers: int,
    num_heads: int,
    sequence_length: int = 1024,
    source: str = "",
) -> TransformerSpec:
    """Return a model of the GPT-3 family: ``f = 4 h``, biases, learned positions, tied embeddings.

    Source: Brown et al., "Language Models are Few-Shot Learners", 2020, section 2.1; vocabulary
    padded to 51,200 as in Narayanan et al., SC 2021, section 5.1.

    Examples
    --------
    >>> round(gpt3("GPT-3 2.6B", 2560, 32, 32).num_parameters / 1e9, 2)
    2.65
    """
    return TransformerSpec(
        name=name,
        hidden_size=hidden_size,
        num_heads=num_heads,
        num_layers=num_layers,
        ffn_size=4 * hidden_size,
        vocabulary_size=51200,
        sequence_length=sequence_length,
        biases=True,
        learned_positions=True,
        dropout=True,
        tied_embeddings=True,
        source=source,
    )


_ALPA = "Zheng et al., OSDI 2022, GPT-3 models of the evaluation"

GPT3_2_6B = gpt3("GPT-3 2.6B", 2560, 32, 32, source=_ALPA)
"""h 2560, 32 layers, 32 heads, sequence 1024 (Zheng et al., OSDI 2022)."""

GPT3_39B = gpt3("GPT-3 39B", 8192, 48, 64, source=_ALPA)
"""h 8192, 48 layers, 64 heads, sequence 1024 (Zheng et al., OSDI 2022)."""

LLAMA3_70B = TransformerSpec(
    name="Llama 3 70B",
    hidden_size=8192,
    num_heads=64,
    num_kv_heads=8,
    num_layers=80,
    ffn_size=28672,
    gated=True,
    vocabulary_size=128256,
    sequence_length=8192,
    source="Llama team, The Llama 3 Herd of Models, 2024, table 3",
)
"""Head matrix not tied; sequence of the main part of pre-training."""

DEEPSEEK_V3 = TransformerSpec(
    name="DeepSeek-V3",
    hidden_size=7168,
    num_heads=128,
    head_size=128,
    num_layers=61,
    ffn_size=18432,
    gated=True,
    vocabulary_size=129280,
    sequence_length=4096,
    experts=MixtureOfExperts(
        num_experts=256,
        experts_per_token=8,
        expert_ffn_size=2048,
        num_shared_experts=1,
        num_dense_layers=3,
    ),
    latent_attention=LatentAttention(
        query_rank=1536, kv_rank=512, rope_head_size=64, value_head_size=128
    ),
    num_mtp_layers=1,
    source="DeepSeek-AI, DeepSeek-V3 Technical Report, 2024, section 4.2",
)
"""61 layers of low-rank attention, the last 58 with 256 experts and a shared one; vocabulary of the
model's published configuration."""
