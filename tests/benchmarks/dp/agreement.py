"""Run the long agreement checks of the dynamic programme.

Commands, from the root of the repository::

    python tests/benchmarks/dp/agreement.py small --count 50000
    python tests/benchmarks/dp/agreement.py small --count 50000 --bounded
    python tests/benchmarks/dp/agreement.py middle --count 500
    python tests/benchmarks/dp/agreement.py limited --count 300
    python tests/benchmarks/dp/agreement.py highs --count 40

``small``: random instances, half of them infeasible or limited, bit-equal to enumeration on all
four objectives. ``middle``: K 24 to 256 on the four kinds of table, with and without limits and
with adversarial device sizes, bit-equal to plain bisection on the training objective. ``limited``:
K 24 to 40 under 1F1B limits, from loose ones to those that leave few plans, bit-equal to plain
bisection. ``highs``: K 24 to 64, as ``middle``, against the MILP solved by HiGHS (within its
tolerance, 1e-6). A part of the first two is in ``tests/dp``. Exits 1 at the first difference.
"""

import argparse
import sys
import time
from pathlib import Path

TESTS = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(TESTS / "dp"), str(TESTS / "benchmarks")]

import numpy as np  # noqa: E402
import tables  # noqa: E402
from dp_oracle import OBJECTIVES, every_plan, least, random_small  # noqa: E402
from dp_plain import plain_training  # noqa: E402
from test_midsize import draw  # noqa: E402

import stagecut as sc  # noqa: E402
import stagecut_dp  # noqa: E402
from stagecut_dp import training  # noqa: E402

TIME_LIMIT = 60.0
"""Seconds for each run of HiGHS."""


def small(start: int, count: int) -> str:
    """Compare ``count`` small instances with enumeration; return what was compared."""
    hard = 0
    for seed in range(start, start + count):
        drawn = random_small(seed)
        plans = every_plan(drawn)
        hard += drawn.max_successors is not None or not plans
        for objective in OBJECTIVES:
            value, _ = stagecut_dp.solve(
                drawn.cost,
                drawn.sizes,
                drawn.num_devices,
                drawn.num_microbatches,
                objective=objective,
                **drawn.rules,
            )
            expected = least(plans, objective, drawn.num_microbatches)
            if value != expected:
                sys.exit(f"seed {seed}, {objective}: {value!r} instead of {expected!r}")
    return f"{hard} of them infeasible or limited, 4 objectives each, bit-equal to enumeration"


def middle(start: int, count: int) -> str:
    """Compare ``count`` mid-size instances with plain bisection; return what was compared."""
    feasible = limited = 0
    for seed in range(start, start + count):
        # Plain bisection takes a stage axis with limits, so those stay smaller.
        most = 256 if seed % 10 == 0 else 96
        with_limits = seed % 4 == 2 and seed % 3 > 0
        cost, sizes, devices, microbatches, limits, exact = draw(seed, 32 if with_limits else most)
        limits = limits if with_limits else None
        limited += with_limits
        value, _ = stagecut_dp.solve(
            cost, sizes, devices, microbatches, max_successors=limits, use_all_devices=exact
        )
        expected = plain_training(cost, sizes, devices, microbatches, limits, exact)
        if value != expected:
            sys.exit(f"seed {seed}: {value!r} instead of {expected!r}")
        feasible += value < float("inf")
    return f"{feasible} feasible, {limited} with limits, bit-equal to plain bisection"


def limited(start: int, count: int) -> str:
    """Compare ``count`` instances under limits of every strength with plain bisection."""
    feasible = 0
    for seed in range(start, start + count):
        rng = np.random.default_rng([seed, 11])
        layers, devices = int(rng.integers(24, 41)), int(rng.integers(16, 65))
        room = float(rng.choice([0.95, 1.05, 1.1, 1.2, 1.3, 1.6, 2.0]))
        sizes = [None, [1, 3, 8], [2, 5, 9, 16]][int(rng.integers(3))]
        cost, sizes, limits = tables.memory_limited(layers, devices, sizes, seed, room=room)
        exact, microbatches = bool(rng.integers(2)), int(rng.choice([1, 4, 32, 512]))
        value, _ = stagecut_dp.solve(
            cost, sizes, devices, microbatches, max_successors=limits, use_all_devices=exact
        )
        expected = plain_training(cost, sizes, devices, microbatches, limits, exact)
        if value != expected:
            sys.exit(f"seed {seed}: {value!r} instead of {expected!r}")
        feasible += value < float("inf")
    return f"{feasible} feasible, bit-equal to plain bisection"


def highs(start: int, count: int) -> str:
    """Compare ``count`` mid-size instances with HiGHS; return what was compared."""
    proven = infeasible = restricted = 0
    for seed in range(start, start + count):
        cost, sizes, devices, microbatches, limits, exact = draw(seed, 64)
        _, kept = np.unique(sizes, return_index=True)
        limits = limits if seed % 3 else None
        problem = sc.StageProblem(
            cost[:, :, kept],
            [(1, int(size)) for size in sizes[kept]],
            devices,
            microbatches,
            max_successors=None if limits is None else limits[:, :, kept],
            use_all_devices=exact,
        )
        ours = sc.solve(problem, solver="dp")
        theirs = sc.solve(problem, solver="highs", time_limit=TIME_LIMIT)
        if theirs.status not in ("optimal", "infeasible"):
            continue
        same = ours.status == theirs.status
        if same and ours.objective is not None and theirs.objective is not None:
            same = abs(ours.objective - theirs.objective) <= 1e-6 * ours.objective
        if not same:
            sys.exit(f"seed {seed}: {ours.objective!r}, HiGHS {theirs.objective!r}")
        proven += 1
        infeasible += theirs.status == "infeasible"
        restricted += limits is not None
    return (
        f"{proven} proven by HiGHS in {TIME_LIMIT:.0f} s each, {infeasible} of them infeasible, "
        f"{restricted} with limits: equal"
    )


CHECKS = {"small": small, "middle": middle, "limited": limited, "highs": highs}


def main() -> None:
    """Read the command line and run one check."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("check", choices=list(CHECKS))
    parser.add_argument("--count", type=int, default=500)
    parser.add_argument("--start", type=int, default=0)
    parser.add_argument("--bounded", action="store_true", help="bounds even where none are needed")
    options = parser.parse_args()
    if options.bounded:
        training.MOST_WORK = -1
    began = time.process_time()
    compared = CHECKS[options.check](options.start, options.count)
    sys.stdout.write(
        f"{options.count} {options.check} instances: {compared}; "
        f"{time.process_time() - began:.0f} s of CPU\n"
    )


if __name__ == "__main__":
    main()
