"""The analytic transformer model against published totals and sums by hand."""

import pytest

import stagecut as sc
from stagecut.costs.architecture import TransformerSpec
from stagecut.costs.blocks import LatentAttention, MixtureOfExperts
from stagecut.costs.collectives import Link
from stagecut.costs.devices import DEVICES, device
from stagecut.costs.models import DEEPSEEK_V3, GPT3_2_6B, GPT3_39B, LLAMA3_70B, gpt3
from stagecut.costs.timing import LayerTiming
from stagecut.costs.transformer import transformer_profile
from stagecut.costs.work import LayerWork, WorkModel


def work(
    spec: TransformerSpec, micro_batch: int = 1, recompute: str = "selective"
) -> list[LayerWork]:
    return WorkModel(spec, micro_batch, 2, recompute).layers()  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("spec", "published", "tolerance"),
    [
        # Zheng et al., OSDI 2022: "2.6B", "39B"; two digits are published.
        (GPT3_2_6B, 2.6e9, 0.03),
        (GPT3_39B, 39e9, 0.01),
        # Narayanan et al., SC 2021, table 1: 39.1 and 145.6 billion, at sequence 2048.
        (gpt3("39.1B", 8192, 48, 64, sequence_length=2048), 39.1e9, 0.001),
        (gpt3("145.6B", 12288, 80, 96, sequence_length=2048), 145.6e9, 0.001),
        # The published checkpoint holds 70,553,706,496 numbers.
        (LLAMA3_70B, 70_553_706_496, 0.0),
        # DeepSeek-V3 Technical Report, abstract: "671B total parameters".
        (DEEPSEEK_V3, 671e9, 0.001),
    ],
)
def test_parameters_are_the_published_totals(
    spec: TransformerSpec, published: float, tolerance: float
) -> None:
    assert abs(spec.num_parameters - published) <= tolerance * published


def test_flops_of_gpt_are_those_of_narayanan() -> None:
    # Forward: 24 b s h^2 + 4 b s^2 h per layer and 2 b s h V for the logits (SC 2021, appendix).
    b, s, h, layers, vocabulary = 4, 1024, 2560, 32, 51200
    expected = layers * (24 * b * s * h**2 + 4 * b * s**2 * h) + 2 * b * s * h * vocabulary
    assert sum(layer.flops for layer in work(GPT3_2_6B, b)) == expected


def test_activations_of_gpt_are_those_of_korthikanti() -> None:
    # s b h (34 + 5 a s / h) kept, 34 s b h without scores, 2 s b h with full recomputation.
    b, s, h, a = 2, 1024, 2560, 32
    kept = {
        mode: work(GPT3_2_6B, b, mode)[1].activation_bytes for mode in ("none", "selective", "full")
    }
    assert kept == {
        "none": s * b * h * 34 + 5 * a * s * s * b,
        "selective": 34 * s * b * h,
        "full": 2 * s * b * h,
    }
    # 4 s b h (1 + V / h) around the logits.
    assert work(GPT3_2_6B, b)[-1].activation_bytes == 4 * s * b * (h + 51200)


def test_experts_per_token_decide_the_work_and_all_experts_the_memory() -> None:
    layers = work(DEEPSEEK_V3)
    dense, sparse = layers[1], layers[10]
    assert sparse.parameters > 15 * dense.parameters
    assert sparse.flops == pytest.approx(dense.flops, rel=0.01)
    assert (dense.exchanges, sparse.exchanges) == (0, 2)
    # 37B parameters are active per token (DeepSeek-V3, abstract): embedding not multiplied.
    matrices = sum(
        layer.flops - layer.attention_flops for layer in layers if layer.kind == "decoder"
    )
    per_token = matrices / (2 * DEEPSEEK_V3.sequence_length)
    head = embedding = 129280 * 7168
    assert per_token + head + embedding == pytest.approx(37e9, rel=0.02)


def test_an_extra_prediction_layer_costs_a_decoder_layer_and_a_second_head() -> None:
    layers = work(DEEPSEEK_V3)
    assert [layer.kind for layer in layers[-3:]] == ["decoder", "mtp", "head"]
    tokens, h, vocabulary = 4096, 7168, 129280
    assert layers[-2].flops == layers[-3].flops + 4 * tokens * h * h
    assert layers[-1].flops == 2 * (2 * tokens * h * vocabulary)
    assert layers[-2].boundary_bytes == 2 * layers[-3].boundary_bytes


def test_grouped_kv_heads_and_gates_are_counted() -> None:
    # q and o: 2 h^2; k and v: 2 h h / 8; three matrices of h x f; two norms.
    h, f = 8192, 28672
    assert LLAMA3_70B.decoder_parameters(0) == 2 * h * h + h * h // 4 + 3 * h * f + 2 * h


def test_ring_all_reduce_by_hand() -> None:
    link = Link(bandwidth=1e9, latency=1e-6)
    # 2 x 3 messages, 2 x 3/4 of 4 MB at 1 GB/s.
    assert link.all_reduce_seconds(4e6, 4) == pytest.approx(6e-6 + 6e-3)
    assert link.all_reduce_seconds(4e6, 1) == 0.0
    assert link.all_to_all_seconds(4e6, 4) == pytest.approx(3e-6 + 3e-3)


