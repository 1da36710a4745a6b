"""Two independent ways to the same number: brute force, textbook, fast DP and every formulation.

``STAGECUT_EXAMPLES=2000 pytest tests/test_agreement.py`` draws 2,000 problems per test.
"""

import math

import numpy as np
import pytest
from hypothesis import given
from oracle import GENERAL, OBJECTIVES, additive_problems, brute_force, problems

import stagecut as sc
import stagecut_dp

TOLERANCE = 1e-9
SOLVER_GAP = 1e-6
"""Largest gap at which a MILP solver's own tolerances still count as a proof."""


def dp_arguments(problem):
    return (
        (problem.cost, problem.sizes, problem.num_devices, problem.num_microbatches),
        {
            "objective": problem.objective,
            "max_successors": problem.max_successors,
            "use_all_devices": problem.use_all_devices,
        },
    )


def assert_result(problem, result, expected):
    """The status is proven, the plan passes the referee and costs what is expected."""
    if math.isinf(expected):
        assert result.status is sc.Status.INFEASIBLE
        assert (result.plan, result.objective, result.bound, result.gap) == (None,) * 4
        return
    assert result.status is sc.Status.OPTIMAL
    assert sc.evaluate(problem, result.plan).objective == result.objective
    assert result.objective == pytest.approx(expected, rel=TOLERANCE, abs=0)
    assert result.bound <= result.objective
    assert result.gap <= (0.0 if result.solver == "dp" else SOLVER_GAP)


@given(problems())
def test_dp_is_bit_equal_to_textbook_and_brute_force(problem):
    arguments, options = dp_arguments(problem)
    expected = brute_force(problem)
    assert stagecut_dp.solve(*arguments, **options)[0] == expected
    assert stagecut_dp.textbook.solve(*arguments, **options)[0] == expected
    assert_result(problem, sc.solve(problem, solver="dp"), expected)


@pytest.mark.parametrize("strategy", ["direct", "bisection"])
@pytest.mark.parametrize("formulation", GENERAL)
@given(problems())
def test_every_formulation_agrees_with_brute_force(formulation, strategy, problem):
    result = sc.solve(problem, solver="highs", formulation=formulation, strategy=strategy)
    assert_result(problem, result, brute_force(problem))
    assert (result.solver, result.formulation, result.strategy) == ("highs", formulation, strategy)


@given(additive_problems())
def test_assignment_agrees_with_brute_force_on_additive_costs(problem):
    result = sc.solve(problem, solver="highs", formulation="assignment")
    assert_result(problem, result, brute_force(problem))


def midsize(seed):
    """K 24 to 64 on 8 to 24 devices: tied, noisy, uniform or limited by memory."""
    rng = np.random.default_rng(seed)
    kind = ("tied", "noisy", "uniform", "limited")[seed % 4]
    num_layers = int(rng.integers(24, 65))
    sizes = rng.choice([[1, 2, 4], [2, 3, 6], [1, 3, 7]])
    work = np.ones(num_layers)
    if kind != "tied":
        work += 0.02 * rng.standard_normal(num_layers)
    if kind == "uniform":
        work = rng.random(num_layers)
    ends = np.concatenate([[0.0], np.cumsum(work)])
    layers = np.maximum(ends[None, 1:] - ends[:-1, None], 0.0)[:, :, None]
    cost = layers / sizes**0.9 + 0.01
    limits = None
    if kind == "limited":
        room = np.floor(6.0 * sizes * num_layers / 24 / np.maximum(layers, 1e-9)) - 1
        limits = np.clip(room, -1, num_layers).astype(int)
    return sc.StageProblem(
        cost,
        [(1, int(size)) for size in sizes],
        int(rng.integers(8, 25)),
        int(rng.integers(2, 200)),
        max_successors=limits,
        objective=OBJECTIVES[(seed // 4) % 2],
        use_all_devices=bool(rng.random() < 0.7),
    )


def test_midsize_dp_agrees_with_highs(midsize_count):
    for seed in range(midsize_count):
        problem = midsize(seed)
        by_dp = sc.solve(problem, solver="dp")
        by_milp = sc.solve(problem, solver="highs")
        assert by_milp.status is by_dp.status, seed
        if by_dp.plan is not None:
            assert by_milp.objective == pytest.approx(by_dp.objective, rel=1e-9), seed


@pytest.mark.parametrize("solver", ["dp", "highs"])
@pytest.mark.parametrize("scale", [1e-9, 1e-6, 1.0, 1e6, 1e9])
def test_scaled_costs_scale_the_objective(solver, scale):
    base = midsize(1).replace(objective="training")
    scaled = base.replace(cost=base.cost * scale)
    expected = sc.solve(base, solver=solver)
    found = sc.solve(scaled, solver=solver)
    assert found.objective == pytest.approx(expected.objective * scale, rel=1e-12)
    as_shapes = [[(s.first_layer, s.last_layer, s.submesh) for s in r.plan.stages]
                 for r in (found, expected)]  # fmt: skip
    assert as_shapes[0] == as_shapes[1]
