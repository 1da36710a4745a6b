"""Memory in bytes: what a stage holds on each device, and how many stages may follow it.

Symbols as in docs/costs.md: a device holds ``state + q x activation`` bytes, ``q`` micro-batches in
flight.
"""

import numpy as np
import numpy.typing as npt

from stagecut.costs.profile import LayerProfile
from stagecut.costs.ranges import range_sums
from stagecut.plan import Stage
from stagecut.submesh import Submesh

type Float = npt.NDArray[np.float64]
type Int = npt.NDArray[np.int64]


def held_bytes(
    profile: LayerProfile, shape: Submesh, degree: int, recompute: bool
) -> tuple[Float, Float]:
    """Return bytes on one device held once, and for each micro-batch in flight, ``(K, K)`` each."""
    kept, working = _activations(profile, recompute)
    parameters = range_sums(layer_field(profile, "parameter_bytes"))
    return profile.state_factor * parameters / degree + working / shape.size, kept / shape.size


def stage_bytes(
    profile: LayerProfile, stage: Stage, successors: int, num_microbatches: int | None = None
) -> float:
    """Return the bytes that a stage of a plan holds on each of its devices.

    Parameters
    ----------
    profile
        The profile from which the problem was made.
    stage
        The stage; its config says degree and recomputation.
    successors
        Number of stages after it.
    num_microbatches
        ``B``; by default the profile's.

    Examples
    --------
    >>> from stagecut.costs import Cluster, Layer, Link
    >>> layer = Layer("block", "decoder", {1: 1.0}, {1: 2.0}, 4.0, 10.0)
    >>> pair = LayerProfile("pair", "", (layer,) * 2, Cluster(1, 2, 80, Link(1), Link(1)), 1, 8)
    >>> stage_bytes(pair, Stage(0, 0, Submesh(1, 1), 0, 3.0), successors=1)  # 8 x 4 + 2 x 10
    52.0
    """
    recompute, config = divmod(stage.config, len(profile.degrees))
    once, each = held_bytes(profile, stage.submesh, profile.degrees[config], bool(recompute))
    count = profile.num_microbatches if num_microbatches is None else num_microbatches
    flight = {"1f1b": min(count, successors + 1), "gpipe": count, "inference": 1}[profile.schedule]
    place = stage.first_layer, stage.last_layer
    return float(once[place] + flight * each[place])


def max_successors(
    *, state: Float, activation: Float, capacity: float, num_microbatches: int, schedule: str
) -> Int:
    """Return the most stages that may follow each range within a device's memory.

    A range with ``p`` successors holds ``state + q(p) x activation`` bytes on each device, with
    ``q = min(B, p + 1)`` under ``"1f1b"``, ``B`` under ``"gpipe"`` and 1 under ``"inference"``.

    Parameters
    ----------
    state, activation
        Bytes on one device, arrays of one shape; activation is per micro-batch in flight.
    capacity
        Bytes of one device.
    num_microbatches
        ``B``.
    schedule
        ``"1f1b"``, ``"gpipe"`` or ``"inference"``.

    Returns
    -------
    numpy.ndarray
        int64 in the shape of ``state``: the limit, ``K`` (the first axis) where none binds, -1
        where the range never fits.

    Examples
    --------
    >>> import numpy as np
    >>> room = {"capacity": 5.0, "num_microbatches": 8, "schedule": "1f1b"}
    >>> max_successors(state=np.zeros(3), activation=np.array([1.0, 2.0, 6.0]), **room)
    array([ 3,  1, -1])
    """
    most = len(state)
    count = np.where(state <= capacity, float(num_microbatches), -1.0)
    some = (activation > 0) & (state <= capacity)
    np.divide(capacity - state, activation, out=count, where=some)
    fitting = np.minimum(np.floor(count), num_microbatches)
    fitting = np.where(state + fitting * activation > capacity, fitting - 1, fitting)
    if schedule == "1f1b":
        limit = np.where(fitting >= num_microbatches, most, fitting - 1)
    else:
        in_flight = num_microbatches if schedule == "gpipe" else 1
        limit = np.where(fitting >= in_flight, most, -1)
    return np.clip(limit, -1, most).astype(np.int64)


def _activations(profile: LayerProfile, recompute: bool) -> tuple[Float, Float]:
    """Return bytes kept per micro-batch in flight, and bytes held once, each shape ``(K, K)``.

    With recomputation a stage keeps the input of each layer, and has room once for the activations
    of one layer at a time.
    """
    own = layer_field(profile, "activation_bytes")
    if not recompute:
        return range_sums(own), np.zeros((len(own),) * 2)
    inputs = np.insert(layer_field(profile, "boundary_bytes")[:-1], 0, 0.0)
    return range_sums(inputs), np.maximum.accumulate(np.triu(np.tile(own, (len(own), 1))), axis=1)


def layer_field(profile: LayerProfile, name: str) -> Float:
    """Return one field of all layers, shape ``(K,)``."""
    return np.array([getattr(layer, name) for layer in profile.layers], dtype=np.float64)
