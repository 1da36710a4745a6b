"""``stagecut solve --count``: several plans instead of one."""

import sys

import typer

from stagecut.cli.inputs import save_kept
from stagecut.problem import StageProblem


def list_plans(
    problem: StageProblem, name: str, count: int, *, json: bool, output: str | None
) -> None:
    """List the best plans of a problem, and save the best one; exit with 1 if there is none."""
    from stagecut.many import solve_many
    from stagecut.report.ranking import print_ranking, ranking_json

    ranked = solve_many(problem, count)
    unsaved = save_kept(ranked[0].plan, output) if ranked and output is not None else None
    if json:
        print(ranking_json(problem, name, ranked))
    else:
        print_ranking(problem, name, ranked, sys.stdout)
    if unsaved is not None:
        raise unsaved
    if not ranked:
        raise typer.Exit(1)
