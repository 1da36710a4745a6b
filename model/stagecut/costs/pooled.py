"""One problem on several device pools, from one problem for each of them."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from stagecut.errors import ProblemError
from stagecut.problem import StageProblem
from stagecut.submesh import Submesh

SHARED = ("num_microbatches", "objective", "use_all_devices", "layer_names")
"""What the problems must have in common."""


def pooled(problems: Mapping[str, StageProblem], **changes: Any) -> StageProblem:
    """Join problems of one model on different devices into a problem on device pools.

    Parameters
    ----------
    problems
        For each pool its problem, for example from a profile of its own: the same layers and
        micro-batches, submeshes and costs of that pool, and its number of devices.
    **changes
        Arguments of :class:`stagecut.StageProblem`, such as ``rules``.

    Raises
    ------
    ProblemError
        If there are no problems, they are of different models, or one has pools or rules already.

    Examples
    --------
    >>> fast = StageProblem([[[1.0], [2.0]], [[1.0], [1.0]]], [(1, 1)], 2, 4)
    >>> both = pooled({"new": fast, "old": fast.replace(cost=fast.cost * 2, num_devices=3)})
    >>> both.pools, [str(submesh) for submesh in both.submeshes]
    ({'new': 2, 'old': 3}, ['1x1 new', '1x1 old'])
    """
    if not problems:
        raise ProblemError("problems must hold at least one pool, got none")
    (first_name, first), *others = problems.items()
    for name, problem in problems.items():
        if problem.pools is not None or not problem.rules.is_empty:
            raise ProblemError(f"the problem of pool {name!r} must have no pools and no rules")
    for name, problem in others:
        if problem.num_layers != first.num_layers:
            raise ProblemError(
                f"all pools must run the same layers: {name!r} has {problem.num_layers} layers, "
                f"{first_name!r} has {first.num_layers}"
            )
        for field in SHARED:
            mine, theirs = getattr(problem, field), getattr(first, field)
            if mine != theirs:
                raise ProblemError(
                    f"all pools must agree: {name!r} has {field}={mine!r}, {first_name!r} has "
                    f"{theirs!r}"
                )
    limited = any(problem.max_successors is not None for problem in problems.values())
    arguments: dict[str, Any] = {field: getattr(first, field) for field in SHARED}
    arguments["max_successors"] = _joined(map(_limits, problems.values()), -1) if limited else None
    return StageProblem(
        _joined((problem.cost for problem in problems.values()), np.inf),
        [
            Submesh(*shape.shape, name)
            for name, problem in problems.items()
            for shape in problem.submeshes
        ],
        {name: problem.num_devices for name, problem in problems.items()},
        **{**arguments, **changes},
    )


def _limits(problem: StageProblem) -> npt.NDArray[np.int64]:
    if problem.max_successors is not None:
        return problem.max_successors
    return np.full(problem.cost.shape, problem.num_layers, dtype=np.int64)


def _joined(tables: Any, fill: float) -> npt.NDArray[Any]:
    """Join tables along the submesh axis; configs that a pool does not have hold ``fill``."""
    arrays = list(tables)
    most = max(array.shape[3] for array in arrays)
    padding = [(0, 0)] * 3
    return np.concatenate(
        [
            np.pad(array, [*padding, (0, most - array.shape[3])], constant_values=fill)
            for array in arrays
        ],
        axis=2,
    )
