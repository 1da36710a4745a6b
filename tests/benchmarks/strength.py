"""How far each formulation's LP value is from the optimum, and what the LP takes.

``python tests/benchmarks/strength.py`` prints the tables of docs/formulations.md. The optimum is
the dynamic programme's; the gap is ``1 - LP value / optimum``. With ``--solve`` it prints the
CPU seconds that ``stagecut.solve`` takes to prove the optimum instead.
"""

import argparse
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from statistics import median

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

import tables  # noqa: E402

import stagecut as sc  # noqa: E402
from stagecut import backend  # noqa: E402
from stagecut.candidates import Candidates, compile_candidates  # noqa: E402
from stagecut.formulations import builder  # noqa: E402
from stagecut.strategies import relaxation  # noqa: E402
from stagecut.strategies.floor import Feasibility, bottleneck_floor  # noqa: E402

KINDS = (*tables.KINDS, "additive")

type Instance = tuple[sc.StageProblem, Candidates, float, float]
"""Problem, candidates, floor and optimum in seconds."""

type Groups = list[list[Instance]]
"""By kind of table, by seed."""


@dataclass(frozen=True)
class Relaxed:
    """One LP: gap to the optimum (0.1 = 10 %), columns, nonzeros, seconds to build and solve."""

    gap: float
    columns: int
    nonzeros: int
    seconds: float


def main() -> None:
    """Print one table per size and kind of floor."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", nargs="+", default=["8,16", "16,64", "32,64"], metavar="K,D")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--microbatches", type=int, default=64)
    parser.add_argument("--time-limit", type=float, default=30.0, help="seconds for one LP")
    parser.add_argument("--formulations", nargs="+", default=sc.available_formulations())
    parser.add_argument("--solve", type=float, help="seconds for one call of solve")
    options = parser.parse_args()
    for size in options.sizes:
        num_layers, num_devices = map(int, size.split(","))
        groups = [list(problems(kind, num_layers, num_devices, options)) for kind in KINDS]
        if options.solve is None:
            show_gaps(f"K = {num_layers}, D = {num_devices}", groups, options)
        else:
            show_seconds(f"K = {num_layers}, D = {num_devices}", groups, options)


def show_gaps(size: str, groups: Groups, options: argparse.Namespace) -> None:
    """Print gaps and sizes of the LPs."""
    show(f"\n{size}: gap without / with the floor, %\n")
    show("| formulation | " + " | ".join(KINDS) + " | columns | nonzeros | LP seconds |")
    show("|---" * (len(KINDS) + 4) + "|")
    for formulation in options.formulations:
        show(line(formulation, groups, options.time_limit))


def show_seconds(size: str, groups: Groups, options: argparse.Namespace) -> None:
    """Print median CPU seconds to a proven optimum; ``>`` where the median run met the limit."""
    show(f"\n{size}: CPU seconds to the proven optimum\n")
    show("| formulation | " + " | ".join(KINDS) + " |")
    show("|---" * (len(KINDS) + 1) + "|")
    for formulation in options.formulations:
        cells = [seconds(formulation, group, options.solve) for group in groups]
        show(f"| `{formulation}` | " + " | ".join(cells) + " |")


def seconds(formulation: str, group: list[Instance], time_limit: float) -> str:
    """Return the median over the seeds of one kind of table."""
    taken = []
    for problem, *_ in group:
        try:
            result = sc.solve(problem, formulation=formulation, time_limit=time_limit)
        except sc.UnsupportedError:
            return "-"
        proven = result.status is sc.Status.OPTIMAL
        taken.append(result.statistics.cpu_seconds if proven else time_limit)
    middle = median(taken)
    return f"> {time_limit:.0f}" if middle >= time_limit else f"{middle:.2f}"


def show(text: str) -> None:
    """Print a line at once."""
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def problems(
    kind: str, num_layers: int, num_devices: int, options: argparse.Namespace
) -> Iterator[Instance]:
    """Yield problem, candidates, floor and optimum for each seed."""
    for seed in range(options.seeds):
        cost, sizes, limits = getattr(tables, kind)(num_layers, num_devices, seed=seed)
        submeshes = [(1, int(size)) for size in sizes]
        problem = sc.StageProblem(
            cost, submeshes, num_devices, options.microbatches, max_successors=limits
        )
        candidates = compile_candidates(problem)
        lps = Feasibility("highs", backend.Request(), time.perf_counter())
        floor, best = bottleneck_floor(problem, candidates, lps), sc.solve(problem).objective
        assert best is not None
        yield problem, candidates, floor, best


def line(
    formulation: str,
    groups: Groups,
    time_limit: float,
) -> str:
    """Return a row of the table: medians over seeds, sizes and seconds over all with the floor."""
    cells, sizes = [], []
    for group in groups:
        pair = [[relax(formulation, instance, used, time_limit) for instance in group]
                for used in (False, True)]  # fmt: skip
        cells.append(" / ".join(gap(runs) for runs in pair))
        sizes += [run for run in pair[1] if run is not None]
    if not sizes:
        return f"| `{formulation}` | " + " | ".join([*cells, "-", "-", "-"]) + " |"
    figures = [
        f"{median(run.columns for run in sizes):,.0f}",
        f"{median(run.nonzeros for run in sizes):,.0f}",
        f"{median(run.seconds for run in sizes):.2f}",
    ]
    return f"| `{formulation}` | " + " | ".join([*cells, *figures]) + " |"


def relax(
    formulation: str,
    instance: Instance,
    with_floor: bool,
    time_limit: float,
) -> Relaxed | None:
    """Solve one LP; ``None`` if the form cannot state the problem or the LP takes too long."""
    problem, candidates, floor, best = instance
    start = time.perf_counter()
    try:
        built = builder(formulation)(problem, candidates, floor if with_floor else 0.0)
    except sc.UnsupportedError:
        return None
    answer = relaxation(built, request=backend.Request(time_limit=time_limit))
    if answer.status != "optimal" or answer.objective is None or answer.nonzeros is None:
        return None
    gap_left = max(1 - answer.objective * built.scale / best, 0.0)
    columns, seconds = built.model.numVariables(), time.perf_counter() - start
    return Relaxed(gap_left, columns, answer.nonzeros, seconds)


def gap(runs: list[Relaxed | None]) -> str:
    """Return the median gap in percent, ``-`` unless every run ended."""
    ended = [run.gap for run in runs if run is not None]
    return f"{100 * median(ended):.2f}" if len(ended) == len(runs) else "-"


if __name__ == "__main__":
    main()
