"""The k best plans against the list of all plans."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracle import problems, ruled_problems

import stagecut as sc
import stagecut_dp


def every_plan(problem):
    """Objectives of all valid plans, ascending."""
    found, last = [], problem.num_layers - 1
    choices = list(itertools.product(range(len(problem.sizes)), range(problem.num_configs)))
    for cuts in itertools.product([False, True], repeat=last):
        ends = [k for k in range(last) if cuts[k]] + [last]
        starts = [0] + [end + 1 for end in ends[:-1]]
        for picks in itertools.product(choices, repeat=len(ends)):
            stages = [
                (i, j, m, c) for i, j, (m, c) in zip(starts, ends, picks, strict=True)
            ]  # fmt: skip
            try:
                plan = sc.Plan.from_choices(problem, stages)
                found.append(sc.evaluate(problem, plan).objective)
            except sc.PlanError:
                continue
    return sorted(found)


RULED = ruled_problems(("same_submesh", "max_stages"), max_layers=4)


@given(st.one_of(problems(max_layers=4), RULED), st.integers(1, 12))
def test_the_k_best_are_those_of_all_plans(problem, k):
    ranked = sc.solve_many(problem, k)
    assert [entry.objective for entry in ranked] == every_plan(problem)[:k]
    assert len({entry.plan for entry in ranked}) == len(ranked)
    for entry in ranked:
        assert sc.evaluate(problem, entry.plan).objective == entry.objective


def test_the_first_is_the_optimum():
    problem = sc.load_example("gpt3-2.6b")
    ranked = sc.solve_many(problem, 3)
    assert ranked[0].objective == sc.solve(problem).objective
    assert [entry.objective for entry in ranked] == sorted(entry.objective for entry in ranked)


@pytest.mark.parametrize("k", [0, -1, 2.0, True, "3", None])
def test_k_must_be_a_number_of_plans(k):
    with pytest.raises(sc.ProblemError, match="k must be an integer of at least 1"):
        sc.solve_many(sc.StageProblem([[[1.0]]], [(1, 1)], 1, 4), k)


def test_only_a_problem_has_plans():
    with pytest.raises(sc.ProblemError, match="problem must be a StageProblem, got str"):
        sc.solve_many("gpt3-2.6b", 2)


def test_a_price_that_the_referee_denies_raises(monkeypatch):
    problem = sc.StageProblem([[[1.0]]], [(1, 1)], 1, 4)
    monkeypatch.setattr(stagecut_dp, "k_best", lambda *_, **__: [(3.0, [(0, 0, 0, 0)])])
    with pytest.raises(sc.SolverError, match=r"claims an objective of 3\.0 s"):
        sc.solve_many(problem, 1)
