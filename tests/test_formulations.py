"""What a built model says about itself: expressions, decoding, starts, relaxation."""

import numpy as np
import pulp
import pytest
from oracle import GENERAL

import stagecut as sc
from stagecut import backend
from stagecut.candidates import compile_candidates
from stagecut.formulations import builder
from stagecut.formulations.built import BuiltModel
from stagecut.strategies import relaxation
from stagecut.strategies.decode import decode
from stagecut.strategies.start import set_start

FORMULATIONS = sc.available_formulations()


@pytest.fixture
def problem():
    """Five layers of 1 to 3 s on submeshes of 1 and 2 devices, 4 devices, additive costs."""
    ends = np.concatenate([[0.0], np.cumsum([1.0, 2.0, 2.0, 3.0, 1.0])])
    layers = np.maximum(ends[None, 1:] - ends[:-1, None], 0.0)[:, :, None]
    return sc.StageProblem(layers / np.array([1.0, 1.8]), [(1, 1), (1, 2)], 4, 8)


def build(problem, formulation, floor=0.0):
    return builder(formulation)(problem, compile_candidates(problem), floor)


@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_expressions_read_the_plan(problem, formulation):
    built = build(problem, formulation)
    answer = backend.run(built.model, "highs", backend.Request())
    incumbent = decode(built, answer.objective, "highs")
    plan, priced = incumbent.plan, sc.evaluate(problem, incumbent.plan)
    assert incumbent.objective == pytest.approx(sc.solve(problem).objective, rel=1e-9)
    assert built.num_stages.value() == pytest.approx(plan.num_stages)
    assert built.total.value() * built.scale == pytest.approx(priced.total)
    assert built.bottleneck.varValue * built.scale == pytest.approx(priced.bottleneck)
    for stage in plan.stages:
        m = problem.submeshes.index(stage.submesh)
        for layer in range(problem.num_layers):
            inside = stage.first_layer <= layer <= stage.last_layer
            if inside:
                on = [built.layer_on(layer, k).value() for k in range(2)]
                assert on == pytest.approx([float(k == m) for k in range(2)])


@pytest.mark.parametrize("formulation", GENERAL)
def test_a_stage_is_used_or_not(problem, formulation):
    built = build(problem, formulation)
    backend.run(built.model, "highs", backend.Request())
    used = {(s.first_layer, s.last_layer, problem.submeshes.index(s.submesh))
            for s in decode(built, None, "highs").plan.stages}  # fmt: skip
    for first, last, m in np.ndindex(5, 5, 2):
        if first <= last:
            value = built.stage_used(first, last, m).value()
            assert value == pytest.approx(float((first, last, m) in used))


@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_a_row_added_by_hand_is_kept(problem, formulation):
    built = build(problem, formulation)
    built.model.addConstraint(built.num_stages == 4, "four_stages")
    answer = backend.run(built.model, "highs", backend.Request())
    assert decode(built, answer.objective, "highs").plan.num_stages == 4


@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_a_start_is_the_plan_itself(problem, formulation):
    """Columns fixed to their start values leave the plan as the only answer."""
    plan = sc.Plan.from_choices(problem, [(0, 1, 0, 0), (2, 2, 1, 0), (3, 4, 0, 0)])
    built = build(problem, formulation)
    set_start(built, plan)
    for column in built.columns:
        column.lowBound = column.upBound = column.varValue
    answer = backend.run(built.model, "highs", backend.Request())
    assert decode(built, answer.objective, "highs").plan == plan


@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_relaxation_is_a_bound_and_leaves_the_model_integral(problem, formulation):
    built = build(problem, formulation)
    bound = relaxation(built)
    best = backend.run(built.model, "highs", backend.Request())
    assert bound.status == best.status == "optimal"
    assert bound.objective <= best.objective * (1 + 1e-9)
    assert all(column.cat == "Integer" for column in built.columns)
    decode(built, best.objective, "highs")


def test_several_columns_may_stand_for_one_candidate(problem):
    """The sum of a candidate's columns says whether it is used."""
    candidates, model = compile_candidates(problem), pulp.LpProblem("twice")
    owner = np.array([0, 0, 3])
    columns = [model.add_variable(f"x_{k}", 0, 1, "Binary") for k in range(3)]
    built = BuiltModel(problem, candidates, model, columns, owner, model.add_variable("t"), 1.0)
    for column, value in zip(columns, [0.0, 1.0, 0.0], strict=True):
        column.varValue = value
    r = int(candidates.first[0]), int(candidates.last[0]), int(candidates.submesh[0])
    assert built.stage_used(*r).value() == built.num_stages.value() == 1.0
    assert built.total.value() == candidates.cost[0]
    assert built.used() == [0]


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (lambda built: built.stage_used(0, 0, 2), "submesh must be an index within 0..1"),
        (lambda built: built.stage_used(3, 2, 0), "range 3..2 must lie within 0..4"),
        (lambda built: built.layer_on(5, 0), "layer must be within 0..4, got 5"),
    ],
)
def test_indices_outside_are_named(problem, ask, message):
    with pytest.raises(sc.ProblemError, match=message):
        ask(build(problem, "range"))


