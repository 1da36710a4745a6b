"""Transfers between stages that depend on both neighbours' submeshes."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from stagecut.cluster import cluster_of
from stagecut.costs.collectives import Link
from stagecut.errors import ProblemError
from stagecut.submesh import Submesh, SubmeshLike


def transfer_seconds(
    boundary_bytes: Sequence[float] | npt.NDArray[np.float64],
    submeshes: Sequence[SubmeshLike],
    cluster: Any,
    *,
    intra_host: Link,
    inter_host: Link,
    between_pools: Link | None = None,
    both_ways: bool = True,
) -> npt.NDArray[np.float64]:
    """Return the table of :class:`stagecut.StageProblem`'s ``transfers``.

    A boundary is split evenly over the devices of the smaller neighbour, each of which sends its
    share over one link: within a host where both stages fit on one host of the pool, between hosts
    where not, between pools where the pools differ.

    Parameters
    ----------
    boundary_bytes
        ``K`` entries: bytes of one micro-batch handed on after each layer; the last is not read.
    submeshes
        The ``S`` shapes.
    cluster
        ``(hosts, devices_per_host)``, or one for each pool by name.
    intra_host, inter_host, between_pools
        Links of one device.
    both_ways
        Whether as many bytes come back as gradients (training).

    Returns
    -------
    numpy.ndarray
        Seconds, shape ``(K - 1, S, S)``.

    Raises
    ------
    ProblemError
        If there are pools and ``between_pools`` or a grid is missing, or a number is negative.

    Examples
    --------
    >>> links = {"intra_host": Link(100.0), "inter_host": Link(10.0)}
    >>> table = transfer_seconds([80.0, 0.0], [(1, 2), (1, 4)], (2, 4), **links)
    >>> table[0]  # 2 x 40 bytes each, but for a 1x4 and its neighbour between hosts
    array([[0.8, 8. ],
           [8. , 4. ]])
    """
    sizes = np.asarray(boundary_bytes, dtype=np.float64)
    if sizes.ndim != 1 or not len(sizes) or not (np.isfinite(sizes) & (sizes >= 0)).all():
        raise ProblemError("boundary_bytes must be bytes >= 0, one number per layer")
    shapes = [Submesh.of(shape) for shape in submeshes]
    widths = {grid.pool: grid.devices_per_host for grid in cluster_of(cluster)}
    links = (intra_host, inter_host, between_pools)
    ways = 2.0 if both_ways else 1.0
    table = np.zeros((len(sizes) - 1, len(shapes), len(shapes)))
    for m, before in enumerate(shapes):
        for q, after in enumerate(shapes):
            link = _link(before, after, widths, links)
            shares = (sizes[:-1] / min(before.size, after.size)).tolist()
            table[:, m, q] = [ways * link.send_seconds(share) if share else 0.0 for share in shares]
    return table


def _link(
    a: Submesh, b: Submesh, widths: Mapping[str | None, int], links: tuple[Link, Link, Link | None]
) -> Link:
    """Return the link between neighbours on ``a`` and ``b``."""
    intra_host, inter_host, between_pools = links
    if a.pool != b.pool:
        if between_pools is None:
            raise ProblemError(f"between_pools is needed for pools {a.pool!r} and {b.pool!r}")
        return between_pools
    if a.pool not in widths:
        raise ProblemError(f"cluster must have a grid for pool {a.pool!r}")
    together = a.hosts == b.hosts == 1 and a.size + b.size <= widths[a.pool]
    return intra_host if together else inter_host
