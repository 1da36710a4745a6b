"""The drop-in for Alpa: its own test of two programmes, and each fault of the replaced ones."""

import itertools
from collections.abc import Callable

import numpy as np
import numpy.typing as npt
import pytest

import stagecut as sc
from stagecut.compat import alpa
from stagecut_dp import textbook

INF = float("inf")
Oracle = Callable[..., float]
Table = npt.NDArray[np.float64]
Limits = npt.NDArray[np.int64]


def random_case(
    seed: int, layers: int, shapes: tuple[tuple[int, int], ...], devices: int, configs: int
) -> tuple[Table, Limits]:
    """Ranges priced by their layers, a random config factor, and memory from the model's share."""
    rng = np.random.default_rng(seed)
    time, memory = rng.random(layers), rng.random(layers)
    scaling, room = rng.uniform(-2, 2), rng.uniform(0, 4)
    cost = np.full((layers, layers, len(shapes), configs), INF)
    limits = np.full(cost.shape, -1)
    for i, j in itertools.combinations_with_replacement(range(layers), 2):
        part = slice(i, j + 1)
        for m, (hosts, per_host) in enumerate(shapes):
            factor = rng.uniform(1, 2, configs)
            size = hosts * per_host
            cost[i, j, m] = time[part].sum() * factor * size**scaling
            share = memory[part].sum() / memory.sum()
            limits[i, j, m] = (room * layers * size / devices / share / factor).astype(int)
    return cost, limits


def check_stages(
    stages: list[tuple[tuple[int, int], int, int]] | None,
    value: float,
    cost: Table,
    sizes: list[int],
    devices: int,
    batches: int,
    limits: Limits | None = None,
) -> None:
    """Every layer once, all devices, room in memory, and the value recomputed from the table."""
    assert stages is not None
    assert [start for (start, _), _, _ in stages] == [0, *(end for (_, end), _, _ in stages[:-1])]
    assert stages[-1][0][1] == len(cost)
    assert sum(sizes[m] for _, m, _ in stages) == devices
    paid = [cost[start, end - 1, m, c] for (start, end), m, c in stages]
    assert value == pytest.approx(sum(paid) + (batches - 1) * max(paid), rel=1e-12)
    if limits is not None:
        for s, ((start, end), m, c) in enumerate(stages):
            assert limits[start, end - 1, m, c] + 1 >= min(batches, len(stages) - s)


@pytest.mark.parametrize("batches", [1, 16, 512])
@pytest.mark.parametrize("per_host", [1, 4])
@pytest.mark.parametrize("hosts", [1, 4])
@pytest.mark.parametrize("layers", [4, 8])
def test_both_programmes_agree_as_in_alpas_own_test(
    layers: int, hosts: int, per_host: int, batches: int, oracle: Oracle
) -> None:
    shapes = alpa.get_submesh_choices(hosts, per_host, "all")
    sizes = [rows * columns for rows, columns in shapes]
    devices = hosts * per_host
    for run in range(4):
        configs = run % 4 + 1
        cost, limits = random_case(1000 * run + layers, layers, shapes, devices, configs)
        first = alpa.training_dp(layers, devices, batches, shapes, configs, cost, limits)
        second = alpa.training_dp_2(devices, batches, shapes, cost, limits)
        assert first[0] == second[0]
        assert first[0] == pytest.approx(oracle(cost, sizes, devices, batches, limits), rel=1e-12)
        if first[0] < INF:
            check_stages(first[1], first[0], cost, sizes, devices, batches, limits)
        else:
            assert first[1] is None


@pytest.mark.parametrize("batches", [1, 2, 16])
@pytest.mark.parametrize("devices", [1, 4])
def test_both_programmes_agree_with_the_textbook(devices: int, batches: int) -> None:
    shapes = alpa.get_submesh_choices(1, devices, "all")
    for seed in range(4):
        cost, limits = random_case(seed, 4, shapes, devices, 2)
        expected, _ = textbook.solve(
            cost,
            [rows * columns for rows, columns in shapes],
            devices,
            batches,
            max_successors=np.where(limits >= max(batches - 1, 0), 4, limits),
        )
        found = alpa.training_dp_2(devices, batches, shapes, cost, limits)
        assert found[0] == pytest.approx(expected, rel=1e-12)


def two_layers(first: float, second: float, both: float) -> Table:
    """Submesh 0 has one device and takes single layers, submesh 1 has two and takes both."""
    cost = np.full((2, 2, 2, 1), INF)
    cost[0, 0, 0], cost[1, 1, 0], cost[0, 1, 1] = first, second, both
    return cost


SHAPES = ((1, 1), (1, 2))


def train(cost: Table, devices: int, batches: int, limits: Limits | None = None) -> float:
    value, _ = alpa.training_dp_2(devices, batches, SHAPES, cost, limits)
    again, _ = alpa.training_dp(len(cost), devices, batches, SHAPES, cost.shape[3], cost, limits)
    assert value == again
    return value


