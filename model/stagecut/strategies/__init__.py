"""Ways to reach a proven optimum with a formulation."""

from stagecut.strategies.bisection import bisect_built, solve_bisection
from stagecut.strategies.direct import solve_built, solve_direct
from stagecut.strategies.floor import Feasibility
from stagecut.strategies.relaxation import relaxation
from stagecut.strategies.tightening import Tightening

STRATEGIES = {"direct": solve_direct, "bisection": solve_bisection}
"""What ``solve(strategy=...)`` takes."""

__all__ = [
    "STRATEGIES",
    "Feasibility",
    "Tightening",
    "bisect_built",
    "relaxation",
    "solve_built",
]
