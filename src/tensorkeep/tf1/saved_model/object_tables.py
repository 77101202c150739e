"""Tables as objects of a model: a resource, and the functions that make it, fill it, and do away with it.

    resource -> _create_resource -> () -> handle
             -> _initialize      -> (handle, path of a file, if it is filled from one) -> 1
             -> _destroy_resource -> () -> 1

Loaders call the first two. What fills a table is what its program's initializer is told: keys and values, which become
constants, or a file, which becomes an asset.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from tensorkeep.dtypes import INT32, RESOURCE
from tensorkeep.errors import UnimplementedError
from tensorkeep.graph.arguments import emit, emit_operation
from tensorkeep.graph.building import building
from tensorkeep.graph.function_graph import FunctionGraph, function_graph
from tensorkeep.graph.functions import function_def, numbered_name
from tensorkeep.graph.graph import Operation, Tensor
from tensorkeep.graph.tensor_shape import TensorShape
from tensorkeep.proto.messages import FunctionDef, SavedObjectGraph
from tensorkeep.runtime.session import Session
from tensorkeep.saved_model.files.argument_specs import (
    ArgumentSpec,
    encode_structure,
    encode_tensor_spec,
    write_argument_spec,
)
from tensorkeep.saved_model.files.assets import asset_path_of
from tensorkeep.tf1.functions.arrays.shapes import identity
from tensorkeep.tf1.functions.constants import constant

TABLE_OPS: Final = frozenset(("HashTableV2",))
_FROM_FILE: Final = "InitializeTableFromTextFileV2"
_FILLING: Final = frozenset(("LookupTableImportV2", "InitializeTableV2", _FROM_FILE))
_ROLES: Final = ("_create_resource", "_initialize", "_destroy_resource")


@dataclass(frozen=True, eq=False)
class SavedTable:
    """A table of a program, and the functions that it becomes."""

    handle: Tensor
    functions: Mapping[str, FunctionDef]
    """By role."""
    path: Tensor | None
    """That of the file that it is filled from."""

    @property
    def file(self) -> str | None:
        return None if self.path is None else asset_path_of(self.path)

    @property
    def nodes(self) -> int:
        """How many objects it becomes."""
        return 1 + 2 * len(_ROLES) + (self.path is not None)

    def stand_in(self) -> Tensor:
        """The same table in the graph being built."""
        return _make_table(self.handle.op)


def saved_table(handle: Tensor, session: Session, taken: Sequence[str]) -> SavedTable:
    """What a table becomes; `taken` are the names of functions that there are."""
    fills = [op for op in handle.consumers() if op.type in _FILLING]
    if len(fills) != 1:
        raise UnimplementedError(
            f'the table "{handle.op.name}" is filled by {len(fills)} operations; one that is made with an initializer, '
            "which is the only one to fill it, can be saved"
        )
    (fill,) = fills
    path = fill.inputs[1] if fill.type == _FROM_FILE else None
    values = [] if path is not None else session.run(list(fill.inputs[1:]))
    used = set(taken)

    def named(role: str) -> str:
        base = {"_create_resource": "creator", "_initialize": "initializer"}.get(role, "destroyer")
        found = numbered_name(f"_{base}", used)
        used.add(found)
        return found

    functions = {
        "_create_resource": _function(named("_create_resource"), handle, lambda graph: _creation(handle.op)),
        "_initialize": _function(named("_initialize"), handle, lambda graph: _filling(graph, fill, path, values)),
        "_destroy_resource": _function(named("_destroy_resource"), handle, lambda graph: ([_one()], [])),
    }
    return SavedTable(handle, functions, path)


Built = tuple[Sequence[Tensor], Sequence[Operation]]


def _function(name: str, handle: Tensor, build: Callable[[FunctionGraph], Built]) -> FunctionDef:
    graph = function_graph(handle.graph)
    with building(graph):
        outputs, controls = build(graph)
    return function_def(name, graph, list(graph.captured.values()), outputs, controls=controls)


def _make_table(op: Operation) -> Tensor:
    shared = op.attr("shared_name") or op.name
    types = {"key_dtype": op.attr("key_dtype"), "value_dtype": op.attr("value_dtype")}
    return emit(op.type, shared_name=shared, name=op.name, **types)


def _creation(op: Operation) -> Built:
    made = _make_table(op)
    return [made], [made.op]


def _filling(graph: FunctionGraph, fill: Operation, path: Tensor | None, values: Sequence[Any]) -> Built:
    handle = graph.capture(fill.inputs[0])
    if path is not None:
        given = [graph.capture(path)]
    else:
        given = [constant(value, tensor.dtype) for value, tensor in zip(values, fill.inputs[1:], strict=True)]
    own = {"key_index", "value_index", "vocab_size", "delimiter", "offset"} if path is not None else set()
    attrs = {attr: fill.attr(attr) for attr in own if fill.attr(attr) is not None}
    made = emit_operation(fill.type, handle, *given, **attrs)
    return [_one()], [made]


def _one() -> Tensor:
    found: Tensor = identity(constant(1, INT32))
    return found


def write_table(proto: SavedObjectGraph, table: SavedTable, asset: int | None) -> None:
    """Adds the objects of a table, in one row. `asset` is the number of its file among the model's."""
    first = len(proto.nodes)
    resource = proto.nodes.add()
    resource.resource.SetInParent()
    roles = len(_ROLES)
    for index, role in enumerate(_ROLES):
        resource.children.add(node_id=first + 1 + index, local_name=role)
        node = proto.nodes.add()
        node.function.concrete_functions.append(table.functions[role].signature.name)
        write_argument_spec(node.function.function_spec, ArgumentSpec(), ())
        node.children.add(node_id=first + 1 + roles + index, local_name="trace_0")
    for role in _ROLES:
        node = proto.nodes.add()
        name = table.functions[role].signature.name
        node.bare_concrete_function.concrete_function_name = name
        write_argument_spec(node.bare_concrete_function.function_spec, ArgumentSpec(), ())
        saved = proto.concrete_functions[name]
        encode_structure(((), {}), saved.canonicalized_input_signature)
        given = RESOURCE if role == "_create_resource" else INT32
        encode_tensor_spec(given, TensorShape([]), None, saved.output_signature)
        if role == "_initialize":
            saved.bound_inputs.append(first)
            if asset is not None:
                saved.bound_inputs.append(first + table.nodes - 1)
                node.children.add(node_id=first + table.nodes - 1, local_name="capture_1")
    if asset is not None:
        proto.nodes.add().asset.asset_file_def_index = asset
