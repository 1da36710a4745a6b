"""What the rules of a problem mean to an engine: masks, counts and couplings.

This is the one place that knows rules by name. An engine takes

- ``mask``: the stages ``(i, j, m, c)`` that remain, by :func:`allowed_stages`;
- ``counts``: the number of stages, by :func:`stage_counts`;
- couplings between stages: linear rows over candidate stages, by :func:`linear_rows` (a MILP adds
  them as they are), and, where one of a few masks says the same, those masks, by
  :func:`choice_masks` (the dynamic programme runs once per mask).

The referee does not use this module: it holds plans against the rules themselves.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import product
from typing import Protocol

import numpy as np
import numpy.typing as npt

from stagecut.problem import StageProblem
from stagecut.rule_parts import Budget

type Mask = npt.NDArray[np.bool_]
type Float = npt.NDArray[np.float64]
type Int = npt.NDArray[np.int64]

POOLS = "device pools"
"""Name of the coupling that several pools make."""

BUDGET_UNITS = 1000.0
"""A budget's limit in its row: solvers' absolute tolerances become relative ones of 1e-9."""


class Stages(Protocol):
    """Arrays of shape ``(N,)``, one entry per candidate stage."""

    @property
    def first(self) -> Int: ...  # noqa: D102

    @property
    def last(self) -> Int: ...  # noqa: D102

    @property
    def submesh(self) -> Int: ...  # noqa: D102

    @property
    def size(self) -> Int: ...  # noqa: D102


@dataclass(frozen=True, slots=True)
class Row:
    """``low <= sum of weights over the stages used <= high``.

    Parameters
    ----------
    name
        Name of the row in a model.
    weights
        Shape ``(N,)``: what each candidate counts for.
    low, high
        Bounds; ``None`` = none.
    """

    name: str
    weights: Float
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, slots=True)
class Coupling:
    """A rule that ties stages to each other.

    Parameters
    ----------
    rule
        Its name, for messages.
    rows
        Makes its rows over some candidate stages.
    choices
        Makes masks of shape ``(K, K, S, C)``: a plan obeys the rule when one of them allows all its
        stages. ``None`` where no few masks say that.
    """

    rule: str
    rows: Callable[[Stages], list[Row]]
    choices: Callable[[], Iterable[Mask]] | None = None


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
        yield _device_pools(problem, problem.pools)
    if rules.same_submesh:
        yield _same_submesh(problem)
    if rules.same_size_ends:
        yield _same_size_ends(problem)
    for n, budget in enumerate(rules.budgets):
        yield _budget(problem, budget, n)


def _device_pools(problem: StageProblem, pools: dict[str, int]) -> Coupling:
    """Devices of each pool, exactly or at most. One pool is the device row of every model."""
    pool_of = np.array([list(pools).index(str(shape.pool)) for shape in problem.submeshes])

    def rows(stages: Stages) -> list[Row]:
        return [
            Row(
                f"pool_{p}",
                np.where(pool_of[stages.submesh] == p, stages.size, 0).astype(np.float64),
                float(devices) if problem.use_all_devices else None,
                float(devices),
            )
            for p, devices in enumerate(pools.values())
        ]

    return Coupling(POOLS, rows)


def _same_submesh(problem: StageProblem) -> Coupling:
    """All stages on one submesh: per cut and submesh, as many stages end as start on it."""
    num_submeshes = len(problem.submeshes)

    def rows(stages: Stages) -> list[Row]:
        made = []
        for cut, m in product(range(problem.num_layers - 1), range(num_submeshes)):
            mine = stages.submesh == m
            starts = (mine & (stages.first == cut + 1)).astype(np.float64)
            made.append(Row(f"shape_{cut}_{m}", starts - (mine & (stages.last == cut)), 0.0, 0.0))
        return made

    def choices() -> Iterator[Mask]:
        for m in range(num_submeshes):
            mask = np.zeros(problem.cost.shape, dtype=bool)
            mask[:, :, m] = True
            yield mask

    return Coupling("same_submesh", rows, choices)


def _same_size_ends(problem: StageProblem) -> Coupling:
    """First and last stage of one size: per size, as many first stages as last ones."""
    num_layers = problem.num_layers
    sizes = np.unique(problem.sizes)

    def rows(stages: Stages) -> list[Row]:
        ends = (stages.first == 0).astype(np.float64) - (stages.last == num_layers - 1)
        return [Row(f"ends_{n}", ends * (stages.size == n), 0.0, 0.0) for n in sizes.tolist()]

    def choices() -> Iterator[Mask]:
        for size in sizes.tolist():
            mask = np.ones(problem.cost.shape, dtype=bool)
            mask[0, :, problem.sizes != size] = False
            mask[:, num_layers - 1, problem.sizes != size] = False
            yield mask

    return Coupling("same_size_ends", rows, choices)


def _budget(problem: StageProblem, budget: Budget, index: int) -> Coupling:
    """Sum of weights at most the limit, in units that make the limit ``BUDGET_UNITS``."""
    weights = np.array([budget.of(shape) for shape in problem.submeshes])
    unit = budget.limit / BUDGET_UNITS if budget.limit > 0 else 1.0

    def rows(stages: Stages) -> list[Row]:
        taken = weights[stages.submesh] / unit
        return [Row(f"budget_{index}", taken, high=budget.limit / unit)]

    return Coupling(f"budget {budget.name!r}", rows)
