"""The flat list of stages that a plan may use, compiled once for every formulation.

Symbols: candidate ``r`` is a stage: layers ``first[r]..last[r]`` on submesh ``submesh[r]`` in
config ``config[r]``. Stages that a rule forbids are not among them (:mod:`stagecut.constraints`).
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from stagecut.constraints import allowed_stages
from stagecut.problem import StageProblem
from stagecut.worst_case import is_robust

type Int = npt.NDArray[np.int64]
type Float = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Candidates:
    """``N`` candidate stages; arrays of shape ``(N,)``, ordered by (first, last, submesh, config).

    Parameters
    ----------
    first, last
        Range of layers, both included.
    submesh, config
        Indices on the problem's submesh and config axes.
    size
        Devices.
    cost
        Seconds.
    limit
        Most stages that may follow, or ``None`` without limits.
    """

    first: Int
    last: Int
    submesh: Int
    config: Int
    size: Int
    cost: Float
    limit: Int | None

    def __len__(self) -> int:
        return len(self.cost)


def select(candidates: Candidates, chosen: Int | npt.NDArray[np.bool_]) -> Candidates:
    """Return some of the candidates, by ascending index or by a mask of shape ``(N,)``."""
    r = candidates
    return Candidates(
        first=r.first[chosen],
        last=r.last[chosen],
        submesh=r.submesh[chosen],
        config=r.config[chosen],
        size=r.size[chosen],
        cost=r.cost[chosen],
        limit=None if r.limit is None else r.limit[chosen],
    )


def compile_candidates(problem: StageProblem, *, drop_dominated: bool = True) -> Candidates:
    """Return every stage worth considering.

    A stage falls away when it is not allowed (``inf``), never fits (-1), is larger than ``D``, when
    a rule forbids it, or, with ``drop_dominated``, when another config of the same range and
    submesh costs no more and allows no fewer successors; not so where the worst case counts.
    """
    allowed = allowed_stages(problem)
    first, last, submesh, config = (axis.astype(np.int64) for axis in np.nonzero(allowed))
    cost = problem.cost[first, last, submesh, config]
    limit = None
    if problem.max_successors is not None:
        limit = problem.max_successors[first, last, submesh, config]
    every = Candidates(first, last, submesh, config, problem.sizes[submesh], cost, limit)
    if is_robust(problem) or not drop_dominated:
        return every
    return select(every, _undominated(np.stack([first, last, submesh]), cost, limit))


def _undominated(place: Int, cost: Float, limit: Int | None) -> Int:
    """Return the indices, ascending, of entries that no other entry of the same place dominates."""
    successors = np.zeros(len(cost), dtype=np.int64) if limit is None else limit
    order = np.lexsort((-successors, cost, *place[::-1]))
    sorted_place, sorted_limit = place[:, order], successors[order]
    new_place = np.ones(len(order), dtype=bool)
    new_place[1:] = (sorted_place[:, 1:] != sorted_place[:, :-1]).any(axis=0)
    if limit is None:
        return np.sort(order[new_place])
    group = np.cumsum(new_place) - 1
    step = np.int64(sorted_limit.max(initial=0) + 1)
    running = np.maximum.accumulate(sorted_limit + group * step)
    better = np.ones(len(order), dtype=bool)
    better[1:] = running[1:] > running[:-1]
    return np.sort(order[better | new_place])
