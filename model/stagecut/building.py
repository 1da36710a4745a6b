"""Models for those who add rows of their own."""

from stagecut.candidates import compile_candidates
from stagecut.errors import ProblemError
from stagecut.formulations import DEFAULT, builder
from stagecut.formulations.built import BuiltModel
from stagecut.problem import StageProblem


def build(problem: StageProblem, formulation: str = DEFAULT) -> BuiltModel:
    """Build the PuLP model of a problem, to read, to write to a file, or to add rows to.

    Every stage that the problem allows has its column, dominated configs too, since rows may tell
    them apart; no bound from elsewhere is in the model. Solve it with ``sc.solve(built)``.

    Parameters
    ----------
    problem
        The problem.
    formulation
        One of :func:`available_formulations`.

    Returns
    -------
    BuiltModel
        ``model`` is the ``pulp.LpProblem``; ``stage_used``, ``layer_on``, ``weighted``,
        ``num_stages``, ``total`` and ``bottleneck`` say what rows may be about.

    Raises
    ------
    ProblemError
        If ``problem`` is not a problem, or there is no formulation of that name.
    UnsupportedError
        If the formulation cannot state the problem.

    Examples
    --------
    >>> import stagecut as sc
    >>> problem = sc.StageProblem([[[1.0], [2.0]], [[1.0], [1.0]]], [(1, 1)], 2, 4,
    ...                           use_all_devices=False)
    >>> built = sc.build(problem)
    >>> row = built.model.addConstraint(built.num_stages <= 1, "one_stage")
    >>> sc.solve(built).objective
    8.0
    """
    if not isinstance(problem, StageProblem):
        raise ProblemError(f"problem must be a StageProblem, got {type(problem).__name__}")
    return builder(formulation)(problem, compile_candidates(problem, drop_dominated=False), 0.0)
