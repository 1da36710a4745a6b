"""Every plan of a small instance by enumeration, and random small instances."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

OBJECTIVES = ("training", "bottleneck", "latency", "stages_times_bottleneck")


@dataclass(frozen=True)
class Small:
    """Arguments of one instance."""

    cost: np.ndarray
    sizes: np.ndarray
    num_devices: int
    num_microbatches: int
    max_successors: np.ndarray | None
    use_all_devices: bool
    min_stages: int | None = None
    max_stages: int | None = None

    @property
    def rules(self) -> dict[str, Any]:
        """Keyword arguments of a solve."""
        return {
            "max_successors": self.max_successors,
            "use_all_devices": self.use_all_devices,
            "min_stages": self.min_stages,
            "max_stages": self.max_stages,
        }


@dataclass(frozen=True)
class Priced:
    """A plan with its right-associated sum, largest stage cost and number of stages."""

    total: float
    largest: float
    stages: tuple[tuple[int, int, int, int], ...]

    def value(self, objective: str, num_microbatches: int) -> float:
        return {
            "training": self.total + (num_microbatches - 1) * self.largest,
            "bottleneck": self.largest,
            "latency": self.total,
            "stages_times_bottleneck": len(self.stages) * self.largest,
        }[objective]


def every_plan(small: Small) -> list[Priced]:
    """Enumerate the feasible plans."""
    least, most = small.min_stages or 1, small.max_stages or len(small.cost)
    return [
        plan for plan in _plans(small, 0, small.num_devices) if least <= len(plan.stages) <= most
    ]


def _plans(small: Small, first: int, devices: int) -> Iterator[Priced]:
    if first == len(small.cost):
        if devices == 0 or not small.use_all_devices:
            yield Priced(0.0, 0.0, ())
        return
    four = small.cost[..., None] if small.cost.ndim == 3 else small.cost
    limits = None if small.max_successors is None else small.max_successors.reshape(four.shape)
    for last in range(first, len(small.cost)):
        for m, size in enumerate(small.sizes.tolist()):
            if size > devices:
                continue
            for c in range(four.shape[3]):
                cost = float(four[first, last, m, c])
                if cost == math.inf:
                    continue
                for rest in _plans(small, last + 1, devices - size):
                    if limits is None or len(rest.stages) <= limits[first, last, m, c]:
                        yield Priced(
                            cost + rest.total,
                            max(cost, rest.largest),
                            ((first, last, m, c), *rest.stages),
                        )


def least(plans: list[Priced], objective: str, num_microbatches: int) -> float:
    """Return the optimum, ``inf`` without a plan."""
    return min((plan.value(objective, num_microbatches) for plan in plans), default=math.inf)


def random_small(seed: int, most_layers: int = 5) -> Small:
    """Draw an instance: ties, near ties, scales, holes, odd sizes, limits and rules on stages."""
    rng = np.random.default_rng(seed)
    layers, submeshes = int(rng.integers(1, most_layers + 1)), int(rng.integers(1, 4))
    configs = int(rng.integers(1, 3)) if rng.random() < 0.4 else 0
    shape = (layers, layers, submeshes, configs) if configs else (layers, layers, submeshes)
    draw = [
        lambda: rng.integers(0, 4, shape).astype(float),
        lambda: rng.random(shape),
        lambda: 1 + rng.integers(0, 5, shape) * 1e-8,
        lambda: rng.random(shape) * 10.0 ** rng.integers(-9, 10),
        lambda: np.round(rng.random(shape) * 3, 1),
    ]
    cost = draw[int(rng.integers(len(draw)))]()
    if rng.random() < 0.5:
        cost[rng.random(shape) < rng.random() * 0.6] = np.inf
    odd = rng.random() < 0.2
    sizes = rng.choice([1, 2, 3, 5, 7, 11, 13], submeshes) if odd else rng.integers(1, 6, submeshes)
    devices, microbatches = int(rng.integers(1, 9)), int(rng.choice([1, 2, 4, 16, 1000]))
    limits = rng.integers(-1, 4, shape) if rng.random() < 0.5 else None
    counted = rng.random() < 0.25
    low = int(rng.integers(1, 4)) if counted else None
    high = low + int(rng.integers(0, 3)) if low is not None else None
    exact = bool(rng.integers(2))
    return Small(cost, sizes, devices, microbatches, limits, exact, low, high)


def plan_value(
    plan: list, cost: np.ndarray, sizes: np.ndarray, num_microbatches: int, objective: str
) -> float:
    """Return what a plan is worth, by the definition."""
    stages = [float(cost[stage[: cost.ndim]]) for stage in plan]
    total = 0.0
    for seconds in reversed(stages):
        total = seconds + total
    priced = Priced(total, max(stages), tuple(plan))
    return priced.value(objective, num_microbatches)


def assert_feasible(
    plan: list,
    cost: np.ndarray,
    sizes: np.ndarray,
    num_devices: int,
    limits: np.ndarray | None,
    use_all_devices: bool,
) -> None:
    """Check cover, devices, allowed stages and successor limits."""
    assert [stage[0] for stage in plan] == [0, *(stage[1] + 1 for stage in plan[:-1])]
    assert plan[-1][1] == len(cost) - 1
    used = sum(int(sizes[m]) for _, _, m, _ in plan)
    assert used == num_devices if use_all_devices else used <= num_devices
    for follow, stage in zip(range(len(plan) - 1, -1, -1), plan, strict=True):
        assert cost[stage[: cost.ndim]] < np.inf
        assert limits is None or limits[stage[: cost.ndim]] >= follow
