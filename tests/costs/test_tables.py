"""Cost tables and successor limits of layer profiles, counted by hand."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import stagecut as sc
from stagecut.costs import Cluster, Layer, LayerProfile, Link, max_successors, stage_problem

INTRA, INTER = Link(100.0, 0.5), Link(10.0, 1.0)


def block(**changes):
    fields = {"name": "block", "kind": "decoder", "forward_seconds": {1: 1.0, 2: 0.75}}
    fields |= {"backward_seconds": {1: 2.0, 2: 1.25}, "parameter_bytes": 40.0}
    return Layer(**{**fields, "activation_bytes": 8.0, "boundary_bytes": 20.0, **changes})


def profile(num_layers=3, hosts=2, memory=1e9, **changes):
    cluster = Cluster(hosts, 2, memory, INTRA, INTER)
    fields = {"micro_batch": 4, "num_microbatches": 8, "state_factor": 2.0, **changes}
    return LayerProfile("by hand", "by hand", (block(),) * num_layers, cluster, **fields)


def test_one_device():
    """Layers 0..1: compute 2 x 3; output 1 + 20 / 10 sent on; nothing comes from before."""
    cost = stage_problem(profile()).cost
    assert cost[0, 1, 0, 0] == pytest.approx(6 + 3)
    assert cost[1, 1, 0, 0] == pytest.approx(3 + 3 + 3)
    assert cost[0, 2, 0, 0] == pytest.approx(9)


def test_tensor_parallel_replaces_the_times():
    problem = stage_problem(profile())
    m = problem.submeshes.index(sc.Submesh(1, 2))
    assert problem.cost[0, 2, m, 1] == pytest.approx(3 * 2.0)


def test_data_parallel_within_a_host():
    """Two replicas: half the compute; all-reduce of 120 bytes: 2 x 0.5 + 120 / 100, over B = 8."""
    problem = stage_problem(profile())
    m = problem.submeshes.index(sc.Submesh(1, 2))
    assert problem.cost[0, 2, m, 0] == pytest.approx(9 / 2 + (1 + 1.2) / 8)


def test_data_parallel_between_hosts():
    """Degree 2 on 2 x 2: two replicas of 60 bytes each, 2 x 1.0 + 60 / 10, over B = 8."""
    problem = stage_problem(profile())
    m = problem.submeshes.index(sc.Submesh(2, 2))
    assert problem.cost[0, 2, m, 1] == pytest.approx(6 / 2 + (2 + 6) / 8)


def test_boundaries_stay_in_the_host_when_there_is_one():
    """20 bytes: 0.5 + 20 / 100 each way."""
    cost = stage_problem(profile(hosts=1)).cost
    assert cost[1, 1, 0, 0] == pytest.approx(3 + 2 * 0.7)


def test_inference_has_no_backward_pass():
    problem = stage_problem(profile(schedule="inference"))
    assert problem.cost[1, 1, 0, 0] == pytest.approx(1 + 3)
    assert problem.objective == "bottleneck"


def test_degrees_that_do_not_divide_are_not_allowed():
    problem = stage_problem(profile(), submeshes=[(1, 1), (1, 2)])
    assert np.isinf(problem.cost[0, 0, 0, 1])
    three = stage_problem(profile(micro_batch=1), submeshes=[(1, 2)])
    assert np.isinf(three.cost[0, 0, 0, 0])
    assert np.isfinite(three.cost[0, 0, 0, 1])


def test_a_layer_without_a_time_for_a_degree_keeps_it_out():
    odd = block(forward_seconds={1: 1.0}, backward_seconds={1: 1.0})
    cluster = Cluster(1, 2, 1e9, INTRA, INTER)
    mixed = LayerProfile("mixed", "by hand", (block(), odd), cluster, 4, 8)
    problem = stage_problem(mixed, submeshes=[(1, 2)])
    assert np.isfinite(problem.cost[0, 0, 0, 1])
    assert np.isinf(problem.cost[0, 1, 0, 1])


def test_the_whole_problem_may_be_changed():
    problem = stage_problem(
        profile(), num_devices=3, num_microbatches=2, objective="latency", use_all_devices=False
    )
    assert (problem.num_devices, problem.num_microbatches) == (3, 2)
    assert (problem.objective, problem.use_all_devices) == ("latency", False)


@pytest.mark.parametrize(
    ("cap", "num_microbatches", "expected"),
    [(6, 8, 20.0), (5, 8, 27.0), (2, 8, None), (2, 1, 6.0)],
)
def test_six_equal_layers_within_a_cap(cap, num_microbatches, expected):
    """Layers x min(B, successors + 1) <= cap; cap 5 only fits as 1, 2, 3 layers."""
    layer = Layer("layer", "other", {1: 0.5}, {1: 0.5}, activation_bytes=1.0)
    cluster = Cluster(1, 3, float(cap), INTRA, INTER)
    six = LayerProfile("six", "by hand", (layer,) * 6, cluster, 1, num_microbatches)
    result = sc.solve(stage_problem(six, submeshes=[(1, 1)]))
    assert result.objective == expected
    if cap == 5:
        assert [stage.num_layers for stage in result.plan.stages] == [1, 2, 3]


def in_flight(schedule, num_microbatches, successors):
    """Micro-batches that a stage holds."""
    if schedule == "1f1b":
        return min(num_microbatches, successors + 1)
    return num_microbatches if schedule == "gpipe" else 1


@given(
    state=st.integers(0, 20),
    activation=st.integers(0, 6),
    capacity=st.integers(1, 30),
    num_microbatches=st.integers(1, 9),
    schedule=st.sampled_from(["1f1b", "gpipe", "inference"]),
    unit=st.sampled_from([1.0, 0.1, 1e9 / 3]),
)
def test_limits_are_the_most_successors_that_fit(
    state, activation, capacity, num_microbatches, schedule, unit
):
    most = 7
    (limit,) = set(
        max_successors(
            state=np.full(most, state * unit),
            activation=np.full(most, activation * unit),
            capacity=capacity * unit * (1 + 1e-12),
            num_microbatches=num_microbatches,
            schedule=schedule,
        ).tolist()
    )
    fits = [
        state + in_flight(schedule, num_microbatches, p) * activation <= capacity
        for p in range(most + 1)
    ]
    assert limit == sum(itertools.takewhile(bool, fits)) - 1


def test_memory_is_shared_by_a_submesh():
    """State 2 x 40 / t; activations 8 / n per layer: 84 bytes hold one of either degree's."""
    tight = stage_problem(profile(memory=88.0), submeshes=[(1, 1), (1, 2)])
    limits = tight.max_successors
    assert limits[0, 0, 0, 0] == 0
    assert limits[0, 1, 0, 0] == -1
    assert limits[0, 0, 1, 0] == 1
    assert limits[0, 0, 1, 1] == 3


