"""Seeded cost tables to test and measure on.

Every generator takes ``(num_layers, num_devices, sizes=None, seed=0)`` and returns
``(cost, sizes, max_successors)``: ``cost`` float64, shape ``(K, K, S)``, seconds per micro-batch
(``inf`` below the diagonal and where a stage is not allowed); ``sizes`` int64, shape ``(S,)``,
powers of two up to ``D`` unless given; ``max_successors`` int64 like ``cost``, or ``None``.

- :func:`tied`: embedding, ``K - 2`` equal blocks and a head; equal ranges cost exactly the same.
- :func:`noisy`: the same with 1 to 5 % noise on every entry.
- :func:`memory_limited`: noisy, with 1F1B limits on successors and stages that never fit.
- :func:`uniform`: independent uniform costs, no structure at all.
- :func:`additive`: sums of layers' times and nothing else, for models over layers.
- :func:`profiled`: a published profile from ``../shared/data``, when it is there.
"""

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt

type Float = npt.NDArray[np.float64]
type Int = npt.NDArray[np.int64]
type Table = tuple[Float, Int, Int | None]

SHARED = Path(__file__).resolve().parents[3] / "shared"

EMBEDDING, BLOCK, HEAD = 0.35, 1.0, 0.8
"""Work of the first layer, of a block and of the last layer, seconds on one device."""
SPLIT_OVERHEAD = 0.02
"""Extra work each time that a stage is split over twice the devices."""
LATENCY = 0.0005
"""Seconds per layer and doubling of devices that no device can take away."""
BOUNDARY = 0.004
"""Seconds to pass one micro-batch between stages."""


def powers_of_two(num_devices: int) -> Int:
    """Return 1, 2, 4, ... up to ``num_devices``."""
    return 2 ** np.arange(num_devices.bit_length(), dtype=np.int64)


def tied(
    num_layers: int, num_devices: int, sizes: Sequence[int] | Int | None = None, seed: int = 0
) -> Table:
    """Return exactly tied transformer blocks; ``seed`` varies embedding and head."""
    rng = np.random.default_rng(seed)
    devices = powers_of_two(num_devices) if sizes is None else np.asarray(sizes, dtype=np.int64)
    embedding, head = EMBEDDING * rng.uniform(0.5, 2.0), HEAD * rng.uniform(0.5, 2.0)
    first, last = np.indices((num_layers, num_layers))
    length = last - first + 1
    starts, ends = first == 0, last == num_layers - 1
    blocks = length - starts - ends * (num_layers > 1)
    work = (blocks * BLOCK + starts * embedding + ends * head)[..., None]
    doublings = np.log2(devices)
    cost = work * (1 + SPLIT_OVERHEAD * doublings) / devices
    cost = cost + length[..., None] * LATENCY * doublings + BOUNDARY
    cost[length < 1] = np.inf
    return cost, devices, None


def noisy(
    num_layers: int,
    num_devices: int,
    sizes: Sequence[int] | Int | None = None,
    seed: int = 0,
    noise: float = 0.02,
) -> Table:
    """Return :func:`tied` times ``1 + noise * N(0, 1)`` per entry, 0.01 to 0.05 being usual."""
    cost, devices, _ = tied(num_layers, num_devices, sizes, seed)
    rng = np.random.default_rng([seed, 1])
    factor = 1 + noise * np.clip(rng.standard_normal(cost.shape), -3, 3)
    return cost * factor, devices, None


