"""The dynamic programme on hand-computed anchors, ugly cases, and bad input."""

import math

import numpy as np
import pytest

import stagecut_dp
from stagecut_dp import textbook


def chain(layers, sizes=(1,)):
    """Cost of ranges as the sum of layers; a submesh of n devices is n times as fast."""
    ends = np.concatenate([[0.0], np.cumsum(layers)])
    table = np.maximum(ends[None, 1:] - ends[:-1, None], 0.0)
    return table[:, :, None] / np.array(sizes, dtype=float)


REPORTED = [  # value = sum + (B - 1) max
    ([1] * 5, 4, 8, 19.0),  # 5 + 7 * 2
    ([1] * 42, 16, 32, 135.0),  # 42 + 31 * 3
    ([0, 2, 0, 1, 1, 1, 1, 0, 0, 2, 0], 4, 8, 22.0),  # 8 + 7 * 2
    ([1] * 30, 4, 8, 86.0),  # 30 + 7 * 8
    ([0.5, *[1] * 61, 0.5], 4, 8, 174.0),  # 62 + 7 * 16
]


@pytest.mark.parametrize(("layers", "num_devices", "num_microbatches", "value"), REPORTED)
def test_cases_from_reports(layers, num_devices, num_microbatches, value):
    found, plan = stagecut_dp.solve(chain(layers), [1], num_devices, num_microbatches)
    assert found == value
    assert len(plan) == num_devices


def test_two_layers_on_two_sizes():
    inf = math.inf
    cost = np.array([[[1, 2], [inf, 7]], [[inf, inf], [5, 6]]], dtype=float)
    assert stagecut_dp.solve(cost, [1, 2], 2, 2)[0] == 11.0  # 1 + 5 + 5


def test_one_layer_may_leave_a_device_idle():
    cost = np.array([[[1.0, 1.2]]])
    assert stagecut_dp.solve(cost, [1, 2], 2, 4)[0] == pytest.approx(4.8)
    assert stagecut_dp.solve(cost, [1, 2], 2, 4, use_all_devices=False)[0] == 4.0


@pytest.mark.parametrize(
    ("cap", "num_microbatches", "value"),
    [(6, 8, 20.0), (5, 8, 27.0), (2, 8, math.inf), (2, 1, 6.0)],
)
def test_six_layers_under_a_memory_cap(cap, num_microbatches, value):
    """Layers x min(B, successors + 1) <= cap on three devices."""
    count = chain([1] * 6)[:, :, 0].astype(int)
    limits = np.array(
        [
            [
                max((p for p in range(6) if n * min(num_microbatches, p + 1) <= cap), default=-1)
                for n in row
            ]
            for row in count
        ]
    )
    found, _ = stagecut_dp.solve(
        chain([1] * 6), [1], 3, num_microbatches, max_successors=limits[:, :, None]
    )
    assert found == value


def test_near_equal_costs_are_told_apart():
    """Thresholds within 1e-6 s that a coarser search skips: 101.00005 is best, not 190."""
    cost = np.full((2, 2, 1), np.inf)
    cost[0, 0], cost[1, 1], cost[0, 1] = 1.0, 1.00000001, 1.9
    value, plan = stagecut_dp.solve(cost, [1], 2, 100)
    assert value == 1.0 + 1.00000001 + 99 * 1.00000001
    assert len(plan) == 2


def test_sizes_larger_than_the_cluster_are_skipped():
    cost = np.ones((3, 3, 2))
    cost[:, :, 1] = 0.1
    assert stagecut_dp.solve(cost, [1, 7], 3, 2)[1] == [(k, k, 0, 0) for k in range(3)]


@pytest.mark.parametrize("use_all_devices", [True, False])
def test_counts_that_no_sum_reaches(use_all_devices):
    found, plan = stagecut_dp.solve(
        chain([1] * 4, [2, 4]), [2, 4], 5, 3, use_all_devices=use_all_devices
    )
    assert (found == math.inf) is use_all_devices
    assert (plan is None) is use_all_devices


def test_more_devices_than_layers():
    assert stagecut_dp.solve(chain([1, 1]), [1], 3, 2) == (math.inf, None)
    assert stagecut_dp.solve(chain([1, 1]), [1], 3, 2, use_all_devices=False)[0] == 3.0


