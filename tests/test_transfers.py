"""Transfers that depend on both neighbours: programme, MILP and brute force agree."""

import math

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from oracle import GENERAL, RULES, brute_force, pooled_problems, problems, ruled_problems

import stagecut as sc
from stagecut.costs import (
    Cluster,
    Layer,
    LayerProfile,
    Link,
    stage_problem,
    transfer_seconds,
)
from stagecut.dynamic import unstated_by_dp


@st.composite
def with_transfers(draw, base=None):
    """A problem with transfers of the size of its costs, some of them 0."""
    problem = draw(problems(max_layers=4) if base is None else base)
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    finite = problem.cost[np.isfinite(problem.cost) & (problem.cost > 0)]
    assume(not len(finite) or finite.max() < 1e6 * finite.min())
    count = len(problem.submeshes)
    table = rng.integers(0, 4, (problem.num_layers - 1, count, count)) / 2.0
    size = draw(st.sampled_from([0.1, 1.0, 3.0]))
    return problem.replace(transfers=table * size * (finite.max() if len(finite) else 1.0))


@settings(max_examples=200)
@given(with_transfers())
def test_dp_is_bit_equal_to_brute_force(problem):
    result = sc.solve(problem, solver="dp")
    assert (math.inf if result.objective is None else result.objective) == brute_force(problem)


@settings(max_examples=60)
@given(with_transfers(pooled_problems(max_layers=3)))
def test_dp_with_pools_is_bit_equal_to_brute_force(problem):
    result = sc.solve(problem, solver="dp")
    assert (math.inf if result.objective is None else result.objective) == brute_force(problem)


def assert_milp(problem, **options):
    expected = brute_force(problem)
    if problem.objective == "stages_times_bottleneck" and math.isfinite(expected):
        with pytest.raises(sc.UnsupportedError, match="models cannot state transfers"):
            sc.solve(problem, solver="highs", **options)
        return
    if problem.objective == "stages_times_bottleneck":
        return
    result = sc.solve(problem, solver="highs", **options)
    if math.isinf(expected):
        assert result.status is sc.Status.INFEASIBLE
    else:
        assert result.status is sc.Status.OPTIMAL
        assert result.objective == pytest.approx(expected, rel=1e-9, abs=0)


@pytest.mark.parametrize("formulation", GENERAL)
@settings(max_examples=15)
@given(with_transfers())
def test_every_formulation_agrees_with_brute_force(formulation, problem):
    assert_milp(problem, formulation=formulation)


@settings(max_examples=40)
@given(st.data())
def test_transfers_under_rules(data):
    rule = data.draw(st.sampled_from(RULES))
    problem = data.draw(with_transfers(ruled_problems([rule], max_layers=3)))
    assert_milp(problem)
    if not unstated_by_dp(problem):
        result = sc.solve(problem, solver="dp")
        assert (math.inf if result.objective is None else result.objective) == brute_force(problem)


def two_layers(**changes):
    """Two layers on one device or two; sending from one shape to the other is slow."""
    cost = np.full((2, 2, 2), np.inf)
    cost[0, 0], cost[1, 1] = [1.0, 3.0], [4.0, 2.0]
    sent = np.array([[[0.5, 9.0], [9.0, 0.25]]])
    arguments = {"num_microbatches": 3, "transfers": sent, "use_all_devices": False, **changes}
    return sc.StageProblem(cost, [(1, 1), (1, 2)], 4, **arguments)


def test_by_hand():
    """1 + 2 s apart would need 9 s between them; 3 + 0.25 + 2 is best, and 2 x 3 on top."""
    assert sc.solve(two_layers(transfers=None)).objective == 1 + 2 + 2 * 2
    result = sc.solve(two_layers())
    assert (result.objective, result.solver) == (3 + 0.25 + 2 + 2 * 3, "dp")
    assert sc.evaluate(two_layers(), result.plan) == sc.Evaluation(5.25, 3.0, 11.25)
    apart = sc.Plan.from_choices(two_layers(), [(0, 0, 0, 0), (1, 1, 1, 0)])
    assert sc.evaluate(two_layers(), apart) == sc.Evaluation(12.0, 9.0, 30.0)


