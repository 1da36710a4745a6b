"""Ways to reach a proven optimum with a formulation."""

from stagecut.strategies.direct import solve_direct

STRATEGIES = ("direct",)

__all__ = ["STRATEGIES", "solve_direct"]
