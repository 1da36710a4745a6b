"""``stagecut model``: write the mixed-integer program of a problem."""

from typing import Annotated

import typer

from stagecut.cli.inputs import ProblemArgument, read_problem, refuse_unwritable


def model(
    problem: ProblemArgument,
    output: Annotated[str, typer.Option("--output", "-o", help="The file to write, .mps or .lp.")],
    formulation: Annotated[str, typer.Option(help="Formulation.")] = "range",
    objective: Annotated[
        str | None,
        typer.Option(help="training, bottleneck, latency or stages_times_bottleneck."),
    ] = None,
    num_devices: Annotated[int | None, typer.Option(help="Devices, D.")] = None,
    num_microbatches: Annotated[int | None, typer.Option(help="Micro-batches, B.")] = None,
) -> None:
    """Write PROBLEM as a mixed-integer program that other solvers read."""
    from stagecut.building import build
    from stagecut.formats import save_model

    refuse_unwritable(output)
    stated = read_problem(
        problem, objective=objective, num_devices=num_devices, num_microbatches=num_microbatches
    )
    built = build(stated, formulation)
    save_model(built, output)
    typer.echo(
        f"{output}: {built.model.numConstraints()} rows, {built.model.numVariables()} columns, "
        f"costs in units of {built.scale:.9g} s"
    )
