"""What the rules of a problem mean to an engine: masks, counts and couplings.

This is the one place that knows rules by name. An engine takes

- ``mask``: the stages ``(i, j, m, c)`` that remain, by :func:`allowed_stages`;
- ``counts``: the number of stages, by :func:`stage_counts`;
- couplings between stages: linear rows over candidate stages, by :func:`linear_rows` (a MILP adds
  them as they are), and, where one of a few masks says the same, those masks, by
  :func:`choice_masks` (the dynamic programme runs once per mask).

The referee does not use this module: it holds plans against the rules themselves.
"""

from collections.abc import Iterable, Iterator
from itertools import product

import numpy as np

from stagecut.couplings import (
    TRANSFERS,
    Coupling,
    Mask,
    Row,
    Stages,
    budget_coupling,
    device_pools_coupling,
    placeable_coupling,
    same_size_ends_coupling,
    same_submesh_coupling,
)
from stagecut.placement import always_fit, too_wide
from stagecut.problem import StageProblem
from stagecut.worst_case import is_robust


def linear_rows(problem: StageProblem, stages: Stages) -> list[Row]:
    """Return the rows that state the number of stages and all couplings over candidate stages."""
    low, high = stage_counts(problem)
    rows = []
    if low > 1 or high < problem.num_layers:
        rows.append(Row("stages", np.ones(len(stages.first)), float(low), float(high)))
    return rows + [row for coupling in couplings(problem) for row in coupling.rows(stages)]


def choice_masks(problem: StageProblem, ties: Iterable[Coupling]) -> Iterator[Mask]:
    """Yield masks; a plan obeys ``ties`` when one of the masks allows all its stages.

    Only for couplings that have choices. Masks that allow nothing are left out.
    """
    allowed = allowed_stages(problem)
    for combination in product(*(tie.choices() for tie in ties if tie.choices is not None)):
        mask = np.logical_and.reduce([allowed, *combination])
        if mask.any():
            yield mask


def stage_counts(problem: StageProblem) -> tuple[int, int]:
    """Return the least and most number of stages; least above most where the rules contradict."""
    rules, num_layers = problem.rules, problem.num_layers
    least, most = rules.min_stages or 1, min(rules.max_stages or num_layers, num_layers)
    if rules.num_stages is None:
        return least, most
    return max(least, rules.num_stages), min(most, rules.num_stages)


def allowed_stages(problem: StageProblem) -> Mask:
    """Return which stages a plan may use, shape ``(K, K, S, C)``.

    Examples
    --------
    >>> import stagecut as sc
    >>> table = [[[1.0], [2.0]], [[1.0], [1.0]]]
    >>> problem = sc.StageProblem(table, [(1, 1)], 2, 4, rules=sc.StageRules(forbidden_cuts=[0]))
    >>> allowed_stages(problem)[:, :, 0, 0]
    array([[False,  True],
           [False, False]])
    """
    allowed = np.isfinite(problem.cost)
    allowed[:, :, problem.sizes > problem.available] = False
    if problem.max_successors is not None:
        allowed &= problem.max_successors >= 0
    allowed &= _ranges(problem)[:, :, None, None]
    for grid in problem.rules.cluster or () if problem.rules.placeable else ():
        allowed[
            :,
            :,
            [shape.pool == grid.pool and too_wide(shape, grid) for shape in problem.submeshes],
        ] = False
    for rule in problem.rules.allowed_submeshes:
        others = [shape not in rule.submeshes for shape in problem.submeshes]
        # Stages i..j that hold a layer of the range: i <= its last, j >= its first.
        allowed[: rule.last_layer + 1, rule.first_layer :, others] = False
    return allowed


def _ranges(problem: StageProblem) -> Mask:
    """Return which ranges of layers the rules allow, shape ``(K, K)``."""
    rules, num_layers = problem.rules, problem.num_layers
    first, last = np.indices((num_layers, num_layers))
    allowed = first <= last
    length = last - first + 1
    if rules.min_layers_per_stage is not None:
        allowed &= length >= rules.min_layers_per_stage
    if rules.max_layers_per_stage is not None:
        allowed &= length <= rules.max_layers_per_stage
    for cut in rules.required_cuts:
        allowed &= (last <= cut) | (first > cut)
    uncut = {*rules.forbidden_cuts, *(k for i, j in rules.same_stage for k in range(i, j))}
    for cut in sorted(uncut):
        allowed &= (last != cut) & (first != cut + 1)
    return allowed


def couplings(problem: StageProblem) -> Iterator[Coupling]:
    """Yield the rules of a problem that tie stages to each other."""
    rules = problem.rules
    if problem.pools is not None:
        yield device_pools_coupling(problem, problem.pools)
    if rules.same_submesh:
        yield same_submesh_coupling(problem)
    if rules.same_size_ends:
        yield same_size_ends_coupling(problem)
    for n, budget in enumerate(rules.budgets):
        yield budget_coupling(problem, budget, n)
    if problem.transfers is not None:
        yield Coupling(TRANSFERS, lambda _: [])  # formulations.transfer_rows states them
    if is_robust(problem):
        yield Coupling("robustness", lambda _: [])  # formulations.robust states it
    for p, grid in enumerate(rules.cluster or () if rules.placeable else ()):
        available = problem.num_devices if problem.pools is None else problem.pools[str(grid.pool)]
        shapes = [shape for shape in problem.submeshes if shape.pool == grid.pool]
        if available > grid.size or not always_fit(shapes, grid):
            yield placeable_coupling(problem, grid, p)