BAD = [
    (lambda: block(kind="encoder"), "kind must be one of"),
    (lambda: block(forward_seconds={}), "forward_seconds must name at least one degree"),
    (lambda: block(forward_seconds={0: 1.0}), "degree must be an integer of at least 1, got 0"),
    (lambda: block(forward_seconds={1: float("nan"), 2: 1.0}), r"forward_seconds\[1\].*nan"),
    (lambda: block(forward_seconds={1: 1.0}), "same tensor-parallel degrees"),
    (lambda: block(parameter_bytes=-1.0), "parameter_bytes must be bytes >= 0, got -1.0"),
    (lambda: profile(num_layers=0), "at least one layer"),
    (lambda: profile(micro_batch=0), "micro_batch must be"),
    (lambda: profile(num_microbatches=2.5), "num_microbatches must be"),
    (lambda: profile(schedule="zb"), "schedule must be one of"),
    (lambda: profile(memory=0), "memory_bytes must be above 0"),
    (lambda: profile(memory=float("nan")), "memory_bytes must be above 0"),
    (lambda: profile(hosts=0), "hosts must be"),
    (lambda: Link(0.0), "bandwidth must be bytes/s above 0"),
    (lambda: stage_problem(profile(), num_microbatches=0), "num_microbatches must be"),
    (lambda: stage_problem(profile(), submeshes=[]), "submeshes must name at least one"),
]


@pytest.mark.parametrize(("make", "words"), BAD)
def test_a_bad_figure_is_named(make, words):
    with pytest.raises(sc.ProblemError, match=words):
        make()
