"""Parts of a search on stages that know how many follow (:mod:`stagecut_dp.staged`).

Symbols: ``λ`` the price of a device. One price is as high as a whole plan: there, a chain on more
than ``D`` devices is beyond any budget, so what needs too many devices falls away.
"""

import math

import numpy as np

from stagecut_dp.candidates import Candidates
from stagecut_dp.device_pass import Windows, within
from stagecut_dp.instance import Float, Instance, Int
from stagecut_dp.parts import Bounds, Part, reduced_costs
from stagecut_dp.staged import StagedList, expand, staged_bounds

STEPS = (3.0, 1.5, 1.15)
"""Factors between the prices tried, round by round."""

WIDER = 1e-9
"""What rounding may take from a limit, relative, with room to spare."""
SHRINKING = 0.5
"""What a round must leave of a list, at most, to be followed by another."""


def enter_nodes(
    instance: Instance, listed: Candidates, parts: list[Part], budget: float
) -> StagedList:
    """Put nodes in the place of layers; bounds of parts are for layers until they are tightened.

    Limits are felt by the fewest devices of a chain, rules on the number of stages by the bound at
    the best price.
    """
    devices, weight = float(instance.num_devices), instance.num_microbatches - 1
    weights, limit = listed.devices.astype(np.float64), devices
    if listed.limit is None:
        hopeful = min(parts, key=lambda part: part.objective(weight))
        price = float(hopeful.bounds.prices[int(np.argmax(hopeful.bounds.values))])
        weights = listed.cost + price * weights
        limit = budget - weight * min(part.least for part in parts) + price * devices
        limit += WIDER * (budget + abs(price) * devices)
    staged = expand(listed, weights, limit, instance.min_stages, instance.max_stages)
    for part in parts:
        part.reduced = part.reduced[staged.which]
    return staged


def staged_within(
    instance: Instance, listed: Candidates, windows: Windows
) -> tuple[StagedList, Windows]:
    """Put nodes in the place of layers, and give each the window of its layer."""
    weights, devices = listed.devices.astype(np.float64), float(instance.num_devices)
    staged = expand(listed, weights, devices, instance.min_stages, instance.max_stages)
    layers = staged.layers()
    wide = Windows(windows.fewest[layers], windows.most[layers])
    return staged.take(within(staged, wide)), wide


def tighten_staged(
    instance: Instance, listed: StagedList, parts: list[Part], budget: float
) -> tuple[StagedList, list[Part]]:
    """Bound every part by chains over nodes; return what may hold a plan within ``budget``."""
    weight = instance.num_microbatches - 1
    opened = [part for part in parts if _tighten_one(instance, listed, part, budget)]
    kept = np.zeros(len(listed), dtype=bool)
    for part in opened:
        kept |= part.useful(listed, weight, budget)
    shorter, nodes = listed.take(kept).compact()
    for part in opened:
        part.reduced = part.reduced[kept]
        part.bounds = part.bounds.at(nodes)
    return shorter, opened


def _tighten_one(instance: Instance, listed: StagedList, part: Part, budget: float) -> bool:
    """Replace the bounds of a part by those over nodes; whether it stays open."""
    weight = instance.num_microbatches - 1
    highest = budget if budget < np.inf else part.most * instance.num_layers
    bounds, known, length = Bounds.none(listed.num_layers), part.bounds, math.inf
    for step in STEPS:
        mine = np.flatnonzero(part.useful(listed, weight, budget))
        if len(mine) > SHRINKING * length:
            break
        length = len(mine)
        price = float(known.prices[int(np.argmax(known.values))])
        prices = _prices(instance, price, step, part.most)
        if known is part.bounds:
            prices = np.append(prices, highest)
        bounds = bounds.joined(_bound(instance, listed, mine, part, np.minimum(prices, highest)))
        if part.total == np.inf or part.objective(weight) > budget:
            return False
        known = bounds
    part.bounds = bounds
    return True


def _bound(instance: Instance, listed: StagedList, mine: Int, part: Part, prices: Float) -> Bounds:
    """Raise the bounds of a part that uses the entries ``mine``, by chains at some prices."""
    some = listed.take(mine)
    bounds = staged_bounds(some, part.most, prices, instance.num_devices)
    reduced = np.full(len(listed), np.inf)
    found = reduced_costs(bounds, some, instance.num_devices)
    reduced[mine] = np.fmax(part.reduced[mine], found)
    part.reduced = reduced
    part.total = max(part.total, float(reduced[mine[some.first == 0]].min(initial=np.inf)))
    return bounds


def _prices(instance: Instance, price: float, step: float, top: float) -> Float:
    """Return prices around one, seconds per device."""
    if abs(price) < 1e-9 * top:
        low = -0.01 * top if instance.use_all_devices else 0.0
        return np.array([low, 0.001 * top, 0.01 * top])
    return np.array([price / step, price, price * step])
