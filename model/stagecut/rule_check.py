"""The referee's reading of the rules: one sentence per broken rule, straight from the definition.

It shares no code with what engines get (:mod:`stagecut.constraints`), so that each checks the
other.
"""

import math
from collections.abc import Iterator

from stagecut.placement import placement_violations
from stagecut.plan import Plan
from stagecut.rule_parts import Budget
from stagecut.rules import StageRules

BUDGET_TOLERANCE = 1e-9
"""Relative excess of a budget that counts as rounding."""


def rule_violations(rules: StageRules, plan: Plan) -> list[str]:
    """Return one sentence per rule and place where ``plan`` breaks ``rules``."""
    if rules.is_empty or not plan.stages:
        return []
    return [
        *_number_of_stages(rules, plan),
        *_lengths(rules, plan),
        *_cuts(rules, plan),
        *_submeshes(rules, plan),
        *(text for budget in rules.budgets for text in _budget(budget, plan)),
        *_placeable(rules, plan),
    ]


def _number_of_stages(rules: StageRules, plan: Plan) -> Iterator[str]:
    count = plan.num_stages
    if rules.num_stages is not None and count != rules.num_stages:
        yield f"num_stages: the plan has {count} stages, the rule says {rules.num_stages}"
    if rules.min_stages is not None and count < rules.min_stages:
        yield f"min_stages: the plan has {count} stages, the rule says at least {rules.min_stages}"
    if rules.max_stages is not None and count > rules.max_stages:
        yield f"max_stages: the plan has {count} stages, the rule says at most {rules.max_stages}"


def _lengths(rules: StageRules, plan: Plan) -> Iterator[str]:
    least, most = rules.min_layers_per_stage, rules.max_layers_per_stage
    for s, stage in enumerate(plan.stages):
        has = f"stage {s} has {stage.num_layers} layers, the rule says at"
        if least is not None and stage.num_layers < least:
            yield f"min_layers_per_stage: {has} least {least}"
        if most is not None and stage.num_layers > most:
            yield f"max_layers_per_stage: {has} most {most}"


def _cuts(rules: StageRules, plan: Plan) -> Iterator[str]:
    cuts = {stage.last_layer for stage in plan.stages[:-1]}
    for cut in rules.required_cuts:
        if cut not in cuts:
            yield f"required_cuts: no stage ends at layer {cut}"
    for cut in rules.forbidden_cuts:
        if cut in cuts:
            yield f"forbidden_cuts: a stage ends at layer {cut}"
    for first, last in rules.same_stage:
        for cut in sorted(cuts & set(range(first, last))):
            yield f"same_stage: layers {first}..{last} are cut after layer {cut}"


def _submeshes(rules: StageRules, plan: Plan) -> Iterator[str]:
    head, tail = plan.stages[0], plan.stages[-1]
    if rules.same_submesh:
        for s, stage in enumerate(plan.stages):
            if stage.submesh != head.submesh:
                yield (
                    f"same_submesh: stage {s} runs on {stage.submesh}, stage 0 on {head.submesh}"
                )
    if rules.same_size_ends and head.submesh.size != tail.submesh.size:
        yield (
            f"same_size_ends: the first stage has {head.submesh.size} devices, "
            f"the last one {tail.submesh.size}"
        )
    for rule in rules.allowed_submeshes:
        for s, stage in enumerate(plan.stages):
            touches = stage.first_layer <= rule.last_layer and stage.last_layer >= rule.first_layer
            if touches and stage.submesh not in rule.submeshes:
                yield (
                    f"allowed_submeshes: stage {s} holds layers of {rule.first_layer}.."
                    f"{rule.last_layer} and runs on {stage.submesh}, allowed are "
                    f"{', '.join(map(str, rule.submeshes))}"
                )


def _placeable(rules: StageRules, plan: Plan) -> Iterator[str]:
    if rules.placeable and rules.cluster is not None:
        for text in placement_violations(plan, rules.cluster):
            yield f"placeable: {text}"


def _budget(budget: Budget, plan: Plan) -> Iterator[str]:
    known = dict(budget.weights)
    taken = math.fsum(known[stage.submesh] for stage in plan.stages if stage.submesh in known)
    if taken > budget.limit * (1 + BUDGET_TOLERANCE):
        yield f"budgets: {budget.name!r} takes {taken:.12g}, the limit is {budget.limit:.12g}"
