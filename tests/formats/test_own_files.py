"""Our own files: lossless both ways, and one clear line for whatever else arrives."""

import contextlib
import io
import json
import os
import zipfile

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import stagecut as sc
from stagecut.costs import Cluster, Layer, LayerProfile, Link, stage_problem
from stagecut.formats import files


def a_problem(num_layers=3, num_configs=2, **changes):
    rng = np.random.default_rng(5)
    cost = rng.random((num_layers, num_layers, 2, num_configs)) / 3
    cost[0, 1, 0, :] = np.inf
    fields = {"max_successors": rng.integers(-1, num_layers, cost.shape)}
    fields |= {"layer_names": [f"läyer {k}" for k in range(num_layers)]}
    return sc.StageProblem(cost, [(1, 1), (2, 4)], 9, 16, **{**fields, **changes})


def a_profile():
    block = Layer("block", "decoder", {1: 0.1, 2: 0.07}, {1: 0.2, 2: 0.13}, 1e6, 2e6, 3e4)
    head = Layer("head", "head", {1: 0.3}, {1: 1 / 3}, 5e5)
    cluster = Cluster(2, 2, 8e9, Link(3e11, 1e-6), Link(2e10))
    return LayerProfile("small", "by hand", (block, block, head), cluster, 4, 8, "gpipe", 6.5)


@pytest.mark.parametrize("suffix", [".json", ".npz"])
@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"max_successors": None, "layer_names": None},
        {"objective": "latency", "use_all_devices": False},
        {"objective": "stages_times_bottleneck"},
    ],
)
def test_a_problem_comes_back_equal(tmp_path, suffix, changes):
    problem = a_problem(**changes)
    sc.save_problem(problem, tmp_path / f"p{suffix}")
    assert sc.load_problem(tmp_path / f"p{suffix}") == problem


def test_a_big_table_goes_beside_the_json(tmp_path):
    problem = a_problem(num_layers=80)
    sc.save_problem(problem, tmp_path / "p.json")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["p.json", "p.npz"]
    assert sc.load_problem(tmp_path / "p.json") == problem


@given(
    value=st.floats(min_value=0, allow_nan=False, allow_infinity=False),
    suffix=st.sampled_from([".json", ".npz"]),
)
def test_every_float_survives(tmp_path_factory, value, suffix):
    path = tmp_path_factory.getbasetemp() / f"float{suffix}"
    problem = sc.StageProblem([[[value]]], [(1, 1)], 1, 1)
    sc.save_problem(problem, path)
    assert sc.load_problem(path).cost[0, 0, 0, 0] == value


def test_a_profile_comes_back_equal_and_builds_the_same_table(tmp_path):
    profile = a_profile()
    sc.save_profile(profile, tmp_path / "profile.json")
    assert sc.load_profile(tmp_path / "profile.json") == profile
    assert sc.load_problem(tmp_path / "profile.json") == stage_problem(profile)
    changed = sc.load_problem(tmp_path / "profile.json", num_microbatches=3)
    assert changed == stage_problem(profile, num_microbatches=3)


def test_a_plan_comes_back_equal(tmp_path):
    plan = sc.Plan(
        (sc.Stage(0, 1, sc.Submesh(1, 2), 1, 1 / 3), sc.Stage(2, 2, sc.Submesh(1, 1), 0, 0.1))
    )
    sc.save_plan(plan, tmp_path / "plan.json")
    assert sc.load_plan(tmp_path / "plan.json") == plan


def test_a_failed_write_leaves_the_old_file(tmp_path, monkeypatch):
    path = tmp_path / "p.json"
    sc.save_problem(a_problem(), path)
    before = path.read_bytes()

    def full_disk(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full_disk)
    with pytest.raises(sc.FormatError, match="No space left"):
        sc.save_problem(a_problem(num_layers=4), path)
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


