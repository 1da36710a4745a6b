"""A model built by a formulation: the PuLP problem, its variables by meaning, and its scale."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pulp

from stagecut.candidates import Candidates, Int, select
from stagecut.errors import ProblemError, UnsupportedError
from stagecut.problem import StageProblem


@dataclass(frozen=True, slots=True)
class BuiltModel:
    """One formulation of one problem.

    Rows may be added to ``model`` by hand; the expressions below say what they are about. Costs in
    the model are in units of ``scale`` seconds.

    Parameters
    ----------
    problem
        The problem that the model states.
    candidates
        The stages that a plan may use.
    model
        The PuLP problem.
    columns
        The binary variables that determine the plan.
    owner
        int64, shape ``(len(columns),)``: the candidate that a column stands for. Candidate ``r`` is
        used as often as its columns sum to; several columns may stand for one, each for another
        place in the plan. ``None`` where columns do not stand for candidates (then a subclass says
        how to read a plan, and states the expressions that it can).
    bottleneck
        The epigraph variable: at least the largest stage cost, in units of ``scale``.
    scale
        Seconds per unit of cost in the model.
    """

    problem: StageProblem
    candidates: Candidates
    model: pulp.LpProblem
    columns: Sequence[pulp.LpVariable]
    owner: Int | None
    bottleneck: pulp.LpVariable
    scale: float

    def stages(self) -> Candidates:
        """Return the candidates by column: entry ``k`` is what ``columns[k]`` stands for.

        Raises
        ------
        UnsupportedError
            If the columns of this formulation do not stand for candidates.
        """
        if self.owner is None:
            raise UnsupportedError(
                f"formulation {self.model.name!r} has no variable for a stage as a whole, so it "
                "cannot state this; use formulation='range'"
            )
        return select(self.candidates, self.owner)

    def weighted(self, weights: npt.ArrayLike) -> pulp.LpAffineExpression:
        """Return the sum of ``weights`` over the stages used.

        Parameters
        ----------
        weights
            Shape ``(len(candidates),)``: what each candidate counts for.

        Raises
        ------
        UnsupportedError
            If the columns of this formulation do not stand for candidates.
        """
        self.stages()
        by_column = np.asarray(weights, dtype=np.float64)[self.owner]
        return pulp.LpAffineExpression.from_list(
            [(self.columns[k], float(by_column[k])) for k in np.flatnonzero(by_column).tolist()]
        )

    def stage_used(
        self, first_layer: int, last_layer: int, submesh: int
    ) -> pulp.LpAffineExpression:
        """Return 1 if layers ``first_layer..last_layer`` form a stage on ``submesh``, otherwise 0.

        Raises
        ------
        ProblemError
            If an index is out of range.
        UnsupportedError
            If the formulation cannot state it.
        """
        self._check_submesh(submesh)
        if not 0 <= first_layer <= last_layer < self.problem.num_layers:
            raise ProblemError(
                f"the range {first_layer}..{last_layer} must lie within "
                f"0..{self.problem.num_layers - 1}"
            )
        r = self.candidates
        chosen = (r.first == first_layer) & (r.last == last_layer) & (r.submesh == submesh)
        return self.weighted(chosen)

    def layer_on(self, layer: int, submesh: int) -> pulp.LpAffineExpression:
        """Return 1 if ``layer`` runs on ``submesh``, otherwise 0.

        Raises
        ------
        ProblemError
            If an index is out of range.
        """
        self._check_submesh(submesh)
        self._check_layer(layer)
        r = self.candidates
        return self.weighted((r.first <= layer) & (layer <= r.last) & (r.submesh == submesh))

    @property
    def num_stages(self) -> pulp.LpAffineExpression:
        """Number of stages."""
        return self.weighted(np.ones(len(self.candidates)))

    @property
    def total(self) -> pulp.LpAffineExpression:
        """Sum of stage costs, in units of ``scale``."""
        return self.weighted(self.candidates.cost / self.scale)

    def used(self) -> list[int]:
        """Return the candidates that the values of the columns choose, in layer order."""
        r = self.stages()
        assert self.owner is not None
        chosen = [k for k, column in enumerate(self.columns) if (column.varValue or 0.0) > 0.5]
        chosen.sort(key=lambda k: (int(r.first[k]), int(r.last[k])))
        return [int(self.owner[k]) for k in chosen]

    def columns_of(self, stages: Sequence[int]) -> list[int]:
        """Return the columns that are 1 in the plan of these candidates, in layer order."""
        assert self.owner is not None
        column = {int(r): k for k, r in enumerate(self.owner)}
        return [column[r] for r in stages]

    def _check_layer(self, layer: int) -> None:
        if not 0 <= layer < self.problem.num_layers:
            raise ProblemError(
                f"layer must be within 0..{self.problem.num_layers - 1}, got {layer}"
            )

    def _check_submesh(self, submesh: int) -> None:
        if not 0 <= submesh < len(self.problem.submeshes):
            raise ProblemError(
                f"submesh must be an index within 0..{len(self.problem.submeshes) - 1}, "
                f"got {submesh}"
            )


@dataclass(frozen=True, slots=True)
class PlacedModel(BuiltModel):
    """A model with a column for each place that a candidate may take in a plan.

    Parameters
    ----------
    place
        int64, shape ``(len(columns),)``: the place that a column stands for.
    place_of
        From the candidates of a plan, in layer order, to their places.
    """

    place: Int
    place_of: Callable[[Candidates], Int]

    def columns_of(self, stages: Sequence[int]) -> list[int]:
        """Return the columns that are 1 in the plan of these candidates, in layer order."""
        assert self.owner is not None
        keys = zip(self.owner.tolist(), self.place.tolist(), strict=True)
        column = {key: k for k, key in enumerate(keys)}
        chosen = np.asarray(stages, dtype=np.int64)
        places = self.place_of(select(self.candidates, chosen)).tolist()
        return [column[key] for key in zip(stages, places, strict=True)]
