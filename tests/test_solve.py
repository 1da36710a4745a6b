"""The library call: choices, limits, warm starts, and solvers that lie."""

import logging
import sys
from dataclasses import replace

import numpy as np
import pytest

import stagecut as sc
from stagecut import backend
from stagecut.candidates import compile_candidates
from stagecut.formulations import builder
from stagecut.strategies.start import set_start


@pytest.fixture
def problem():
    """Four layers, sizes 1 and 2: 2 + 3 pairs cost 24 s or less in many ways."""
    ends = np.concatenate([[0.0], np.cumsum([1.0, 2.0, 2.0, 3.0])])
    layers = np.maximum(ends[None, 1:] - ends[:-1, None], 0.0)[:, :, None]
    return sc.StageProblem(layers / np.array([1.0, 1.8]), [(1, 1), (1, 2)], 4, 8)


def test_auto_takes_the_dp_and_says_so(problem, caplog):
    with caplog.at_level(logging.INFO, logger="stagecut"):
        result = sc.solve(problem)
    assert (result.solver, result.formulation, result.strategy) == ("dp", None, None)
    assert "solver dp" in caplog.text


def test_a_formulation_or_strategy_means_highs(problem, caplog):
    with caplog.at_level(logging.INFO, logger="stagecut"):
        result = sc.solve(problem, formulation="range_disaggregated")
    assert (result.solver, result.formulation) == ("highs", "range_disaggregated")
    assert "solver highs, formulation range_disaggregated" in caplog.text
    assert sc.solve(problem, strategy="direct").strategy == "direct"


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"solver": "magic"}, sc.ProblemError, "solver must be one of auto, dp, highs"),
        ({"formulation": "magic"}, sc.ProblemError, "one of range, range_disaggregated"),
        ({"strategy": "magic"}, sc.ProblemError, "strategy must be 'auto' or one of direct"),
        ({"solver": "dp", "formulation": "range"}, sc.UnsupportedError, "formulation='range'"),
        ({"solver": "dp", "log": True}, sc.UnsupportedError, "takes no log=True"),
        ({"time_limit": -1}, sc.ProblemError, "time_limit must be a number >= 0"),
        ({"time_limit": "1"}, sc.ProblemError, "time_limit must be a number >= 0"),
        ({"rel_gap": float("nan")}, sc.ProblemError, "rel_gap must be a number >= 0"),
        ({"threads": 0}, sc.ProblemError, "threads must be an integer"),
    ],
)
def test_bad_options_are_named(problem, options, error, message):
    with pytest.raises(error, match=message):
        sc.solve(problem, **options)


def test_only_a_problem_is_solved():
    with pytest.raises(sc.ProblemError, match="problem must be a StageProblem, got dict"):
        sc.solve({})


def test_a_missing_solver_names_its_extra(problem, monkeypatch):
    entry = backend.SolverEntry("SCIP_PY", "no_such_module", "scip", lambda _: {})
    monkeypatch.setitem(backend.SOLVERS, "scip", entry)
    assert "scip" not in sc.available_solvers()
    with pytest.raises(sc.SolverNotInstalledError, match=r"pip install 'stagecut\[scip\]'"):
        sc.solve(problem, solver="scip")


def test_results_are_the_same_each_time(problem):
    for solver in ("dp", "highs"):
        plans = {sc.solve(problem, solver=solver).plan for _ in range(3)}
        assert len(plans) == 1


def test_a_time_limit_of_zero_proves_nothing(problem):
    for solver in ("dp", "highs"):
        result = sc.solve(problem, solver=solver, time_limit=0)
        assert result.status in (sc.Status.UNKNOWN, sc.Status.FEASIBLE, sc.Status.OPTIMAL)
        if result.status is sc.Status.UNKNOWN:
            assert (result.plan, result.objective, result.gap) == (None, None, None)
            assert result.limit is sc.Limit.TIME
    assert sc.solve(problem, solver="dp", time_limit=0).status is sc.Status.UNKNOWN