def test_assignment_says_what_it_cannot_express(problem):
    dearer = problem.cost.copy()
    dearer[1, 3, 1] += 1.0
    with pytest.raises(sc.UnsupportedError, match=r"layers 1\.\.3 on submesh 1 cost 4\.88.* 3\.88"):
        sc.solve(problem.replace(cost=dearer), formulation="assignment")
    split = problem.cost.copy()
    split[0, 1, 0] = np.inf
    with pytest.raises(sc.UnsupportedError, match=r"layers 0\.\.1 on submesh 0 cost inf s"):
        sc.solve(problem.replace(cost=split), formulation="assignment")
    limits = np.full(problem.cost.shape, 3)
    with pytest.raises(sc.UnsupportedError, match="cannot state successor limits"):
        sc.solve(problem.replace(max_successors=limits), formulation="assignment")
    with pytest.raises(sc.UnsupportedError, match="no variable for a stage as a whole"):
        build(problem, "assignment").stage_used(0, 0, 0)


def test_assignment_takes_limits_that_never_bind(problem):
    """Four layers at most may follow the first of five."""
    loose = problem.replace(max_successors=np.full(problem.cost.shape, 4))
    result = sc.solve(loose, formulation="assignment")
    assert result.objective == pytest.approx(sc.solve(problem).objective, rel=1e-9)


@pytest.mark.parametrize("formulation", ["stage_indexed", "flow", "flow_all_cuts"])
def test_a_column_stands_for_one_place_of_a_candidate(problem, formulation):
    """With 4 devices and limits, the same stage may come at several places."""
    limits = np.full(problem.cost.shape, 2)
    limits[0] = 3
    limited = problem.replace(max_successors=limits)
    built = build(limited, formulation)
    assert len(built.columns) > len(set(built.owner.tolist()))
    assert len({column.name for column in built.columns}) == len(built.columns)
    plan = sc.solve(limited).plan
    result = sc.solve(limited, formulation=formulation, warm_start=plan)
    assert result.objective == pytest.approx(sc.solve(limited).objective, rel=1e-9)


@pytest.mark.parametrize("formulation", GENERAL)
def test_stages_times_bottleneck_with_costs_twelve_orders_apart(formulation):
    for seed in range(6):
        rng = np.random.default_rng(seed)
        problem = sc.StageProblem(
            10.0 ** (12.0 * rng.random((8, 8, 2))),
            [(1, 1), (1, 2)],
            7,
            4,
            objective="stages_times_bottleneck",
            use_all_devices=bool(seed % 2),
        )
        result = sc.solve(problem, formulation=formulation)
        assert result.status is sc.Status.OPTIMAL
        assert result.objective == pytest.approx(sc.solve(problem).objective, rel=1e-9)


def test_the_product_is_bounded_by_the_number_of_stages(problem):
    """Five layers on 4 devices: one stage holds all, four stages leave none of more than two."""
    counted = problem.replace(objective="stages_times_bottleneck")
    built = build(counted, "range")
    rows = {row.name: row for row in built.model.constraints()}
    dearest = {s: -min(c for _, c in rows[f"most_{s}"].items()) * built.scale for s in (1, 4)}
    assert dearest == pytest.approx({1: 9.0, 4: 5.0})
    assert "most_5" not in rows


def test_assignment_states_pools_and_counts_of_stages(problem):
    """Both are about the submeshes of stages alone."""
    shapes = [sc.Submesh(1, 1, "old"), sc.Submesh(1, 2, "new")]
    rules = sc.StageRules(num_stages=3)
    pooled = problem.replace(submeshes=shapes, num_devices={"old": 1, "new": 4}, rules=rules)
    result = sc.solve(pooled, formulation="assignment")
    assert result.objective == pytest.approx(sc.solve(pooled, formulation="range").objective)
    assert [stage.submesh.pool for stage in result.plan.stages].count("old") == 1
    ranged = problem.replace(rules=sc.StageRules(max_layers_per_stage=2))
    with pytest.raises(sc.UnsupportedError, match=r"layers 0\.\.2 on submesh 0 cost inf s"):
        sc.solve(ranged, formulation="assignment")
