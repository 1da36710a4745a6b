"""Mid-size instances against plain bisection: bugs in bounds show only here."""

import math

import numpy as np
import pytest
import tables
from dp_oracle import OBJECTIVES, assert_feasible, plan_value
from dp_plain import plain_training

import stagecut_dp

KINDS = list(tables.KINDS)


def draw(seed: int, most_layers: int) -> tuple:
    """Draw a table of one kind with usual or adversarial device sizes."""
    rng = np.random.default_rng([seed, 7])
    layers, devices = int(rng.integers(24, most_layers + 1)), int(rng.integers(16, 97))
    kind = KINDS[seed % 4]
    coprime = rng.choice([3, 5, 7, 11, 13, 17], 3, replace=False).tolist()
    knapsack = [devices // 2 + 1, devices // 3 + 1, int(rng.integers(1, 6)), devices + 5]
    huge = [1, 2, int(rng.integers(devices // 2, devices + 1)), 10 * devices]
    sizes = [None, coprime, knapsack, huge][int(rng.integers(4))]
    cost, sizes, limits = tables.KINDS[kind](layers, devices, sizes, seed)
    microbatches = int(rng.choice([1, 4, 16, 128, 1024]))
    return cost, sizes, devices, microbatches, limits, bool(rng.integers(2))


@pytest.mark.parametrize("seed", range(60))
def test_training_equals_plain_bisection(seed: int) -> None:
    cost, sizes, devices, microbatches, _, exact = draw(seed, 40)
    value, _ = stagecut_dp.solve(cost, sizes, devices, microbatches, use_all_devices=exact)
    assert value == plain_training(cost, sizes, devices, microbatches, None, exact)


@pytest.mark.parametrize("seed", range(2, 42, 4))
def test_limited_training_equals_plain_bisection(seed: int) -> None:
    cost, sizes, devices, microbatches, limits, exact = draw(seed, 28)
    value, _ = stagecut_dp.solve(
        cost, sizes, devices, microbatches, max_successors=limits, use_all_devices=exact
    )
    assert value == plain_training(cost, sizes, devices, microbatches, limits, exact)


@pytest.mark.parametrize("seed", range(48))
def test_objectives_agree_with_each_other(seed: int) -> None:
    cost, sizes, devices, _, limits, exact = draw(seed, 40)
    rules = {"max_successors": limits, "use_all_devices": exact}
    front = stagecut_dp.pareto_front(cost, sizes, devices, **rules)
    for microbatches in (1, 7, 300):
        value, _ = stagecut_dp.solve(cost, sizes, devices, microbatches, **rules)
        assert front.best(microbatches)[0] == value
    least = stagecut_dp.solve(cost, sizes, devices, objective="bottleneck", **rules)[0]
    assert (front.bottlenecks[-1] if len(front) else math.inf) == least
    product = stagecut_dp.solve(cost, sizes, devices, objective="stages_times_bottleneck", **rules)
    if product[1] is not None:
        assert least <= product[0] <= len(front.plans[-1]) * least


@pytest.mark.parametrize("objective", OBJECTIVES)
@pytest.mark.parametrize("seed", range(24))
def test_plans_are_feasible_and_worth_what_is_claimed(seed: int, objective: str) -> None:
    cost, sizes, devices, microbatches, limits, exact = draw(seed, 64)
    value, plan = stagecut_dp.solve(
        cost,
        sizes,
        devices,
        microbatches,
        objective=objective,
        max_successors=limits,
        use_all_devices=exact,
    )
    if plan is not None:
        assert_feasible(plan, cost, sizes, devices, limits, exact)
        assert plan_value(plan, cost, sizes, microbatches, objective) == value


def test_a_coarse_incumbent_keeps_the_cap_on_the_stage_cost() -> None:
    """Found by the front of this table: a plan above the threshold stood for one below it."""
    cost, sizes, devices, _, limits, exact = draw(10, 40)
    value, plan = stagecut_dp.solve(
        cost, sizes, devices, objective="bottleneck", max_successors=limits, use_all_devices=exact
    )
    assert plan_value(plan, cost, sizes, 1, "bottleneck") == value
