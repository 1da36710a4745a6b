"""The front of total and bottleneck, as a result.

Symbols: ``N`` points; ``B`` micro-batches.
"""

from dataclasses import dataclass

import numpy as np

from stagecut_dp.candidates import Candidates
from stagecut_dp.instance import Choice, Float, Instance, Int
from stagecut_dp.settle import named_plan
from stagecut_dp.validation import positive


@dataclass(frozen=True, slots=True)
class ParetoFront:
    """Every non-dominated (total, bottleneck), totals ascending and bottlenecks falling.

    Parameters
    ----------
    totals
        float64, shape ``(N,)``, seconds: right-associated sums of stage costs.
    bottlenecks
        float64, shape ``(N,)``, seconds: largest stage costs.
    plans
        One plan for each point, tuples ``(first, last, submesh, config)``.
    """

    totals: Float
    bottlenecks: Float
    plans: tuple[list[Choice], ...]

    def __len__(self) -> int:
        return len(self.plans)

    def best(self, num_microbatches: int) -> tuple[float, list[Choice] | None]:
        """Return the least total + (B - 1) x bottleneck, seconds, and its plan.

        ``(inf, None)`` for an empty front; raises ``ValueError`` unless ``B`` is at least 1.
        """
        weight = positive("num_microbatches", num_microbatches) - 1
        if not len(self):
            return float("inf"), None
        objectives = self.totals + weight * self.bottlenecks
        point = int(np.argmin(objectives))
        return float(objectives[point]), self.plans[point]

    def hull(self) -> Int:
        """Return the points on the lower hull, ascending: the best one for any ``B`` is there."""
        kept: list[int] = []
        for point in range(len(self)):
            while len(kept) > 1 and self._above(kept[-2], kept[-1], point):
                kept.pop()
            kept.append(point)
        return np.array(kept, dtype=np.int64)

    def _above(self, left: int, middle: int, right: int) -> bool:
        """Whether the middle point lies on or above the line through the other two."""
        x, y = self.totals, self.bottlenecks
        run, rise = x[right] - x[left], y[right] - y[left]
        return bool((y[middle] - y[left]) * run >= rise * (x[middle] - x[left]))


def make_front(instance: Instance, paths: list[Candidates]) -> ParetoFront:
    """Return the front of ``paths``: the non-dominated ones, one for each point."""
    points = []
    for order, path in enumerate(paths):
        total = 0.0
        for cost in reversed(path.cost.tolist()):
            total = cost + total
        points.append((total, float(path.cost.max()), order))
    kept: list[tuple[float, float, int]] = []
    for point in sorted(points):
        if not kept or point[1] < kept[-1][1]:
            kept.append(point)
    return ParetoFront(
        np.array([total for total, _, _ in kept]),
        np.array([bottleneck for _, bottleneck, _ in kept]),
        tuple(named_plan(instance, paths[order]) for _, _, order in kept),
    )
