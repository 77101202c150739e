"""The values of a graph's variables, looked up in a checkpoint by the variables' names.

    w                the tensor "w"
    w/part_2         a part of the tensor "w"; which one, the shapes of all parts tell, or a meta graph says it

An object-based checkpoint also knows the names that its variables had in a graph.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from tensorkeep.arrays import Array
from tensorkeep.checkpoint.finding.file_names import OBJECT_GRAPH_KEY
from tensorkeep.checkpoint.objects.reader import ObjectGraph, RenamedReader
from tensorkeep.checkpoint.reader import CheckpointReader
from tensorkeep.checkpoint.slices.tensor_slice import TensorSlice
from tensorkeep.errors import InvalidArgumentError
from tensorkeep.graph.rewriting.freezing import VariableNode
from tensorkeep.proto.messages import MetaGraphDef, VariableDef, parse

_PART: Final = re.compile(r"(?P<whole>.+)/part_(?P<number>[0-9]+)")


@dataclass(frozen=True)
class StoredValue:
    """Where a checkpoint has the value of a variable: in a tensor, or in a part of it."""

    key: str
    part: TensorSlice | None = None


def by_any_name(reader: CheckpointReader) -> CheckpointReader:
    """The checkpoint by its own names and, if it was saved from objects, by those that its variables had too."""
    if OBJECT_GRAPH_KEY not in reader:
        return reader
    named = ObjectGraph.read(reader).keys_by_full_name()
    found = {name: key for name, key in named.items() if name and key in reader}
    return RenamedReader(reader, {**found, **{key: key for key in reader}})


def stored_values(
    variables: Sequence[VariableNode],
    everything: Sequence[VariableNode],
    reader: CheckpointReader,
    parts: Mapping[str, StoredValue] | None = None,
) -> dict[str, StoredValue]:
    """Where the values of some variables are, of those that the checkpoint has.

    `everything` has all variables of the graph, among them all parts of a partitioned one; `parts` says of some what
    they are parts of, if that is known.
    """
    found: dict[str, StoredValue] = {}
    for variable in variables:
        known = (parts or {}).get(variable.name)
        names = [name for name in (variable.name, variable.resource_name) if name in reader]
        if known is not None and known.key in reader:
            found[variable.name] = known
        elif names:
            found[variable.name] = StoredValue(names[0])
        elif (part := _part_of_whole(variable, everything, reader)) is not None:
            found[variable.name] = part
    return found


def read_stored(reader: CheckpointReader, stored: Mapping[str, StoredValue]) -> dict[str, Array]:
    """The values; whole tensors by several threads."""
    whole = [place.key for place in stored.values() if place.part is None]
    arrays = reader.read_many(list(dict.fromkeys(whole)))
    return {
        name: arrays[place.key] if place.part is None else reader.read(place.key, place.part)
        for name, place in stored.items()
    }


def parts_of_meta_graph(meta_graph: MetaGraphDef) -> dict[str, StoredValue]:
    """What the variables of a meta graph that are parts say they are parts of."""
    found: dict[str, StoredValue] = {}
    for collection in meta_graph.collection_def.values():
        for data in collection.bytes_list.value:
            variable = _variable(data)
            if variable is not None and variable.HasField("save_slice_info_def"):
                info = variable.save_slice_info_def
                extents = tuple(zip(info.var_offset, info.var_shape, strict=False))
                found[variable.variable_name.removesuffix(":0")] = StoredValue(info.full_name, TensorSlice(extents))
    return found


def _variable(data: bytes) -> VariableDef | None:
    try:
        return parse(VariableDef, data, "a variable of the meta graph")
    except ValueError:
        return None  # of a collection of something else


def _part_of_whole(
    variable: VariableNode, everything: Sequence[VariableNode], reader: CheckpointReader
) -> StoredValue | None:
    """The part of a stored tensor that a variable is, to judge by its name and by the shapes of all parts."""
    match = _PART.fullmatch(variable.name)
    if match is None or match["whole"] not in reader:
        return None
    whole = match["whole"]
    parts = _parts(whole, everything)
    shapes = [part.shape.dims for part in parts]
    sizes = reader[whole].shape
    axes = [axis for axis in range(len(sizes)) if _cover(shapes, sizes, axis)]
    if not axes:
        raise InvalidArgumentError(
            f'"{reader.path}" has "{whole}" in the shape {list(sizes)}, which the {len(parts)} parts of shapes '
            f"{[list(shape) if shape is not None else None for shape in shapes]} do not make up along one axis. Freeze "
            "from the meta graph, which says where parts lie"
        )
    axis = axes[0]
    at = parts.index(variable)
    start = sum(shape[axis] or 0 for shape in shapes[:at] if shape is not None)
    extents = [(0, size) for size in sizes]
    extents[axis] = (start, variable.shape.as_tuple()[axis])
    return StoredValue(whole, TensorSlice(tuple(extents)))


def _parts(whole: str, everything: Sequence[VariableNode]) -> list[VariableNode]:
    numbered = [(match, variable) for variable in everything if (match := _PART.fullmatch(variable.name))]
    parts = [(int(match["number"]), variable) for match, variable in numbered if match["whole"] == whole]
    return [variable for _, variable in sorted(parts, key=lambda item: item[0])]


def _cover(shapes: Sequence[tuple[int | None, ...] | None], sizes: tuple[int, ...], axis: int) -> bool:
    """Whether parts of these shapes, one after the other along an axis, have these sizes together."""
    total = 0
    for shape in shapes:
        if shape is None or len(shape) != len(sizes) or (size := shape[axis]) is None:
            return False
        if any(mine != other for i, (mine, other) in enumerate(zip(shape, sizes, strict=True)) if i != axis):
            return False
        total += size
    return total == sizes[axis]
