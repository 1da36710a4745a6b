"""Rows of rules in a model: whatever the rules are, they arrive as rows over candidate stages."""

from collections.abc import Callable
from typing import Literal

import numpy.typing as npt
import pulp

from stagecut.candidates import Candidates
from stagecut.constraints import linear_rows
from stagecut.couplings import Column
from stagecut.problem import StageProblem

type Weighted = Callable[[npt.ArrayLike], pulp.LpAffineExpression]
"""Returns the sum of one weight per candidate over the stages used."""


def add_rule_rows(
    model: pulp.LpProblem,
    problem: StageProblem,
    candidates: Candidates,
    weighted: Weighted,
    fractional: bool = False,
) -> None:
    """Add the counts and couplings of the problem's rules, which no mask on candidates states."""
    category: Literal["Continuous", "Integer"] = "Continuous" if fractional else "Integer"
    columns: dict[Column, pulp.LpVariable] = {}
    for row in linear_rows(problem, candidates):
        used = weighted(row.weights)
        for column, coefficient in row.columns:
            if column not in columns:
                columns[column] = model.add_variable(column.name, 0, column.high, category)
            used += coefficient * columns[column]
        if row.low is not None and row.low == row.high:
            model.addConstraint(used == row.low, row.name)
            continue
        if row.low is not None:
            model.addConstraint(used >= row.low, f"{row.name}_low")
        if row.high is not None:
            model.addConstraint(used <= row.high, f"{row.name}_high")
