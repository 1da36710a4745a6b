"""One page from its sections: a template, a style sheet, a script, and the plotting library."""

from importlib.metadata import version
from typing import Any

from bokeh.embed import json_item
from bokeh.resources import Resources
from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from stagecut.report.page.data import PageData
from stagecut.report.page.parts import Section
from stagecut.report.page.sections import sections
from stagecut.report.page.sections.overview import headline, problem_words
from stagecut.report.text import printable


def page(data: PageData) -> str:
    """Return the page as HTML."""
    found = sections(data)
    return (
        _environment()
        .get_template("page.html.j2")
        .render(
            name=data.name or "Pipeline plan",
            problem=problem_words(data),
            headline=headline(data),
            sections=found,
            items=_items(found),
            version=version("stagecut"),
            library=Markup(
                "\n".join(Resources(mode="inline", components=["bokeh"], log_level="warn").js_raw)
            ),
        )
    )


def _items(found: list[Section]) -> dict[str, Any]:
    """Return the figures as the plotting library takes them, by the place they go to."""
    pictures = [picture for section in found for picture in section.pictures]
    return {picture.identity: json_item(picture.figure) for picture in pictures}


def _environment() -> Environment:
    """Return templates that escape whatever is put in, and whose texts hold no odd characters."""
    environment = Environment(
        loader=PackageLoader("stagecut.report.page"), autoescape=True, undefined=StrictUndefined,
        trim_blocks=True, lstrip_blocks=True, finalize=_shown,
    )  # fmt: skip
    # Bokeh reads a model's definition before references to it, so the order of keys counts.
    environment.policies["json.dumps_kwargs"] = {"sort_keys": False, "allow_nan": False}
    return environment


def _shown(value: Any) -> Any:
    """Write odd characters as escapes, in whatever is not markup of the page's own."""
    if isinstance(value, str) and not isinstance(value, Markup):
        return "\n".join(printable(line) for line in value.split("\n"))
    return value
