"""Exact stage assignment by dynamic programming, in NumPy alone.

:func:`solve` returns ``(objective, plan)``; :func:`search` adds a time limit, a bound and progress;
:mod:`stagecut_dp.textbook` is the plain recurrence to compare with.
"""

from stagecut_dp import textbook
from stagecut_dp.outcome import Outcome
from stagecut_dp.search import search, solve

__all__ = ["Outcome", "search", "solve", "textbook"]
