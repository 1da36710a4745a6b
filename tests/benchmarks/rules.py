"""Seconds to a proven optimum under each kind of rule, by ``solve`` with its defaults.

``python tests/benchmarks/rules.py`` prints the table of README.md: noisy blocks (2 %), 64 layers on
64 devices and 64 micro-batches, medians over seeds 0 to 2. The worst case of slow stages, whose
model grows with the square of the layers, has 24 layers on 16 devices.
"""

import argparse
import sys
import time
from statistics import median
from typing import Any

import numpy as np

import stagecut as sc

SIZES = np.array([1, 2, 4, 8])
WEIGHTS = {(1, 1): 1.2, (1, 2): 2.1, (1, 4): 3.6, (1, 8): 6.6}


def noisy(seed: int, num_layers: int, num_devices: int, **changes: Any) -> sc.StageProblem:
    """Blocks of about a second on one device, with four sizes of submesh."""
    rng = np.random.default_rng(seed)
    ends = np.concatenate([[0.0], np.cumsum(1 + 0.02 * rng.standard_normal(num_layers))])
    seconds = np.maximum(ends[None, 1:] - ends[:-1, None], 0.0)[:, :, None]
    shapes = [(1, int(size)) for size in SIZES]
    return sc.StageProblem(seconds / SIZES**0.9 + 0.01, shapes, num_devices, 64, **changes)


def limited(problem: sc.StageProblem, room: float) -> sc.StageProblem:
    """The problem with 1F1B limits: ``room`` layers in flight on each device."""
    work = problem.cost[:, :, :1, :] * problem.num_layers / problem.cost[0, -1, 0, 0]
    finite = np.where(np.isfinite(work), work, 1.0)
    most = np.floor(room * problem.sizes[:, None] / finite) - 1
    return problem.replace(max_successors=np.clip(most, -1, problem.num_layers).astype(int))


def pooled(problem: sc.StageProblem) -> sc.StageProblem:
    """Half of the devices at 60 % of the speed."""
    return problem.replace(
        cost=np.concatenate([problem.cost, problem.cost / 0.6], axis=2),
        submeshes=[sc.Submesh(1, int(n), pool) for pool in ("new", "old") for n in SIZES],
        num_devices={"new": problem.num_devices // 2, "old": problem.num_devices // 2},
    )


def laid_out(problem: sc.StageProblem, speeds: np.ndarray) -> sc.StageProblem:
    """Shapes that need not fit eight hosts of eight, each as fast as so many devices."""
    times = problem.cost * (SIZES**0.9 / speeds**0.9)[:, None]
    return problem.replace(
        cost=times,
        submeshes=[(1, 1), (1, 2), (1, 3), (2, 4)],
        rules=sc.StageRules(placeable=True, cluster=(8, 8)),
    )


def cases(seed: int) -> dict[str, sc.StageProblem]:
    """One problem for each row of the table."""
    free = noisy(seed, 64, 64)
    rng = np.random.default_rng(seed)
    small = noisy(seed, 24, 16)
    return {
        "no rule": free,
        "1F1B memory, loose": limited(free, 12.0),
        "1F1B memory, binding": limited(free, 4.0),
        "one submesh for all": free.replace(rules=sc.StageRules(same_submesh=True)),
        "first and last of one size": free.replace(rules=sc.StageRules(same_size_ends=True)),
        "price": free.replace(rules=sc.StageRules(budgets=[sc.Budget(55.0, WEIGHTS, "price")])),
        "placement of 1x1, 1x2, 1x3, 2x4": laid_out(free, np.array([1, 2, 3, 8])),
        "placement, 1x3 as fast as four": laid_out(free, np.array([1, 2, 4, 8])),
        "two pools": pooled(free),
        "two pools, memory binding": limited(pooled(free), 4.0),
        "transfers by pair": free.replace(transfers=rng.random((63, 4, 4))),
        "two slow stages, K = 24": small.replace(
            cost_spread=np.where(np.isfinite(small.cost), small.cost, 0.0)
            * rng.random(small.cost.shape) * 0.2,
            robustness=2,
        ),
    }  # fmt: skip


def say(line: str) -> None:
    """Write a line at once."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--time-limit", type=float, default=60.0)
    options = parser.parse_args()
    seeds = [cases(seed) for seed in range(options.seeds)]
    say("| rule | engine | proven | CPU s, median | CPU s, largest |\n|---|---|---|---|---|")
    for name in seeds[0]:
        taken, proven, engine = [], 0, ""
        for problems in seeds:
            start = time.process_time()
            result = sc.solve(problems[name], time_limit=options.time_limit)
            taken.append(time.process_time() - start)
            proven += result.status in (sc.Status.OPTIMAL, sc.Status.INFEASIBLE)
            engine = "/".join(filter(None, (result.solver, result.formulation, result.strategy)))
        row = (name, engine, f"{proven} of {len(taken)}", median(taken), max(taken))
        say("| {} | {} | {} | {:.2f} | {:.2f} |".format(*row))


if __name__ == "__main__":
    main()
