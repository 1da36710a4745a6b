"""The search spaces of submeshes, and the faults of the programs they replace."""

import pytest

import stagecut as sc


def shapes(*arguments: object) -> list[tuple[int, int]]:
    return [submesh.shape for submesh in sc.submesh_choices(*arguments)]  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("space", "expected"),
    [
        ("power_of_two", [(1, 1), (1, 2), (1, 4), (2, 4), (4, 4), (8, 4)]),
        ("small_power_of_two", [(1, 1), (1, 2), (1, 4), (2, 4), (4, 4)]),
        ("all", [(1, 1), (1, 2), (1, 4), *((hosts, 4) for hosts in range(2, 9))]),
    ],
)
def test_on_powers_of_two_the_spaces_are_those_of_alpa(
    space: str, expected: list[tuple[int, int]]
) -> None:
    assert shapes(8, 4, space) == expected


def test_three_hosts_keep_the_whole_cluster_shape() -> None:
    assert shapes(3, 8) == [(1, 1), (1, 2), (1, 4), (1, 8), (2, 8), (3, 8)]
    assert shapes(3, 8, "small_power_of_two")[-1] == (3, 8)


def test_small_means_at_most_four_hosts() -> None:
    assert max(hosts for hosts, _ in shapes(7, 2, "small_power_of_two")) == 4


def test_hosts_of_six_devices_are_allowed() -> None:
    assert shapes(1, 6) == [(1, 1), (1, 2), (1, 4), (1, 6)]


def test_manual_shapes_need_no_powers_of_two() -> None:
    assert shapes(2, 6, "manual", [(1, 3), (2, 5), sc.Submesh(1, 6)]) == [(1, 3), (2, 5), (1, 6)]


def test_new_on_one_host_is_the_list_of_colossalai() -> None:
    assert shapes(1, 8, "new") == [(1, 1), (1, 2), (1, 4), (1, 8), (2, 2), (2, 4)]
    assert shapes(1, 1, "new") == [(1, 1)]


def test_new_counts_the_hosts() -> None:
    assert {rows * columns for rows, columns in shapes(4, 8, "new")} == {1, 2, 4, 8, 16, 32}
    assert {(4, 8), (2, 16), (4, 4)} <= set(shapes(4, 8, "new"))


def test_new_takes_any_cluster() -> None:
    assert shapes(3, 2, "new") == [(1, 1), (1, 2), (1, 4), (1, 6), (2, 2), (2, 3)]


@pytest.mark.parametrize("space", ["power_of_two", "small_power_of_two", "all", "new"])
@pytest.mark.parametrize(("hosts", "devices"), [(1, 1), (1, 5), (2, 8), (3, 7), (4, 4)])
def test_shapes_are_distinct_integers_within_the_cluster(
    space: str, hosts: int, devices: int
) -> None:
    found = shapes(hosts, devices, space)
    assert len(set(found)) == len(found)
    assert all(type(number) is int for shape in found for number in shape)
    assert max(rows * columns for rows, columns in found) == hosts * devices


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((0, 8), "num_hosts must be an integer of at least 1, got 0"),
        ((1, 2.0), "num_devices_per_host must be an integer"),
        ((1, 8, "some"), "space must be one of power_of_two, .* got 'some'"),
        ((1, 8, "manual"), "manual must be a list of shapes"),
        ((1, 8, "all", [(1, 1)]), "with space 'all'"),
        ((1, 8, "manual", 3), "manual must be a sequence"),
        ((1, 8, "manual", []), "at least one shape"),
        ((1, 8, "manual", [(1, 2), (1, 2)]), r"manual\[1\] repeats 1x2"),
        ((1, 8, "manual", [(1, 2), (2, 8)]), r"manual\[1\] = 2x8 has 16 devices.*has 8"),
        ((1, 8, "manual", [(1.0, 2.0)]), "submesh hosts must be an integer"),
    ],
)
def test_bad_arguments_are_named(arguments: tuple[object, ...], words: str) -> None:
    with pytest.raises(sc.ProblemError, match=words):
        sc.submesh_choices(*arguments)  # type: ignore[arg-type]
