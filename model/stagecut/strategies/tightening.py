"""What makes every formulation tighter, each part switchable for study."""

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

import stagecut_dp
from stagecut.candidates import Candidates, compile_candidates
from stagecut.constraints import allowed_stages
from stagecut.errors import ProblemError
from stagecut.formulations import TIGHTENED
from stagecut.problem import StageProblem
from stagecut.strategies.floor import Feasibility, bottleneck_floor
from stagecut.strategies.reach import within_reach

FLOORS = ("lp", "dp", None)


@dataclass(frozen=True, slots=True)
class Tightening:
    """How models are tightened; every choice gives the same optimum.

    Parameters
    ----------
    floor
        Where a floor ``t_lo`` under the largest stage cost comes from: ``"lp"`` (feasibility LPs
        with the problem's rules), ``"dp"`` (the least bottleneck, by the dynamic programme, of the
        problem without rules between stages), or ``None``. Only for formulations that use it.
    raised
        Whether ``c_r`` is ``max(c_r, t_lo)`` in epigraph rows; if not, ``t_lo`` only bounds ``t``.
    fixing
        Whether stages fall away that no better plan than the best so far can use, by their reduced
        costs. ``direct`` does so where it has a warm start.
    drop_dominated
        Whether configs fall away that cost no less and allow no more successors than another.

    Raises
    ------
    ProblemError
        If ``floor`` is none of these.
    """

    floor: Literal["lp", "dp"] | None = "lp"
    raised: bool = True
    fixing: bool = True
    drop_dominated: bool = True

    def __post_init__(self) -> None:
        if self.floor not in FLOORS:
            raise ProblemError(f"floor must be 'lp', 'dp' or None, got {self.floor!r}")


def tightened(
    problem: StageProblem, formulation: str, asked: Feasibility, chosen: Tightening
) -> tuple[Candidates, float]:
    """Return the stages of a problem's models, and the floor under the largest stage cost.

    LPs for the floor leave successor limits out: their rows make them slow, and raise it little.

    Returns
    -------
    candidates, floor
        The floor in seconds; what was proven before a limit, if one stopped it.
    """
    every = compile_candidates(problem, drop_dominated=chosen.drop_dominated)
    candidates, floor = within_reach(problem, every, asked)
    if formulation not in TIGHTENED or problem.objective == "latency":
        return candidates, floor
    if chosen.floor == "lp":
        floor = max(floor, bottleneck_floor(problem, replace(candidates, limit=None), asked))
    elif chosen.floor == "dp":
        floor = max(floor, _least_bottleneck(problem))
    return candidates, floor


def _least_bottleneck(problem: StageProblem) -> float:
    """Return the least bottleneck without counts and couplings, which only remove plans.

    Device pools are taken together: that only adds plans.
    """
    value, _ = stagecut_dp.solve(
        np.where(allowed_stages(problem), problem.cost, np.inf),
        problem.sizes,
        problem.num_devices,
        objective="bottleneck",
        max_successors=problem.max_successors,
        use_all_devices=problem.use_all_devices,
    )
    return value if np.isfinite(value) else 0.0
