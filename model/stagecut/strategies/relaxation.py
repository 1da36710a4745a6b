"""The LP relaxation of a model, for its bound and for branching on it."""

from dataclasses import replace

from stagecut import backend
from stagecut.formulations.built import BuiltModel


def relaxation(
    built: BuiltModel, solver: str = "highs", request: backend.Request | None = None
) -> backend.Answer:
    """Solve ``built`` with its binaries anywhere within 0..1.

    The model itself is not changed; the LP's values are left in its variables.

    Parameters
    ----------
    built
        The model.
    solver
        The MILP solver.
    request
        Limits and options; ``relaxed`` is set here.

    Returns
    -------
    Answer
        Its objective is in units of ``built.scale`` seconds, and a bound on the model's only if
        the status is ``"optimal"``.

    Examples
    --------
    >>> import stagecut as sc
    >>> from stagecut.candidates import compile_candidates
    >>> from stagecut.formulations import builder
    >>> problem = sc.StageProblem([[[1.0], [2.0]], [[1.0], [1.0]]], [(1, 1)], 2, 4)
    >>> built = builder("range")(problem, compile_candidates(problem), 0.0)
    >>> round(relaxation(built).objective * built.scale, 9)
    5.0
    """
    return backend.run(built.model, solver, replace(request or backend.Request(), relaxed=True))
