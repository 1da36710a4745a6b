"""The registry of readers: one name per program."""

import inspect
from collections.abc import Callable
from typing import Any

from stagecut.costs import LayerProfile, stage_problem
from stagecut.errors import FormatError, ProblemError
from stagecut.formats.alpa import read_alpa
from stagecut.formats.dnn_partitioning import read_dnn_partitioning
from stagecut.formats.files import PathLike
from stagecut.formats.galvatron import read_galvatron
from stagecut.formats.huggingface import read_hf_config
from stagecut.formats.pipedream import read_pipedream
from stagecut.formats.piper import read_piper
from stagecut.formats.problem_file import load_problem
from stagecut.formats.sailor import read_sailor
from stagecut.problem import StageProblem

READERS: dict[str, Callable[..., StageProblem | LayerProfile]] = {
    "alpa": read_alpa,
    "dnn-partitioning": read_dnn_partitioning,
    "galvatron": read_galvatron,
    "huggingface": read_hf_config,
    "pipedream": read_pipedream,
    "piper": read_piper,
    "sailor": read_sailor,
    "stagecut": load_problem,
}


def read(path: PathLike, format: str, **options: Any) -> StageProblem:
    """Read a file of another program as a problem; see :func:`read_any` for the arguments.

    The problem of a layer profile is that of :func:`stagecut.costs.stage_problem`.
    """
    made = read_any(path, format, **options)
    return stage_problem(made) if isinstance(made, LayerProfile) else made


def read_any(path: PathLike, format: str, **options: Any) -> StageProblem | LayerProfile:
    """Read a file of another program as a problem, or as a layer profile where it holds one.

    Parameters
    ----------
    path
        The file.
    format
        ``"alpa"``, ``"dnn-partitioning"``, ``"galvatron"``, ``"huggingface"``, ``"pipedream"``,
        ``"piper"``, ``"sailor"``, or ``"stagecut"`` for our own.
    **options
        The reader's keyword arguments; see ``read_<format>`` in this package.

    Raises
    ------
    FormatError
        If the format is unknown, an option is missing or unknown, or the file cannot be read.
    """
    if format not in READERS:
        raise FormatError(f"format must be one of {', '.join(READERS)}, got {format!r}")
    reader = READERS[format]
    parameters = inspect.signature(reader).parameters
    try:
        inspect.signature(reader).bind(path, **options)
    except TypeError as error:
        names = ", ".join(name for name in parameters if name not in ("path", "changes"))
        raise FormatError(f"{format}: {error}; its options are {names or 'none'}") from None
    try:
        return reader(path, **options)
    except ProblemError as error:
        raise FormatError(f"{path}: {error}") from None
    except TypeError as error:
        raise FormatError(f"{format}: an option has the wrong type: {error}") from None
