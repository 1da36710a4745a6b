"""``stagecut report``: one page from a problem and a plan, or from a problem alone."""

import pytest

import stagecut as sc
from stagecut.cli import run

pytest.importorskip("bokeh")


@pytest.fixture
def plan(example, tmp_path):
    path = tmp_path / "plan.json"
    sc.save_plan(example[2].plan, path)
    return path


def test_a_plan_alone_is_not_proven(plan, tmp_path, capsys):
    target = tmp_path / "page.html"
    assert run(["report", "gpt3-2.6b", str(plan), "-o", str(target)]) == 0
    assert capsys.readouterr().out == f"wrote {target}\n"
    text = target.read_text(encoding="utf-8")
    assert "Not proven: the page was made from a plan alone" in text
    assert "<h1>gpt3-2.6b</h1>" in text
    assert 'id="picture-memory"' in text
    assert 'id="picture-front"' in text


def test_prove_and_no_front(plan, tmp_path):
    target = tmp_path / "page.html"
    assert run(["report", "gpt3-2.6b", str(plan), "--prove", "--no-front", "-o", str(target)]) == 0
    text = target.read_text(encoding="utf-8")
    assert "No plan of this problem has a smaller objective" in text
    assert 'id="picture-front"' not in text


def test_without_a_plan_the_problem_is_solved(tmp_path):
    target = tmp_path / "page.html"
    assert run(["report", "gpt3-2.6b", "-o", str(target)]) == 0
    assert "No plan of this problem has a smaller objective" in target.read_text(encoding="utf-8")


def test_a_plan_of_another_problem_is_refused(plan, tmp_path, capsys):
    target = tmp_path / "page.html"
    assert run(["report", "llama3-70b", str(plan), "-o", str(target)]) == 1
    assert "broken: " in capsys.readouterr().out
    assert not target.exists()


def test_a_folder_as_output_is_refused_first(tmp_path, capsys):
    assert run(["report", "gpt3-2.6b", "-o", str(tmp_path)]) == 2
    assert "it is a folder" in capsys.readouterr().err


def test_no_plan_exists(tmp_path, capsys):
    problem = sc.StageProblem([[[1.0]]], [(1, 1)], 2, 4)
    sc.save_problem(problem, tmp_path / "none.json")
    arguments = ["report", str(tmp_path / "none.json"), "-o", str(tmp_path / "page.html")]
    assert run(arguments) == 1
    assert "no plan to report" in capsys.readouterr().out
