"""The ``k`` best distinct plans, in order.

Symbols: ``k`` plans wanted; ``t`` a threshold on the stage cost.

Sums: a plan among the ``k`` best of sum + (B - 1) x largest, with largest stage cost ``t``, is
among the ``k`` least sums at threshold ``t``; otherwise ``k`` plans would be better. So the
training search runs as it is with the ``k``-th best value for an incumbent and ranked passes.

Bottleneck: the least ``t`` that admits ``k`` plans; fewer than ``k`` lie below it, all are listed.
Product: the same for each exact number of stages.
"""

import bisect
import math
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt

from stagecut_dp.bottleneck import least_bottleneck
from stagecut_dp.candidates import Candidates
from stagecut_dp.device_pass import within
from stagecut_dp.fewest import Feasibility
from stagecut_dp.instance import Choice, Instance, make_instance
from stagecut_dp.outcome import Clock, Incumbent
from stagecut_dp.parts import Part
from stagecut_dp.ranked_pass import run_ranked
from stagecut_dp.settle import joint_windows, named_plan, priced_plan, shorten
from stagecut_dp.stages import StageAxis, longest_chain
from stagecut_dp.training import TrainingSearch
from stagecut_dp.validation import known_objective, positive

type Ranked = tuple[float, list[Choice]]


def k_best(
    cost: npt.ArrayLike,
    sizes: npt.ArrayLike,
    num_devices: int,
    num_microbatches: int = 1,
    *,
    k: int,
    objective: str = "training",
    max_successors: npt.ArrayLike | None = None,
    use_all_devices: bool = True,
    min_stages: int | None = None,
    max_stages: int | None = None,
) -> list[tuple[float, list[Choice]]]:
    """Return the ``k`` best distinct plans as ``(objective, plan)``, best first.

    Plans are distinct as lists of ``(first, last, submesh, config)``: the same ranges and submeshes
    in another config are another plan. Fewer are returned when there are fewer; among plans of
    equal objective at the end of the list, which ones are returned is not defined, but the same
    input gives the same list. There is no time limit; Ctrl-C raises ``KeyboardInterrupt``. Other
    arguments as for :func:`stagecut_dp.solve`.

    Raises
    ------
    ValueError
        If an argument breaks a rule.

    Examples
    --------
    >>> import numpy as np
    >>> cost = np.array([[[1.0], [2.5]], [[np.inf], [2.0]]])
    >>> k_best(cost, [1], 2, 2, k=2, use_all_devices=False)
    [(5.0, [(0, 0, 0, 0), (1, 1, 0, 0)]), (5.0, [(0, 1, 0, 0)])]
    """
    wanted = positive("k", k)
    known_objective(objective)
    instance = make_instance(
        cost,
        sizes,
        num_devices,
        num_microbatches,
        max_successors=max_successors,
        use_all_devices=use_all_devices,
        min_stages=min_stages,
        max_stages=max_stages,
        keep_configs=True,
    )
    if objective == "latency":
        instance, objective = instance.with_microbatches(1), "training"
    if objective == "training":
        return _best_sums(instance, wanted)
    if objective == "bottleneck":
        return _least_tops(instance, wanted, math.inf)
    return _least_products(instance, wanted)


def _least_products(instance: Instance, wanted: int) -> list[Ranked]:
    ranked: list[Ranked] = []
    narrow = Incumbent()
    least_bottleneck(instance, Clock(), narrow)
    for stages in range(instance.min_stages, instance.max_stages + 1):
        exact = replace(instance, min_stages=stages, max_stages=stages)
        cap = ranked[wanted - 1][0] / stages * (1 + 1e-12) if len(ranked) >= wanted else math.inf
        if cap < narrow.objective:
            break
        ranked += [(stages * top, plan) for top, plan in _least_tops(exact, wanted, cap)]
        ranked = sorted(ranked)[:wanted]
    return ranked


@dataclass(slots=True)
class Pool(Incumbent):
    """The best plans so far; ``objective`` is the ``k``-th best value, ``inf`` before."""

    wanted: int = 1
    ranked: list[Ranked] = field(default_factory=list)

    def offer(self, objective: float, plan: list[Choice], path: Candidates | None = None) -> None:
        """Keep a plan that is not known yet."""
        if objective <= self.objective and (objective, plan) not in self.ranked:
            bisect.insort(self.ranked, (objective, plan))
            del self.ranked[self.wanted :]
            if len(self.ranked) == self.wanted:
                self.objective = self.ranked[-1][0]


