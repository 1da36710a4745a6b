"""What readers of other programs' files share: validation and chains."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from stagecut.errors import FormatError
from stagecut.formats.schema import first_error

Number = Annotated[float, Field(ge=0, allow_inf_nan=False)]


class Foreign(BaseModel):
    """Fields of another program's file; those that we do not use are left alone."""

    model_config = ConfigDict(strict=True, extra="ignore")


def validated[T: BaseModel](model: type[T], value: Any, path: object) -> T:
    """Return the validated model of a JSON value, or raise a one-line :class:`FormatError`."""
    try:
        return model.model_validate(value)
    except ValidationError as error:
        raise FormatError(f"{path}: {first_error(error)}") from None


def degrees_of(tables: Iterable[Mapping[str, object]], path: object) -> list[int]:
    """Return all tensor-parallel degrees that are keys of some table, ascending.

    Raises
    ------
    FormatError
        If there is none, or a key is not a plain whole number of at least 1.
    """
    keys = {key for table in tables for key in table}
    for key in keys:
        if not (key.isascii() and key.isdecimal() and key[0] != "0" and len(key) < 10):
            raise FormatError(
                f"{path}: tensor-parallel degrees must be whole numbers of at least 1, got {key!r}"
            )
    if not keys:
        raise FormatError(f"{path} names no tensor-parallel degree")
    return sorted(map(int, keys))


def topological_order[N: (int, str)](
    nodes: Sequence[N], edges: Sequence[tuple[N, N]], path: object
) -> list[N]:
    """Return the nodes in the one order that the edges allow.

    Raises
    ------
    FormatError
        If an edge names an unknown node, the edges have a circle, or leave two nodes unordered.
    """
    known = set(nodes)
    for pair in edges:
        for node in pair:
            if node not in known:
                raise FormatError(
                    f"{path}: the edge {pair} names the node {node!r}, which is not there"
                )
    waiting = {node: {tail for tail, head in edges if head == node} for node in nodes}
    order: list[N] = []
    while waiting:
        ready = [node for node, tails in waiting.items() if not tails]
        if len(ready) != 1:
            why = "a circle" if not ready else f"no order between {ready[0]!r} and {ready[1]!r}"
            raise FormatError(f"{path} is a graph, not a chain: its edges have {why}")
        order.append(ready[0])
        del waiting[ready[0]]
        for tails in waiting.values():
            tails.discard(ready[0])
    return order


def chain_order(nodes: Sequence[int], edges: Sequence[tuple[int, int]], path: object) -> list[int]:
    """Return the nodes of a chain in order: every edge joins neighbours.

    Raises
    ------
    FormatError
        If the graph is not a chain.
    """
    order = topological_order(nodes, edges, path)
    if set(edges) != set(pairwise(order)):
        raise FormatError(f"{path} is a graph, not a chain: some edges skip a node")
    return order
