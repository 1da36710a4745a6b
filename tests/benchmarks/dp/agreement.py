"""Run the long agreement checks of the dynamic programme.

Commands, from the root of the repository::

    python tests/benchmarks/dp/agreement.py small --count 50000
    python tests/benchmarks/dp/agreement.py small --count 50000 --bounded
    python tests/benchmarks/dp/agreement.py middle --count 500

``small``: random instances, half of them infeasible or limited, bit-equal to enumeration on all
four objectives. ``middle``: K 24 to 256 on the four kinds of table, with and without limits and
with adversarial device sizes, bit-equal to plain bisection on the training objective. A part of
both is in ``tests/dp``. Exits 1 at the first difference.
"""

import argparse
import sys
import time
from pathlib import Path

TESTS = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(TESTS / "dp"), str(TESTS / "benchmarks")]

from dp_oracle import OBJECTIVES, every_plan, least, random_small  # noqa: E402
from dp_plain import plain_training  # noqa: E402
from test_midsize import draw  # noqa: E402

import stagecut_dp  # noqa: E402
from stagecut_dp import training  # noqa: E402


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


def main() -> None:
    """Read the command line and run one check."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("check", choices=["small", "middle"])
    parser.add_argument("--count", type=int, default=500)
    parser.add_argument("--start", type=int, default=0)
    parser.add_argument("--bounded", action="store_true", help="bounds even where none are needed")
    options = parser.parse_args()
    if options.bounded:
        training.MOST_WORK = -1
    began = time.process_time()
    run = {"small": small, "middle": middle}[options.check]
    compared = run(options.start, options.count)
    sys.stdout.write(
        f"{options.count} {options.check} instances: {compared}; "
        f"{time.process_time() - began:.0f} s of CPU\n"
    )


if __name__ == "__main__":
    main()
