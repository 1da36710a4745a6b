"""Plans: which layers run as which stage, on which submesh, in which config."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

from stagecut.submesh import Submesh

if TYPE_CHECKING:
    from collections.abc import Iterable

    from stagecut.problem import StageProblem


@dataclass(frozen=True, slots=True)
class Stage:
    """A contiguous range of layers on one submesh.

    Parameters
    ----------
    first_layer, last_layer
        The range, 0-based, both ends included.
    submesh
        The shape that the stage runs on.
    config
        Index of the config (logical mesh and sharding choice) on the problem's last cost axis.
    cost
        Time of one micro-batch through the stage, forward and backward, in seconds.
    """

    first_layer: int
    last_layer: int
    submesh: Submesh
    config: int
    cost: float

    @property
    def num_layers(self) -> int:
        """Number of layers in the stage."""
        return self.last_layer - self.first_layer + 1


@dataclass(frozen=True, slots=True)
class Plan:
    """Stages in pipeline order.

    Parameters
    ----------
    stages
        Tuple of stages; the first one holds layer 0.

    Examples
    --------
    >>> plan = Plan((Stage(0, 3, Submesh(1, 2), 0, 0.5), Stage(4, 5, Submesh(1, 1), 0, 0.4)))
    >>> plan.num_stages, plan.num_devices
    (2, 3)
    """

    stages: tuple[Stage, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "stages", tuple(self.stages))

    @classmethod
    def from_choices(
        cls, problem: "StageProblem", choices: "Iterable[tuple[int, int, int, int]]"
    ) -> Self:
        """Make a plan from index tuples, reading each cost from the problem's table.

        Parameters
        ----------
        problem
            The problem whose submeshes and cost table the indices refer to.
        choices
            Tuples ``(first_layer, last_layer, submesh_index, config)`` in pipeline order.
        """
        return cls(
            tuple(
                Stage(i, j, problem.submeshes[m], c, float(problem.cost[i, j, m, c]))
                for i, j, m, c in (map(int, choice) for choice in choices)
            )
        )

    def priced_by(self, problem: "StageProblem") -> Self:
        """Return the same stages with costs from another problem's table.

        Raises
        ------
        ValueError
            If the problem does not have one of the submeshes.
        """
        shapes = problem.submeshes
        return self.from_choices(
            problem,
            ((s.first_layer, s.last_layer, shapes.index(s.submesh), s.config) for s in self.stages),
        )

    @property
    def num_stages(self) -> int:
        """Number of stages."""
        return len(self.stages)

    @property
    def num_devices(self) -> int:
        """Devices used by all stages together."""
        return sum(stage.submesh.size for stage in self.stages)

    def devices_of(self, pool: str | None) -> int:
        """Return the devices of a pool that all stages together use."""
        return sum(stage.submesh.size for stage in self.stages if stage.submesh.pool == pool)
