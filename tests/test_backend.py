"""Limits that hold whatever a solver does, and what is left of a run that was given up."""

import gc
import subprocess
import sys
import threading
import time
from types import SimpleNamespace

import highspy
import pulp
import pytest

import stagecut as sc
from stagecut import backend
from stagecut.backend.highs import Highs

FOREVER = 60.0


def knapsack(size: int = 2) -> pulp.LpProblem:
    model = pulp.LpProblem("knapsack", pulp.LpMaximize)
    items = [model.add_variable(f"x_{k}", 0, 1, "Binary") for k in range(size)]
    model.setObjective(pulp.lpSum(items))
    model.addConstraint(pulp.lpSum(items) <= 1, "room")
    return model


@pytest.fixture
def deaf(monkeypatch):
    """Let HiGHS report a solution and a bound, then ask nothing until the test is over."""
    release, ended, engines = threading.Event(), threading.Event(), []
    make, kinds = Highs.__init__, highspy.cb.HighsCallbackType

    def remember(engine, *args, **options):
        engines.append(engine)
        make(engine, *args, **options)

    def run(_highs):
        report = engines[-1]._on_event
        found = SimpleNamespace(objective_function_value=1.0, mip_solution=[0.0, 1.0])
        report(kinds.kCallbackMipImprovingSolution, "", found, None, None)
        known = SimpleNamespace(mip_primal_bound=1.0, mip_dual_bound=2.0)
        report(kinds.kCallbackMipInterrupt, "", known, None, None)
        release.wait(FOREVER)
        ended.set()

    monkeypatch.setattr(Highs, "__init__", remember)
    monkeypatch.setattr(highspy.Highs, "run", run)
    yield ended
    release.set()
    assert ended.wait(FOREVER)


def test_a_solver_that_asks_nothing_is_given_up_at_the_limit(deaf):
    model = knapsack()
    answer = backend.run(model, "highs", backend.Request(time_limit=0.1))
    assert not deaf.is_set()
    assert (answer.status, answer.stopped_by) == ("stopped", "time")
    assert (answer.has_solution, answer.objective, answer.bound) == (True, 1.0, 2.0)
    assert [variable.varValue for variable in model.variables()] == [0.0, 1.0]
    assert answer.nodes is None


@pytest.mark.usefixtures("deaf")
def test_what_a_report_of_progress_raises_comes_through():
    def report(_incumbent, _bound):
        raise ValueError("mine")

    with pytest.raises(ValueError, match="mine"):
        backend.run(knapsack(), "highs", backend.Request(progress=report))


@pytest.mark.usefixtures("deaf")
def test_an_interrupt_in_a_report_of_progress_keeps_what_is_known():
    def report(_incumbent, _bound):
        raise KeyboardInterrupt

    answer = backend.run(knapsack(), "highs", backend.Request(progress=report))
    assert (answer.stopped_by, answer.objective, answer.bound) == ("interrupt", 1.0, 2.0)


def test_the_limit_holds_while_the_model_is_handed_over(monkeypatch):
    def crawl(_engine, _model):
        while True:
            time.sleep(0.001)

    monkeypatch.setattr(pulp.HiGHS, "buildSolverModel", crawl)
    answer = backend.run(knapsack(), "highs", backend.Request(time_limit=0.05))
    assert (answer.status, answer.stopped_by) == ("stopped", "time")


def spin():
    while True:
        pass


@pytest.mark.parametrize("seconds", [0.01, 0.0, -1.0])
def test_python_is_stopped_at_the_deadline_and_the_collector_comes_back(seconds):
    with pytest.raises(backend.OutOfTimeError), backend.modelling(seconds):
        spin()
    assert gc.isenabled()


def test_nothing_is_raised_after_the_code_inside_is_done():
    for _ in range(200):
        with backend.modelling(0.5):
            assert not gc.isenabled()
        assert gc.isenabled()
    time.sleep(0.6)


def test_a_model_that_highs_refuses_is_an_error():
    model = knapsack()
    model.addConstraint(1e16 * model.variables()[0] <= 1, "steep")
    with pytest.raises(sc.SolverError, match="highs failed: it refuses the model"):
        backend.run(model, "highs", backend.Request())


@pytest.mark.parametrize("busy", [False, True])
def test_leaving_does_not_wait_for_a_run_that_was_given_up(busy):
    code = (
        "import threading, time; from stagecut import backend; from stagecut.backend import highs;"
        f"busy = {busy};"
        "thread = threading.Thread(target=time.sleep, args=(600.0,), name=highs.THREAD);"
        "busy and thread.start();"
        "print('kept', end='');"
        "backend.leave(3)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, timeout=60)
    assert (done.returncode, done.stdout, done.stderr) == (3, b"kept", b"")


def nap_under_alarms():
    for _ in range(50):
        with backend.modelling(60.0):
            time.sleep(0.001)
    spin()


def test_an_inner_deadline_leaves_an_outer_one_alone():
    with pytest.raises(backend.OutOfTimeError), backend.modelling(0.03):
        nap_under_alarms()
