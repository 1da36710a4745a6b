"""From a layer profile to a stage problem: cost table and successor limits.

Symbols: stage ``i..j`` on a submesh of ``n`` devices, tensor-parallel degree ``t`` (the config),
``r = n / t`` data-parallel replicas, ``B`` micro-batches. The formulas, with units, are in
docs/costs.md.
"""

from collections.abc import Sequence
from itertools import product
from typing import Any

import numpy as np
import numpy.typing as npt

from stagecut.costs.memory import held_bytes, layer_field, max_successors
from stagecut.costs.profile import LayerProfile
from stagecut.costs.ranges import range_sums
from stagecut.costs.transfers import transfer_seconds
from stagecut.errors import ProblemError
from stagecut.problem import StageProblem, positive_integer
from stagecut.submesh import Submesh, SubmeshLike
from stagecut.submeshes import submesh_choices

type Float = npt.NDArray[np.float64]
type Int = npt.NDArray[np.int64]


def stage_problem(
    profile: LayerProfile,
    *,
    submeshes: Sequence[SubmeshLike] | None = None,
    num_devices: int | None = None,
    num_microbatches: int | None = None,
    recompute: bool = False,
    pair_transfers: bool = False,
    **changes: Any,
) -> StageProblem:
    """Build the stage problem of a layer profile.

    The config axis holds the profile's tensor-parallel degrees; data parallelism fills the rest of
    the submesh. A config is allowed where its degree divides the submesh's size, the replicas
    divide the micro-batch, every layer has a time for the degree, and memory suffices. Where every
    layer has ``spread_seconds``, their sums are the problem's ``cost_spread``.

    Parameters
    ----------
    profile
        The profile.
    submeshes
        Shapes to choose from; by default the powers of two within the cluster.
    recompute
        Whether a stage may also recompute: the config axis then holds the degrees once keeping all
        activations and once more keeping only the input of each layer, which is cheaper in memory
        and runs the forward pass twice. Not under ``"inference"``, which keeps nothing.
    pair_transfers
        Whether transfers between stages are the problem's ``transfers``, by both neighbours'
        submeshes (:func:`transfer_seconds`), instead of a part of every stage's cost.
    num_devices, num_microbatches
        ``D`` and ``B``; by default the cluster's and the profile's.
    **changes
        Other arguments of :class:`stagecut.StageProblem`; the objective is ``"bottleneck"`` by
        default under the ``"inference"`` schedule.

    Raises
    ------
    ProblemError
        If an argument breaks a rule.

    Examples
    --------
    >>> from stagecut.costs import Cluster, Layer, LayerProfile, Link
    >>> block = Layer("block", "decoder", {1: 1.0}, {1: 2.0})
    >>> cluster = Cluster(1, 2, 8e9, Link(3e11), Link(2e10))
    >>> profile = LayerProfile("two blocks", "by hand", (block, block), cluster, 1, 4)
    >>> stage_problem(profile).cost[0, 1, :, 0]
    array([ 6., inf])
    """
    cluster = profile.cluster
    shapes = (
        submesh_choices(cluster.hosts, cluster.devices_per_host)
        if submeshes is None
        else tuple(Submesh.of(shape) for shape in submeshes)
    )
    if not shapes:
        raise ProblemError("submeshes must name at least one shape, got none")
    count = positive_integer(
        "num_microbatches",
        profile.num_microbatches if num_microbatches is None else num_microbatches,
    )
    if recompute and profile.schedule == "inference":
        raise ProblemError("recompute has no use under the 'inference' schedule; leave it out")
    configs = list(product((False, True) if recompute else (False,), profile.degrees))
    tables = [
        [
            _stage_table(profile, shape, degree, count, again, pair_transfers)
            for again, degree in configs
        ]
        for shape in shapes
    ]
    cost = np.stack([np.stack([pair[0] for pair in row], axis=-1) for row in tables], axis=2)
    limit = np.stack([np.stack([pair[1] for pair in row], axis=-1) for row in tables], axis=2)
    defaults: dict[str, Any] = {"layer_names": [layer.name for layer in profile.layers]}
    if pair_transfers:
        defaults["transfers"] = transfer_seconds(
            layer_field(profile, "boundary_bytes"),
            shapes,
            cluster,
            intra_host=cluster.intra_host,
            inter_host=cluster.inter_host,
            both_ways=profile.schedule != "inference",
        )
    if profile.schedule == "inference":
        defaults["objective"] = "bottleneck"
    if all(layer.spread_seconds is not None for layer in profile.layers):
        defaults["cost_spread"] = np.stack(
            [
                np.stack([_spread(profile, shape, degree) for _, degree in configs], axis=-1)
                for shape in shapes
            ],
            axis=2,
        )
    return StageProblem(
        cost,
        shapes,
        cluster.num_devices if num_devices is None else num_devices,
        count,
        max_successors=limit,
        **{**defaults, **changes},
    )


