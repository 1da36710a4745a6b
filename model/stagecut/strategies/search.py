"""The search of strategy ``bisection``: best-first branching on the epigraph variable.

Symbols: a node is an interval of ``t``, the largest stage cost, and the stages ``r`` that its plans
may use; ``z`` its LP bound; ``U`` the best plan's objective; ``d_r`` the reduced cost of ``x_r``.

A node's model has no stage dearer than the interval, and epigraph rows whose costs are raised to
its lower end. Its LP gives ``z``. A plan of the node that uses ``r`` costs at least ``z + d_r``, so
stages with ``z + d_r > U`` fall away (:mod:`~stagecut.strategies.fixing`).
The first ``U`` is the best plan among the stages of least reduced cost. A node with few stages left
is solved as an integer program; others are split into plans whose largest stage costs at most some
``s``, and the rest.

Every bound holds with whatever rows the model has, rules and a user's own among them. No figure of
the dynamic programme is used, so that the result may be held against it.
"""

import contextlib
import heapq
import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np

from stagecut import backend
from stagecut.candidates import Float, Int
from stagecut.errors import SolverError
from stagecut.formulations.built import BuiltModel
from stagecut.problem import StageProblem
from stagecut.result import Statistics
from stagecut.strategies.decode import INTEGRALITY, Incumbent, decode
from stagecut.strategies.fixing import hopeful, reduced_costs
from stagecut.strategies.floor import Feasibility
from stagecut.strategies.nodes import Models
from stagecut.strategies.relaxation import relaxation

FEW = 24
"""Stages per layer that an integer program takes as they are."""

SAMPLE = 12
"""Stages per layer, of least reduced cost, among which a first plan is looked for."""

SAMPLE_GAP = 1e-3
"""Relative gap at which that search ends."""

CLOSE = 1e-9
"""Relative difference of objectives that counts as none."""


@dataclass(order=True, slots=True)
class Node:
    """Plans of the stages ``kept``, their largest cost at least ``floor`` seconds."""

    bound: float
    order: int
    floor: float = field(compare=False)
    kept: Int = field(compare=False)


