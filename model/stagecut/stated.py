"""A problem under rules as tables that the dynamic programme takes."""

from collections.abc import Iterator

import numpy as np

from stagecut.constraints import choice_masks, couplings, stage_counts
from stagecut.couplings import Float
from stagecut.errors import UnsupportedError
from stagecut.problem import StageProblem


def stated_tables(problem: StageProblem) -> Iterator[tuple[Float, dict[str, int]]]:
    """Yield cost tables, and bounds on the number of stages, that say all the rules.

    Yields
    ------
    cost, counts
        A table of shape ``(K, K, S, C)``, seconds, and the arguments ``min_stages`` and
        ``max_stages``. A plan obeys the rules when one of the tables allows it.

    Raises
    ------
    UnsupportedError
        Naming the rules that tables cannot say.
    """
    ties = list(couplings(problem))
    if unstated := [tie.rule for tie in ties if tie.choices is None]:
        raise UnsupportedError(
            f"the dynamic programme cannot state {', '.join(unstated)} here; "
            "leave it out, or solve for one plan with solver='auto'"
        )
    least, most = stage_counts(problem)
    if least > most:
        return
    for mask in choice_masks(problem, ties):
        yield np.where(mask, problem.cost, np.inf), {"min_stages": least, "max_stages": most}
