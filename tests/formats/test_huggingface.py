"""Hugging Face configurations: parameter counts against the published checkpoints.

The fields are facts from each model's card; the totals, where a whole number stands, are the sizes
that the model's page states for its checkpoint.
"""

import json

import numpy as np
import pytest

import stagecut as sc
from stagecut.costs import stage_problem
from stagecut.costs.models import DEEPSEEK_V3
from stagecut.formats import hf_spec, read


def llama(hidden, layers, heads, kv_heads, ffn, vocabulary, **more):
    return {
        "model_type": "llama",
        "hidden_size": hidden,
        "num_hidden_layers": layers,
        "num_attention_heads": heads,
        "num_key_value_heads": kv_heads,
        "intermediate_size": ffn,
        "vocab_size": vocabulary,
        "tie_word_embeddings": False,
        **more,
    }


def experts(total, visited, size, **more):
    return {
        "num_experts": total,
        "num_experts_per_tok": visited,
        "moe_intermediate_size": size,
        "decoder_sparse_step": 1,
        "mlp_only_layers": [],
        **more,
    }


def deepseek(hidden, layers, heads, ffn, vocabulary, query_rank, **more):
    return {
        **llama(hidden, layers, heads, heads, ffn, vocabulary),
        "q_lora_rank": query_rank,
        "kv_lora_rank": 512,
        "qk_nope_head_dim": 128,
        "qk_rope_head_dim": 64,
        "v_head_dim": 128,
        "moe_layer_freq": 1,
        **more,
    }


LLAMA3_8B = llama(4096, 32, 32, 8, 14336, 128256)
QWEN3_MOE = {"model_type": "qwen3_moe", "head_dim": 128}
DEEPSEEK = deepseek(
    7168,
    61,
    128,
    18432,
    129280,
    1536,
    model_type="deepseek_v3",
    n_routed_experts=256,
    n_shared_experts=1,
    num_experts_per_tok=8,
    moe_intermediate_size=2048,
    first_k_dense_replace=3,
    num_nextn_predict_layers=1,
)
QWEN15_MOE = {
    **llama(2048, 24, 16, 16, 5632, 151936, model_type="qwen2_moe"),
    **experts(60, 4, 1408, shared_expert_intermediate_size=5632),
}

PUBLISHED = {
    # Whole numbers are exact: nothing is left out.
    "Llama 2 7B": (llama(4096, 32, 32, 32, 11008, 32000), 6_738_415_616, 0),
    "Llama 3 8B": (LLAMA3_8B, 8_030_261_248, 0),
    "Llama 3 70B": (llama(8192, 80, 64, 8, 28672, 128256), 70_553_706_496, 0),
    "Llama 3.2 1B": (
        llama(2048, 16, 32, 8, 8192, 128256, head_dim=64, tie_word_embeddings=True),
        1_235_814_400,
        0,
    ),
    "Mistral 7B": (llama(4096, 32, 32, 8, 14336, 32000, model_type="mistral"), 7_241_732_096, 0),
    "Mixtral 8x7B": (
        llama(
            4096,
            32,
            32,
            8,
            14336,
            32000,
            model_type="mixtral",
            num_local_experts=8,
            num_experts_per_tok=2,
        ),
        46_702_792_704,
        0,
    ),
    "Qwen2.5 7B": (llama(3584, 28, 28, 4, 18944, 152064, model_type="qwen2"), 7_615_616_512, 0),
    "Qwen2.5 0.5B": (
        llama(896, 24, 14, 2, 4864, 151936, model_type="qwen2", tie_word_embeddings=True),
        494_032_768,
        0,
    ),
    "Qwen1.5 MoE A2.7B": (QWEN15_MOE, 14_315_784_192, 0),
    "Qwen2 57B A14B": (
        {
            **llama(3584, 28, 28, 4, 18944, 151936, model_type="qwen2_moe"),
            **experts(64, 8, 2560, shared_expert_intermediate_size=20480),
        },
        57.41e9,
        0.001,
    ),
    "Qwen3 8B": (
        llama(4096, 36, 32, 8, 12288, 151936, model_type="qwen3", head_dim=128),
        8_190_735_360,
        0,
    ),
    "Qwen3 30B A3B": (
        {**llama(2048, 48, 32, 4, 6144, 151936), **QWEN3_MOE, **experts(128, 8, 768)},
        30_532_122_624,
        0,
    ),
    "Qwen3 235B A22B": (
        {**llama(4096, 94, 64, 4, 12288, 151936), **QWEN3_MOE, **experts(128, 8, 1536)},
        235.1e9,
        0.001,
    ),
    # DeepSeek-V2, 2024, abstract and appendix B: 236B and, for Lite, 15.7B.
    "DeepSeek-V2": (
        deepseek(
            5120,
            60,
            128,
            12288,
            102400,
            1536,
            model_type="deepseek_v2",
            n_routed_experts=160,
            n_shared_experts=2,
            num_experts_per_tok=6,
            moe_intermediate_size=1536,
            first_k_dense_replace=1,
        ),
        236e9,
        0.002,
    ),
    "DeepSeek-V2-Lite": (
        deepseek(
            2048,
            27,
            16,
            10944,
            102400,
            None,
            model_type="deepseek_v2",
            n_routed_experts=64,
            n_shared_experts=2,
            num_experts_per_tok=6,
            moe_intermediate_size=1408,
            first_k_dense_replace=1,
        ),
        15_706_484_224,
        0,
    ),
    # DeepSeek-V3 Technical Report, 2024, abstract: 671B; without the extra prediction layer.
    "DeepSeek-V3": (DEEPSEEK, 671e9, 0.0002),
}