def test_thresholds_within_1e_6_are_not_skipped() -> None:
    # 1 + 1.0000005 + 99 x 1.0000005 = 101.00005; both layers in one stage: 100 x 1.9 = 190.
    assert train(two_layers(1.0, 1.0000005, 1.9), 2, 100) == pytest.approx(101.00005, rel=1e-12)


def test_tables_below_1e_6_have_a_plan() -> None:
    # 2e-9 + 3e-9 + 3 x 3e-9 = 14e-9
    assert train(two_layers(2e-9, 3e-9, 9e-9), 2, 4) == pytest.approx(14e-9, rel=1e-12)


def test_an_all_zero_table_has_a_plan() -> None:
    assert train(two_layers(0.0, 0.0, 0.0), 2, 4) == 0.0


def test_costs_near_1e8_are_told_apart(oracle: Oracle) -> None:
    # Neighbouring float32 numbers are 8 apart there.
    assert train(two_layers(5e7, 5e7 + 2, 1e8 + 1), 2, 1) == 1e8 + 1
    rng = np.random.default_rng(8)
    for batches in (1, 3):
        cost = 1e8 + rng.integers(0, 6, (6, 6, 2, 2)).astype(float)
        assert train(cost, 8, batches) == oracle(cost, [1, 2], 8, batches)


def test_infeasible_training_is_no_error() -> None:
    assert alpa.training_dp_2(3, 4, ((1, 2),), np.ones((4, 4, 1, 1)), None) == (INF, None)
    everything_too_big = np.full((2, 2, 1, 1), -1)
    cost = np.ones((2, 2, 1, 1))
    assert alpa.training_dp(2, 2, 1, ((1, 1),), 1, cost, everything_too_big) == (INF, None)
    assert alpa.training_dp_2(1, 1, ((1, 1),), np.full((1, 1, 1, 1), INF), None) == (INF, None)


def test_infeasible_serving_is_no_type_error() -> None:
    assert alpa.inference_dp(2, 3, ((1, 2),), 1, np.ones((2, 2, 1, 1))) == (INF, None)


def test_serving_is_stages_times_bottleneck(oracle: Oracle) -> None:
    rng = np.random.default_rng(3)
    for _ in range(20):
        cost = rng.random((5, 5, 2, 2))
        value, stages = alpa.inference_dp(5, 4, SHAPES, 2, cost)
        best = oracle(cost, [1, 2], 4, 1, value=lambda _, largest, stages: stages * largest)
        assert value == pytest.approx(best, rel=1e-12)
        assert stages is not None
        paid = [cost[start, end - 1, m, c] for (start, end), m, c in stages]
        assert value == len(paid) * max(paid)


def test_serving_weighs_stages_against_the_bottleneck() -> None:
    # Two stages: 2 x 3 = 6; one stage: 1 x 5 = 5.
    assert alpa.inference_dp(2, 2, SHAPES, 1, two_layers(3.0, 2.0, 5.0)) == (5.0, [((0, 2), 1, 0)])


def test_memory_limits_respect_the_number_of_micro_batches() -> None:
    cost = np.full((3, 3, 1, 1), INF)
    limits = np.full(cost.shape, -1)
    for layer in range(3):
        cost[layer, layer], limits[layer, layer] = 1.0, 0
    # With B = 1 never more than one micro-batch is in flight: three stages of one layer fit.
    assert alpa.training_dp_2(3, 1, ((1, 1),), cost, limits)[0] == 3.0
    assert alpa.training_dp_2(3, 2, ((1, 1),), cost, limits) == (INF, None)
    # A limit of B - 1 binds nothing.
    assert alpa.training_dp_2(3, 2, ((1, 1),), cost, np.where(limits < 0, -1, 1))[0] == 4.0


def test_minus_one_never_fits_even_with_one_micro_batch() -> None:
    cost = two_layers(1.0, 1.0, 5.0)
    limits = np.full(cost.shape, 9)
    limits[0, 0, 0] = -1
    assert train(cost, 2, 1, limits) == 5.0


