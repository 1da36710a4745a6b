"""The command line: what it prints, how it exits, and one clear line on bad input."""

import json
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

import stagecut as sc
from stagecut.cli import run


@pytest.fixture
def small(tmp_path):
    """A problem file with two layers on two devices."""
    path = tmp_path / "small.json"
    problem = sc.StageProblem([[[1.0], [2.5]], [[9.0], [1.0]]], [(1, 1)], 2, 4)
    sc.save_problem(problem, path)
    return path


def test_two_solvers_agree(small, capsys):
    assert run(["solve", str(small), "--solver", "dp", "--solver", "highs"]) == 0
    printed = capsys.readouterr()
    assert "objective 5 s = total 2 s + 3 x bottleneck 1 s" in printed.out
    assert "highs/range/direct  optimal" in printed.out
    assert "the solvers agree" in printed.out
    assert printed.err == ""
    assert "\x1b" not in printed.out


def test_json_is_all_that_is_printed(small, capsys):
    assert run(["solve", str(small), "--json", "--solver", "highs"]) == 0
    value = json.loads(capsys.readouterr().out)
    (result,) = value["results"]
    assert (result["status"], result["objective"], result["gap"]) == ("optimal", 5.0, 0.0)
    assert result["statistics"]["passes"] is None


def test_a_written_plan_checks(small, tmp_path, capsys):
    plan = tmp_path / "plan.json"
    assert run(["solve", str(small), "-o", str(plan)]) == 0
    assert run(["check", str(small), str(plan)]) == 0
    assert "valid: objective 5 s" in capsys.readouterr().out
    assert run(["check", "gpt3-2.6b", str(plan)]) == 1
    assert "broken: the last stage ends at layer 1" in capsys.readouterr().out


def test_infeasible_exits_with_1(small, capsys):
    assert run(["solve", str(small), "--num-devices", "99999999999999"]) == 1
    assert run(["solve", str(small), "--num-devices", "3"]) == 1
    assert "infeasible" in capsys.readouterr().out


def test_examples_are_listed_and_solvable(capsys):
    assert run(["examples"]) == 0
    listed = [line.split()[0] for line in capsys.readouterr().out.splitlines()]
    assert listed == list(sc.example_names())
    assert run(["solve", "gpt3-2.6b", "--num-microbatches", "64", "--objective", "latency"]) == 0


def test_convert_reads_another_programs_file(tmp_path, capsys):
    table = np.array([[[[[1.0]], [[2.0]]], [[[np.inf]], [[1.0]]]]] * 3)
    table[1:] = 5
    np.save(tmp_path / "cost.npy", table)
    output = tmp_path / "out.json"
    options = ["-p", "submeshes=[[1, 1]]", "-p", "num_devices=2", "-p", "num_microbatches=4"]
    arguments = ["convert", str(tmp_path / "cost.npy"), "--from", "alpa", "-o", str(output)]
    assert run([*arguments, *options]) == 0
    assert "2 layers" in capsys.readouterr().out
    assert sc.solve(sc.load_problem(output)).objective == 5.0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "Missing command"),
        (["frobnicate"], "No such command"),
        (["solve"], "Missing argument"),
        (["solve", "nowhere.json"], "no file 'nowhere.json' and no example"),
        (["solve", "."], "cannot read"),
        (["solve", "gpt3-2.6b", "--num-devices", "x"], "--num-devices"),
        (["solve", "gpt3-2.6b", "--num-devices", "0"], "num_devices must be an integer"),
        (["solve", "gpt3-2.6b", "--num-microbatches", "0"], "num_microbatches"),
        (["solve", "gpt3-2.6b", "--num-microbatches", str(10**400)], "num_microbatches"),
        (["solve", "gpt3-2.6b", "--num-devices", str(10**400)], "num_devices"),
        (["solve", "gpt3-2.6b", "--objective", "speed"], "objective must be one of"),
        (["solve", "gpt3-2.6b", "--solver", "magic"], "solver must be one of"),
        (["solve", "gpt3-2.6b", "--formulation", "magic"], "formulation must be"),
        (["solve", "gpt3-2.6b", "--strategy", "magic"], "strategy must be"),
        (["solve", "gpt3-2.6b", "--time-limit", "-1"], "time_limit must be"),
        (["solve", "gpt3-2.6b", "--time-limit", "nan"], "time_limit must be"),
        (["solve", "gpt3-2.6b", "--threads", "0"], "threads must be"),
        (["solve", "gpt3-2.6b", "--solver", "dp", "--formulation", "range"], "takes no"),
        (["solve", "gpt3-2.6b", "-o", "/nowhere/plan.json"], "cannot write"),
        (["check", "gpt3-2.6b", "nowhere.json"], "cannot read nowhere.json"),
        (["convert", "nowhere", "--from", "magic", "-o", "x.json"], "format must be one of"),
        (["convert", "nowhere", "--from", "piper", "-o", "x.json"], "num_devices"),
        (["convert", "nowhere", "--from", "stagecut", "-o", "x.json"], "cannot read nowhere"),
    ],
)
def test_bad_input_is_one_line_and_exits_with_2(arguments, message, capsys):
    assert run(arguments) == 2
    error = capsys.readouterr().err
    assert message in error
    assert error.startswith("stagecut: ")
    assert error.count("\n") == 1