@pytest.mark.parametrize("name", PUBLISHED)
def test_parameters_are_the_published_totals(name):
    config, published, tolerance = PUBLISHED[name]
    counted = hf_spec(config, sequence_length=4096).num_parameters
    assert abs(counted - published) <= tolerance * published, counted


def test_deepseek_v3_is_the_model_written_by_hand():
    spec = hf_spec(DEEPSEEK, sequence_length=4096)
    assert spec.num_parameters == DEEPSEEK_V3.num_parameters
    assert spec.mtp_parameters == DEEPSEEK_V3.mtp_parameters
    assert (spec.num_mtp_layers, spec.experts, spec.latent_attention) == (
        DEEPSEEK_V3.num_mtp_layers,
        DEEPSEEK_V3.experts,
        DEEPSEEK_V3.latent_attention,
    )


def layers_with_experts(config):
    spec = hf_spec(config, sequence_length=64)
    return [layer for layer in range(spec.num_layers) if spec.has_experts(layer)]


def test_which_layers_are_mixtures():
    # Qwen: every second layer from the second on, and not the listed ones.
    every_second = {**QWEN15_MOE, "num_hidden_layers": 6, "decoder_sparse_step": 2}
    assert layers_with_experts(every_second) == [1, 3, 5]
    assert layers_with_experts({**every_second, "mlp_only_layers": [3]}) == [1, 5]
    # DeepSeek: from the third dense layer on, those whose number the frequency divides.
    some = {**DEEPSEEK, "num_hidden_layers": 8, "moe_layer_freq": 2}
    assert layers_with_experts(some) == [4, 6]
    assert layers_with_experts({**some, "n_routed_experts": None}) == []
    assert layers_with_experts({**QWEN15_MOE, "num_experts": 0}) == []


def test_a_shared_expert_is_work_of_every_token_and_has_a_gate():
    plain = hf_spec({**QWEN15_MOE, "shared_expert_intermediate_size": 1}, sequence_length=64)
    shared = hf_spec(QWEN15_MOE, sequence_length=64)
    # Three matrices of 2048 x 5632 instead of 2048 x 1.
    grown = shared.decoder_parameters(0) - plain.decoder_parameters(0)
    assert grown == 3 * 2048 * (5632 - 1)
    assert shared.experts is not None
    assert shared.experts.visited_width == 4 * 1408 + 5632
    # Attention 4 h^2 and its three biases, 60 experts, router, gate, two norms.
    h = 2048
    by_hand = 4 * h * h + 3 * h + 3 * h * (60 * 1408 + 5632) + 60 * h + h + 2 * h
    assert shared.decoder_parameters(0) == by_hand


