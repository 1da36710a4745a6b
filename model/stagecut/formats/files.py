"""Reading and writing files safely: strict JSON, arrays without pickles, atomic writes."""

import json
import math
import os
import tempfile
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any

import numpy as np
import numpy.typing as npt

from stagecut.errors import FormatError

type PathLike = str | os.PathLike[str]

MAX_ARRAY_BYTES = 8 * 2**30
"""Largest array read from a file, in bytes."""


DAMAGE = (
    zipfile.BadZipFile,
    zlib.error,
    EOFError,
    ValueError,
    TypeError,
    MemoryError,
    RuntimeError,
    SyntaxError,
)
"""What NumPy and zipfile raise on damaged or hostile array files."""


def read_text(path: PathLike) -> str:
    """Return the UTF-8 text of a file.

    Raises
    ------
    FormatError
        If it cannot be read, or is not UTF-8.
    """
    try:
        return Path(path).read_bytes().decode("utf-8-sig")
    except OSError as error:
        raise FormatError(f"cannot read {path}: {error.strerror or error}") from None
    except (UnicodeDecodeError, ValueError) as error:
        raise FormatError(f"cannot read {path}: it is not UTF-8 text ({error})") from None


def read_json(path: PathLike) -> Any:
    """Return the value of a JSON file; duplicate keys and NaN or Infinity are refused.

    Raises
    ------
    FormatError
        If the file cannot be read or is not such JSON.
    """
    return parse_json(read_text(path), path)


def parse_json(text: str, path: PathLike) -> Any:
    """Return the value of JSON text that came from ``path``; see :func:`read_json`."""
    try:
        return json.loads(text, object_pairs_hook=_unique_keys, parse_constant=_no_constant)
    except (json.JSONDecodeError, RecursionError, ValueError) as error:
        raise FormatError(f"{path} is not valid JSON: {error}") from None


def read_arrays(path: PathLike) -> dict[str, npt.NDArray[Any]]:
    """Return the arrays of an ``.npz`` file, by name; pickles are refused.

    Raises
    ------
    FormatError
        If the file cannot be read, is damaged, or holds anything but plain arrays.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            return {
                info.filename.removesuffix(".npy"): _read_member(archive, info)
                for info in archive.infolist()
            }
    except OSError as error:
        raise FormatError(f"cannot read {path}: {error.strerror or error}") from None
    except DAMAGE as error:
        raise FormatError(f"{path} is not a valid .npz file: {_one_line(error)}") from None


def read_array(path: PathLike) -> npt.NDArray[Any]:
    """Return the array of an ``.npy`` file; pickles are refused.

    Raises
    ------
    FormatError
        If the file cannot be read, is damaged, or holds anything but a plain array.
    """
    try:
        with open(path, "rb") as file:
            return _read_array(file, os.fstat(file.fileno()).st_size, str(path))
    except OSError as error:
        raise FormatError(f"cannot read {path}: {error.strerror or error}") from None
    except DAMAGE as error:
        raise FormatError(f"{path} is not a valid .npy file: {_one_line(error)}") from None


def write_text(path: PathLike, text: str) -> None:
    """Write UTF-8 text; the old file stays whole until the new one is."""
    _write(path, lambda file: file.write(text.encode()))


def write_json(path: PathLike, value: Any) -> None:
    """Write a value as JSON, floats lossless."""
    write_text(path, json.dumps(value, indent=1, allow_nan=False) + "\n")


def write_arrays(path: PathLike, arrays: dict[str, npt.NDArray[Any]]) -> None:
    """Write arrays as a compressed ``.npz``."""
    _write(path, lambda file: np.savez_compressed(file, allow_pickle=False, **arrays))


def _write(path: PathLike, fill: Callable[[IO[bytes]], object]) -> None:
    try:
        target = Path(path).resolve()
        if target.exists() and not target.is_file():
            with open(target, "wb") as file:
                fill(file)
        else:
            _replace(target, fill)
    except (OSError, RuntimeError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise FormatError(f"cannot write {path}: {reason}") from None


def _replace(target: Path, fill: Callable[[IO[bytes]], object]) -> None:
    """Write beside ``target`` and rename; only for plain files: a rename would remove a device."""
    handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name[:64]}.")
    try:
        with os.fdopen(handle, "wb") as file:
            fill(file)
        umask = os.umask(0)
        os.umask(umask)
        os.chmod(name, 0o666 & ~umask)
        os.replace(name, target)
    finally:
        Path(name).unlink(missing_ok=True)


def _read_member(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> npt.NDArray[Any]:
    with archive.open(info) as member:
        return _read_array(member, info.file_size, info.filename)


def _read_array(stream: IO[bytes], size: int, name: str) -> npt.NDArray[Any]:
    """Read one array after its declared shape has been held against the bytes that are there."""
    if size > MAX_ARRAY_BYTES:
        raise ValueError(f"array {name} holds {size} bytes, too many")
    version = np.lib.format.read_magic(stream)
    readers = {
        (1, 0): np.lib.format.read_array_header_1_0,
        (2, 0): np.lib.format.read_array_header_2_0,
    }
    if version not in readers:
        raise ValueError(f"array {name} has format version {version}")
    shape, _, dtype = readers[version](stream)
    if dtype.hasobject:
        raise ValueError(f"array {name} holds Python objects (a pickle), which are refused")
    if dtype.itemsize * math.prod(shape) != size - stream.tell():
        raise ValueError(f"array {name} of shape {shape} is truncated or damaged")
    stream.seek(0)
    return np.lib.format.read_array(stream, allow_pickle=False)


def _one_line(error: Exception) -> str:
    return next(iter(str(error).splitlines()), type(error).__name__)


def _unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result = dict(pairs)
    if len(result) != len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"the key {twice!r} stands twice in one object")
    return result


def _no_constant(name: str) -> float:
    raise ValueError(f"{name} is not a JSON number; write null for 'not allowed'")
