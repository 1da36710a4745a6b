"""Strength of the LPs: bounds, dominance between forms, and stored values."""

import json
import time
from pathlib import Path

import pytest
from benchmarks import tables
from hypothesis import given, settings
from oracle import GENERAL, additive_problems, problems

import stagecut as sc
from stagecut import backend
from stagecut.candidates import compile_candidates
from stagecut.formulations import builder
from stagecut.formulations.common import lower_bound
from stagecut.strategies import relaxation
from stagecut.strategies.floor import Feasibility, bottleneck_floor
from stagecut.strategies.reach import within_reach

NEAR = 1e-7
"""Relative tolerance of comparisons between LP values."""

DOMINATED = {
    "range": "range_disaggregated",
    "levels": "range",
    "flow": "range",
    "flow_all_cuts": "flow",
    "stage_indexed": "range",
}
"""Each form, and one whose LP value is at most its own, as the modules' docstrings say."""

INSTANCES = {"tied": 1, "noisy": 2, "memory_limited": 3, "uniform": 4, "additive": 5}
"""Kinds of table, each with its seed; 12 layers on 24 devices."""

STORED = json.loads((Path(__file__).parent / "lp_values.json").read_text())
"""By kind of table: LP values in seconds, without and with the floor."""


def instance(kind, objective="training"):
    cost, sizes, limits = getattr(tables, kind)(12, 24, seed=INSTANCES[kind])
    submeshes = [(1, int(size)) for size in sizes]
    return sc.StageProblem(cost, submeshes, 24, 32, max_successors=limits, objective=objective)


def candidates_of(problem):
    """Stages within reach, as ``solve`` takes them where costs lie far apart."""
    return within_reach(problem, compile_candidates(problem), feasibility())[0]


def lp_value(problem, formulation, floor=0.0):
    """LP value in seconds; ``None`` if infeasible."""
    built = builder(formulation)(problem, candidates_of(problem), floor)
    answer = relaxation(built)
    return answer.objective * built.scale if answer.status == "optimal" else None


def floor_of(problem):
    return bottleneck_floor(problem, candidates_of(problem), feasibility())


def feasibility():
    return Feasibility("highs", backend.Request(), time.perf_counter())


def forms_for(kind):
    return [
        name for name in sc.available_formulations() if kind == "additive" or name != "assignment"
    ]


@pytest.mark.parametrize("kind", INSTANCES)
def test_stored_lp_values(kind):
    problem = instance(kind)
    for name, floor in (("without floor", 0.0), ("with floor", floor_of(problem))):
        found = {form: lp_value(problem, form, floor) for form in forms_for(kind)}
        assert found == pytest.approx(STORED[kind][name], rel=1e-6)


@pytest.mark.parametrize("objective", ["training", "bottleneck", "stages_times_bottleneck"])
@pytest.mark.parametrize("kind", INSTANCES)
def test_documented_dominance(kind, objective):
    problem = instance(kind, objective)
    best = sc.solve(problem).objective
    at_least = lower_bound(candidates_of(problem), problem.num_layers)
    for floor in (at_least, floor_of(problem)):
        value = {name: lp_value(problem, name, floor) for name in forms_for(kind)}
        assert all(bound <= best * (1 + NEAR) for bound in value.values()), value
        for strong, weak in DOMINATED.items():
            assert value[strong] >= value[weak] * (1 - NEAR), (strong, weak, value)


@settings(max_examples=25)
@pytest.mark.parametrize("formulation", GENERAL)
@given(problems())
def test_every_lp_value_is_at_most_the_optimum(formulation, problem):
    assert_bounds(formulation, problem)


@settings(max_examples=25)
@given(additive_problems())
def test_the_lp_value_of_assignment_is_at_most_the_optimum(problem):
    assert_bounds("assignment", problem)


def assert_bounds(formulation, problem):
    best = sc.solve(problem).objective
    for floor in (0.0, floor_of(problem)):
        bound = lp_value(problem, formulation, floor)
        if best is not None:
            assert bound is not None
            assert bound <= best * (1 + NEAR) + 1e-12
