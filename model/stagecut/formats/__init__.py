"""Files: stagecut's own problems, profiles and plans, and readers of other programs' files."""

from stagecut.formats.galvatron import read_galvatron
from stagecut.formats.huggingface import hf_spec, read_hf_config
from stagecut.formats.model_file import save_model
from stagecut.formats.plan_file import load_plan, save_plan
from stagecut.formats.problem_file import load_problem, save_problem
from stagecut.formats.profile_file import load_profile, save_profile
from stagecut.formats.readers import READERS, read, read_any

__all__ = [
    "READERS",
    "hf_spec",
    "load_plan",
    "load_problem",
    "load_profile",
    "read",
    "read_any",
    "read_galvatron",
    "read_hf_config",
    "save_model",
    "save_plan",
    "save_problem",
    "save_profile",
]