@pytest.mark.parametrize("command", ["solve", "check", "convert", "examples"])
def test_help_shows_an_example(command, capsys):
    assert run([command, "--help"]) == 0
    assert f"Example: stagecut {command}" in capsys.readouterr().out


def test_help_starts_without_the_solver():
    code = (
        "import sys; from stagecut.cli import run; run(['--help']); "
        "sys.exit('matplotlib' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True).returncode == 0


def hard_problem(path):
    """Large enough that HiGHS needs minutes."""
    rng = np.random.default_rng(0)
    ends = np.concatenate([[0.0], np.cumsum(rng.random(128) + 0.5)])
    layers = np.maximum(ends[None, 1:] - ends[:-1, None], 0.0)[:, :, None]
    sizes = np.array([1, 2, 3, 4, 6, 8])
    problem = sc.StageProblem(layers / sizes**0.9 + 0.01, [(1, int(s)) for s in sizes], 200, 64)
    sc.save_problem(problem, path)


@pytest.mark.parametrize("progress", [False, True])
def test_interrupt_ends_the_search_not_the_program(tmp_path, progress):
    path = tmp_path / "hard.npz"
    hard_problem(path)
    command = [sys.executable, "-m", "stagecut", "solve", str(path), "--solver", "highs", "--json"]
    leader, follower = os.openpty() if progress else (None, subprocess.PIPE)
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=follower)
    time.sleep(8)
    process.send_signal(signal.SIGINT)
    output, errors = process.communicate(timeout=120)
    (result,) = json.loads(output)["results"]
    assert result["limit"] == "interrupt"
    assert result["status"] in ("feasible", "unknown")
    assert process.returncode == (0 if result["status"] == "feasible" else 1)
    if leader is None:
        assert errors == b""
    else:
        os.close(follower)
        assert b"searching" in os.read(leader, 65536)
        os.close(leader)


def test_time_limit_is_kept_and_reported(tmp_path, capsys):
    path = tmp_path / "hard.npz"
    hard_problem(path)
    assert run(["solve", str(path), "--solver", "highs", "--time-limit", "3", "--json"]) in (0, 1)
    (result,) = json.loads(capsys.readouterr().out)["results"]
    assert result["limit"] == "time"
    assert result["status"] in ("feasible", "unknown")


def test_a_closed_pipe_is_not_an_error(small):
    command = f"{sys.executable} -m stagecut solve {small} | head -c 1"
    done = subprocess.run(["bash", "-c", command], capture_output=True)
    assert done.stderr == b""
