"""What a plan costs when some of its stages run slow.

Stage ``k`` takes ``c_k`` seconds, or ``c_k + s_k`` when slow, and up to ``Γ`` stages are slow at
once (Bertsimas and Sim, 2004). The worst case of

    | training     ``sum of c + max over k of ((B - 1) c_k + the Γ largest of w)``, where ``w_j`` is
      ``s_j`` for ``j != k`` and ``B s_k`` for ``k``
    | bottleneck   ``max of (c_k + s_k)``
    | latency      ``sum of c + the Γ largest of s``
    | stages times bottleneck   number of stages ``x max of (c_k + s_k)``
"""

import math
from collections.abc import Sequence

import numpy as np

from stagecut.errors import ProblemError
from stagecut.problem import StageProblem


def worst_objective(
    objective: str,
    costs: Sequence[float],
    spreads: Sequence[float],
    robustness: int,
    num_microbatches: int,
) -> float:
    """Return the objective in seconds when the worst ``robustness`` stages are slow.

    Parameters
    ----------
    objective
        As of :class:`stagecut.StageProblem`.
    costs, spreads
        Seconds of each stage, and seconds that it takes longer when slow.
    robustness
        ``Γ``, at least 1.
    num_microbatches
        ``B``.

    Examples
    --------
    >>> worst_objective("training", [3.0, 2.0], [1.0, 5.0], 1, 4)  # 3 + (2 + 5) + 3 x (2 + 5)
    31.0
    """
    if objective == "latency":
        return math.fsum(costs) + _largest(spreads, robustness)
    slow = [cost + spread for cost, spread in zip(costs, spreads, strict=True)]
    if objective == "bottleneck":
        return max(slow)
    if objective == "stages_times_bottleneck":
        return len(slow) * max(slow)
    if objective != "training":
        raise ProblemError(f"objective {objective!r} is unknown")
    worst = 0.0
    for k, cost in enumerate(costs):
        weights = [s * (num_microbatches if j == k else 1) for j, s in enumerate(spreads)]
        worst = max(worst, (num_microbatches - 1) * cost + _largest(weights, robustness))
    return math.fsum(costs) + worst


def _largest(values: Sequence[float], count: int) -> float:
    return math.fsum(sorted(values, reverse=True)[:count])


def is_robust(problem: StageProblem) -> bool:
    """Return whether a problem asks for the worst case."""
    return problem.cost_spread is not None and problem.robustness > 0


def plain_equivalent(problem: StageProblem) -> StageProblem | None:
    """Return a problem without spread whose plans have the same objective, if there is one.

    There is where all stages may be slow at once, and for objectives that only one slow stage
    decides; its costs are those of slow stages.
    """
    if not is_robust(problem) or problem.cost_spread is None:
        return None
    by_one = problem.objective in ("bottleneck", "stages_times_bottleneck")
    if not by_one and problem.robustness < problem.num_layers:
        return None
    slow = np.where(np.isfinite(problem.cost), problem.cost + problem.cost_spread, np.inf)
    return problem.replace(cost=slow, cost_spread=None, robustness=0)
