"""Readers rebuild the tables that other planners' answers were confirmed on."""

import json

import numpy as np
import pytest

from stagecut.formats import read

MANY = 10**6
PIPER = [
    ("OPT-350_A100-40", 1),
    ("OPT-350_A100-40", 4),
    ("OPT-350_V100-16", 1),
    ("OPT-350_V100-16", 2),
    ("GPT-Neo-2.7_GH-96", 1),
    ("GPT-Neo-2.7_GH-96", 4),
    ("GPT-Neo-2.7_GH-96", 8),
]


def assert_table(problem, case):
    """The reader's table is the case's wherever a stage fits at all."""
    limit = case["limit"] if "limit" in case else np.zeros(case["cost"].shape, int)
    upper = np.triu(np.ones(limit.shape[:2], bool))[:, :, None] & (limit >= 0)
    upper = upper & np.isfinite(case["cost"])
    np.testing.assert_allclose(problem.cost[..., 0][upper], case["cost"][upper], rtol=1e-12)
    assert np.isinf(problem.cost[..., 0][~upper]).all()
    assert problem.sizes.tolist() == case["sizes"].tolist()
    if "limit" in case:
        most = np.minimum(limit, problem.num_layers)
        assert (problem.max_successors[..., 0][upper] == most[upper]).all()


@pytest.mark.parametrize(("name", "micro_batch"), PIPER)
def test_piper(shared, name, micro_batch):
    problem = read(
        shared / f"data/sailor/piper/{name}.json",
        "piper",
        num_devices=8,
        num_microbatches=MANY,
        bandwidth=25e9,
        micro_batch=micro_batch,
    )
    (path,) = (shared / "cases").glob(f"{name}_mbs{micro_batch}_vanilla_*.npz")
    assert_table(problem, np.load(path))


def test_sailor(shared):
    problem = read(
        shared / "data/sailor/sailor_planner/GPT-Neo-2.7_V100-16.json",
        "sailor",
        llm_info=shared / "data/sailor/llm_info.json",
        model="GPT-Neo-2.7",
        micro_batch=1,
        num_devices=16,
        num_microbatches=MANY,
        memory_bytes=16 * 2**30,
        bandwidth=25e9,
    )
    assert_table(problem, np.load(shared / "cases/sailorplanner_GPT-Neo-2.7_V100-16_mbs1.npz"))


@pytest.mark.parametrize("name", ["bert24_inference", "bert24_training", "resnet50_training"])
def test_dnn_partitioning(shared, name):
    order = json.loads((shared / "data/orders.json").read_text())[name]
    case = np.load(shared / f"cases/L_{name}.npz")
    path = shared / f"data/dnn-partitioning/{name}.json"
    free = read(path, "dnn-partitioning", order=order, memory_bytes=1e99, seconds_per_unit=1.0)
    assert_table(free, case)
    limit = float(np.median(case["mem"][case["mem"] > 0]))
    tight = read(path, "dnn-partitioning", order=order, memory_bytes=limit, seconds_per_unit=1.0)
    upper = np.triu(np.ones(case["mem"].shape, bool))
    np.testing.assert_array_equal(
        np.isinf(tight.cost[:, :, 0, 0])[upper], (case["mem"] > limit)[upper]
    )


@pytest.mark.parametrize(
    ("case", "bandwidth", "sizes", "transfers"),
    [
        ("n4_bw1e+09_straight_ratioNone", 1e9, [1], False),
        ("n16_bw1e+09_straight_ratioNone", 1e9, [1], False),
        ("n4_bw1e+09_straight_ratio1.0", 1e9, [1], True),
        ("n8_bw1.25e+09_straight_ratio1.0", 1.25e9, [1], True),
        ("n4_bw1e+09_repl_ratioNone", 1e9, None, False),
        ("n8_bw1e+10_repl_ratioNone", 1e10, None, False),
        ("n16_bw1.25e+09_repl_ratioNone", 1.25e9, None, False),
        ("n8_bw1.25e+09_repl_ratio1.0", 1.25e9, None, True),
        ("bw1e10_D4", 1e10, [1, 2, 4], True),
        ("bw1e10_D8", 1e10, [1, 2, 4, 8], True),
        ("bw1e10_D16", 1e10, [1, 2, 4, 8], True),
    ],
)
def test_pipedream(shared, case, bandwidth, sizes, transfers):
    table = np.load(shared / f"cases/pipedream_alexnet_{case}.npz")
    problem = read(
        shared / "data/pipedream/alexnet.graph.txt",
        "pipedream",
        num_devices=len(table["sizes"]),
        bandwidth=bandwidth,
        sizes=sizes,
        transfers=transfers,
    )
    assert_table(problem, table)
