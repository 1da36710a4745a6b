"""Exact formulations, one module each; this registry is the list of them."""

from collections.abc import Callable

from stagecut.candidates import Candidates
from stagecut.errors import ProblemError
from stagecut.formulations import assignment, flow, levels, range_disaggregated, stage_indexed
from stagecut.formulations import range as range_aggregated
from stagecut.formulations.built import BuiltModel
from stagecut.formulations.robust import add_worst_case
from stagecut.formulations.rule_rows import add_rule_rows
from stagecut.formulations.transfer_rows import add_transfers
from stagecut.problem import StageProblem
from stagecut.worst_case import is_robust

type Builder = Callable[[StageProblem, Candidates, float], BuiltModel]
"""Takes the problem, its candidates, and a floor under the largest stage cost in seconds."""

BUILDERS: dict[str, Builder] = {
    "range": range_aggregated.build,
    "range_disaggregated": range_disaggregated.build,
    "levels": levels.build,
    "flow": flow.build,
    "flow_all_cuts": flow.build_all_cuts,
    "stage_indexed": stage_indexed.build,
    "assignment": assignment.build,
}
DEFAULT = "range"
TIGHTENED = frozenset(BUILDERS) - {"range_disaggregated", "assignment"}
"""Formulations that ``solve`` gives a floor under the largest stage cost; the others are the
models that most papers write, as they are."""


def available_formulations() -> tuple[str, ...]:
    """Return the names that ``solve(formulation=...)`` takes, the default first.

    Examples
    --------
    >>> available_formulations()[:3]
    ('range', 'range_disaggregated', 'levels')
    """
    return tuple(BUILDERS)


def builder(name: str) -> Builder:
    """Return the builder of a formulation, which also states the rules of the problem.

    Raises
    ------
    ProblemError
        If there is no formulation of that name.
    """
    if name not in BUILDERS:
        raise ProblemError(
            f"formulation must be 'auto' or one of {', '.join(BUILDERS)}, got {name!r}"
        )
    state = BUILDERS[name]

    def build(problem: StageProblem, candidates: Candidates, floor: float) -> BuiltModel:
        built = state(problem, candidates, floor)
        add_rule_rows(built.model, problem, built.candidates, built.weighted)
        if problem.transfers is not None:
            add_transfers(built, problem.transfers)
        if is_robust(problem):
            add_worst_case(built)
        return built

    return build
