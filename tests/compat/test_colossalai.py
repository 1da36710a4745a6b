"""The drop-in for ColossalAI, and each fault of the replaced program."""

from collections.abc import Callable

import numpy as np
import pytest

import stagecut as sc
from stagecut.compat import alpa, colossalai

INF = float("inf")


def test_a_call_raises_no_index_error() -> None:
    # One stage each: 1 + 2 + 3 x 2 = 9; both in one stage on one device leaves one idle.
    cost = np.array([[[[1.0]], [[3.0]]], [[[INF]], [[2.0]]]])
    expected = (9.0, [((0, 1), 0, 0), ((1, 2), 0, 0)])
    assert colossalai.alpa_dp(2, 2, 4, [(1, 1)], 1, cost) == expected


def test_feasible_tables_are_not_infeasible(oracle: Callable[..., float]) -> None:
    rng = np.random.default_rng(4)
    shapes = colossalai.get_submesh_choices(1, 8)
    sizes = [rows * columns for rows, columns in shapes]
    for batches in (1, 16):
        cost = rng.random((6, 6, len(shapes), 3))
        value, stages = colossalai.alpa_dp(6, 8, batches, shapes, 3, cost)
        assert value == pytest.approx(oracle(cost, sizes, 8, batches), rel=1e-12)
        assert (value, stages) == alpa.training_dp(6, 8, batches, shapes, 3, cost, None)


def test_the_cheapest_config_is_named() -> None:
    cost = np.array([[[[5.0, 2.0, 3.0]]]])
    assert colossalai.alpa_dp(1, 1, 2, [(1, 1)], 3, cost) == (4.0, [((0, 1), 0, 1)])


def test_infeasible_is_inf_and_none() -> None:
    assert colossalai.alpa_dp(2, 3, 4, [(1, 2)], 1, np.ones((2, 2, 1, 1))) == (INF, None)


def test_no_gap_skips_a_threshold() -> None:
    cost = np.full((2, 2, 2, 1), INF)
    cost[0, 0, 0], cost[1, 1, 0], cost[0, 1, 1] = 1.0, 1.5, 1.9
    # 2.5 + 9 x 1.5 = 16 beats 10 x 1.9 = 19, however wide the gap.
    assert colossalai.alpa_dp(2, 2, 10, [(1, 1), (1, 2)], 1, cost, gap=10.0)[0] == 16.0


@pytest.mark.parametrize("mode", ["new", "alpa"])
def test_shapes_are_whole_numbers(mode: str) -> None:
    shapes = colossalai.get_submesh_choices(2, 8, mode)
    assert all(type(number) is int for shape in shapes for number in shape)


def test_mode_new_is_the_default_and_counts_the_hosts() -> None:
    assert colossalai.get_submesh_choices(1, 8) == [
        (1, 1), (1, 2), (1, 4), (1, 8), (2, 2), (2, 4),
    ]  # fmt: skip
    assert (4, 8) in colossalai.get_submesh_choices(4, 8)


def test_mode_alpa_is_every_number_of_full_hosts() -> None:
    assert colossalai.get_submesh_choices(3, 4, "alpa") == [
        (1, 1), (1, 2), (1, 4), (2, 4), (3, 4),
    ]  # fmt: skip


def test_hosts_of_six_devices_are_allowed() -> None:
    assert colossalai.get_submesh_choices(1, 6, "alpa") == [(1, 1), (1, 2), (1, 4), (1, 6)]


def test_an_unknown_mode_is_named() -> None:
    with pytest.raises(sc.ProblemError, match="mode must be one of alpa, new, got 'old'"):
        colossalai.get_submesh_choices(1, 8, "old")


def test_a_wrong_shape_is_named() -> None:
    with pytest.raises(sc.ProblemError, match=r"= \(2, 2, 1, 2\), got \(2, 2, 1, 1\)"):
        colossalai.alpa_dp(2, 2, 4, [(1, 1)], 2, np.ones((2, 2, 1, 1)))
