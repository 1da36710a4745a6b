"""Readers of other programs' files, on small files written here and counted by hand."""

import io
import json

import numpy as np
import pytest

import stagecut as sc
from stagecut.formats import read


def saved(tmp_path, value, name="profile.json"):
    path = tmp_path / name
    path.write_text(value if isinstance(value, str) else json.dumps(value))
    return path


def refused(words, path, format, **options):
    with pytest.raises(sc.FormatError, match=words) as caught:
        read(path, format, **options)
    assert "\n" not in str(caught.value)


# Alpa

ALPA = {"submeshes": [(1, 1), (1, 2)], "num_devices": 2, "num_microbatches": 4}


def alpa_tables(limit=4096):
    cost = np.arange(1.0, 9.0).reshape(2, 2, 2, 1)
    cost[0, 0, 1, 0] = np.inf
    limits = np.full(cost.shape, limit)
    limits[0, 1, 1, 0] = -1
    return cost, limits, np.ones(cost.shape)


def test_alpa(tmp_path):
    np.save(tmp_path / "compute-cost.npy", alpa_tables())
    problem = read(tmp_path / "compute-cost.npy", "alpa", **ALPA)
    assert problem.cost[0, 1, 0, 0] == 3.0
    assert np.isinf(problem.cost[0, 0, 1, 0])
    assert np.isinf(problem.cost[0, 1, 1, 0])
    assert problem.max_successors[0, 1].ravel().tolist() == [2, -1]


def test_alpa_limits_that_only_count_microbatches_bind_nothing(tmp_path):
    np.save(tmp_path / "c.npy", alpa_tables(limit=0))
    assert read(tmp_path / "c.npy", "alpa", **ALPA).max_successors[0, 0, 0, 0] == 0
    one = {**ALPA, "num_microbatches": 1}
    assert read(tmp_path / "c.npy", "alpa", **one).max_successors[0, 0, 0, 0] == 2


def test_alpa_refuses_pickles_and_other_shapes(tmp_path):
    path = tmp_path / "profile-results.npy"
    np.save(path, np.array({"stage": print}, dtype=object), allow_pickle=True)
    refused("pickle", path, "alpa", **ALPA)
    np.save(path, np.ones((2, 2)))
    refused(r"shape \(3, K, K, S, C\)", path, "alpa", **ALPA)
    np.save(path, alpa_tables())
    refused("one entry per submesh", path, "alpa", **{**ALPA, "submeshes": [(1, 1)]})
    path.write_bytes(path.read_bytes()[:-1])
    refused("truncated|damaged|valid", path, "alpa", **ALPA)
    stream = io.BytesIO()
    np.lib.format.write_array_header_1_0(
        stream, {"descr": "<f8", "fortran_order": False, "shape": (3, 2**20, 2**20, 2, 9)}
    )
    path.write_bytes(stream.getvalue())
    refused("truncated|damaged|valid", path, "alpa", **ALPA)


# Piper

PIPER = {"num_devices": 4, "num_microbatches": 8, "bandwidth": 10.0}


def piper_node(node, after, before):
    def entry(time):
        return {
            "id": "vanilla",
            "timePerSample": time,
            "memoryUsageA": 3,
            "memoryUsageB": 4,
            "syncTimeBw": {after: 1},
            "syncTimeFw": {before: 2},
        }

    return {"id": node, "name": f"n{node}", "TMPCs": {"2": [entry(2.0)], "1": [entry(3.0)]}}


def piper_file():
    """Three nodes; a cut costs 2 (5 + 1) / 10 after a stage and 2 (5 + 2) / 10 before it."""
    return {
        "maxDevices": 1,
        "maxMemoryPerDevice": 14,
        "bandwidth": 1,
        "mbsInBatch": 1,
        "nodes": [piper_node(2, "3", "1"), piper_node(0, "1", ""), piper_node(1, "2", "0")],
        "edges": [
            {"sourceId": 0, "destId": 1, "communicationCost": 5},
            {"sourceId": 1, "destId": 2, "communicationCost": 5},
        ],
    }


