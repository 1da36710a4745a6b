"""Fields of Hugging Face configurations by model family, and what they mean for the model's sizes.

What a field means, and its value where a published file may leave it out, is what the
configuration class of that ``model_type`` in Hugging Face Transformers says.
"""

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import Field

from stagecut.costs import LatentAttention, MixtureOfExperts, TransformerSpec
from stagecut.formats.external import Foreign

Count = Annotated[int, Field(ge=0)]
Size = Annotated[int, Field(ge=1)]


class HuggingFaceConfig(Foreign):
    """Fields of every model; a subclass adds its own and says what they mean for the spec."""

    model_type: str
    hidden_size: Size
    num_hidden_layers: Size
    num_attention_heads: Size
    intermediate_size: Size
    vocab_size: Size
    tie_word_embeddings: bool = False

    def parts(self) -> dict[str, Any]:
        """Arguments of the spec that this family adds."""
        raise NotImplementedError

    def spec(self, sequence_length: int) -> TransformerSpec:
        """Return the model."""
        return TransformerSpec(
            **{
                "name": self.model_type,
                "hidden_size": self.hidden_size,
                "num_heads": self.num_attention_heads,
                "num_layers": self.num_hidden_layers,
                "ffn_size": self.intermediate_size,
                "vocabulary_size": self.vocab_size,
                "sequence_length": sequence_length,
                "gated": True,
                "tied_embeddings": self.tie_word_embeddings,
                "source": "its config.json",
                **self.parts(),
            }
        )


class _Llama(HuggingFaceConfig):
    num_key_value_heads: Size | None = None
    head_dim: Size | None = None
    attention_bias: bool = False
    mlp_bias: bool = False

    @property
    def head(self) -> int:
        return self.head_dim or self.hidden_size // self.num_attention_heads

    @property
    def query_key_value(self) -> int:
        """Width of queries, keys and values together: the size of their biases."""
        kv_heads = self.num_key_value_heads or self.num_attention_heads
        return (self.num_attention_heads + 2 * kv_heads) * self.head

    def vectors(self) -> int:
        """Parameters of biases and of norms of queries and keys in a decoder layer."""
        attention = self.query_key_value + self.hidden_size
        mlp = 2 * self.intermediate_size + self.hidden_size
        return self.attention_bias * attention + self.mlp_bias * mlp

    def parts(self) -> dict[str, Any]:
        return {
            "num_kv_heads": self.num_key_value_heads,
            "head_size": self.head_dim,
            "vector_parameters": self.vectors(),
        }


class _Mixtral(_Llama):
    num_local_experts: Size
    num_experts_per_tok: Size

    def parts(self) -> dict[str, Any]:
        experts = MixtureOfExperts(
            self.num_local_experts, self.num_experts_per_tok, self.intermediate_size
        )
        return {**super().parts(), "experts": experts}


class _Qwen2(_Llama):
    """Biases of queries, keys and values."""

    qkv_bias: bool = True

    def vectors(self) -> int:
        return self.qkv_bias * self.query_key_value


class _Qwen3(_Llama):
    """Norms of queries and keys."""

    head_dim: Size | None = 128

    def vectors(self) -> int:
        return 2 * self.head + super().vectors()


class _QwenExperts(_Llama):
    moe_intermediate_size: Size
    num_experts: Count
    num_experts_per_tok: Size
    decoder_sparse_step: Size = 1
    mlp_only_layers: Annotated[list[Count], Field(default_factory=list)]

    def shared_size(self) -> int | None:
        """Feed-forward size of the shared expert, if there is one."""
        return None

    def parts(self) -> dict[str, Any]:
        if not self.num_experts:
            return super().parts()
        shared = self.shared_size()
        experts = MixtureOfExperts(
            self.num_experts,
            self.num_experts_per_tok,
            self.moe_intermediate_size,
            num_shared_experts=0 if shared is None else 1,
            shared_ffn_size=shared,
            shared_gate=shared is not None,
            dense_layers=tuple(
                layer
                for layer in range(self.num_hidden_layers)
                if layer in self.mlp_only_layers or (layer + 1) % self.decoder_sparse_step
            ),
        )
        return {**super().parts(), "experts": experts}


class _Qwen2Moe(_QwenExperts, _Qwen2):
    shared_expert_intermediate_size: Size

    def shared_size(self) -> int | None:
        return self.shared_expert_intermediate_size


class _Qwen3Moe(_QwenExperts, _Qwen3):
    pass


class _DeepSeek(HuggingFaceConfig):
    q_lora_rank: Size | None
    kv_lora_rank: Size
    qk_nope_head_dim: Size
    qk_rope_head_dim: Size
    v_head_dim: Size
    n_routed_experts: Size | None
    n_shared_experts: Count | None
    num_experts_per_tok: Size | None
    moe_intermediate_size: Size
    first_k_dense_replace: Count
    moe_layer_freq: Size = 1
    num_nextn_predict_layers: Count = 0

    def parts(self) -> dict[str, Any]:
        latent = LatentAttention(
            self.q_lora_rank, self.kv_lora_rank, self.qk_rope_head_dim, self.v_head_dim
        )
        return {
            "head_size": self.qk_nope_head_dim,
            "latent_attention": latent,
            "experts": self._experts(),
            "num_mtp_layers": self.num_nextn_predict_layers,
        }

    def _experts(self) -> MixtureOfExperts | None:
        if self.n_routed_experts is None:
            return None
        return MixtureOfExperts(
            self.n_routed_experts,
            self.num_experts_per_tok or 1,
            self.moe_intermediate_size,
            num_shared_experts=self.n_shared_experts or 0,
            num_dense_layers=self.first_k_dense_replace,
            dense_layers=tuple(
                layer for layer in range(self.num_hidden_layers) if layer % self.moe_layer_freq
            ),
        )


FAMILIES: Mapping[str, type[HuggingFaceConfig]] = {
    "deepseek_v2": _DeepSeek,
    "deepseek_v3": _DeepSeek,
    "kimi_k2": _DeepSeek,
    "llama": _Llama,
    "mistral": _Llama,
    "mixtral": _Mixtral,
    "qwen2": _Qwen2,
    "qwen2_moe": _Qwen2Moe,
    "qwen3": _Qwen3,
    "qwen3_moe": _Qwen3Moe,
}
"""What is read, by ``model_type``."""
