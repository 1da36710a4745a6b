"""The hosts that a plan is laid out on, in whatever form a user names them."""

from collections.abc import Mapping
from typing import Any

from stagecut.errors import ProblemError
from stagecut.submesh import Submesh


def cluster_of(cluster: Any) -> tuple[Submesh, ...]:
    """Return the grids of a cluster, one per pool.

    Parameters
    ----------
    cluster
        ``(hosts, devices_per_host)``, anything with these two attributes, or such a value for each
        pool by name.

    Raises
    ------
    ProblemError
        If it is none of these.

    Examples
    --------
    >>> cluster_of({"a100": (2, 8), "v100": (4, 4)})[1]
    Submesh(hosts=4, devices_per_host=4, pool='v100')
    """
    if isinstance(cluster, Mapping):
        if not cluster:
            raise ProblemError("cluster must have at least one pool, got none")
        return tuple(Submesh(*_grid(value).shape, name) for name, value in cluster.items())
    if isinstance(cluster, tuple) and cluster and all(isinstance(c, Submesh) for c in cluster):
        return cluster
    return (_grid(cluster),)


def _grid(value: Any) -> Submesh:
    if hasattr(value, "hosts") and hasattr(value, "devices_per_host"):
        return Submesh(value.hosts, value.devices_per_host, getattr(value, "pool", None))
    try:
        return Submesh.of(value)
    except ProblemError:
        raise ProblemError(
            f"cluster must be (hosts, devices_per_host), or one for each pool, got {value!r}"
        ) from None
