"""Settings to paste: the plan as other programs take it."""

import json

from stagecut.formats.plan_file import plan_fields
from stagecut.report.page.data import PageData
from stagecut.report.page.parts import Paste, Section


def settings_section(data: PageData) -> Section:
    """Show the plan as texts to copy."""
    text = json.dumps(plan_fields(data.plan), indent=1, allow_nan=False)
    plan = Paste(
        "paste-plan", "Plan file", text, "For stagecut itself: stagecut check PROBLEM PLAN"
    )
    return Section("settings", "Settings to paste", "The plan as other programs take it.",
                   pastes=(plan,))  # fmt: skip
