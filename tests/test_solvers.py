"""Other solvers, where they are installed: the same optimum from every form and strategy."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracle import brute_force, problems
from test_agreement import assert_result

import stagecut as sc

OTHERS = [name for name in ("scip", "cbc", "gurobi") if name in sc.available_solvers()]
FORMS = ["range", "range_disaggregated", "levels", "flow", "stage_indexed"]

if not OTHERS:
    pytest.skip("no other solver is installed", allow_module_level=True)


@pytest.mark.parametrize("strategy", ["direct", "bisection"])
@pytest.mark.parametrize("solver", OTHERS)
@settings(max_examples=25)
@given(problems(max_layers=4), st.sampled_from(FORMS))
def test_every_solver_agrees_with_brute_force(solver, strategy, problem, formulation):
    result = sc.solve(problem, solver=solver, strategy=strategy, formulation=formulation)
    assert_result(problem, result, brute_force(problem))
    assert result.solver == solver


@pytest.mark.parametrize("solver", OTHERS)
def test_a_solver_prints_nothing(solver, capfd):
    problem = sc.StageProblem([[[1.0], [2.5]], [[9.0], [1.0]]], [(1, 1)], 2, 4)
    assert sc.solve(problem, solver=solver).objective == 5.0
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("solver", OTHERS)
def test_a_time_limit_of_zero_is_no_error(solver):
    problem = sc.load_example("gpt3-2.6b")
    result = sc.solve(problem, solver=solver, time_limit=0)
    assert result.status in (sc.Status.UNKNOWN, sc.Status.FEASIBLE)
    assert result.limit is sc.Limit.TIME