def test_biases_of_llama_by_hand():
    plain = hf_spec(LLAMA3_8B, sequence_length=64).decoder_parameters(0)
    biased = {**LLAMA3_8B, "attention_bias": True, "mlp_bias": True}
    more = hf_spec(biased, sequence_length=64).decoder_parameters(0) - plain
    # Queries 4096, keys and values 1024 each, output 4096; gate and up 14336 each, down 4096.
    assert more == 4096 + 2 * 1024 + 4096 + 2 * 14336 + 4096


CLUSTER = {"device": "H100", "hosts": 1, "sequence_length": 2048, "micro_batch": 1}


def test_a_file_and_its_folder_become_a_profile(tmp_path):
    (tmp_path / "config.json").write_text(json.dumps(DEEPSEEK))
    for path in (tmp_path, tmp_path / "config.json"):
        profile = sc.read_hf_config(path, **CLUSTER, num_microbatches=64, precision="fp8")
        kinds = [layer.kind for layer in profile.layers]
        assert kinds == ["embedding", *["decoder"] * 61, "mtp", "head"]
    assert "671,026,404,352 parameters, sequence 2048" in profile.source


@pytest.mark.parametrize("suffix", ["json", "npz"])
def test_convert_writes_what_solves(tmp_path, capsys, suffix):
    from stagecut.cli import run

    config, out = tmp_path / "config.json", tmp_path / f"written.{suffix}"
    config.write_text(json.dumps(LLAMA3_8B))
    options = {**CLUSTER, "num_microbatches": 64, "tensor_parallel_degrees": "[1,2]"}
    pairs = [word for key, value in options.items() for word in ("-p", f"{key}={value}")]
    assert run(["convert", str(config), "--from", "huggingface", *pairs, "-o", str(out)]) == 0
    assert "34 layers, 4 submeshes, 2 configs, 8 devices" in capsys.readouterr().out
    profile = sc.read_hf_config(
        config, **CLUSTER, num_microbatches=64, tensor_parallel_degrees=[1, 2]
    )
    if suffix == "json":
        assert sc.load_profile(out) == profile
    loaded, built = sc.load_problem(out), stage_problem(profile)
    np.testing.assert_array_equal(loaded.cost, built.cost)
    assert loaded.layer_names == built.layer_names
    assert sc.solve(loaded).status is sc.Status.OPTIMAL


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"model_type": "mamba"}, "model_type must be one of deepseek_v2, .*, got 'mamba'"),
        ({"model_type": None}, "model_type must be one of .*, got None"),
        ({"model_type": ["llama"]}, "model_type must be one of"),
        ({"hidden_size": ...}, "hidden_size: the field is missing"),
        ({"hidden_size": "4096"}, "hidden_size: .*, got '4096'"),
        ({"num_hidden_layers": 0}, "num_hidden_layers: .*, got 0"),
        ({"num_attention_heads": 33}, r"hidden_size must be a multiple of num_heads \(33\)"),
        ({"model_type": "qwen3_moe"}, r"moe_intermediate_size: the field is missing \(and 2 more"),
        ({"model_type": "mixtral"}, r"num_local_experts: the field is missing \(and 1 more\)"),
        ({"model_type": "deepseek_v3"}, "q_lora_rank: the field is missing"),
    ],
)
def test_bad_configurations_are_named_in_one_line(tmp_path, changes, words):
    fields = {key: value for key, value in {**LLAMA3_8B, **changes}.items() if value is not ...}
    path = tmp_path / "config.json"
    path.write_text(json.dumps(fields))
    with pytest.raises(sc.FormatError, match=words) as caught:
        read(path, "huggingface", **CLUSTER, num_microbatches=8)
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_list_is_no_configuration(tmp_path):
    path = tmp_path / "config.json"
    path.write_text("[]")
    with pytest.raises(sc.FormatError, match="model_type must be one of"):
        hf_spec(tmp_path, sequence_length=64)
    with pytest.raises(sc.FormatError, match=r"huggingface: missing a required .*: 'device'"):
        read(tmp_path, "huggingface")
    path.write_text(json.dumps(LLAMA3_8B))
    with pytest.raises(sc.FormatError, match="device must be one of"):
        read(path, "huggingface", **{**CLUSTER, "device": "?"}, num_microbatches=8)