@pytest.mark.parametrize("num_devices", [10**6, 10**14, 10**400])
def test_far_more_devices_than_any_plan_uses(num_devices):
    for objective in ("training", "bottleneck"):
        options = {"objective": objective}
        assert stagecut_dp.solve(chain([1, 1]), [1], num_devices, 2, **options)[1] is None
        options["use_all_devices"] = False
        assert len(stagecut_dp.solve(chain([1, 1]), [1], num_devices, 2, **options)[1]) == 2


def test_zero_costs():
    assert stagecut_dp.solve(chain([0, 0, 0]), [1], 2, 5)[0] == 0.0


@pytest.mark.parametrize("scale", [1e-9, 1e-6, 1.0, 1e6, 1e9])
def test_any_unit_gives_the_same_plan(scale):
    rng = np.random.default_rng(5)
    cost = chain(rng.random(12), [1, 2, 3]) + 0.01
    value, plan = stagecut_dp.solve(cost, [1, 2, 3], 9, 16)
    scaled, same = stagecut_dp.solve(cost * scale, [1, 2, 3], 9, 16)
    assert same == plan
    assert scaled == pytest.approx(value * scale, rel=1e-12)


@pytest.mark.parametrize("least", [1, 2, 4])
@pytest.mark.parametrize("most", [4, 5, 9])
@pytest.mark.parametrize("objective", ["training", "bottleneck", "stages_times_bottleneck"])
def test_stage_counts_are_kept(least, most, objective):
    rng = np.random.default_rng(least * 10 + most)
    cost = rng.random((6, 6, 2))
    options = {"objective": objective, "min_stages": least, "max_stages": most}
    value, plan = stagecut_dp.solve(cost, [1, 2], 7, 4, **options)
    assert value == textbook.solve(cost, [1, 2], 7, 4, **options)[0]
    assert plan is None or least <= len(plan) <= most


def test_inputs_are_left_alone():
    cost = chain([1, 2, 3], [1, 2])
    limits = np.full(cost.shape, 2)
    copies = cost.copy(), limits.copy()
    stagecut_dp.solve(cost, [1, 2], 4, 4, max_successors=limits)
    np.testing.assert_array_equal(cost, copies[0])
    np.testing.assert_array_equal(limits, copies[1])


def test_no_time_gives_no_plan_and_a_valid_bound():
    outcome = stagecut_dp.search(chain([1] * 40, [1, 2]), [1, 2], 30, 8, time_limit=0)
    assert outcome.stopped == "time"
    best = stagecut_dp.solve(chain([1] * 40, [1, 2]), [1, 2], 30, 8)[0]
    assert outcome.bound <= best <= outcome.objective


GOOD = {"cost": chain([1, 2, 3]), "sizes": [1], "num_devices": 2, "num_microbatches": 4}


@pytest.mark.parametrize(
    ("change", "word"),
    [
        ({"cost": np.ones((2, 3, 1))}, "cost"),
        ({"cost": np.ones((3, 3))}, "cost"),
        ({"cost": np.full((3, 3, 1), np.nan)}, "cost"),
        ({"cost": -chain([1, 2, 3])}, "cost"),
        ({"cost": np.full((3, 3, 1), -np.inf)}, "cost"),
        ({"cost": np.ones((0, 0, 1))}, "cost"),
        ({"sizes": [1, 2]}, "sizes"),
        ({"sizes": [0]}, "sizes"),
        ({"sizes": [1.5]}, "sizes"),
        ({"num_devices": 0}, "num_devices"),
        ({"num_devices": 2.5}, "num_devices"),
        ({"num_microbatches": 0}, "num_microbatches"),
        ({"num_microbatches": 10**400}, "num_microbatches"),
        ({"objective": "speed"}, "objective"),
        ({"max_successors": np.ones((2, 2, 1), int)}, "max_successors"),
        ({"max_successors": np.full((3, 3, 1), 0.5)}, "max_successors"),
        ({"min_stages": 0}, "min_stages"),
        ({"max_stages": 0}, "max_stages"),
    ],
)
def test_bad_input_names_the_argument_in_one_line(change, word):
    with pytest.raises(ValueError, match=word) as caught:
        stagecut_dp.solve(**{**GOOD, **change})
    assert "\n" not in str(caught.value)
