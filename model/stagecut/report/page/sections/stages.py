"""Stage times, and memory against what a device has."""

from collections.abc import Sequence

from bokeh import plotting

from stagecut.report.page.data import PageData
from stagecut.report.page.drawing import boxes, by_columns, label_rows, new_figure, rule
from stagecut.report.page.parts import Fact, Key, Picture, Section, Table
from stagecut.report.page.sections.plan import slowest
from stagecut.report.page.units import (
    byte_unit,
    bytes_text,
    seconds_text,
    share_text,
    time_unit,
)

LABELS = 24
"""Most stages whose rows are labelled one by one."""


def stages_section(data: PageData) -> Section:
    """Show how even the stages are, and how full their devices."""
    memory = data.stage_memory
    pictures = [_time_picture(data)]
    if memory is not None:
        pictures.append(_memory_picture(data, memory))
    times = [stage.cost for stage in data.plan.stages]
    most = max(times)
    even = sum(times) / (len(times) * most) if most > 0 else 1.0
    facts = [Fact("Balance", share_text(even), "mean stage time over the slowest")]
    notes = []
    if memory is not None and data.profile is not None:
        fullest = max(memory)
        capacity = data.profile.cluster.memory_bytes
        facts.append(
            Fact("Fullest device", bytes_text(fullest),
                 f"{share_text(fullest / capacity)} of {bytes_text(capacity)}")
        )  # fmt: skip
    else:
        notes.append("Memory is not shown: it is known only where the layer profile is given.")
    return Section(
        "stages", "Stage times and memory", "How even the stages are, and how full their devices.",
        facts=tuple(facts), pictures=tuple(pictures), notes=tuple(notes),
    )  # fmt: skip


def _time_picture(data: PageData) -> Picture:
    times = [stage.cost for stage in data.plan.stages]
    scale, unit = time_unit(times)
    marked = slowest(data)
    told = [seconds_text(time) for time in times]
    figure = _bars(data, [time / scale for time in times], marked, told, f"{unit} per micro-batch")
    rows = tuple((str(s), str(stage.submesh), told[s]) for s, stage in enumerate(data.plan.stages))
    table = Table("Time of each stage", ("stage", "submesh", "time"), rows, frozenset({1}), marked)
    return Picture(
        "picture-times", "Time per micro-batch",
        f"Bars of the times of {len(times)} stages, from {seconds_text(min(times))} to "
        f"{seconds_text(max(times))}.",
        figure, table, (Key("stage", "stage"), Key("slowest", "slowest stage")),
    )  # fmt: skip


def _memory_picture(data: PageData, memory: Sequence[float]) -> Picture:
    assert data.profile is not None
    capacity = data.profile.cluster.memory_bytes
    scale, unit = byte_unit([*memory, capacity])
    over = frozenset(s for s, held in enumerate(memory) if held > capacity)
    told = [bytes_text(held) for held in memory]
    figure = _bars(data, [held / scale for held in memory], over, told, f"{unit} per device",
                   capacity / scale, "memory")  # fmt: skip
    rows = tuple((str(s), told[s], share_text(held / capacity)) for s, held in enumerate(memory))
    table = Table("Memory of each stage", ("stage", "per device", "of capacity"), rows,
                  frozenset(), over)  # fmt: skip
    legend = [Key("memory", "held by a device"), Key("rule", f"capacity {bytes_text(capacity)}")]
    if over:
        legend.insert(1, Key("slowest", "above capacity"))
    return Picture(
        "picture-memory", "Memory per device",
        f"Bars of the memory of {len(memory)} stages, at most {bytes_text(max(memory))} of "
        f"{bytes_text(capacity)}.",
        figure, table, tuple(legend),
    )  # fmt: skip


def _bars(
    data: PageData,
    values: Sequence[float],
    marked: frozenset[int],
    told: Sequence[str],
    label: str,
    limit: float | None = None,
    role: str = "stage",
) -> plotting.figure:
    """Draw one bar per stage, and a line at ``limit``, by default at the longest bar."""
    count = len(values)
    at = max(values) if limit is None else limit
    longest = max(*values, at) or 1.0
    drawn = new_figure(
        min(100 + 26 * count, 520), x=(0, longest * 1.04), y=(count - 0.4, -0.6),
        labels=(label, None),
    )  # fmt: skip
    others = [s for s in range(count) if s not in marked]
    for fill, members in ((role, others), ("slowest", sorted(marked))):
        rows = [
            {
                "left": 0.0,
                "right": values[s],
                "top": s - 0.36,
                "bottom": s + 0.36,
                "stage": s,
                "submesh": str(data.plan.stages[s].submesh),
                "value": told[s],
            }
            for s in members
        ]
        if rows:
            boxes(drawn, by_columns(rows), fill, ("stage", "submesh", "value"))
    rule(drawn, (at, at), (-0.6, count - 0.4), "dashed")
    label_rows(drawn, row_labels(data))
    return drawn


def row_labels(data: PageData) -> dict[int, str]:
    """Return labels of rows, one per stage, as many as fit."""
    stages = data.plan.stages
    step = -(-len(stages) // LABELS)
    return {s: f"{s} · {stages[s].submesh}" for s in range(0, len(stages), step)}
