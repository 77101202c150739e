"""Frozen graphs: GraphDef messages in which constants stand in the place of variables.

    sub_graph = extract_sub_graph(graph_def, outputs)
    values = {variable.name: ... for variable in variables_of(sub_graph, selection)}
    frozen = convert_variables_to_constants(sub_graph, values)

Which nodes change, and how, is in `converting`; here is what surrounds it, and the limit of what a message can hold.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from tensorkeep.arrays import Array
from tensorkeep.dtypes import DType, dtype_of_number
from tensorkeep.errors import InvalidArgumentError, WrongTypeError
from tensorkeep.graph.messages.attrs import shape_of_proto
from tensorkeep.graph.rewriting.converting import Conversion
from tensorkeep.proto.messages import MOST_BYTES, GraphDef, NodeDef
from tensorkeep.proto.tensors import tensor_of_array
from tensorkeep.shapes import UNKNOWN_SHAPE, Shape

VARIABLE_OPS: Final = frozenset(("Variable", "VariableV2", "VarHandleOp"))
_LISTED: Final = 5  # of the largest variables, in a message about size


@dataclass(frozen=True)
class VariableNode:
    """A node of a graph that stands for a variable."""

    name: str
    dtype: DType
    shape: Shape
    is_resource: bool
    container: str
    shared_name: str

    @property
    def resource_name(self) -> str:
        """What a session calls the variable."""
        return self.shared_name or self.name


@dataclass(frozen=True)
class Selection:
    """Which variables become constants: `only` these, or all of them, but not those to `keep`. A text is one name."""

    only: Collection[str] | None = None
    keep: Collection[str] | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "only", _as_set(self.only))
        object.__setattr__(self, "keep", _as_set(self.keep))

    def __contains__(self, name: object) -> bool:
        return (self.only is None or name in self.only) and (self.keep is None or name not in self.keep)


def _as_set(names: Iterable[str] | None) -> frozenset[str] | None:
    return None if names is None else frozenset([names] if isinstance(names, str) else names)


EVERYTHING: Final = Selection()


def variables_of(graph_def: GraphDef, selection: Selection = EVERYTHING) -> list[VariableNode]:
    """The variables among the nodes of a graph, in their order."""
    return [_variable(node) for node in graph_def.node if node.op in VARIABLE_OPS and node.name in selection]


def _variable(node: NodeDef) -> VariableNode:
    texts = {
        name: node.attr[name].s.decode("utf-8", "replace") if name in node.attr else ""
        for name in ("container", "shared_name")
    }
    if "dtype" not in node.attr or not node.attr["dtype"].type:
        raise InvalidArgumentError(f"Node '{node.name}' ({node.op}) lacks the attribute 'dtype'")
    dtype = dtype_of_number(node.attr["dtype"].type)
    shape = shape_of_proto(node.attr["shape"].shape) if "shape" in node.attr else UNKNOWN_SHAPE
    return VariableNode(node.name, dtype, shape, node.op == "VarHandleOp", **texts)


def convert_variables_to_constants(
    graph_def: GraphDef, values: Mapping[str, Array], *, most_bytes: int = MOST_BYTES
) -> GraphDef:
    """The graph with constants in the place of the variables that `values` has values for.

    What reads a resource becomes what copies a value, and so on through branches, loops and functions, which get new
    names. InvalidArgumentError if the result would be larger than a message can be, or if something in the graph
    changes a variable that is to be a constant; nothing is built then.
    """
    variables = [variable for variable in variables_of(graph_def) if variable.name in values]
    arrays = {variable.name: _checked_value(variable, values[variable.name]) for variable in variables}
    _check_size(graph_def, arrays, most_bytes)
    conversion = Conversion(graph_def)
    for variable in variables:
        proto = tensor_of_array(arrays[variable.name], variable.dtype)
        conversion.freeze(variable.name, variable.dtype.number, proto)
    return conversion.result()


def _checked_value(variable: VariableNode, value: Any) -> Array:
    array = np.asarray(value)
    if variable.dtype.is_object:
        fits = array.dtype == object and all(isinstance(item, bytes | str) for item in array.reshape(-1).tolist())
    else:
        fits = array.dtype == variable.dtype.array_dtype
    if not fits:
        raise WrongTypeError(
            f"the variable '{variable.name}' is of type {variable.dtype}, and its value is of type {array.dtype}"
        )
    return array


def _check_size(graph_def: GraphDef, arrays: Mapping[str, Array], most_bytes: int) -> None:
    """Refuses what could not be serialized, before memory is spent on it."""
    sizes = {name: _size(array) for name, array in arrays.items()}
    total = graph_def.ByteSize() + sum(sizes.values())
    if total <= most_bytes:
        return
    largest = sorted(sizes, key=lambda name: -sizes[name])[:_LISTED]
    raise InvalidArgumentError(
        f"the frozen graph would take {total} bytes, and a GraphDef can have {most_bytes} at most. The largest "
        f"variables are {', '.join(f'{name} ({sizes[name]} bytes)' for name in largest)}. Keep some as variables "
        "(variable_names_blacklist, --variable_names_denylist, Selection(keep=...)) and restore them from a "
        "checkpoint, or leave the model as a checkpoint and meta graph, or as a SavedModel, which have no such limit"
    )


def _size(array: Array) -> int:
    if array.dtype != object:
        return array.nbytes
    return sum(len(item) + 6 for item in array.reshape(-1).tolist())


__all__ = [
    "EVERYTHING",
    "Selection",
    "VariableNode",
    "convert_variables_to_constants",
    "variables_of",
]