@dataclass(slots=True)
class Search:
    """The search over one problem.

    Parameters
    ----------
    models
        Makes the models of nodes.
    asked
        The solver, the request and its clock; learns why the search stopped.
    problem
        The problem: its number of layers is a measure for sizes of models, and without ``t`` in its
        objective the first node is solved as it is.
    fixing
        Whether stages fall away by reduced cost.
    incumbent
        The best plan so far.
    """

    models: Models
    asked: Feasibility
    problem: StageProblem
    fixing: bool = True
    incumbent: Incumbent | None = None
    figures: Statistics = field(default_factory=lambda: Statistics(nodes=0, models=0))
    _open: list[Node] = field(default_factory=list)
    _closed: float = math.inf
    _order: Callable[[], int] = field(default_factory=lambda: itertools.count().__next__)

    @property
    def best(self) -> float:
        """Objective of the best plan so far, seconds; ``inf`` without one."""
        return math.inf if self.incumbent is None else self.incumbent.objective

    @property
    def bound(self) -> float:
        """A bound on every plan's objective, seconds; ``inf`` if there is proven to be no plan."""
        return min(self.best, self._closed, min(self._open).bound if self._open else math.inf)

    def run(self, floor: float) -> None:
        """Search until the best plan is proven, or a limit stops it."""
        self._push(0.0, floor, np.arange(len(self.models.candidates)))
        while self._open and self.asked.stopped_by is None and self._open[0].bound < self._cutoff:
            node = self._open[0]  # which stays open, and in the bound, until it is done with
            try:
                with backend.modelling(self.asked.left):
                    self._report()
                    self._visit(node)
            except backend.OutOfTimeError:
                self.asked.stopped_by = "time"
            except KeyboardInterrupt:
                self.asked.stopped_by = "interrupt"
            if self.asked.stopped_by is None:
                self._open.remove(node)
                heapq.heapify(self._open)
        with contextlib.suppress(KeyboardInterrupt):
            self._report()

    @property
    def claim(self) -> Literal["optimal", "infeasible", "stopped"]:
        """What the search says at its end."""
        if self.asked.stopped_by is not None:
            return "stopped"
        return "infeasible" if self.incumbent is None else "optimal"

    @property
    def _cutoff(self) -> float:
        """Objective from which on a plan is no better, for the gap that was asked for."""
        return self.best * (1 - max(self.asked.request.rel_gap, CLOSE))

    def _visit(self, node: Node) -> None:
        """Bound a node, then close or split it."""
        built, stage = self.models.at(node.kept, node.floor)
        answer = relaxation(built, self.asked.solver, self._request())
        self._note(built, answer)
        if answer.status == "infeasible" and node.order == 0 and self.incumbent is not None:
            raise SolverError(
                f"{self.asked.solver} claims that there is no plan, but warm_start is one"
            )
        if answer.status != "optimal" or answer.objective is None:
            return
        bound = max(node.bound, answer.objective * built.scale)
        if bound >= self._cutoff:
            self._closed = min(self._closed, bound)
            return
        used = np.array([column.varValue for column in built.columns])
        if _is_whole(built):
            self._offer(decode(built, None, self.asked.solver))
            self._closed = min(self._closed, bound)
            return
        reduced = reduced_costs(built)
        peak = (built.bottleneck.varValue or 0.0) * built.scale
        if self.incumbent is None:
            self._sample(node, stage, reduced, used)
        if self.asked.stopped_by is None:
            best = self.best if self.fixing else math.inf
            self._divide(node, bound, peak, hopeful(node.kept, stage, bound, reduced, best))

    def _sample(self, node: Node, stage: Int, reduced: Float, used: Float) -> None:
        """Look for a first plan among the stages of least reduced cost, then among more."""
        order = np.argsort(reduced, kind="stable")
        most = SAMPLE * self.problem.num_layers
        while self.incumbent is None and most < len(node.kept) and self.asked.stopped_by is None:
            near = np.union1d(stage[order[:most]], stage[used > CLOSE])
            self._solve(np.intersect1d(near, node.kept), node.floor, SAMPLE_GAP)
            most *= 4

    def _divide(self, node: Node, bound: float, peak: float, kept: Int) -> None:
        """Close a node that has few stages, or push its two parts."""
        few = FEW * self.problem.num_layers
        costs = self.models.candidates.cost[kept]
        split = math.inf
        if self.problem.objective != "latency" and len(kept) > few:
            place = min(int((costs < node.floor).sum()) + few // 2, len(costs) - 1)
            split = max(float(np.partition(costs, place)[place]), peak * (1 + CLOSE))
        above = costs[costs > split]
        if not len(above):
            answer = self._solve(kept, node.floor, self.asked.request.rel_gap)
            self._closed = min(self._closed, bound if answer is None else max(bound, answer))
            return
        self._push(bound, node.floor, kept[costs <= split])
        self._push(bound, max(node.floor, float(above.min())), kept)

    def _solve(self, kept: Int, floor: float, gap: float) -> float | None:
        """Solve a node as an integer program; return the bound proven, in seconds."""
        built, _ = self.models.at(kept, floor)
        cutoff = self.best / built.scale if math.isfinite(self.best) else None
        answer = backend.run(
            built.model, self.asked.solver, replace(self._request(), cutoff=cutoff, rel_gap=gap)
        )
        self._note(built, answer)
        if answer.has_solution:
            self._offer(decode(built, answer.objective, self.asked.solver))
        if answer.status == "infeasible":
            return self.best
        return None if answer.bound is None else answer.bound * built.scale

    def _push(self, bound: float, floor: float, kept: Int) -> None:
        if len(kept):
            heapq.heappush(self._open, Node(bound, self._order(), floor, kept))

    def _offer(self, found: Incumbent) -> None:
        if found.objective < self.best:
            self.incumbent = found

    def _note(self, built: BuiltModel, answer: backend.Answer) -> None:
        """Take note of a model and its answer."""
        self.asked.stopped_by = answer.stopped_by
        self.asked.count += 1
        known = self.figures
        nodes = (known.nodes or 0) + (answer.nodes or 0)
        self.figures = replace(known, nodes=nodes, models=self.asked.count)
        columns = built.model.numVariables()
        if known.columns is None or columns > known.columns:
            rows, nonzeros = built.model.numConstraints(), answer.nonzeros
            self.figures = replace(self.figures, rows=rows, columns=columns, nonzeros=nonzeros)

    def _request(self) -> backend.Request:
        return replace(
            self.asked.request, time_limit=self.asked.left, warm_start=False, progress=None
        )

    def _report(self) -> None:
        if self.asked.request.progress is not None:
            known = (value if math.isfinite(value) else None for value in (self.best, self.bound))
            self.asked.request.progress(*known)


def _is_whole(built: BuiltModel) -> bool:
    """Whether all variables that must be whole numbers are, those of rules and users included."""
    values = np.array([v.varValue or 0.0 for v in built.model.variables() if v.cat == "Integer"])
    return float(np.abs(values - np.round(values)).max(initial=0.0)) <= INTEGRALITY / 100
