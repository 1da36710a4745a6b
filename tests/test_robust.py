"""Uncertain times: worst cases agree with trying every choice of slow stages."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracle import GENERAL, OBJECTIVES, RULES, brute_force, problems, ruled_problems

import stagecut as sc
from stagecut.worst_case import worst_objective


@st.composite
def robust_problems(draw, base=None):
    problem = draw(problems(max_layers=4) if base is None else base)
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    share = rng.random(problem.cost.shape) * draw(st.sampled_from([0.1, 1.0, 3.0]))
    finite = np.where(np.isfinite(problem.cost), problem.cost, 0.0)
    return problem.replace(cost_spread=finite * share, robustness=draw(st.integers(1, 4)))


def assert_best(problem, expected, **options):
    result = sc.solve(problem, **options)
    if math.isinf(expected):
        assert result.status is sc.Status.INFEASIBLE
        return
    assert result.status is sc.Status.OPTIMAL
    assert result.objective == sc.evaluate(problem, result.plan).objective
    assert result.objective == pytest.approx(expected, rel=1e-9, abs=0)
    assert result.bound <= result.objective


@settings(max_examples=150)
@given(robust_problems())
def test_robust_plans_agree_with_enumeration(problem):
    assert_best(problem, brute_force(problem))


@pytest.mark.parametrize("formulation", GENERAL)
@settings(max_examples=12)
@given(robust_problems())
def test_every_formulation_states_the_worst_case(formulation, problem):
    assert_best(problem, brute_force(problem), solver="highs", formulation=formulation)


@settings(max_examples=40)
@given(st.data())
def test_robust_plans_under_rules(data):
    rule = data.draw(st.sampled_from(RULES))
    problem = data.draw(robust_problems(ruled_problems([rule], max_layers=3)))
    assert_best(problem, brute_force(problem))


@settings(max_examples=200)
@given(
    st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), min_size=1, max_size=5),
    st.integers(1, 6),
    st.integers(1, 9),
    st.sampled_from(OBJECTIVES),
)
def test_worst_case_is_the_largest_over_all_sets(stages, slow, num_microbatches, objective):
    costs, spreads = zip(*stages, strict=True)
    table = np.full((len(costs), len(costs), 1), np.inf)
    spread = np.zeros_like(table)
    for k, (cost, more) in enumerate(stages):
        table[k, k], spread[k, k] = cost, more
    problem = sc.StageProblem(
        table, [(1, 1)], len(costs), num_microbatches, objective=objective,
        cost_spread=spread, robustness=slow,
    )  # fmt: skip
    found = worst_objective(objective, costs, spreads, slow, num_microbatches)
    assert found == brute_force(problem)


def two_layers(**changes):
    """One stage of 4 s that is steady, or two of 1.5 and 2 s that may take 1 and 3 s longer."""
    cost = np.full((2, 2, 1), np.inf)
    cost[0, 1], cost[0, 0], cost[1, 1] = 4.0, 1.5, 2.0
    spread = np.zeros_like(cost)
    spread[0, 0], spread[1, 1] = 1.0, 3.0
    arguments = {"use_all_devices": False, "cost_spread": spread, **changes}
    return sc.StageProblem(cost, [(1, 1)], 2, 2, **arguments)


def test_a_steady_plan_wins_when_slow_stages_count():
    """Two stages: 3.5 + 2 = 5.5 as measured; with the second slow 6.5 + 5 = 11.5. One: 4 + 4."""
    assert sc.solve(two_layers()).objective == 5.5
    result = sc.solve(two_layers(robustness=1))
    assert (result.objective, result.plan.num_stages, result.solver) == (8.0, 1, "highs")
    two = sc.Plan.from_choices(two_layers(), [(0, 0, 0, 0), (1, 1, 0, 0)])
    assert sc.evaluate(two_layers(robustness=1), two) == sc.Evaluation(3.5, 2.0, 11.5)
    assert sc.evaluate(two_layers(robustness=2), two).objective == 12.5


def test_the_dp_states_worst_cases_that_one_stage_decides_and_no_others():
    bottleneck = two_layers(robustness=1, objective="bottleneck")
    assert sc.solve(bottleneck, solver="dp").objective == 4.0
    assert sc.solve(two_layers(robustness=2), solver="dp").objective == 8.0
    with pytest.raises(sc.UnsupportedError, match="robustness"):
        sc.solve(two_layers(robustness=1), solver="dp")
    with pytest.raises(sc.UnsupportedError, match="robustness"):
        sc.pareto_front(two_layers(robustness=1))


def test_models_state_the_worst_case_or_refuse():
    assert sc.solve(sc.build(two_layers(robustness=1))).objective == 8.0
    with pytest.raises(sc.UnsupportedError, match="build it for cost"):
        sc.build(two_layers(robustness=1, objective="bottleneck"))


@pytest.mark.parametrize("robustness", [1, 2])
def test_warm_start_keeps_its_costs(robustness):
    problem = two_layers(robustness=robustness)
    start = sc.Plan.from_choices(problem, [(0, 0, 0, 0), (1, 1, 0, 0)])
    result = sc.solve(problem, solver="highs", warm_start=start)
    assert result.objective == 8.0
    with pytest.raises(sc.ProblemError, match="warm_start is not a plan"):
        sc.solve(problem, solver="highs", warm_start=sc.Plan(start.stages[:1]))


def test_stress_by_hand():
    problem = two_layers()
    two = sc.Plan.from_choices(problem, [(0, 0, 0, 0), (1, 1, 0, 0)])
    found = sc.stress(problem, two, samples=500)
    assert found.nominal == 5.5
    assert found.worst == (5.5, 11.5, 12.5)
    assert found.worst_loss == pytest.approx(12.5 / 5.5 - 1)
    assert (np.diff(found.random) >= 0).all()
    assert found.random[0] < 5.5 < found.random[-1] <= 12.5
    assert found.quantile(1.0) == found.random[-1]
    assert sc.stress(problem, two, samples=500).random.tolist() == found.random.tolist()
    assert sc.stress(problem, two, spread=0.0).mean_loss == pytest.approx(0.0)


BAD = [
    ({"cost_spread": -0.1}, "cost_spread must be a share >= 0"),
    ({"cost_spread": np.ones((2, 2))}, "have the shape of cost"),
    ({"cost_spread": np.full((2, 2, 1), np.inf)}, r"cost_spread\[0, 0, 0\] = inf"),
    ({"cost_spread": None, "robustness": 1}, "robustness=1 needs cost_spread"),
    ({"robustness": -1}, "robustness must be an integer of at least 1"),
    ({"robustness": True}, "robustness must be an integer"),
]


@pytest.mark.parametrize(("changes", "message"), BAD)
def test_bad_input(changes, message):
    with pytest.raises(sc.ProblemError, match=message):
        two_layers(**changes)


def test_stress_needs_a_spread():
    problem = two_layers(cost_spread=None)
    with pytest.raises(sc.ProblemError, match="stress needs spread"):
        sc.stress(problem, sc.solve(problem).plan)


def test_files_keep_spread_and_robustness(tmp_path):
    problem = two_layers(robustness=1)
    for name in ("robust.json", "robust.npz"):
        sc.save_problem(problem, tmp_path / name)
        assert sc.load_problem(tmp_path / name) == problem


def test_a_dearer_and_steadier_config_stays_in_the_search():
    """Config 0: 2 s, 3 s more when slow; config 1: 3 s, always. Two stages, one slow, B = 1."""
    cost = np.full((2, 2, 1, 2), np.inf)
    spread = np.zeros_like(cost)
    cost[0, 0], cost[1, 1] = [2.0, 3.0], [2.0, 3.0]
    spread[0, 0], spread[1, 1] = [3.0, 0.0], [3.0, 0.0]
    problem = sc.StageProblem(cost, [(1, 1)], 2, 1, cost_spread=spread, robustness=1)
    result = sc.solve(problem)
    assert result.objective == 6.0  # 3 + 3, not 2 + 2 + 3
    assert [stage.config for stage in result.plan.stages] == [1, 1]


def test_a_stress_prints_without_its_draws():
    problem = sc.load_example("gpt3-2.6b")
    shown = repr(sc.stress(problem, sc.solve(problem).plan, spread=0.1))
    assert "nominal=" in shown
    assert len(shown) < 300
