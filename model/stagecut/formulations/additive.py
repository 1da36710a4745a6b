"""Whether costs are sums of layers' costs, as models over layers take for granted."""

import numpy as np

from stagecut.candidates import Candidates, Float
from stagecut.errors import UnsupportedError
from stagecut.problem import StageProblem

ADDITIVE = 1e-9
"""Relative difference allowed between a range's cost and the sum of its layers' costs."""


def layer_costs(problem: StageProblem, candidates: Candidates) -> Float:
    """Return seconds, shape ``(K, S)``, of stages of one layer; ``inf`` where not allowed."""
    r = candidates
    costs = np.full((problem.num_layers, len(problem.submeshes)), np.inf)
    single = r.first == r.last
    np.minimum.at(costs, (r.first[single], r.submesh[single]), r.cost[single])
    return costs


def refuse(problem: StageProblem, candidates: Candidates, costs: Float) -> None:
    """Raise unless every range costs the sum of its layers, and no successor limit binds.

    Parameters
    ----------
    problem, candidates
        The problem and its stages.
    costs
        Of :func:`layer_costs`.

    Raises
    ------
    UnsupportedError
        Naming the first range that is not the sum of its layers.
    """
    if candidates.limit is not None and (candidates.limit < problem.num_layers - 1).any():
        raise UnsupportedError(
            "formulation 'assignment' cannot state successor limits, which depend on the range of "
            "a stage; use formulation='range'"
        )
    num_layers, num_submeshes = costs.shape
    table = np.full((num_layers, num_layers, num_submeshes), np.inf)
    r = candidates
    np.minimum.at(table, (r.first, r.last, r.submesh), r.cost)
    for first in range(num_layers):
        found, sums = table[first, first:], np.cumsum(costs[first:], axis=0)
        wrong = ~np.isclose(found, sums, rtol=ADDITIVE, atol=0.0)
        wrong &= problem.sizes <= problem.available
        if wrong.any():
            length, m = (int(index) for index in np.argwhere(wrong)[0])
            raise UnsupportedError(
                f"formulation 'assignment' needs additive costs, but layers "
                f"{first}..{first + length} on submesh {m} cost {float(found[length, m])!r} s and "
                f"their sum is {float(sums[length, m])!r} s (inf = not allowed); "
                "use formulation='range'"
            )
