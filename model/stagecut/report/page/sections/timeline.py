"""The pipeline over time, as the objective counts it: micro-batches in order through every stage.

Micro-batch ``b`` enters stage ``s`` when the stage before has sent it and the stage has finished
``b - 1``; the last one leaves after ``total + (B - 1) x bottleneck``.
"""

from typing import Any

from stagecut.report.page.data import PageData
from stagecut.report.page.drawing import boxes, by_columns, label_rows, new_figure
from stagecut.report.page.parts import Key, Picture, Section, Table
from stagecut.report.page.sections.plan import stage_roles
from stagecut.report.page.sections.stages import row_labels
from stagecut.report.page.units import seconds_text, time_unit

MOST_BARS = 1500
"""Bars in one picture."""

TABLE_ROWS = 200

Step = tuple[int, int, float, float]
"""Stage, micro-batch, start and end in seconds."""


def line_steps(data: PageData, count: int) -> list[Step]:
    """Return the steps of the first micro-batches, by micro-batch and stage."""
    free = [0.0] * data.plan.num_stages
    steps: list[Step] = []
    for batch in range(count):
        arrival = 0.0
        for s, stage in enumerate(data.plan.stages):
            start = max(arrival, free[s])
            arrival = free[s] = start + stage.cost
            steps.append((s, batch, start, free[s]))
    return steps


def timeline_section(data: PageData) -> Section | None:
    """Show when each stage works on which micro-batch."""
    if data.problem.transfers is not None:
        return None
    every, stages = data.problem.num_microbatches, data.plan.num_stages
    shown = max(1, min(every, MOST_BARS // stages))
    part = "" if shown == every else f", the first {shown} of {every} micro-batches"
    return Section(
        "timeline", "Pipeline timeline",
        f"When each stage works on which micro-batch, as the objective counts it{part}.",
        pictures=(_picture(data, shown),),
    )  # fmt: skip


def _picture(data: PageData, count: int) -> Picture:
    steps, stages = line_steps(data, count), data.plan.num_stages
    end = steps[-1][3]
    first = min(end, max(step[3] for step in steps if step[1] < 2 * stages + 8))
    scale, unit = time_unit([first])
    whole = end / scale or 1.0
    drawn = new_figure(
        min(110 + 30 * stages, 560), x=(0, first / scale or 1.0), y=(stages - 0.4, -0.6),
        labels=(unit, None), moves_within=(0, whole),
    )  # fmt: skip
    for role, members in stage_roles(data).items():
        mine = [_box(step, scale) for step in steps if step[0] in members]
        boxes(drawn, by_columns(mine), role, ("micro-batch", "stage", "start", "end"))
    label_rows(drawn, row_labels(data))
    return Picture(
        "picture-timeline", "Stages over time",
        f"Timeline of {stages} stages over {count} micro-batches, which end after "
        f"{seconds_text(end)}.",
        drawn, _table(steps), (Key("stage", "stage at work"), Key("slowest", "slowest stage")),
        zooms=True,
    )  # fmt: skip


def _box(step: Step, scale: float) -> dict[str, Any]:
    """Return what is drawn and told of one step."""
    stage, batch, start, end = step
    return {
        "left": start / scale,
        "right": end / scale,
        "top": stage - 0.38,
        "bottom": stage + 0.38,
        "micro-batch": batch,
        "stage": stage,
        "start": seconds_text(start),
        "end": seconds_text(end),
    }


def _table(steps: list[Step]) -> Table:
    rows = tuple(
        (str(batch), str(stage), seconds_text(start), seconds_text(end))
        for stage, batch, start, end in steps[:TABLE_ROWS]
    )
    cut = "" if len(steps) <= TABLE_ROWS else f", the first {TABLE_ROWS} of {len(steps):,}"
    return Table(f"Steps of the pipeline{cut}", ("micro-batch", "stage", "start", "end"), rows,
                 frozenset())  # fmt: skip
