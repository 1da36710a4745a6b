"""Feasible plans with no stage above a threshold, in as few stages as possible.

Symbols: ``t`` the threshold; ``N[k]`` and ``N'[k]`` the fewest devices for the layers before and
from ``k``. A stage fits only if ``N[i] + n + N'[j + 1] <= D``, and ``d`` devices left before layer
``k`` lie in ``N'[k] .. D - N[k]``. Fewer stages behind never hurt a successor limit, so the fewest
stages of each state are all that a limit needs.
"""

from dataclasses import dataclass

import numpy as np

from stagecut_dp.candidates import Candidates, list_candidates
from stagecut_dp.chains import Weights, backward_chains, forward_chains
from stagecut_dp.device_pass import Windows, run_pass, within
from stagecut_dp.instance import Float, Instance
from stagecut_dp.outcome import Clock
from stagecut_dp.stages import longest_chain


def device_chains(instance: Instance, thresholds: Float) -> tuple[Float, Float]:
    """Return ``N`` and ``N'`` at each of ``T`` thresholds, shape ``(T, K + 1)`` each."""
    layers = instance.num_layers
    fewest = np.full((len(thresholds), layers, layers), np.inf)
    for choice in np.argsort(-instance.sizes, kind="stable").tolist():
        for row, threshold in zip(fewest, thresholds.tolist(), strict=True):
            allowed = instance.table[choice] <= min(threshold, np.finfo(np.float64).max)
            np.copyto(row, float(instance.sizes[choice]), where=allowed)
    weights = Weights.of_table(fewest)
    return forward_chains(weights), backward_chains(weights)


@dataclass(slots=True)
class Feasibility:
    """Asks for feasible plans of one instance."""

    instance: Instance
    clock: Clock

    def plan(self, threshold: float, most_stages: int | None = None) -> Candidates | None:
        """Return a plan with no stage above ``threshold`` seconds, or ``None``.

        It has the fewest stages possible, but no fewer than the instance's rule; ``None`` also when
        these are more than ``most_stages``.
        """
        instance = self.instance
        most = min(instance.max_stages, most_stages or instance.max_stages)
        listed, windows = self.reduced(threshold, most)
        if not len(listed):
            return None
        self.clock.tick()
        limits = np.full((len(listed), 1), np.inf)
        if listed.limit is not None:
            limits[:, 0] = listed.limit
        done = run_pass(
            listed, limits, windows, combine=_one_more, any_left=not instance.use_all_devices
        )
        fewest = float(done.ends(instance.num_devices)[0])
        if fewest > most:
            return None
        if fewest >= instance.min_stages:
            return listed.take(done.path(0, instance.num_devices))
        return self.counted(listed, windows, most)

    def counted(self, listed: Candidates, windows: Windows, most: int) -> Candidates | None:
        """Return a plan in at least the least number of stages, by the stage axis."""
        instance = self.instance
        most = min(most, longest_chain(listed))
        if most < instance.min_stages:
            return None
        self.clock.tick()
        base = np.zeros((len(listed), most))
        if listed.limit is not None:
            base[listed.limit[:, None] < np.arange(most)] = np.inf
        done = run_pass(
            listed,
            base,
            windows,
            step=1,
            heads=slice(0, 1),
            any_left=not instance.use_all_devices,
        )
        reached = np.flatnonzero(np.isfinite(done.ends(instance.num_devices)))
        reached = reached[reached >= instance.min_stages]
        return (
            listed.take(done.path(int(reached[0]), instance.num_devices)) if len(reached) else None
        )

    def reduced(self, threshold: float, most: int) -> tuple[Candidates, Windows]:
        """List what can be part of a plan, and the devices left before each layer."""
        instance = self.instance
        before, after = (row[0] for row in device_chains(instance, np.array([threshold])))
        ranges = np.triu(
            before[:-1, None] + after[1:] + instance.sizes.min() <= instance.num_devices
        )
        listed = list_candidates(instance, ranges, threshold)
        spare = instance.num_devices - before[listed.first] - after[listed.last + 1]
        listed = listed.take(listed.devices <= spare)
        if most < instance.num_layers:
            listed = _few(listed, most)
        low = np.where(np.isfinite(after), after, instance.num_devices + 1)
        high = np.where(np.isfinite(before), instance.num_devices - before, -1)
        empty = low > high
        low[empty], high[empty] = instance.num_devices + 1, -1
        windows = Windows(low.astype(np.int64), high.astype(np.int64))
        return listed.take(within(listed, windows)), windows


def _few(listed: Candidates, most: int) -> Candidates:
    """Drop what cannot be part of ``most`` stages, devices aside."""
    layers = listed.num_layers
    weight = np.full((1, layers, layers), np.inf)
    weight[0, listed.first, listed.last] = 1.0
    weights = Weights.of_table(weight)
    before, after = forward_chains(weights)[0], backward_chains(weights)[0]
    return listed.take(before[listed.first] + 1 + after[listed.last + 1] <= most)


def _one_more(limits: Float, tail: Float, out: Float | None = None) -> Float:
    """Add one stage in front of ``tail`` stages where the limit allows."""
    blocked = tail > limits
    total: Float = np.add(tail, 1.0, out=out)
    total[blocked] = np.inf
    return total
