"""``stagecut solve``: find the best plan, and say how far it is proven."""

import sys
from typing import Annotated, Any

import typer

from stagecut.cli.inputs import (
    ProblemArgument,
    read_problem,
    read_profile,
    refuse_unwritable,
    save_kept,
)
from stagecut.cli.ranking import list_plans
from stagecut.problem import StageProblem
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
    count: Annotated[
        int | None, typer.Option(min=1, help="List this many of the best plans, by the dp solver.")
    ] = None,
    log: Annotated[bool, typer.Option("--log", help="Print the MILP solver's own log.")] = False,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
    output: Annotated[
        str | None, typer.Option("--output", "-o", help="Write the plan to this JSON file.")
    ] = None,
) -> None:
    """Find the best plan of PROBLEM.

    Exits with 1 if there is no plan, and says why, or if two solvers disagree. Ctrl-C ends the
    search: the best plan so far is printed and marked feasible, with exit code 0, or 130 if there
    is none yet.
    """
    from stagecut.report.results import best_plan, print_results, results_json
    from stagecut.report.text import printable

    if log and json:
        raise typer.BadParameter("--log and --json both write to standard output; give one of them")
    if output is not None:
        refuse_unwritable(output)
    stated = read_problem(
        problem, objective=objective, num_devices=num_devices, num_microbatches=num_microbatches
    )
    limits = {"time_limit": time_limit, "threads": threads}
    milp = {"formulation": formulation, "strategy": strategy, "log": log}
    if count is not None:
        _refuse_beside_count(solver, {**limits, **milp})
        list_plans(stated, problem, count, json=json, output=output)
        return
    results = _solve_with(solver or ["auto"], stated, limits, milp)
    best, agree = best_plan(results), _agree(results)
    unsaved = None if output is None or best is None else save_kept(best, output)
    why = _explain(stated, problem, time_limit) if _infeasible(results) else ()
    if json:
        print(results_json(stated, problem, results, agree, why))
    else:
        print_results(stated, problem, results, agree, sys.stdout)
        for line in why:
            print(printable(f"no plan: {line}"))
    if unsaved is not None:
        raise unsaved
    if best is None and results[-1].limit == "interrupt":
        raise typer.Exit(130)
    if best is None or agree is False:
        raise typer.Exit(1)


EXPLAIN_SECONDS = 30.0
"""Time for each question of an explanation, where the user sets none."""


def _infeasible(results: list[Result]) -> bool:
    return all(result.status == "infeasible" for result in results)


def _explain(problem: StageProblem, name: str, time_limit: float | None) -> tuple[str, ...]:
    """Return one line for each cause that leaves no plan."""
    from stagecut.explain import explain_infeasibility

    seconds = EXPLAIN_SECONDS if time_limit is None else time_limit
    explanation = explain_infeasibility(problem, profile=read_profile(name), time_limit=seconds)
    return tuple(map(str, explanation.causes))


def _refuse_beside_count(solvers: list[str] | None, options: dict[str, Any]) -> None:
    """Raise if options are given that listing several plans has no use for."""
    unused = {"time_limit": None, "threads": None, "formulation": "auto", "strategy": "auto"}
    given = [name for name, value in options.items() if value != unused.get(name, False)]
    given += [f"solver {name}" for name in solvers or [] if name not in ("auto", "dp")]
    if given:
        shown = ", ".join("--" + name.replace("_", "-") for name in given)
        raise typer.BadParameter(
            f"--count lists plans by the dynamic programme, which takes no {shown}; leave it out"
        )


def _solve_with(
    solvers: list[str], problem: StageProblem, limits: dict[str, Any], milp: dict[str, Any]
) -> list[Result]:
    """Solve with each solver in turn, until Ctrl-C; ``milp`` is not for "dp" among several."""
    from stagecut.cli.progress import shown_progress
    from stagecut.solve import solve as solve_problem

    results = []
    for name in solvers:
        options = limits if name == "dp" and len(solvers) > 1 else {**limits, **milp}
        with shown_progress(name) as progress:
            result = solve_problem(problem, solver=name, progress=progress, **options)
        results.append(result)
        if result.limit == "interrupt":
            break
    return results


def _agree(results: list[Result]) -> bool | None:
    """Whether all proofs say the same; ``None`` with fewer than two proofs."""
    proven = [r for r in results if r.status in ("optimal", "infeasible")]
    if len(proven) < 2:
        return None
    values = [r.objective for r in proven if r.objective is not None]
    if len(values) < len(proven):
        return not values
    return max(values) - min(values) <= AGREEMENT * max(values)
