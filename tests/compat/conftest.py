"""An oracle of its own for the drop-in functions: fronts of (sum, largest), no threshold."""

from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt
import pytest

type Front = list[tuple[float, float]]
type Value = Callable[[float, float, int], float]


def _non_dominated(points: Front) -> Front:
    front: Front = []
    for total, largest in sorted(points):
        if not front or largest < front[-1][1]:
            front.append((total, largest))
    return front


def _best_cost(
    cost: npt.NDArray[np.float64],
    limits: npt.NDArray[np.int64],
    place: tuple[int, int, int],
    in_flight: int,
) -> float:
    """Cheapest config with room for ``in_flight`` micro-batches."""
    return float(np.where(limits[place] + 1 >= in_flight, cost[place], np.inf).min())


def best_value(
    cost: npt.NDArray[np.float64],
    sizes: Sequence[int],
    num_devices: int,
    num_microbatches: int,
    limits: npt.NDArray[np.int64] | None = None,
    value: Value | None = None,
) -> float:
    """Least value over all plans on exactly ``num_devices``; ``inf`` when there is none."""
    layers = len(cost)
    limits = np.full(cost.shape, 10**6) if limits is None else limits
    value = value or (lambda total, largest, _: total + (num_microbatches - 1) * largest)
    fronts: dict[tuple[int, int], Front] = {(layers, 0): [(0.0, 0.0)]}
    best = np.inf
    for stages in range(1, layers + 1):
        grown: dict[tuple[int, int], Front] = {}
        for (start, used), front in fronts.items():
            for i in range(start):
                for m, size in enumerate(sizes):
                    price = _best_cost(
                        cost, limits, (i, start - 1, m), min(num_microbatches, stages)
                    )
                    if used + size <= num_devices and np.isfinite(price):
                        grown.setdefault((i, used + size), []).extend(
                            (price + total, max(price, largest)) for total, largest in front
                        )
        fronts = {key: _non_dominated(points) for key, points in grown.items()}
        best = min([best, *(value(*point, stages) for point in fronts.get((0, num_devices), []))])
    return float(best)


@pytest.fixture(scope="session")
def oracle() -> Callable[..., float]:
    """The function ``best_value``."""
    return best_value
