"""Plans as JSON files."""

from stagecut.formats import files
from stagecut.formats.schema import StageFields, parse
from stagecut.plan import Plan, Stage
from stagecut.submesh import Submesh


def load_plan(path: files.PathLike) -> Plan:
    """Read a plan. Whether it is a plan of some problem is for :func:`stagecut.check` to say.

    Raises
    ------
    FormatError
        If the file cannot be read as a plan.
    """
    fields = parse(files.read_json(path), path, ("plan",))
    return Plan(tuple(_stage(stage) for stage in fields.stages))


def save_plan(plan: Plan, path: files.PathLike) -> None:
    """Write a plan as JSON, lossless.

    Raises
    ------
    FormatError
        If the file cannot be written.
    """
    files.write_json(path, plan_fields(plan))


def plan_fields(plan: Plan) -> dict[str, object]:
    """Return the JSON object of a plan."""
    return {
        "format": "stagecut",
        "version": 1,
        "kind": "plan",
        "stages": [
            {
                "first_layer": stage.first_layer,
                "last_layer": stage.last_layer,
                "submesh": {
                    "hosts": stage.submesh.hosts,
                    "devices_per_host": stage.submesh.devices_per_host,
                    "pool": stage.submesh.pool,
                },
                "config": stage.config,
                "cost": stage.cost,
            }
            for stage in plan.stages
        ],
    }


def _stage(fields: StageFields) -> Stage:
    shape = fields.submesh
    submesh = Submesh(shape.hosts, shape.devices_per_host, shape.pool)
    return Stage(fields.first_layer, fields.last_layer, submesh, fields.config, fields.cost)
