"""The picture of a front: every point, the hull joined and labelled."""

import pytest

import stagecut as sc
from stagecut.report import plot_front

matplotlib = pytest.importorskip("matplotlib")


def test_points_hull_and_labels():
    front = sc.pareto_front(sc.load_example("gpt3-2.6b"))
    (axes,) = plot_front(front).axes
    (points,) = axes.collections
    assert points.get_offsets().tolist() == [[p.total, p.bottleneck * 1e3] for p in front.points]
    (hull,) = axes.lines
    assert list(hull.get_xdata()) == [entry.point.total for entry in front.ranges()]
    assert [text.get_text() for text in axes.texts] == ["B 1..6", "B 7..59", "B 60.."]


def test_there_is_nothing_to_draw_without_a_plan():
    with pytest.raises(sc.UnsupportedError, match="no front to draw"):
        plot_front(sc.ParetoFront(()))
