"""A picture of the front: total against bottleneck, with the plans worth choosing (``plot``)."""

from typing import TYPE_CHECKING

from stagecut.errors import UnsupportedError
from stagecut.front import ParetoFront
from stagecut.report.figure import GRID, SLOWEST, STAGE, new_figure
from stagecut.report.front import range_text

if TYPE_CHECKING:
    from matplotlib.figure import Figure

LABELS = 16
"""Labels that fit beside the points."""


def plot_front(front: ParetoFront) -> "Figure":
    """Draw a front.

    Parameters
    ----------
    front
        At least one point.

    Returns
    -------
    matplotlib.figure.Figure
        Every point, total in seconds across and bottleneck in milliseconds up; those that are best
        for some number of micro-batches are joined and labelled with these numbers.

    Raises
    ------
    UnsupportedError
        If matplotlib is not installed, or there is no point to draw.
    """
    if not front.points:
        raise UnsupportedError("there is no plan, so there is no front to draw")
    figure = new_figure(8.0, 5.0, "drawing a front")
    axes = figure.subplots()
    axes.grid(color=GRID, linewidth=0.6)
    axes.set_axisbelow(True)
    axes.scatter(
        [point.total for point in front.points],
        [point.bottleneck * 1e3 for point in front.points],
        s=14, color=STAGE, label="not dominated",
    )  # fmt: skip
    ranges = front.ranges()
    totals = [entry.point.total for entry in ranges]
    bottlenecks = [entry.point.bottleneck * 1e3 for entry in ranges]
    axes.plot(totals, bottlenecks, "o-", color=SLOWEST, ms=5, lw=1, label="best for some B")
    for entry, x, y in zip(ranges, totals, bottlenecks, strict=True):
        if len(ranges) <= LABELS:
            side = -1 if entry.last is None else 1
            axes.annotate(
                f"B {range_text(entry)}", (x, y), xytext=(5 * side, 5), fontsize=8,
                textcoords="offset points", ha="right" if side < 0 else "left",
            )  # fmt: skip
    axes.set(xlabel="total, s per micro-batch", ylabel="bottleneck, ms per micro-batch")
    axes.set_title(f"{len(front)} plans not dominated, {len(ranges)} best for some B")
    axes.legend(frameon=False)
    axes.spines[["top", "right"]].set_visible(False)
    return figure
