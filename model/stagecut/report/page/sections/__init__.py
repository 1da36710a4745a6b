"""The sections of the page, in their order.

Each is a function from what is known to a section, or to ``None`` where its data is not known.
"""

from collections.abc import Callable

from stagecut.report.page.data import PageData
from stagecut.report.page.parts import Section
from stagecut.report.page.sections.front import front_section
from stagecut.report.page.sections.plan import plan_section
from stagecut.report.page.sections.proof import proof_section
from stagecut.report.page.sections.settings import settings_section
from stagecut.report.page.sections.stages import stages_section
from stagecut.report.page.sections.timeline import timeline_section

SECTIONS: tuple[Callable[[PageData], Section | None], ...] = (
    plan_section,
    stages_section,
    timeline_section,
    front_section,
    proof_section,
    settings_section,
)


def sections(data: PageData) -> list[Section]:
    """Return the sections whose data is known."""
    return [section for make in SECTIONS if (section := make(data)) is not None]
