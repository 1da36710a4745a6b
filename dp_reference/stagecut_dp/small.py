"""Small instances: passes over all candidates at several thresholds, no bounds by chains.

Symbols: ``F(t)`` = least sum with no stage above ``t``; ``w = B - 1``. A level ``t`` with the next
known ``F`` above it at ``u`` is open while ``F(u) + w t`` is below the best objective, in float64
as in the reals. Each pass takes evenly spread open levels.
"""

import math

import numpy as np

from stagecut_dp.candidates import list_candidates
from stagecut_dp.device_pass import Windows
from stagecut_dp.instance import Instance
from stagecut_dp.levels import run_levels
from stagecut_dp.outcome import Clock, Incumbent
from stagecut_dp.settle import priced_plan
from stagecut_dp.stages import StageAxis

MOST_WORK = 70_000
"""Candidates x device counts x stage counts up to which an instance is small."""
PASS_WORK = 60_000
"""The same times the thresholds of one pass."""


def work(instance: Instance) -> int:
    """Return about what a pass at one threshold combines."""
    rows = instance.max_stages + 1 if instance.counts_stages else 1
    layers = instance.num_layers
    return len(instance.table) * layers * (layers + 1) // 2 * (instance.num_devices + 1) * rows


def least_small(instance: Instance, cap: float, clock: Clock, best: Incumbent) -> None:
    """Bring ``best`` to the least sum + w x largest with no stage above ``cap`` seconds."""
    weight = instance.num_microbatches - 1
    layers, devices = instance.num_layers, instance.num_devices
    listed = list_candidates(instance, np.tri(layers, dtype=bool).T, cap)
    windows = Windows.full(layers, devices)
    counted = instance.counts_stages
    axis = StageAxis(instance.min_stages, instance.max_stages) if counted else None
    levels = np.unique(listed.cost) if weight else listed.cost.max(initial=-np.inf, keepdims=True)
    sums = np.full(len(levels), -np.inf)
    opened = np.flatnonzero(levels > -np.inf)
    most, found = max(PASS_WORK // max(work(instance), 1), 3), math.inf
    while len(opened):
        clock.tick()
        count = min(most, len(opened))
        tried = opened[np.arange(1, count + 1) * len(opened) // count - 1]
        if levels[tried[-1]] < listed.cost.max():
            listed = listed.take(listed.cost <= levels[tried[-1]])
        done = run_levels(instance, listed, windows, levels[tried], axis)
        objectives = done.sums + weight * levels[tried]
        row = int(np.argmin(objectives))
        if objectives[row] < found:
            path = done.path(row)
            best.offer(*priced_plan(instance, path), path)
            found = best.objective
        above = np.searchsorted(levels[tried], levels[opened])
        known = np.append(done.sums, -np.inf)[above]
        sums[opened] = np.maximum(sums[opened], known)
        opened = opened[(sums[opened] + weight * levels[opened] < found)]
        opened = opened[~np.isin(opened, tried)]
        if len(opened):
            best.prove(max(0.0, float((sums[opened] + weight * levels[opened]).min())))
    best.close()
