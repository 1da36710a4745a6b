"""The page says what is known, says so where it is not, and lets no name become markup."""

import re
from dataclasses import replace
from html.parser import HTMLParser

import numpy as np
import pytest

import stagecut as sc

pytest.importorskip("bokeh")

from stagecut.report.page.data import gather
from stagecut.report.page.render import page
from stagecut.report.page.sections import sections
from stagecut.report.page.sections.proof import plan_gap, verdict
from stagecut.report.page.sections.timeline import line_steps
from stagecut.report.page.units import bytes_text, seconds_text, share_text

NOTHING = {"name": "", "proof": None, "front": None, "profile": None}


class Texts(HTMLParser):
    """Tags, attributes that run scripts, and the text outside scripts."""

    def __init__(self, html):
        super().__init__()
        self.tags, self.text, self.attributes, self.inside = [], [], [], ""
        self.feed(html)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += attrs
        self.inside = tag

    def handle_data(self, data):
        if self.inside not in ("script", "style"):
            self.text.append(data)


def additive(seconds, **more):
    """A problem of one-device stages whose costs are sums, the least one that has a pipeline."""
    ends = np.concatenate([[0.0], np.cumsum(seconds)])
    cost = np.maximum(ends[None, 1:] - ends[:-1, None], 0)[:, :, None]
    return sc.StageProblem(cost, [(1, 1)], len(seconds), 4, **more)


@pytest.fixture(scope="module")
def whole(example):
    problem, profile, result = example
    front = sc.pareto_front(problem)
    return gather(
        problem, result, name="gpt3-2.6b", proof=None, front=front, profile=profile
    )  # fmt: skip


def by_name(data):
    return {section.identity: section for section in sections(data)}


def test_every_section_of_a_whole_page(whole):
    assert list(by_name(whole)) == ["plan", "stages", "timeline", "front", "proof", "settings"]


def test_what_is_not_known_is_left_out_or_said(example):
    problem, _, result = example
    found = by_name(gather(problem, result.plan, **NOTHING))
    assert "front" not in found
    assert [picture.identity for picture in found["stages"].pictures] == ["picture-times"]
    assert "Memory is not shown" in found["stages"].notes[0]
    assert found["proof"].lead.startswith("Not proven")
    assert not found["proof"].tables


def test_the_plan_picture_holds_every_stage(whole):
    (picture,) = by_name(whole)["plan"].pictures
    blocks = [
        (left, right, bottom - top)
        for renderer in picture.figure.renderers
        if "left" in renderer.data_source.data
        for left, right, top, bottom in zip(
            *(renderer.data_source.data[k] for k in ("left", "right", "top", "bottom")), strict=True
        )
    ]
    stages = whole.plan.stages
    assert sorted(blocks) == [
        (s.first_layer - 0.5, s.last_layer + 0.5, s.submesh.size) for s in stages
    ]
    assert len(picture.table.rows) == len(stages)


def test_memory_is_that_of_the_cost_model(whole):
    from stagecut.costs import stage_bytes

    last = whole.plan.num_stages - 1
    expected = [
        stage_bytes(whole.profile, stage, last - s, whole.problem.num_microbatches)
        for s, stage in enumerate(whole.plan.stages)
    ]
    assert list(whole.stage_memory) == expected
    table = by_name(whole)["stages"].pictures[1].table
    assert [row[1] for row in table.rows] == [bytes_text(value) for value in expected]


def test_a_stage_above_capacity_is_marked(example):
    problem, profile, result = example
    cluster = replace(profile.cluster, memory_bytes=7e9)
    small = replace(profile, cluster=cluster)
    data = gather(problem, result, **{**NOTHING, "profile": small})
    picture = by_name(data)["stages"].pictures[1]
    assert picture.table.marked == {s for s, held in enumerate(data.stage_memory) if held > 7e9}
    assert picture.table.marked
    assert "above capacity" in [key.meaning for key in picture.legend]


def test_the_timeline_ends_where_the_objective_says():
    problem = additive([1.0, 3.0, 2.0])
    data = gather(problem, sc.solve(problem), **NOTHING)
    # stages of 1, 3 and 2 s; micro-batch 1 waits for stage 1 until 4 s, and ends at 4 + 3 + 2
    steps = line_steps(data, 2)
    assert steps == [
        (0, 0, 0.0, 1.0), (1, 0, 1.0, 4.0), (2, 0, 4.0, 6.0),
        (0, 1, 1.0, 2.0), (1, 1, 4.0, 7.0), (2, 1, 7.0, 9.0),
    ]  # fmt: skip
    assert line_steps(data, 4)[-1][3] == data.costs.objective == 6.0 + 3 * 3.0