def timing(recompute: str = "selective", efficiency: float = 0.5) -> LayerTiming:
    return LayerTiming(device("V100"), "fp16", efficiency, recompute, 8)  # type: ignore[arg-type]


def test_a_decoder_layers_time_by_hand() -> None:
    layer = work(GPT3_2_6B)[1]
    # (24 s h^2 + 4 s^2 h) FLOPs at half of 125 TFLOP/s
    forward = (24 * 1024 * 2560**2 + 4 * 1024**2 * 2560) / 62.5e12
    assert timing().forward_seconds(layer, 1) == pytest.approx(forward)
    # On 4 devices: a quarter, and two all-reduces of s h 2 bytes at 150 GB/s, 6 x 3 us each.
    reduce = 6 * 3e-6 + 1.5 * 1024 * 2560 * 2 / 150e9
    assert timing().forward_seconds(layer, 4) == pytest.approx(forward / 4 + 2 * reduce)


def test_recomputation_buys_memory_with_time() -> None:
    layer = work(GPT3_2_6B)[1]
    none, selective, full = (
        timing(mode).backward_seconds(layer, 2) for mode in ("none", "selective", "full")
    )
    assert none < selective < full
    assert full == pytest.approx(none + timing().forward_seconds(layer, 2))


def test_a_group_wider_than_a_host_pays_the_slower_link() -> None:
    layer = work(GPT3_39B)[1]
    assert timing().forward_seconds(layer, 16) > timing().forward_seconds(layer, 8)


def test_the_embedding_is_bound_by_memory() -> None:
    layer = work(GPT3_2_6B)[0]
    assert timing().forward_seconds(layer, 1) == pytest.approx(2 * 1024 * 2560 * 2 / 900e9)


@pytest.mark.parametrize("name", DEVICES)
def test_every_device_states_its_source(name: str) -> None:
    known = DEVICES[name]
    assert "data sheet" in known.source
    assert known.flops("fp16") > known.flops("fp32")
    assert known.intra_host.bandwidth > known.inter_host.bandwidth


def test_a_name_without_memory_is_the_largest() -> None:
    assert device("a100") is DEVICES["A100-80GB"]
    assert device("H200").memory_bytes == 141e9
    with pytest.raises(sc.ProblemError, match=r"device must be one of V100-16GB, .* got 'B300'"):
        device("B300")
    with pytest.raises(
        sc.ProblemError, match=r"precision must be one of .* on V100-32GB, got 'bf16'"
    ):
        device("V100").flops("bf16")


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"hidden_size": 0}, "hidden_size must be an integer of at least 1, got 0"),
        ({"num_heads": 3}, r"hidden_size must be a multiple of num_heads \(3\), got 8"),
        ({"num_kv_heads": 3}, r"num_heads must be a multiple of num_kv_heads \(3\), got 2"),
        ({"num_mtp_layers": -1}, "num_mtp_layers must be an integer"),
        ({"sequence_length": 2.5}, "sequence_length must be an integer"),
    ],
)
def test_bad_numbers_are_named(changes: dict[str, object], words: str) -> None:
    sizes: dict[str, object] = {
        "name": "small",
        "hidden_size": 8,
        "num_heads": 2,
        "num_layers": 2,
        "ffn_size": 32,
        "vocabulary_size": 100,
        "sequence_length": 16,
    }
    with pytest.raises(sc.ProblemError, match=words):
        TransformerSpec(**{**sizes, **changes})  # type: ignore[arg-type]


def test_bad_experts_ranks_and_links_are_named() -> None:
    with pytest.raises(
        sc.ProblemError, match=r"experts_per_token must be at most num_experts \(4\)"
    ):
        MixtureOfExperts(num_experts=4, experts_per_token=8, expert_ffn_size=16)
    with pytest.raises(sc.ProblemError, match="kv_rank must be an integer of at least 1, got 0"):
        LatentAttention(query_rank=4, kv_rank=0, rope_head_size=2, value_head_size=2)
    with pytest.raises(sc.ProblemError, match="bandwidth must be bytes/s above 0, got 0"):
        Link(bandwidth=0)


def test_low_rank_attention_by_hand() -> None:
    # h 7168, 128 heads of 128 + 64 rotary, ranks 1536 and 512, values of 128:
    # down 7168 x 1536, up 1536 x 128 x 192, down 7168 x (512 + 64), up 512 x 128 x (128 + 128),
    # output 128 x 128 x 7168.
    expected = 11_010_048 + 37_748_736 + 4_128_768 + 16_777_216 + 117_440_512
    assert DEEPSEEK_V3.attention_weights == expected


def test_what_a_mixture_of_experts_keeps_by_hand() -> None:
    # Per token at 2 bytes: norms and inputs 4 h; queries, keys 128 x 192 each, values and output
    # 128 x 128 each; eight copies for the experts; nine experts of three vectors of 2048.
    elements = 4 * 7168 + 2 * 128 * 192 + 2 * 128 * 128 + 8 * 7168 + 9 * 3 * 2048
    assert work(DEEPSEEK_V3)[10].activation_bytes == 2 * 4096 * elements