def test_piper(tmp_path):
    problem = read(saved(tmp_path, piper_file()), "piper", **PIPER)
    assert problem.layer_names == ("n0", "n1", "n2")
    assert problem.sizes.tolist() == [1, 2]
    assert problem.cost[0, 0, :, 0] == pytest.approx([3 + 1.2, 2 + 1.2])
    assert problem.cost[1, 1, :, 0] == pytest.approx([3 + 1.2 + 1.4, 2 + 1.2 + 1.4])
    assert problem.cost[0, 1, 0, 0] == pytest.approx(6 + 1.2)
    # one node: 4 + 3 (p + 1) <= 14 up to p = 2; two: 8 + 6 (p + 1) up to p = 0; three: never
    assert problem.max_successors[0, 0, 0, 0] == 2
    assert problem.max_successors[0, 1, 0, 0] == 0
    assert np.isinf(problem.cost[0, 2]).all()


def test_piper_by_micro_batch(tmp_path):
    path = saved(tmp_path, {"8": piper_file(), "2": piper_file()})
    assert read(path, "piper", micro_batch=8, **PIPER).num_layers == 3
    refused("micro_batch must be one of 8, 2, got 3", path, "piper", micro_batch=3, **PIPER)
    refused("micro_batch must be one of 8, 2", path, "piper", **PIPER)


def test_piper_degree_that_a_node_lacks(tmp_path):
    value = piper_file()
    del value["nodes"][0]["TMPCs"]["2"]
    problem = read(saved(tmp_path, value), "piper", **PIPER)
    assert np.isinf(problem.cost[1, 2, 1, 0])
    assert np.isfinite(problem.cost[0, 1, 1, 0])


PIPER_FAULTS = [
    (lambda v: v["edges"].pop(), "not a chain"),
    (lambda v: v["edges"].append({**v["edges"][0], "sourceId": 2}), "circle"),
    (lambda v: v["edges"].append({**v["edges"][0], "destId": 9}), "node 9, which is not there"),
    (lambda v: v["nodes"][0].pop("TMPCs"), r"nodes\.0\.TMPCs: the field is missing"),
    (
        lambda v: v["nodes"][1]["TMPCs"]["1"][0].update(timePerSample=-1),
        r"nodes\.1\.TMPCs\.1\.0\.timePerSample.*got -1",
    ),
    (lambda v: v.update(nodes=[]), "nodes"),
    (lambda v: v["nodes"][0]["TMPCs"].update({"x": []}), "got 'x'"),
    (lambda v: v["nodes"][0].update(id=0), "distinct ids"),
]


@pytest.mark.parametrize(("change", "words"), PIPER_FAULTS)
def test_piper_faults(tmp_path, change, words):
    value = piper_file()
    change(value)
    refused(words, saved(tmp_path, value), "piper", **PIPER)


def test_piper_wants_what_the_file_does_not_say(tmp_path):
    path = saved(tmp_path, piper_file())
    refused("placeholder", path, "piper", num_devices=4, num_microbatches=8)
    refused("num_microbatches", path, "piper", num_devices=4, bandwidth=10.0)


# dnn-partitioning


def graph_file():
    """Nodes 1 -> 2 -> 3 and 1 -> 3; sending 1's output costs 0.5, 2's costs 0.25."""
    nodes = [
        {"id": k, "fpgaLatency": float(k), "size": 10.0, "supportedOnFpga": 1} for k in (3, 1, 2)
    ]
    edges = [
        {"sourceId": 1, "destId": 2, "cost": 0.5},
        {"sourceId": 2, "destId": 3, "cost": 0.25},
        {"sourceId": 1, "destId": 3, "cost": 0.5},
    ]
    return {"maxSizePerFPGA": 25.0, "maxFPGAs": 2, "nodes": nodes, "edges": edges}