def test_an_interrupted_dp_keeps_its_plan_and_bound(problem):
    def interrupt(incumbent, bound):
        raise KeyboardInterrupt

    result = sc.solve(problem, solver="dp", progress=interrupt)
    if result.limit is None:
        pytest.skip("proven before the first report")
    assert result.limit is sc.Limit.INTERRUPT
    assert result.bound <= sc.solve(problem).objective <= result.objective


def test_highs_reports_while_its_log_is_off():
    rng = np.random.default_rng(0)
    ends = np.concatenate([[0.0], np.cumsum(rng.random(24) + 0.5)])
    layers = np.maximum(ends[None, 1:] - ends[:-1, None], 0.0)[:, :, None]
    cost = layers / np.array([1, 2, 4]) ** 0.9 * (1 + 0.3 * rng.random((24, 24, 3)))
    problem = sc.StageProblem(cost, [(1, 1), (1, 2), (1, 4)], 24, 64)
    reports = []
    result = sc.solve(
        problem, solver="highs", progress=lambda best, bound: reports.append((best, bound))
    )
    assert result.objective == pytest.approx(reports[-1][0], rel=1e-6)
    assert all(bound <= result.objective * (1 + 1e-6) for _, bound in reports)
    assert len(reports) == len(set(reports))


def test_statistics_tell_the_size_of_the_model(problem):
    statistics = sc.solve(problem, solver="highs").statistics
    ranges, layers = 4 * 5 // 2, 4
    assert statistics.columns == ranges * 2 + layers + 1  # x, u, t
    assert statistics.rows == 3 * layers + 1  # flow, carry, epigraph, devices
    assert statistics.passes is None
    assert sc.solve(problem).statistics.rows is None


def test_a_warm_start_is_taken(problem):
    start = sc.Plan.from_choices(problem, [(k, k, 0, 0) for k in range(4)])
    worse = sc.evaluate(problem, start).objective
    result = sc.solve(problem, warm_start=start, solver="highs")
    assert result.objective == sc.solve(problem).objective < worse
    stopped = sc.solve(
        problem, strategy="direct", warm_start=start, solver_options={"mip_max_nodes": 0}
    )
    assert stopped.limit is sc.Limit.SOLVER
    assert stopped.objective <= worse


def test_a_warm_start_in_a_dropped_config_starts_in_one_that_fits():
    """Config 2 is dominated by 1 (2 s, 5 successors); 0 (1 s) allows no successor."""
    cost, successors = np.full((3, 3, 1, 3), [1.0, 2.0, 3.0]), np.full((3, 3, 1, 3), [0, 5, 4])
    problem = sc.StageProblem(cost, [(1, 1)], 3, 4, max_successors=successors)
    built = builder("range")(problem, compile_candidates(problem), 0.0)
    set_start(built, sc.Plan.from_choices(problem, [(k, k, 0, 2) for k in range(3)]))
    started = [variable.name for variable in built.columns if variable.varValue == 1.0]
    assert started == ["x_0_0_0_1", "x_1_1_0_1", "x_2_2_0_0"]


def test_a_warm_start_is_kept_when_nothing_else_is_found(problem, monkeypatch):
    start = sc.Plan.from_choices(problem, [(k, k, 0, 0) for k in range(4)])
    lie(monkeypatch, lambda *_: backend.Answer("stopped", False, None, None, 0, "time"))
    result = sc.solve(problem, solver="highs", strategy="direct", warm_start=start)
    assert (result.plan, result.objective) == (start, sc.evaluate(problem, start).objective)
    assert (result.status, result.limit) == (sc.Status.FEASIBLE, sc.Limit.TIME)


def test_a_warm_start_disproves_a_false_claim(problem, monkeypatch):
    best = sc.solve(problem).plan
    denied = backend.Answer("infeasible", False, None, None, 0, None)
    lie(monkeypatch, lambda *_: denied)
    with pytest.raises(sc.SolverError, match="claims that there is no plan"):
        sc.solve(problem, solver="highs", strategy="direct", warm_start=best)


