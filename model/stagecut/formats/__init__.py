"""Files: stagecut's own problems, profiles and plans, and readers of other programs' files."""

from stagecut.formats.model_file import save_model
from stagecut.formats.plan_file import load_plan, save_plan
from stagecut.formats.problem_file import load_problem, save_problem
from stagecut.formats.profile_file import load_profile, save_profile
from stagecut.formats.readers import READERS, read

__all__ = [
    "READERS",
    "load_plan",
    "load_problem",
    "load_profile",
    "read",
    "save_model",
    "save_plan",
    "save_problem",
    "save_profile",
]
