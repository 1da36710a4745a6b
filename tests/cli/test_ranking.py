"""``stagecut solve --count``: the best plans, one line each."""

import json

import pytest

import stagecut as sc
from stagecut.cli import run


@pytest.fixture
def small(tmp_path):
    """Two layers of 1 s, 1.5 s together, on up to two devices."""
    path = tmp_path / "small.json"
    cost = [[[1.0], [1.5]], [[9.0], [1.0]]]
    problem = sc.StageProblem(cost, [(1, 1)], 2, 4, use_all_devices=False)
    sc.save_problem(problem, path)
    return str(path)


def test_plans_are_listed_best_first(small, capsys):
    """Two stages: 2 + 3 x 1 = 5 s; one stage: 1.5 + 3 x 1.5 = 6 s."""
    assert run(["solve", small, "--count", "3"]) == 0
    printed = capsys.readouterr().out.splitlines()
    lines = [line for line in printed if line.split()[0] in ("1", "2", "3")]
    assert [line.split()[:4] for line in lines] == [
        ["1", "5", "s", "0.0000%"],
        ["2", "6", "s", "20.0000%"],
    ]
    assert lines[0].rstrip().endswith("2 x (1 on 1x1)")


def test_json_holds_prices_and_plans(small, capsys):
    assert run(["solve", small, "--count", "2", "--json", "--objective", "bottleneck"]) == 0
    value = json.loads(capsys.readouterr().out)
    assert value["objective"] == "bottleneck"
    shown = [(p["objective"], p["total"], p["bottleneck"]) for p in value["plans"]]
    assert shown == [(1.0, 2.0, 1.0), (1.5, 1.5, 1.5)]
    assert [len(plan["plan"]["stages"]) for plan in value["plans"]] == [2, 1]


def test_the_best_is_saved(small, tmp_path, capsys):
    plan = tmp_path / "plan.json"
    assert run(["solve", small, "--count", "2", "-o", str(plan)]) == 0
    assert run(["check", small, str(plan)]) == 0
    assert "valid: objective 5 s" in capsys.readouterr().out


def test_no_plan_exits_with_1(small, capsys):
    stated = sc.load_problem(small).replace(num_devices=3, use_all_devices=True)
    sc.save_problem(stated, small)
    assert run(["solve", small, "--count", "2"]) == 1
    assert "no plan exists" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--count", "0"], "--count"),
        (["--count", "2", "--solver", "highs"], "takes no --solver highs"),
        (["--count", "2", "--time-limit", "3", "--log"], "takes no --time-limit, --log"),
        (["--count", "2", "--formulation", "range"], "takes no --formulation"),
    ],
)
def test_what_listing_cannot_use_is_refused(small, options, message, capsys):
    assert run(["solve", small, *options]) == 2
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1
    assert run(["solve", small, "--count", "1", "--solver", "dp"]) == 0
