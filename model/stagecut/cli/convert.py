"""``stagecut convert``: read another program's file, write ours."""

from typing import Annotated, Any

import typer

from stagecut.errors import FormatError


def convert(
    file: Annotated[str, typer.Argument(metavar="FILE", help="The file to read.")],
    source: Annotated[
        str,
        typer.Option(
            "--from",
            help="alpa, dnn-partitioning, galvatron, huggingface, pipedream, piper, sailor or "
            "stagecut.",
        ),
    ],
    output: Annotated[
        str, typer.Option("--output", "-o", help="The problem file to write, .json or .npz.")
    ],
    option: Annotated[
        list[str] | None,
        typer.Option(
            "--option",
            "-p",
            metavar="NAME=VALUE",
            help="An option of the reader, such as num_devices=8; values are JSON or plain text.",
        ),
    ] = None,
) -> None:
    """Read FILE as another program's profile and write it as a problem file.

    What galvatron and huggingface hold is written as a layer profile, which every command takes as
    well, unless the output ends in .npz.
    """
    from stagecut.costs import LayerProfile, stage_problem
    from stagecut.formats import read_any, save_problem, save_profile

    made = read_any(file, source, **dict(_pair(text) for text in option or []))
    problem = stage_problem(made) if isinstance(made, LayerProfile) else made
    if isinstance(made, LayerProfile) and output.endswith(".json"):
        save_profile(made, output)
    else:
        save_problem(problem, output)
    typer.echo(
        f"{output}: {problem.num_layers} layers, {len(problem.submeshes)} submeshes, "
        f"{problem.num_configs} configs, {problem.num_devices} devices"
    )


def _pair(text: str) -> tuple[str, Any]:
    """Split ``NAME=VALUE``; the value is JSON where it parses as such."""
    import json

    name, equals, value = text.partition("=")
    if not equals or not name.isidentifier():
        raise FormatError(f"--option must be NAME=VALUE, got {text!r}")
    try:
        return name, json.loads(value)
    except ValueError:
        return name, value
