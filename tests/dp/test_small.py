"""Small instances against enumeration, bit for bit."""

import math

import pytest
from dp_oracle import OBJECTIVES, Small, every_plan, least, random_small

import stagecut_dp
from stagecut_dp import textbook, training

BLOCKS = 20


def verify(small: Small, plan: list | None, value: float, objective: str) -> None:
    """Check that a plan is feasible and worth what is claimed."""
    if plan is None:
        assert value == math.inf
        return
    known = {priced.stages: priced for priced in every_plan(small)}
    assert known[tuple(plan)].value(objective, small.num_microbatches) == value


@pytest.mark.parametrize("block", range(BLOCKS))
def test_two_thousand_instances_equal_enumeration(block: int) -> None:
    for seed in range(block * 100, block * 100 + 100):
        small = random_small(seed)
        plans = every_plan(small)
        for objective in OBJECTIVES:
            value, plan = stagecut_dp.solve(
                small.cost,
                small.sizes,
                small.num_devices,
                small.num_microbatches,
                objective=objective,
                **small.rules,
            )
            assert value == least(plans, objective, small.num_microbatches), (seed, objective)
            verify(small, plan, value, objective)


@pytest.mark.parametrize("block", range(6))
def test_bounds_lose_nothing_on_small_instances(
    block: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Small instances take passes alone; sent through bounds by chains they end the same."""
    monkeypatch.setattr(training, "MOST_WORK", -1)
    for seed in range(block * 200, block * 200 + 200):
        small = random_small(seed)
        plans = every_plan(small)
        for objective in ("training", "latency"):
            value, _ = stagecut_dp.solve(
                small.cost,
                small.sizes,
                small.num_devices,
                small.num_microbatches,
                objective=objective,
                **small.rules,
            )
            assert value == least(plans, objective, small.num_microbatches), (seed, objective)


def test_the_textbook_equals_enumeration() -> None:
    for seed in range(300):
        small = random_small(seed, most_layers=4)
        plans = every_plan(small)
        for objective in OBJECTIVES:
            value, plan = textbook.solve(
                small.cost,
                small.sizes,
                small.num_devices,
                small.num_microbatches,
                objective=objective,
                **small.rules,
            )
            assert value == least(plans, objective, small.num_microbatches), (seed, objective)
            verify(small, plan, value, objective)


def test_half_of_the_instances_are_infeasible_or_limited() -> None:
    drawn = [random_small(seed) for seed in range(500)]
    hard = [s for s in drawn if s.max_successors is not None or not every_plan(s)]
    assert len(hard) >= 250


def test_the_bottleneck_breaks_ties_by_the_smaller_sum() -> None:
    for seed in range(400):
        small = random_small(seed)
        value, plan = stagecut_dp.solve(
            small.cost,
            small.sizes,
            small.num_devices,
            objective="bottleneck",
            **small.rules,
        )
        ties = [priced for priced in every_plan(small) if priced.largest == value]
        if plan is not None:
            totals = {priced.stages: priced.total for priced in ties}
            assert totals[tuple(plan)] == min(totals.values()), seed
