"""A floor under the largest stage cost, from LPs that know every side constraint.

If no fractional plan exists on the stages that cost at most ``b``, no plan's largest stage cost is
``b`` or less. Bisection over the distinct costs finds the largest such ``b``; the next cost,
``t_lo``, is then a lower bound on the largest stage cost of any plan. A formulation may use
``max(c_r, t_lo)`` in its epigraph rows, which closes most of its LP gap.
"""

import time
from dataclasses import dataclass, field, replace

import numpy as np
import pulp

from stagecut import backend
from stagecut.candidates import Candidates, select
from stagecut.formulations import common
from stagecut.formulations.rule_rows import add_rule_rows
from stagecut.problem import StageProblem


@dataclass(slots=True)
class Feasibility:
    """Asks a solver whether models are feasible, until a deadline or Ctrl-C.

    Parameters
    ----------
    solver
        The MILP solver.
    request
        The user's request; its time limit counts from ``start``.
    start, cpu_start
        ``time.perf_counter()`` and ``time.process_time()`` at the start of the whole call, seconds.
    """

    solver: str
    request: backend.Request
    start: float = field(default_factory=time.perf_counter)
    cpu_start: float = field(default_factory=time.process_time)
    count: int = 0
    stopped_by: backend.Stop | None = None

    @property
    def left(self) -> float | None:
        """Seconds until the deadline, at least 0; ``None`` without one."""
        limit = self.request.time_limit
        return None if limit is None else max(limit - (time.perf_counter() - self.start), 0.0)

    def has_plan(
        self,
        problem: StageProblem,
        candidates: Candidates,
        threshold: float,
        *,
        fractional: bool = False,
    ) -> bool | None:
        """Return whether stages up to ``threshold`` seconds make a plan; ``None`` at a limit."""
        allowed = select(candidates, candidates.cost <= threshold)
        return self._is_feasible(_cover(problem, allowed, fractional))

    def _is_feasible(self, model: pulp.LpProblem) -> bool | None:
        left = self.left
        if left == 0:
            self.stopped_by = "time"
        if self.stopped_by is not None:
            return None
        self.count += 1
        quiet = replace(
            self.request, time_limit=left, warm_start=False, options={}, log=False, progress=None
        )
        answer = backend.run(model, self.solver, quiet)
        self.stopped_by = answer.stopped_by
        return None if answer.stopped_by else answer.status == "optimal"


def bottleneck_floor(problem: StageProblem, candidates: Candidates, lps: Feasibility) -> float:
    """Return a lower bound on the largest stage cost, in seconds.

    Parameters
    ----------
    problem, candidates
        The problem and its stages.
    lps
        Solves the LPs; when a limit stops it, the bound proven so far is returned.
    """
    costs = np.unique(candidates.cost)
    low, high = 0, len(costs) - 1
    while low < high:
        middle = (low + high) // 2
        feasible = lps.has_plan(problem, candidates, float(costs[middle]), fractional=True)
        if feasible is None:
            break
        low, high = (low, middle) if feasible else (middle + 1, high)
    return float(costs[low]) if len(costs) else 0.0


def _cover(problem: StageProblem, allowed: Candidates, fractional: bool) -> pulp.LpProblem:
    """Build the model, without costs, of covering all layers on the devices."""
    model = pulp.LpProblem("cover", pulp.LpMinimize)
    use = [
        model.add_variable(f"x_{r}", 0, 1, "Continuous" if fractional else "Binary")
        for r in range(len(allowed))
    ]
    model.setObjective(common.expression([]))
    common.add_flow_rows(model, allowed, use, problem.num_layers)
    common.add_device_row(model, problem, allowed, use)
    common.add_successor_rows(model, allowed, use, problem.num_layers)
    add_rule_rows(
        model,
        problem,
        allowed,
        lambda weights: common.expression(
            list(zip(use, np.asarray(weights).tolist(), strict=True))
        ),
        fractional,
    )
    return model
