"""Drop-in for Alpa's ``stage_construction``: the submesh spaces and the three programmes.

Arguments keep Alpa's names and order. Unlike the replaced functions these are exact in float64,
never skip a threshold, answer ``(inf, None)`` when infeasible, and let memory bind only as far as
``min(B, successors + 1)`` micro-batches are in flight.
"""

from collections.abc import Sequence

import numpy.typing as npt

from stagecut.compat.drop_in import DropInResult, plan
from stagecut.errors import ProblemError
from stagecut.submesh import SubmeshLike
from stagecut.submeshes import submesh_choices as choices_of_space

_SPACES = ("power_of_two", "small_power_of_two", "all", "manual")


def get_submesh_choices(
    num_hosts: int,
    num_devices_per_host: int,
    space: str,
    manually_specified_submeshes: Sequence[SubmeshLike] | None = None,
) -> tuple[tuple[int, int], ...]:
    """Return the physical shapes ``(hosts, devices_per_host)`` that a stage may run on.

    Parameters
    ----------
    num_hosts, num_devices_per_host
        The cluster; powers of two are not required.
    space
        ``"power_of_two"``, ``"small_power_of_two"``, ``"all"`` or ``"manual"``, as in
        :func:`stagecut.submesh_choices`.
    manually_specified_submeshes
        The shapes for ``"manual"``; not read in the other spaces.

    Returns
    -------
    tuple of (int, int)
        Distinct shapes; the whole cluster is among them except in ``"small_power_of_two"`` on more
        than 4 hosts and in ``"manual"``.

    Raises
    ------
    ProblemError
        On an unknown space, a number below 1, or bad manual shapes.

    Examples
    --------
    >>> from stagecut.compat import alpa
    >>> alpa.get_submesh_choices(3, 4, "power_of_two")
    ((1, 1), (1, 2), (1, 4), (2, 4), (3, 4))
    """
    if space not in _SPACES:
        raise ProblemError(f"space must be one of {', '.join(_SPACES)}, got {space!r}")
    manual = manually_specified_submeshes if space == "manual" else None
    shapes = choices_of_space(num_hosts, num_devices_per_host, space, manual)
    return tuple(shape.shape for shape in shapes)


def training_dp(
    num_layers: int,
    num_devices: int,
    num_microbatches: int,
    submesh_choices: Sequence[SubmeshLike],
    num_autosharding_configs: int,
    compute_cost: npt.ArrayLike,
    max_n_succ_stages: npt.ArrayLike | None,
) -> DropInResult:
    """Plan training stages: least sum of stage costs + (B - 1) x the largest, on all devices.

    Parameters
    ----------
    num_layers, num_devices, num_microbatches
        ``K``, ``D`` and ``B``.
    submesh_choices
        ``S`` shapes ``(hosts, devices_per_host)``.
    num_autosharding_configs
        ``C``.
    compute_cost
        Shape ``(K, K, S, C)``, seconds, ``[start, end inclusive, submesh, config]``; ``inf`` = not
        allowed.
    max_n_succ_stages
        The same shape: the most stages that may follow within memory; -1 = never fits; ``None`` =
        no limit. A limit of ``B - 1`` or more binds nothing.

    Returns
    -------
    cost
        The objective in seconds, ``inf`` when infeasible.
    stages
        ``[((start, end), submesh index, config index), ...]`` with an exclusive ``end``, ``None``
        when infeasible.

    Raises
    ------
    ProblemError
        If an argument breaks a rule.

    Notes
    -----
    The objective is eq. 2 of Zheng et al., OSDI 2022.

    Examples
    --------
    >>> from stagecut.compat import alpa
    >>> cost = [[[[1.0]], [[3.0]]], [[[0.0]], [[2.0]]]]
    >>> alpa.training_dp(2, 2, 4, [(1, 1)], 1, cost, None)
    (9.0, [((0, 1), 0, 0), ((1, 2), 0, 0)])
    """
    counts = num_layers, num_autosharding_configs
    return plan(
        submesh_choices,
        num_devices,
        num_microbatches,
        compute_cost,
        max_n_succ_stages,
        counts=counts,
    )


def training_dp_2(
    num_devices: int,
    num_microbatches: int,
    submesh_choices: Sequence[SubmeshLike],
    compute_cost: npt.ArrayLike,
    max_n_succ_stages: npt.ArrayLike | None,
) -> DropInResult:
    """Plan training stages; the same programme as :func:`training_dp` with Alpa's second call.

    Parameters, results and errors are those of :func:`training_dp`; ``K`` and ``C`` are read from
    the shape of ``compute_cost``.

    Examples
    --------
    >>> from stagecut.compat import alpa
    >>> cost = [[[[1.0]], [[3.0]]], [[[0.0]], [[2.0]]]]
    >>> alpa.training_dp_2(2, 4, [(1, 1)], cost, None)
    (9.0, [((0, 1), 0, 0), ((1, 2), 0, 0)])
    """
    return plan(submesh_choices, num_devices, num_microbatches, compute_cost, max_n_succ_stages)


def inference_dp(
    num_layers: int,
    num_devices: int,
    submesh_choices: Sequence[SubmeshLike],
    num_autosharding_configs: int,
    compute_cost: npt.ArrayLike,
) -> DropInResult:
    """Plan serving stages: least number of stages x largest stage cost, on all devices.

    Parameters, results and errors are those of :func:`training_dp`; ``compute_cost`` is the forward
    time of one request batch, in seconds.

    Examples
    --------
    >>> from stagecut.compat import alpa
    >>> cost = [[[[1.0]], [[3.0]]], [[[0.0]], [[2.0]]]]
    >>> alpa.inference_dp(2, 2, [(1, 1)], 1, cost)
    (4.0, [((0, 1), 0, 0), ((1, 2), 0, 0)])
    """
    return plan(
        submesh_choices,
        num_devices,
        1,
        compute_cost,
        objective="stages_times_bottleneck",
        counts=(num_layers, num_autosharding_configs),
    )
