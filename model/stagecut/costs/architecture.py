"""What a transformer is made of: the numbers that its cost depends on, and its parameters.

Symbols: ``h`` hidden size, ``a`` heads, ``d`` size of a head, ``f`` size of the feed-forward layer,
``V`` vocabulary, ``s`` sequence length, ``E`` experts.
"""

from dataclasses import dataclass

from stagecut.costs.blocks import LatentAttention, MixtureOfExperts, count
from stagecut.errors import ProblemError
from stagecut.problem import positive_integer


@dataclass(frozen=True, slots=True, kw_only=True)
class TransformerSpec:
    """A decoder-only transformer of the GPT or Llama kind.

    Parameters
    ----------
    name
        Name of the model.
    hidden_size, num_heads, num_layers
        ``h``, ``a`` and the number of decoder layers.
    ffn_size
        ``f``.
    vocabulary_size, sequence_length
        ``V`` and ``s``, tokens.
    num_kv_heads
        Heads of keys and values; ``None`` = ``num_heads``.
    head_size
        ``d``; ``None`` = ``hidden_size / num_heads``.
    gated
        Whether the feed-forward layer has a gate (three matrices instead of two).
    biases
        Whether matrices and norms have biases.
    learned_positions
        Whether there is a table of ``s`` position vectors.
    vector_parameters
        Parameters of a decoder layer in vectors besides these: biases of single matrices, norms of
        queries and keys.
    dropout
        Whether dropout masks are kept for the backward pass.
    tied_embeddings
        Whether the head uses the embedding's matrix.
    experts
        Mixture of experts, or ``None``.
    latent_attention
        Low-rank attention, or ``None``.
    num_mtp_layers
        Extra layers that predict further tokens (DeepSeek-AI, "DeepSeek-V3", 2024, section 2.2).
    source
        Where the numbers are published.

    Raises
    ------
    ProblemError
        If a number breaks its rule.

    Examples
    --------
    >>> spec = TransformerSpec(
    ...     name="small", hidden_size=8, num_heads=2, num_layers=2, ffn_size=32,
    ...     vocabulary_size=100, sequence_length=16,
    ... )
    >>> spec.num_parameters
    3176
    """

    name: str
    hidden_size: int
    num_heads: int
    num_layers: int
    ffn_size: int
    vocabulary_size: int
    sequence_length: int
    num_kv_heads: int | None = None
    head_size: int | None = None
    gated: bool = False
    biases: bool = False
    learned_positions: bool = False
    vector_parameters: int = 0
    dropout: bool = False
    tied_embeddings: bool = False
    experts: MixtureOfExperts | None = None
    latent_attention: LatentAttention | None = None
    num_mtp_layers: int = 0
    source: str = ""

    def __post_init__(self) -> None:
        for name in (
            "hidden_size",
            "num_heads",
            "num_layers",
            "ffn_size",
            "vocabulary_size",
            "sequence_length",
        ):
            positive_integer(name, getattr(self, name))
        for name in ("num_mtp_layers", "vector_parameters"):
            count(name, getattr(self, name))
        if self.head_size is None and self.hidden_size % self.num_heads:
            raise ProblemError(
                f"hidden_size must be a multiple of num_heads ({self.num_heads}), "
                f"got {self.hidden_size}; or give head_size"
            )
        if self.num_heads % positive_integer("num_kv_heads", self.kv_heads):
            raise ProblemError(
                f"num_heads must be a multiple of num_kv_heads ({self.kv_heads}), "
                f"got {self.num_heads}"
            )
        positive_integer("head_size", self.size_of_head)

    @property
    def kv_heads(self) -> int:
        """Heads of keys and values."""
        return self.num_heads if self.num_kv_heads is None else self.num_kv_heads

    @property
    def size_of_head(self) -> int:
        """``d``."""
        return self.hidden_size // self.num_heads if self.head_size is None else self.head_size

    @property
    def key_width(self) -> int:
        """Width of all heads of queries: ``a d``, with the rotary part of latent attention."""
        rope = self.latent_attention.rope_head_size if self.latent_attention else 0
        return self.num_heads * (self.size_of_head + rope)

    @property
    def value_width(self) -> int:
        """Width of the attention's output before its last matrix."""
        latent = self.latent_attention
        return self.num_heads * (latent.value_head_size if latent else self.size_of_head)

    @property
    def kv_width(self) -> int:
        """Width of keys and values together, as the attention reads them."""
        if self.latent_attention:
            return self.key_width + self.value_width
        return 2 * self.kv_heads * self.size_of_head

    @property
    def cache_width(self) -> int:
        """Numbers per token that inference keeps in each layer."""
        latent = self.latent_attention
        return latent.kv_rank + latent.rope_head_size if latent else self.kv_width

    def has_experts(self, layer: int) -> bool:
        """Whether decoder layer ``layer`` (0-based) is a mixture of experts."""
        return (
            self.experts is not None
            and layer >= self.experts.num_dense_layers
            and layer not in self.experts.dense_layers
        )

    @property
    def attention_weights(self) -> int:
        """Entries of the attention's matrices."""
        h, latent = self.hidden_size, self.latent_attention
        if latent is None:
            return h * (self.key_width + self.kv_width + self.value_width)
        expanded = self.num_heads * (self.size_of_head + latent.value_head_size)
        rank = latent.query_rank
        return (
            (h * self.key_width if rank is None else rank * (h + self.key_width))
            + h * (latent.kv_rank + latent.rope_head_size)
            + latent.kv_rank * expanded
            + self.value_width * h
        )

    def ffn_weights(self, ffn_size: int) -> int:
        """Entries of the matrices of a feed-forward layer of size ``ffn_size``."""
        return (3 if self.gated else 2) * self.hidden_size * ffn_size

    @property
    def norm_parameters(self) -> int:
        """Parameters of one norm over ``h``."""
        return (2 if self.biases else 1) * self.hidden_size

    def decoder_parameters(self, layer: int) -> int:
        """Parameters of decoder layer ``layer`` (0-based)."""
        h, latent = self.hidden_size, self.latent_attention
        total = self.attention_weights + 2 * self.norm_parameters + self.vector_parameters
        if latent:
            total += (latent.query_rank or 0) + latent.kv_rank
        if self.biases:
            total += self.key_width + self.kv_width + h
        if self.experts and self.has_experts(layer):
            total += h * (self.experts.num_experts + self.experts.shared_gate)
            return total + self.ffn_weights(self.experts.held_width)
        return total + self.ffn_weights(self.ffn_size) + (self.ffn_size + h) * self.biases

    @property
    def embedding_parameters(self) -> int:
        """Parameters of the embedding: ``V h``, and ``s h`` with learned positions."""
        positions = self.sequence_length if self.learned_positions else 0
        return (self.vocabulary_size + positions) * self.hidden_size

    @property
    def mtp_parameters(self) -> int:
        """Parameters of an extra prediction layer: a decoder layer, two norms, a ``2h x h`` matrix.

        Embedding and head are shared with the model.
        """
        joining = 2 * self.hidden_size**2 + 2 * self.norm_parameters
        return self.decoder_parameters(self.num_layers) + joining

    @property
    def num_parameters(self) -> int:
        """Parameters of the model, shared ones once, without the extra prediction layers."""
        head = 0 if self.tied_embeddings else self.vocabulary_size * self.hidden_size
        decoders = sum(self.decoder_parameters(layer) for layer in range(self.num_layers))
        return self.embedding_parameters + decoders + self.norm_parameters + head
