"""Alpa's cached ``compute-cost-*.npy`` (Zheng et al., OSDI 2022)."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from stagecut.errors import FormatError
from stagecut.formats.files import PathLike, read_array
from stagecut.problem import StageProblem
from stagecut.submesh import SubmeshLike


def read_alpa(
    path: PathLike,
    *,
    submeshes: Sequence[SubmeshLike],
    num_devices: int,
    num_microbatches: int,
    objective: Any = "training",
    use_all_devices: bool = True,
) -> StageProblem:
    """Read the three stacked tables cost, successor limit and "is profiled".

    Parameters
    ----------
    path
        The file: shape ``(3, K, K, S, C)``; cost in seconds, ``inf`` = failed; limit -1 = never
        fits. Only newer files that hold pickles of Alpa's classes (``profile-results-*.npy``)
        cannot be read.
    submeshes
        The ``S`` shapes, in Alpa's order; the file does not hold them.
    num_devices, num_microbatches, objective, use_all_devices
        As in :class:`stagecut.StageProblem`.

    Returns
    -------
    StageProblem
        A limit of ``B - 1`` or more binds nothing, since at most ``B`` micro-batches are in flight.

    Raises
    ------
    FormatError
        If the file is a pickle, damaged, or of another shape.
    """
    stacked = read_array(path)
    if stacked.ndim != 5 or stacked.shape[0] != 3 or stacked.dtype.kind not in "fiu":
        raise FormatError(
            f"{path} must hold numbers of shape (3, K, K, S, C), "
            f"got {stacked.dtype} of shape {stacked.shape}"
        )
    cost, limit = stacked[0].astype(np.float64), stacked[1]
    if np.isnan(limit).any():
        raise FormatError(f"{path}: the successor limits hold NaN")
    num_layers = len(cost)
    loose = limit >= num_microbatches - 1
    limits = np.where(loose & (limit >= 0), num_layers, np.clip(limit, -1, num_layers))
    return StageProblem(
        np.where(limits < 0, np.inf, cost),
        submeshes,
        num_devices,
        num_microbatches,
        max_successors=limits,
        objective=objective,
        use_all_devices=use_all_devices,
    )
