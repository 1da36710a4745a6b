"""Expected optima from the folder of published profiles beside the checkout."""

import json
import math
from pathlib import Path

import numpy as np
import pytest

import stagecut_dp


def load(folder: Path, name: str, inline: dict) -> dict:
    """Return the arrays of an instance, from its own file or from the list."""
    if name in inline:
        entry = inline[name]
        arrays = {key: entry[key] for key in ("sizes", "limit", "mem") if key in entry}
        cost = np.array(entry["cost"], dtype=float)
        arrays["cost"] = np.where(np.isnan(cost), np.inf, cost)
        return {key: np.asarray(value) for key, value in arrays.items()}
    with np.load(folder / f"{name}.npz") as stored:
        return dict(stored)


def test_every_check_of_the_published_cases(shared: Path) -> None:
    folder = shared / "cases"
    cases = json.loads((folder / "cases.json").read_text())
    done = 0
    for check in cases["checks"]:
        arrays = load(folder, check["instance"], cases["instances"])
        cost = arrays["cost"]
        if check.get("mem_limit") is not None:
            cost = np.where((arrays["mem"] > check["mem_limit"])[..., None], np.inf, cost)
        limits = arrays["limit"] if check.get("limit") else None
        for exact in (True, False):
            expected = check[f"use_all_devices_{str(exact).lower()}"]
            value, _ = stagecut_dp.solve(
                cost,
                arrays["sizes"],
                check["D"],
                check["B"] or 1,
                objective=check["objective"],
                max_successors=limits,
                use_all_devices=exact,
            )
            wanted = math.inf if expected is None else expected
            assert value == pytest.approx(wanted, rel=1e-9), check
            done += 1
    assert done == 2 * len(cases["checks"])