class RankedSearch(TrainingSearch):
    """The training search for the ``k`` best plans."""

    plain = False

    def __init__(self, instance: Instance, pool: Pool) -> None:
        super().__init__(instance, Clock(), pool)
        self.pool = pool

    def search(self, parts: list[Part], weights: npt.NDArray[np.float64]) -> None:
        """Raise the budget until it holds ``k`` plans."""
        likely = self.aim(parts)
        self.limited = self.instance.counts_stages
        self.raise_budget(parts, weights, likely, 0.002)

    def try_coarse(self) -> None:
        """Do nothing: one plan is not enough."""

    def settle[C: Candidates](
        self, listed: C, parts: list[Part], budget: float
    ) -> tuple[C, list[Part]]:
        """Take the ``k`` least sums at the threshold of the part with the best bound.

        What else has a largest stage above those of all ``k`` plans, up to the threshold, is worse
        than they are.
        """
        top = min(parts, key=lambda part: part.objective(self.weight)).most
        plans = least_sums(self.instance, listed, parts, top, budget, self.pool.wanted)
        for path in plans:
            self.pool.offer(*priced_plan(self.instance, path), path)
        limit = min(budget, self.pool.objective)
        highest = -math.inf
        if len(plans) == self.pool.wanted:
            highest = max(float(path.cost.max()) for path in plans)
        opened = []
        for part in parts:
            if part.most <= top:
                part.most = min(part.most, float(np.nextafter(highest, -math.inf)))
            if part.least <= part.most and part.objective(self.weight) <= limit:
                opened.append(part)
        return (shorten(listed, opened, self.weight, limit) if opened else listed), opened


def least_sums(
    instance: Instance,
    listed: Candidates,
    parts: list[Part],
    top: float,
    budget: float,
    wanted: int,
) -> list[Candidates]:
    """Return the ``wanted`` least sums with no stage above ``top`` seconds, as paths."""
    windows = joint_windows(instance, parts, budget)
    listed = listed.take(listed.cost <= top)
    listed = listed.take(within(listed, windows))
    done = run_ranked(
        listed,
        windows,
        instance.num_devices,
        wanted,
        any_left=not instance.use_all_devices,
    )
    return done.plans(instance.num_devices)


def _best_sums(instance: Instance, wanted: int) -> list[Ranked]:
    pool = Pool(wanted=wanted)
    RankedSearch(instance, pool).run()
    return pool.ranked


def _least_tops(instance: Instance, wanted: int, cap: float) -> list[Ranked]:
    """Return the plans of least bottleneck up to ``cap`` seconds."""
    first = Incumbent()
    least_bottleneck(instance, Clock(), first)
    if first.path is None or first.objective > cap:
        return []
    table = instance.table
    levels = np.unique(table[(table >= first.objective) & (table <= cap) & (table < np.inf)])
    low, high, step = 0, 0, 1
    plans = _plans_below(instance, float(levels[0]), wanted)
    while len(plans) < wanted and high + 1 < len(levels):
        low, high = high, min(high + step, len(levels) - 1)
        step *= 2
        plans = _plans_below(instance, float(levels[high]), wanted)
    while high - low > 1 and len(plans) >= wanted:
        middle = (low + high) // 2
        found = _plans_below(instance, float(levels[middle]), wanted)
        if len(found) >= wanted:
            high, plans = middle, found
        else:
            low = middle
    if high > 0:
        plans = _plans_below(instance, float(levels[high - 1]), wanted) + plans
    ranked: list[Ranked] = []
    for path in plans:
        entry = (float(path.cost.max()), named_plan(instance, path))
        if entry not in ranked:
            ranked.append(entry)
    return sorted(ranked)[:wanted]


def _plans_below(instance: Instance, threshold: float, wanted: int) -> list[Candidates]:
    """Return ``wanted`` plans with no stage above ``threshold`` seconds, or all if fewer."""
    listed, windows = Feasibility(instance, Clock()).reduced(threshold, instance.max_stages)
    axis = None
    if instance.counts_stages:
        axis = StageAxis(instance.min_stages, min(instance.max_stages, longest_chain(listed)))
        if axis.most < axis.least:
            return []
    done = run_ranked(
        listed,
        windows,
        instance.num_devices,
        wanted,
        axis=axis,
        any_left=not instance.use_all_devices,
    )
    return done.plans(instance.num_devices)
