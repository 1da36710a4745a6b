"""Which submeshes a cluster offers: the usual search spaces as lists of shapes.

Symbols: ``H`` hosts, ``M`` devices on each host.
"""

from collections.abc import Sequence
from typing import Literal, get_args

from stagecut.errors import ProblemError
from stagecut.problem import positive_integer
from stagecut.submesh import Submesh, SubmeshLike

SubmeshSpace = Literal["power_of_two", "small_power_of_two", "all", "new", "manual"]
SPACES: tuple[str, ...] = get_args(SubmeshSpace)

SMALL_HOSTS = 4
"""Most hosts of a shape in the space ``"small_power_of_two"``."""


def submesh_choices(
    num_hosts: int,
    num_devices_per_host: int,
    space: str = "power_of_two",
    manual: Sequence[SubmeshLike] | None = None,
) -> tuple[Submesh, ...]:
    """Return the shapes that a stage may run on.

    Every space but ``"manual"`` holds the powers of two of devices within one host, the full host,
    and shapes of several full hosts. Neither ``H`` nor ``M`` has to be a power of two.

    Parameters
    ----------
    num_hosts, num_devices_per_host
        The cluster, ``H x M`` devices.
    space
        ``"power_of_two"``: powers of two of full hosts, and the whole cluster;
        ``"small_power_of_two"``: the same up to 4 hosts;
        ``"all"``: every number of full hosts;
        ``"new"``: logical shapes, every factor pair ``a x b`` with ``a <= b`` of every size in
        ``"power_of_two"``; rows and columns are axes of parallelism, not hosts and devices;
        ``"manual"``: the shapes in ``manual``, in their order.
    manual
        Shapes for ``"manual"``, :class:`Submesh` or ``(hosts, devices_per_host)``.

    Returns
    -------
    tuple of Submesh
        Distinct shapes of at most ``H * M`` devices each.

    Raises
    ------
    ProblemError
        On numbers below 1, an unknown space, ``manual`` without ``"manual"`` or the reverse, and
        a manual shape that repeats or is larger than the cluster.

    Notes
    -----
    The spaces are those of Alpa (Zheng et al., OSDI 2022, section 5.2); ``"new"`` is
    ColossalAI's, extended from one host to the cluster.

    Examples
    --------
    >>> import stagecut as sc
    >>> [shape.shape for shape in sc.submesh_choices(3, 6)]
    [(1, 1), (1, 2), (1, 4), (1, 6), (2, 6), (3, 6)]
    >>> [shape.shape for shape in sc.submesh_choices(1, 8, "new")]
    [(1, 1), (1, 2), (1, 4), (1, 8), (2, 2), (2, 4)]
    >>> [shape.size for shape in sc.submesh_choices(1, 6, "manual", [(1, 3), (1, 6)])]
    [3, 6]
    """
    hosts = positive_integer("num_hosts", num_hosts)
    devices = positive_integer("num_devices_per_host", num_devices_per_host)
    if space not in SPACES:
        raise ProblemError(f"space must be one of {', '.join(SPACES)}, got {space!r}")
    if (space == "manual") != (manual is not None):
        raise ProblemError(
            f"manual must be a list of shapes for space 'manual' and None for any other, "
            f"got manual={manual!r} with space {space!r}"
        )
    if manual is not None:
        return _given(manual, hosts * devices)
    if space == "new":
        return _logical(submesh_choices(hosts, devices, "power_of_two"))
    within = [Submesh(1, count) for count in _powers_of_two_and(devices)]
    return (*within, *(Submesh(count, devices) for count in _host_counts(hosts, space)))


def _host_counts(num_hosts: int, space: str) -> list[int]:
    """Numbers of full hosts, from 2, in one shape."""
    if space == "all":
        return list(range(2, num_hosts + 1))
    counts = _powers_of_two_and(num_hosts)[1:]
    if space == "small_power_of_two":
        return [count for count in counts if count <= SMALL_HOSTS]
    return counts


def _powers_of_two_and(most: int) -> list[int]:
    """Powers of two below ``most``, then ``most``."""
    return [1 << bit for bit in range((most - 1).bit_length())] + [most]


def _logical(shapes: Sequence[Submesh]) -> tuple[Submesh, ...]:
    """Every factor pair ``rows <= columns`` of every size, sorted."""
    return tuple(
        sorted(
            Submesh(rows, size // rows)
            for size in {shape.size for shape in shapes}
            for rows in range(1, size + 1)
            if rows * rows <= size and size % rows == 0
        )
    )


def _given(manual: Sequence[SubmeshLike], num_devices: int) -> tuple[Submesh, ...]:
    try:
        shapes = tuple(Submesh.of(value) for value in manual)
    except TypeError:
        raise ProblemError(
            f"manual must be a sequence of (hosts, devices_per_host), got {manual!r}"
        ) from None
    if not shapes:
        raise ProblemError("manual must name at least one shape, got none")
    for index, shape in enumerate(shapes):
        if shape in shapes[:index]:
            raise ProblemError(f"manual must be distinct, but manual[{index}] repeats {shape}")
        if shape.size > num_devices:
            raise ProblemError(
                f"manual[{index}] = {shape} has {shape.size} devices, the cluster has "
                f"{num_devices}; leave it out or give a larger cluster"
            )
    return shapes
