"""Measure the dynamic programme, and print, save and plot what was measured.

From the root of the repository, with numba and matplotlib installed beside the project::

    python tests/benchmarks/dp/run.py [--only ratios sizes limits growth memory]

CPU time of one thread, medians over repeats, tables of ``tests/benchmarks/tables.py`` with seed 0;
ratios are taken in one run on the same table. Writes ``results/<section>.csv`` and
``results/growth.png`` beside this file.
"""

import argparse
import csv
import os
import resource
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path

for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS"):
    os.environ.setdefault(_name, "1")

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]

import numpy as np  # noqa: E402
import tables  # noqa: E402

import stagecut_dp  # noqa: E402
from stagecut_dp import textbook  # noqa: E402

type Row = dict[str, object]

LADDER = [(8, 8), (16, 64), (32, 64), (64, 64), (64, 256)]
GOALS = {  # ratio to Alpa's compiled programme: tied, noisy
    (8, 8): (5, 5),
    (16, 64): (15, 50),
    (32, 64): (50, 400),
    (64, 64): (400, 5000),
    (64, 256): (800, 8000),
}
SECONDS = [  # K, D, B, goal in seconds
    (64, 256, 1024, 0.005),
    (64, 256, 16, 0.012),
    (256, 1024, 128, 0.06),
    (512, 4096, 128, 2.0),
]
LIMITED = [(64, 256, None), (256, 1024, 0.5), (512, 4096, None)]
ROOMS = (1.1, 1.2, 1.3, 1.6, 2.0)
SEEDS = range(4)
FRONTS = [(128, 512, 0.5), (256, 1024, 5.0)]


def cpu(work: Callable[[], object], repeats: int) -> tuple[float, object]:
    """Return the median CPU seconds of some runs, and what the last returned."""
    taken, value = [], None
    for _ in range(repeats):
        began = time.process_time()
        value = work()
        taken.append(time.process_time() - began)
    return statistics.median(taken), value


def ratios() -> list[Row]:
    """Compare with the textbook and the compiled baselines, B = 128."""
    import per_threshold

    warm = tables.noisy(4, 4)
    per_threshold.solve(warm[0], warm[1], 4, 2)
    per_threshold.solve_lean(warm[0], warm[1], 4, 2)
    rows: list[Row] = []
    for layers, devices in LADDER:
        for place, kind in enumerate(("tied", "noisy")):
            cost, sizes, _ = tables.KINDS[kind](layers, devices)
            problem = (cost, sizes, devices, 128)
            ours, found = cpu(lambda p=problem: stagecut_dp.solve(*p)[0], 15)
            slow = 1 if layers >= 32 else 5
            today, same = cpu(lambda p=problem: per_threshold.solve(*p), slow)
            lean, again = cpu(lambda p=problem: per_threshold.solve_lean(*p), slow)
            if not found == same == again:
                sys.exit(f"{kind} {layers}, {devices}: {found!r}, {same!r} and {again!r} differ")
            plain = None
            if layers <= 16 and kind == "tied":
                plain, _ = cpu(lambda p=problem: textbook.solve(*p), 1)
            rows.append(
                {
                    "K": layers,
                    "D": devices,
                    "table": kind,
                    "ours ms": f"{ours * 1e3:.3g}",
                    "textbook / ours": "-" if plain is None else f"{plain / ours:.0f}",
                    "compiled / ours": f"{today / ours:.3g}",
                    "lean compiled / ours": f"{lean / ours:.3g}",
                    "goal (to Alpa's)": GOALS[layers, devices][place],
                }
            )
    return rows


def sizes() -> list[Row]:
    """Measure seconds on all kinds of table, and the fronts."""
    rows: list[Row] = []
    for layers, devices, microbatches, goal in SECONDS:
        for kind in [*tables.KINDS, "profiled"]:
            made = {**tables.KINDS, "profiled": tables.profiled}[kind](layers, devices)
            if made is None:
                continue
            cost, devices_of, _ = made
            problem = (cost, devices_of, devices, microbatches)
            taken, _ = cpu(lambda p=problem: stagecut_dp.solve(*p), 9 if layers <= 64 else 3)
            what = f"{layers}, {devices}, S={len(devices_of)}, B={microbatches}"
            rows.append(timed(what, kind, taken, goal))
    for layers, devices, goal in FRONTS:
        for kind in tables.KINDS:
            cost, devices_of, _ = tables.KINDS[kind](layers, devices)
            taken, front = cpu(
                lambda c=cost, s=devices_of, d=devices: stagecut_dp.pareto_front(c, s, d), 1
            )
            what = (
                f"front {layers}, {devices}: {len(front)} points, {len(front.hull())} on the hull"
            )
            rows.append(timed(what, kind, taken, goal))
    return rows


