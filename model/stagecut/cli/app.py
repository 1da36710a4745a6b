"""The commands, put together."""

from typing import Annotated

import typer

from stagecut.cli.check import check
from stagecut.cli.convert import convert
from stagecut.cli.examples import examples
from stagecut.cli.front import front
from stagecut.cli.model import model
from stagecut.cli.report import report
from stagecut.cli.solve import solve

UsageError: type[Exception] = typer.BadParameter.__mro__[2]
"""Base of the parser's own errors: unknown option, missing argument, wrong type."""

Abort: type[Exception] = typer.Abort
"""What the parser makes of an interrupt."""

app = typer.Typer(
    name="stagecut",
    help="Exact planning of pipeline stages.",
    epilog="Example: stagecut solve gpt3-2.6b",
    add_completion=False,
    no_args_is_help=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


def _version(wanted: bool) -> None:
    if wanted:
        from stagecut import __version__

        typer.echo(f"stagecut {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Plan pipeline stages exactly."""


app.command(epilog="Example: stagecut solve gpt3-2.6b --solver dp --solver highs")(solve)
app.command(epilog="Example: stagecut front gpt3-2.6b --plot front.png")(front)
app.command(epilog="Example: stagecut check problem.json plan.json")(check)
app.command(epilog="Example: stagecut model gpt3-2.6b -o model.mps")(model)
app.command(epilog="Example: stagecut convert profile.json --from piper -o problem.json")(convert)
app.command(epilog="Example: stagecut report gpt3-2.6b plan.json -o report.html")(report)
app.command(epilog="Example: stagecut examples")(examples)