def memory_limited(
    num_layers: int,
    num_devices: int,
    sizes: Sequence[int] | Int | None = None,
    seed: int = 0,
    noise: float = 0.02,
    room: float = 1.6,
) -> Table:
    """Return :func:`noisy` with 1F1B memory.

    A device holds ``room * K / D`` layers' worth of weights; a stage with ``p`` successors also
    keeps ``p + 1`` micro-batches, each 2 to 6 % of its weights. What never fits is ``inf`` and -1.
    """
    cost, devices, _ = noisy(num_layers, num_devices, sizes, seed, noise)
    rng = np.random.default_rng([seed, 2])
    weights = rng.uniform(0.9, 1.1, num_layers)
    activations = weights * rng.uniform(0.02, 0.06, num_layers)
    per_device = room * max(num_layers / num_devices, 1 / int(devices.max()))
    capacity = (per_device * devices).astype(np.float64)
    weight_sum, activation_sum = _range_sums(weights), _range_sums(activations)
    with np.errstate(invalid="ignore", divide="ignore"):
        most = np.floor((capacity - weight_sum[..., None]) / activation_sum[..., None]) - 1
    lower = np.tril_indices(num_layers, -1)
    most[lower] = -1
    limits = np.clip(most, -1, 4095).astype(np.int64)
    return np.where(limits < 0, np.inf, cost), devices, limits


def uniform(
    num_layers: int, num_devices: int, sizes: Sequence[int] | Int | None = None, seed: int = 0
) -> Table:
    """Return independent uniform costs in (0, 1)."""
    devices = powers_of_two(num_devices) if sizes is None else np.asarray(sizes, dtype=np.int64)
    rng = np.random.default_rng([seed, 3])
    cost = rng.uniform(0.0, 1.0, (num_layers, num_layers, len(devices)))
    cost[np.tril_indices(num_layers, -1)] = np.inf
    return cost, devices, None


def additive(
    num_layers: int, num_devices: int, sizes: Sequence[int] | Int | None = None, seed: int = 0
) -> Table:
    """Return sums of layers' times: uneven layers, split over ``n`` devices at ``n ** 0.9``."""
    devices = powers_of_two(num_devices) if sizes is None else np.asarray(sizes, dtype=np.int64)
    rng = np.random.default_rng([seed, 4])
    chain = rng.uniform(0.5, 1.5, num_layers)
    cost = _range_sums(chain)[..., None] / devices**0.9
    cost[np.tril_indices(num_layers, -1)] = np.inf
    return cost, devices, None


KINDS = {"tied": tied, "noisy": noisy, "memory_limited": memory_limited, "uniform": uniform}
"""The four kinds of table by name."""


def profiled(
    num_layers: int, num_devices: int, sizes: Sequence[int] | Int | None = None, seed: int = 0
) -> Table | None:
    """Return layer times of a published profile repeated to ``K`` layers; ``None`` when absent.

    GPT-Neo 2.7B on V100 (Sailor's planner profile, micro-batch 1): measured times at
    tensor-parallel degrees 1, 2, 4; larger submeshes split the largest degree's time ideally.
    ``seed`` picks nothing: the table is one.
    """
    del seed
    path = SHARED / "data/sailor/sailor_planner/GPT-Neo-2.7_V100-16.json"
    if not path.is_file():
        return None
    degrees = {
        int(degree): [times[str(layer)][0] + times[str(layer)][1] for layer in range(len(times))]
        for degree, times in json.loads(path.read_text())["1"].items()
    }
    devices = powers_of_two(num_devices) if sizes is None else np.asarray(sizes, dtype=np.int64)
    cost = np.full((num_layers, num_layers, len(devices)), np.inf)
    for m, n in enumerate(devices.tolist()):
        degree = max(known for known in degrees if known <= n)
        times = degrees[degree]
        body = [times[1]] * (num_layers - 2) if num_layers > 2 else []
        chain = np.array([times[0], *body, times[-1]][:num_layers]) * (degree / n)
        cost[..., m] = _range_sums(chain) + 1e-4
    cost[np.tril_indices(num_layers, -1)] = np.inf
    return cost, devices, None


def _range_sums(values: Float) -> Float:
    """``result[i, j]`` = sum of ``values[i..j]``."""
    ends = np.concatenate([[0.0], np.cumsum(values)])
    return ends[None, 1:] - ends[:-1, None]
