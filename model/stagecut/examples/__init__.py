"""Packaged examples: published models on named devices, as small layer profiles.

The files beside this module are written by ``python -m stagecut.examples.regenerate``.
"""

from pathlib import Path
from typing import Any

from stagecut.costs import LayerProfile
from stagecut.errors import ProblemError
from stagecut.examples.catalogue import BUILDERS
from stagecut.formats import load_problem, load_profile
from stagecut.problem import StageProblem

__all__ = ["example_names", "example_path", "load_example", "load_example_profile"]


def example_names() -> tuple[str, ...]:
    """Return the names of the packaged examples.

    Examples
    --------
    >>> import stagecut as sc
    >>> sc.example_names()
    ('gpt3-2.6b', 'gpt3-39b', 'llama3-70b', 'moe-61-layer')
    """
    return tuple(BUILDERS)


def example_path(name: str) -> Path:
    """Return the JSON file of an example.

    Raises
    ------
    ProblemError
        If there is no example of that name.
    """
    if name not in BUILDERS:
        raise ProblemError(f"example must be one of {', '.join(BUILDERS)}, got {name!r}")
    return Path(__file__).with_name(f"{name}.json")


def load_example(name: str, **changes: Any) -> StageProblem:
    """Return the stage problem of an example.

    Parameters
    ----------
    name
        One of :func:`example_names`.
    **changes
        Arguments of :class:`stagecut.StageProblem` to use instead of the file's.

    Raises
    ------
    ProblemError
        If there is no example of that name, or a change breaks a rule.

    Examples
    --------
    >>> import stagecut as sc
    >>> problem = sc.load_example("gpt3-2.6b")
    >>> problem.num_layers, problem.num_devices, problem.num_microbatches
    (34, 8, 1024)
    """
    return load_problem(example_path(name), **changes)


def load_example_profile(name: str) -> LayerProfile:
    """Return the layer profile of an example, with the source of its figures.

    Raises
    ------
    ProblemError
        If there is no example of that name.
    """
    return load_profile(example_path(name))
