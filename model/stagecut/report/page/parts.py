"""What a page is made of: sections with facts, pictures, tables and texts to copy."""

from dataclasses import dataclass
from typing import Literal

from bokeh import plotting

Tone = Literal["plain", "good", "warn"]


@dataclass(frozen=True, slots=True)
class Fact:
    """One figure with its name and, where it needs one, a remark."""

    name: str
    value: str
    remark: str = ""
    tone: Tone = "plain"


@dataclass(frozen=True, slots=True)
class Table:
    """A table of texts; every column but those of ``texts`` holds numbers, aligned to the right."""

    caption: str
    headings: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    texts: frozenset[int] = frozenset({0})
    marked: frozenset[int] = frozenset()
    """Rows to stand out, such as the bottleneck."""


@dataclass(frozen=True, slots=True)
class Key:
    """An entry of a legend: a role of the palette, and what it stands for."""

    role: str
    meaning: str


@dataclass(frozen=True, slots=True)
class Picture:
    """A picture, what it shows in words, and the table behind it.

    Parameters
    ----------
    identity
        Unique on the page: letters and hyphens.
    title
        Heading of the picture.
    label
        One sentence for those who cannot see it.
    figure
        The figure; its colours are roles of the palette (:mod:`stagecut.report.page.drawing`).
    table
        Its data.
    legend
        What the colours stand for.
    zooms
        Whether it has controls to zoom and pan along its horizontal axis.
    opened
        Whether the table is open from the start.
    """

    identity: str
    title: str
    label: str
    figure: plotting.figure
    table: Table | None
    legend: tuple[Key, ...] = ()
    zooms: bool = False
    opened: bool = False


@dataclass(frozen=True, slots=True)
class Paste:
    """A text to paste elsewhere, with where to paste it."""

    identity: str
    title: str
    text: str
    remark: str = ""


@dataclass(frozen=True, slots=True)
class Section:
    """A part of the page with a heading of its own."""

    identity: str
    title: str
    lead: str
    facts: tuple[Fact, ...] = ()
    pictures: tuple[Picture, ...] = ()
    tables: tuple[Table, ...] = ()
    pastes: tuple[Paste, ...] = ()
    notes: tuple[str, ...] = ()
