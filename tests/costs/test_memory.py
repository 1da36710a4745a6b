"""Memory in bytes: what a stage holds in flight, recomputation as a choice, a profile it binds."""

import dataclasses
import json

import numpy as np
import pytest

import stagecut as sc
from stagecut.costs import Cluster, Layer, LayerProfile, Link, stage_problem

LINK = Link(1e12)
GIB = 2**30


def six(capacity, schedule="1f1b", num_microbatches=8):
    """Six layers of 1 + 2 s and 10 bytes of activations, 1 byte of input, on three devices."""
    layer = Layer("block", "decoder", {1: 1.0}, {1: 2.0}, activation_bytes=10.0, boundary_bytes=1.0)
    cluster = Cluster(1, 3, float(capacity), LINK, LINK)
    return LayerProfile("six", "by hand", (layer,) * 6, cluster, 1, num_microbatches, schedule)


def held_by(profile, stages, schedule):
    """Bytes on the device of each stage, from the definition, for (layers, recompute) pairs."""
    held = []
    for s, (layers, recompute) in enumerate(stages):
        successors = len(stages) - 1 - s
        flight = {
            "1f1b": min(profile.num_microbatches, successors + 1),
            "gpipe": profile.num_microbatches,
            "inference": 1,
        }[schedule]
        start = sum(count for count, _ in stages[:s])
        inputs = sum(1 for k in range(start, start + layers) if k > 0)
        held.append(10 + flight * inputs if recompute else flight * 10 * layers)
    return held


@pytest.mark.parametrize("schedule", ["1f1b", "gpipe"])
@pytest.mark.parametrize("capacity", range(12, 100, 4))
def test_every_plan_fits_and_every_fitting_plan_is_offered(schedule, capacity):
    """Three stages, each keeping or recomputing: allowed exactly where the bytes fit."""
    profile = six(capacity, schedule)
    problem = stage_problem(profile, submeshes=[(1, 1)], recompute=True)
    assert problem.num_configs == 2
    for keep in np.ndindex(2, 2, 2):
        choices = [(2 * s, 2 * s + 1, 0, c) for s, c in enumerate(keep)]
        fits = max(held_by(profile, [(2, c) for c in keep], schedule)) <= capacity
        try:
            sc.check(problem, sc.Plan.from_choices(problem, choices))
            allowed = True
        except sc.PlanError:
            allowed = False
        assert allowed == fits, (keep, held_by(profile, [(2, c) for c in keep], schedule))


def test_recomputation_is_chosen_only_where_memory_binds():
    """45 bytes under 1F1B, two layers each: 60 bytes in flight at first, 40 then, 20 at last."""
    problem = stage_problem(six(45.0), submeshes=[(1, 1)], recompute=True)
    for solver in ("dp", "highs"):
        result = sc.solve(problem, solver=solver)
        assert [stage.config for stage in result.plan.stages] == [1, 0, 0]
    never = stage_problem(six(45.0), submeshes=[(1, 1)])
    assert sc.solve(never).objective > result.objective


def test_inference_keeps_nothing():
    with pytest.raises(sc.ProblemError, match="recompute has no use"):
        stage_problem(six(45.0, "inference"), recompute=True)


def gpt_neo(shared, memory_bytes):
    """GPT-Neo 2.7B on V100s, as Sailor measured it: micro-batches of one sequence, 32 of them."""
    times = json.loads(
        (shared / "data/sailor/sailor_planner/GPT-Neo-2.7_V100-16.json").read_text()
    )["1"]
    info = json.loads((shared / "data/sailor/llm_info.json").read_text())["GPT-Neo-2.7"]
    degrees = sorted(int(t) for t in times if t in info)
    layers = []
    for k in sorted(times[str(degrees[0])], key=int):
        seconds = {t: times[str(t)][k] for t in degrees}
        one = info["1"][k]
        layers.append(
            Layer(
                k,
                "other",
                {t: s[0] for t, s in seconds.items()},
                {t: s[1] for t, s in seconds.items()},
                parameter_bytes=one["params_bytes"],
                activation_bytes=one["act_mem_bytes"],
                boundary_bytes=one["act_output_bytes"],
            )
        )
    cluster = Cluster(4, 4, memory_bytes, Link(1.5e11), Link(25e9))
    return LayerProfile("GPT-Neo 2.7B", "Sailor", tuple(layers), cluster, 1, 32, state_factor=5.0)


def test_memory_binds_on_a_measured_model_and_recomputation_helps(shared):
    profile = gpt_neo(shared, 6 * GIB)
    roomy = dataclasses.replace(
        profile, cluster=dataclasses.replace(profile.cluster, memory_bytes=1e15)
    )
    assert sc.solve(stage_problem(profile)).status is sc.Status.INFEASIBLE
    choosing = stage_problem(profile, recompute=True)
    by_dp, by_milp = (sc.solve(choosing, solver=solver) for solver in ("dp", "highs"))
    assert sc.solve(stage_problem(roomy)).objective < by_dp.objective
    assert by_milp.objective == pytest.approx(by_dp.objective, rel=1e-9)
    again = {stage.config >= len(profile.degrees) for stage in by_dp.plan.stages}
    assert again == {False, True}
