"""Every choice of tightening gives the same optimum."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracle import RULES, problems, ruled_problems

import stagecut as sc

CHOICES = [
    sc.Tightening(floor, raised, fixing, dominated)
    for floor, raised, fixing, dominated in itertools.product(
        ("lp", "dp", None), *[(False, True)] * 3
    )
]
RULED = st.sampled_from(RULES).flatmap(lambda rule: ruled_problems((rule,), max_layers=4))


@pytest.mark.parametrize("strategy", ["direct", "bisection"])
@given(st.one_of(problems(max_layers=4), RULED), st.sampled_from(CHOICES), st.booleans())
def test_every_choice_gives_the_same_optimum(strategy, problem, tightening, started):
    plain = sc.solve(problem)
    result = sc.solve(
        problem,
        solver="highs",
        strategy=strategy,
        tightening=tightening,
        warm_start=plain.plan if started else None,
    )
    assert result.status is plain.status
    if plain.objective is not None:
        assert result.objective == pytest.approx(plain.objective, rel=1e-9, abs=0)


@pytest.mark.parametrize("strategy", ["direct", "bisection"])
@pytest.mark.parametrize("tightening", CHOICES[::7])
def test_a_mid_size_problem_under_every_choice(strategy, tightening):
    problem = sc.load_example("gpt3-2.6b").replace(num_microbatches=16)
    result = sc.solve(problem, solver="highs", strategy=strategy, tightening=tightening)
    assert result.objective == pytest.approx(sc.solve(problem).objective, rel=1e-9, abs=0)


def test_an_unknown_floor_is_refused():
    with pytest.raises(sc.ProblemError, match="floor must be 'lp', 'dp' or None, got 'best'"):
        sc.Tightening(floor="best")


def test_the_dynamic_programme_takes_none():
    problem = sc.StageProblem([[[1.0]]], [(1, 1)], 1, 4)
    with pytest.raises(sc.UnsupportedError, match="solver 'dp' takes no tightening"):
        sc.solve(problem, solver="dp", tightening=sc.Tightening())