@pytest.mark.parametrize(("cap", "expected"), [(6, 20.0), (5, 27.0), (2, INF)])
def test_equal_layers_with_memory_for_so_many_layers_in_flight(cap: int, expected: float) -> None:
    # layers x min(B, successors + 1) <= cap on three devices, eight micro-batches:
    # (2, 2, 2): 6 + 7 x 2 = 20 needs 6; (1, 2, 3): 6 + 7 x 3 = 27 needs 4.
    cost = np.fromfunction(lambda i, j: np.where(j >= i, j - i + 1.0, INF), (6, 6))[..., None, None]
    limits = np.where(np.isfinite(cost), cap // np.where(np.isfinite(cost), cost, 1) - 1, -1)
    value, _ = alpa.training_dp_2(3, 8, ((1, 1),), cost, limits.astype(int))
    assert value == expected


def test_one_micro_batch_fits_where_eight_do_not() -> None:
    cost = np.fromfunction(lambda i, j: np.where(j >= i, j - i + 1.0, INF), (6, 6))[..., None, None]
    limits = np.where(np.isfinite(cost), 2 // np.where(np.isfinite(cost), cost, 1) - 1, -1)
    assert alpa.training_dp_2(3, 1, ((1, 1),), cost, limits.astype(int))[0] == 6.0


def test_manual_shapes_need_no_power_of_two() -> None:
    assert alpa.get_submesh_choices(2, 6, "manual", [(1, 3), (2, 6)]) == ((1, 3), (2, 6))


def test_three_hosts_have_the_whole_cluster_shape() -> None:
    assert (3, 8) in alpa.get_submesh_choices(3, 8, "power_of_two")


def test_shapes_are_those_of_alpa_where_alpa_answers() -> None:
    assert alpa.get_submesh_choices(4, 4, "all") == (
        (1, 1), (1, 2), (1, 4), (2, 4), (3, 4), (4, 4),
    )  # fmt: skip
    assert alpa.get_submesh_choices(8, 2, "small_power_of_two") == ((1, 1), (1, 2), (2, 2), (4, 2))
    assert alpa.get_submesh_choices(2, 2, "all", [(1, 1)]) == ((1, 1), (1, 2), (2, 2))


def test_arrays_of_the_caller_stay_as_they_are() -> None:
    cost, limits = random_case(1, 4, SHAPES, 4, 2)
    kept = cost.copy(), limits.copy()
    alpa.training_dp_2(4, 2, SHAPES, cost, limits)
    np.testing.assert_array_equal(cost, kept[0])
    np.testing.assert_array_equal(limits, kept[1])


def test_plain_numbers_come_back() -> None:
    value, stages = alpa.training_dp_2(2, 4, SHAPES, two_layers(1.0, 2.0, 9.0), None)
    assert type(value) is float
    assert stages is not None
    assert all(type(n) is int for (i, j), m, c in stages for n in (i, j, m, c))


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: alpa.get_submesh_choices(1, 8, "new"), "space must be one of .* got 'new'"),
        (lambda: alpa.get_submesh_choices(1, 8, "manual"), "manual must be a list"),
        (
            lambda: alpa.training_dp(3, 2, 4, SHAPES, 1, np.ones((2, 2, 2, 1)), None),
            r"compute_cost must have shape .* = \(3, 3, 2, 1\), got \(2, 2, 2, 1\)",
        ),
        (
            lambda: alpa.training_dp_2(2, 4, SHAPES, np.ones((2, 2, 2)), None),
            "compute_cost must have four axes",
        ),
        (
            lambda: alpa.training_dp_2(2, 4, SHAPES, -np.ones((2, 2, 2, 1)), None),
            r"compute_cost must be seconds >= 0.*compute_cost\[0, 0, 0, 0\] = -1.0",
        ),
        (
            lambda: alpa.training_dp_2(2, 4, 3, np.ones((2, 2, 2, 1)), None),  # type: ignore[arg-type]
            "submesh_choices must be a sequence of .* got 3",
        ),
        (
            lambda: alpa.training_dp_2(2, 4, SHAPES, [[1.0], [1.0, 2.0]], None),  # type: ignore[list-item]
            "compute_cost must be a full array of numbers, got ragged rows",
        ),
        (
            lambda: alpa.training_dp_2(2, 4, SHAPES, np.ones((2, 2, 2, 1)), [[1], [1, 2]]),  # type: ignore[list-item]
            "max_n_succ_stages must be a full array, got ragged rows",
        ),
        (
            lambda: alpa.training_dp_2(0, 4, SHAPES, np.ones((2, 2, 2, 1)), None),
            "num_devices must be an integer of at least 1, got 0",
        ),
        (
            lambda: alpa.training_dp_2(2, 0, SHAPES, np.ones((2, 2, 2, 1)), None),
            "num_microbatches must be an integer of at least 1, got 0",
        ),
        (
            lambda: alpa.training_dp_2(2, 4, SHAPES, np.ones((2, 2, 2, 1)), np.ones((2, 2))),
            r"max_n_succ_stages must be numbers in the shape of compute_cost \(2, 2, 2, 1\)",
        ),
        (
            lambda: alpa.training_dp_2(
                2, 4, SHAPES, np.ones((2, 2, 2, 1)), np.full((2, 2, 2, 1), np.nan)
            ),
            r"max_n_succ_stages must be numbers .* got \[0, 0, 0, 0\] = nan",
        ),
    ],
)
def test_bad_arguments_are_named(call: Callable[[], object], words: str) -> None:
    with pytest.raises(sc.ProblemError, match=words):
        call()