def test_a_pipe_is_written_into_not_replaced(tmp_path):
    """As root, a rename over a device would remove the device."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    files.write_text(pipe, "text")
    assert os.read(reader, 100) == b"text"
    os.close(reader)
    assert pipe.is_fifo()


def test_a_link_stays_and_its_target_is_written(tmp_path):
    (tmp_path / "link").symlink_to(tmp_path / "target")
    files.write_text(tmp_path / "link", "text")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "target").read_text() == "text"


@pytest.mark.parametrize("name", ["", "x" * 300, "a\0b"])
def test_a_name_that_cannot_be_written_is_refused(name):
    with pytest.raises(sc.FormatError, match="cannot write"):
        files.write_text(name, "text")


def test_a_suffix_of_another_kind_is_refused(tmp_path):
    with pytest.raises(sc.FormatError, match=r"must end in \.json or \.npz"):
        sc.save_problem(a_problem(), tmp_path / "p.pkl")


def refused(path, *words, load=sc.load_problem):
    """Return the message: one line that names every one of ``words``."""
    with pytest.raises(sc.FormatError) as caught:
        load(path)
    message = str(caught.value)
    assert "\n" not in message
    for word in words:
        assert word in message, message
    return message


def written(tmp_path, change):
    """A problem file after ``change`` of its JSON object."""
    path = tmp_path / "p.json"
    sc.save_problem(a_problem(), path)
    value = json.loads(path.read_text())
    change(value)
    path.write_text(json.dumps(value))
    return path


def deep(value, *keys):
    for key in keys:
        value = value[key]
    return value


FIELDS = [
    (lambda v: v.update(version=2), ["version", "1", "got 2"]),
    (lambda v: v.update(format="other"), ["format", "stagecut", "got 'other'"]),
    (lambda v: v.update(kind="plan"), ["kind", "'stage_problem' or 'layer_profile'", "'plan'"]),
    (lambda v: v.pop("kind"), ["kind", "None"]),
    (lambda v: v.update(kind=["x"]), ["kind", "['x']"]),
    (lambda v: v.pop("num_devices"), ["num_devices", "missing"]),
    (lambda v: v.update(num_devices=0), ["num_devices", "1", "got 0"]),
    (lambda v: v.update(num_devices=2.0), ["num_devices", "integer", "got 2.0"]),
    (lambda v: v.update(num_devices=True), ["num_devices", "got True"]),
    (lambda v: v.update(num_devices="9"), ["num_devices", "got '9'"]),
    (lambda v: v.update(num_micro_batches=2), ["num_micro_batches", "not permitted"]),
    (lambda v: v.update(objective="speed"), ["objective", "'bottleneck'", "got 'speed'"]),
    (lambda v: v.update(submeshes=[]), ["submeshes"]),
    (lambda v: v["submeshes"][1].update(hosts=0), ["submeshes.1.hosts", "got 0"]),
    (lambda v: v["submeshes"].append(v["submeshes"][0]), ["submeshes", "repeats 1x1"]),
    (lambda v: v["submeshes"][0].update(pool="a100"), ["pool"]),
    (lambda v: v.pop("cost"), ["cost", "missing"]),
    (lambda v: v.update(cost=[]), ["cost"]),
    (lambda v: v.update(cost="inf"), ["cost", "got 'inf'"]),
    (lambda v: v["cost"][0].pop(), ["ragged"]),
    (lambda v: deep(v, "cost", 0, 0, 0).__setitem__(0, -1.0), ["cost.0.0.0.0", "got -1.0"]),
    (lambda v: deep(v, "cost", 0, 0, 0).__setitem__(0, "1"), ["cost.0.0.0.0", "got '1'"]),
    (lambda v: deep(v, "cost", 0, 0, 0).__setitem__(0, 10**400), ["cost.0.0.0.0"]),
    (lambda v: deep(v, "max_successors", 0, 0, 0).__setitem__(0, 2**70), ["max_successors"]),
    (
        lambda v: deep(v, "max_successors", 0, 0, 0).__setitem__(0, -2),
        ["max_successors[0, 0, 0, 0]"],
    ),
    (lambda v: deep(v, "max_successors", 0, 0, 0).__setitem__(0, None), ["max_successors.0.0.0.0"]),
    (lambda v: v.update(layer_names=["a"]), ["layer_names", "3", "got 1"]),
    (lambda v: v.update(tables={"npz": "../p.npz"}), ["tables.npz", "'../p.npz'"]),
]


@pytest.mark.parametrize(("change", "words"), FIELDS)
def test_a_bad_field_is_named(tmp_path, change, words):
    refused(written(tmp_path, change), *words)


TEXTS = [
    (b"", ["not valid JSON"]),
    (b"[1, 2]", ["JSON object", "list"]),
    (b"null", ["JSON object"]),
    (b'{"kind": "stage_problem", ', ["not valid JSON"]),
    (b'{"kind": NaN}', ["NaN"]),
    (b'{"kind": -Infinity}', ["Infinity"]),
    (b'{"kind": "plan", "kind": "plan"}', ["'kind'", "twice"]),
    (b"\xff\xfe{}", ["UTF-8"]),
    (b"[" * 100_000, ["not valid JSON"]),
    (b"9" * 5_000, ["not valid JSON"]),
    (b"\x80\x04\x95.", ["UTF-8"]),
]


@pytest.mark.parametrize(("text", "words"), TEXTS)
@pytest.mark.parametrize("load", [sc.load_problem, sc.load_plan, sc.load_profile])
def test_hostile_text_is_refused(tmp_path, text, words, load):
    path = tmp_path / "p.json"
    path.write_bytes(text)
    refused(path, *words, load=load)


def test_a_missing_table_beside_the_json_is_named(tmp_path):
    def elsewhere(value):
        del value["cost"], value["max_successors"]
        value["tables"] = {"npz": "gone.npz"}

    refused(written(tmp_path, elsewhere), "gone.npz", "No such file")


def test_a_folder_or_a_missing_file_is_refused(tmp_path):
    refused(tmp_path, "cannot read")
    refused(tmp_path / "gone.json", "No such file")
    refused(tmp_path / "gone.npz", "No such file")


@given(cut=st.floats(0, 1, exclude_max=True), suffix=st.sampled_from([".json", ".npz"]))
def test_every_truncated_file_is_refused(tmp_path_factory, cut, suffix):
    path = tmp_path_factory.getbasetemp() / f"cut{suffix}"
    sc.save_problem(a_problem(), path)
    whole = path.read_bytes().rstrip()
    path.write_bytes(whole[: int(cut * len(whole))])
    refused(path)


@given(place=st.floats(0, 1, exclude_max=True), byte=st.integers(0, 255))
def test_a_damaged_npz_is_refused_or_whole(tmp_path_factory, place, byte):
    path = tmp_path_factory.getbasetemp() / "damaged.npz"
    sc.save_problem(a_problem(), path)
    content = bytearray(path.read_bytes())
    content[int(place * len(content))] = byte
    path.write_bytes(bytes(content))
    with contextlib.suppress(sc.FormatError):
        sc.load_problem(path)


def archive(path, **members):
    """Write an .npz of raw members."""
    with zipfile.ZipFile(path, "w") as file:
        for name, content in members.items():
            file.writestr(f"{name}.npy", content)
    return path


def header(shape, descr="<f8"):
    """Return the start of an .npy that declares a shape, and no data."""
    stream = io.BytesIO()
    np.lib.format.write_array_header_1_0(
        stream, {"descr": descr, "fortran_order": False, "shape": shape}
    )
    return stream.getvalue()


def test_a_pickle_in_an_npz_is_refused(tmp_path):
    stream = io.BytesIO()
    np.save(stream, np.array([{"a": 1}], dtype=object), allow_pickle=True)
    refused(archive(tmp_path / "p.npz", cost=stream.getvalue()), "pickle")


@pytest.mark.parametrize("shape", [(2**40, 2**40), (10**9, 3), (2**62,), (-1, 2)])
def test_a_shape_that_is_not_there_takes_no_memory(tmp_path, shape):
    refused(archive(tmp_path / "p.npz", cost=header(shape)), "truncated or damaged")


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"nothing",
        b"\x93NUMPY\x01\x00\xff\xff{",
        b"\x93NUMPY\x01\x00\xff\xfe" + b" " * 70_000,
        b"\x93NUMPY\x01\x00\x04\x00{}}}",
    ],
)
def test_a_member_that_is_no_array_is_refused(tmp_path, content):
    refused(archive(tmp_path / "p.npz", cost=content), "not a valid .npz")


def test_arrays_without_our_header_are_refused(tmp_path):
    np.savez(tmp_path / "p.npz", cost=np.zeros((1, 1, 1)))
    refused(tmp_path / "p.npz", "header")


def test_nan_in_an_npz_is_named(tmp_path):
    path = tmp_path / "p.npz"
    sc.save_problem(a_problem(), path)
    arrays = files.read_arrays(path)
    arrays["cost"] = np.full_like(arrays["cost"], np.nan)
    files.write_arrays(path, arrays)
    refused(path, "cost[0, 0, 0, 0] = nan")


PROFILE_FIELDS = [
    (lambda v: v.pop("layers"), ["layers", "missing"]),
    (lambda v: v.update(layers=[]), ["layers", "got []"]),
    (lambda v: v["layers"][0].update(kind="encoder"), ["layers.0.kind", "got 'encoder'"]),
    (lambda v: v["layers"][0].update(repeat=0), ["layers.0.repeat", "got 0"]),
    (lambda v: v["layers"][0].update(repeat=10**12), ["layers.0.repeat"]),
    (lambda v: v["layers"][0].update(forward_seconds={"x": 1.0}), ["'x'"]),
    (lambda v: v["layers"][0].update(forward_seconds={"0": 1.0}), ["'0'"]),
    (lambda v: v["layers"][0].update(forward_seconds={}), ["layers.0.forward_seconds"]),
    (lambda v: v["layers"][0].update(forward_seconds={"1": 1.0}), ["same tensor-parallel degrees"]),
    (lambda v: v["layers"][0]["forward_seconds"].update({"1": -1}), ["layers.0.forward_seconds.1"]),
    (lambda v: v["cluster"].update(memory_bytes=0), ["cluster.memory_bytes", "got 0"]),
    (lambda v: v["cluster"]["inter_host"].update(bandwidth=0), ["cluster.inter_host.bandwidth"]),
    (lambda v: v.update(schedule="zb"), ["schedule", "got 'zb'"]),
    (lambda v: v.update(micro_batch=0), ["micro_batch", "got 0"]),
]


@pytest.mark.parametrize(("change", "words"), PROFILE_FIELDS)
@pytest.mark.parametrize("load", [sc.load_problem, sc.load_profile])
def test_a_bad_profile_field_is_named(tmp_path, change, words, load):
    path = tmp_path / "profile.json"
    sc.save_profile(a_profile(), path)
    value = json.loads(path.read_text())
    change(value)
    path.write_text(json.dumps(value))
    refused(path, *words, load=load)
