"""``stagecut front``: which plan for how many micro-batches."""

import sys
from typing import Annotated

import typer

from stagecut.cli.inputs import ProblemArgument, read_problem, refuse_unwritable, save_kept
from stagecut.errors import FormatError


def front(
    problem: ProblemArgument,
    num_devices: Annotated[int | None, typer.Option(help="Devices, D.")] = None,
    num_microbatches: Annotated[
        int | None, typer.Option(help="Micro-batches of the plan that --output writes.")
    ] = None,
    json: Annotated[
        bool, typer.Option("--json", help="Print the whole front as one JSON object.")
    ] = False,
    plot: Annotated[
        str | None, typer.Option(help="Draw the front into this file (.png, .svg, .pdf).")
    ] = None,
    output: Annotated[
        str | None,
        typer.Option("--output", "-o", help="Write the plan best for PROBLEM's micro-batches."),
    ] = None,
) -> None:
    """Find every plan of PROBLEM that none beats in total and bottleneck at once.

    Prints which of them to take for how many micro-batches. Exits with 1 if there is no plan.
    """
    from stagecut.front import pareto_front
    from stagecut.report.front import front_json, print_front
    from stagecut.report.front_figure import plot_front

    for path in (plot, output):
        if path is not None:
            refuse_unwritable(path)
    stated = read_problem(problem, num_devices=num_devices, num_microbatches=num_microbatches)
    found = pareto_front(stated)
    best = found.best(stated.num_microbatches)
    unsaved = save_kept(best.plan, output) if best is not None and output is not None else None
    if json:
        print(front_json(problem, found))
    else:
        print_front(stated, problem, found, sys.stdout)
    if unsaved is not None:
        raise unsaved
    if best is None:
        raise typer.Exit(1)
    if plot is not None:
        try:
            plot_front(found).savefig(plot)
        except ValueError as error:  # a format that matplotlib does not know
            raise FormatError(f"cannot draw {plot!r}: {error}") from None
