"""The default model: one epigraph row per layer, in sparse form.

Reference: the ranges that cover a layer are a maximal clique of the interval graph of ranges; at
most one of them is used, so their costs may share one epigraph row (a clique strengthening of the
textbook model).

Sets
    candidates ``r`` (layers ``i_r..j_r``, size ``n_r``, cost ``c_r``), layers ``l``.
Variables
    ``x_r`` binary: the stage is used; ``u_l``: cost of the stage that covers layer ``l``; ``t``: at
    least the largest stage cost.
Objective
    minimise ``sum of c_r x_r + (B - 1) t`` (other objectives: :func:`common.set_objective`).
Constraints
    | (R1) flow       starts at l = ends at l - 1, for each l; one start at layer 0
    | (R2) devices    sum of n_r x_r = D (or <= D)
    | (R3) carry      u_l - u_(l-1) = sum of c_r x_r starting at l - sum of c_r x_r ending at l-1
    | (R4) epigraph   t >= u_l, for each l
    | (R5) successors sum of x_r that start after l <= sum of p_r x_r that cover l, with limits

``c_r`` in (R3) is ``max(c_r, t_lo)``, with ``t_lo`` a lower bound on the largest stage cost of any
plan: ``t`` is at least that anyway, and the LP bound rises.

Cannot express: nothing of the problem.
"""

import numpy as np
import pulp

from stagecut.candidates import Candidates
from stagecut.formulations import carry, common
from stagecut.formulations.built import BuiltModel
from stagecut.problem import StageProblem


def build(problem: StageProblem, candidates: Candidates, floor: float = 0.0) -> BuiltModel:
    """Build the model; ``floor`` is ``t_lo`` in seconds."""
    model, r = pulp.LpProblem("range", pulp.LpMinimize), candidates
    num_layers = problem.num_layers
    scale = common.cost_scale(candidates, num_layers, floor)
    use = common.use_variables(model, candidates)
    bottleneck = model.add_variable("t", 0)
    total = common.cost_terms(use, candidates.cost / scale)
    bounds = common.counts(problem, candidates, floor, scale)
    common.set_objective(model, problem, total, use, bottleneck, bounds)
    common.add_flow_rows(model, candidates, use, num_layers)  # (R1)
    common.add_device_row(model, problem, candidates, use)  # (R2)
    raised = np.maximum(candidates.cost, floor) / scale
    carried = carry.add_carry_rows(model, use, raised, r.first, r.last, num_layers)  # (R3)
    carry.add_epigraph_rows(model, carried, bottleneck)  # (R4)
    common.add_successor_rows(model, candidates, use, num_layers)  # (R5)
    owner = np.arange(len(candidates), dtype=np.int64)
    return BuiltModel(problem, candidates, model, use, owner, bottleneck, scale)
