"""How a plan fares when its measured times are off: at random, and in the worst case."""

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from stagecut.errors import ProblemError
from stagecut.evaluate import combine, evaluate
from stagecut.plan import Plan
from stagecut.problem import StageProblem, positive_integer
from stagecut.worst_case import worst_objective


@dataclass(frozen=True, slots=True)
class Stress:
    """Objectives of one plan under other times, in seconds.

    Parameters
    ----------
    nominal
        With the times of the table.
    random
        Sorted objectives with every stage off by a share of its spread drawn evenly from -1 to 1.
    worst
        Entry ``Γ``: the objective when the worst ``Γ`` stages are slow, from none to all.
    """

    nominal: float
    random: npt.NDArray[np.float64] = field(repr=False)
    worst: tuple[float, ...]

    def quantile(self, share: float) -> float:
        """Return the random objective that ``share`` of the draws do not exceed."""
        return float(np.quantile(self.random, share))

    @property
    def mean_loss(self) -> float | None:
        """Mean of the random objectives over the nominal one, less 1; ``None`` if that is 0."""
        return self._loss(float(self.random.mean()))

    @property
    def worst_loss(self) -> float | None:
        """Objective with all stages slow over the nominal one, less 1; ``None`` if that is 0."""
        return self._loss(self.worst[-1])

    def _loss(self, value: float) -> float | None:
        return value / self.nominal - 1 if self.nominal > 0 else None


def stress(
    problem: StageProblem,
    plan: Plan,
    spread: Any = None,
    *,
    samples: int = 1000,
    seed: int = 0,
) -> Stress:
    """Price a plan under times other than the table's.

    Parameters
    ----------
    problem, plan
        A problem and a plan of it.
    spread
        How far times may be off, as ``cost_spread`` of :class:`stagecut.StageProblem`; by default
        the problem's own.
    samples, seed
        Number of random draws, and their seed.

    Raises
    ------
    PlanError
        If the plan is not one of the problem.
    ProblemError
        If ``spread`` breaks a rule, or neither it nor the problem gives one.

    Examples
    --------
    >>> import stagecut as sc
    >>> problem = sc.StageProblem([[[1.0], [2.0]], [[1.0], [1.0]]], [(1, 1)], 2, 4)
    >>> result = stress(problem, sc.solve(problem).plan, spread=0.1)
    >>> result.nominal, [round(value, 6) for value in result.worst]  # 2 + 3 x 1, one slow, both
    (5.0, [5.0, 5.4, 5.5])
    """
    plain = problem.replace(cost_spread=None, robustness=0)
    nominal = evaluate(plain, plan).objective
    given = problem.cost_spread if spread is None else spread
    table = problem.replace(cost_spread=0.0 if given is None else given).cost_spread
    if given is None or table is None:
        raise ProblemError("stress needs spread, since the problem has no cost_spread; give one")
    costs = np.array([stage.cost for stage in plan.stages])
    spreads = np.array(
        [
            table[s.first_layer, s.last_layer, problem.submeshes.index(s.submesh), s.config]
            for s in plan.stages
        ]
    )
    count = positive_integer("samples", samples)
    shares = np.random.default_rng(seed).uniform(-1.0, 1.0, (count, plan.num_stages))
    times = np.maximum(costs + shares * spreads, 0.0)
    random = np.sort([_objective(problem, row) for row in times])
    worst = tuple(
        worst_objective(
            problem.objective, costs.tolist(), spreads.tolist(), slow, problem.num_microbatches
        )
        for slow in range(1, plan.num_stages + 1)
    )
    return Stress(nominal, random, (nominal, *worst))


def _objective(problem: StageProblem, times: npt.NDArray[np.float64]) -> float:
    total, bottleneck = math.fsum(times.tolist()), float(times.max())
    return combine(problem.objective, total, bottleneck, len(times), problem.num_microbatches)
