"""Rules that tie stages to each other: rows over candidate stages and, where possible, masks."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import product
from typing import Protocol

import numpy as np
import numpy.typing as npt

from stagecut.placement import too_wide
from stagecut.problem import StageProblem
from stagecut.rule_parts import Budget
from stagecut.submesh import Submesh

type Mask = npt.NDArray[np.bool_]
type Float = npt.NDArray[np.float64]
type Int = npt.NDArray[np.int64]

POOLS = "device pools"
"""Name of the coupling that several pools make."""

TRANSFERS = "transfers"
"""Name of the coupling that transfers between neighbours make."""

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
class Column:
    """A whole number from 0 to ``high`` that rows need besides the stages used."""

    name: str
    high: int


@dataclass(frozen=True, slots=True)
class Row:
    """``low <= sum of weights over the stages used + sum of coefficient x column <= high``.

    Parameters
    ----------
    name
        Name of the row in a model.
    weights
        Shape ``(N,)``: what each candidate counts for.
    low, high
        Bounds; ``None`` = none.
    columns
        Pairs of column and coefficient.
    """

    name: str
    weights: Float
    low: float | None = None
    high: float | None = None
    columns: tuple[tuple[Column, float], ...] = ()


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


def device_pools_coupling(problem: StageProblem, pools: dict[str, int]) -> Coupling:
    """State the devices of each pool, exactly or at most."""
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


def same_submesh_coupling(problem: StageProblem) -> Coupling:
    """State that all run on one submesh: per cut and submesh, as many stages end as start there."""
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


def same_size_ends_coupling(problem: StageProblem) -> Coupling:
    """State that first and last stage are of one size: per size, as many first as last ones."""
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


def budget_coupling(problem: StageProblem, budget: Budget, index: int) -> Coupling:
    """State that weights sum to at most the limit, in units that make it ``BUDGET_UNITS``."""
    weights = np.array([budget.of(shape) for shape in problem.submeshes])
    unit = budget.limit / BUDGET_UNITS if budget.limit > 0 else 1.0

    def rows(stages: Stages) -> list[Row]:
        taken = weights[stages.submesh] / unit
        return [Row(f"budget_{index}", taken, high=budget.limit / unit)]

    return Coupling(f"budget {budget.name!r}", rows)


def placeable_coupling(problem: StageProblem, grid: Submesh, index: int) -> Coupling:
    """State that the shapes can be laid out: host ``g`` holds ``a[m, g]`` parts of stages on ``m``.

    With ``n[m]`` stages of ``h x d``: ``sum over g of a[m, g] = h n[m]``, ``sum over m of
    d a[m, g] <= devices of a host`` and ``a[m, g] <= n[m]``. Then the parts can be dealt out so
    that no stage has two on one host (Gale and Ryser, 1957, with equal row sums), so that these
    rows say exactly that the shapes can be laid out.
    """
    mine = [
        m for m, s in enumerate(problem.submeshes) if s.pool == grid.pool and not too_wide(s, grid)
    ]
    hosts = range(grid.hosts)

    def rows(stages: Stages) -> list[Row]:
        made = []
        columns = {
            (m, g): Column(f"a_{index}_{m}_{g}", grid.devices_per_host) for m in mine for g in hosts
        }
        for m in mine:
            shape = problem.submeshes[m]
            used = (stages.submesh == m).astype(np.float64)
            parts = tuple((columns[m, g], 1.0) for g in hosts)
            made.append(Row(f"parts_{index}_{m}", -shape.hosts * used, 0.0, 0.0, parts))
            if shape.hosts > 1:
                made.extend(
                    Row(f"apart_{index}_{m}_{g}", -used, high=0.0, columns=((columns[m, g], 1.0),))
                    for g in hosts
                )
        none = np.zeros(len(stages.first))
        for g in hosts:
            taken = tuple(
                (columns[m, g], float(problem.submeshes[m].devices_per_host)) for m in mine
            )
            room = float(grid.devices_per_host)
            made.append(Row(f"host_{index}_{g}", none, high=room, columns=taken))
        return made

    return Coupling("placeable", rows)
