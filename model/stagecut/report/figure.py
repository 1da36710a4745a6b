"""A picture of a plan: layers on devices, and stage times as bars (extra ``plot``)."""

from typing import TYPE_CHECKING, Any

import numpy as np

from stagecut.errors import UnsupportedError
from stagecut.evaluate import evaluate
from stagecut.plan import Plan
from stagecut.problem import StageProblem

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

STAGE, SLOWEST = "#4c78a8", "#e45756"
"""Colours of a stage and of the bottleneck."""

GRID = "#e6e6e6"

MANY = 36
"""Stages whose labels fit beside their bars."""

LINES = 40
"""Numbers that fit into a picture one below the other, or side by side."""

DEVICE_STEPS = (1, 1.6, 2, 3.2, 4, 6.4, 8, 10)
"""Steps of the device axis, times a power of ten: devices come in powers of two."""


def plot_plan(problem: StageProblem, plan: Plan) -> "Figure":
    """Draw a plan.

    Parameters
    ----------
    problem, plan
        The problem and a valid plan of it.

    Returns
    -------
    matplotlib.figure.Figure
        Left: one block per stage, layers across, devices down. Right: seconds per micro-batch, the
        bottleneck marked.

    Raises
    ------
    UnsupportedError
        If matplotlib is not installed.
    PlanError
        If the plan is not valid.
    """
    evaluate(problem, plan)
    bottleneck = max(stage.cost for stage in plan.stages)
    height = float(np.clip(1.6 + 0.28 * plan.num_stages, 3.2, 12.0))
    figure = new_figure(10.0, height, "drawing a plan")
    blocks, bars = figure.subplots(1, 2, width_ratios=(3, 2))
    _draw_blocks(blocks, problem, plan, bottleneck)
    _draw_bars(bars, plan, bottleneck)
    for axes in (blocks, bars):
        axes.spines[["top", "right"]].set_visible(False)
    return figure


def new_figure(width: float, height: float, purpose: str) -> "Figure":
    """Return an empty figure of ``width`` by ``height`` inches.

    Raises
    ------
    UnsupportedError
        If matplotlib is not installed.
    """
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise UnsupportedError(
            f"{purpose} needs matplotlib; install it with: pip install 'stagecut[plot]'"
        ) from None
    return Figure(figsize=(width, height), layout="constrained")


def _colors(plan: Plan, bottleneck: float) -> list[str]:
    return [SLOWEST if stage.cost == bottleneck else STAGE for stage in plan.stages]


def _draw_blocks(axes: "Axes", problem: StageProblem, plan: Plan, bottleneck: float) -> None:
    from matplotlib.ticker import MaxNLocator

    sizes = np.array([stage.submesh.size for stage in plan.stages])
    tops = np.cumsum(sizes) - sizes
    starts = [stage.first_layer - 0.5 for stage in plan.stages]
    widths = [stage.num_layers for stage in plan.stages]
    color: Any = _colors(plan, bottleneck)
    axes.grid(color=GRID, linewidth=0.6)
    axes.set_axisbelow(True)
    axes.barh(
        tops - 0.5, widths, sizes, starts, align="edge", color=color, edgecolor="white",
        linewidth=0.6 if plan.num_stages <= MANY else 0.0,
    )  # fmt: skip
    tall, wide = problem.num_devices / LINES, problem.num_layers / LINES
    for index, (top, size, start, width) in enumerate(
        zip(tops, sizes, starts, widths, strict=True)
    ):
        if size >= tall and width >= wide:
            axes.text(
                start + width / 2, top - 0.5 + size / 2, str(index), ha="center", va="center",
                color="white", fontsize=8,
            )  # fmt: skip
    axes.set(
        xlabel="layer",
        ylabel="device",
        title=f"{problem.num_layers} layers on {plan.num_devices} of {problem.num_devices} devices",
        xlim=(-0.5, problem.num_layers - 0.5),
        ylim=(problem.num_devices - 0.5, -0.5),
    )
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.yaxis.set_major_locator(MaxNLocator(integer=True, steps=DEVICE_STEPS))


def _draw_bars(axes: "Axes", plan: Plan, bottleneck: float) -> None:
    milliseconds = [stage.cost * 1e3 for stage in plan.stages]
    color: Any = _colors(plan, bottleneck)
    axes.barh(np.arange(plan.num_stages), milliseconds, color=color)
    axes.axvline(bottleneck * 1e3, color=SLOWEST, linewidth=1, linestyle="--")
    shown = _labelled(plan, bottleneck)
    axes.set_yticks(shown, [f"{index}: {plan.stages[index].submesh}" for index in shown])
    axes.tick_params(axis="y", labelsize=8, length=0)
    axes.set(
        xlabel="ms per micro-batch",
        title=f"stage times, bottleneck {bottleneck * 1e3:.4g} ms",
        ylim=(plan.num_stages - 0.5, -0.5),
    )


def _labelled(plan: Plan, bottleneck: float) -> list[int]:
    """Return the stages whose bars get a label: the bottleneck, and as many others as fit."""
    slowest = next(n for n, stage in enumerate(plan.stages) if stage.cost == bottleneck)
    every = -(-plan.num_stages // MANY)
    near = range(slowest - every + 1, slowest + every)
    others = [n for n in range(0, plan.num_stages, every) if n not in near]
    return sorted([slowest, *others])
