"""``stagecut model``: files that HiGHS's own reader solves to the same optimum."""

import re

import highspy
import pytest

import stagecut as sc
from stagecut.cli import run


def optimum(path):
    """Objective in seconds, by HiGHS's own reader and the unit in the file's first line."""
    unit = float(re.search(r"units of (\S+) seconds", path.read_text().splitlines()[0])[1])
    highs = highspy.Highs()
    highs.setOptionValue("output_flag", False)
    for name in ("mip_feasibility_tolerance", "primal_feasibility_tolerance"):
        highs.setOptionValue(name, 1e-9)
    highs.setOptionValue("mip_rel_gap", 0.0)
    assert highs.readModel(str(path)) == highspy.HighsStatus.kOk
    highs.run()
    assert highs.getModelStatus() == highspy.HighsModelStatus.kOptimal
    return highs.getObjectiveValue() * unit


@pytest.fixture
def problem(tmp_path):
    cost = [[[1.0, 0.6], [2.5, 1.4], [3.0, 1.7]], [[9.0] * 2, [1.0, 0.5], [2.0, 1.2]],
            [[9.0] * 2, [9.0] * 2, [0.7, 0.4]]]  # fmt: skip
    value = sc.StageProblem(cost, [(1, 1), (1, 2)], 4, 8)
    sc.save_problem(value, tmp_path / "small.json")
    return value


@pytest.mark.parametrize("objective", ["training", "stages_times_bottleneck"])
@pytest.mark.parametrize("kind", ["mps", "lp"])
@pytest.mark.parametrize("formulation", ["range", "range_disaggregated", "levels", "flow"])
def test_another_reader_finds_the_same_optimum(problem, tmp_path, formulation, kind, objective):
    source, target = tmp_path / "small.json", tmp_path / f"model.{kind}"
    options = ["--formulation", formulation, "--objective", objective, "-o", str(target)]
    assert run(["model", str(source), *options]) == 0
    expected = sc.solve(problem.replace(objective=objective)).objective
    assert optimum(target) == pytest.approx(expected, rel=1e-9)


def test_added_rows_are_written(problem, tmp_path):
    built = sc.build(problem)
    built.model.addConstraint(built.num_stages <= 2, "two_stages")
    sc.save_model(built, tmp_path / "model.mps")
    expected = sc.solve(built).objective
    assert expected > sc.solve(problem).objective
    assert optimum(tmp_path / "model.mps") == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["-o", "model.txt"], "must end in .mps or .lp"),
        (["-o", "no/such/folder/model.mps"], "there is no folder"),
        (["-o", "model.mps", "--formulation", "best"], "formulation must be"),
        (["-o", "model.mps", "--formulation", "assignment"], "assignment"),
    ],
)
def test_bad_input_is_one_line(arguments, message, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert run(["model", "gpt3-2.6b", *arguments]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert message in line
