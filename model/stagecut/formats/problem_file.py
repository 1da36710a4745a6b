"""Problems as files: JSON, with big tables in an ``.npz`` beside it, or ``.npz`` alone."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from stagecut.costs import LayerProfile, stage_problem
from stagecut.errors import FormatError, ProblemError, UnsupportedError
from stagecut.formats import files
from stagecut.formats.profile_file import profile_from
from stagecut.formats.rules_file import (
    rule_fields,
    rules_from,
    submesh_fields,
    submesh_from,
)
from stagecut.formats.schema import ProblemFile, ProfileFile, parse
from stagecut.problem import StageProblem

OPTIONAL_TABLES = ("max_successors", "cost_spread", "transfers")

INLINE_ENTRIES = 20_000
"""Cost tables with more entries go to an ``.npz`` beside the JSON."""


def load_problem(path: files.PathLike, **changes: Any) -> StageProblem:
    """Read a problem file: an explicit cost table, or a layer profile, whose table is built.

    Parameters
    ----------
    path
        A ``.json`` or ``.npz`` file.
    **changes
        Arguments of :class:`stagecut.StageProblem` to use instead of the file's, such as
        ``num_microbatches``; a profile's table is built with them.

    Raises
    ------
    FormatError
        If the file cannot be read as either; one line names field, value and what is allowed.
    ProblemError
        If a change breaks a rule.

    Examples
    --------
    >>> load_problem("missing.json")
    Traceback (most recent call last):
    ...
    stagecut.errors.FormatError: cannot read missing.json: No such file or directory
    """
    arrays: dict[str, npt.NDArray[Any]] = {}
    if Path(path).suffix == ".npz":
        arrays = files.read_arrays(path)
        value = files.parse_json(_header(arrays, path), path)
    else:
        value = files.read_json(path)
    fields = parse(value, path, ("stage_problem", "layer_profile"))
    try:
        made: StageProblem | LayerProfile
        if isinstance(fields, ProfileFile):
            made = profile_from(fields)
        else:
            made = _problem(fields, arrays, path)
    except (ProblemError, UnsupportedError) as error:
        raise FormatError(f"{path}: {error}") from None
    if isinstance(made, LayerProfile):
        return stage_problem(made, **changes)
    return made.replace(**changes) if changes else made


def save_problem(problem: StageProblem, path: files.PathLike) -> None:
    """Write a problem, lossless, as ``.json`` or ``.npz`` by the path's suffix.

    A JSON file whose table has more than ``INLINE_ENTRIES`` entries gets an ``.npz`` beside it.

    Raises
    ------
    FormatError
        If the suffix is neither, or the file cannot be written.
    """
    target, header = Path(path), _header_of(problem)
    arrays: dict[str, npt.NDArray[Any]] = {"cost": problem.cost}
    for name in OPTIONAL_TABLES:
        if getattr(problem, name) is not None:
            arrays[name] = getattr(problem, name)
    if target.suffix == ".npz":
        text = json.dumps(header, allow_nan=False)
        files.write_arrays(target, {"header": np.array(text), **arrays})
    elif target.suffix != ".json":
        raise FormatError(f"a problem file must end in .json or .npz, got {target.name!r}")
    elif problem.cost.size > INLINE_ENTRIES:
        beside = target.with_suffix(".npz")
        files.write_arrays(beside, arrays)
        files.write_json(target, {**header, "tables": {"npz": beside.name}})
    else:
        lists = {name: _nested(array) for name, array in arrays.items()}
        files.write_json(target, {**header, **lists})


def _problem(
    fields: ProblemFile, arrays: dict[str, npt.NDArray[Any]], path: files.PathLike
) -> StageProblem:
    if fields.tables is not None:
        arrays = files.read_arrays(Path(path).parent / fields.tables.npz)
    inline = {name: _array(name, getattr(fields, name)) for name in ("cost", *OPTIONAL_TABLES)}
    tables = {name: array for name, array in inline.items() if array is not None}
    if both := sorted(tables.keys() & arrays.keys()):
        raise FormatError(f"{path}: {both[0]} stands both in the JSON and in the .npz")
    tables |= {name: array for name, array in arrays.items() if name != "header"}
    if unknown := sorted(tables.keys() - inline.keys()):
        raise FormatError(f"{path}: array {unknown[0]!r} is not one of {', '.join(inline)}")
    if "cost" not in tables:
        raise FormatError(f"{path}: cost is missing; give it inline or in an .npz")
    return StageProblem(
        tables["cost"],
        [submesh_from(shape) for shape in fields.submeshes],
        fields.num_devices,
        fields.num_microbatches,
        max_successors=tables.get("max_successors"),
        objective=fields.objective,
        use_all_devices=fields.use_all_devices,
        rules=rules_from(fields.rules),
        layer_names=fields.layer_names,
        cost_spread=tables.get("cost_spread"),
        robustness=fields.robustness,
        transfers=tables.get("transfers"),
    )


def _header_of(problem: StageProblem) -> dict[str, Any]:
    return {
        "format": "stagecut",
        "version": 1,
        "kind": "stage_problem",
        "submeshes": [submesh_fields(shape) for shape in problem.submeshes],
        "num_devices": problem.num_devices if problem.pools is None else dict(problem.pools),
        "num_microbatches": problem.num_microbatches,
        "objective": problem.objective,
        "use_all_devices": problem.use_all_devices,
        "layer_names": None if problem.layer_names is None else list(problem.layer_names),
        "rules": rule_fields(problem.rules),
        "robustness": problem.robustness,
    }


def _header(arrays: dict[str, npt.NDArray[Any]], path: files.PathLike) -> str:
    header = arrays.get("header")
    if header is None or header.shape != () or header.dtype.kind != "U":
        raise FormatError(
            f"{path} has no header of stagecut's; give a JSON problem that names it as its tables"
        )
    return str(header)


def _nested(array: npt.NDArray[Any]) -> Any:
    """Return nested lists, with ``None`` for ``inf``."""
    values = array.astype(object)
    values[~np.isfinite(array)] = None
    return values.tolist()


def _array(name: str, lists: Any) -> npt.NDArray[Any] | None:
    """Return an array from nested lists, with ``inf`` for ``None``."""
    if lists is None:
        return None
    try:
        array = np.array(lists, dtype=object)
    except ValueError:
        raise ProblemError(f"{name} must be a full array, got ragged rows") from None
    if array.ndim != (3 if name == "transfers" else 4):
        raise ProblemError(f"{name} must be a full array, got ragged or empty rows")
    if (array == None).any():  # noqa: E711 - elementwise
        return np.where(array == None, np.inf, array).astype(np.float64)  # noqa: E711
    try:
        return np.array(lists)
    except OverflowError:
        raise ProblemError(f"{name} must be integers below 2**63") from None
