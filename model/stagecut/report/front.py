"""The front of total and bottleneck: which plan for how many micro-batches."""

import itertools
import json
from collections.abc import Iterable
from typing import Any, TextIO

from rich.console import Console
from rich.table import Table
from rich.text import Text

from stagecut.formats.plan_file import plan_fields
from stagecut.front import MicrobatchRange, ParetoFront
from stagecut.plan import Plan
from stagecut.problem import StageProblem
from stagecut.report.results import WIDTH
from stagecut.report.text import printable


def print_front(problem: StageProblem, name: str, front: ParetoFront, file: TextIO) -> None:
    """Print the table "which plan for how many micro-batches"."""
    console = Console(file=file, highlight=False, width=None if file.isatty() else WIDTH)
    console.print(
        f"{printable(name)}: {problem.num_layers} layers, {problem.num_devices} devices",
        markup=False,
    )
    if not front.points:
        console.print("no plan exists", markup=False)
        return
    ranges = front.ranges()
    points = "1 point" if len(front) == 1 else f"{len(front)} points"
    console.print(
        f"{points} on the front of total and bottleneck, {len(ranges)} best for some number of "
        "micro-batches",
        markup=False,
        soft_wrap=True,
    )
    console.print(front_table(ranges))


def front_table(ranges: Iterable[MicrobatchRange]) -> Table:
    """Return a table with one row per plan that is best for some number of micro-batches."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    for heading in ("micro-batches", "total s", "bottleneck ms", "devices", "layers on submesh"):
        table.add_column(heading, justify="left" if heading.startswith("layers") else "right")
    for entry in ranges:
        table.add_row(
            range_text(entry),
            f"{entry.point.total:.6g}",
            f"{entry.point.bottleneck * 1e3:.6g}",
            str(entry.point.plan.num_devices),
            Text(stages_text(entry.point.plan)),
        )
    return table


def range_text(entry: MicrobatchRange) -> str:
    """Return the numbers of micro-batches as text: ``4``, ``1..3`` or ``5..``."""
    if entry.first == entry.last:
        return str(entry.first)
    return f"{entry.first}.." + ("" if entry.last is None else str(entry.last))


def stages_text(plan: Plan) -> str:
    """Return the stages in short, equal neighbours together.

    Examples
    --------
    >>> import stagecut as sc
    >>> shape = sc.Submesh(1, 2)
    >>> stages_text(sc.Plan((sc.Stage(0, 3, shape, 0, 1.0), sc.Stage(4, 7, shape, 0, 1.0))))
    '2 x (4 on 1x2)'
    """
    parts = [f"{stage.num_layers} on {stage.submesh}" for stage in plan.stages]
    runs = [(len(list(run)), part) for part, run in itertools.groupby(parts)]
    return ", ".join(part if count == 1 else f"{count} x ({part})" for count, part in runs)


def front_json(name: str, front: ParetoFront) -> str:
    """Return the whole front, and which point is best for which ``B``, as one JSON object."""
    place = {id(point): index for index, point in enumerate(front.points)}
    value: dict[str, Any] = {
        "problem": name,
        "points": [
            {
                "total": point.total,
                "bottleneck": point.bottleneck,
                "plan": plan_fields(point.plan),
            }
            for point in front.points
        ],
        "ranges": [
            {"first": entry.first, "last": entry.last, "point": place[id(entry.point)]}
            for entry in front.ranges()
        ],
    }
    return json.dumps(value, indent=1, allow_nan=False)
