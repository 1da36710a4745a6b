"""Side constraints that a real cluster or a framework puts on a plan.

A cut ``k`` lies between layers ``k`` and ``k + 1``. Ranges of layers include both ends.
"""

from dataclasses import dataclass, fields
from typing import Any, Self

from stagecut.cluster import cluster_of
from stagecut.errors import ProblemError
from stagecut.rule_parts import (
    AllowedSubmeshes,
    Budget,
    LayerRange,
    entries,
    integer_from,
    layer_range,
)
from stagecut.submesh import Submesh


@dataclass(frozen=True, slots=True)
class StageRules:
    """Side constraints, all optional; the default has none.

    Parameters
    ----------
    num_stages, min_stages, max_stages
        Exact, least and most number of stages.
    min_layers_per_stage, max_layers_per_stage
        Least and most layers in a stage.
    required_cuts, forbidden_cuts
        Layers ``k`` after which a stage must end, or must not end.
    same_stage
        Ranges ``(first, last)`` whose layers must share a stage.
    same_submesh
        Whether all stages run on one submesh, as tensor parallelism of one width needs.
    same_size_ends
        Whether the first and the last stage have equally many devices, as tied embeddings need.
    allowed_submeshes
        :class:`AllowedSubmeshes`, or triples ``(first_layer, last_layer, submeshes)``.
    budgets
        :class:`Budget` limits.
    placeable
        Whether the stages must be able to sit on the hosts of ``cluster`` side by side.
    cluster
        ``(hosts, devices_per_host)``, or one for each pool by name; read by ``placeable`` alone.

    Raises
    ------
    ProblemError
        If a value is not of its kind. Rules that contradict each other make a problem infeasible.

    Examples
    --------
    >>> StageRules().is_empty
    True
    >>> StageRules(max_stages=4, same_stage=[(0, 2)]).active
    ('max_stages', 'same_stage')
    """

    num_stages: int | None = None
    min_stages: int | None = None
    max_stages: int | None = None
    min_layers_per_stage: int | None = None
    max_layers_per_stage: int | None = None
    required_cuts: tuple[int, ...] = ()
    forbidden_cuts: tuple[int, ...] = ()
    same_stage: tuple[LayerRange, ...] = ()
    same_submesh: bool = False
    same_size_ends: bool = False
    allowed_submeshes: tuple[AllowedSubmeshes, ...] = ()
    budgets: tuple[Budget, ...] = ()
    placeable: bool = False
    cluster: tuple[Submesh, ...] | None = None

    def __post_init__(self) -> None:
        for name in COUNTS:
            if getattr(self, name) is not None:
                object.__setattr__(self, name, integer_from(name, getattr(self, name), least=1))
        for name in ("required_cuts", "forbidden_cuts"):
            cuts = entries(name, getattr(self, name), "layers")
            numbers = (integer_from(f"{name}[{n}]", cut) for n, cut in enumerate(cuts))
            object.__setattr__(self, name, tuple(sorted(set(numbers))))
        ranges = entries("same_stage", self.same_stage, "pairs (first, last)")
        checked = tuple(layer_range(f"same_stage[{n}]", pair) for n, pair in enumerate(ranges))
        object.__setattr__(self, "same_stage", checked)
        for name in ("same_submesh", "same_size_ends", "placeable"):
            if not isinstance(getattr(self, name), bool):
                raise ProblemError(f"{name} must be True or False, got {getattr(self, name)!r}")
        allowed = entries("allowed_submeshes", self.allowed_submeshes, "AllowedSubmeshes")
        object.__setattr__(self, "allowed_submeshes", tuple(map(_allowed, allowed)))
        budgets = tuple(entries("budgets", self.budgets, "Budget"))
        if wrong := [budget for budget in budgets if not isinstance(budget, Budget)]:
            raise ProblemError(f"budgets must hold Budget objects, got {wrong[0]!r}")
        object.__setattr__(self, "budgets", budgets)
        if self.cluster is not None:
            object.__setattr__(self, "cluster", cluster_of(self.cluster))
        elif self.placeable:
            raise ProblemError(
                "placeable needs the hosts: give cluster=(hosts, devices_per_host), or one for "
                "each pool"
            )

    @property
    def active(self) -> tuple[str, ...]:
        """Names of the rules that are set."""
        return tuple(rule.name for rule in fields(self) if getattr(self, rule.name) != rule.default)

    @property
    def is_empty(self) -> bool:
        """Whether no rule is set."""
        return not self.active

    def replace(self, **changes: Any) -> Self:
        """Return a copy with some rules changed, validated anew."""
        values = {rule.name: getattr(self, rule.name) for rule in fields(self)}
        return type(self)(**{**values, **changes})

    def check_fits(self, num_layers: int, submeshes: tuple[Submesh, ...]) -> None:
        """Raise unless every layer and submesh that a rule names exists.

        Raises
        ------
        ProblemError
            Naming the rule, the value and what there is.
        """
        for name in ("required_cuts", "forbidden_cuts"):
            for cut in getattr(self, name):
                _at_most(name, cut, num_layers - 2, "cut")
        for first, last in self.same_stage:
            _at_most(f"same_stage {first}..{last}", last, num_layers - 1, "layer")
        for rule in self.allowed_submeshes:
            where = f"allowed_submeshes of layers {rule.first_layer}..{rule.last_layer}"
            _at_most(where, rule.last_layer, num_layers - 1, "layer")
            for shape in rule.submeshes:
                if shape not in submeshes:
                    raise ProblemError(f"{where} names {shape}, which the problem does not have")
        for budget in self.budgets:
            for shape in submeshes:
                budget.of(shape)
        if self.placeable and self.cluster is not None:
            pools = [grid.pool for grid in self.cluster]
            for shape in submeshes:
                if shape.pool not in pools:
                    raise ProblemError(
                        f"cluster must have a grid for pool {shape.pool!r}, got {pools}"
                    )


COUNTS = ("num_stages", "min_stages", "max_stages", "min_layers_per_stage", "max_layers_per_stage")


def _at_most(name: str, value: int, most: int, what: str) -> None:
    if value > most:
        raise ProblemError(f"{name} must be at most {most}, the last {what}, got {value}")


def _allowed(value: Any) -> AllowedSubmeshes:
    if isinstance(value, AllowedSubmeshes):
        return value
    try:
        first, last, submeshes = value
    except (TypeError, ValueError):
        raise ProblemError(
            "allowed_submeshes must hold AllowedSubmeshes or triples (first_layer, last_layer, "
            f"submeshes), got {value!r}"
        ) from None
    return AllowedSubmeshes(first, last, submeshes)
