"""Models of parts of a problem: fewer stages, a higher floor. Strategies that branch use them."""

from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

from stagecut.candidates import Candidates, Int, select
from stagecut.formulations import builder
from stagecut.formulations.built import BuiltModel
from stagecut.problem import StageProblem

type Mask = npt.NDArray[np.bool_]


type NodeModel = tuple[BuiltModel, Int]
"""A model, and the index of the candidate that each of its columns stands for."""


def build_model(
    problem: StageProblem, candidates: Candidates, formulation: str, floor: float, raised: bool
) -> BuiltModel:
    """Build a model whose epigraph variable is at least ``floor`` seconds.

    Costs in its epigraph rows are raised to the floor if ``raised``.
    """
    built = builder(formulation)(problem, candidates, floor if raised else 0.0)
    built.bottleneck.lowBound = max(floor / built.scale, built.bottleneck.lowBound or 0.0)
    return built


class Models(Protocol):
    """Where the model of a node comes from."""

    @property
    def candidates(self) -> Candidates:
        """The stages that nodes choose from."""
        ...

    def at(self, kept: Int, floor: float) -> NodeModel:
        """Return a model of some stages, with an epigraph variable of at least ``floor``.

        Parameters
        ----------
        kept
            Indices of candidates, ascending.
        floor
            Seconds.
        """
        ...


@dataclass(frozen=True, slots=True)
class FreshModels:
    """Builds each node's model anew.

    Parameters
    ----------
    problem, candidates
        The problem and its stages.
    formulation
        Name of the formulation.
    raised
        Whether costs in epigraph rows are raised to the floor; otherwise it only bounds ``t``.
    """

    problem: StageProblem
    candidates: Candidates
    formulation: str
    raised: bool = True

    def at(self, kept: Int, floor: float) -> NodeModel:
        """Return a model of some stages, see :class:`Models`."""
        stages = select(self.candidates, kept)
        built = build_model(self.problem, stages, self.formulation, floor, self.raised)
        built.stages()
        assert built.owner is not None
        return built, kept[built.owner]


class BoundedModels:
    """Takes one model, with whatever rows a user added, and bounds its variables for each node.

    Parameters
    ----------
    built
        The model.
    """

    def __init__(self, built: BuiltModel) -> None:
        built.stages()
        assert built.owner is not None
        self._built, self._stage = built, built.owner
        self._tops = [column.upBound for column in built.columns]
        self._floor = built.bottleneck.lowBound or 0.0

    @property
    def candidates(self) -> Candidates:
        """The stages that nodes choose from."""
        return self._built.candidates

    def at(self, kept: Int, floor: float) -> NodeModel:
        """Return the model with nothing but some stages, see :class:`Models`."""
        built = self._built
        allowed = np.isin(self._stage, kept)
        for column, top, is_allowed in zip(built.columns, self._tops, allowed, strict=True):
            column.upBound = top if is_allowed else 0.0
        built.bottleneck.lowBound = max(floor / built.scale, self._floor)
        return built, self._stage

    def put_back(self) -> None:
        """Give the model its own bounds again."""
        self.at(np.arange(len(self.candidates)), 0.0)
