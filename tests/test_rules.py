"""Every rule and every pair of rules: dynamic programme, MILP and brute force agree."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracle import GENERAL, RULES, brute_force, ruled_problems

import stagecut as sc
from stagecut.dynamic import unstated_by_dp

PAIRS = list(itertools.combinations(RULES, 2))


def assert_every_engine_finds(problem, expected, formulation="range"):
    engines = {"highs": {"formulation": formulation}}
    if not unstated_by_dp(problem):
        engines["dp"] = {}
    for engine, options in engines.items():
        result = sc.solve(problem, solver=engine, **options)
        if math.isinf(expected):
            assert result.status is sc.Status.INFEASIBLE, engine
            continue
        assert result.status is sc.Status.OPTIMAL, engine
        sc.check(problem, result.plan)
        assert result.objective == pytest.approx(expected, rel=1e-9, abs=0), engine


@pytest.mark.parametrize("rule", RULES)
@settings(max_examples=25)
@given(st.data())
def test_each_rule_agrees_with_brute_force(rule, data):
    problem = data.draw(ruled_problems([rule]))
    assert_every_engine_finds(problem, brute_force(problem))


@settings(max_examples=150)
@given(st.data())
def test_pairs_of_rules_agree_with_brute_force(data):
    problem = data.draw(ruled_problems(data.draw(st.sampled_from(PAIRS)), max_layers=4))
    assert_every_engine_finds(problem, brute_force(problem))


@pytest.mark.parametrize("formulation", GENERAL)
@settings(max_examples=15)
@given(st.data())
def test_every_formulation_states_pairs_of_rules(formulation, data):
    problem = data.draw(ruled_problems(data.draw(st.sampled_from(PAIRS)), max_layers=4))
    assert_every_engine_finds(problem, brute_force(problem), formulation)


def chain(num_layers=6, **changes):
    """Blocks of 1, 2, .. s on one device, half of that on two; stages add up."""
    ends = np.concatenate([[0.0], np.cumsum(np.arange(1.0, num_layers + 1))])
    seconds = np.maximum(ends[None, 1:] - ends[:-1, None], 0.0)
    arguments = {"num_devices": 4, "num_microbatches": 4, **changes}
    return sc.StageProblem(np.stack([seconds, seconds / 2], axis=2), [(1, 1), (1, 2)], **arguments)


GOOD = [(0, 2, 1, 0), (3, 4, 0, 0), (5, 5, 0, 0)]


@pytest.mark.parametrize(
    ("rules", "message"),
    [
        ({"num_stages": 2}, "num_stages: the plan has 3 stages, the rule says 2"),
        ({"min_stages": 4}, "min_stages: the plan has 3 stages, the rule says at least 4"),
        ({"max_stages": 2}, "max_stages: the plan has 3 stages, the rule says at most 2"),
        ({"min_layers_per_stage": 2}, "min_layers_per_stage: stage 2 has 1 layers"),
        ({"max_layers_per_stage": 2}, "max_layers_per_stage: stage 0 has 3 layers"),
        ({"required_cuts": [2, 3]}, "required_cuts: no stage ends at layer 3"),
        ({"forbidden_cuts": [1, 4]}, "forbidden_cuts: a stage ends at layer 4"),
        ({"same_stage": [(2, 3)]}, "same_stage: layers 2..3 are cut after layer 2"),
        ({"same_submesh": True}, "same_submesh: stage 1 runs on 1x1, stage 0 on 1x2"),
        ({"same_size_ends": True}, "same_size_ends: the first stage has 2 devices, the last one 1"),
        ({"allowed_submeshes": [(4, 5, [(1, 2)])]}, "allowed_submeshes: stage 1 holds layers"),
        ({"budgets": [sc.Budget(3, {(1, 1): 1, (1, 2): 1.5}, "price")]}, "'price' takes 3.5"),
    ],
)
def test_referee_rejects_each_broken_rule_by_name(rules, message):
    problem = chain(rules=sc.StageRules(**rules))
    plan = sc.Plan.from_choices(problem, GOOD)
    sc.check(chain(), plan)
    with pytest.raises(sc.PlanError) as caught:
        sc.check(problem, plan)
    assert any(message in text for text in caught.value.violations)
    assert all(next(iter(rules)) in text for text in caught.value.violations)


def test_referee_names_every_broken_rule():
    rules = sc.StageRules(max_stages=2, required_cuts=[0], same_submesh=True)
    problem = chain(rules=rules)
    with pytest.raises(sc.PlanError) as caught:
        sc.check(problem, sc.Plan.from_choices(problem, GOOD))
    named = {text.split(":")[0] for text in caught.value.violations}
    assert named == {"max_stages", "required_cuts", "same_submesh"}


def test_warm_start_that_breaks_a_rule_is_refused():
    problem = chain(rules=sc.StageRules(same_submesh=True))
    with pytest.raises(sc.ProblemError, match=r"warm_start.*same_submesh"):
        sc.solve(problem, warm_start=sc.Plan.from_choices(problem, GOOD))


def test_dp_names_the_rule_that_it_cannot_state_and_auto_takes_highs():
    price = sc.Budget(3.0, {(1, 1): 1.0, (1, 2): 1.5}, name="price")
    problem = chain(rules=sc.StageRules(budgets=[price], max_stages=3))
    with pytest.raises(sc.UnsupportedError, match=r"dp.*budget 'price'"):
        sc.solve(problem, solver="dp")
    assert sc.solve(problem).solver == "highs"
    assert sc.solve(chain(rules=sc.StageRules(same_submesh=True))).solver == "dp"


@pytest.mark.parametrize(
    ("rules", "message"),
    [
        (lambda: sc.StageRules(max_stages=0), "max_stages must be an integer of at least 1, got 0"),
        (lambda: sc.StageRules(required_cuts="12"), "required_cuts must be a sequence of layers"),
        (lambda: sc.StageRules(required_cuts=[1, -1]), r"required_cuts\[1\] must be an integer"),
        (lambda: sc.StageRules(same_stage=[(3, 1)]), r"same_stage\[0\] must have first <= last"),
        (lambda: sc.StageRules(same_stage=[3]), r"same_stage\[0\] must be a pair"),
        (lambda: sc.StageRules(same_submesh=1), "same_submesh must be True or False, got 1"),
        (lambda: sc.StageRules(allowed_submeshes=[(0, 1)]), "allowed_submeshes must hold"),
        (lambda: sc.StageRules(allowed_submeshes=[(0, 1, [])]), "at least one submesh"),
        (lambda: sc.StageRules(budgets=[3]), "budgets must hold Budget objects, got 3"),
        (lambda: sc.Budget(math.nan, {}), "budget 'budget': limit must be a number >= 0, got nan"),
        (lambda: sc.Budget(1, {(1, 1): -2}), "weight of 1x1 must be a number >= 0, got -2"),
        (lambda: chain(rules=sc.StageRules(required_cuts=[5])), "required_cuts must be at most 4"),
        (lambda: chain(rules=sc.StageRules(same_stage=[(0, 6)])), "same_stage 0..6 must be at mo"),
        (
            lambda: chain(rules=sc.StageRules(budgets=[sc.Budget(1, {(1, 1): 1})])),
            "weight for.*1x2",
        ),
        (
            lambda: chain(rules=sc.StageRules(allowed_submeshes=[(0, 1, [(1, 8)])])),
            "layers 0..1 names 1x8, which the problem does not have",
        ),
    ],
)
def test_bad_rules_are_refused_by_name(rules, message):
    with pytest.raises(sc.ProblemError, match=message):
        rules()


def test_rules_survive_a_file(tmp_path):
    rules = sc.StageRules(
        num_stages=3,
        min_layers_per_stage=1,
        required_cuts=[2],
        same_stage=[(3, 4)],
        same_size_ends=True,
        allowed_submeshes=[(4, 5, [(1, 1)])],
        budgets=[sc.Budget(9.5, {(1, 1): 1.0, (1, 2): 2.5}, "power")],
    )
    for name in ("ruled.json", "ruled.npz"):
        sc.save_problem(chain(rules=rules), tmp_path / name)
        assert sc.load_problem(tmp_path / name) == chain(rules=rules)


def test_misspelt_rule_in_a_file_is_refused(tmp_path):
    path = tmp_path / "ruled.json"
    sc.save_problem(chain(rules=sc.StageRules(max_stages=2)), path)
    path.write_text(path.read_text().replace("max_stages", "most_stages"))
    with pytest.raises(sc.FormatError, match=r"rules\.most_stages"):
        sc.load_problem(path)


def midsize(seed, **rules):
    rng = np.random.default_rng(seed)
    work = 1 + 0.1 * rng.random(32)
    ends = np.concatenate([[0.0], np.cumsum(work)])
    seconds = np.maximum(ends[None, 1:] - ends[:-1, None], 0.0)[:, :, None]
    sizes = np.array([1, 2, 4])
    return sc.StageProblem(
        seconds / sizes**0.9 + 0.01, [(1, n) for n in sizes.tolist()], 16, 32,
        rules=sc.StageRules(**rules),
    )  # fmt: skip


@pytest.mark.parametrize(
    "rules",
    [
        {"same_submesh": True, "max_layers_per_stage": 6},
        {"same_size_ends": True, "required_cuts": [0, 30]},
        {"num_stages": 5, "allowed_submeshes": [(0, 3, [(1, 4)])]},
    ],
)
def test_midsize_dp_agrees_with_highs_under_rules(rules):
    problem = midsize(3, **rules)
    free, ruled = sc.solve(midsize(3)), sc.solve(problem, solver="dp")
    assert ruled.objective > free.objective
    assert sc.solve(problem, solver="highs").objective == pytest.approx(ruled.objective, rel=1e-9)
