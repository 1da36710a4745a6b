"""The k best plans where there are too many to enumerate: passes at every threshold, no bounds."""

import numpy as np
import pytest
import tables

import stagecut_dp
from stagecut_dp.candidates import list_candidates
from stagecut_dp.device_pass import Windows
from stagecut_dp.instance import make_instance
from stagecut_dp.ranked_pass import run_ranked
from stagecut_dp.settle import priced_plan
from stagecut_dp.stages import StageAxis


def plain_ranked(table: tables.Table, devices: int, microbatches: int, wanted: int) -> list[float]:
    cost, sizes, limits = table
    layers = len(cost)
    instance = make_instance(cost, sizes, devices, microbatches, max_successors=limits)
    listed = list_candidates(instance, np.tri(layers, dtype=bool).T, np.inf)
    axis = None if limits is None else StageAxis(1, layers)
    values: dict[tuple, float] = {}
    for threshold in np.unique(listed.cost):
        some = listed.take(listed.cost <= threshold)
        windows = Windows.full(layers, devices)
        done = run_ranked(some, windows, devices, wanted, axis=axis, any_left=False)
        for path in done.plans(devices):
            value, plan = priced_plan(instance, path)
            values[tuple(plan)] = value
    return sorted(values.values())[:wanted]


@pytest.mark.parametrize("microbatches", [3, 40])
@pytest.mark.parametrize("kind", list(tables.KINDS))
def test_the_k_best_plans_equal_ranked_passes(kind: str, microbatches: int) -> None:
    for seed in range(2):
        table = tables.KINDS[kind](9, 10, [1, 2, 5], seed)
        cost, sizes, limits = table
        ranked = stagecut_dp.k_best(cost, sizes, 10, microbatches, k=6, max_successors=limits)
        assert [value for value, _ in ranked] == plain_ranked(table, 10, microbatches, 6)
        assert len({tuple(plan) for _, plan in ranked}) == len(ranked)


@pytest.mark.parametrize("room", [1.1, 1.3, 1.6])
def test_more_plans_begin_with_fewer(room: float) -> None:
    cost, sizes, limits = tables.memory_limited(48, 64, seed=1, room=room)
    best = stagecut_dp.solve(cost, sizes, 64, 32, max_successors=limits)[0]
    ten = [v for v, _ in stagecut_dp.k_best(cost, sizes, 64, 32, k=10, max_successors=limits)]
    three = [v for v, _ in stagecut_dp.k_best(cost, sizes, 64, 32, k=3, max_successors=limits)]
    assert three == ten[:3]
    assert ten == sorted(ten)
    assert ten[0] == best
