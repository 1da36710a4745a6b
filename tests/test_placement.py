"""Placement: device ranks per stage, shapes that cannot be laid out, and plans that can."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracle import brute_force, pooled_problems, ruled_problems, tiles

import stagecut as sc
from stagecut.costs import Cluster, Link
from stagecut.placement import always_fit, fits


def plan_of(*shapes):
    stages = [
        sc.Stage(k, k, sc.Submesh(*shape) if isinstance(shape, tuple) else shape, 0, 1.0)
        for k, shape in enumerate(shapes)
    ]
    return sc.Plan(stages)


def assert_laid_out(placement, plan, grids):
    """Every stage has its devices, d on each of h hosts, and no device has two stages."""
    taken = list(itertools.chain(*placement.ranks))
    assert len(taken) == len(set(taken))
    assert not taken or max(taken) < sum(grid.size for grid in grids)
    ends = itertools.accumulate(grid.size for grid in grids)
    starts = {grid.pool: end - grid.size for grid, end in zip(grids, ends, strict=True)}
    for stage, ranks in zip(plan.stages, placement.ranks, strict=True):
        grid = next(g for g in grids if g.pool == stage.submesh.pool)
        hosts = [(rank - starts[grid.pool]) // grid.devices_per_host for rank in ranks]
        counts = [hosts.count(host) for host in set(hosts)]
        assert counts == [stage.submesh.devices_per_host] * stage.submesh.hosts
        assert all(0 <= host < grid.hosts for host in hosts)


shapes = st.lists(st.builds(sc.Submesh, st.integers(1, 3), st.integers(1, 4)), max_size=5)
grids = st.builds(sc.Submesh, st.integers(1, 4), st.integers(1, 5))


@settings(max_examples=300)
@given(shapes, grids)
def test_search_agrees_with_trying_every_choice_of_hosts(shapes, grid):
    possible = tiles(tuple(shapes), grid)
    assert fits(shapes, grid) == possible
    plan = plan_of(*shapes)
    if possible:
        assert_laid_out(sc.place(plan, grid), plan, [grid])
    else:
        with pytest.raises(sc.PlanError, match="cannot be laid out"):
            sc.place(plan, grid)


@settings(max_examples=300)
@given(
    st.sampled_from([1, 2, 4, 8, 6]),
    st.integers(1, 4),
    st.lists(st.tuples(st.integers(1, 3), st.sampled_from([1, 2, 3, 4, 6, 8]))),
)
def test_shapes_that_always_fit_do(width, hosts, pairs):
    grid, chosen, size = sc.Submesh(hosts, width), [], 0
    for pair in pairs:
        shape = sc.Submesh(*pair)
        if size + shape.size <= grid.size and shape.hosts <= hosts:
            chosen.append(shape)
            size += shape.size
    if always_fit(chosen, grid):
        assert fits(chosen, grid)


def test_counts_that_add_up_and_do_not_fit():
    """A 1x8 takes one of two hosts whole, and a 2x4 needs both."""
    plan = plan_of((1, 8), (2, 4))
    with pytest.raises(sc.PlanError, match="1x8, 2x4 cannot be laid out on a cluster of 2x8"):
        sc.place(plan, (2, 8))
    assert sc.place(plan, (3, 8)).ranks[0] == tuple(range(8))


def test_neighbours_share_hosts_or_sit_on_the_next():
    placement = sc.place(plan_of((1, 4), (1, 4), (1, 8), (1, 2), (1, 6)), (3, 8))
    assert [placement.hosts(s) for s in range(5)] == [(0,), (0,), (1,), (2,), (2,)]


def test_closeness_never_costs_a_layout():
    """The two 1x2 would sit together, but the 2x6 needs room on both hosts."""
    plan = plan_of((1, 2), (1, 2), (2, 6))
    placement = sc.place(plan, (2, 8))
    assert_laid_out(placement, plan, [sc.Submesh(2, 8)])
    assert placement.hosts(0) != placement.hosts(1)


def test_clusters_of_profiles_and_of_pools():
    link = Link(1e9)
    assert sc.place(plan_of((1, 4)), Cluster(2, 4, 1e9, link, link)).ranks == ((0, 1, 2, 3),)
    two = plan_of(sc.Submesh(1, 2, "new"), sc.Submesh(1, 4, "old"))
    placement = sc.place(two, {"old": (1, 4), "new": (2, 2)})
    assert placement.ranks == ((4, 5), (0, 1, 2, 3))
    assert [placement.hosts(s) for s in range(2)] == [(1,), (0,)]
    with pytest.raises(sc.PlanError, match="the cluster has no pool 'new'"):
        sc.place(two, {"old": (1, 8)})
    with pytest.raises(sc.ProblemError, match="cluster must be"):
        sc.place(two, 8)


@settings(max_examples=100)
@given(ruled_problems(["placeable"], max_layers=4))
def test_placeable_plans_are_best_among_those(problem):
    expected = brute_force(problem)
    result = sc.solve(problem)
    assert (np.inf if result.objective is None else result.objective) == pytest.approx(expected)
    if result.plan is not None:
        assert_laid_out(sc.place(result.plan, problem.rules.cluster), result.plan,
                        problem.rules.cluster)  # fmt: skip


@settings(max_examples=30)
@given(pooled_problems(["placeable"], max_layers=3))
def test_placeable_with_pools(problem):
    result = sc.solve(problem)
    expected = brute_force(problem)
    assert (np.inf if result.objective is None else result.objective) == pytest.approx(expected)


def awkward(**rules):
    """Two layers; best on 1x8 and 2x4, which do not fit 2x8 together."""
    cost = np.full((2, 2, 3), np.inf)
    cost[0, 0], cost[1, 1] = [1.0, 9.0, 2.0], [9.0, 1.0, 2.0]
    return sc.StageProblem(
        cost, [(1, 8), (2, 4), (1, 4)], 16, 4, use_all_devices=False, rules=sc.StageRules(**rules)
    )


def test_the_rule_forbids_what_cannot_be_laid_out():
    free, ruled = awkward(), awkward(placeable=True, cluster=(2, 8))
    assert sc.solve(free).objective == 1 + 1 + 3 * 1
    result = sc.solve(ruled)
    assert result.objective == 1 + 2 + 3 * 2
    with pytest.raises(sc.PlanError, match="placeable: the shapes 1x8, 2x4 cannot"):
        sc.check(ruled, sc.solve(free).plan)
    with pytest.raises(sc.UnsupportedError, match="placeable"):
        sc.solve(ruled, solver="dp")


@settings(max_examples=30)
@given(ruled_problems(["placeable"], max_layers=4))
def test_every_strategy_keeps_to_whole_parts(problem):
    expected = brute_force(problem)
    for strategy in ("direct", "bisection"):
        result = sc.solve(problem, solver="highs", strategy=strategy)
        found = np.inf if result.objective is None else result.objective
        assert found == pytest.approx(expected)


def test_shapes_that_always_fit_stay_with_the_dynamic_programme():
    problem = sc.StageProblem(
        np.ones((4, 4, 4)), [(1, 2), (1, 4), (1, 8), (2, 8)], 16, 4,
        rules=sc.StageRules(placeable=True, cluster=(2, 8)),
    )  # fmt: skip
    assert sc.solve(problem).solver == "dp"


def test_bad_clusters():
    with pytest.raises(sc.ProblemError, match="placeable needs the hosts"):
        sc.StageRules(placeable=True)
    with pytest.raises(sc.ProblemError, match="cluster must have a grid for pool None"):
        awkward(placeable=True, cluster={"new": (2, 8)})


def test_explanation_names_placement():
    ruled = awkward(placeable=True, cluster=(2, 8))
    cost = ruled.cost.copy()
    cost[:, :, 2] = np.inf
    cost[0, 0, 1] = cost[1, 1, 0] = np.inf
    (cause,) = sc.explain_infeasibility(ruled.replace(cost=cost)).causes
    assert cause.kind == "placement"
    assert "1x8, 2x4 cannot be laid out on a cluster of 2x8" in cause.message


def test_files_keep_the_cluster(tmp_path):
    ruled = awkward(placeable=True, cluster=(2, 8))
    sc.save_problem(ruled, tmp_path / "awkward.json")
    assert sc.load_problem(tmp_path / "awkward.json") == ruled
