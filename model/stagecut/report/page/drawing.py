"""Figures in the page's manner: no toolbar, thin lines, and colours by role.

A model's tag ``fill:stage`` or ``line:rule`` says which colour of the palette fills or draws it;
the page's script looks the colour up in the style sheet, the one place for light, dark and print.
Axes, grids and texts need no tag.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from bokeh import plotting
from bokeh.core.properties import value
from bokeh.models import ColumnDataSource, FixedTicker, HoverTool, Range1d, WheelZoomTool

type Columns = Mapping[str, Sequence[Any]]
type Ends = tuple[float, float]

FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, sans-serif"


def new_figure(
    height: int,
    *,
    x: Ends,
    y: Ends,
    labels: tuple[str | None, str | None],
    moves_within: Ends | None = None,
) -> plotting.figure:
    """Return an empty figure as wide as its place.

    Parameters
    ----------
    height
        Pixels.
    x, y
        Ends of the axes, from the left and from the bottom.
    labels
        Of the horizontal and the vertical axis.
    moves_within
        Ends within which the horizontal axis can be moved and zoomed, ``None`` = fixed.
    """
    across = Range1d(start=x[0], end=x[1], bounds=moves_within)
    drawn = plotting.figure(
        height=height, x_range=across, y_range=Range1d(start=y[0], end=y[1]),
        tools="" if moves_within is None else "xpan", toolbar_location=None,
        output_backend="svg",
        sizing_mode="stretch_width", min_border_right=16,
        background_fill_alpha=0, border_fill_alpha=0, outline_line_alpha=0,
    )  # fmt: skip
    if moves_within is not None:
        wheel = WheelZoomTool(dimensions="width", modifiers={"ctrl": True})
        drawn.add_tools(wheel)
        drawn.toolbar.active_scroll = wheel
    drawn.ygrid.visible = False
    for axis, label in zip((drawn.xaxis[0], drawn.yaxis[0]), labels, strict=True):
        axis.update(
            axis_label=label, axis_label_standoff=10, axis_label_text_font=FONT,
            axis_label_text_font_size="12px", axis_label_text_font_style="normal",
            major_label_text_font=FONT, major_label_text_font_size="12px",
            axis_line_alpha=0, major_tick_line_alpha=0, minor_tick_line_alpha=0,
        )  # fmt: skip
    return drawn


def boxes(drawn: plotting.figure, columns: Columns, role: str, hover: Sequence[str]) -> None:
    """Draw boxes from columns ``left, right, top, bottom``; ``hover`` names columns to tell."""
    renderer = drawn.quad(
        left="left", right="right", top="top", bottom="bottom", source=_source(columns),
        line_width=1,
    )  # fmt: skip
    _tag(renderer, f"fill:{role}", "line:card")
    drawn.add_tools(_hover(renderer, hover))


def dots(
    drawn: plotting.figure, columns: Columns, role: str, size: int, hover: Sequence[str] = ()
) -> None:
    """Draw dots from columns ``x, y``."""
    renderer = drawn.scatter("x", "y", source=_source(columns), size=size, line_width=1.5)
    _tag(renderer, f"fill:{role}", "line:card")
    if hover:
        drawn.add_tools(_hover(renderer, hover))


def rule(drawn: plotting.figure, xs: Sequence[float], ys: Sequence[float], dash: str) -> None:
    """Draw a thin line through points, to guide the eye."""
    _tag(drawn.line(list(xs), list(ys), line_width=1.5, line_dash=dash), "line:rule")


def texts(
    drawn: plotting.figure, columns: Columns, role: str, offset: tuple[int, int] | None = None
) -> None:
    """Write texts from columns ``x, y, text``: centred there, or to the right of an offset."""
    middle = offset is None
    across, down = offset or (0, 0)
    renderer = drawn.text(
        "x", "y", "text", source=_source(columns), text_font=value(FONT), text_font_size="12px",
        text_align="center" if middle else "left",
        text_baseline="middle" if middle else "bottom", x_offset=across, y_offset=down,
    )  # fmt: skip
    _tag(renderer, f"text:{role}")


def label_rows(drawn: plotting.figure, labels: Mapping[int, str]) -> None:
    """Label rows of the vertical axis by their numbers."""
    drawn.yaxis[0].ticker = FixedTicker(ticks=sorted(labels))
    drawn.yaxis[0].major_label_overrides = {row: labels[row] for row in labels}


def by_columns(rows: Sequence[Mapping[str, Any]]) -> Columns:
    """Return rows of equal names as columns."""
    return {name: [row[name] for row in rows] for name in rows[0]}


def _tag(renderer: Any, *tags: str) -> None:
    renderer.glyph.tags = list(tags)


def _source(columns: Columns) -> ColumnDataSource:
    return ColumnDataSource({name: list(values) for name, values in columns.items()})


def _hover(renderer: Any, names: Sequence[str]) -> HoverTool:
    """Tell columns of what lies under the pointer; Bokeh escapes what stands in them."""
    return HoverTool(renderers=[renderer], tooltips=[(name, f"@{{{name}}}") for name in names])
