"""The best plans in order, as text for people and as JSON for programs."""

import json
from collections.abc import Sequence
from typing import TextIO

from rich.console import Console
from rich.table import Table
from rich.text import Text

from stagecut.evaluate import evaluate
from stagecut.formats.plan_file import plan_fields
from stagecut.many import RankedPlan
from stagecut.problem import StageProblem
from stagecut.report.front import stages_text
from stagecut.report.results import WIDTH, problem_line


def print_ranking(
    problem: StageProblem, name: str, ranked: Sequence[RankedPlan], file: TextIO
) -> None:
    """Print one line per plan, the best one first."""
    console = Console(file=file, highlight=False, width=None if file.isatty() else WIDTH)
    console.print(problem_line(problem, name), markup=False)
    console.print(ranking_table(problem, ranked) if ranked else "no plan exists", markup=False)


def ranking_table(problem: StageProblem, ranked: Sequence[RankedPlan]) -> Table:
    """Return a table with one row per plan and what it costs more than the best."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    for heading in ("plan", "objective", "over best", "total s", "bottleneck ms", "stages"):
        table.add_column(heading, justify="left" if heading == "stages" else "right")
    for index, entry in enumerate(ranked):
        costs = evaluate(problem, entry.plan)
        table.add_row(
            str(index + 1),
            f"{entry.objective:.9g} s",
            over_text(entry.objective, ranked[0].objective),
            f"{costs.total:.6g}",
            f"{costs.bottleneck * 1e3:.6g}",
            Text(stages_text(entry.plan)),
        )
    return table


def over_text(objective: float, best: float) -> str:
    """Return what an objective costs more than the best one.

    Examples
    --------
    >>> over_text(1.05, 1.0), over_text(0.0, 0.0)
    ('5.0000%', '0.0000%')
    """
    return f"{(objective - best) / best if best > 0 else 0.0:.4%}"


def ranking_json(problem: StageProblem, name: str, ranked: Sequence[RankedPlan]) -> str:
    """Return all plans as one JSON object."""
    plans = []
    for entry in ranked:
        costs = evaluate(problem, entry.plan)
        plans.append(
            {
                "objective": entry.objective,
                "total": costs.total,
                "bottleneck": costs.bottleneck,
                "plan": plan_fields(entry.plan),
            }
        )
    value = {"problem": name, "objective": problem.objective, "plans": plans}
    return json.dumps(value, indent=1, allow_nan=False)