BAD = [
    ({"transfers": np.ones((2, 2, 2))}, r"transfers must have shape \(K - 1, S, S\)"),
    ({"transfers": np.full((1, 2, 2), -1.0)}, r"transfers\[0, 0, 0\] = "),
    ({"transfers": np.full((1, 2, 2), np.inf)}, "transfers must be seconds >= 0"),
]


@pytest.mark.parametrize(("changes", "message"), BAD)
def test_bad_input(changes, message):
    with pytest.raises(sc.ProblemError, match=message):
        two_layers(**changes)


def test_what_does_not_take_transfers_says_so():
    with pytest.raises(sc.UnsupportedError, match="worst case with transfers"):
        two_layers(cost_spread=0.1, robustness=1)
    with pytest.raises(sc.UnsupportedError, match="transfers"):
        sc.pareto_front(two_layers())


def test_files_keep_transfers(tmp_path):
    for name in ("sent.json", "sent.npz"):
        sc.save_problem(two_layers(), tmp_path / name)
        assert sc.load_problem(tmp_path / name) == two_layers()


LINKS = {"intra_host": Link(100.0, 0.5), "inter_host": Link(10.0, 1.0)}


def test_seconds_by_pair():
    """80 bytes: 40 each from a 1x2, 0.5 + 0.4 within the host; 20 each and 1 + 2 between hosts."""
    table = transfer_seconds([80.0, 7.0], [(1, 2), (1, 4)], (2, 4), **LINKS)
    np.testing.assert_allclose(table, [[[1.8, 10.0], [10.0, 6.0]]])
    once = transfer_seconds([80.0, 7.0], [(1, 2), (1, 4)], (2, 4), both_ways=False, **LINKS)
    np.testing.assert_allclose(once, table / 2)
    assert transfer_seconds([0.0, 7.0], [(1, 2)], (2, 4), **LINKS).tolist() == [[[0.0]]]


def test_seconds_between_pools():
    shapes, grids = [sc.Submesh(1, 2, "a"), sc.Submesh(1, 2, "b")], {"a": (1, 4), "b": (1, 4)}
    table = transfer_seconds([80.0, 0.0], shapes, grids, between_pools=Link(1.0), **LINKS)
    np.testing.assert_allclose(table, [[[1.8, 80.0], [80.0, 1.8]]])
    with pytest.raises(sc.ProblemError, match="between_pools is needed for pools 'a' and 'b'"):
        transfer_seconds([80.0, 0.0], shapes, grids, **LINKS)
    with pytest.raises(sc.ProblemError, match="cluster must have a grid for pool 'a'"):
        transfer_seconds([80.0, 0.0], shapes[:1], (1, 4), **LINKS)


def test_profiles_with_transfers_by_pair():
    layer = Layer("block", "other", {1: 1.0}, {1: 2.0}, boundary_bytes=80.0)
    cluster = Cluster(2, 4, 1e9, LINKS["intra_host"], LINKS["inter_host"])
    profile = LayerProfile("four", "by hand", (layer,) * 4, cluster, 4, 8)
    problem = stage_problem(profile, submeshes=[(1, 2), (1, 4)], pair_transfers=True)
    # Two replicas: half of 2 x 3 s, and an all-reduce of 2 x 0.5 s over 8 micro-batches.
    assert problem.cost[1, 2, 0, 0] == pytest.approx(3.0 + 1.0 / 8)
    np.testing.assert_allclose(problem.transfers[0], [[1.8, 10.0], [10.0, 6.0]])
    by_dp, by_milp = sc.solve(problem, solver="dp"), sc.solve(problem, solver="highs")
    assert by_milp.objective == pytest.approx(by_dp.objective)
