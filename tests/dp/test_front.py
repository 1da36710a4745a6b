"""The Pareto front and the k best plans against enumeration."""

import numpy as np
import pytest
from dp_oracle import OBJECTIVES, every_plan, random_small

import stagecut_dp


@pytest.mark.parametrize("block", range(8))
def test_the_front_equals_enumeration(block: int) -> None:
    for seed in range(block * 50, block * 50 + 50):
        small = random_small(seed)
        front = stagecut_dp.pareto_front(small.cost, small.sizes, small.num_devices, **small.rules)
        expected: list[tuple[float, float]] = []
        for point in sorted({(p.total, p.largest) for p in every_plan(small)}):
            if not expected or point[1] < expected[-1][1]:
                expected.append(point)
        assert list(zip(front.totals, front.bottlenecks, strict=True)) == expected, seed


def test_plans_of_the_front_are_worth_their_points() -> None:
    for seed in range(60):
        small = random_small(seed)
        known = {p.stages: p for p in every_plan(small)}
        front = stagecut_dp.pareto_front(small.cost, small.sizes, small.num_devices, **small.rules)
        for total, largest, plan in zip(front.totals, front.bottlenecks, front.plans, strict=True):
            assert (known[tuple(plan)].total, known[tuple(plan)].largest) == (total, largest)


def test_the_hull_holds_the_best_point_for_any_number_of_microbatches() -> None:
    rng = np.random.default_rng(3)
    cost = rng.random((12, 12, 3)) + np.arange(12)[None, :, None] * 0.1
    front = stagecut_dp.pareto_front(cost, [1, 2, 3], 9)
    hull = front.hull()
    assert set(hull.tolist()) <= set(range(len(front)))
    for microbatches in (1, 2, 3, 10, 100, 10_000):
        values = front.totals[hull] + (microbatches - 1) * front.bottlenecks[hull]
        assert values.min() == pytest.approx(front.best(microbatches)[0], rel=1e-15)


def test_an_infeasible_front_is_empty() -> None:
    front = stagecut_dp.pareto_front(np.ones((2, 2, 1)), [2], 3)
    assert len(front) == 0
    assert front.best(4) == (float("inf"), None)
    assert front.hull().tolist() == []


@pytest.mark.parametrize("objective", OBJECTIVES)
@pytest.mark.parametrize("wanted", [1, 3, 12])
def test_the_k_best_plans_equal_enumeration(wanted: int, objective: str) -> None:
    for seed in range(60):
        small = random_small(seed, most_layers=4)
        known = {
            plan.stages: plan.value(objective, small.num_microbatches) for plan in every_plan(small)
        }
        ranked = stagecut_dp.k_best(
            small.cost,
            small.sizes,
            small.num_devices,
            small.num_microbatches,
            k=wanted,
            objective=objective,
            **small.rules,
        )
        assert [value for value, _ in ranked] == sorted(known.values())[:wanted], seed
        assert len({tuple(plan) for _, plan in ranked}) == len(ranked)
        assert all(known[tuple(plan)] == value for value, plan in ranked)


def test_configs_count_as_different_plans() -> None:
    cost = np.array([[[[1.0, 2.0]]]])
    ranked = stagecut_dp.k_best(cost, [1], 1, k=5)
    assert ranked == [(1.0, [(0, 0, 0, 0)]), (2.0, [(0, 0, 0, 1)])]


@pytest.mark.parametrize("wanted", [0, -1, 2.5, True])
def test_k_must_be_a_count(wanted: object) -> None:
    with pytest.raises(ValueError, match="k must be an integer of at least 1"):
        stagecut_dp.k_best(np.ones((1, 1, 1)), [1], 1, k=wanted)
