"""Rows of a user's own on a built model, solved by either strategy, against brute force."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracle import problems

import stagecut as sc

STRATEGIES = ("direct", "bisection")
FORMS = [name for name in sc.available_formulations() if name != "assignment"]


def best_plan(problem, obeys):
    """Least objective over all plans that ``obeys`` accepts, ``inf`` without one."""
    best, last = math.inf, problem.num_layers - 1
    choices = list(itertools.product(range(len(problem.sizes)), range(problem.num_configs)))
    for cuts in itertools.product([False, True], repeat=last):
        ends = [k for k in range(last) if cuts[k]] + [last]
        starts = [0] + [end + 1 for end in ends[:-1]]
        for picks in itertools.product(choices, repeat=len(ends)):
            stages = list(zip(starts, ends, *zip(*picks, strict=True), strict=True))
            try:
                plan = sc.Plan.from_choices(problem, stages)
                objective = sc.evaluate(problem, plan).objective
            except sc.PlanError:
                continue
            if obeys(stages):
                best = min(best, objective)
    return best


def close(problem):
    """Costs within reach of a solver's tolerances: no bound trims a user's model."""
    finite = problem.cost[np.isfinite(problem.cost) & (problem.cost > 0)]
    return finite.size == 0 or finite.max() <= 1e5 * finite.min()


def agree(result, expected):
    if math.isinf(expected):
        assert result.status is sc.Status.INFEASIBLE
    else:
        assert result.status is sc.Status.OPTIMAL
        assert result.objective == pytest.approx(expected, rel=1e-9, abs=0)


@pytest.mark.parametrize("strategy", STRATEGIES)
@given(problems(max_layers=4).filter(close), st.sampled_from(FORMS), st.integers(0, 12))
def test_a_price_budget(strategy, problem, formulation, budget):
    price = np.arange(1, len(problem.sizes) + 1)
    built = sc.build(problem, formulation)
    spent = built.weighted(price[built.candidates.submesh])
    built.model.addConstraint(spent <= budget, "price")
    expected = best_plan(problem, lambda stages: sum(price[m] for _, _, m, _ in stages) <= budget)
    agree(sc.solve(built, strategy=strategy), expected)


@pytest.mark.parametrize("strategy", STRATEGIES)
@given(problems(max_layers=4).filter(close), st.sampled_from(FORMS))
def test_first_and_last_stage_on_the_same_shape(strategy, problem, formulation):
    built = sc.build(problem, formulation)
    last = problem.num_layers - 1
    for m in range(len(problem.sizes)):
        row = built.layer_on(0, m) - built.layer_on(last, m) == 0
        built.model.addConstraint(row, f"alike_{m}")
    expected = best_plan(problem, lambda stages: stages[0][2] == stages[-1][2])
    agree(sc.solve(built, strategy=strategy), expected)


@pytest.mark.parametrize("strategy", STRATEGIES)
@given(problems(max_layers=4).filter(close), st.integers(1, 3))
def test_a_number_of_stages_and_a_config(strategy, problem, most):
    """Rows may tell configs apart: dominated ones keep their columns."""
    built = sc.build(problem)
    built.model.addConstraint(built.num_stages <= most, "stages")
    dear = built.weighted(built.candidates.config == 0)
    built.model.addConstraint(dear <= 1, "config")
    expected = best_plan(
        problem,
        lambda stages: len(stages) <= most and sum(c == 0 for *_, c in stages) <= 1,
    )
    agree(sc.solve(built, strategy=strategy), expected)


def test_a_model_is_as_it_was_after_a_search():
    problem = sc.load_example("gpt3-2.6b")
    built = sc.build(problem)
    before = [column.upBound for column in built.columns], built.bottleneck.lowBound
    first = sc.solve(built, strategy="bisection")
    assert ([column.upBound for column in built.columns], built.bottleneck.lowBound) == before
    assert first.objective == sc.solve(problem).objective
    built.model.addConstraint(built.num_stages <= 2, "stages")
    second = sc.solve(built, strategy="bisection")
    assert first.objective < second.objective
    assert second.plan.num_stages <= 2


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"solver": "dp"}, sc.UnsupportedError, "solver 'dp' takes no model"),
        ({"formulation": "range"}, sc.UnsupportedError, "takes no formulation"),
        ({"tightening": sc.Tightening()}, sc.UnsupportedError, "takes no tightening"),
        ({"strategy": "best"}, sc.ProblemError, "strategy must be 'auto' or one of"),
    ],
)
def test_options_that_a_model_cannot_take(options, error, message):
    built = sc.build(sc.StageProblem([[[1.0]]], [(1, 1)], 1, 4))
    with pytest.raises(error, match=message):
        sc.solve(built, **options)


def test_only_a_problem_is_built():
    with pytest.raises(sc.ProblemError, match="problem must be a StageProblem, got int"):
        sc.build(7)
    with pytest.raises(sc.ProblemError, match="formulation must be 'auto' or one of"):
        sc.build(sc.StageProblem([[[1.0]]], [(1, 1)], 1, 4), "best")


def test_a_form_without_columns_for_stages_cannot_branch():
    cost = np.array([[[1.0], [2.0]], [[np.inf], [1.0]]])
    built = sc.build(sc.StageProblem(cost, [(1, 1)], 2, 4), "assignment")
    with pytest.raises(sc.UnsupportedError, match="no variable for a stage as a whole"):
        sc.solve(built, strategy="bisection")
