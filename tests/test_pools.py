"""Device pools: the programme over a vector of devices, MILP and brute force agree."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracle import RULES, brute_force, pooled_problems

import stagecut as sc
from stagecut.costs import pooled
from stagecut.dynamic import unstated_by_dp
from stagecut.formats import read


def assert_result(problem, expected, **options):
    result = sc.solve(problem, **options)
    if math.isinf(expected):
        assert result.status is sc.Status.INFEASIBLE
        return
    assert result.status is sc.Status.OPTIMAL
    sc.check(problem, result.plan)
    assert result.objective == pytest.approx(expected, rel=1e-9, abs=0)


@settings(max_examples=200)
@given(pooled_problems())
def test_dp_on_pools_is_bit_equal_to_brute_force(problem):
    expected = brute_force(problem)
    result = sc.solve(problem, solver="dp")
    assert (math.inf if result.objective is None else result.objective) == expected
    assert result.status is (sc.Status.INFEASIBLE if math.isinf(expected) else sc.Status.OPTIMAL)


@settings(max_examples=60)
@given(pooled_problems())
def test_milp_on_pools_agrees_with_brute_force(problem):
    assert_result(problem, brute_force(problem), solver="highs")


@settings(max_examples=60)
@given(st.data())
def test_pools_with_each_rule(data):
    problem = data.draw(pooled_problems([data.draw(st.sampled_from(RULES))]))
    expected = brute_force(problem)
    assert_result(problem, expected, solver="highs")
    if not unstated_by_dp(problem):
        assert_result(problem, expected, solver="dp")


def two_pools(**changes):
    """Two layers of 1 and 2 s on a fast pool, 3 and 5 s on a slow one."""
    table = np.full((2, 2, 2), np.inf)
    table[0, 0], table[1, 1] = [1.0, 3.0], [2.0, 5.0]
    shapes = [sc.Submesh(1, 1, "fast"), sc.Submesh(1, 1, "slow")]
    arguments = {"num_devices": {"fast": 1, "slow": 1}, "num_microbatches": 3, **changes}
    return sc.StageProblem(table, shapes, **arguments)


def test_by_hand_and_the_referee_counts_each_pool():
    problem = two_pools()
    assert problem.num_devices == 2
    assert problem.pools == {"fast": 1, "slow": 1}
    assert sc.solve(problem).objective == 5 + 2 * 3  # 3 + 2, not 1 + 5
    both = sc.Plan.from_choices(problem, [(0, 0, 0, 0), (1, 1, 0, 0)])
    with pytest.raises(sc.PlanError) as caught:
        sc.check(problem, both)
    assert caught.value.violations == (
        "pool 'fast': the plan uses 2 devices, the problem requires exactly 1",
        "pool 'slow': the plan uses 0 devices, the problem requires exactly 1",
    )


def test_submeshes_in_pools_need_devices_by_pool():
    with pytest.raises(sc.ProblemError, match=r"in pool 'fast'.*\"fast\": 8"):
        two_pools(num_devices=2)


def test_replace_and_files_keep_pools(tmp_path):
    problem = two_pools()
    assert problem.replace(num_microbatches=5).pools == problem.pools
    for name in ("pools.json", "pools.npz"):
        sc.save_problem(problem, tmp_path / name)
        assert sc.load_problem(tmp_path / name) == problem


def test_too_many_pools_or_states_go_to_the_milp():
    shapes = [sc.Submesh(1, 1, name) for name in "abcd"]
    four = sc.StageProblem(np.ones((4, 4, 4)), shapes, dict.fromkeys("abcd", 1), 2)
    assert sc.solve(four).solver == "highs"
    with pytest.raises(sc.UnsupportedError, match="device pools"):
        sc.solve(four, solver="dp")
    assert unstated_by_dp(two_pools(num_devices={"fast": 10**6, "slow": 10**6}))


def test_dp_on_pools_keeps_a_time_limit_and_a_bound():
    result = sc.solve(midsize(0, 64), solver="dp", time_limit=0.0)
    assert result.limit is sc.Limit.TIME
    assert result.status in (sc.Status.UNKNOWN, sc.Status.FEASIBLE)


def midsize(seed, num_layers, limited=False):
    """Noisy blocks on two pools, the second slower."""
    rng = np.random.default_rng(seed)
    ends = np.concatenate([[0.0], np.cumsum(1 + 0.02 * rng.standard_normal(num_layers))])
    seconds = np.maximum(ends[None, 1:] - ends[:-1, None], 0.0)[:, :, None]
    sizes, speed = np.array([1, 2, 4, 1, 2, 4]), np.array([1.0] * 3 + [0.6] * 3)
    limits = None
    if limited:
        room = np.floor(4.0 * sizes * num_layers / 16 / np.maximum(seconds, 1e-9)) - 1
        limits = np.clip(room, -1, num_layers).astype(int)
    return sc.StageProblem(
        seconds / sizes**0.9 / speed + 0.01,
        [sc.Submesh(1, int(n), "new" if m < 3 else "old") for m, n in enumerate(sizes)],
        {"new": 6, "old": 10},
        32,
        max_successors=limits,
    )


@pytest.mark.parametrize("limited", [False, True])
def test_midsize_pools_agree_with_highs(limited):
    problem = midsize(1, 24, limited)
    by_dp = sc.solve(problem, solver="dp")
    assert sc.solve(problem, solver="highs").objective == pytest.approx(by_dp.objective, rel=1e-9)


def test_two_device_types_of_one_measured_model(shared):
    """OPT-350M on A100s and V100s, as Sailor measured both."""
    options = {"num_microbatches": 64, "bandwidth": 25e9, "micro_batch": 1}
    each = {
        name: read(
            shared / f"data/sailor/piper/OPT-350_{file}.json", "piper", num_devices=count, **options
        )
        for name, file, count in (("a100", "A100-40", 4), ("v100", "V100-16", 8))
    }
    problem = pooled(each)
    assert problem.pools == {"a100": 4, "v100": 8}
    by_dp, by_milp = sc.solve(problem, solver="dp"), sc.solve(problem, solver="highs")
    assert by_milp.objective == pytest.approx(by_dp.objective, rel=1e-9)
    assert by_dp.objective < min(sc.solve(alone).objective for alone in each.values())


def test_pooled_needs_equal_layers():
    free = sc.StageProblem(np.ones((2, 2, 1)), [(1, 1)], 2, 4)
    with pytest.raises(sc.ProblemError, match="'b' has 3 layers, 'a' has 2"):
        pooled({"a": free, "b": sc.StageProblem(np.ones((3, 3, 1)), [(1, 1)], 2, 4)})
    with pytest.raises(sc.ProblemError, match="'b' has num_microbatches=5, 'a' has 4"):
        pooled({"a": free, "b": free.replace(num_microbatches=5)})
    joined = pooled({"a": free, "b": free.replace(cost=np.ones((2, 2, 1, 3)))})
    assert joined.num_configs == 3
    assert np.isinf(joined.cost[0, 0, 0]).tolist() == [False, True, True]