def test_a_proof_is_only_as_good_as_its_bound(example):
    problem, _, result = example
    proven = gather(problem, result, **NOTHING)
    assert (plan_gap(proven), verdict(proven).value) == (0.0, "optimal")
    stopped = sc.Result(
        sc.Status.FEASIBLE, result.plan, result.objective, result.objective * 0.75, sc.Limit.TIME,
        "highs", "range", "direct",
    )  # fmt: skip
    data = gather(problem, stopped, **NOTHING)
    assert (plan_gap(data), verdict(data).value) == (pytest.approx(0.25), "within a gap")
    assert ("stopped by", "time limit") in by_name(data)["proof"].tables[0].rows
    unknown = sc.Result(sc.Status.FEASIBLE, result.plan, result.objective, None, None, "highs")
    assert verdict(gather(problem, unknown, **NOTHING)).value == "not proven"


def test_a_plan_worse_than_the_best_is_called_so(example):
    problem, _, result = example
    second = sc.solve_many(problem, 2)[1]
    data = gather(problem, second.plan, **{**NOTHING, "proof": result})
    assert verdict(data).value == "not the best"
    over = share_text(second.objective / result.objective - 1)
    assert over in by_name(data)["proof"].lead


HOSTILE = (
    "</script><script>hacked()</script>",
    '"><img src=x onerror=hacked()>',
    "{{ 7 * 7 }}\u202e\x1b[31m",
)


def test_hostile_names_stay_text():
    problem = additive([1.0, 3.0, 2.0], layer_names=HOSTILE)
    data = gather(problem, sc.solve(problem), **{**NOTHING, "name": HOSTILE[0]})
    html = page(data)
    seen = Texts(html)
    assert "img" not in seen.tags
    assert not [name for name, _ in seen.attributes if name.startswith("on")]
    assert seen.tags.count("script") == html.count("</script>")
    assert any(HOSTILE[0] in text for text in seen.text)
    assert any(HOSTILE[1] in text for text in seen.text)
    assert r"{{ 7 * 7 }}\u202e\x1b[31m" in "".join(seen.text)


def test_the_page_loads_nothing(whole):
    html = page(whole)
    outside = Texts(html)
    loads = [value for name, value in outside.attributes if name in ("src", "href", "srcset")]
    assert all(value.startswith(("#", "data:")) for value in loads)
    assert "default-src 'none'" in html
    assert 1e6 < len(html.encode()) < 2.5e6


def test_every_figure_has_a_place_and_every_place_a_name(whole):
    html = page(whole)
    figures = re.findall(r'data-figure="([\w-]+)"', html)
    assert len(figures) == len(set(figures)) == 5
    for figure in figures:
        assert re.search(rf'<div class="plot" id="{figure}" role="\w+" aria-label="[^"]+', html)


def test_bad_arguments(example, tmp_path):
    problem, profile, result = example
    none = sc.Result(sc.Status.INFEASIBLE, None, None, None, None, "dp")
    with pytest.raises(sc.UnsupportedError, match="infeasible and has no plan to report"):
        sc.save_report(problem, none, tmp_path / "a.html")
    with pytest.raises(sc.ProblemError, match="plan must be a Plan or Result, got str"):
        sc.save_report(problem, "plan.json", tmp_path / "a.html")
    with pytest.raises(sc.ProblemError, match="problem must be a StageProblem, got str"):
        sc.save_report("gpt3-2.6b", result, tmp_path / "a.html")
    with pytest.raises(sc.PlanError):
        sc.save_report(problem, sc.Plan(result.plan.stages[1:]), tmp_path / "a.html")
    three = additive([1.0, 3.0, 2.0])
    best = sc.solve(three)
    with pytest.raises(sc.ProblemError, match="profile must have the problem's 3 layers, got 34"):
        sc.save_report(three, best, tmp_path / "a.html", profile=profile)
    with pytest.raises(sc.ProblemError, match="front must be a ParetoFront or None, got list"):
        sc.save_report(three, best, tmp_path / "a.html", front=[])
    with pytest.raises(sc.FormatError, match="cannot write"):
        sc.save_report(problem, result, tmp_path / "none" / "a.html")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("scale", [0.0, 1e-9, 1e9])
def test_costs_of_any_size(scale):
    problem = additive([scale, 3 * scale, 2 * scale])
    data = gather(problem, sc.solve(problem), **{**NOTHING, "front": sc.pareto_front(problem)})
    assert seconds_text(3 * scale) in page(data)
