"""The front of total and bottleneck: which plan for how many micro-batches."""

from stagecut.front import MicrobatchRange, ParetoFront
from stagecut.report.front import range_text, stages_text
from stagecut.report.page.data import PageData
from stagecut.report.page.drawing import Columns, dots, new_figure, rule, texts
from stagecut.report.page.parts import Key, Picture, Section, Table
from stagecut.report.page.units import seconds_text, time_unit

LABELS = 14
"""Most points that are labelled."""


def front_section(data: PageData) -> Section | None:
    """Show every plan that no other beats in total and bottleneck at once."""
    if data.front is None or not data.front.points:
        return None
    count, ranges = len(data.front), data.front.ranges()
    lead = (
        f"{'One plan is' if count == 1 else f'{count} plans are'} not beaten in total and "
        f"bottleneck at once; {len(ranges)} of them {'is' if len(ranges) == 1 else 'are'} best for "
        "some number of micro-batches."
    )
    return Section("front", "Pareto front", lead, pictures=(_picture(data, data.front),))


def _picture(data: PageData, front: ParetoFront) -> Picture:
    across, across_unit = time_unit([point.total for point in front.points])
    up, up_unit = time_unit([point.bottleneck for point in front.points])
    totals = [point.total / across for point in front.points]
    bottlenecks = [point.bottleneck / up for point in front.points]
    here = data.costs.total / across, data.costs.bottleneck / up
    drawn = new_figure(
        340, x=_room([*totals, here[0]]), y=_room([*bottlenecks, here[1]]),
        labels=(f"total, {across_unit}", f"bottleneck, {up_unit}"),
    )  # fmt: skip
    drawn.ygrid.visible = True
    ranges = front.ranges()
    xs = [entry.point.total / across for entry in ranges]
    ys = [entry.point.bottleneck / up for entry in ranges]
    hull: Columns = {
        "x": xs,
        "y": ys,
        "text": [f"B {range_text(entry)}" for entry in ranges],
        **_told(ranges),
    }
    rule(drawn, xs, ys, "solid")
    dots(drawn, {"x": totals, "y": bottlenecks}, "stage", 7)
    dots(drawn, {"x": [here[0]], "y": [here[1]]}, "slowest", 17)
    dots(drawn, hull, "best", 10, ("micro-batches", "total", "bottleneck", "stages"))
    if len(ranges) <= LABELS:
        texts(drawn, hull, "ink", offset=(8, -6))
    return Picture(
        "picture-front", "Total and bottleneck",
        f"Scatter of {len(front)} plans, from the least total to the least bottleneck; this plan "
        f"has a total of {seconds_text(data.costs.total)} and a bottleneck of "
        f"{seconds_text(data.costs.bottleneck)}.",
        drawn, _table(ranges, data),
        (Key("slowest", "this plan"), Key("best", "best for some number of micro-batches, B"),
         Key("stage", "not beaten in both")),
    )  # fmt: skip


def _told(ranges: tuple[MicrobatchRange, ...]) -> dict[str, list[str]]:
    return {
        "micro-batches": [range_text(entry) for entry in ranges],
        "total": [seconds_text(entry.point.total) for entry in ranges],
        "bottleneck": [seconds_text(entry.point.bottleneck) for entry in ranges],
        "stages": [str(entry.point.plan.num_stages) for entry in ranges],
    }


def _table(ranges: tuple[MicrobatchRange, ...], data: PageData) -> Table:
    told = _told(ranges)
    plans = [stages_text(entry.point.plan) for entry in ranges]
    rows = tuple(zip(*told.values(), plans, strict=True))
    marked = frozenset(n for n, entry in enumerate(ranges) if entry.point.plan == data.plan)
    return Table("Which plan for how many micro-batches", (*told, "layers on submesh"), rows,
                 frozenset({4}), marked)  # fmt: skip


def _room(values: list[float]) -> tuple[float, float]:
    """Return a range around values, wider where all are the same."""
    low, high = min(values), max(values)
    margin = 0.12 * (high - low) or 0.1 * high or 1.0
    return low - margin, high + margin * 1.6
