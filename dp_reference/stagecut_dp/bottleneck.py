"""The least largest stage cost, and the least (stages x largest stage cost).

Symbols: ``t`` a threshold on the stage cost, ``D`` devices, ``s`` stages.

Bottleneck: chains over layers give thresholds that no plan can meet; then bisection over the costs
of candidates, each step one pass for a feasible plan, snapped to that plan's largest stage cost.

Product: the fewest stages possible at ``t`` fall as ``t`` grows. For each number of stages below
that of the best plan, bisection finds the least ``t`` that allows it, unless the product at the
largest useful ``t`` shows that none helps.
"""

import math

import numpy as np

from stagecut_dp.candidates import Candidates
from stagecut_dp.fewest import Feasibility, device_chains
from stagecut_dp.first_look import least_top
from stagecut_dp.instance import Instance
from stagecut_dp.outcome import Clock, Incumbent
from stagecut_dp.settle import named_plan
from stagecut_dp.training import TrainingSearch

STEPS = np.array([1.0, 1.002, 1.01, 1.03, 1.1, 1.3, 2.0, 8.0])
"""Thresholds tried at once, relative to the lower bound."""


def least_bottleneck(instance: Instance, clock: Clock, best: Incumbent) -> None:
    """Bring ``best`` to the least bottleneck; among equals to the smaller sum."""
    asked = Feasibility(instance, clock)
    path = _least_path(asked, best)
    if path is None:
        best.close()
        return
    best.close()
    value, latency = best.objective, Incumbent()
    TrainingSearch(_single_batch(instance), clock, latency).run(value)
    if latency.plan is not None:
        best.plan, best.path = latency.plan, latency.path


def least_latency(instance: Instance, clock: Clock, best: Incumbent) -> None:
    """Bring ``best`` to the least sum of stage costs."""
    TrainingSearch(_single_batch(instance), clock, best).run()


def least_product(instance: Instance, clock: Clock, best: Incumbent) -> None:
    """Bring ``best`` to the least (stages x largest stage cost)."""
    asked, found = Feasibility(instance, clock), Incumbent()
    path = _least_path(asked, found)
    if path is None:
        best.close()
        return
    best.prove(found.objective)
    best.offer(len(path) * found.objective, named_plan(instance, path), path)
    fewest = asked.plan(_below(instance, best.objective), len(path) - 1)
    for stages in range(len(path) - 1, 0 if fewest is None else len(fewest) - 1, -1):
        if fewest is None or best.objective <= stages * found.objective:
            continue
        better = _cheaper(asked, stages, found.objective, best.objective)
        if better is not None:
            best.offer(len(better) * _top(better), named_plan(instance, better), better)
    best.close()


def _cheaper(asked: Feasibility, stages: int, floor: float, product: float) -> Candidates | None:
    """Return the plan of least ``t`` in at most ``stages`` stages if its product is smaller."""
    cap = _below(asked.instance, product, stages)
    path = asked.plan(cap, stages) if cap >= floor else None
    return None if path is None else _bisect(asked, np.nextafter(floor, -1.0), path, stages)


def _below(instance: Instance, product: float, stages: int = 1) -> float:
    """Return the largest cost ``t`` with ``stages * t`` below ``product``, -1 if none."""
    costs = instance.table
    return float(np.max(costs, where=stages * costs < product, initial=-1.0))


def _least_path(asked: Feasibility, best: Incumbent) -> Candidates | None:
    """Return a plan with the least bottleneck; ``best`` follows."""
    instance = asked.instance
    low = _chain_bound(instance)
    if low is None:
        return None
    path, step = asked.plan(max(low, 0.0)), 1e-3
    tried = low
    largest = float(np.max(instance.table, where=instance.table < np.inf, initial=0.0))
    while path is None:
        if tried >= largest:
            return None
        low, tried = tried, min(tried * (1 + step) if tried > 0 else largest, largest)
        best.prove(low)
        step *= 4
        path = asked.plan(tried)
    best.offer(_top(path), named_plan(instance, path), path)
    start = low if path is not None and tried > low else np.nextafter(low, -1.0)
    path = _bisect(asked, start, path, None, best)
    return path


def _bisect(
    asked: Feasibility,
    low: float,
    path: Candidates,
    most_stages: int | None,
    best: Incumbent | None = None,
) -> Candidates:
    """Return the plan of least ``t``: above ``low`` seconds, at most that of ``path``."""
    table = asked.instance.table
    while True:
        top = _top(path)
        between = table[(table > low) & (table < top)]
        if not len(between):
            return path
        middle = float(np.partition(between, (len(between) - 1) // 2)[(len(between) - 1) // 2])
        found = asked.plan(middle, most_stages)
        if found is None:
            low = middle
            if best is not None:
                best.prove(low)
        else:
            path = found
            if best is not None:
                best.offer(_top(path), named_plan(asked.instance, path), path)


def _chain_bound(instance: Instance) -> float | None:
    """Return a lower bound on the bottleneck, seconds; ``None`` if chains show that none exists."""
    low = max(least_top(instance), 0.0)
    if low == math.inf:
        return None
    tried = low * STEPS
    for _ in range(2):
        fits = device_chains(instance, tried)[1][:, 0] <= instance.num_devices
        at = int(np.argmax(fits)) if fits.any() else len(tried)
        if at == 0:
            return low
        low = float(tried[at - 1])
        if at == len(tried):
            return low
        tried = np.linspace(low, float(tried[at]), 9)[1:]
    return low


def _top(path: Candidates) -> float:
    return float(path.cost.max())


def _single_batch(instance: Instance) -> Instance:
    return instance.with_microbatches(1)
