"""``stagecut front``: a table, JSON, a picture."""

import json

import pytest

import stagecut as sc
from stagecut.cli import run


def test_the_table_says_which_plan_for_which_number(capsys):
    assert run(["front", "gpt3-2.6b"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "gpt3-2.6b: 34 layers, 8 devices"
    front = sc.pareto_front(sc.load_example("gpt3-2.6b"))
    assert lines[1].startswith(f"{len(front)} points on the front")
    assert [line.split()[0] for line in lines[3:]] == ["1..6", "7..59", "60.."]


def test_json_holds_the_whole_front(capsys):
    assert run(["front", "gpt3-2.6b", "--json"]) == 0
    value = json.loads(capsys.readouterr().out)
    front = sc.pareto_front(sc.load_example("gpt3-2.6b"))
    assert [point["total"] for point in value["points"]] == [p.total for p in front.points]
    for shown, entry in zip(value["ranges"], front.ranges(), strict=True):
        assert (shown["first"], shown["last"]) == (entry.first, entry.last)
        assert front.points[shown["point"]] == entry.point


def test_a_problem_without_a_plan_exits_with_1(capsys):
    assert run(["front", "gpt3-2.6b", "--num-devices", "99999999"]) == 1
    assert "no plan exists" in capsys.readouterr().out


def test_the_picture_is_written(tmp_path, capsys):
    pytest.importorskip("matplotlib")
    target = tmp_path / "front.svg"
    assert run(["front", "gpt3-2.6b", "--plot", str(target)]) == 0
    assert "<svg" in target.read_text()
    assert capsys.readouterr().err == ""


def test_a_picture_of_no_known_kind_is_bad_input(tmp_path, capsys):
    pytest.importorskip("matplotlib")
    assert run(["front", "gpt3-2.6b", "--plot", str(tmp_path / "front.foo")]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert "Format 'foo' is not supported" in line


def test_a_picture_in_no_folder_is_bad_input(tmp_path, capsys):
    assert run(["front", "gpt3-2.6b", "--plot", str(tmp_path / "no" / "front.png")]) == 2
    printed = capsys.readouterr()
    assert (printed.out, "there is no folder" in printed.err) == ("", True)


@pytest.mark.parametrize("count", [1, 20, 1000])
def test_the_plan_for_a_number_of_microbatches_is_written(count, tmp_path, capsys):
    target = tmp_path / "plan.json"
    options = ["--num-microbatches", str(count), "-o", str(target)]
    assert run(["front", "gpt3-2.6b", *options]) == 0
    problem = sc.load_example("gpt3-2.6b", num_microbatches=count)
    written = sc.evaluate(problem, sc.load_plan(target)).objective
    assert written == sc.solve(problem).objective
    assert run(["front", "gpt3-2.6b", "-o", str(tmp_path / "no" / "plan.json")]) == 2
    assert "there is no folder" in capsys.readouterr().err
