"""What random tests share: problems, and the best plan by trying every one."""

import functools
import itertools
import math

import numpy as np
from hypothesis import strategies as st

import stagecut as sc

OBJECTIVES = ("training", "bottleneck", "latency", "stages_times_bottleneck")
GENERAL = tuple(name for name in sc.available_formulations() if name != "assignment")
"""Formulations of every problem; ``assignment`` needs additive costs."""


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


@st.composite
def additive_problems(draw):
    """A small problem in which a range costs the sum of its layers; some layers never run there."""
    problem = draw(problems())
    cost = problem.cost[..., 0].copy()
    for first in range(len(cost)):
        cost[first, first:] = np.cumsum(np.diagonal(cost).T[first:], axis=0)
    return problem.replace(cost=cost, max_successors=None)


@st.composite
def pooled_problems(draw, rules=(), max_pools=3, max_layers=4):
    """A small problem on one to three pools, under one value for each of ``rules``."""
    base = draw(problems(max_layers=max_layers))
    pools = {f"pool {p}": draw(st.integers(1, 4)) for p in range(draw(st.integers(1, max_pools)))}
    shapes = [
        sc.Submesh(*shape.shape, draw(st.sampled_from(sorted(pools)))) for shape in base.submeshes
    ]
    problem = base.replace(submeshes=shapes, num_devices=pools)
    return problem.replace(rules=drawn_rules(draw, rules, problem))


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
            if obeys(problem, ranges, picks):
                best = min(best, _price(problem, ranges, picks))
    return best


def obeys(problem, ranges, picks):
    """Whether a plan obeys every rule, read from the rules' documentation in plain Python."""
    rules, count = problem.rules, len(ranges)
    shapes = [problem.submeshes[m] for m, _ in picks]
    lengths = [j - i + 1 for i, j in ranges]
    cuts = [j for _, j in ranges[:-1]]
    stage_of = {layer: s for s, (i, j) in enumerate(ranges) for layer in range(i, j + 1)}
    return all([
        rules.num_stages in (None, count),
        (rules.min_stages or 0) <= count <= (rules.max_stages or math.inf),
        min(lengths) >= (rules.min_layers_per_stage or 0),
        max(lengths) <= (rules.max_layers_per_stage or math.inf),
        all(cut in cuts for cut in rules.required_cuts),
        not any(cut in cuts for cut in rules.forbidden_cuts),
        all(stage_of[first] == stage_of[last] for first, last in rules.same_stage),
        not rules.same_submesh or len(set(shapes)) == 1,
        not rules.same_size_ends or shapes[0].size == shapes[-1].size,
        all(
            shapes[stage_of[layer]] in rule.submeshes
            for rule in rules.allowed_submeshes
            for layer in range(rule.first_layer, rule.last_layer + 1)
        ),
        all(
            sum(dict(budget.weights)[shape] for shape in shapes) <= budget.limit
            for budget in rules.budgets
        ),
        not rules.placeable or all(
            tiles(tuple(shape for shape in shapes if shape.pool == grid.pool), grid)
            for grid in rules.cluster
        ),
    ])  # fmt: skip


@functools.cache
def tiles(shapes, grid):
    """Whether shapes fit side by side: every choice of hosts for every one is tried."""
    choices = [itertools.combinations(range(grid.hosts), shape.hosts) for shape in shapes]
    for picks in itertools.product(*map(list, choices)):
        load = [0] * grid.hosts
        for shape, hosts in zip(shapes, picks, strict=True):
            for host in hosts:
                load[host] += shape.devices_per_host
        if max(load) <= grid.devices_per_host:
            return True
    return False


RULES = (
    "num_stages",
    "min_stages",
    "max_stages",
    "min_layers_per_stage",
    "max_layers_per_stage",
    "required_cuts",
    "forbidden_cuts",
    "same_stage",
    "same_submesh",
    "same_size_ends",
    "allowed_submeshes",
    "budgets",
    "placeable",
)


