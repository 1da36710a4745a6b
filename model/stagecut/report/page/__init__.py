"""A plan as one page of HTML that needs no network (extra ``report``)."""

from typing import TYPE_CHECKING

from stagecut.errors import UnsupportedError

if TYPE_CHECKING:
    from stagecut.costs import LayerProfile
    from stagecut.formats.files import PathLike
    from stagecut.front import ParetoFront
    from stagecut.plan import Plan
    from stagecut.problem import StageProblem
    from stagecut.result import Result


def save_report(
    problem: "StageProblem",
    plan: "Plan | Result",
    path: "PathLike",
    *,
    name: str = "",
    proof: "Result | None" = None,
    front: "ParetoFront | None" = None,
    profile: "LayerProfile | None" = None,
) -> None:
    """Write a plan as one self-contained HTML page.

    Parameters
    ----------
    problem
        The problem.
    plan
        A valid plan of it, or the result that holds one: then the result is the proof, too.
    path
        File to write; it is written whole or not at all.
    name
        Heading of the page.
    proof
        Outcome of a search on the same problem, which says how far the plan is from the best.
    front
        The front of total and bottleneck, from :func:`stagecut.pareto_front`.
    profile
        The layer profile that the problem was made from: with it the page shows memory.

    Raises
    ------
    UnsupportedError
        If Bokeh is not installed, or ``plan`` is a result without a plan.
    ProblemError
        If an argument is of another kind, or the profile is not the problem's.
    PlanError
        If the plan is not valid.
    FormatError
        If the file cannot be written.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import stagecut as sc
    >>> problem = sc.StageProblem([[[1.0], [2.0]], [[1.0], [1.0]]], [(1, 1)], 2, 4)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder, "report.html")
    ...     sc.save_report(problem, sc.solve(problem), file, name="two layers")
    ...     "No plan of this problem has a smaller objective" in file.read_text(encoding="utf-8")
    True
    """
    try:
        import bokeh  # noqa: F401
    except ImportError:
        raise UnsupportedError(
            "a report needs Bokeh; install it with: pip install 'stagecut[report]'"
        ) from None
    from stagecut.formats.files import write_text
    from stagecut.report.page.data import gather
    from stagecut.report.page.render import page

    data = gather(problem, plan, name=name, proof=proof, front=front, profile=profile)
    write_text(path, page(data))
