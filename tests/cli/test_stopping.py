"""Long searches: progress on a terminal, quiet in a pipe, stopped by Ctrl-C or the clock."""

import json
import os
import select
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

import stagecut as sc
from stagecut.cli import run


def write_problem(path, num_layers, num_devices, **changes):
    """Write a problem with noisy costs, on which HiGHS proves for long."""
    rng = np.random.default_rng(0)
    ends = np.concatenate([[0.0], np.cumsum(rng.random(num_layers) + 0.5)])
    layers = np.maximum(ends[None, 1:] - ends[:-1, None], 0.0)[:, :, None]
    sizes = np.array([1, 2, 3, 4, 6, 8])
    cost = layers / sizes**0.9 * (1 + 0.3 * rng.random((num_layers, num_layers, 6))) + 0.01
    submeshes = [(1, int(size)) for size in sizes]
    sc.save_problem(sc.StageProblem(cost, submeshes, num_devices, 64, **changes), path)


@pytest.fixture(scope="module")
def slow_proof(tmp_path_factory):
    """A problem with a first plan within seconds and a proof that takes several times as long."""
    path = tmp_path_factory.mktemp("slow") / "slow.npz"
    write_problem(path, 80, 100, use_all_devices=False)
    return path


@pytest.fixture(scope="module")
def no_plan_soon(tmp_path_factory):
    """A problem on which HiGHS finds no plan for a minute."""
    path = tmp_path_factory.mktemp("hard") / "hard.npz"
    write_problem(path, 128, 200)
    return path


def read_until(leader, words, seconds=120):
    """Return what a terminal shows until ``words`` appear in it."""
    shown, end = b"", time.monotonic() + seconds
    while words not in shown:
        ready, _, _ = select.select([leader], [], [], max(end - time.monotonic(), 0))
        assert ready, f"{words!r} did not appear in {shown[-500:]!r}"
        shown += os.read(leader, 65536)
    return shown


@pytest.fixture
def terminal():
    """Both ends of a terminal."""
    leader, follower = os.openpty()
    yield leader, follower
    os.close(leader)
    os.close(follower)


def start(path, *arguments, stderr=subprocess.PIPE):
    command = [sys.executable, "-m", "stagecut", "solve", str(path), "--json", *arguments]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=stderr)


def test_interrupt_with_a_plan_prints_it_as_feasible(slow_proof, terminal, tmp_path):
    leader, follower = terminal
    plan = tmp_path / "plan.json"
    arguments = ["--solver", "highs", "--strategy", "direct", "--solver", "dp", "-o", str(plan)]
    process = start(slow_proof, *arguments, stderr=follower)
    shown = read_until(leader, b"best ")
    assert b"bound " in shown
    process.send_signal(signal.SIGINT)
    output, _ = process.communicate(timeout=120)
    (result,) = json.loads(output)["results"]  # the second solver does not start
    assert (result["status"], result["limit"]) == ("feasible", "interrupt")
    assert result["bound"] <= result["objective"]
    assert process.returncode == 0
    assert run(["check", str(slow_proof), str(plan)]) == 0
    read_until(leader, b"\x1b[2K")  # the line is gone when the search ends


def test_interrupt_without_a_plan_exits_with_130(no_plan_soon, terminal):
    leader, follower = terminal
    process = start(no_plan_soon, "--solver", "highs", "--strategy", "direct", stderr=follower)
    read_until(leader, b"no plan yet")
    process.send_signal(signal.SIGINT)
    output, _ = process.communicate(timeout=120)
    (result,) = json.loads(output)["results"]
    assert (result["status"], result["limit"]) == ("unknown", "interrupt")
    assert process.returncode == 130
    read_until(leader, b"stagecut: interrupted")


def test_time_limit_is_reported_and_a_pipe_stays_quiet(no_plan_soon):
    process = start(no_plan_soon, "--solver", "highs", "--time-limit", "3")
    output, errors = process.communicate(timeout=120)
    (result,) = json.loads(output)["results"]
    assert result["limit"] == "time"
    assert result["status"] in ("unknown", "feasible")
    assert process.returncode == (1 if result["status"] == "unknown" else 0)
    assert errors == b""