def test_dnn_partitioning(tmp_path):
    path = saved(tmp_path, graph_file())
    problem = read(path, "dnn-partitioning", seconds_per_unit=1.0)
    assert problem.num_devices == 2
    assert problem.cost[0, 0, 0, 0] == pytest.approx(1 + 0.5)
    assert problem.cost[1, 1, 0, 0] == pytest.approx(2 + 0.5 + 0.25)
    assert problem.cost[0, 1, 0, 0] == pytest.approx(3 + 0.5 + 0.25)
    assert np.isinf(problem.cost[0, 2, 0, 0])
    joined = read(path, "dnn-partitioning", order=[[1, 2], [3]], memory_bytes=99)
    assert joined.cost[0, :, 0, 0] == pytest.approx([3.75e-3, 6e-3])
    orders = saved(tmp_path, {"profile": [[1, 2], [3]]}, "orders.json")
    assert read(path, "dnn-partitioning", order=str(orders), memory_bytes=99) == joined
    other = saved(tmp_path, {"other": []}, "orders.json")
    refused("no order for 'profile', only for other", path, "dnn-partitioning", order=str(other))


def test_dnn_partitioning_faults(tmp_path):
    path = saved(tmp_path, graph_file())
    refused("look at node 3", path, "dnn-partitioning", order=[[1], [2]])
    refused("look at node 2", path, "dnn-partitioning", order=[[1, 2], [2, 3]])
    refused("list of lists", path, "dnn-partitioning", order=[1, 2, 3])
    value = graph_file()
    value["edges"] = value["edges"][:1]
    refused("not a chain", saved(tmp_path, value), "dnn-partitioning")
    value = graph_file()
    value["nodes"][0]["fpgaLatency"] = None
    refused(r"nodes\.0\.fpgaLatency", saved(tmp_path, value), "dnn-partitioning")


# PipeDream

GRAPH = """\
node1 -- Input -- forward_compute_time=9.0, backward_compute_time=0.0, activation_size=1.0, \
parameter_size=0.0
node3 -- Linear(8, 8) -- forward_compute_time=1000, backward_compute_time=1000.0, \
activation_size=[30; 10.0], parameter_size=100.0
node2 -- ReLU -- forward_compute_time=1000.0, backward_compute_time=0.0, activation_size=20.0, \
parameter_size=0.0
node4 -- Add -- forward_compute_time=500.0, backward_compute_time=0.0, activation_size=5.0, \
parameter_size=0.0
\tnode1 -- node2
\tnode2 -- node3
\tnode3 -- node4
\tnode2 -- node4
"""
PIPEDREAM = {"num_devices": 2, "bandwidth": 10.0}


def test_pipedream(tmp_path):
    """Cuts: 20 bytes after node2; 20 + 40 after node3, since node4 reads node2 too."""
    problem = read(saved(tmp_path, GRAPH), "pipedream", **PIPEDREAM)
    assert problem.num_layers == 3
    # the first stage does not pay for its own output; two replicas: (1 + 0) / 2
    assert problem.cost[0, 0, :, 0] == pytest.approx([1.0, 0.5])
    # T = 2, W = 100, cuts 4 and 12 s; two replicas: (2 + 4 x 100 / 20) / 2 = 11 against 12 / 2
    assert problem.cost[1, 1, :, 0] == pytest.approx([12.0, 11.0])
    without = read(saved(tmp_path, GRAPH), "pipedream", transfers=False, sizes=[1], **PIPEDREAM)
    assert without.cost[1, 2, :, 0] == pytest.approx([2.5])


