"""Which hosts and devices each stage gets, and whether shapes can be laid out at all.

A stage on ``h x d`` takes ``d`` devices on each of ``h`` different hosts of its pool. Hosts of a
pool are alike, so that only how many hosts have how many devices free decides what still fits: an
exact search over these counts, which remembers what it found not to fit.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from stagecut.cluster import cluster_of
from stagecut.errors import PlanError
from stagecut.plan import Plan
from stagecut.submesh import Submesh

type Free = tuple[int, ...]
"""Entry ``f``: how many hosts have ``f`` devices free."""


@dataclass(frozen=True, slots=True)
class Placement:
    """Devices of each stage.

    Parameters
    ----------
    cluster
        The hosts, one grid per pool.
    ranks
        For each stage the ranks of its devices, ascending. Ranks count host by host within a pool,
        and pool after pool in the order of ``cluster``.
    """

    cluster: tuple[Submesh, ...]
    ranks: tuple[tuple[int, ...], ...]

    def hosts(self, stage: int) -> tuple[int, ...]:
        """Return the hosts of a stage, ascending; hosts count pool after pool like ranks."""
        starts, found = _starts(self.cluster), set()
        for rank in self.ranks[stage]:
            (grid, first_rank, first_host) = next(s for s in reversed(starts) if s[1] <= rank)
            found.add(first_host + (rank - first_rank) // grid.devices_per_host)
        return tuple(sorted(found))


def place(plan: Plan, cluster: Any) -> Placement:
    """Lay the stages of a plan out on the devices of a cluster.

    Each stage in turn sits as close to the one before it as leaves room for all others: on hosts
    that they share, then on the nearest ones.

    Parameters
    ----------
    plan
        The plan.
    cluster
        ``(hosts, devices_per_host)``, anything with these two attributes such as a
        :class:`stagecut.costs.Cluster`, or one for each pool by name.

    Raises
    ------
    PlanError
        If the shapes cannot be laid out, though their sizes may add up.

    Examples
    --------
    >>> import stagecut as sc
    >>> shapes = [(1, 4), (2, 4), (1, 4)]
    >>> stages = [sc.Stage(k, k, sc.Submesh(*shape), 0, 1.0) for k, shape in enumerate(shapes)]
    >>> place(sc.Plan(stages), (2, 8)).ranks
    ((0, 1, 2, 3), (4, 5, 6, 7, 8, 9, 10, 11), (12, 13, 14, 15))
    >>> place(sc.Plan([sc.Stage(0, 0, sc.Submesh(1, 8), 0, 1.0), stages[1]]), (2, 8))
    Traceback (most recent call last):
    ...
    stagecut.errors.PlanError: the shapes 1x8, 2x4 cannot be laid out on a cluster of 2x8
    """
    grids = cluster_of(cluster)
    if violations := placement_violations(plan, grids):
        raise PlanError(violations)
    ranks: dict[int, tuple[int, ...]] = {}
    for grid, first_rank, _ in _starts(grids):
        mine = [s for s, stage in enumerate(plan.stages) if stage.submesh.pool == grid.pool]
        laid = _lay_out([plan.stages[s].submesh for s in mine], grid)
        for s, devices in zip(mine, laid, strict=True):
            ranks[s] = tuple(sorted(first_rank + device for device in devices))
    return Placement(grids, tuple(ranks[s] for s in range(plan.num_stages)))


def placement_violations(plan: Plan, cluster: tuple[Submesh, ...]) -> list[str]:
    """Return one sentence for each pool whose shapes cannot be laid out."""
    pools = {grid.pool: grid for grid in cluster}
    found = []
    for pool in dict.fromkeys(stage.submesh.pool for stage in plan.stages):
        shapes = [stage.submesh for stage in plan.stages if stage.submesh.pool == pool]
        if pool not in pools:
            found.append(f"the cluster has no pool {pool!r}")
        elif not fits(shapes, pools[pool]):
            names = ", ".join(map(str, shapes))
            found.append(f"the shapes {names} cannot be laid out on a cluster of {pools[pool]}")
    return found


def fits(shapes: list[Submesh], grid: Submesh) -> bool:
    """Return whether stages of these shapes can be laid out on the hosts of a grid.

    Examples
    --------
    >>> fits([Submesh(1, 8), Submesh(2, 4)], Submesh(2, 8))
    False
    """
    return _Search().fits(_empty(grid), _ordered(shapes))


def always_fit(shapes: list[Submesh], grid: Submesh) -> bool:
    """Return whether shapes fit as soon as their sizes add up to at most the grid's.

    So it is where every shape takes whole hosts or sits on one, and the smaller widths divide the
    larger ones and the host (Alpa's shapes): filled in falling order no host has a gap but the
    last.
    """
    widths = sorted({shape.devices_per_host for shape in shapes} | {grid.devices_per_host})
    nested = all(b % a == 0 for a, b in pairwise(widths))
    whole = all(s.hosts == 1 or s.devices_per_host == grid.devices_per_host for s in shapes)
    return nested and whole and widths[-1] == grid.devices_per_host


def too_wide(shape: Submesh, grid: Submesh) -> bool:
    """Return whether a shape is larger than a whole grid in either direction."""
    return shape.hosts > grid.hosts or shape.devices_per_host > grid.devices_per_host


def _starts(cluster: tuple[Submesh, ...]) -> list[tuple[Submesh, int, int]]:
    """Return each grid with its first rank and its first host."""
    starts, rank, host = [], 0, 0
    for grid in cluster:
        starts.append((grid, rank, host))
        rank, host = rank + grid.size, host + grid.hosts
    return starts


def _empty(grid: Submesh) -> Free:
    return (*[0] * grid.devices_per_host, grid.hosts)


def _ordered(shapes: list[Submesh]) -> tuple[tuple[int, int], ...]:
    """Return widths and numbers of hosts, the hardest to place first."""
    return tuple(sorted(((s.devices_per_host, s.hosts) for s in shapes), reverse=True))


class _Search:
    """Depth-first search with a memory of what does not fit."""

    def __init__(self) -> None:
        self.failed: set[tuple[Free, tuple[tuple[int, int], ...]]] = set()

    def fits(self, free: Free, shapes: tuple[tuple[int, int], ...]) -> bool:
        """Whether ``shapes`` fit into ``free``."""
        if not shapes:
            return True
        room = sum(level * count for level, count in enumerate(free))
        if (free, shapes) in self.failed or sum(w * h for w, h in shapes) > room:
            return False
        width, hosts = shapes[0]
        for taken in _takings(free, width, hosts):
            if self.fits(_after(free, taken, width), shapes[1:]):
                return True
        self.failed.add((free, shapes))
        return False


def _takings(free: Free, width: int, hosts: int, level: int = -1) -> Iterator[dict[int, int]]:
    """Yield ways to take ``hosts`` hosts with ``width`` free, by level; tight hosts first."""
    level = width if level < 0 else level
    if hosts == 0:
        yield {}
    elif level < len(free):
        for count in range(min(hosts, free[level]), -1, -1):
            for rest in _takings(free, width, hosts - count, level + 1):
                yield {level: count, **rest} if count else rest


def _after(free: Free, taken: dict[int, int], width: int) -> Free:
    left = list(free)
    for level, count in taken.items():
        left[level] -= count
        left[level - width] += count
    return tuple(left)


def _lay_out(shapes: list[Submesh], grid: Submesh) -> list[list[int]]:
    """Return the devices of each stage within one grid, in pipeline order."""
    search, width_of_host = _Search(), grid.devices_per_host
    used, before, laid = [0] * grid.hosts, [0], []
    for s, shape in enumerate(shapes):
        rest, width = _ordered(shapes[s + 1 :]), shape.devices_per_host
        chosen = next(
            hosts
            for hosts in _closest(used, before, shape, width_of_host)
            if search.fits(_free(used, hosts, width, width_of_host), rest)
        )
        laid.append(
            [host * width_of_host + used[host] + d for host in chosen for d in range(width)]
        )
        for host in chosen:
            used[host] += width
        before = chosen
    return laid


def _free(used: list[int], chosen: list[int], width: int, width_of_host: int) -> Free:
    """Return how many hosts have how many devices free after a stage takes ``chosen``."""
    levels = Counter(
        width_of_host - devices - (width if host in chosen else 0)
        for host, devices in enumerate(used)
    )
    return tuple(levels[level] for level in range(width_of_host + 1))


def _closest(
    used: list[int], before: list[int], shape: Submesh, width_of_host: int
) -> Iterator[list[int]]:
    """Yield hosts for a stage, one choice for each set of levels, the closest choices first."""

    def distance(host: int) -> tuple[int, int]:
        return min(abs(host - other) for other in before), host

    levels: dict[int, list[int]] = {}
    for host in sorted(range(len(used)), key=distance):
        levels.setdefault(width_of_host - used[host], []).append(host)
    free = tuple(len(levels.get(level, [])) for level in range(width_of_host + 1))
    choices = [
        [host for level, count in taken.items() for host in levels[level][:count]]
        for taken in _takings(free, shape.devices_per_host, shape.hosts)
    ]
    return iter(sorted(choices, key=lambda hosts: sorted(map(distance, hosts))))
