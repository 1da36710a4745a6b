"""Drop-in for ColossalAI's ``calc_pipeline_strategy``: ``get_submesh_choices`` and ``alpa_dp``.

The replaced module raises ``IndexError`` on every call of ``alpa_dp``, returns shapes of floats and
ignores the number of hosts in mode ``"new"``; this one does none of it.
"""

from collections.abc import Sequence

import numpy.typing as npt

from stagecut.compat.drop_in import DropInResult, plan
from stagecut.errors import ProblemError
from stagecut.submesh import SubmeshLike
from stagecut.submeshes import submesh_choices as choices_of_space

_SPACE_OF_MODE = {"alpa": "all", "new": "new"}


def get_submesh_choices(
    num_hosts: int, num_devices_per_host: int, mode: str = "new"
) -> list[tuple[int, int]]:
    """Return the shapes that a stage may run on.

    Parameters
    ----------
    num_hosts, num_devices_per_host
        The cluster; powers of two are not required.
    mode
        ``"new"``: logical shapes ``(a, b)`` with ``a <= b`` over the whole cluster;
        ``"alpa"``: powers of two within a host, then every number of full hosts.

    Returns
    -------
    list of (int, int)
        Distinct shapes.

    Raises
    ------
    ProblemError
        On an unknown mode or a number below 1.

    Examples
    --------
    >>> from stagecut.compat import colossalai
    >>> colossalai.get_submesh_choices(1, 4)
    [(1, 1), (1, 2), (1, 4), (2, 2)]
    >>> colossalai.get_submesh_choices(3, 2, mode="alpa")
    [(1, 1), (1, 2), (2, 2), (3, 2)]
    """
    if mode not in _SPACE_OF_MODE:
        raise ProblemError(f"mode must be one of {', '.join(_SPACE_OF_MODE)}, got {mode!r}")
    space = _SPACE_OF_MODE[mode]
    return [shape.shape for shape in choices_of_space(num_hosts, num_devices_per_host, space)]


def alpa_dp(
    num_layers: int,
    num_devices: int,
    num_microbatches: int,
    submesh_choices: Sequence[SubmeshLike],
    num_autosharding_configs: int,
    compute_cost: npt.ArrayLike,
    gap: float = 1e-6,
) -> DropInResult:
    """Plan stages with the least sum of stage costs + (B - 1) x the largest, on all devices.

    Parameters
    ----------
    num_layers, num_devices, num_microbatches
        ``K``, ``D`` and ``B``.
    submesh_choices
        ``S`` shapes ``(rows, columns)``.
    num_autosharding_configs
        ``C``.
    compute_cost
        Shape ``(K, K, S, C)``, seconds, ``[start, end inclusive, submesh, config]``; ``inf`` = not
        allowed.
    gap
        Accepted and not used: no threshold is skipped, the result is exact for any gap.

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

    Examples
    --------
    >>> from stagecut.compat import colossalai
    >>> cost = [[[[1.0]], [[3.0]]], [[[0.0]], [[2.0]]]]
    >>> colossalai.alpa_dp(2, 2, 4, [(1, 1)], 1, cost)
    (9.0, [((0, 1), 0, 0), ((1, 2), 0, 0)])
    """
    counts = num_layers, num_autosharding_configs
    return plan(submesh_choices, num_devices, num_microbatches, compute_cost, counts=counts)
