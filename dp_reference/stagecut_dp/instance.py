"""One stage assignment instance on plain arrays, validated once.

Symbols: ``K`` layers, ``S`` submeshes, ``C`` configs, ``D`` devices, ``B`` micro-batches; a stage
is a range ``i..j`` on submesh ``m`` in config ``c``. A *choice* is a submesh with a config; the
programmes see ``M`` choices, with configs already reduced to those that can matter.
"""

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from stagecut_dp.validation import (
    Float,
    Int,
    check_costs,
    cost_table,
    counted,
    device_counts,
    positive,
    stage_counts,
    successor_limits,
)

__all__ = ["Choice", "Float", "Instance", "Int", "make_instance"]

type Choice = tuple[int, int, int, int]
"""``(first, last, submesh, config)``."""


@dataclass(frozen=True, slots=True)
class Instance:
    """A validated instance.

    Parameters
    ----------
    table
        float64, shape ``(M, K, K)``, seconds; ``inf`` where a stage is not allowed, below the
        diagonal and where ``limit`` is -1.
    limit
        int64, shape ``(M, K, K)``: the most stages that may follow; ``None`` = no limit.
    submesh
        int64, shape ``(M,)``: index of the submesh of each choice.
    config
        int64, shape ``(M, K, K)``: index of the config of each choice; ``None`` = all 0.
    sizes
        int64, shape ``(M,)``: devices of each choice, at most ``D``.
    num_devices, num_microbatches
        ``D`` and ``B``.
    use_all_devices
        Whether sizes must sum to exactly ``D``.
    min_stages, max_stages
        Bounds on the number of stages, both included.
    """

    table: Float
    limit: Int | None
    submesh: Int
    config: Int | None
    sizes: Int
    num_devices: int
    num_microbatches: int
    use_all_devices: bool
    min_stages: int
    max_stages: int

    @property
    def num_layers(self) -> int:
        """``K``."""
        return int(self.table.shape[1])

    @property
    def counts_stages(self) -> bool:
        """Whether a limit or a stage-count rule may ask for the stage axis."""
        return self.limit is not None or self.min_stages > 1 or self.max_stages < self.num_layers

    def coarse(self, pieces: int) -> "Instance":
        """Return the instance whose stages may begin and end at evenly spread layers only."""
        cuts = np.arange(pieces + 1) * self.num_layers // pieces
        first, last = cuts[:-1, None], cuts[1:] - 1
        below = np.tri(pieces, k=-1, dtype=bool)
        table = self.table[:, first, last]
        table[:, below] = np.inf
        return replace(
            self,
            table=table,
            limit=None if self.limit is None else self.limit[:, first, last],
            config=None,
            max_stages=min(self.max_stages, pieces),
        )

    def with_microbatches(self, num_microbatches: int) -> "Instance":
        """Return the instance with another ``B``."""
        return replace(self, num_microbatches=num_microbatches)

    def named(self, first: int, last: int, choice: int) -> Choice:
        """Return a stage as the caller numbers it."""
        config = 0 if self.config is None else int(self.config[choice, first, last])
        return first, last, int(self.submesh[choice]), config


def make_instance(
    cost: npt.ArrayLike,
    sizes: npt.ArrayLike,
    num_devices: int,
    num_microbatches: int = 1,
    *,
    max_successors: npt.ArrayLike | None = None,
    use_all_devices: bool = True,
    min_stages: int | None = None,
    max_stages: int | None = None,
    keep_configs: bool = False,
) -> Instance:
    """Validate the arguments of :func:`stagecut_dp.solve` and reduce the config axis unless asked.

    Raises
    ------
    ValueError
        Naming the argument, the rule, the value and a way out.
    """
    given = cost_table(cost)
    devices = device_counts(sizes, given.shape[2])
    limits = successor_limits(max_successors, np.shape(cost), given.shape)
    microbatches = counted("num_microbatches", num_microbatches)
    most_devices = positive("num_devices", num_devices)
    fitting = np.flatnonzero(devices <= most_devices)
    reach = len(given) * int(devices[fitting].max(initial=0))
    if most_devices > reach:  # no sum of sizes gets there: infeasible, or the rest stays idle
        most_devices = max(reach + bool(use_all_devices), 1)
    least, most = stage_counts(min_stages, max_stages, len(given))
    table, limit, config, submesh = _reduce(given, limits, fitting, keep_configs)
    return Instance(
        table=table,
        limit=limit,
        submesh=submesh,
        config=config,
        sizes=devices[submesh],
        num_devices=most_devices,
        num_microbatches=microbatches,
        use_all_devices=bool(use_all_devices),
        min_stages=least,
        max_stages=most,
    )


def _reduce(
    given: Float, limits: Int | None, fitting: Int, keep_configs: bool
) -> tuple[Float, Int | None, Int | None, Int]:
    """Put choices first; keep the cheapest config, or every config where limits differ."""
    num_layers, num_configs = len(given), given.shape[3]
    below = np.tri(num_layers, k=-1, dtype=bool)
    with np.errstate(invalid="ignore"):
        sound = all((row[i:] >= 0).all() for i, row in enumerate(given))
    if not sound:
        check_costs(given)
    chosen = given if len(fitting) == given.shape[2] else given[:, :, fitting]
    shape = (len(fitting), num_layers, num_layers)
    if num_configs == 1:
        table = np.array(chosen[..., 0].transpose(2, 0, 1), order="C")
        table[:, below] = np.inf
        return *_limited(table, limits, fitting, shape), None, fitting
    if limits is None and not keep_configs:
        config = np.ascontiguousarray(chosen.argmin(axis=3).transpose(2, 0, 1))
        table = np.array(chosen.min(axis=3).transpose(2, 0, 1), order="C")
        table[:, below] = np.inf
        return table, None, config, fitting
    flat = (len(fitting) * num_configs, num_layers, num_layers)
    table = np.array(chosen.transpose(2, 3, 0, 1), order="C").reshape(flat)
    table[:, below] = np.inf
    config = np.repeat(np.tile(np.arange(num_configs), len(fitting)), num_layers**2).reshape(flat)
    return *_limited(table, limits, fitting, flat), config, np.repeat(fitting, num_configs)


def _limited(
    table: Float, limits: Int | None, fitting: Int, shape: tuple[int, int, int]
) -> tuple[Float, Int | None]:
    """Set ``inf`` in ``table`` where a stage never fits."""
    if limits is None:
        return table, None
    limit = np.ascontiguousarray(limits[:, :, fitting].transpose(2, 3, 0, 1)).reshape(shape)
    table[limit < 0] = np.inf
    return table, limit
