"""What one micro-batch does in each layer of a transformer, before any device is named.

Symbols: ``T = b s`` tokens of a micro-batch, ``w`` bytes per element, ``h`` hidden size, ``s``
sequence length, ``V`` vocabulary, ``k`` experts per token. FLOPs count a multiply and an add as two
(Narayanan et al., SC 2021, appendix); kept activations follow Korthikanti et al., "Reducing
Activation Recomputation in Large Transformer Models", 2023, section 4. The formulas are in
docs/transformer.md.
"""

from dataclasses import dataclass
from typing import Literal, get_args

from stagecut.costs.architecture import TransformerSpec
from stagecut.costs.profile import LayerKind

Recompute = Literal["none", "selective", "full"]
RECOMPUTE: tuple[str, ...] = get_args(Recompute)


@dataclass(frozen=True, slots=True, kw_only=True)
class LayerWork:
    """Work of one layer for one micro-batch, on all of its devices together.

    Parameters
    ----------
    name, kind
        What the layer is.
    parameters
        Parameters that its devices hold, copies of shared ones included.
    flops
        FLOPs of the forward pass.
    attention_flops
        Part of ``flops`` in scores and their sums, done again under ``"selective"``.
    moved_bytes
        Bytes read and written in memory by the forward pass: weights once and what it keeps.
    activation_bytes
        Bytes kept for the backward pass.
    boundary_bytes
        Bytes sent forward to the next layer; as many come back as gradients.
    forward_reductions, backward_reductions
        Tensor-parallel all-reduces of ``reduction_bytes`` in each direction.
    exchanges
        All-to-alls of ``exchange_bytes`` in each direction.
    reduction_bytes, exchange_bytes
        ``T h w`` and ``T k h w``.
    cache_bytes
        Bytes of keys and values kept by inference.
    """

    name: str
    kind: LayerKind
    parameters: int
    flops: float
    moved_bytes: float
    activation_bytes: float
    boundary_bytes: float
    reduction_bytes: float
    attention_flops: float = 0.0
    forward_reductions: int = 0
    backward_reductions: int = 0
    exchanges: int = 0
    exchange_bytes: float = 0.0
    cache_bytes: float = 0.0


