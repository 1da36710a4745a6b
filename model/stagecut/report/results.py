"""Results of ``solve`` as text for people and as JSON for programs."""

import json
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any, TextIO

from rich.console import Console
from rich.table import Table
from rich.text import Text

from stagecut.evaluate import evaluate
from stagecut.formats.plan_file import plan_fields
from stagecut.plan import Plan, Stage
from stagecut.problem import StageProblem
from stagecut.report.text import printable
from stagecut.result import Result
from stagecut.worst_case import is_robust

WIDTH = 100
"""Columns of text where the output is not a terminal."""


def print_results(
    problem: StageProblem, name: str, results: Sequence[Result], agree: bool | None, file: TextIO
) -> None:
    """Print the best plan, then one line of proof per result."""
    console = Console(file=file, highlight=False, width=None if file.isatty() else WIDTH)
    console.print(problem_line(problem, name), markup=False)
    best = best_plan(results)
    if best is not None:
        console.print(stage_table(problem, best))
        console.print(objective_line(problem, best), markup=False, soft_wrap=True)
    console.print()
    console.print(proof_table(results))
    if agree is not None:
        console.print("the solvers agree" if agree else "the solvers DISAGREE", markup=False)


def problem_line(problem: StageProblem, name: str) -> str:
    """Return what a problem is, in one line."""
    return (
        f"{printable(name)}: {problem.num_layers} layers, {problem.num_devices} devices, "
        f"{problem.num_microbatches} micro-batches, objective {problem.objective}"
    )


def best_plan(results: Sequence[Result]) -> Plan | None:
    """Return the plan with the least objective, or ``None`` if no result has a plan."""
    found = [(r.objective, n) for n, r in enumerate(results) if r.objective is not None]
    return results[min(found)[1]].plan if found else None


def stage_table(problem: StageProblem, plan: Plan) -> Table:
    """Return a table with one row per stage, its time in milliseconds."""
    bottleneck = evaluate(problem, plan).bottleneck
    table = Table(box=None, pad_edge=False, header_style="bold")
    for heading in ("stage", "layers", "submesh", "config", "ms", "of bottleneck"):
        table.add_column(heading, justify="left" if heading == "layers" else "right")
    for index, stage in enumerate(plan.stages):
        share = stage.cost / bottleneck if bottleneck > 0 else 1.0
        table.add_row(
            str(index),
            Text(layers_text(problem, stage)),
            str(stage.submesh),
            str(stage.config),
            f"{stage.cost * 1e3:.6g}",
            f"{share:.1%}",
        )
    return table


def layers_text(problem: StageProblem, stage: Stage) -> str:
    """Return the range of a stage, with the names of its ends where there are names."""
    ends = f"{stage.first_layer}..{stage.last_layer}"
    if problem.layer_names is None:
        return ends
    first = printable(problem.layer_names[stage.first_layer])
    last = printable(problem.layer_names[stage.last_layer])
    return f"{ends} ({first})" if first == last else f"{ends} ({first} .. {last})"


def objective_line(problem: StageProblem, plan: Plan) -> str:
    """Return how the objective of a plan comes about.

    Examples
    --------
    >>> import stagecut as sc
    >>> problem = sc.StageProblem([[[1.0], [2.0]], [[1.0], [1.0]]], [(1, 1)], 2, 4)
    >>> objective_line(problem, sc.solve(problem).plan)
    'objective 5 s = total 2 s + 3 x bottleneck 1 s'
    """
    costs = evaluate(problem, plan)
    total, bottleneck = f"total {costs.total:.6g} s", f"bottleneck {costs.bottleneck:.6g} s"
    parts = {
        "training": f"{total} + {problem.num_microbatches - 1} x {bottleneck}",
        "bottleneck": f"{bottleneck} ({total})",
        "latency": f"{total} ({bottleneck})",
        "stages_times_bottleneck": f"{plan.num_stages} stages x {bottleneck} ({total})",
    }
    if is_robust(problem):
        slow = f"in the worst case of up to {problem.robustness} slow stages"
        return f"objective {costs.objective:.9g} s {slow} ({total}, {bottleneck})"
    return f"objective {costs.objective:.9g} s = {parts[problem.objective]}"


def proof_table(results: Sequence[Result]) -> Table:
    """Return a table with one row per result: engine, status, objective, bound, gap, time."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    for heading in ("engine", "status", "objective", "bound", "gap", "stopped by", "time"):
        table.add_column(heading, justify="left" if heading in ("engine", "status") else "right")
    for result in results:
        engine = (result.solver, result.formulation, result.strategy)
        table.add_row(
            "/".join(part for part in engine if part is not None),
            str(result.status),
            _known(result.objective, "{:.9g} s"),
            _known(result.bound, "{:.9g} s"),
            _known(result.gap, "{:.2%}"),
            "-" if result.limit is None else str(result.limit),
            _known(result.statistics.wall_seconds, "{:.3f} s"),
        )
    return table


def _known(value: float | None, form: str) -> str:
    return "-" if value is None else form.format(value)


def results_json(
    problem: StageProblem,
    name: str,
    results: Sequence[Result],
    agree: bool | None,
    why: Sequence[str] = (),
) -> str:
    """Return all results as one JSON object; unknown values are ``null``.

    ``why`` holds the causes that leave no plan.
    """
    value = {
        "problem": name,
        "objective": problem.objective,
        "agree": agree,
        "why_infeasible": list(why),
        "results": [_result_fields(problem, result) for result in results],
    }
    return json.dumps(value, indent=1, allow_nan=False)


def _result_fields(problem: StageProblem, result: Result) -> dict[str, Any]:
    costs = None if result.plan is None else evaluate(problem, result.plan)
    return {
        "solver": result.solver,
        "formulation": result.formulation,
        "strategy": result.strategy,
        "status": str(result.status),
        "objective": result.objective,
        "total": None if costs is None else costs.total,
        "bottleneck": None if costs is None else costs.bottleneck,
        "bound": result.bound,
        "gap": result.gap,
        "limit": None if result.limit is None else str(result.limit),
        "statistics": asdict(result.statistics),
        "plan": None if result.plan is None else plan_fields(result.plan),
    }
