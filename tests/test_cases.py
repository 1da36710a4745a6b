"""Answers that other planners, or full enumeration, gave for the same tables."""

import json

import numpy as np
import pytest

import stagecut as sc

SMALL = 12
"""Layers up to which HiGHS solves each case as well."""


def loaded(shared):
    """Yield (check, cost, sizes, limits) for every check."""
    folder = shared / "cases"
    data = json.loads((folder / "cases.json").read_text())
    for check in data["checks"]:
        instance = data["instances"].get(check["instance"])
        if instance is None:
            instance = dict(np.load(folder / f"{check['instance']}.npz"))
        cost = np.array(instance["cost"], dtype=float)
        cost[np.isnan(cost)] = np.inf  # null in the file
        if check["mem_limit"] is not None:
            memory = np.array(instance["mem"], dtype=float)
            cost = np.where((memory > check["mem_limit"])[:, :, None], np.inf, cost)
        limits = np.array(instance["limit"], dtype=int) if check["limit"] else None
        yield check, cost, [int(size) for size in instance["sizes"]], limits


def problem(check, cost, sizes, limits, use_all_devices):
    """Sizes may repeat: the second shape of a size gets another number of hosts."""
    shapes = [(size, 1) if size in sizes[:m] else (1, size) for m, size in enumerate(sizes)]
    return sc.StageProblem(
        cost,
        shapes,
        check["D"],
        check["B"] or 1,
        max_successors=limits,
        objective=check["objective"],
        use_all_devices=use_all_devices,
    )


@pytest.mark.parametrize("use_all_devices", [True, False])
@pytest.mark.parametrize("solver", ["dp", "highs"])
def test_every_case(shared, solver, use_all_devices):
    solved = 0
    for check, cost, sizes, limits in loaded(shared):
        if solver == "highs" and len(cost) > SMALL:
            continue
        expected = check[f"use_all_devices_{str(use_all_devices).lower()}"]
        result = sc.solve(problem(check, cost, sizes, limits, use_all_devices), solver=solver)
        where = {key: check[key] for key in ("instance", "objective", "D", "B", "limit")}
        if expected is None:
            assert result.status is sc.Status.INFEASIBLE, where
        else:
            assert result.objective == pytest.approx(expected, rel=1e-9), where
        solved += 1
    assert solved >= 40
