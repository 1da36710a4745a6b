"""The fields of stagecut's own files, as pydantic models.

Every file is one JSON object with ``format: "stagecut"``, ``version: 1`` and a ``kind``. Unknown
fields are refused, so that a misspelt one is not silently ignored.
"""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from stagecut.errors import FormatError

Number = Annotated[float, Field(ge=0, allow_inf_nan=False)]
Positive = Annotated[int, Field(ge=1)]
Layer = Annotated[int, Field(ge=0)]
Degrees = Annotated[dict[str, Number], Field(min_length=1)]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class _Headed(_Strict):
    format: Literal["stagecut"]
    version: Literal[1]


class SubmeshFields(_Strict):
    """A shape."""

    hosts: Positive
    devices_per_host: Positive
    pool: str | None = None


class TableFile(_Strict):
    """Name of an ``.npz`` beside the JSON that holds the tables."""

    npz: Annotated[str, Field(pattern=r"^[^/\\]+\.npz$")]


class AllowedSubmeshesFields(_Strict):
    """Stages that hold a layer of a range run on these submeshes."""

    first_layer: Layer
    last_layer: Layer
    submeshes: Annotated[list[SubmeshFields], Field(min_length=1)]


class WeightFields(_Strict):
    """What one stage on a submesh takes of a budget."""

    submesh: SubmeshFields
    weight: Number


class BudgetFields(_Strict):
    """A limit on the weights of all stages together."""

    name: Annotated[str, Field(min_length=1)] = "budget"
    limit: Number
    weights: list[WeightFields]


class RulesFields(_Strict):
    """Side constraints; the fields of ``StageRules``."""

    num_stages: Positive | None = None
    min_stages: Positive | None = None
    max_stages: Positive | None = None
    min_layers_per_stage: Positive | None = None
    max_layers_per_stage: Positive | None = None
    required_cuts: list[Layer] = []
    forbidden_cuts: list[Layer] = []
    same_stage: list[Annotated[list[Layer], Field(min_length=2, max_length=2)]] = []
    same_submesh: bool = False
    same_size_ends: bool = False
    allowed_submeshes: list[AllowedSubmeshesFields] = []
    budgets: list[BudgetFields] = []
    placeable: bool = False
    cluster: Annotated[list[SubmeshFields], Field(min_length=1)] | None = None


class ProblemFile(_Headed):
    """An explicit cost table; ``null`` in ``cost`` = not allowed."""

    kind: Literal["stage_problem"]
    submeshes: list[SubmeshFields]
    num_devices: Positive | dict[str, Positive]
    num_microbatches: Positive
    objective: Literal["training", "bottleneck", "latency", "stages_times_bottleneck"]
    use_all_devices: bool
    layer_names: list[str] | None = None
    rules: RulesFields | None = None
    robustness: Annotated[int, Field(ge=0)] = 0
    cost: list[list[list[list[Number | None]]]] | None = None
    max_successors: list[list[list[list[int]]]] | None = None
    transfers: list[list[list[Number]]] | None = None
    cost_spread: list[list[list[list[Number]]]] | None = None
    tables: TableFile | None = None


class StageFields(_Strict):
    """One stage of a plan."""

    first_layer: Layer
    last_layer: Layer
    submesh: SubmeshFields
    config: Annotated[int, Field(ge=0)]
    cost: Number


class PlanFile(_Headed):
    """A plan."""

    kind: Literal["plan"]
    stages: list[StageFields]


class LayerFields(_Strict):
    """One layer of a profile; times by tensor-parallel degree."""

    name: str
    kind: Literal["embedding", "decoder", "mtp", "head", "other"]
    forward_seconds: Degrees
    backward_seconds: Degrees
    parameter_bytes: Number = 0.0
    activation_bytes: Number = 0.0
    boundary_bytes: Number = 0.0
    spread_seconds: Degrees | None = None
    repeat: Annotated[int, Field(ge=1, le=4096)] = 1


class LinkFields(_Strict):
    """Bytes per second and seconds."""

    bandwidth: Annotated[float, Field(gt=0, allow_inf_nan=False)]
    latency: Number = 0.0


class ClusterFields(_Strict):
    """The devices."""

    hosts: Positive
    devices_per_host: Positive
    memory_bytes: Annotated[float, Field(gt=0, allow_inf_nan=False)]
    intra_host: LinkFields
    inter_host: LinkFields


class ProfileFile(_Headed):
    """A layer profile."""

    kind: Literal["layer_profile"]
    name: str
    source: str
    layers: Annotated[list[LayerFields], Field(min_length=1)]
    cluster: ClusterFields
    micro_batch: Positive
    num_microbatches: Positive
    schedule: Literal["1f1b", "gpipe", "inference"] = "1f1b"
    state_factor: Number = 8.0


KINDS: dict[str, type[_Headed]] = {
    "stage_problem": ProblemFile,
    "layer_profile": ProfileFile,
    "plan": PlanFile,
}


def parse(value: Any, path: object, kinds: tuple[str, ...]) -> Any:
    """Return the model of a JSON value.

    Parameters
    ----------
    value
        What the JSON file holds.
    path
        The file, for messages.
    kinds
        Kinds that the caller takes.

    Raises
    ------
    FormatError
        In one line: the field's path, the value got, and what is allowed.
    """
    if not isinstance(value, dict):
        raise FormatError(f"{path} must hold a JSON object, got {type(value).__name__}")
    kind = value.get("kind")
    if not isinstance(kind, str) or kind not in kinds:
        raise FormatError(
            f"{path}: kind must be {' or '.join(map(repr, kinds))}, got {_short(kind)}"
        )
    try:
        return KINDS[kind].model_validate(value)
    except ValidationError as error:
        raise FormatError(f"{path}: {first_error(error)}") from None


def first_error(error: ValidationError) -> str:
    """Return the first error in one line: field, rule, value, and how many more there are."""
    details = error.errors(include_url=False)
    first = details[0]
    where = ".".join(str(part) for part in first["loc"])
    more = f" (and {len(details) - 1} more)" if len(details) > 1 else ""
    message = first["msg"].splitlines()[0]
    if first["type"] == "missing":
        return f"{where}: the field is missing{more}"
    return f"{where}: {message}, got {_short(first['input'])}{more}"


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
