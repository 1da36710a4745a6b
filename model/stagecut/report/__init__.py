"""What people look at: tables for terminals and pictures of plans."""

from stagecut.report.figure import plot_plan
from stagecut.report.front_figure import plot_front
from stagecut.report.results import stage_table

__all__ = ["plot_front", "plot_plan", "stage_table"]
