"""A model built by a formulation: the PuLP problem, its variables by meaning, and its scale."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pulp

from stagecut.candidates import Candidates
from stagecut.errors import ProblemError
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
        The stages that the columns ``use`` stand for.
    model
        The PuLP problem.
    use
        One binary variable per candidate: the stage is used.
    bottleneck
        The epigraph variable: at least the largest stage cost, in units of ``scale``.
    scale
        Seconds per unit of cost in the model.
    """

    problem: StageProblem
    candidates: Candidates
    model: pulp.LpProblem
    use: Sequence[pulp.LpVariable]
    bottleneck: pulp.LpVariable
    scale: float

    def stage_used(
        self, first_layer: int, last_layer: int, submesh: int
    ) -> pulp.LpAffineExpression:
        """Return 1 if layers ``first_layer..last_layer`` form a stage on ``submesh``, otherwise 0.

        Raises
        ------
        ProblemError
            If an index is out of range.
        """
        self._check_submesh(submesh)
        if not 0 <= first_layer <= last_layer < self.problem.num_layers:
            raise ProblemError(
                f"the range {first_layer}..{last_layer} must lie within "
                f"0..{self.problem.num_layers - 1}"
            )
        r = self.candidates
        return self._sum((r.first == first_layer) & (r.last == last_layer) & (r.submesh == submesh))

    def layer_on(self, layer: int, submesh: int) -> pulp.LpAffineExpression:
        """Return 1 if ``layer`` runs on ``submesh``, otherwise 0."""
        self._check_submesh(submesh)
        if not 0 <= layer < self.problem.num_layers:
            raise ProblemError(
                f"layer must be within 0..{self.problem.num_layers - 1}, got {layer}"
            )
        r = self.candidates
        return self._sum((r.first <= layer) & (layer <= r.last) & (r.submesh == submesh))

    @property
    def num_stages(self) -> pulp.LpAffineExpression:
        """Number of stages."""
        return self._sum(np.ones(len(self.candidates), dtype=bool))

    @property
    def total(self) -> pulp.LpAffineExpression:
        """Sum of stage costs, in units of ``scale``."""
        costs = (self.candidates.cost / self.scale).tolist()
        return pulp.LpAffineExpression.from_list(list(zip(self.use, costs, strict=True)))

    def _check_submesh(self, submesh: int) -> None:
        if not 0 <= submesh < len(self.problem.submeshes):
            raise ProblemError(
                f"submesh must be an index within 0..{len(self.problem.submeshes) - 1}, "
                f"got {submesh}"
            )

    def _sum(self, chosen: "np.typing.NDArray[np.bool_]") -> pulp.LpAffineExpression:
        return pulp.LpAffineExpression.from_list(
            [(self.use[r], 1.0) for r in np.flatnonzero(chosen).tolist()]
        )
