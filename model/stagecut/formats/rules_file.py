"""Rules and submeshes as fields of a JSON object, and back."""

from typing import Any

from stagecut.formats.schema import RulesFields, SubmeshFields
from stagecut.rule_parts import AllowedSubmeshes, Budget
from stagecut.rules import StageRules
from stagecut.submesh import Submesh


def rules_from(fields: RulesFields | None) -> StageRules:
    """Return the rules that a file states; none where it says nothing."""
    if fields is None:
        return StageRules()
    plain: dict[str, Any] = fields.model_dump(exclude={"allowed_submeshes", "budgets", "cluster"})
    return StageRules(
        **plain,
        cluster=None if fields.cluster is None else tuple(map(submesh_from, fields.cluster)),
        allowed_submeshes=tuple(
            AllowedSubmeshes(
                rule.first_layer, rule.last_layer, tuple(map(submesh_from, rule.submeshes))
            )
            for rule in fields.allowed_submeshes
        ),
        budgets=tuple(
            Budget(
                budget.limit,
                [(submesh_from(entry.submesh), entry.weight) for entry in budget.weights],
                budget.name,
            )
            for budget in fields.budgets
        ),
    )


def rule_fields(rules: StageRules) -> dict[str, Any] | None:
    """Return the rules that are set as a JSON object, ``None`` where there are none.

    Examples
    --------
    >>> rule_fields(StageRules(max_stages=4, required_cuts=[1]))
    {'max_stages': 4, 'required_cuts': [1]}
    """
    return {name: _json(getattr(rules, name)) for name in rules.active} or None


def submesh_from(fields: SubmeshFields) -> Submesh:
    """Return the submesh that a file states."""
    return Submesh(fields.hosts, fields.devices_per_host, fields.pool)


def submesh_fields(submesh: Submesh) -> dict[str, Any]:
    """Return a submesh as a JSON object."""
    fields: dict[str, Any] = {
        "hosts": submesh.hosts,
        "devices_per_host": submesh.devices_per_host,
    }
    return fields if submesh.pool is None else {**fields, "pool": submesh.pool}


def _json(value: Any) -> Any:
    if isinstance(value, tuple):
        return [_json(entry) for entry in value]
    if isinstance(value, Submesh):
        return submesh_fields(value)
    if isinstance(value, AllowedSubmeshes):
        return {
            "first_layer": value.first_layer,
            "last_layer": value.last_layer,
            "submeshes": _json(value.submeshes),
        }
    if isinstance(value, Budget):
        weights = [{"submesh": _json(shape), "weight": weight} for shape, weight in value.weights]
        return {"name": value.name, "limit": value.limit, "weights": weights}
    return value
