"""Explanations name the cause, and every change that they name gives the problem a plan."""

import json
import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracle import RULES, brute_force, ruled_problems

import stagecut as sc
from stagecut.cli import run
from stagecut.costs import Cluster, Layer, LayerProfile, Link, stage_bytes, stage_problem
from stagecut.explain.conflicts import parts_of, rules_of


def table(num_layers=4, num_submeshes=2):
    return np.ones((num_layers, num_layers, num_submeshes))


def only(problem, **options):
    explanation = sc.explain_infeasibility(problem, **options)
    assert explanation.status is sc.Status.INFEASIBLE
    (cause,) = explanation.causes
    assert str(cause) in str(explanation)
    return cause


def test_a_problem_with_a_plan_has_no_causes():
    explanation = sc.explain_infeasibility(sc.StageProblem(table(), [(1, 1), (1, 2)], 4, 2))
    assert (explanation.status, explanation.causes) == (sc.Status.OPTIMAL, ())
    assert str(explanation) == "there is a plan"


def test_no_sum_of_sizes_reaches_the_devices():
    """Two to four layers on 2 or 6 devices: 2, 4, 6, 8, .. 24, never 7."""
    problem = sc.StageProblem(table(), [(1, 2), (1, 6)], 7, 2)
    cause = only(problem)
    assert cause.kind == "devices"
    assert "2 and 6 devices each" in cause.message
    assert "nearest counts that a plan can use are 6 and 8" in cause.message
    for count in (6, 8):
        assert f"set num_devices to {count}" in cause.changes
        assert sc.solve(problem.replace(num_devices=count)).plan is not None
    assert sc.solve(problem.replace(use_all_devices=False)).plan is not None


def test_too_many_devices_for_so_few_layers():
    cause = only(sc.StageProblem(table(2), [(1, 1), (1, 2)], 9, 2))
    assert cause.changes == ("set num_devices to 4", "set use_all_devices=False")


def test_too_few_devices_even_at_most():
    cost = table(2, 1)
    cost[0, 1] = np.inf
    cause = only(sc.StageProblem(cost, [(1, 2)], 3, 2, use_all_devices=False))
    assert cause.changes == ("raise num_devices to 4",)


def test_layers_that_fit_no_submesh_are_named():
    cost = table()
    cost[:2, 1:, :] = np.inf
    cost[1, :, :] = np.inf
    names = ["embedding", "a", "b", "head"]
    cause = only(sc.StageProblem(cost, [(1, 1), (1, 2)], 4, 2, layer_names=names))
    assert (cause.kind, cause.message.split(":")[0]) == ("layer", "layer 1 (a) fits no submesh")


def test_layers_that_need_more_devices_than_there_are():
    cost = table()
    cost[:3, 2:, 0] = np.inf
    cost[2, 2:, 0] = np.inf
    cause = only(sc.StageProblem(cost, [(1, 1), (1, 8)], 4, 2))
    assert "layer 2 only run on submeshes larger" in cause.message
    assert cause.changes == ("raise num_devices to 8",)


def test_stages_that_do_not_join():
    cost = np.full((3, 3, 1), np.inf)
    cost[0, 1], cost[1, 2] = 1.0, 1.0
    cause = only(sc.StageProblem(cost, [(1, 1)], 2, 2))
    assert cause.kind == "cover"
    assert "the end of layer 1 at most" in cause.message


def test_a_pool_that_no_sum_fills():
    shapes = [sc.Submesh(1, 2, "new"), sc.Submesh(1, 1, "old")]
    problem = sc.StageProblem(table(), shapes, {"new": 3, "old": 1}, 2)
    cause = only(problem)
    assert "pool 'new': its stages have 2 devices each; the nearest counts are 2 and 4" in (
        cause.message
    )
    assert sc.solve(problem.replace(num_devices={"new": 2, "old": 1})).plan is not None


def six(memory_bytes):
    """Six layers of 1 byte of activations each, on three devices."""
    layer = Layer("block", "other", {1: 0.5}, {1: 0.5}, activation_bytes=1.0)
    cluster = Cluster(1, 3, float(memory_bytes), Link(1.0), Link(1.0))
    return LayerProfile("six", "by hand", (layer,) * 6, cluster, 1, 8)


def test_memory_says_which_layers_where_and_how_many_bytes():
    """Stages of a, b, c layers hold 3 a, 2 b and c bytes: (1, 2, 3) with 4 is the least, not 3."""
    profile = six(3)
    problem = stage_problem(profile, submeshes=[(1, 1)])
    cause = only(problem, profile=profile)
    assert cause.kind == "memory"
    assert "4 bytes a device, 1 short" in cause.message
    assert re.search(r"stage \d \(layers \d\.\.\d .*\), with \d stages after it", cause.message)
    (change,) = cause.changes
    assert change == "raise memory_bytes from 3 to 4"
    assert sc.solve(stage_problem(six(4), submeshes=[(1, 1)])).plan is not None
    assert "fit 1 more micro-batch in flight" in only(problem).changes[0]


