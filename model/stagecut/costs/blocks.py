"""Parts of a transformer's layers that some models have: experts and low-rank attention."""

from dataclasses import dataclass, fields

from stagecut.errors import ProblemError
from stagecut.problem import positive_integer


@dataclass(frozen=True, slots=True)
class MixtureOfExperts:
    """Feed-forward layers of which each token visits a few.

    Parameters
    ----------
    num_experts
        ``E`` routed experts of a layer.
    experts_per_token
        Routed experts that a token visits.
    expert_ffn_size
        Feed-forward size of one expert.
    num_shared_experts
        Experts that every token visits.
    num_dense_layers
        First decoder layers that have the plain feed-forward layer instead.
    dense_layers
        Further decoder layers (0-based) that do.
    shared_ffn_size
        Feed-forward size of one shared expert; ``None`` = ``expert_ffn_size``.
    shared_gate
        Whether a gate of ``h`` weights scales the output of the shared experts.

    Raises
    ------
    ProblemError
        If a number is not an integer of at least 1 (0 for the numbers of shared experts and of
        dense layers).
    """

    num_experts: int
    experts_per_token: int
    expert_ffn_size: int
    num_shared_experts: int = 0
    num_dense_layers: int = 0
    dense_layers: tuple[int, ...] = ()
    shared_ffn_size: int | None = None
    shared_gate: bool = False

    def __post_init__(self) -> None:
        for name in ("num_experts", "experts_per_token", "expert_ffn_size"):
            positive_integer(name, getattr(self, name))
        for name in ("num_shared_experts", "num_dense_layers"):
            count(name, getattr(self, name))
        for layer in self.dense_layers:
            count("dense_layers", layer)
        if self.shared_ffn_size is not None:
            positive_integer("shared_ffn_size", self.shared_ffn_size)
        if self.experts_per_token > self.num_experts:
            raise ProblemError(
                f"experts_per_token must be at most num_experts ({self.num_experts}), "
                f"got {self.experts_per_token}"
            )

    @property
    def shared_width(self) -> int:
        """Feed-forward size of all shared experts together."""
        size = self.expert_ffn_size if self.shared_ffn_size is None else self.shared_ffn_size
        return self.num_shared_experts * size

    @property
    def visited_width(self) -> int:
        """Feed-forward size of all experts that a token visits."""
        return self.experts_per_token * self.expert_ffn_size + self.shared_width

    @property
    def held_width(self) -> int:
        """Feed-forward size of all experts."""
        return self.num_experts * self.expert_ffn_size + self.shared_width


@dataclass(frozen=True, slots=True)
class LatentAttention:
    """Attention through low-rank projections (DeepSeek-AI, "DeepSeek-V2", 2024, section 2.1).

    Parameters
    ----------
    query_rank, kv_rank
        Ranks of the projections of queries (``None``: one full matrix), and of keys and values.
    rope_head_size
        Rotary part of a head of queries and keys, besides the model's ``head_size``; the key's is
        shared by all heads.
    value_head_size
        Size of a head of values.

    Raises
    ------
    ProblemError
        If a number is not an integer of at least 1.
    """

    query_rank: int | None
    kv_rank: int
    rope_head_size: int
    value_head_size: int

    def __post_init__(self) -> None:
        for entry in fields(self):
            value = getattr(self, entry.name)
            if value is not None or entry.name != "query_rank":
                positive_integer(entry.name, value)


def count(name: str, value: object) -> None:
    """Refuse all but integers of at least 0."""
    if value != 0:
        positive_integer(name, value)
