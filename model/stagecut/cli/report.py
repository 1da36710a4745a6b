"""``stagecut report``: a plan as one page to look at."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from stagecut.cli.inputs import ProblemArgument, read_problem, read_profile, refuse_unwritable

if TYPE_CHECKING:
    from stagecut.front import ParetoFront
    from stagecut.problem import StageProblem


def report(
    problem: ProblemArgument,
    plan: Annotated[
        str | None,
        typer.Argument(metavar="[PLAN]", help="A plan file; without it PROBLEM is solved."),
    ] = None,
    output: Annotated[
        str, typer.Option("--output", "-o", help="Write the page to this file.")
    ] = "report.html",
    prove: Annotated[
        bool,
        typer.Option(
            "--prove", help="Solve PROBLEM as well, to say how far PLAN is from the best."
        ),
    ] = False,
    time_limit: Annotated[
        float | None, typer.Option(help="Seconds for solving; does not limit the front.")
    ] = None,
    front: Annotated[
        bool, typer.Option(help="Show which plan is best for how many micro-batches.")
    ] = True,
) -> None:
    """Write one HTML page about PLAN that needs no network.

    Exits with 1 if PROBLEM has no plan, or PLAN is not one of its plans.
    """
    from stagecut.errors import PlanError
    from stagecut.formats import load_plan
    from stagecut.report.page import save_report
    from stagecut.report.text import printable
    from stagecut.solve import solve

    refuse_unwritable(output)
    stated = read_problem(problem)
    given = None if plan is None else load_plan(plan)
    proof = solve(stated, time_limit=time_limit) if prove or given is None else None
    shown = given if given is not None or proof is None else proof.plan
    if shown is None:
        typer.echo(f"no plan to report: {printable(problem)} has none that is known")
        raise typer.Exit(1)
    try:
        save_report(
            stated, shown, output, name=_name(problem), proof=proof,
            front=_front(stated) if front else None, profile=read_profile(problem),
        )  # fmt: skip
    except PlanError as error:
        for violation in error.violations:
            typer.echo(printable(f"broken: {violation}"))
        raise typer.Exit(1) from None
    typer.echo(f"wrote {printable(output)}")


def _front(problem: "StageProblem") -> "ParetoFront | None":
    """Return the front; ``None`` for rules that the dynamic programme cannot state."""
    from stagecut.errors import UnsupportedError
    from stagecut.front import pareto_front

    try:
        return pareto_front(problem)
    except UnsupportedError:
        return None


def _name(problem: str) -> str:
    """Return the name of an example, or of a file without its folder and kind."""
    return Path(problem).name.removesuffix(".json").removesuffix(".npz")