def test_a_warm_start_disproves_a_dearer_optimum(problem, monkeypatch):
    best, worse = sc.solve(problem).plan, [(k, k, 0, 0) for k in range(4)]
    dearer = sc.evaluate(problem, sc.Plan.from_choices(problem, worse)).objective

    def swap(model, answer):
        chosen = {f"x_{i}_{j}_{m}_{c}" for i, j, m, c in worse}
        for variable in model.variables():
            if variable.name.startswith("x_"):
                variable.varValue = float(variable.name in chosen)
        scale = sc.evaluate(problem, best).objective / answer.objective
        return replace(answer, objective=dearer / scale, bound=dearer / scale)

    lie(monkeypatch, swap)
    with pytest.raises(sc.SolverError, match="but warm_start costs"):
        sc.solve(
            problem,
            solver="highs",
            strategy="direct",
            warm_start=best,
            tightening=sc.Tightening(fixing=False),
        )


def test_a_warm_start_of_another_problem_is_refused(problem):
    other = problem.replace(num_devices=3)
    plan = sc.solve(other).plan
    with pytest.raises(sc.ProblemError, match="warm_start is not a plan of this problem"):
        sc.solve(problem, warm_start=plan)


def test_no_noise_in_a_pipe(problem, capfd):
    sc.solve(problem, solver="highs")
    assert capfd.readouterr() == ("", "")


def test_the_banner_stays_away_in_a_new_process():
    import subprocess

    code = (
        "import stagecut as sc;"
        "p = sc.StageProblem([[[1.0], [2.0]], [[1.0], [1.0]]], [(1, 1)], 2, 4);"
        "sc.solve(p, solver='highs')"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)
    assert (done.stdout, done.stderr) == (b"", b"")


def lie(monkeypatch, change):
    """Let ``change(model, answer)`` tamper with what the solver says of the main model."""
    honest = backend.run

    def dishonest(model, solver, request):
        answer = honest(model, solver, request)
        return change(model, answer) if model.name == "range" else answer

    monkeypatch.setattr(backend, "run", dishonest)


def test_a_false_optimum_is_caught(problem, monkeypatch):
    lie(monkeypatch, lambda _, answer: replace(answer, objective=answer.objective * 0.9))
    with pytest.raises(sc.SolverError, match="claims an objective"):
        sc.solve(problem, solver="highs", strategy="direct")


def test_a_fractional_answer_is_caught(problem, monkeypatch):
    def half(model, answer):
        next(v for v in model.variables() if v.name.startswith("x_")).varValue = 0.5
        return answer

    lie(monkeypatch, half)
    with pytest.raises(sc.SolverError, match="neither 0 nor 1"):
        sc.solve(problem, solver="highs", strategy="direct")


def test_a_plan_that_breaks_a_row_is_caught(problem, monkeypatch):
    def drop(model, answer):
        used = [v for v in model.variables() if v.name.startswith("x_") and v.varValue > 0.5]
        used[0].varValue = 0.0
        return answer

    lie(monkeypatch, drop)
    with pytest.raises(sc.SolverError, match="breaks a rule"):
        sc.solve(problem, solver="highs", strategy="direct")


def test_a_bound_that_is_too_low_is_not_a_proof(problem, monkeypatch):
    lie(monkeypatch, lambda _, answer: replace(answer, bound=answer.bound * 0.5))
    result = sc.solve(problem, solver="highs", strategy="direct")
    assert result.status is sc.Status.FEASIBLE
    assert result.gap == pytest.approx(0.5)


def test_a_crash_is_a_clear_error(problem, monkeypatch):
    def crash(*_, **__):
        raise RuntimeError("out of licences")

    monkeypatch.setattr(backend.run.__globals__["highs"], "Highs", crash)
    with pytest.raises(sc.SolverError, match="highs failed: out of licences"):
        sc.solve(problem, solver="highs")


def test_an_unknown_solver_option_is_named(problem):
    with pytest.raises(sc.ProblemError, match="HiGHS has no option 'mip_relgap'"):
        sc.solve(problem, solver_options={"mip_relgap": 0.1})


def test_a_solver_that_would_not_be_exact_is_refused(problem):
    assert "cpsat" not in sc.available_solvers()
    with pytest.raises(sc.UnsupportedError, match="solver 'cpsat' cannot be used: PuLP rounds"):
        sc.solve(problem, solver="cpsat")