def test_pipedream_faults(tmp_path):
    path = saved(tmp_path, GRAPH.replace("\tnode2 -- node3\n", ""))
    refused("not a chain", path, "pipedream", **PIPEDREAM)
    path = saved(tmp_path, GRAPH.replace("activation_size=20.0", "activation_size=lots"))
    refused("line 3", path, "pipedream", **PIPEDREAM)
    path = saved(tmp_path, GRAPH.replace("forward_compute_time=500.0, ", ""))
    refused("line 4", path, "pipedream", **PIPEDREAM)
    refused("no node lines", saved(tmp_path, ""), "pipedream", **PIPEDREAM)
    refused("bandwidth", saved(tmp_path, GRAPH), "pipedream", num_devices=2, bandwidth=0)


# Sailor

SAILOR = {
    "model": "m",
    "micro_batch": 2,
    "num_devices": 4,
    "num_microbatches": 8,
    "memory_bytes": 50,
    "bandwidth": 10.0,
}


def sailor_files(tmp_path):
    times = {"1": [2.0, 3.0, 7.0], "0": [1.0, 1.0, 7.0]}
    info = {"params_bytes": 4, "act_mem_bytes": 5, "act_output_bytes": 6}
    layers = {"0": info, "1": info}
    path = saved(tmp_path, {"2": {"4": times, "1": times}})
    return path, saved(tmp_path, {"m": {"1": layers, "4": layers}}, "llm_info.json")


def test_sailor(tmp_path):
    """A cut moves 2 x 2 x 6 bytes in 2.4 s; a layer holds 20 bytes and 10 per micro-batch."""
    path, info = sailor_files(tmp_path)
    problem = read(path, "sailor", llm_info=info, **SAILOR)
    assert problem.sizes.tolist() == [1, 4]
    assert problem.cost[0, 0, 0, 0] == pytest.approx(2 + 2.4)
    assert np.isinf(problem.cost[0, 1, 0, 0])
    assert problem.cost[1, 1, 1, 0] == pytest.approx(5 + 2.4)
    assert problem.max_successors[0, 0, 0, 0] == 2
    assert problem.max_successors[0, 1, 0, 0] == -1


def test_sailor_faults(tmp_path):
    path, info = sailor_files(tmp_path)
    refused(
        "micro_batch must be one of 2", path, "sailor", llm_info=info, **SAILOR | {"micro_batch": 3}
    )
    refused("model must be one of m", path, "sailor", llm_info=info, **SAILOR | {"model": "x"})
    refused("llm_info", path, "sailor", **SAILOR)
    bad = saved(tmp_path, {"2": {"1": {"0": [1.0, 2.0]}}})
    refused(r"2\.1\.0", bad, "sailor", llm_info=info, **SAILOR)
    bad = saved(tmp_path, {"2": {"one": {"0": [1.0, 2.0, 3.0]}}})
    refused("got 'one'", bad, "sailor", llm_info=info, **SAILOR)
    bad = saved(tmp_path, {"2": {}})
    refused("names no tensor-parallel degree", bad, "sailor", llm_info=info, **SAILOR)


def test_unknown_formats_and_options(tmp_path):
    path = saved(tmp_path, piper_file())
    refused("format must be one of alpa", path, "onnx")
    refused("unexpected keyword argument 'speed'; its options are", path, "piper", speed=1, **PIPER)
    refused("num_devices must be an integer", path, "piper", **PIPER | {"num_devices": "four"})
    refused("bandwidth|type", path, "piper", **PIPER | {"bandwidth": "fast"})


@pytest.mark.parametrize("format", ["alpa", "piper", "dnn-partitioning", "pipedream", "sailor"])
@pytest.mark.parametrize("content", [b"", b"\x80\x04\x95.", b"[]", b"{", b"\xff\xfe"])
def test_hostile_content(tmp_path, format, content):
    path = tmp_path / "hostile"
    path.write_bytes(content)
    options = {
        "alpa": ALPA,
        "piper": PIPER,
        "pipedream": PIPEDREAM,
        "sailor": SAILOR | {"llm_info": path},
    }
    refused("hostile", path, format, **options.get(format, {}))
