"""What random tests share: problems, and the best plan by trying every one."""

import itertools
import math

import numpy as np
from hypothesis import strategies as st

import stagecut as sc

OBJECTIVES = ("training", "bottleneck", "latency", "stages_times_bottleneck")


@st.composite
def problems(draw, max_layers=5, max_devices=8):
    """A small problem: ties, noise or costs far apart, forbidden stages, limits, any scale."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    num_layers = draw(st.integers(1, max_layers))
    sizes = draw(st.lists(st.integers(1, 5), min_size=1, max_size=3, unique=True))
    num_configs = draw(st.integers(1, 2))
    shape = (num_layers, num_layers, len(sizes), num_configs)
    kind = draw(st.sampled_from(["tied", "uniform", "far apart"]))
    cost = rng.random(shape)
    if kind == "tied":
        cost = rng.integers(0, 8, shape).astype(float)
    elif kind == "far apart":
        cost = 10.0 ** (18.0 * cost - 9.0)
    cost = cost * draw(st.sampled_from([1.0, 1e-9, 1e9]))
    cost[rng.random(shape) < draw(st.sampled_from([0.0, 0.3]))] = np.inf
    limits = rng.integers(-1, 4, shape) if draw(st.booleans()) else None
    return sc.StageProblem(
        cost,
        [(1, size) for size in sizes],
        draw(st.integers(1, max_devices)),
        draw(st.integers(1, 9)),
        max_successors=limits,
        objective=draw(st.sampled_from(OBJECTIVES)),
        use_all_devices=draw(st.booleans()),
    )


def brute_force(problem):
    """Least objective over every plan that the rules of the problem allow, ``inf`` without one.

    Written apart from the referee: it prices plans by the definition, in plain Python.
    """
    num_layers = problem.num_layers
    best = math.inf
    for cuts in itertools.product([False, True], repeat=num_layers - 1):
        ends = [k for k in range(num_layers - 1) if cuts[k]] + [num_layers - 1]
        ranges = list(zip([0] + [end + 1 for end in ends[:-1]], ends, strict=True))
        choices = itertools.product(range(len(problem.sizes)), range(problem.num_configs))
        for picks in itertools.product(list(choices), repeat=len(ranges)):
            best = min(best, _price(problem, ranges, picks))
    return best


def _price(problem, ranges, picks):
    used = sum(int(problem.sizes[m]) for m, _ in picks)
    if used > problem.num_devices or (problem.use_all_devices and used < problem.num_devices):
        return math.inf
    costs = []
    for s, ((i, j), (m, c)) in enumerate(zip(ranges, picks, strict=True)):
        successors = len(ranges) - 1 - s
        if problem.max_successors is not None and problem.max_successors[i, j, m, c] < successors:
            return math.inf
        costs.append(float(problem.cost[i, j, m, c]))
    total = 0.0
    for cost in reversed(costs):
        total = cost + total
    if math.isinf(total):
        return math.inf
    return {
        "training": total + (problem.num_microbatches - 1) * max(costs),
        "bottleneck": max(costs),
        "latency": total,
        "stages_times_bottleneck": len(costs) * max(costs),
    }[problem.objective]
