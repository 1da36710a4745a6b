"""The problem: a cost table, the submeshes, the devices and the objective.

Symbols: ``K`` layers, ``S`` submeshes, ``C`` configs, ``D`` devices, ``B`` micro-batches;
``i..j`` a range of layers, ``m`` a submesh, ``c`` a config.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, cast, get_args

import numpy as np
import numpy.typing as npt

from stagecut.arguments import (
    distinct_submeshes,
    names_of,
    pool_devices,
    robustness_of,
    truth,
)
from stagecut.arguments import positive_integer as positive_integer
from stagecut.errors import ProblemError, UnsupportedError
from stagecut.rules import StageRules
from stagecut.submesh import Submesh, SubmeshLike
from stagecut.validation import as_cost_table, as_limit_table, as_spread_table, as_transfer_table

Objective = Literal["training", "bottleneck", "latency", "stages_times_bottleneck"]
OBJECTIVES: tuple[str, ...] = get_args(Objective)


@dataclass(frozen=True, eq=False)
class StageProblem:
    """One stage assignment problem, validated once and read-only.

    Parameters
    ----------
    cost
        float64, shape ``(K, K, S)`` or ``(K, K, S, C)``, seconds: time of one micro-batch, forward
        and backward, through layers ``i..j`` (both included) on submesh ``m`` in config ``c``;
        ``inf`` = not allowed. Only ``i <= j`` is read. Stored with shape ``(K, K, S, C)``.
    submeshes
        The ``S`` distinct shapes, :class:`Submesh` or ``(hosts, devices_per_host)``.
    num_devices
        ``D``, at least 1; or the devices of each pool by name, ``{"a100": 8, "v100": 16}``, with
        every submesh in one of them, ``Submesh(..., pool="a100")``. The attribute is ``D``, for
        pools their sum.
    num_microbatches
        ``B``, at least 1.
    max_successors
        Integers in the shape of ``cost``: the most stages that may follow this one within memory;
        -1 = never fits. ``None`` = no limit.
    objective
        ``"training"``: sum of stage costs + (B - 1) x the largest (Zheng et al., OSDI 2022, eq. 2);
        ``"bottleneck"``: the largest; ``"latency"``: the sum; ``"stages_times_bottleneck"``: number
        of stages x the largest (Alpa's serving objective).
    use_all_devices
        Whether submesh sizes must sum to exactly ``D``, in every pool (or may sum to less).
    rules
        Side constraints.
    layer_names
        ``K`` names, or ``None``.
    cost_spread
        Seconds that a stage takes longer when it runs slow, in the shape of ``cost``; or one
        number, the share of its cost. Stored in seconds. ``None`` = none.
    robustness
        ``Γ``: the objective is the worst case in which up to ``Γ`` stages run slow (Bertsimas and
        Sim, 2004); 0 = the costs as they are.
    transfers
        float64, shape ``(K - 1, S, S)``, seconds: what the cut after layer ``k`` takes for one
        micro-batch, both ways, from a stage on one submesh to the next on another. A transfer is a
        step of the pipeline that overlaps with computing: it adds to the total, and the bottleneck
        is the largest stage cost or transfer. ``None`` = none besides what ``cost`` holds.

    Attributes
    ----------
    pool_devices
        Pairs of pool and devices; ``None`` where there is one pool without a name.

    Raises
    ------
    ProblemError
        If an argument breaks a rule; the message names argument, rule, value and way out.
    UnsupportedError
        On ``robustness`` together with ``transfers``.

    Examples
    --------
    >>> import numpy as np
    >>> table = np.full((2, 2, 1), np.inf)
    >>> table[0, 0], table[1, 1], table[0, 1] = 1.0, 2.0, 3.0
    >>> problem = StageProblem(table, [(1, 1)], num_devices=2, num_microbatches=4)
    >>> problem.num_layers, problem.sizes.tolist()
    (2, [1])
    """

    cost: npt.NDArray[np.float64]
    submeshes: tuple[Submesh, ...]
    num_devices: int
    num_microbatches: int
    max_successors: npt.NDArray[np.int64] | None = None
    objective: Objective = "training"
    use_all_devices: bool = True
    rules: StageRules = field(default_factory=StageRules)
    layer_names: tuple[str, ...] | None = None
    cost_spread: npt.NDArray[np.float64] | None = None
    robustness: int = 0
    transfers: npt.NDArray[np.float64] | None = None
    pool_devices: tuple[tuple[str, int], ...] | None = None

    def __init__(
        self,
        cost: npt.ArrayLike,
        submeshes: Sequence[SubmeshLike],
        num_devices: int | Mapping[str, int],
        num_microbatches: int,
        max_successors: npt.ArrayLike | None = None,
        objective: Objective = "training",
        use_all_devices: bool = True,
        rules: StageRules | None = None,
        layer_names: Sequence[str] | None = None,
        cost_spread: npt.ArrayLike | None = None,
        robustness: int = 0,
        transfers: npt.ArrayLike | None = None,
    ) -> None:
        shapes = distinct_submeshes(submeshes)
        table = as_cost_table(cost, len(shapes))
        pools = pool_devices(num_devices, shapes)
        values: dict[str, Any] = {
            "cost": table,
            "submeshes": shapes,
            "num_devices": positive_integer(
                "num_devices", num_devices if pools is None else sum(dict(pools).values())
            ),
            "pool_devices": pools,
            "num_microbatches": positive_integer("num_microbatches", num_microbatches),
            "max_successors": as_limit_table(max_successors, np.shape(cost), table.shape),
            "objective": _known_objective(objective),
            "use_all_devices": truth("use_all_devices", use_all_devices),
            "rules": _rules(rules, table.shape[0], shapes),
            "layer_names": names_of(layer_names, table.shape[0]),
            "cost_spread": as_spread_table(cost_spread, np.shape(cost), table),
            "robustness": robustness_of(robustness, cost_spread),
            "transfers": as_transfer_table(transfers, table.shape[0], table.shape[2]),
        }
        if values["robustness"] and transfers is not None:
            raise UnsupportedError(
                "a worst case with transfers is not supported; set robustness=0 or leave out "
                "transfers"
            )
        for name, value in values.items():
            object.__setattr__(self, name, value)

    @property
    def num_layers(self) -> int:
        """``K``."""
        return len(self.cost)

    @property
    def num_configs(self) -> int:
        """``C``."""
        return int(self.cost.shape[3])

    @property
    def pools(self) -> dict[str, int] | None:
        """Devices of each pool; ``None`` where there is one pool without a name."""
        return None if self.pool_devices is None else dict(self.pool_devices)

    @property
    def available(self) -> npt.NDArray[np.int64]:
        """Devices of the pool of each submesh, shape ``(S,)``."""
        pools = dict(self.pool_devices or [(None, self.num_devices)])
        return np.array([pools[submesh.pool] for submesh in self.submeshes], dtype=np.int64)

    @property
    def sizes(self) -> npt.NDArray[np.int64]:
        """Devices of each submesh, shape ``(S,)``."""
        return np.array([submesh.size for submesh in self.submeshes], dtype=np.int64)

    def layer_name(self, layer: int) -> str:
        """Name of a layer; its number where the problem has no names."""
        return str(layer) if self.layer_names is None else self.layer_names[layer]

    def replace(self, **changes: Any) -> "StageProblem":
        """Return a copy with some arguments changed, validated anew."""
        names = (name for name in self.__dataclass_fields__ if name != "pool_devices")
        values = {name: getattr(self, name) for name in names}
        if self.pools is not None:
            values["num_devices"] = self.pools
        return StageProblem(**{**values, **changes})

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, StageProblem):
            return NotImplemented
        return all(
            np.array_equal(getattr(self, name), getattr(other, name))
            if isinstance(getattr(self, name), np.ndarray)
            else _same(getattr(self, name), getattr(other, name))
            for name in self.__dataclass_fields__
        )

    __hash__ = None  # type: ignore[assignment]


def _same(mine: object, other: object) -> bool:
    return not isinstance(other, np.ndarray) and mine == other


def _known_objective(objective: str) -> Objective:
    if objective not in OBJECTIVES:
        raise ProblemError(f"objective must be one of {', '.join(OBJECTIVES)}, got {objective!r}")
    return cast("Objective", objective)


def _rules(rules: StageRules | None, num_layers: int, submeshes: tuple[Submesh, ...]) -> StageRules:
    if rules is None:
        return StageRules()
    if not isinstance(rules, StageRules):
        raise ProblemError(f"rules must be a StageRules, got {rules!r}")
    rules.check_fits(num_layers, submeshes)
    return rules
