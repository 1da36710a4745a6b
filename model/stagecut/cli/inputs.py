"""Arguments that several commands share."""

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from stagecut.errors import FormatError, StagecutError
from stagecut.plan import Plan
from stagecut.problem import StageProblem

if TYPE_CHECKING:
    from stagecut.costs import LayerProfile

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
    if _exists(name):
        return load_problem(name, **given)
    if name not in example_names():
        shown = name if len(name) <= 80 else name[:77] + "..."
        raise FormatError(
            f"there is no file {shown!r} and no example of that name; "
            f"examples: {', '.join(example_names())}"
        )
    return load_problem(example_path(name), **given)


def read_profile(name: str) -> "LayerProfile | None":
    """Return the layer profile that a file or example holds, ``None`` where it is not one."""
    from stagecut.examples import example_path
    from stagecut.formats import load_profile

    try:
        return load_profile(name if _exists(name) else example_path(name))
    except StagecutError:
        return None


def refuse_unwritable(path: str) -> None:
    """Raise before a long search if its plan could not be written for a plain reason.

    Raises
    ------
    FormatError
        If ``path`` is a folder, or lies in a folder that is not there or not writable.
    """
    target = Path(path)
    try:
        if target.is_dir():
            raise FormatError(f"cannot write {path!r}: it is a folder; give the name of a file")
        if not target.parent.is_dir():
            raise FormatError(f"cannot write {path!r}: there is no folder {str(target.parent)!r}")
        if not target.exists() and not os.access(target.parent, os.W_OK):
            raise FormatError(f"cannot write {path!r}: its folder is not writable")
    except (OSError, ValueError) as error:
        if isinstance(error, FormatError):
            raise
        raise FormatError(f"cannot write {path!r}: {error}") from None


def save_kept(plan: Plan, path: str) -> FormatError | None:
    """Save a plan; a failure is returned, so that the plan can be printed before it is told."""
    from stagecut.formats import save_plan

    try:
        save_plan(plan, path)
    except FormatError as error:
        return error
    return None


def _exists(name: str) -> bool:
    """Whether a file has this name; names that no file can have count as no."""
    try:
        return name != "" and Path(name).exists()
    except (OSError, ValueError):
        return False
