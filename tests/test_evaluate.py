"""The referee prices by hand-computed sums and rejects each broken rule by name."""

import dataclasses

import numpy as np
import pytest

import stagecut as sc

COST = np.full((3, 3, 2), np.inf)
COST[0, 0], COST[1, 1], COST[2, 2] = (4.0, 2.0), (1.0, 0.5), (2.0, np.inf)
COST[0, 1], COST[1, 2], COST[0, 2] = (5.0, 2.5), (3.0, 1.5), (7.0, 3.5)


def problem(**changes):
    arguments = {"num_devices": 3, "num_microbatches": 4, **changes}
    return sc.StageProblem(COST, [(1, 1), (1, 2)], **arguments)


def plan(*choices, of=None):
    return sc.Plan.from_choices(of or problem(), choices)


GOOD = ((0, 0, 1, 0), (1, 2, 0, 0))  # costs 2 and 3 on 2 + 1 devices


@pytest.mark.parametrize(
    ("objective", "value"),
    [
        ("training", 14.0),  # (2 + 3) + (4 - 1) * 3
        ("bottleneck", 3.0),
        ("latency", 5.0),
        ("stages_times_bottleneck", 6.0),  # 2 * 3
    ],
)
def test_objectives_by_hand(objective, value):
    evaluation = sc.evaluate(problem(objective=objective), plan(*GOOD))
    assert evaluation == sc.Evaluation(total=5.0, bottleneck=3.0, objective=value)


def test_sums_are_right_associated():
    costs = [1e16, 1.0, 1.0]  # (1e16 + 1) + 1 == 1e16, but 1e16 + (1 + 1) == 1e16 + 2
    table = np.full((3, 3, 1), np.inf)
    table[[0, 1, 2], [0, 1, 2], 0] = costs
    made = sc.StageProblem(table, [(1, 1)], 3, 1)
    stages = sc.Plan.from_choices(made, [(k, k, 0, 0) for k in range(3)])
    assert sc.evaluate(made, stages).total == 1e16 + 2


def changed(stage_index, **changes):
    stages = list(plan(*GOOD).stages)
    stages[stage_index] = dataclasses.replace(stages[stage_index], **changes)
    return sc.Plan(tuple(stages))


@pytest.mark.parametrize(
    ("broken", "message"),
    [
        (sc.Plan(()), "no stages"),
        (changed(1, first_layer=2), "stage 1 starts at layer 2, expected 1"),
        (changed(1, last_layer=1), "the last stage ends at layer 1"),
        (changed(1, last_layer=7), "outside 0..2"),
        (changed(0, first_layer=-1), "stage 0 starts at layer -1"),
        (changed(1, submesh=sc.Submesh(4, 4)), "no submesh 4x4"),
        (changed(1, config=1), "config 1 is outside 0..0"),
        (changed(0, cost=2.1), "recorded cost 2.1 s, the table says 2.0 s"),
        (changed(0, cost=float("nan")), "recorded cost nan"),
        (plan((0, 1, 0, 0), (2, 2, 1, 0)), "not allowed there"),
        (plan((0, 2, 1, 0)), "uses 2 devices, the problem requires exactly 3"),
        (plan((0, 0, 1, 0), (1, 1, 1, 0), (2, 2, 0, 0)), "uses 5 devices"),
    ],
)
def test_each_broken_rule_is_named(broken, message):
    with pytest.raises(sc.PlanError, match=message):
        sc.check(problem(), broken)
    with pytest.raises(sc.PlanError, match=message):
        sc.evaluate(problem(), broken)


def test_every_violation_is_listed():
    with pytest.raises(sc.PlanError) as caught:
        sc.check(problem(), changed(0, cost=9.0, submesh=sc.Submesh(1, 1)))
    assert len(caught.value.violations) == 2


def test_idle_devices_only_when_allowed():
    idle = plan((0, 2, 1, 0))
    assert sc.evaluate(problem(use_all_devices=False), idle).total == 3.5
    with pytest.raises(sc.PlanError, match="problem has 1"):
        sc.check(problem(use_all_devices=False, num_devices=1), idle)


def test_successor_limits():
    limits = np.full(COST.shape, 5)
    sc.check(problem(max_successors=limits), plan(*GOOD))
    limits[0, 0, 1] = 0
    with pytest.raises(sc.PlanError, match="1 stages follow, memory allows 0"):
        sc.check(problem(max_successors=limits), plan(*GOOD))
    limits[0, 0, 1] = -1
    with pytest.raises(sc.PlanError, match="never fits"):
        sc.check(problem(max_successors=limits), plan(*GOOD))


def test_gap_is_none_when_unknown():
    result = sc.Result(sc.Status.UNKNOWN, None, None, 3.0, sc.Limit.TIME, "highs")
    assert result.gap is None
    known = dataclasses.replace(result, objective=4.0)
    assert known.gap == 0.25
    assert dataclasses.replace(known, bound=4.0).gap == 0.0