def test_layers_that_never_fit_are_told_as_memory():
    cause = only(stage_problem(six(0.5), submeshes=[(1, 1)]))
    assert (cause.kind, "layers 0..5" in cause.message) == ("memory", True)


def test_stage_bytes_by_schedule():
    """Two layers under 1F1B with two stages after it keep three micro-batches of 2 bytes."""
    stage = sc.Stage(0, 1, sc.Submesh(1, 1), 0, 2.0)
    assert stage_bytes(six(9), stage, successors=2) == 6.0
    assert stage_bytes(six(9), stage, successors=2, num_microbatches=2) == 4.0


def test_rules_in_conflict_are_a_smallest_set():
    """Cuts after 0 and 2 make three stages; max_layers is innocent."""
    rules = sc.StageRules(required_cuts=[0, 2], max_stages=2, max_layers_per_stage=4)
    problem = sc.StageProblem(table(4, 1), [(1, 1)], 4, 2, use_all_devices=False, rules=rules)
    cause = only(problem)
    assert set(cause.rules) == {
        "max_stages=2",
        "required_cuts after layer 0",
        "required_cuts after layer 2",
    }
    assert "set max_stages to 3" in cause.changes
    assert "drop required_cuts after layer 0" in cause.changes


def table_problem(rules):
    return sc.StageProblem(table(4, 2), [(1, 1), (1, 2)], 4, 2, rules=rules)


def test_a_budget_names_its_least_limit():
    price = sc.Budget(5.0, {(1, 1): 2.0, (1, 2): 3.0}, name="price")
    cause = only(table_problem(sc.StageRules(budgets=[price])))
    assert cause.changes == ("raise the limit of budget 'price' to 6",)  # 1x2 twice


@settings(max_examples=60)
@given(st.data())
def test_conflicts_are_real_and_minimal(data):
    """The set leaves no plan, all of it is needed, and so says brute force."""
    pair = data.draw(st.lists(st.sampled_from(RULES), min_size=2, max_size=3, unique=True))
    problem = data.draw(ruled_problems(pair, max_layers=4, max_devices=4))
    explanation = sc.explain_infeasibility(problem)
    assert (explanation.status is sc.Status.INFEASIBLE) == (brute_force(problem) == np.inf)
    assert bool(explanation.causes) == (explanation.status is sc.Status.INFEASIBLE)
    for cause in explanation.causes:
        if not cause.rules:
            assert brute_force(problem.replace(rules=sc.StageRules())) == np.inf
            continue
        parts = [part for part in parts_of(problem.rules) if part.text in cause.rules]
        assert brute_force(problem.replace(rules=rules_of(parts, problem.rules))) == np.inf
        for part in parts:
            fewer = rules_of([other for other in parts if other is not part], problem.rules)
            assert brute_force(problem.replace(rules=fewer)) < np.inf
        for change in cause.changes:
            if found := re.fullmatch(r"set (\w+) to (\d+)", change):
                rules = problem.rules.replace(**{found[1]: int(found[2])})
                assert brute_force(problem.replace(rules=rules)) < np.inf


def test_parts_make_the_rules_again():
    rules = sc.StageRules(
        num_stages=2, required_cuts=[0, 1], same_stage=[(2, 3)], same_submesh=True,
        allowed_submeshes=[(0, 1, [(1, 1)]), (2, 2, [(1, 2)])],
        budgets=[sc.Budget(3, {(1, 1): 1}), sc.Budget(4, {(1, 1): 2}, "power")],
    )  # fmt: skip
    assert rules_of(parts_of(rules), rules) == rules


@pytest.mark.parametrize("as_json", [False, True])
def test_command_line_says_why(tmp_path, capsys, as_json):
    path = tmp_path / "odd.json"
    sc.save_problem(sc.StageProblem(table(), [(1, 2), (1, 6)], 7, 2), path)
    assert run(["solve", str(path), *(["--json"] if as_json else [])]) == 1
    shown = capsys.readouterr().out
    if as_json:
        (shown,) = json.loads(shown)["why_infeasible"]
    assert "no sum of sizes reaches 7 devices" in shown


def test_command_line_tells_bytes_of_a_profile(tmp_path, capsys):
    path = tmp_path / "six.json"
    sc.save_profile(six(3), path)
    assert run(["solve", str(path), "--num-devices", "3"]) in (0, 1)
    sc.save_profile(six(1.5), path)
    assert run(["solve", str(path)]) == 1
    assert "raise memory_bytes from 1.5 to" in capsys.readouterr().out
