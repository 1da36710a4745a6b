"""The textbook model: one epigraph row per range.

Reference: the direct reading of Zheng et al. (OSDI 2022, eq. 2) as a set partition.

Sets
    candidates ``r`` (layers ``i_r..j_r``, size ``n_r``, cost ``c_r``), layers ``l``.
Variables
    ``x_r`` binary: the stage is used; ``t``: at least the largest stage cost.
Objective
    minimise ``sum of c_r x_r + (B - 1) t`` (other objectives: :func:`common.set_objective`).
Constraints
    | (R1) cover      sum of x_r over r that cover l = 1, for each layer l
    | (R2) devices    sum of n_r x_r = D (or <= D)
    | (R3) epigraph   t >= c_r x_r, for each r
    | (R4) successors sum of x_r that start after l <= sum of p_r x_r that cover l, with limits

Cannot express: nothing of the problem. Its LP bound is the weakest, since ``t >= c_r x_r`` says
almost nothing when ``x_r`` is small.
"""

import numpy as np
import pulp

from stagecut.candidates import Candidates
from stagecut.formulations import common
from stagecut.formulations.built import BuiltModel
from stagecut.problem import StageProblem


def build(problem: StageProblem, candidates: Candidates, floor: float = 0.0) -> BuiltModel:
    """Build the model; ``floor`` only scales it, since this is the textbook baseline."""
    model = pulp.LpProblem("range_disaggregated", pulp.LpMinimize)
    scale = common.cost_scale(candidates, problem.num_layers, floor)
    use = common.use_variables(model, candidates)
    bottleneck = model.add_variable("t", 0)
    bounds = common.counts(problem, candidates, floor, scale)
    total = common.cost_terms(use, candidates.cost / scale)
    common.set_objective(model, problem, total, use, bottleneck, bounds)
    common.add_cover_rows(model, candidates, use, problem.num_layers)  # (R1)
    common.add_device_row(model, problem, candidates, use)  # (R2)
    _add_epigraph_rows(model, candidates, total, bottleneck)  # (R3)
    common.add_successor_rows(model, candidates, use, problem.num_layers)  # (R4)
    owner = np.arange(len(candidates), dtype=np.int64)
    return BuiltModel(problem, candidates, model, use, owner, bottleneck, scale)


def _add_epigraph_rows(
    model: pulp.LpProblem,
    candidates: Candidates,
    total: common.Terms,
    bottleneck: pulp.LpVariable,
) -> None:
    for r, (x, cost) in enumerate(total):
        i, j = int(candidates.first[r]), int(candidates.last[r])
        m, c = int(candidates.submesh[r]), int(candidates.config[r])
        row = common.expression([(bottleneck, 1.0), (x, -cost)])
        model.addConstraint(row >= 0.0, f"epigraph_{i}_{j}_{m}_{c}")
