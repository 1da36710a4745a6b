"""Time to a proven optimum: formulations and strategies on seeded instances.

``python tests/benchmarks/milp/run.py --sizes 24,64 --ways range/bisection range/direct`` prints
medians over instances and HiGHS's random seeds, and appends every run to ``results/runs.csv``. CPU
seconds of the whole call, one thread, nothing given in advance; objectives are held against the
dynamic programme's. A run that reaches the limit counts with its CPU time, marked ``>``.
"""

import argparse
import csv
import sys
from pathlib import Path
from statistics import median

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

import tables  # noqa: E402

import stagecut as sc  # noqa: E402

FIELDS = (
    "num_layers", "num_devices", "kind", "instance", "seed", "formulation", "strategy", "status",
    "cpu_seconds", "wall_seconds", "columns", "nonzeros", "nodes", "models", "gap",
)  # fmt: skip


def main() -> None:
    """Run everything asked for, one table of medians per size."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", nargs="+", default=["24,64"], metavar="K,D")
    parser.add_argument("--ways", nargs="+", default=["range/bisection", "range/direct"])
    parser.add_argument("--kinds", nargs="+", default=list(tables.KINDS))
    parser.add_argument("--instances", type=int, default=3)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--microbatches", type=int, default=64)
    parser.add_argument("--time-limit", type=float, default=60.0)
    parser.add_argument("--output", type=Path, default=HERE / "results" / "runs.csv")
    options = parser.parse_args()
    for size in options.sizes:
        num_layers, num_devices = map(int, size.split(","))
        print(f"\nK = {num_layers}, D = {num_devices}: median CPU seconds to the proven optimum\n")
        print("| formulation / strategy | " + " | ".join(options.kinds) + " |")
        print("|---" * (len(options.kinds) + 1) + "|")
        for way in options.ways:
            cells = [cell(way, kind, num_layers, num_devices, options) for kind in options.kinds]
            print(f"| {way} | " + " | ".join(cells) + " |", flush=True)


def cell(
    way: str, kind: str, num_layers: int, num_devices: int, options: argparse.Namespace
) -> str:
    """Run one way on all instances of a kind; return the median and how many were proven."""
    formulation, strategy = way.split("/")
    seconds, proven, runs = [], 0, 0
    for instance in range(options.instances):
        cost, sizes, limits = getattr(tables, kind)(num_layers, num_devices, seed=instance)
        shapes = [(1, int(size)) for size in sizes]
        problem = sc.StageProblem(
            cost, shapes, num_devices, options.microbatches, max_successors=limits
        )
        expected = sc.solve(problem, solver="dp").objective
        for seed in range(options.seeds):
            result = sc.solve(
                problem,
                solver="highs",
                formulation=formulation,
                strategy=strategy,
                threads=1,
                time_limit=options.time_limit,
                solver_options={"random_seed": seed},
            )
            runs += 1
            seconds.append(result.statistics.cpu_seconds or 0.0)
            if result.status is sc.Status.OPTIMAL:
                proven += 1
                if result.objective is None or abs(result.objective - expected) > 1e-9 * expected:
                    sys.exit(f"{way}, {kind}, instance {instance}: {result.objective}, {expected}")
            place = (num_layers, num_devices, kind, instance, seed, formulation, strategy)
            save(options.output, place, result)
    mark = "" if proven > runs / 2 else "> "
    return f"{mark}{median(seconds):.2f} ({proven}/{runs})"


def save(path: Path, place: tuple[object, ...], result: sc.Result) -> None:
    """Append one run."""
    path.parent.mkdir(parents=True, exist_ok=True)
    is_new = not path.exists()
    s = result.statistics
    figures = (s.cpu_seconds, s.wall_seconds, s.columns, s.nonzeros, s.nodes, s.models, result.gap)
    with path.open("a", newline="") as file:
        writer = csv.writer(file)
        if is_new:
            writer.writerow(FIELDS)
        writer.writerow([*place, result.status, *figures])


if __name__ == "__main__":
    main()