@dataclass(frozen=True, slots=True)
class WorkModel:
    """Work of a model's layers for one micro-batch.

    Parameters
    ----------
    spec
        The model.
    micro_batch
        ``b``, sequences.
    element_bytes
        ``w``.
    recompute
        What the backward pass does again: ``"none"``; ``"selective"``: scores and their sums (as
        FlashAttention does); ``"full"``: the whole layer from its input.
    """

    spec: TransformerSpec
    micro_batch: int
    element_bytes: int
    recompute: Recompute

    def layers(self) -> list[LayerWork]:
        """Return embedding, decoder layers, extra prediction layers and head, in order."""
        spec = self.spec
        return [
            self._embedding(),
            *(self._decoder(layer) for layer in range(spec.num_layers)),
            *(self._mtp(layer) for layer in range(spec.num_mtp_layers)),
            self._head(),
        ]

    @property
    def tokens(self) -> int:
        """``T``."""
        return self.micro_batch * self.spec.sequence_length

    @property
    def state_bytes(self) -> int:
        """``T h w``: one hidden state."""
        return self.tokens * self.spec.hidden_size * self.element_bytes

    def _embedding(self) -> LayerWork:
        masks = self.tokens * self.spec.hidden_size if self.spec.dropout else 0
        return LayerWork(
            name="embedding",
            kind="embedding",
            parameters=self.spec.embedding_parameters,
            flops=0.0,
            moved_bytes=2 * self.state_bytes,
            activation_bytes=masks + 8 * self.tokens,
            boundary_bytes=self.state_bytes,
            reduction_bytes=self.state_bytes,
            forward_reductions=1,
        )

    def _decoder(self, layer: int) -> LayerWork:
        spec = self.spec
        weights = spec.decoder_parameters(layer)
        routed = spec.experts.experts_per_token if spec.has_experts(layer) and spec.experts else 0
        shared = spec.experts is not None and spec.experts.num_shared_experts > 0
        reductions = 2 if not routed or shared else 1
        kept = self._kept_bytes(layer)
        return LayerWork(
            name=f"decoder.{layer}",
            kind="decoder",
            parameters=weights,
            flops=self._matrix_flops(layer) + self._attention_flops,
            attention_flops=self._attention_flops,
            moved_bytes=weights * self.element_bytes + kept,
            activation_bytes=self._after_recompute(kept),
            boundary_bytes=self.state_bytes,
            reduction_bytes=self.state_bytes,
            forward_reductions=reductions,
            backward_reductions=reductions,
            exchanges=2 if routed else 0,
            exchange_bytes=routed * self.state_bytes,
            cache_bytes=self.tokens * spec.cache_width * self.element_bytes,
        )

    def _mtp(self, index: int) -> LayerWork:
        """Put a decoder layer behind a ``2h x h`` matrix; the first one holds an embedding copy."""
        spec, block = self.spec, self._decoder(self.spec.num_layers)
        copy = spec.vocabulary_size * spec.hidden_size if index == 0 else 0
        joined = 4 * self.state_bytes
        return LayerWork(
            name=f"mtp.{index}",
            kind="mtp",
            parameters=spec.mtp_parameters + copy,
            flops=block.flops + 4 * self.tokens * spec.hidden_size**2,
            attention_flops=block.attention_flops,
            moved_bytes=block.moved_bytes + joined,
            activation_bytes=block.activation_bytes + joined,
            boundary_bytes=(index + 2) * self.state_bytes,
            reduction_bytes=block.reduction_bytes,
            forward_reductions=block.forward_reductions + 1,
            backward_reductions=block.backward_reductions + 1,
            exchanges=block.exchanges,
            exchange_bytes=block.exchange_bytes,
            cache_bytes=block.cache_bytes,
        )

    def _head(self) -> LayerWork:
        """Last norm and logits of the next token and of each extra prediction."""
        spec, predictions = self.spec, 1 + self.spec.num_mtp_layers
        weights = spec.vocabulary_size * spec.hidden_size
        logits = 4 * self.tokens * spec.vocabulary_size
        return LayerWork(
            name="head",
            kind="head",
            parameters=weights + spec.norm_parameters,
            flops=predictions * 2 * self.tokens * weights,
            moved_bytes=weights * self.element_bytes
            + predictions * (2 * self.state_bytes + logits),
            activation_bytes=predictions * (2 * self.state_bytes + logits),
            boundary_bytes=0.0,
            reduction_bytes=self.state_bytes,
            backward_reductions=predictions,
        )

    def _matrix_flops(self, layer: int) -> float:
        """``2 T`` for each matrix entry that a token meets."""
        spec, h = self.spec, self.spec.hidden_size
        entries = spec.attention_weights
        if spec.experts and spec.has_experts(layer):
            entries += h * spec.experts.num_experts
            entries += spec.ffn_weights(spec.experts.visited_width)
        else:
            entries += spec.ffn_weights(spec.ffn_size)
        return 2.0 * self.tokens * entries

    @property
    def _attention_flops(self) -> float:
        """``2 T s`` for each entry of queries (scores) and of values (their sums)."""
        spec = self.spec
        return 2.0 * self.tokens * spec.sequence_length * (spec.key_width + spec.value_width)

    def _kept_bytes(self, layer: int) -> float:
        """Bytes kept without scores: 34 per token and ``h`` for GPT in 16 bits."""
        spec, h = self.spec, self.spec.hidden_size
        elements = 4 * h + spec.key_width + spec.kv_width + spec.value_width
        per_ffn = 3 if spec.gated else 2
        if spec.experts and spec.has_experts(layer):
            elements += spec.experts.experts_per_token * h
            elements += per_ffn * spec.experts.visited_width
        else:
            elements += per_ffn * spec.ffn_size
        masks = 2 * h if spec.dropout else 0
        return float(self.tokens * (elements * self.element_bytes + masks))

    def _after_recompute(self, kept: float) -> float:
        """Keep ``5 a s`` bytes per token more with scores (16 bits), only the input in full."""
        if self.recompute == "full":
            return float(self.state_bytes)
        if self.recompute == "selective":
            return kept
        per_score = 2 * self.element_bytes + 1 if self.spec.dropout else self.element_bytes
        return kept + self.tokens * self.spec.sequence_length * self.spec.num_heads * per_score
