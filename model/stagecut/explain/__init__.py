"""Why a problem has no plan, in the user's words, and the smallest change that gives it one."""

from stagecut.explain.causes import Cause, Explanation
from stagecut.explain.explanation import explain_infeasibility

__all__ = ["Cause", "Explanation", "explain_infeasibility"]
