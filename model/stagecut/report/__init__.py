"""What people look at: tables for terminals and pictures of plans."""

from stagecut.report.figure import plot_plan
from stagecut.report.results import stage_table

__all__ = ["plot_plan", "stage_table"]
