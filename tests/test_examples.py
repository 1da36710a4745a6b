"""The packaged examples: present, reproducible, feasible, and worth planning."""

import json
from pathlib import Path

import pytest

import stagecut as sc
from stagecut.examples import example_path, load_example_profile
from stagecut.examples.catalogue import BUILDERS
from stagecut.examples.regenerate import regenerate

SHAPES = {
    "gpt3-2.6b": (34, 8),
    "gpt3-39b": (50, 64),
    "llama3-70b": (82, 64),
    "moe-61-layer": (64, 128),
}


def test_the_four_examples_are_there() -> None:
    assert sc.example_names() == tuple(SHAPES)


@pytest.mark.parametrize("name", SHAPES)
def test_layers_and_devices(name: str) -> None:
    problem = sc.load_example(name)
    assert (problem.num_layers, problem.num_devices) == SHAPES[name]
    assert problem.layer_names is not None
    assert problem.layer_names[0] == "embedding"
    assert problem.layer_names[-1] == "head"


def test_regeneration_reproduces_the_files(tmp_path: Path) -> None:
    for file in regenerate(tmp_path):
        new, kept = (json.loads(path.read_text()) for path in (file, example_path(file.stem)))
        times = [
            [
                seconds
                for layer in value["layers"]
                for key in ("forward_seconds", "backward_seconds")
                for seconds in layer.pop(key).values()
            ]
            for value in (new, kept)
        ]
        assert new == kept
        assert times[0] == pytest.approx(times[1], rel=1e-14)


@pytest.mark.parametrize("name", SHAPES)
def test_files_are_lossless_small_and_name_their_sources(name: str) -> None:
    profile = load_example_profile(name)
    assert profile == BUILDERS[name]()
    assert example_path(name).stat().st_size < 100_000
    assert "data sheet" in profile.source
    assert "FLOP/s" in profile.source
    assert "20" in profile.source.split(";")[0]


@pytest.mark.parametrize(
    ("name", "least_stages"),
    [("gpt3-2.6b", 3), ("gpt3-39b", 8), ("llama3-70b", 8), ("moe-61-layer", 8)],
)
def test_plans_are_feasible_and_have_several_stages(name: str, least_stages: int) -> None:
    problem = sc.load_example(name)
    result = sc.solve(problem, solver="dp")
    assert result.status is sc.Status.OPTIMAL
    assert result.plan is not None
    sc.check(problem, result.plan)
    assert result.plan.num_stages >= least_stages
    assert len({stage.num_layers for stage in result.plan.stages}) > 1


def test_the_extra_prediction_layer_stands_before_the_head() -> None:
    profile = load_example_profile("moe-61-layer")
    assert [layer.kind for layer in profile.layers].count("decoder") == 61
    assert [layer.kind for layer in profile.layers[-2:]] == ["mtp", "head"]


def test_changes_reach_the_problem() -> None:
    assert sc.load_example("gpt3-2.6b", num_microbatches=4).num_microbatches == 4


def test_an_unknown_name_lists_the_known_ones() -> None:
    with pytest.raises(sc.ProblemError, match=r"one of gpt3-2\.6b, .* got 'gpt5'"):
        sc.load_example("gpt5")
