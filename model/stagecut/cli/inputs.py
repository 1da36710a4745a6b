"""Arguments that several commands share."""

from pathlib import Path
from typing import Annotated, Any

import typer

from stagecut.errors import FormatError
from stagecut.problem import StageProblem

ProblemArgument = Annotated[
    str, typer.Argument(metavar="PROBLEM", help="A problem file, or the name of an example.")
]


def read_problem(name: str, **changes: Any) -> StageProblem:
    """Read a problem file or a packaged example; ``None`` among ``changes`` means "as it is".

    Raises
    ------
    FormatError
        If ``name`` is neither, or the file is not a problem.
    """
    from stagecut.examples import example_names, example_path
    from stagecut.formats import load_problem

    given = {key: value for key, value in changes.items() if value is not None}
    if name in example_names() and not Path(name).exists():
        return load_problem(example_path(name), **given)
    if not Path(name).exists():
        raise FormatError(
            f"there is no file {name!r} and no example of that name; "
            f"examples: {', '.join(example_names())}"
        )
    return load_problem(name, **given)
