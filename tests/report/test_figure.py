"""The picture shows the plan: one block and one bar a stage, the bottleneck marked."""

import pytest

import stagecut as sc
from stagecut.report.figure import SLOWEST, plot_plan


@pytest.fixture(scope="module")
def solved():
    pytest.importorskip("matplotlib")
    problem = sc.load_example("gpt3-2.6b")
    return problem, sc.solve(problem).plan


def test_blocks_cover_layers_and_devices(solved):
    problem, plan = solved
    blocks, bars = plot_plan(problem, plan).axes
    corners = [(patch.get_x(), patch.get_width(), patch.get_height()) for patch in blocks.patches]
    assert corners == [(s.first_layer - 0.5, s.num_layers, s.submesh.size) for s in plan.stages]
    times = [bar.get_width() for bar in bars.patches]
    assert times == pytest.approx([stage.cost * 1e3 for stage in plan.stages])


def test_only_the_bottleneck_is_marked(solved):
    from matplotlib.colors import to_rgba

    problem, plan = solved
    _, bars = plot_plan(problem, plan).axes
    red = [bar.get_width() for bar in bars.patches if bar.get_facecolor() == to_rgba(SLOWEST)]
    assert red == [max(bar.get_width() for bar in bars.patches)]


def test_labels_of_many_stages_fit_and_name_the_bottleneck():
    pytest.importorskip("matplotlib")
    cost = [[[float(k + 1 if k != 130 else 999)] for _ in range(150)] for k in range(150)]
    problem = sc.StageProblem(cost, [(1, 1)], 150, 8)
    plan = sc.Plan.from_choices(problem, [(k, k, 0, 0) for k in range(150)])
    blocks, bars = plot_plan(problem, plan).axes
    labels = [label.get_text() for label in bars.get_yticklabels()]
    assert len(labels) <= 37
    assert "130: 1x1" in labels
    assert not blocks.texts


def test_it_can_be_saved(solved, tmp_path):
    problem, plan = solved
    plot_plan(problem, plan).savefig(tmp_path / "plan.png")
    assert (tmp_path / "plan.png").stat().st_size > 10_000


def test_an_invalid_plan_is_refused(solved):
    problem, plan = solved
    with pytest.raises(sc.PlanError):
        plot_plan(problem, sc.Plan(plan.stages[:-1]))
