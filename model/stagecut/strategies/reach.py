"""Candidates that a best plan can reach, where a table's costs lie many orders apart.

Solvers work in float64 with absolute tolerances, so a model whose costs span twelve orders of
magnitude gets answers that are wrong, and called optimal. Most of such a table is out of reach: if
some plan has no stage above ``T``, its objective is at most that of ``K`` stages of cost ``T``, so
a best plan has no stage above ``K T``, whatever the objective:

    | training     ``B c <= K T + (B - 1) T <= B K T``
    | bottleneck   ``c <= T``
    | latency      ``c <= K T``
    | stages times bottleneck   ``c <= K T``

With transfers of at most ``S`` seconds, ``T`` is ``2 max(T, S)`` in these bounds: a plan has fewer
transfers than stages. In the worst case of slow stages, ``T`` bounds costs with their spread.

``T`` comes from a ladder of integer programs without costs, each rung a thousand times the last;
the rung that failed is a floor under the largest stage cost.
"""

from dataclasses import replace

from stagecut.candidates import Candidates, Float, select
from stagecut.formulations import common
from stagecut.problem import StageProblem
from stagecut.strategies.floor import Feasibility
from stagecut.worst_case import is_robust

WIDE = 1e6
"""Largest cost in units of the model's scale that needs no ladder."""

RUNG = 1e3


def within_reach(
    problem: StageProblem, candidates: Candidates, asked: Feasibility
) -> tuple[Candidates, float]:
    """Return the candidates that may be in a best plan, and a floor under its largest stage cost.

    Parameters
    ----------
    problem, candidates
        The problem and its stages.
    asked
        Solves the integer programs; when a limit stops it, what is proven so far is returned.

    Returns
    -------
    candidates, floor
        The floor in seconds; 0 where no ladder was needed.
    """
    scale = common.cost_scale(candidates, problem.num_layers)
    largest = float(candidates.cost.max(initial=0.0))
    if largest <= WIDE * scale:
        return candidates, 0.0
    measured, sent = candidates, 0.0
    if is_robust(problem):
        measured = replace(candidates, cost=candidates.cost + _spread(problem, candidates))
    if problem.transfers is not None:
        sent = float(problem.transfers.max(initial=0.0))
    floor, rung = 0.0, scale
    while rung < largest:
        feasible = asked.has_plan(problem, measured, rung)
        if feasible is None:
            return candidates, floor
        if feasible:
            most = problem.num_layers * (2 * max(rung, sent) if sent > 0 else rung)
            return select(candidates, candidates.cost <= most), floor
        floor, rung = 0.0 if measured is not candidates else rung, rung * RUNG
    return candidates, floor


def _spread(problem: StageProblem, candidates: Candidates) -> Float:
    assert problem.cost_spread is not None
    r = candidates
    return problem.cost_spread[r.first, r.last, r.submesh, r.config]
