"""Ways to reach a proven optimum with a formulation."""

from stagecut.strategies.bisection import solve_bisection
from stagecut.strategies.direct import solve_direct
from stagecut.strategies.relaxation import relaxation

STRATEGIES = {"direct": solve_direct, "bisection": solve_bisection}
"""What ``solve(strategy=...)`` takes."""

__all__ = ["STRATEGIES", "relaxation"]
