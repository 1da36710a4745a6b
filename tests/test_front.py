"""The front answers every number of micro-batches; each plan on it is priced by the referee."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracle import RULES, brute_force, problems, ruled_problems

import stagecut as sc
import stagecut_dp

COUNTS = (1, 2, 3, 5, 17, 1000, 10**6)
STATED = [rule for rule in RULES if rule not in ("budgets", "placeable")]
RULED = st.sampled_from(STATED).flatmap(lambda rule: ruled_problems((rule,)))


@given(st.one_of(problems(), RULED))
def test_the_best_point_is_the_optimum_for_every_number_of_microbatches(problem):
    front = sc.pareto_front(problem)
    for count in COUNTS:
        stated = problem.replace(num_microbatches=count, objective="training")
        best, expected = front.best(count), brute_force(stated)
        if best is None:
            assert math.isinf(expected)
            continue
        assert best.objective(count) == expected
        assert sc.evaluate(stated, best.plan).objective == expected


@given(st.one_of(problems(), RULED))
def test_no_point_is_dominated(problem):
    points = sc.pareto_front(problem).points
    for left, right in itertools.pairwise(points):
        assert left.total < right.total
        assert left.bottleneck > right.bottleneck


@given(problems())
def test_ranges_follow_each_other_and_name_the_best(problem):
    front = sc.pareto_front(problem)
    ranges = front.ranges()
    assert len(ranges) <= len(front)
    ends = [entry.last for entry in ranges]
    assert [entry.first for entry in ranges] == [1, *(last + 1 for last in ends[:-1])][: len(ends)]
    assert not ranges or ends[-1] is None
    for entry in ranges:
        for count in (entry.first, entry.last or entry.first + 10**6):
            best = front.best(count).objective(count)
            assert entry.point.objective(count) == pytest.approx(best, rel=1e-12, abs=0)


def test_ranges_by_hand():
    """One stage costs 9; two cost 6 + 6: 9 + 9 (B - 1) against 12 + 6 (B - 1), equal at B = 2."""
    cost = [[[6.0], [9.0]], [[math.inf], [6.0]]]
    problem = sc.StageProblem(cost, [(1, 1)], 2, 4, use_all_devices=False)
    ranges = sc.pareto_front(problem).ranges()
    assert [(r.first, r.last, r.point.total, r.point.bottleneck) for r in ranges] == [
        (1, 2, 9.0, 9.0),
        (3, None, 12.0, 6.0),
    ]


def test_a_point_between_the_hull_is_never_chosen():
    """Points (10, 10), (14, 9) and (15, 5): the middle one is best for no B."""
    plan = sc.Plan((sc.Stage(0, 0, sc.Submesh(1, 1), 0, 1.0),))
    points = [sc.ParetoPoint(total, bottleneck, plan) for total, bottleneck in
              ((10.0, 10.0), (14.0, 9.0), (15.0, 5.0))]  # fmt: skip
    ranges = sc.ParetoFront(tuple(points)).ranges()
    assert [(r.first, r.last, r.point) for r in ranges] == [(1, 2, points[0]), (3, None, points[2])]


def test_an_infeasible_problem_has_an_empty_front():
    front = sc.pareto_front(sc.StageProblem([[[1.0]]], [(1, 2)], 3, 4))
    assert (len(front), front.points, front.ranges(), front.best(7)) == (0, (), (), None)


@pytest.mark.parametrize("count", [0, -1, 1.5, True, "4", None])
def test_a_number_of_microbatches_that_is_none_is_refused(count):
    front = sc.pareto_front(sc.StageProblem([[[1.0]]], [(1, 1)], 1, 4))
    with pytest.raises(sc.ProblemError, match="num_microbatches must be an integer"):
        front.best(count)


def test_only_a_problem_has_a_front():
    with pytest.raises(sc.ProblemError, match="problem must be a StageProblem, got ndarray"):
        sc.pareto_front(np.zeros((1, 1, 1)))


def test_a_rule_that_the_programme_cannot_state_is_named():
    rules = sc.StageRules(budgets=[sc.Budget(3.0, {(1, 1): 1.0}, name="price")])
    problem = sc.StageProblem([[[1.0]]], [(1, 1)], 1, 4, rules=rules)
    with pytest.raises(sc.UnsupportedError, match="cannot state budget 'price'"):
        sc.pareto_front(problem)


def test_a_price_that_the_referee_denies_raises(monkeypatch):
    problem = sc.StageProblem([[[1.0]]], [(1, 1)], 1, 4)
    lie = stagecut_dp.ParetoFront(np.array([0.5]), np.array([1.0]), ([(0, 0, 0, 0)],))
    monkeypatch.setattr(stagecut_dp, "pareto_front", lambda *_, **__: lie)
    with pytest.raises(sc.SolverError, match=r"claims a total of 0\.5 s"):
        sc.pareto_front(problem)
