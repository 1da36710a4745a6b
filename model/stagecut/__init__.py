"""Exact planning of pipeline stages for training and serving large models."""

from stagecut.backend import available_solvers
from stagecut.building import build
from stagecut.errors import (
    FormatError,
    PlanError,
    ProblemError,
    SolverError,
    SolverNotInstalledError,
    StagecutError,
    UnsupportedError,
)
from stagecut.evaluate import Evaluation, check, evaluate
from stagecut.examples import example_names, load_example
from stagecut.explain import Cause, Explanation, explain_infeasibility
from stagecut.formats import (
    load_plan,
    load_problem,
    load_profile,
    read_galvatron,
    read_hf_config,
    save_model,
    save_plan,
    save_problem,
    save_profile,
)
from stagecut.formulations import available_formulations
from stagecut.formulations.built import BuiltModel
from stagecut.front import MicrobatchRange, ParetoFront, ParetoPoint, pareto_front
from stagecut.many import RankedPlan, solve_many
from stagecut.placement import Placement, place
from stagecut.plan import Plan, Stage
from stagecut.problem import StageProblem
from stagecut.profiling import profile_torch
from stagecut.report.page import save_report
from stagecut.result import Limit, Result, Statistics, Status
from stagecut.rule_parts import AllowedSubmeshes, Budget
from stagecut.rules import StageRules
from stagecut.solve import solve
from stagecut.strategies import Tightening
from stagecut.stress import Stress, stress
from stagecut.submesh import Submesh
from stagecut.submeshes import submesh_choices

__version__ = "0.1.0"

__all__ = [
    "AllowedSubmeshes",
    "Budget",
    "BuiltModel",
    "Cause",
    "Evaluation",
    "Explanation",
    "FormatError",
    "Limit",
    "MicrobatchRange",
    "ParetoFront",
    "ParetoPoint",
    "Placement",
    "Plan",
    "PlanError",
    "ProblemError",
    "RankedPlan",
    "Result",
    "SolverError",
    "SolverNotInstalledError",
    "Stage",
    "StageProblem",
    "StageRules",
    "StagecutError",
    "Statistics",
    "Status",
    "Stress",
    "Submesh",
    "Tightening",
    "UnsupportedError",
    "available_formulations",
    "available_solvers",
    "build",
    "check",
    "evaluate",
    "example_names",
    "explain_infeasibility",
    "load_example",
    "load_plan",
    "load_problem",
    "load_profile",
    "pareto_front",
    "place",
    "profile_torch",
    "read_galvatron",
    "read_hf_config",
    "save_model",
    "save_plan",
    "save_problem",
    "save_profile",
    "save_report",
    "solve",
    "solve_many",
    "stress",
    "submesh_choices",
]
