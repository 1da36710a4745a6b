"""Layer profiles as JSON files."""

from collections.abc import Mapping
from itertools import groupby
from typing import Any

from stagecut.costs import Cluster, Layer, LayerProfile, Link
from stagecut.errors import FormatError, ProblemError
from stagecut.formats import files
from stagecut.formats.schema import LayerFields, LinkFields, ProfileFile, parse


def load_profile(path: files.PathLike) -> LayerProfile:
    """Read a layer profile.

    Raises
    ------
    FormatError
        If the file cannot be read as one.
    """
    fields = parse(files.read_json(path), path, ("layer_profile",))
    try:
        return profile_from(fields)
    except ProblemError as error:
        raise FormatError(f"{path}: {error}") from None


def save_profile(profile: LayerProfile, path: files.PathLike) -> None:
    """Write a layer profile, lossless; equal neighbours are written once, with ``repeat``.

    Raises
    ------
    FormatError
        If the file cannot be written.
    """
    cluster = profile.cluster
    files.write_json(
        path,
        {
            "format": "stagecut",
            "version": 1,
            "kind": "layer_profile",
            "name": profile.name,
            "source": profile.source,
            "micro_batch": profile.micro_batch,
            "num_microbatches": profile.num_microbatches,
            "schedule": profile.schedule,
            "state_factor": profile.state_factor,
            "cluster": {
                "hosts": cluster.hosts,
                "devices_per_host": cluster.devices_per_host,
                "memory_bytes": cluster.memory_bytes,
                "intra_host": _link_fields(cluster.intra_host),
                "inter_host": _link_fields(cluster.inter_host),
            },
            "layers": [
                {**fields, "repeat": len(list(equal))}
                for fields, equal in groupby(map(_layer_fields, profile.layers))
            ],
        },
    )


def profile_from(fields: ProfileFile) -> LayerProfile:
    """Return the profile that validated fields state."""
    cluster = fields.cluster
    return LayerProfile(
        name=fields.name,
        source=fields.source,
        layers=tuple(layer for item in fields.layers for layer in _layers(item)),
        cluster=Cluster(
            cluster.hosts,
            cluster.devices_per_host,
            cluster.memory_bytes,
            _link(cluster.intra_host),
            _link(cluster.inter_host),
        ),
        micro_batch=fields.micro_batch,
        num_microbatches=fields.num_microbatches,
        schedule=fields.schedule,
        state_factor=fields.state_factor,
    )


def _layers(fields: LayerFields) -> list[Layer]:
    layer = Layer(
        fields.name,
        fields.kind,
        _degrees(fields.name, fields.forward_seconds),
        _degrees(fields.name, fields.backward_seconds),
        fields.parameter_bytes,
        fields.activation_bytes,
        fields.boundary_bytes,
        None if fields.spread_seconds is None else _degrees(fields.name, fields.spread_seconds),
    )
    return [layer] * fields.repeat


def _degrees(layer: str, times: dict[str, float]) -> dict[int, float]:
    for degree in times:
        if not (degree.isascii() and degree.isdecimal() and degree[0] != "0" and len(degree) < 10):
            raise ProblemError(
                f"layer {layer!r}: tensor-parallel degrees must be whole numbers, got {degree!r}"
            )
    return {int(degree): seconds for degree, seconds in times.items()}


def _layer_fields(layer: Layer) -> dict[str, Any]:
    spread = layer.spread_seconds
    known = {} if spread is None else {"spread_seconds": _by_text(spread)}
    return {
        "name": layer.name,
        "kind": layer.kind,
        "forward_seconds": _by_text(layer.forward_seconds),
        "backward_seconds": _by_text(layer.backward_seconds),
        "parameter_bytes": layer.parameter_bytes,
        "activation_bytes": layer.activation_bytes,
        "boundary_bytes": layer.boundary_bytes,
        **known,
    }


def _by_text(times: Mapping[int, float]) -> dict[str, float]:
    return {str(degree): seconds for degree, seconds in times.items()}


def _link(fields: LinkFields) -> Link:
    return Link(fields.bandwidth, fields.latency)


def _link_fields(link: Link) -> dict[str, float]:
    return {"bandwidth": link.bandwidth, "latency": link.latency}
