"""``stagecut check``: hold a plan against its problem."""

from typing import Annotated

import typer

from stagecut.cli.inputs import ProblemArgument, read_problem


def check(
    problem: ProblemArgument,
    plan: Annotated[str, typer.Argument(metavar="PLAN", help="A plan file.")],
) -> None:
    """Say whether PLAN is a plan of PROBLEM and what it costs; exit with 1 and why if not."""
    from stagecut.errors import PlanError
    from stagecut.evaluate import evaluate
    from stagecut.formats import load_plan
    from stagecut.report.text import printable

    stated, given = read_problem(problem), load_plan(plan)
    try:
        costs = evaluate(stated, given)
    except PlanError as error:
        for violation in error.violations:
            typer.echo(printable(f"broken: {violation}"))
        raise typer.Exit(1) from None
    typer.echo(
        f"valid: objective {costs.objective:.9g} s ({stated.objective}), "
        f"bottleneck {costs.bottleneck:.9g} s, total {costs.total:.9g} s, "
        f"{given.num_stages} stages on {given.num_devices} devices"
    )
