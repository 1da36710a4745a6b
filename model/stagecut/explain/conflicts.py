"""Rules that cannot hold together: a smallest set, by a deletion filter, and how to loosen it.

A *part* is one entry of one rule: a cut, a range, a budget, a number. The filter drops one part
after another and keeps it dropped while there is still no plan; what stays is a set that leaves no
plan, and every part of which is needed for that (Chinneck, 2008, section 7.1).
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from stagecut.explain.causes import Cause, Oracle
from stagecut.placement import placement_violations
from stagecut.problem import StageProblem
from stagecut.rules import StageRules
from stagecut.solve import solve


@dataclass(frozen=True, slots=True)
class Part:
    """One entry of one rule.

    Parameters
    ----------
    rule
        Name of the field of :class:`StageRules`.
    value
        The value of the field with this entry alone.
    text
        What messages call it.
    """

    rule: str
    value: Any
    text: str


def parts_of(rules: StageRules) -> list[Part]:
    """Return the entries of all rules that are set.

    Examples
    --------
    >>> [part.text for part in parts_of(StageRules(max_stages=2, required_cuts=[0, 3]))]
    ['max_stages=2', 'required_cuts after layer 0', 'required_cuts after layer 3']
    """
    active = (name for name in rules.active if name != "cluster")
    return [part for name in active for part in _parts(name, getattr(rules, name))]


def _parts(name: str, value: Any) -> Iterator[Part]:
    match name:
        case "required_cuts" | "forbidden_cuts":
            for cut in value:
                yield Part(name, (cut,), f"{name} after layer {cut}")
        case "same_stage":
            for first, last in value:
                yield Part(name, ((first, last),), f"same_stage of layers {first}..{last}")
        case "allowed_submeshes":
            for rule in value:
                shapes = ", ".join(map(str, rule.submeshes))
                layers = f"{rule.first_layer}..{rule.last_layer}"
                yield Part(name, (rule,), f"allowed_submeshes {shapes} of layers {layers}")
        case "budgets":
            for budget in value:
                yield Part(name, (budget,), f"budget {budget.name!r} of {budget.limit:.12g}")
        case _:
            yield Part(name, value, name if value is True else f"{name}={value}")


def rules_of(parts: list[Part], given: StageRules) -> StageRules:
    """Return rules made of these entries of ``given``."""
    values: dict[str, Any] = {"cluster": given.cluster}
    for part in parts:
        joined = isinstance(part.value, tuple) and part.rule in values
        values[part.rule] = values[part.rule] + part.value if joined else part.value
    return StageRules(**values)


def conflict_cause(problem: StageProblem, oracle: Oracle) -> Cause:
    """Return the cause of a problem that has a plan without its rules and none with them."""
    every = parts_of(problem.rules)
    kept = list(every)
    for part in every:
        fewer = [other for other in kept if other is not part]
        if not oracle.has_plan(problem.replace(rules=rules_of(fewer, problem.rules))):
            kept = fewer
    texts = tuple(part.text for part in kept)
    if texts == ("placeable",):
        return _placement_cause(problem, every, kept[0], oracle)
    alone = len(kept) == 1
    return Cause(
        "rules",
        f"{texts[0]} leaves no plan" if alone else f"rules in conflict: {', '.join(texts)}",
        tuple(change for part in kept if (change := _loosened(problem, every, part, oracle))),
        texts,
    )


def _placement_cause(
    problem: StageProblem, every: list[Part], placeable: Part, oracle: Oracle
) -> Cause:
    """Return the cause of plans that there are, none of which can be laid out on the hosts."""
    others = rules_of([part for part in every if part is not placeable], problem.rules)
    plan = oracle.plan(problem.replace(rules=others))
    texts = placement_violations(plan, problem.rules.cluster or ()) if plan is not None else []
    return Cause(
        "placement",
        f"placement: no plan can be laid out on the hosts; for example {'; '.join(texts)}"
        if texts
        else "placement: no plan can be laid out on the hosts",
        (f"drop {placeable.text}",) if texts else (),
        (placeable.text,),
    )


def _loosened(problem: StageProblem, every: list[Part], part: Part, oracle: Oracle) -> str | None:
    """Return how far one entry must give way for the problem to have a plan, if that is enough."""
    others = [other for other in every if other is not part]
    if not oracle.has_plan(problem.replace(rules=rules_of(others, problem.rules))):
        return None
    if part.rule == "budgets":
        return _budget_change(problem, rules_of(others, problem.rules), part)
    if isinstance(part.value, int) and not isinstance(part.value, bool):
        for value in _nearest(part, problem.num_layers):
            rules = rules_of([*others, Part(part.rule, value, "")], problem.rules)
            if oracle.has_plan(problem.replace(rules=rules)):
                return f"set {part.rule} to {value}"
    return f"drop {part.text}"


def _nearest(part: Part, num_layers: int) -> list[int]:
    """Return looser values of a number, the nearest first."""
    down, up = range(part.value - 1, 0, -1), range(part.value + 1, num_layers + 1)
    if part.rule.startswith("min_"):
        return list(down)
    if part.rule.startswith("max_"):
        return list(up)
    return sorted([*down, *up], key=lambda value: (abs(value - part.value), value))


def _budget_change(problem: StageProblem, others: StageRules, part: Part) -> str:
    """Return the least limit of a budget: the least sum of weights over plans."""
    (budget,) = part.value
    weights = np.array([budget.of(shape) for shape in problem.submeshes])[:, None]
    taken = np.where(np.isfinite(problem.cost), weights, np.inf)
    plain = problem.replace(cost_spread=None, robustness=0, transfers=None)
    least = solve(plain.replace(cost=taken, objective="latency", rules=others)).objective
    if least is None:
        return f"drop {part.text}"
    return f"raise the limit of budget {budget.name!r} to {least:.12g}"
