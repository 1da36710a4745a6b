"""PuLP and its solvers: the only place that knows them.

It takes a PuLP problem and hands back what the solver says, unjudged: whether the search ended, the
values if there are any, objective, bound and nodes.
"""

from stagecut.backend.catalogue import SOLVERS, SolverEntry, available_solvers, known_solver
from stagecut.backend.highs import leave
from stagecut.backend.modelling import OutOfTimeError, modelling
from stagecut.backend.request import Answer, Progress, Request, Stop
from stagecut.backend.run import run

__all__ = [
    "SOLVERS",
    "Answer",
    "OutOfTimeError",
    "Progress",
    "Request",
    "SolverEntry",
    "Stop",
    "available_solvers",
    "known_solver",
    "leave",
    "modelling",
    "run",
]
