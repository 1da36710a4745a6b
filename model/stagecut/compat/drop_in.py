"""What the drop-in functions share: reading Alpa's arrays and answering in Alpa's shape.

Symbols: ``K`` layers, ``S`` submeshes, ``C`` configs, ``D`` devices, ``B`` micro-batches.
"""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

import stagecut_dp
from stagecut.errors import ProblemError, SolverError
from stagecut.evaluate import combine
from stagecut.problem import Objective, positive_integer
from stagecut.submesh import Submesh, SubmeshLike
from stagecut.validation import as_cost_table

type StageChoice = tuple[tuple[int, int], int, int]
"""``((start, end), submesh index, config index)`` with an exclusive ``end``."""

type DropInResult = tuple[float, list[StageChoice] | None]
"""Objective in seconds and stages in pipeline order; ``(inf, None)`` when infeasible."""

TOLERANCE = 1e-9
"""Relative difference allowed between the programme's objective and the recomputed one."""


def plan(
    submesh_choices: Sequence[SubmeshLike],
    num_devices: int,
    num_microbatches: int,
    compute_cost: npt.ArrayLike,
    max_n_succ_stages: npt.ArrayLike | None = None,
    objective: Objective = "training",
    counts: tuple[int, int] | None = None,
) -> DropInResult:
    """Plan exactly on Alpa's arrays.

    Parameters
    ----------
    submesh_choices
        ``S`` shapes; a shape may stand there twice.
    num_devices, num_microbatches
        ``D`` and ``B``.
    compute_cost
        Shape ``(K, K, S, C)``, seconds, ``[start, end inclusive, submesh, config]``; ``inf`` = not
        allowed.
    max_n_succ_stages
        The same shape: the most stages that may follow; -1 = never fits; ``None`` = no limit.
    objective
        As in :class:`stagecut.StageProblem`.
    counts
        ``(num_layers, num_autosharding_configs)`` where the caller was told them.

    Raises
    ------
    ProblemError
        If an argument breaks a rule.
    SolverError
        If the programme's objective is not that of its plan.
    """
    shapes = _shapes(submesh_choices)
    devices = positive_integer("num_devices", num_devices)
    microbatches = positive_integer("num_microbatches", num_microbatches)
    table = as_cost_table(compute_cost, len(shapes), name="compute_cost")
    _check_shape(np.shape(compute_cost), len(shapes), counts)
    limits = None
    if max_n_succ_stages is not None:
        limits = _successor_limits(max_n_succ_stages, table.shape, microbatches)
        table = np.where(limits < 0, np.inf, table)
        limits = limits if _binds(limits, len(table)) else None
    found, stages = stagecut_dp.solve(
        table,
        np.array([shape.size for shape in shapes], dtype=np.int64),
        devices,
        microbatches,
        objective=objective,
        max_successors=limits,
    )
    if stages is None:
        return float("inf"), None
    choices = [(int(i), int(j), int(m), int(c)) for i, j, m, c in stages]
    cost = _price(table, choices, objective, microbatches)
    if not abs(cost - found) <= TOLERANCE * cost:
        raise SolverError(f"the plan costs {cost!r} s, the dynamic programme said {found!r} s")
    return cost, [((i, j + 1), m, c) for i, j, m, c in choices]


def _shapes(submesh_choices: Sequence[SubmeshLike]) -> list[Submesh]:
    try:
        return [Submesh.of(shape) for shape in submesh_choices]
    except TypeError:
        raise ProblemError(
            "submesh_choices must be a sequence of (hosts, devices_per_host), "
            f"got {submesh_choices!r}"
        ) from None


def _check_shape(shape: tuple[int, ...], num_shapes: int, counts: tuple[int, int] | None) -> None:
    if len(shape) != 4:
        raise ProblemError(
            "compute_cost must have four axes [start, end inclusive, submesh, config], "
            f"got shape {shape}"
        )
    if counts is not None:
        layers = positive_integer("num_layers", counts[0])
        configs = positive_integer("num_autosharding_configs", counts[1])
        expected = (layers, layers, num_shapes, configs)
        if shape != expected:
            raise ProblemError(
                "compute_cost must have shape (num_layers, num_layers, len(submesh_choices), "
                f"num_autosharding_configs) = {expected}, got {shape}"
            )


def _successor_limits(
    limits: npt.ArrayLike, shape: tuple[int, ...], num_microbatches: int
) -> npt.NDArray[np.int64]:
    """Return limits in -1..K, ``K`` where memory binds nothing.

    Under 1F1B at most ``min(B, successors + 1)`` micro-batches are in flight, so a stage that has
    room for ``B`` of them has room behind any number of successors.
    """
    try:
        values = np.array(limits)
    except ValueError:
        raise ProblemError("max_n_succ_stages must be a full array, got ragged rows") from None
    if values.shape != shape or values.dtype.kind not in "iuf":
        raise ProblemError(
            f"max_n_succ_stages must be numbers in the shape of compute_cost {shape}, "
            f"got shape {values.shape} of dtype {values.dtype}"
        )
    upper = np.triu(np.ones(shape[:2], dtype=bool))[:, :, None, None]
    wrong = np.argwhere(upper & np.isnan(values))
    if len(wrong):
        place = ", ".join(map(str, wrong[0]))
        raise ProblemError(
            f"max_n_succ_stages must be numbers (-1 = never fits), got [{place}] = nan"
        )
    whole = np.floor(np.clip(np.where(upper, values, -1), -1, max(shape[0], num_microbatches)))
    free = whole >= min(num_microbatches, shape[0]) - 1
    return np.where(free, shape[0], whole).astype(np.int64)


def _binds(limits: npt.NDArray[np.int64], num_layers: int) -> bool:
    return bool(((limits >= 0) & (limits < num_layers)).any())


def _price(
    table: npt.NDArray[np.float64],
    choices: list[tuple[int, int, int, int]],
    objective: Objective,
    num_microbatches: int,
) -> float:
    """Price a plan from the table in the referee's order of addition."""
    total, bottleneck = 0.0, 0.0
    for choice in reversed(choices):
        cost = float(table[choice])
        total = cost + total
        bottleneck = max(bottleneck, cost)
    return float(combine(objective, total, bottleneck, len(choices), num_microbatches))
