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
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise UnsupportedError(
            "drawing a plan needs matplotlib; install it with: pip install 'stagecut[plot]'"
        ) from None
    bottleneck = evaluate(problem, plan).bottleneck
    height = min(2.4 + 0.28 * plan.num_stages, 12.0)
    figure = Figure(figsize=(10.0, height), layout="constrained")
    blocks, bars = figure.subplots(1, 2, width_ratios=(3, 2))
    _draw_blocks(blocks, problem, plan, bottleneck)
    _draw_bars(bars, plan, bottleneck)
    return figure


def _colors(plan: Plan, bottleneck: float) -> list[str]:
    return [SLOWEST if stage.cost == bottleneck else STAGE for stage in plan.stages]


def _draw_blocks(axes: "Axes", problem: StageProblem, plan: Plan, bottleneck: float) -> None:
    from matplotlib.ticker import MaxNLocator

    sizes = np.array([stage.submesh.size for stage in plan.stages])
    tops = np.cumsum(sizes) - sizes
    starts = [stage.first_layer - 0.5 for stage in plan.stages]
    widths = [stage.num_layers for stage in plan.stages]
    color: Any = _colors(plan, bottleneck)
    axes.barh(tops - 0.5, widths, sizes, starts, align="edge", color=color, edgecolor="white")
    for index, (top, size, start, width) in enumerate(
        zip(tops, sizes, starts, widths, strict=True)
    ):
        if size >= problem.num_devices / 40:
            axes.text(
                start + width / 2, top - 0.5 + size / 2, str(index), ha="center", va="center",
                color="white", fontsize=8,
            )  # fmt: skip
    axes.set(
        xlabel="layer",
        ylabel="device",
        title="layers on devices",
        xlim=(-0.5, problem.num_layers - 0.5),
        ylim=(problem.num_devices - 0.5, -0.5),
    )
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_locator(MaxNLocator(integer=True))


def _draw_bars(axes: "Axes", plan: Plan, bottleneck: float) -> None:
    places = np.arange(plan.num_stages)
    milliseconds = [stage.cost * 1e3 for stage in plan.stages]
    color: Any = _colors(plan, bottleneck)
    axes.barh(places, milliseconds, color=color)
    axes.axvline(bottleneck * 1e3, color=SLOWEST, linewidth=1, linestyle="--")
    labels = [f"{index}: {stage.submesh}" for index, stage in enumerate(plan.stages)]
    axes.set_yticks(places, labels, fontsize=8 if plan.num_stages <= 30 else 5)
    axes.set(
        xlabel="ms per micro-batch",
        title=f"stage times, bottleneck {bottleneck * 1e3:.4g} ms",
        ylim=(plan.num_stages - 0.5, -0.5),
    )
