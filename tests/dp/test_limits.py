"""Time limits, interrupts, progress and determinism."""

import math

import numpy as np
import pytest
import tables

import stagecut_dp
from stagecut_dp import outcome as outcome_module

OBJECTIVES = ("training", "bottleneck", "latency", "stages_times_bottleneck")


class FakeClock:
    """A clock that moves one second each time it is read."""

    def __init__(self) -> None:
        self.now = 0.0

    def monotonic(self) -> float:
        self.now += 1.0
        return self.now


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_any_time_limit_gives_a_valid_bound(
    objective: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    cost, sizes, limits = tables.memory_limited(24, 32, seed=1, room=1.2)
    arguments = (cost, sizes, 32, 64)
    options = {"objective": objective, "max_successors": limits}
    best = stagecut_dp.solve(*arguments, **options)[0]
    stopped = set()
    for seconds in range(0, 40, 3):
        monkeypatch.setattr(outcome_module, "time", FakeClock())
        found = stagecut_dp.search(*arguments, **options, time_limit=float(seconds))
        assert found.bound <= best <= found.objective
        assert (found.plan is None) is (found.objective == math.inf)
        stopped.add(found.stopped)
    assert "time" in stopped


def test_an_interrupt_gives_the_best_plan_so_far() -> None:
    cost, sizes, _ = tables.noisy(64, 64)
    best = stagecut_dp.solve(cost, sizes, 64, 64)[0]

    def interrupt(incumbent: float, bound: float) -> None:
        assert bound <= best <= incumbent
        if incumbent < math.inf:
            raise KeyboardInterrupt

    found = stagecut_dp.search(cost, sizes, 64, 64, progress=interrupt)
    assert found.stopped == "interrupt"
    assert found.bound <= best <= found.objective < math.inf
    assert found.plan is not None


def test_progress_ends_with_incumbent_and_bound_equal() -> None:
    cost, sizes, _ = tables.noisy(24, 32)
    seen: list[tuple[float, float]] = []
    found = stagecut_dp.search(
        cost, sizes, 32, 16, progress=lambda incumbent, bound: seen.append((incumbent, bound))
    )
    assert seen[-1] == (found.objective, found.objective)
    assert [bound for _, bound in seen] == sorted(bound for _, bound in seen)
    assert found.stopped is None
    assert found.passes > 0


@pytest.mark.parametrize("seconds", [-1, math.nan, "soon", True])
def test_a_bad_time_limit_is_named(seconds: object) -> None:
    with pytest.raises(ValueError, match="time_limit"):
        stagecut_dp.search(np.ones((1, 1, 1)), [1], 1, time_limit=seconds)


@pytest.mark.parametrize("objective", OBJECTIVES)
@pytest.mark.parametrize("kind", list(tables.KINDS))
def test_the_same_input_gives_the_same_plan(kind: str, objective: str) -> None:
    cost, sizes, limits = tables.KINDS[kind](24, 32, seed=2)
    first, second = (
        stagecut_dp.solve(cost, sizes, 32, 16, objective=objective, max_successors=limits)
        for _ in range(2)
    )
    assert first == second
