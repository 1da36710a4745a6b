"""Successor limits and rules on the number of stages: what passes and searches share."""

from dataclasses import dataclass

import numpy as np

from stagecut_dp.candidates import Candidates
from stagecut_dp.instance import Instance


@dataclass(frozen=True, slots=True)
class StageAxis:
    """Bounds on the number of stages of a plan, both included."""

    least: int
    most: int


def keeps_counts(instance: Instance, path: Candidates) -> bool:
    """Whether a path keeps the rules on stages and every successor limit."""
    if not instance.min_stages <= len(path) <= instance.max_stages:
        return False
    follow = np.arange(len(path))[::-1]
    return path.limit is None or bool((path.limit >= follow).all())


def longest_chain(candidates: Candidates) -> int:
    """Return the most stages that candidates can form, 0 if they form no plan."""
    num_layers, starts = candidates.num_layers, candidates.starts()
    most = np.full(num_layers + 1, -1, dtype=np.int64)
    most[num_layers] = 0
    for k in range(num_layers - 1, -1, -1):
        if starts[k] < starts[k + 1]:
            behind = int(most[candidates.last[starts[k] : starts[k + 1]] + 1].max())
            most[k] = behind + 1 if behind >= 0 else -1
    return max(int(most[0]), 0)
