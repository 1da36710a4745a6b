"""Stages that know how many follow: the longer chain holds the plans within limits, and bounds."""

import numpy as np
import pytest
import tables
from dp_oracle import every_plan, random_small
from dp_plain import plain_training

import stagecut_dp
from stagecut_dp import settle, training
from stagecut_dp.candidates import Candidates, list_candidates
from stagecut_dp.instance import Instance, make_instance
from stagecut_dp.parts import reduced_costs
from stagecut_dp.staged import StagedList, expand, staged_bounds


def everything(instance: Instance) -> Candidates:
    ranges = np.tri(instance.num_layers, dtype=bool).T
    return list_candidates(instance, ranges, np.inf)


def chains(listed: StagedList, node: int = 0) -> list[list[int]]:
    """Every chain from a node to the end, as entries."""
    if node == listed.num_layers:
        return [[]]
    found = []
    for entry in np.flatnonzero(listed.first == node).tolist():
        found += [[entry, *rest] for rest in chains(listed, int(listed.last[entry]) + 1)]
    return found


@pytest.mark.parametrize("limit", ["devices", "none"])
@pytest.mark.parametrize("block", range(4))
def test_chains_over_nodes_are_the_plans_within_limits_and_counts(block: int, limit: str) -> None:
    for seed in range(block * 50, block * 50 + 50):
        small = random_small(seed, most_layers=4)
        instance = make_instance(
            small.cost, small.sizes, small.num_devices, keep_configs=True, **small.rules
        )
        listed = everything(instance)
        most = float(instance.num_devices) if limit == "devices" else np.inf
        staged = expand(
            listed, listed.devices.astype(float), most, instance.min_stages, instance.max_stages
        )
        found = set()
        for chain in chains(staged):
            path = staged.take(np.array(chain)).plain()
            assert staged.follow[chain].tolist() == list(range(len(chain)))[::-1]
            used = int(path.devices.sum())
            if used == instance.num_devices or (
                used < instance.num_devices and not instance.use_all_devices
            ):
                columns = (path.first.tolist(), path.last.tolist(), path.choice.tolist())
                named = [instance.named(*stage) for stage in zip(*columns, strict=True)]
                found.add(tuple(named))
        assert found == {plan.stages for plan in every_plan(small)}, seed


def limited(num_layers: int, num_devices: int, room: float, seed: int) -> Instance:
    cost, sizes, limits = tables.memory_limited(num_layers, num_devices, seed=seed, room=room)
    return make_instance(cost, sizes, num_devices, 64, max_successors=limits)


def entries_of(staged: StagedList, plan: list[tuple[int, int, int, int]]) -> list[int]:
    found = []
    for follow, (first, last, choice, _) in zip(range(len(plan))[::-1], plan, strict=True):
        plain = staged.plain()
        same = (plain.first == first) & (plain.last == last) & (plain.choice == choice)
        found += np.flatnonzero(same & (staged.follow == follow)).tolist()
    return found


@pytest.mark.parametrize("room", [1.1, 1.3, 1.6])
@pytest.mark.parametrize("seed", range(4))
def test_bounds_at_any_price_are_below_the_best_plan(seed: int, room: float) -> None:
    instance = limited(32, 64, room, seed)
    cost = instance.table.transpose(1, 2, 0)
    limits = None if instance.limit is None else instance.limit.transpose(1, 2, 0)
    total, plan = stagecut_dp.solve(cost, instance.sizes, 64, 1, max_successors=limits)
    assert plan is not None
    listed = everything(instance)
    staged = expand(listed, listed.devices.astype(float), 64.0, 1, 32)
    used = entries_of(staged, plan)
    assert len(used) == len(plan)
    prices = np.array([-0.1, 0.0, 0.001, 0.01, 0.1, 1.0, total])
    bounds = staged_bounds(staged, np.inf, prices, 64)
    assert (bounds.values <= total).all()
    assert (reduced_costs(bounds, staged, 64)[used] <= total).all()
    assert bounds.values.max() > 0.5 * total


def test_compact_keeps_chains_and_says_which_nodes_stay() -> None:
    instance = limited(16, 16, 1.6, 0)
    listed = everything(instance)
    staged = expand(listed, listed.devices.astype(float), 16.0, 1, 16)
    some = staged.take(staged.follow < 3)
    prices = np.array([0.0, 0.02])
    before = staged_bounds(some, np.inf, prices, 16)
    shorter, nodes = some.compact()
    after = staged_bounds(shorter, np.inf, prices, 16)
    assert shorter.num_layers < some.num_layers
    assert np.array_equal(before.at(nodes).forward, after.forward)
    assert np.array_equal(before.at(nodes).backward, after.backward)


def test_a_list_without_a_plan_has_no_entries() -> None:
    instance = make_instance(np.ones((2, 2, 1)), [2], 3, min_stages=2)
    listed = everything(instance)
    staged = expand(listed, listed.devices.astype(float), 3.0, 2, 2)
    assert len(staged) == 0
    assert staged_bounds(staged, np.inf, np.zeros(1), 3).values.tolist() == [np.inf]


@pytest.mark.parametrize("room", [1.1, 1.2, 1.3, 1.6])
@pytest.mark.parametrize("seed", range(3))
def test_limits_that_bind_hard_take_few_passes(room: float, seed: int) -> None:
    """Chains that ignore limits leave lists here on which exact passes took minutes."""
    cost, sizes, limits = tables.memory_limited(96, 384, seed=seed, room=room)
    outcome = stagecut_dp.search(cost, sizes, 384, 128, max_successors=limits)
    assert outcome.plan is not None
    assert outcome.bound == outcome.objective
    assert outcome.passes <= 40


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("rules", [{"max_stages": 3}, {"min_stages": 14}, {"max_stages": 8}])
def test_counts_agree_with_passes_on_a_stage_axis(
    seed: int, rules: dict[str, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    cost, sizes, _ = tables.noisy(24, 32, [1, 2, 4], seed)
    monkeypatch.setattr(training, "MOST_WORK", -1)
    bounded = stagecut_dp.solve(cost, sizes, 32, 16, **rules)[0]
    monkeypatch.setattr(training, "MOST_WORK", 10**12)
    assert stagecut_dp.solve(cost, sizes, 32, 16, **rules)[0] == bounded


@pytest.mark.parametrize("seed", range(4))
def test_a_path_that_settles_levels_below_its_threshold_is_offered(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Levels down to its largest stage are skipped, so nothing else would find it."""
    monkeypatch.setattr(settle, "WORK", 1)
    cost, sizes, _ = tables.uniform(28, 32, [1, 3, 8], seed)
    for microbatches in (4, 64):
        found = stagecut_dp.solve(cost, sizes, 32, microbatches)[0]
        assert found == plain_training(cost, sizes, 32, microbatches, None, True)
