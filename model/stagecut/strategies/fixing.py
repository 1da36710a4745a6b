"""Reduced cost fixing: stages that no better plan can use fall away (Dantzig et al., 1954).

Symbols: ``z`` an LP bound, ``d_r`` the reduced cost of ``x_r`` in that LP, ``U`` the objective of
the best plan. A plan that uses ``r`` costs at least ``z + d_r``.
"""

import math

import numpy as np

from stagecut.candidates import Float, Int
from stagecut.formulations.built import BuiltModel

SLACK = 1e-7
"""Relative error granted to reduced costs."""


def reduced_costs(built: BuiltModel) -> Float:
    """Return ``d`` in seconds for each column of a model whose LP was solved; 0 where unknown."""
    return np.array([column.dj or 0.0 for column in built.columns]) * built.scale


def hopeful(kept: Int, stage: Int, bound: float, reduced: Float, best: float) -> Int:
    """Return those of the stages ``kept`` that a plan better than ``best`` may use.

    Parameters
    ----------
    kept
        Indices of candidates, ascending.
    stage
        The candidate of each column.
    bound, best
        ``z`` and ``U``, seconds; without a plan, ``inf``, all are returned.
    reduced
        ``d`` for each column, seconds.
    """
    if not math.isfinite(best):
        return kept
    near = bound + np.maximum(reduced, 0.0) <= best * (1 + SLACK)
    return np.intersect1d(kept, stage[near])
