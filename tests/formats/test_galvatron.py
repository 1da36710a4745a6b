"""Galvatron's profiles: a small pair counted by hand, and the published one of Llama 2 7B."""

import json

import pytest

import stagecut as sc
from stagecut.costs import stage_problem
from stagecut.formats import read

MIB = 2**20
OPTIONS = {
    "num_layers": 2,
    "sequence_length": 16,
    "hidden_size": 8,
    "micro_batch": 2,
    "num_microbatches": 4,
    "hosts": 1,
    "devices_per_host": 2,
    "memory_bytes": 1e9,
    "bandwidth": 1e9,
}
TIMES = {"layertype_0_bsz2_seq16": 3.0, "layertype_other_bsz2_seq16": 4.0}


def other(states, activation):
    return {"16": {"model_states": {"1": states}, "activation": {"1": activation}}}


MEMORY = {
    "layertype_0_sp": {"16": {"parameter_size": 5.0, "tp_activation_per_bsz_dict": {"1": 7.0}}},
    "other_memory_pp_on_first_sp": other(8.0, 1.0),
    "other_memory_pp_on_last_sp": other(12.0, 2.0),
}


def saved(tmp_path, times, memory):
    (tmp_path / "times.json").write_text(json.dumps(times))
    (tmp_path / "memory.json").write_text(json.dumps(memory))
    return tmp_path / "times.json", {**OPTIONS, "memory_profile": tmp_path / "memory.json"}


@pytest.mark.parametrize("suffix", ["_sp", ""])
def test_a_small_pair_by_hand(tmp_path, suffix):
    memory = {key.removesuffix("_sp") + suffix: value for key, value in MEMORY.items()}
    path, options = saved(tmp_path, TIMES, memory)
    first, block, same, last = sc.read_galvatron(path, **options).layers
    assert (first.kind, block.kind, same.name, last.kind) == (
        "embedding", "decoder", "decoder.1", "head",
    )  # fmt: skip
    # ms per sample, two samples; embedding and head take half of the rest each; backward is twice.
    assert block.forward_seconds[1] == pytest.approx(6e-3)
    assert first.forward_seconds[1] == last.forward_seconds[1] == pytest.approx(4e-3)
    assert block.backward_seconds[1] == pytest.approx(12e-3)
    # MiB; weights are a quarter of the model states of the ends.
    assert block.parameter_bytes == 5 * MIB
    assert (first.parameter_bytes, last.parameter_bytes) == (2 * MIB, 3 * MIB)
    assert (block.activation_bytes, last.activation_bytes) == (14 * MIB, 4 * MIB)
    # Two samples of 16 tokens of 8 numbers of 2 bytes.
    assert (block.boundary_bytes, last.boundary_bytes) == (512, 0)


def test_a_problem_of_a_small_pair(tmp_path):
    path, options = saved(tmp_path, TIMES, MEMORY)
    problem = read(path, "galvatron", **options)
    # Embedding and a layer, 3 x (4 + 6) ms, and 512 bytes at 1 GB/s.
    assert problem.cost[0, 1, 0, 0] == pytest.approx(30e-3 + 512e-9)
    # Two replicas of the whole are best: 4 x 60 / 2 ms, and 15 MiB of gradients reduced by a ring.
    assert sc.solve(problem).objective == pytest.approx(4 * 30e-3 + 15 * MIB / 1e9)


def without(table, key):
    return {name: value for name, value in table.items() if name != key}


@pytest.mark.parametrize(
    ("times", "memory", "changes", "words"),
    [
        (TIMES, MEMORY, {"micro_batch": 3}, "must be one of bsz2_seq16, got bsz3_seq16"),
        (TIMES, MEMORY, {"num_layers": 0}, "num_layers must be an integer of at least 1, got 0"),
        (TIMES, MEMORY, {"hidden_size": 0.5}, "hidden_size must be an integer"),
        ({}, MEMORY, {}, "must be one of none"),
        ([], MEMORY, {}, "times.json"),
        (without(TIMES, "layertype_other_bsz2_seq16"), MEMORY, {}, "must be one of"),
        (TIMES, without(MEMORY, "layertype_0_sp"), {}, "layertype_0_sp has no sequence_length 16"),
        (TIMES, [], {}, "layertype_0_sp has no sequence_length"),
        (
            TIMES,
            {**MEMORY, "other_memory_pp_on_last_sp": {"16": {"model_states": {}}}},
            {},
            "model_states.1: the field is missing",
        ),
    ],
)
def test_bad_files_are_named_in_one_line(tmp_path, times, memory, changes, words):
    path, options = saved(tmp_path, times, memory)
    with pytest.raises(sc.FormatError, match=words) as caught:
        read(path, "galvatron", **{**options, **changes})
    assert "\n" not in str(caught.value)


def test_the_published_profile_of_llama_2_7b(shared):
    folder = shared / "data/galvatron"
    profile = sc.read_galvatron(
        folder / "computation_profiling_bf16_llama2-7b_all.json",
        memory_profile=folder / "memory_profiling_bf16_llama2-7b_all.json",
        num_layers=32,
        sequence_length=2048,
        hidden_size=4096,
        micro_batch=4,
        num_microbatches=64,
        hosts=1,
        devices_per_host=8,
        memory_bytes=80e9,
        bandwidth=300e9,
    )
    times = json.loads((folder / "computation_profiling_bf16_llama2-7b_all.json").read_text())
    # The file's own run of a whole model of 4 layers: 4 samples.
    whole = 1e-3 * times["layernum[4]_bsz4_seq2048"]
    layers = profile.layers
    ends = layers[0].forward_seconds[1] + layers[-1].forward_seconds[1]
    assert ends + 4 * layers[1].forward_seconds[1] == pytest.approx(whole, rel=1e-6)
    # 6.738e9 weights of 4 bytes; what was measured holds a little more.
    held = sum(layer.parameter_bytes for layer in layers)
    assert held == pytest.approx(4 * 6.738e9, rel=0.02)
    problem = stage_problem(profile)
    result = sc.solve(problem)
    assert result.status is sc.Status.OPTIMAL
    sc.check(problem, result.plan)
    assert len(result.plan.stages) > 1