def _stage_table(
    profile: LayerProfile,
    shape: Submesh,
    degree: int,
    num_microbatches: int,
    recompute: bool,
    pair_transfers: bool,
) -> tuple[Float, Int]:
    """Return seconds and successor limits of all ranges, each shape ``(K, K)``."""
    num_layers = len(profile.layers)
    replicas, rest = divmod(shape.size, degree)
    if rest or profile.micro_batch % replicas:
        return np.full((num_layers,) * 2, np.inf), np.full((num_layers,) * 2, -1, dtype=np.int64)
    compute = range_sums(_seconds(profile, degree, recompute)) / replicas
    once, each = held_bytes(profile, shape, degree, recompute)
    cost = (
        compute
        + (0.0 if pair_transfers else _transfer_seconds(profile, replicas))
        + _gradient_seconds(profile, shape, degree, replicas) / num_microbatches
    )
    limit = max_successors(
        state=once,
        activation=each,
        capacity=profile.cluster.memory_bytes,
        num_microbatches=num_microbatches,
        schedule=profile.schedule,
    )
    return cost, np.where(np.isfinite(cost), limit, -1)


def _seconds(profile: LayerProfile, degree: int, recompute: bool) -> Float:
    """Seconds of each layer, shape ``(K,)``; ``inf`` where it has no time for the degree."""
    backward, passes = profile.schedule != "inference", 2 if recompute else 1
    return np.array(
        [
            passes * layer.forward_seconds.get(degree, np.inf)
            + (layer.backward_seconds.get(degree, np.inf) if backward else 0.0)
            for layer in profile.layers
        ]
    )


def _spread(profile: LayerProfile, shape: Submesh, degree: int) -> Float:
    """Seconds by which each range may take longer, shape ``(K, K)``: all its layers slow at once.

    0 where a layer has no time for the degree, since no such stage is allowed.
    """
    spreads = [(layer.spread_seconds or {}).get(degree, 0.0) for layer in profile.layers]
    slower: Float = range_sums(spreads) * degree / shape.size
    return slower


def _transfer_seconds(profile: LayerProfile, replicas: int) -> Float:
    """Return the time of outputs sent after ``j`` and gradients sent before ``i``, ``(K, K)``."""
    cluster = profile.cluster
    link = cluster.intra_host if cluster.hosts == 1 else cluster.inter_host
    sizes = layer_field(profile, "boundary_bytes")[:-1] / replicas
    sends = np.array([link.send_seconds(size) if size > 0 else 0.0 for size in sizes])
    forward, backward = np.append(sends, 0.0), np.insert(sends, 0, 0.0)
    if profile.schedule == "inference":
        backward = np.zeros_like(backward)
    seconds: Float = forward[None, :] + backward[:, None]
    return seconds


def _gradient_seconds(
    profile: LayerProfile, shape: Submesh, degree: int, replicas: int
) -> Float | float:
    """Return the all-reduce of gradients over the replicas once per iteration, shape ``(K, K)``."""
    if replicas == 1 or profile.schedule == "inference":
        return 0.0
    cluster = profile.cluster
    link = cluster.intra_host if shape.hosts == 1 else cluster.inter_host
    own = range_sums(layer_field(profile, "parameter_bytes")) / degree
    steps = 2 * (replicas - 1)
    return steps * link.latency + steps / replicas * own / link.bandwidth
