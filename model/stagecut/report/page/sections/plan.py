"""The plan: layers across, devices down."""

from itertools import accumulate
from typing import Any

from stagecut.report.page.data import PageData
from stagecut.report.page.drawing import Columns, boxes, by_columns, label_rows, new_figure, texts
from stagecut.report.page.parts import Key, Picture, Section, Table
from stagecut.report.page.units import seconds_text, share_text
from stagecut.report.results import layers_text

LABELLED_SHARE = 0.03
"""Smallest share of the height at which the number of a stage fits into its block."""

OPENED_ROWS = 16
"""Most stages whose table is open from the start."""

DEVICE_LABELS = 12
"""About the most labels along the devices."""


def plan_section(data: PageData) -> Section:
    """Show which layers run on which devices."""
    return Section("plan", "Plan", "Which layers run as which stage, on how many devices.",
                   pictures=(_picture(data),))  # fmt: skip


def _picture(data: PageData) -> Picture:
    problem, plan = data.problem, data.plan
    sizes = [stage.submesh.size for stage in plan.stages]
    tops = [0, *accumulate(sizes)]
    height = min(120 + 44 * plan.num_stages, 460)
    drawn = new_figure(
        height, x=(-0.5, problem.num_layers - 0.5), y=(problem.num_devices, 0),
        labels=("layer", "device"),
    )  # fmt: skip
    for role, members in stage_roles(data).items():
        rows = [_block(data, s, tops[s]) for s in members]
        boxes(drawn, by_columns(rows), role, ("stage", "layers", "submesh", "time"))
    texts(drawn, _numbers(data, tops), "on-fill")
    step = max(1, 2 ** (max(problem.num_devices // DEVICE_LABELS, 1) - 1).bit_length())
    label_rows(drawn, {tick: str(tick) for tick in range(0, problem.num_devices + 1, step)})
    return Picture(
        "picture-plan",
        "Layers and devices",
        f"Picture of {plan.num_stages} stages as blocks, layers 0 to {problem.num_layers - 1} from "
        f"left to right, {plan.num_devices} devices from top to bottom.",
        drawn,
        stage_table(data),
        (Key("stage", "stage"), Key("slowest", "slowest stage")),
        opened=plan.num_stages <= OPENED_ROWS,
    )


def slowest(data: PageData) -> frozenset[int]:
    """Return the stages that take the longest of all."""
    most = max(stage.cost for stage in data.plan.stages)
    return frozenset(s for s, stage in enumerate(data.plan.stages) if stage.cost == most)


def stage_roles(data: PageData, role: str = "stage") -> dict[str, list[int]]:
    """Return the stages drawn in each colour; no colour without a stage."""
    marked = slowest(data)
    others = [s for s in range(data.plan.num_stages) if s not in marked]
    return {role: others, "slowest": sorted(marked)} if others else {"slowest": sorted(marked)}


def _block(data: PageData, s: int, top: int) -> dict[str, Any]:
    """Return what is drawn and told of one stage."""
    stage = data.plan.stages[s]
    return {
        "left": stage.first_layer - 0.5,
        "right": stage.last_layer + 0.5,
        "top": top,
        "bottom": top + stage.submesh.size,
        "stage": s,
        "layers": layers_text(data.problem, stage),
        "submesh": str(stage.submesh),
        "time": seconds_text(stage.cost),
    }


def _numbers(data: PageData, tops: list[int]) -> Columns:
    """Return the numbers of stages whose blocks are large enough."""
    stages = data.plan.stages
    least = LABELLED_SHARE * data.problem.num_devices
    shown = [s for s, stage in enumerate(stages) if stage.submesh.size >= least]
    return {
        "x": [(stages[s].first_layer + stages[s].last_layer) / 2 for s in shown],
        "y": [(tops[s] + tops[s + 1]) / 2 for s in shown],
        "text": [str(s) for s in shown],
    }


def stage_table(data: PageData) -> Table:
    """Return one row per stage."""
    plan = data.plan
    most = max(stage.cost for stage in plan.stages)
    rows = tuple(
        (
            str(s),
            layers_text(data.problem, stage),
            str(stage.num_layers),
            str(stage.submesh),
            str(stage.submesh.size),
            str(stage.config),
            seconds_text(stage.cost),
            share_text(stage.cost / most if most > 0 else 1.0),
        )
        for s, stage in enumerate(plan.stages)
    )
    headings = ("stage", "layers", "count", "submesh", "devices", "config", "time", "of slowest")
    return Table("Stages of the plan", headings, rows, frozenset({1, 3}), slowest(data))
