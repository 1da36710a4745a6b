"""Exact stage assignment by dynamic programming, in NumPy alone.

- :func:`solve` returns ``(objective, plan)``, ``(inf, None)`` when infeasible.
- :func:`search` takes the same arguments and ``time_limit`` (wall seconds) and ``progress`` (called
  with incumbent and bound, seconds); it returns an :class:`Outcome` with ``objective``, ``plan``,
  ``bound``, ``passes`` and ``stopped`` (``"time"``, ``"interrupt"`` or ``None``). A time limit or
  Ctrl-C gives the best plan so far and a valid bound.
- :func:`pareto_front` returns every non-dominated (total, bottleneck) with plans, as a
  :class:`ParetoFront` with ``best(num_microbatches)`` and ``hull()``.
- :func:`k_best` returns the ``k`` best distinct plans in order.
- :mod:`stagecut_dp.pools` plans on several pools of devices.
- :mod:`stagecut_dp.textbook` is the plain recurrence to compare with.
"""

from stagecut_dp import pools, textbook
from stagecut_dp.front import pareto_front
from stagecut_dp.k_best import k_best
from stagecut_dp.outcome import Outcome
from stagecut_dp.pareto import ParetoFront
from stagecut_dp.search import search, solve

__all__ = [
    "Outcome",
    "ParetoFront",
    "k_best",
    "pareto_front",
    "pools",
    "search",
    "solve",
    "textbook",
]
