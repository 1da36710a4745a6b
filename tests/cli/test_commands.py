"""The command line: what it prints, how it exits, and one clear line on bad input."""

import dataclasses
import json
import os
import subprocess
import sys

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
    assert "highs/range/bisection  optimal" in printed.out
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
        (["convert", "x", "--from", "piper", "-o", "y", "-p", "odd"], "NAME=VALUE"),
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
        (["solve", "gpt3-2.6b", "-o", "/nowhere/plan.json"], "there is no folder '/nowhere'"),
        (["solve", "gpt3-2.6b", "-o", "."], "it is a folder"),
        (["solve", "gpt3-2.6b", "-o", ""], "it is a folder"),
        (["solve", "gpt3-2.6b", "-o", "x" * 300], "cannot write"),
        (["solve", "gpt3-2.6b", "--json", "--log"], "give one of them"),
        (["solve", ""], "no file ''"),
        (["solve", "x" * 5000], "no file 'xxx"),
        (["solve", "a\n\x1b[31mb"], "no file"),
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
    assert "\x1b" not in error


HOSTILE = {
    "truncated": "{",
    "empty": "",
    "list": "[]",
    "null": "null",
    "deep": "[" * 100_000,
    "digits": '{"version": ' + "9" * 10_000 + "}",
    "nan": '{"cost": NaN}',
    "twice": '{"a": 1, "a": 2}',
    "stranger": '{"format": "other", "version": 1}',
    "binary": "\udcff\udcfe",
}


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
@pytest.mark.parametrize("command", ["solve", "check", "convert"])
def test_a_hostile_file_is_one_line_and_exits_with_2(text, command, tmp_path, capsys):
    path = tmp_path / "hostile.json"
    path.write_bytes(text.encode(errors="surrogateescape"))
    arguments = {
        "solve": [str(path)],
        "check": ["gpt3-2.6b", str(path)],
        "convert": [str(path), "--from", "stagecut", "-o", str(tmp_path / "out.json")],
    }
    assert run([command, *arguments[command]]) == 2
    printed = capsys.readouterr()
    assert printed.err.startswith("stagecut: ")
    assert printed.err.count("\n") == 1
    assert printed.out == ""


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads every file")
def test_an_unreadable_file_exits_with_2(small, capsys):
    small.chmod(0)
    assert run(["solve", str(small)]) == 2
    assert "Permission denied" in capsys.readouterr().err


def test_layer_names_are_printed_as_they_are(tmp_path, capsys):
    names = ("[/bold]", "\x1b[31mred\n")
    problem = sc.StageProblem([[[1.0], [2.5]], [[9.0], [1.0]]], [(1, 1)], 2, 4, layer_names=names)
    sc.save_problem(problem, tmp_path / "names.json")
    assert run(["solve", str(tmp_path / "names.json")]) == 0
    printed = capsys.readouterr().out
    assert "([/bold])" in printed
    assert r"(\x1b[31mred\n)" in printed


def test_disagreement_is_told_and_exits_with_1(small, capsys, monkeypatch):
    """No honest solver disagrees, so one is made to lie."""
    module = sys.modules["stagecut.solve"]
    honest = module.solve

    def liar(problem, solver, **options):
        result = honest(problem, solver=solver, **options)
        return result if solver == "dp" else dataclasses.replace(result, objective=5.5)

    monkeypatch.setattr(module, "solve", liar)
    assert run(["solve", str(small), "--solver", "dp", "--solver", "highs"]) == 1
    assert "the solvers DISAGREE" in capsys.readouterr().out
    assert run(["solve", str(small), "--solver", "dp", "--solver", "highs", "--json"]) == 1
    assert json.loads(capsys.readouterr().out)["agree"] is False


def test_a_plan_that_cannot_be_saved_is_still_printed(small, capsys, monkeypatch):
    def full_disk(*_):
        raise sc.FormatError("cannot write plan.json: No space left on device")

    monkeypatch.setattr("stagecut.formats.save_plan", full_disk)
    assert run(["solve", str(small), "-o", "plan.json"]) == 2
    printed = capsys.readouterr()
    assert "objective 5 s" in printed.out
    assert printed.err == "stagecut: cannot write plan.json: No space left on device\n"


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


COMMANDS = ["solve {small}", "solve {small} --json", "examples", "--help"]


def shell(small, command, redirection):
    line = f"{sys.executable} -m stagecut {command.format(small=small)} {redirection}"
    return subprocess.run(["bash", "-c", line], capture_output=True)


@pytest.mark.parametrize("command", COMMANDS)
def test_a_closed_pipe_is_not_an_error(small, command):
    done = shell(small, command, "| head -c 1; exit ${PIPESTATUS[0]}")
    assert (done.returncode, done.stderr) == (0, b"")


@pytest.mark.parametrize("command", COMMANDS)
def test_closed_standard_output_is_not_an_error(small, command):
    done = shell(small, command, ">&-")
    assert (done.returncode, done.stderr) == (0, b"")


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs a device that is always full")
@pytest.mark.parametrize("command", COMMANDS)
def test_a_full_disk_is_one_line_and_exits_with_2(small, command):
    done = shell(small, command, ">/dev/full")
    assert done.returncode == 2
    assert done.stderr == b"stagecut: cannot write the output: No space left on device\n"