def limits() -> list[Row]:
    """Measure seconds under 1F1B limits that bind hard (little room) to hardly at all, B = 128."""
    rows: list[Row] = []
    for layers, devices, goal in LIMITED:
        for room in ROOMS:
            taken, raised = [], []
            for seed in SEEDS:
                cost, wide, most = tables.memory_limited(layers, devices, seed=seed, room=room)
                problem = (cost, wide, devices, 128)
                free, _ = stagecut_dp.solve(*problem)
                seconds, found = cpu(
                    lambda p=problem, m=most: stagecut_dp.solve(*p, max_successors=m)[0], 1
                )
                taken.append(seconds)
                raised.append(float(found) / free if isinstance(found, float) else np.inf)
            reached = "-" if goal is None else "yes" if max(taken) <= goal else "no"
            rows.append(
                {
                    "K, D": f"{layers}, {devices}",
                    "room": room,
                    "limited / free optimum": f"{min(raised):.3g} to {max(raised):.3g}",
                    "CPU s, seeds 0 to 3": ", ".join(f"{seconds:.2g}" for seconds in taken),
                    "goal": "-" if goal is None else goal,
                    "reached": reached,
                }
            )
    return rows


def timed(what: str, kind: str, taken: float, goal: float) -> Row:
    """Return one row of seconds."""
    reached = "yes" if taken <= goal else "no"
    return {"K, D": what, "table": kind, "CPU s": f"{taken:.3g}", "goal": goal, "reached": reached}


def growth() -> list[Row]:
    """Fit exponents of K, D and S on noisy and tied tables, B = 128."""
    series = {
        "K": [(layers, 256, 9) for layers in (32, 64, 128, 256)],
        "D": [(64, devices, 7) for devices in (64, 128, 256, 512, 1024)],
        "S": [(64, 256, count) for count in (3, 5, 7, 9)],
    }
    rows: list[Row] = []
    for axis, points in series.items():
        for kind in ("tied", "noisy"):
            for layers, devices, count in points:
                cost, wide, _ = tables.KINDS[kind](layers, devices, 2 ** np.arange(count))
                taken, _ = cpu(lambda c=cost, s=wide, d=devices: stagecut_dp.solve(c, s, d, 128), 5)
                value = {"K": layers, "D": devices, "S": count}[axis]
                rows.append({"axis": axis, "table": kind, "value": value, "CPU s": taken})
    plot(rows)
    return exponents(rows)


def exponents(rows: list[Row]) -> list[Row]:
    """Return the slope of each series on logarithmic axes."""
    fitted: list[Row] = []
    for axis in ("K", "D", "S"):
        for kind in ("tied", "noisy"):
            some = [row for row in rows if (row["axis"], row["table"]) == (axis, kind)]
            logs = np.log([[row["value"], row["CPU s"]] for row in some])
            slope = float(np.polyfit(logs[:, 0], logs[:, 1], 1)[0])
            spread = ", ".join(
                f"{row['value']}: {float(row['CPU s']) * 1e3:.1f} ms" for row in some
            )
            fitted.append(
                {"axis": axis, "table": kind, "exponent": f"{slope:.2f}", "measured": spread}
            )
    return fitted


def plot(rows: list[Row]) -> None:
    """Draw the series on logarithmic axes with their exponents."""
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot as plt

    figure, panels = plt.subplots(1, 3, figsize=(11, 3.5), sharey=True, layout="constrained")
    slopes = {(row["axis"], row["table"]): row["exponent"] for row in exponents(rows)}
    for panel, axis in zip(panels, ("K", "D", "S"), strict=True):
        for kind in ("tied", "noisy"):
            some = [row for row in rows if (row["axis"], row["table"]) == (axis, kind)]
            label = f"{kind}: {axis}^{slopes[axis, kind]}"
            panel.loglog(
                [row["value"] for row in some], [row["CPU s"] for row in some], "o-", label=label
            )
        panel.set_xlabel({"K": "layers K", "D": "devices D", "S": "submeshes S"}[axis])
        panel.legend()
    panels[0].set_ylabel("CPU seconds")
    (HERE / "results").mkdir(exist_ok=True)
    figure.savefig(HERE / "results" / "growth.png", dpi=120)


def memory() -> list[Row]:
    """Measure the peak of the whole process at K=512, D=4096, S=13 beyond the table."""
    cost, wide, _ = tables.noisy(512, 4096)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    stagecut_dp.solve(cost, wide, 4096, 128)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    return [
        {
            "K, D, S": "512, 4096, 13",
            "table GB": f"{cost.nbytes / 1e9:.3f}",
            "peak before GB": f"{before:.2f}",
            "peak GB": f"{peak:.2f}",
            "goal": "table + 2",
        }
    ]


def show(name: str, rows: list[Row]) -> None:
    """Print a table and save it."""
    (HERE / "results").mkdir(exist_ok=True)
    with (HERE / "results" / f"{name}.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    lines = ["| " + " | ".join(rows[0]) + " |", "|" + "---|" * len(rows[0])]
    lines += ["| " + " | ".join(str(value) for value in row.values()) + " |" for row in rows]
    sys.stdout.write(f"\n{name}\n\n" + "\n".join(lines) + "\n")
    sys.stdout.flush()


def main() -> None:
    """Run the sections asked for."""
    sections = {
        "ratios": ratios,
        "sizes": sizes,
        "limits": limits,
        "growth": growth,
        "memory": memory,
    }
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", nargs="+", choices=list(sections), default=list(sections))
    for name in parser.parse_args().only:
        show(name, sections[name]())


if __name__ == "__main__":
    main()
