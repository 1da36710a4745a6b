"""Models as MPS or LP files, for solvers that read those."""

import tempfile
from pathlib import Path

from stagecut.errors import FormatError
from stagecut.formats.files import PathLike, read_text, write_text
from stagecut.formulations.built import BuiltModel

COMMENTS = {".mps": "*", ".lp": "\\"}
"""File types by suffix, and what starts a line of comment in each."""


def save_model(built: BuiltModel, path: PathLike) -> None:
    r"""Write a model as MPS or LP, by the suffix of ``path``.

    Its first line is a comment that says how many seconds one unit of cost is. Names are those of
    the model: ``x_<first>_<last>_<submesh>_<config>`` for stages.

    Parameters
    ----------
    built
        The model, as :func:`stagecut.build` makes it, with whatever rows were added.
    path
        A file name that ends in ``.mps`` or ``.lp``.

    Raises
    ------
    FormatError
        If it ends in something else, or cannot be written.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import stagecut as sc
    >>> problem = sc.StageProblem([[[1.0], [4.0]], [[4.0], [2.0]]], [(1, 1)], 2, 4)
    >>> path = Path(tempfile.mkdtemp()) / "model.lp"
    >>> sc.save_model(sc.build(problem), path)
    >>> print(path.read_text().splitlines()[0])
    \ stagecut: formulation range, costs in units of 2.0 seconds
    """
    kind = Path(path).suffix.lower()
    if kind not in COMMENTS:
        raise FormatError(f"cannot write {path}: a model's file must end in .mps or .lp")
    with tempfile.TemporaryDirectory() as folder:
        scratch = Path(folder) / f"model{kind}"
        write = built.model.writeMPS if kind == ".mps" else built.model.writeLP
        write(str(scratch))
        text = read_text(scratch)
    head = f"stagecut: formulation {built.model.name}, costs in units of {built.scale!r} seconds"
    write_text(path, f"{COMMENTS[kind]} {head}\n{text}")
