"""``stagecut solve``: find the best plan, and say how far it is proven."""

import sys
from typing import Annotated, Any

import typer

from stagecut.cli.inputs import ProblemArgument, read_problem
from stagecut.result import Result

AGREEMENT = 1e-6
"""Relative difference between objectives of two solvers that counts as agreement."""


def solve(
    problem: ProblemArgument,
    solver: Annotated[
        list[str] | None,
        typer.Option(help="auto, dp, highs, scip, ...; give it twice to compare two."),
    ] = None,
    formulation: Annotated[str, typer.Option(help="Formulation for MILP solvers.")] = "auto",
    strategy: Annotated[str, typer.Option(help="Strategy for MILP solvers.")] = "auto",
    objective: Annotated[
        str | None,
        typer.Option(help="training, bottleneck, latency or stages_times_bottleneck."),
    ] = None,
    num_devices: Annotated[int | None, typer.Option(help="Devices, D.")] = None,
    num_microbatches: Annotated[int | None, typer.Option(help="Micro-batches, B.")] = None,
    time_limit: Annotated[float | None, typer.Option(help="Seconds for each solver.")] = None,
    threads: Annotated[int | None, typer.Option(help="Threads for MILP solvers.")] = None,
    log: Annotated[bool, typer.Option("--log", help="Print the MILP solver's own log.")] = False,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
    output: Annotated[
        str | None, typer.Option("--output", "-o", help="Write the plan to this JSON file.")
    ] = None,
) -> None:
    """Find the best plan of PROBLEM.

    Exits with 1 if there is no plan, or if two solvers disagree. Ctrl-C ends the search; the best
    plan so far is printed and marked feasible.
    """
    from stagecut.cli.progress import shown_progress
    from stagecut.formats import save_plan
    from stagecut.report.results import best_plan, print_results, results_json
    from stagecut.solve import solve as solve_problem

    stated = read_problem(
        problem, objective=objective, num_devices=num_devices, num_microbatches=num_microbatches
    )
    names = solver or ["auto"]
    results = []
    for name in names:
        options: dict[str, Any] = {}
        if name != "dp" or len(names) == 1:
            options = {"formulation": formulation, "strategy": strategy, "log": log}
        with shown_progress(name) as progress:
            result = solve_problem(
                stated,
                solver=name,
                time_limit=time_limit,
                threads=threads,
                progress=progress,
                **options,
            )
        results.append(result)
    best, agree = best_plan(results), _agree(results)
    if output is not None and best is not None:
        save_plan(best, output)
    if json:
        print(results_json(stated, problem, results, agree))
    else:
        print_results(stated, problem, results, agree, sys.stdout)
    if best is None or agree is False:
        raise typer.Exit(1)


def _agree(results: list[Result]) -> bool | None:
    """Whether all proofs say the same; ``None`` with fewer than two proofs."""
    proven = [r for r in results if r.status in ("optimal", "infeasible")]
    if len(proven) < 2:
        return None
    values = [r.objective for r in proven if r.objective is not None]
    if len(values) < len(proven):
        return not values
    return max(values) - min(values) <= AGREEMENT * max(values)