def draw_rule(draw, name, problem):
    """A value for one rule of a problem: often binding, sometimes contradictory."""
    num_layers = problem.num_layers
    layers = st.integers(0, num_layers - 1)
    ranges = st.tuples(layers, layers).map(lambda pair: (min(pair), max(pair)))
    cuts = st.lists(st.integers(0, num_layers - 2), max_size=2) if num_layers > 1 else st.just([])
    shapes = st.lists(st.sampled_from(problem.submeshes), min_size=1, max_size=2, unique=True)
    weights = st.tuples(*[st.integers(0, 4)] * len(problem.submeshes))
    budget = st.builds(
        lambda limit, values: [sc.Budget(limit, zip(problem.submeshes, values, strict=True))],
        st.integers(0, 9),
        weights,
    )
    strategy = {
        "same_submesh": st.just(True),
        "same_size_ends": st.just(True),
        "placeable": st.just(True),
        "required_cuts": cuts,
        "forbidden_cuts": cuts,
        "same_stage": st.lists(ranges, min_size=1, max_size=2),
        "allowed_submeshes": st.tuples(ranges, shapes).map(lambda pair: [(*pair[0], pair[1])]),
        "budgets": budget,
    }.get(name, st.integers(1, num_layers))
    return draw(strategy)


@st.composite
def ruled_problems(draw, rules, **sizes):
    """A small problem under one value for each of ``rules``."""
    problem = draw(problems(**sizes))
    if "placeable" in rules:  # shapes over several hosts
        shapes = st.builds(sc.Submesh, st.integers(1, 2), st.integers(1, 4))
        count = len(problem.submeshes)
        drawn = draw(st.lists(shapes, min_size=count, max_size=count, unique=True))
        problem = problem.replace(submeshes=drawn)
    return problem.replace(rules=drawn_rules(draw, rules, problem))


def drawn_rules(draw, names, problem):
    """One value for each rule; the cluster is as large as the devices, or a little larger."""
    values = {name: draw_rule(draw, name, problem) for name in names}
    if "placeable" in names:
        values["cluster"] = {}
        for pool, devices in (problem.pools or {None: problem.num_devices}).items():
            width = draw(st.integers(2, 4))
            values["cluster"][pool] = (-(-devices // width), width)
    return sc.StageRules(**values)


def _price(problem, ranges, picks):
    for pool, devices in (problem.pools or {None: problem.num_devices}).items():
        shapes = [problem.submeshes[m] for m, _ in picks]
        used = sum(shape.size for shape in shapes if shape.pool == pool)
        if used > devices or (problem.use_all_devices and used < devices):
            return math.inf
    costs = []
    for s, ((i, j), (m, c)) in enumerate(zip(ranges, picks, strict=True)):
        successors = len(ranges) - 1 - s
        if problem.max_successors is not None and problem.max_successors[i, j, m, c] < successors:
            return math.inf
        costs.append(float(problem.cost[i, j, m, c]))
    if problem.transfers is not None and math.isfinite(sum(costs)):
        return _with_transfers(problem, ranges, picks, costs)
    if problem.robustness and problem.cost_spread is not None and math.isfinite(sum(costs)):
        return _worst(problem, ranges, picks, costs)
    return _objective(problem, costs)


def _with_transfers(problem, ranges, picks, costs):
    """The objective with a pipeline step for each cut, in the order in which sums are added."""
    sent = [
        float(problem.transfers[ranges[s][1], picks[s][0], picks[s + 1][0]])
        for s in range(len(costs) - 1)
    ]
    total = costs[-1]
    for cost, transfer in zip(reversed(costs[:-1]), reversed(sent), strict=True):
        total = cost + (transfer + total)
    largest = max(costs + sent)
    return {
        "training": total + (problem.num_microbatches - 1) * largest,
        "bottleneck": largest,
        "latency": total,
        "stages_times_bottleneck": len(costs) * largest,
    }[problem.objective]


def _worst(problem, ranges, picks, costs):
    """The objective when the worst choice of slow stages is slow: every choice is tried."""
    spread = [
        float(problem.cost_spread[i, j, m, c]) for (i, j), (m, c) in zip(ranges, picks, strict=True)
    ]
    sets = itertools.combinations(range(len(costs)), min(problem.robustness, len(costs)))
    return max(
        _objective(
            problem,
            [c + (k in slow) * s for k, (c, s) in enumerate(zip(costs, spread, strict=True))],
        )
        for slow in sets
    )


def _objective(problem, costs):
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
