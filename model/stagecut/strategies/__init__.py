"""Ways to reach a proven optimum with a formulation."""

from stagecut.strategies.direct import solve_direct
from stagecut.strategies.relaxation import relaxation

STRATEGIES = ("direct",)

__all__ = ["STRATEGIES", "relaxation", "solve_direct"]
