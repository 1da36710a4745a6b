"""Memory that leaves no plan: at which positions, by how many micro-batches or bytes."""

from dataclasses import replace

import numpy as np

from stagecut.costs import LayerProfile, stage_bytes, stage_problem
from stagecut.explain.causes import Cause, Oracle
from stagecut.explain.devices import layers
from stagecut.plan import Plan
from stagecut.problem import StageProblem

CAPACITY_STEP = 1e-4
"""Relative step to which the least capacity is found."""


def memory_cause(
    problem: StageProblem, oracle: Oracle, profile: LayerProfile | None
) -> Cause | None:
    """Return a cause if the problem has a plan only without its successor limits."""
    if problem.max_successors is None:
        return None
    low, high = 0, problem.num_layers + 1
    plan = oracle.plan(_with_more(problem, high))
    if plan is None:
        return None
    while high - low > 1:
        middle = (low + high) // 2
        found = oracle.plan(_with_more(problem, middle))
        low, high, plan = (low, middle, found) if found else (middle, high, plan)
    short = "; ".join(_short_stages(problem, plan, profile))
    change = f"fit {high} more micro-batch{'es' if high > 1 else ''} in flight in every stage"
    if profile is not None:
        change = _capacity_change(problem, oracle, profile)
    return Cause("memory", f"memory: in the plan that comes nearest {short}", (change,))


def _with_more(problem: StageProblem, more: int) -> StageProblem:
    """Return the problem with all successor limits raised."""
    assert problem.max_successors is not None
    limits = np.minimum(problem.max_successors, problem.num_layers) + more
    return problem.replace(max_successors=limits)


def _short_stages(problem: StageProblem, plan: Plan, profile: LayerProfile | None) -> list[str]:
    """Say for each stage beyond its limit which layers it has, where it stands and what fits."""
    assert problem.max_successors is not None
    texts = []
    for s, stage in enumerate(plan.stages):
        m = problem.submeshes.index(stage.submesh)
        limit = int(problem.max_successors[stage.first_layer, stage.last_layer, m, stage.config])
        after = plan.num_stages - 1 - s
        if after <= limit:
            continue
        where = layers(problem, stage.first_layer, stage.last_layer)
        fits = "never fits" if limit < 0 else f"fits with at most {limit} stages after it"
        text = f"stage {s} ({where} on {stage.submesh}), with {after} stages after it, {fits}"
        if profile is not None:
            needed = stage_bytes(profile, stage, after, problem.num_microbatches)
            there = profile.cluster.memory_bytes
            text += f": {needed:.6g} bytes a device, {needed - there:.6g} short"
        texts.append(text)
    return texts


def _capacity_change(problem: StageProblem, oracle: Oracle, profile: LayerProfile) -> str:
    """Return the least capacity with which there is a plan, to within ``CAPACITY_STEP``."""
    low, high = profile.cluster.memory_bytes, 2 * profile.cluster.memory_bytes
    while (plan := oracle.plan(_with_capacity(problem, profile, high))) is None:
        low, high = high, 2 * high
    while high > low * (1 + CAPACITY_STEP):
        middle = (low + high) / 2
        found = oracle.plan(_with_capacity(problem, profile, middle))
        low, high, plan = (low, middle, found) if found else (middle, high, plan)
    needed = max(
        stage_bytes(profile, stage, plan.num_stages - 1 - s, problem.num_microbatches)
        for s, stage in enumerate(plan.stages)
    )
    return f"raise memory_bytes from {profile.cluster.memory_bytes:.6g} to {needed:.6g}"


def _with_capacity(problem: StageProblem, profile: LayerProfile, capacity: float) -> StageProblem:
    """Return the problem with the limits of devices with another capacity."""
    cluster = replace(profile.cluster, memory_bytes=capacity)
    rebuilt = stage_problem(
        replace(profile, cluster=cluster),
        submeshes=problem.submeshes,
        num_devices=problem.num_devices,
        num_microbatches=problem.num_microbatches,
        recompute=problem.num_configs > len(profile.degrees),
    )
    return problem.replace(max_successors=rebuilt.max_successors)
