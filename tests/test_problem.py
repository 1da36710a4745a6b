"""Problems validate once, say what is wrong in one line, and never change their inputs."""

import numpy as np
import pytest

import stagecut as sc


def table(num_layers=3, num_submeshes=2):
    cost = np.full((num_layers, num_layers, num_submeshes), np.nan)
    first, last = np.triu_indices(num_layers)
    cost[first, last] = (last - first + 1.0)[:, None]
    return cost


def problem(**changes):
    arguments = {
        "cost": table(),
        "submeshes": [(1, 1), (1, 2)],
        "num_devices": 4,
        "num_microbatches": 8,
    }
    return sc.StageProblem(**{**arguments, **changes})


def with_entry(index, value, array=None):
    changed = (table() if array is None else array).copy()
    changed[index] = value
    return changed


LIMITS = np.full((3, 3, 2), 2)

BAD = [
    ({"cost": np.ones((3, 2, 2))}, "cost must have shape"),
    ({"cost": np.ones((3, 3))}, "cost must have shape"),
    ({"cost": np.ones((0, 0, 2))}, "no empty axis"),
    ({"cost": np.ones((3, 3, 2, 0))}, "no empty axis"),
    ({"cost": np.ones((3, 3, 5))}, "one entry per submesh"),
    ({"cost": [[[1.0], [2.0]], [[1.0]]]}, "ragged"),
    ({"cost": "seconds"}, "array of numbers"),
    ({"cost": np.ones((3, 3, 2), dtype=complex)}, "real numbers"),
    ({"cost": with_entry((0, 1, 1), np.nan)}, r"cost\[0, 1, 1\] = nan"),
    ({"cost": with_entry((1, 2, 0), -1.0)}, r"cost\[1, 2, 0\] = -1.0"),
    ({"cost": with_entry((2, 2, 1), -np.inf)}, r"cost\[2, 2, 1\] = -inf"),
    ({"submeshes": []}, "at least one shape"),
    ({"submeshes": [(1, 1), (1, 1)]}, r"submeshes\[1\] repeats 1x1"),
    ({"submeshes": [(1, 1), (1, 0)]}, "devices_per_host must be an integer of at least 1, got 0"),
    ({"submeshes": [(1, 1), (1.5, 2)]}, "hosts must be an integer of at least 1, got 1.5"),
    ({"submeshes": [(1, 1), 2]}, "a Submesh or a pair"),
    ({"submeshes": 3}, "sequence of"),
    ({"num_devices": 0}, "num_devices must be an integer of at least 1, got 0"),
    ({"num_devices": 2.0}, "num_devices must be an integer of at least 1, got 2.0"),
    ({"num_devices": {"a100": 8}}, "must be in one of the pools of num_devices"),
    ({"num_devices": {"a100": 0}}, r"num_devices\['a100'\] must be an integer of at least 1"),
    ({"num_devices": {}}, "none given"),
    ({"num_devices": {3: 8}}, "non-empty pool names, got 3"),
    ({"num_microbatches": 0}, "num_microbatches must be an integer of at least 1, got 0"),
    ({"num_microbatches": True}, "num_microbatches"),
    ({"max_successors": np.ones((2, 2, 2), int)}, "shape of cost"),
    ({"max_successors": with_entry((0, 2, 1), -2, LIMITS)}, r"max_successors\[0, 2, 1\] = -2"),
    ({"max_successors": np.full((3, 3, 2), 0.5)}, "whole numbers"),
    ({"max_successors": np.full((3, 3, 2), "x")}, "array of numbers"),
    ({"objective": "speed"}, "objective must be one of training, bottleneck"),
    ({"use_all_devices": 1}, "use_all_devices must be True or False"),
    ({"rules": "none"}, "rules must be a StageRules"),
    ({"layer_names": ["a", "b"]}, "one name per layer"),
    ({"layer_names": "abc"}, "sequence of strings"),
]


@pytest.mark.parametrize(("changes", "message"), BAD)
def test_bad_input_names_argument_rule_and_value(changes, message):
    with pytest.raises((sc.ProblemError, sc.UnsupportedError), match=message) as caught:
        problem(**changes)
    assert "\n" not in str(caught.value)


def test_inputs_are_copied_and_the_copy_is_read_only():
    cost = table()
    made = problem(cost=cost)
    cost[0, 0, 0] = 99.0
    assert made.cost[0, 0, 0, 0] == 1.0
    with pytest.raises(ValueError, match="read-only"):
        made.cost[0, 0, 0, 0] = 5.0


def test_below_the_diagonal_nothing_is_read():
    assert np.isinf(problem().cost[2, 0]).all()
    limits = with_entry((2, 0, 0), -99, LIMITS)
    assert problem(max_successors=limits) == problem(max_successors=LIMITS)


def test_equality_sees_every_field():
    assert problem() == problem()
    for change in (
        {"num_devices": 5},
        {"objective": "latency"},
        {"max_successors": LIMITS},
        {"cost": 2 * table()},
        {"layer_names": ["a", "b", "c"]},
    ):
        assert problem() != problem(**change)


def test_replace_validates_anew():
    assert problem().replace(num_devices=6).num_devices == 6
    with pytest.raises(sc.ProblemError, match="num_devices"):
        problem().replace(num_devices=-6)


def test_a_config_axis_is_always_there():
    assert problem().cost.shape == (3, 3, 2, 1)
    assert problem().num_configs == 1
    assert problem(cost=table()[..., None].repeat(4, axis=-1)).num_configs == 4