def test_a_decoder_layers_backward_time_by_hand() -> None:
    layer = work(GPT3_2_6B)[1]
    attention = 4 * 1024**2 * 2560
    products = 2 * (24 * 1024 * 2560**2 + attention) + attention
    reduce = 2 * 3e-6 + 1024 * 2560 * 2 / 150e9
    expected = products / 62.5e12 / 2 + 2 * reduce
    assert timing().backward_seconds(layer, 2) == pytest.approx(expected)


def test_exchanges_between_experts_by_hand() -> None:
    layer = work(DEEPSEEK_V3)[10]
    h200 = LayerTiming(device("H200"), "bf16", 0.5, "none", 8)
    local = max(layer.flops / (0.5 * 989.5e12), layer.moved_bytes / 4.8e12) / 8
    state = 4096 * 7168 * 2
    reduce = 14 * 3e-6 + 14 / 8 * state / 450e9
    exchange = 7 * 3e-6 + 7 / 8 * (8 * state / 8) / 450e9
    assert h200.forward_seconds(layer, 8) == pytest.approx(local + 2 * reduce + 2 * exchange)


def test_a_profile_holds_every_layer_and_its_figures() -> None:
    profile = transformer_profile(
        DEEPSEEK_V3, "H200", hosts=16, micro_batch=2, num_microbatches=64, precision="fp8"
    )
    assert [layer.kind for layer in profile.layers] == [
        "embedding", *["decoder"] * 61, "mtp", "head",
    ]  # fmt: skip
    assert profile.degrees == (1, 2, 4, 8)
    assert profile.cluster.num_devices == 128
    assert profile.state_factor == 8
    # The model, the extra prediction layer, and the embedding copy that it needs.
    held = sum(layer.parameter_bytes for layer in profile.layers) / 2
    copy = 129280 * 7168
    assert held == DEEPSEEK_V3.num_parameters + DEEPSEEK_V3.mtp_parameters + copy
    for figure in ("1.979e+15 FLOP/s in fp8", "4.8e+12 B/s", "DeepSeek-V3 Technical Report"):
        assert figure in profile.source


def test_times_fall_with_the_degree_and_double_with_the_micro_batch() -> None:
    one, two = (
        transformer_profile(LLAMA3_70B, "H100", hosts=1, micro_batch=b, num_microbatches=8)
        for b in (1, 2)
    )
    seconds = one.layers[1].forward_seconds
    assert list(seconds.values()) == sorted(seconds.values(), reverse=True)
    assert two.layers[1].forward_seconds[1] == pytest.approx(2 * seconds[1])
    assert two.layers[1].activation_bytes == 2 * one.layers[1].activation_bytes


def test_inference_keeps_weights_keys_and_values() -> None:
    profile = transformer_profile(
        LLAMA3_70B, "H100", hosts=1, micro_batch=1, num_microbatches=8, schedule="inference"
    )
    assert profile.state_factor == 1
    # Two vectors of 8 heads of 128 in 16 bits for each of 8192 tokens.
    assert profile.layers[1].activation_bytes == 2 * 8 * 128 * 2 * 8192
    assert profile.layers[-1].activation_bytes == 0


def test_full_precision_keeps_sixteen_bytes_per_parameter() -> None:
    profile = transformer_profile(
        GPT3_2_6B, "V100", hosts=1, micro_batch=1, num_microbatches=8, precision="fp32"
    )
    assert profile.layers[1].parameter_bytes * profile.state_factor == pytest.approx(
        16 * GPT3_2_6B.decoder_parameters(0)
    )


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"efficiency": 0.0}, r"efficiency must be in \(0, 1\], got 0.0"),
        ({"efficiency": float("nan")}, "efficiency must be in"),
        ({"recompute": "some"}, "recompute must be one of none, selective, full, got 'some'"),
        ({"schedule": "2f2b"}, "schedule must be one of .* got '2f2b'"),
        ({"precision": "bf16"}, "precision must be one of fp32, fp16 on V100-32GB, got 'bf16'"),
        ({"device": "TPU"}, "device must be one of .* got 'TPU'"),
        ({"micro_batch": 0}, "micro_batch must be an integer of at least 1, got 0"),
        ({"num_microbatches": 0}, "num_microbatches must be an integer"),
        ({"hosts": 0}, "hosts must be an integer"),
        ({"tensor_parallel_degrees": [3]}, r"must divide the number of heads \(32\), got 3"),
        ({"tensor_parallel_degrees": []}, "at least one degree"),
    ],
)
def test_bad_profile_arguments_are_named(changes: dict[str, object], words: str) -> None:
    arguments = {"device": "V100", "hosts": 1, "micro_batch": 1, "num_microbatches": 8}
    with pytest.raises(sc.ProblemError, match=words):
        transformer_profile(GPT3_2_6B, **{**arguments, **changes})  # type: ignore[arg-type]
