"""Models in three: what ONNX cannot do before the numbers and after them stays a SavedModel each.

    inputs -> model.before -> model.onnx -> model.after -> outputs

A part may also take what any part before it takes or gives; names are the same everywhere. Variables are constants in
the two SavedModels, and tables are filled with what they hold now.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from tensorkeep._lazy import later
from tensorkeep.arrays import Array
from tensorkeep.convert.onnx.ends import Chosen
from tensorkeep.convert.onnx.options import OnnxOptions
from tensorkeep.errors import AlreadyExistsError, FailedPreconditionError, UnimplementedError
from tensorkeep.graph.arguments import emit, emit_operation
from tensorkeep.graph.building import current_graph
from tensorkeep.graph.collections import GraphKeys, add_to_collection
from tensorkeep.graph.flattening import copied_graph
from tensorkeep.graph.graph import Graph, Operation, Tensor
from tensorkeep.graph.messages.graph_def import import_graph
from tensorkeep.graph.messages.versions import versions_of
from tensorkeep.graph.rewriting.freezing import convert_variables_to_constants
from tensorkeep.graph.scopes import free_name
from tensorkeep.io.files.directories import is_empty_directory, replace_directory
from tensorkeep.io.files.filesystem import FileSystem
from tensorkeep.ops.state.lookup_table_values import DenseTable, StaticTable, Table
from tensorkeep.proto.messages import GraphDef, NodeDef
from tensorkeep.proto.tensors import tensor_of_array
from tensorkeep.runtime.plans.plan import make_plan
from tensorkeep.runtime.resources import VariableResource
from tensorkeep.saved_model.export.graph_exporting import from_function
from tensorkeep.tf1.functions.constants import constant

if TYPE_CHECKING:
    from tensorkeep.onnx import models, splitting
else:
    models = later("tensorkeep.onnx.models")
    splitting = later("tensorkeep.onnx.splitting")


@dataclass(frozen=True)
class ModelPart:
    """One of the two parts that stay SavedModels."""

    directory: str
    operations: Sequence[Operation]
    inputs: Mapping[str, Tensor]
    outputs: Mapping[str, Tensor]


@dataclass(frozen=True)
class SplitModel:
    """A model in three."""

    whole: Chosen
    middle: Chosen
    parts: Mapping[str, ModelPart]
    """By "before" and "after", those that have something to do."""


def split_model(chosen: Chosen, path: str, options: OnnxOptions) -> SplitModel:
    """Divides what is to be exported, so that the most of it that has to do with numbers is in the middle."""
    flat = chosen.within(copied_graph(chosen.session.graph, flat=True))
    plan = make_plan(tuple(flat.outputs.values()), (), (*flat.inputs.values(), *flat.captured))
    assert options.opset is not None
    how = models.TranslateOptions(options.opset, folds=options.folds, custom_ops=dict(options.custom_ops))
    split = splitting.split_for_onnx(plan, flat.session.lasting_resource, how, flat.captured)
    if not split.middle.outputs:
        raise UnimplementedError(
            "there is nothing in the model that ONNX could do: no part of it computes with numbers"
        )
    names = _Names(flat)
    middle = replace(
        flat,
        inputs=names.of(split.middle.inputs),
        outputs=names.of(split.middle.outputs),
        axes={name: axes for name, axes in flat.axes.items() if flat.inputs[name] in split.middle.inputs},
    )
    middle = _alone(middle, split.middle.ops)
    stem = path[: -len(".onnx")] if path.lower().endswith(".onnx") else path
    parts = {
        word: ModelPart(f"{stem}.{word}", part.ops, names.of(part.inputs), names.of(part.outputs))
        for word, part in (("before", split.before), ("after", split.after))
        if part.outputs
    }
    return SplitModel(flat, middle, parts)


def _alone(chosen: Chosen, operations: Sequence[Operation]) -> Chosen:
    """What is exported, in a copy of its graph that has only some operations and what they are given."""
    used = {tensor for op in operations for tensor in op.inputs}
    captured = {tensor: item for tensor, item in chosen.captured.items() if tensor in used}
    given = {tensor: tensor.static_shape for tensor in chosen.inputs.values()}
    copy = copied_graph(chosen.session.graph, given, only=[*operations, *(tensor.op for tensor in captured)])
    return replace(chosen, captured=captured).within(copy)


class _Names:
    """The names of tensors where parts meet: those of the model's ends, and new ones."""

    def __init__(self, chosen: Chosen) -> None:
        self._captured = chosen.captured
        self._names: dict[Tensor, str] = {}
        for name, tensor in (*chosen.inputs.items(), *chosen.outputs.items()):
            self._names.setdefault(tensor, name)
        self._taken = {*chosen.inputs, *chosen.outputs}

    def of(self, tensors: Sequence[Tensor]) -> dict[str, Tensor]:
        return {self._name(tensor): tensor for tensor in tensors if tensor not in self._captured}

    def _name(self, tensor: Tensor) -> str:
        if tensor not in self._names:
            base = tensor.op.name if tensor.index == 0 else f"{tensor.op.name}_{tensor.index}"
            name = free_name(base, self._taken)
            self._names[tensor] = name
            self._taken.add(name)
        return self._names[tensor]


# ------------------------------------------------------------------------------------------------------------- writing


def require_free(parts: Mapping[str, ModelPart], overwrite: bool, fs: FileSystem) -> None:
    """Raises if a directory is there that may not be replaced."""
    for part in parts.values():
        there = fs.exists(part.directory)
        if there and not (fs.is_directory(part.directory) and (overwrite or is_empty_directory(fs, part.directory))):
            raise AlreadyExistsError(f'"{part.directory}" exists already; say so if it shall be replaced (--force)')


def write_parts(split: SplitModel, fs: FileSystem) -> None:
    """Writes the SavedModels before and after the file."""
    for part in split.parts.values():
        write = _Writer(part, split.whole).write
        if fs.exists(part.directory) and not is_empty_directory(fs, part.directory):
            replace_directory(fs, part.directory, partial(write, fs))
        else:
            write(fs, part.directory)


class _Writer:
    """A part on its way to being a SavedModel."""

    def __init__(self, part: ModelPart, chosen: Chosen) -> None:
        self._part = part
        self._chosen = chosen
        self._proto = GraphDef()
        self._edges: dict[Tensor, str] = {}
        self._given: dict[str, str] = {}  # by input, the edge that stands for it
        self._tables: dict[str, Table] = {}  # by edge
        self._variables: dict[str, Array] = {}  # by node

    def write(self, fs: FileSystem, directory: str) -> None:
        """Writes it. What it keeps that cannot be stored is an error."""
        inputs = {name: (tensor.dtype.base_dtype, tensor.static_shape) for name, tensor in self._part.inputs.items()}
        from_function(self._built(), inputs, directory, fs=fs)

    def _built(self) -> Callable[..., Any]:
        graph = self._chosen.session.graph
        self._add_ends()
        for op in self._part.operations:
            self._add(op)
        self._proto.versions.CopyFrom(versions_of(graph))
        for function in graph.functions.values():
            self._proto.library.function.add().CopyFrom(function)
        frozen = self._frozen_graph()

        def build(**given: Any) -> dict[str, Any]:
            here = current_graph()
            mapped = {edge: given[name] for name, edge in self._given.items()}
            mapped |= {edge: _filled_table(table, here) for edge, table in self._tables.items()}
            wanted = [self._edge(tensor) for tensor in self._part.outputs.values()]
            found = import_graph(frozen, here, mapped, [edge for edge in wanted if edge not in mapped], name="")
            made = dict(zip([edge for edge in wanted if edge not in mapped], found or (), strict=True)) | mapped
            return dict(zip(self._part.outputs, (made[edge] for edge in wanted), strict=True))

        return build

    def _frozen_graph(self) -> GraphDef:
        """The message with constants for variables, without nodes for what is given."""
        stand_ins = [edge.partition(":")[0] for edge in (*self._given.values(), *self._tables)]
        for name in stand_ins:  # every node has to be there while variables become constants
            self._proto.node.add(name=name, op="Placeholder")
        frozen = convert_variables_to_constants(self._proto, self._variables)
        kept = [node for node in frozen.node if node.name not in stand_ins]
        del frozen.node[:]
        for node in kept:
            frozen.node.add().CopyFrom(node)
        return frozen

    def _add_ends(self) -> None:
        for number, (name, tensor) in enumerate(self._part.inputs.items()):
            self._given[name] = self._edges[tensor] = f"given_{number}:0"
        used = {tensor for op in self._part.operations for tensor in op.inputs}
        for number, (tensor, item) in enumerate(self._chosen.captured.items()):
            if tensor in used:
                self._edges[tensor] = self._add_held(f"held_{number}", item)

    def _add_held(self, name: str, item: object) -> str:
        """Adds a node for a variable or table that the part uses, and gives the name of its output."""
        if isinstance(item, VariableResource):
            if not item.is_initialized:
                raise FailedPreconditionError(f'the variable "{item.name}" has no value')
            node = self._proto.node.add(name=name, op="VarHandleOp")
            array = item.read()
            node.attr["dtype"].type = item.dtype.number
            node.attr["shape"].shape.SetInParent()
            for size in array.shape:
                node.attr["shape"].shape.dim.add(size=size)
            self._variables[name] = array
        elif isinstance(item, Table) and not isinstance(item, DenseTable):
            self._tables[f"{name}:0"] = item
        elif isinstance(item, np.ndarray | np.generic):
            node = self._proto.node.add(name=name, op="Const")
            array = np.asarray(item)
            tensor = tensor_of_array(array)
            node.attr["dtype"].type = tensor.dtype
            node.attr["value"].tensor.CopyFrom(tensor)
        else:
            raise UnimplementedError(
                f'the model cannot be split: a part that stays a SavedModel uses a {type(item).__name__} ("{name}"), '
                "which cannot be stored with it"
            )
        return f"{name}:0"

    def _add(self, op: Operation) -> None:
        if all(tensor in self._edges for tensor in op.outputs) and op.outputs:
            return
        held = self._chosen.session.lasting_resource(op)
        if isinstance(held, Table):
            self._edges[op.outputs[0]] = self._add_held(f"{op.name}__table", held)
            return
        node = NodeDef()
        op.write_node(node)
        del node.input[:]
        node.input.extend(self._edge(tensor) for tensor in op.inputs)
        inside = set(self._part.operations)
        node.input.extend(f"^{control.name}" for control in op.control_inputs if control in inside)
        if "_class" in node.attr:
            del node.attr["_class"]
        if isinstance(held, VariableResource):
            self._variables[op.name] = held.read()
        self._proto.node.add().CopyFrom(node)

    def _edge(self, tensor: Tensor) -> str:
        return self._edges.get(tensor, f"{tensor.op.name}:{tensor.index}")


def _filled_table(table: Table, graph: Graph) -> Tensor:
    """A table in the graph being built that is filled, when the model is loaded, with what another holds now."""
    is_static = isinstance(table, StaticTable)
    made = emit(
        "HashTableV2" if is_static else "MutableHashTableV2",
        shared_name=f"table_{len(graph.operations)}",
        key_dtype=table.key_dtype,
        value_dtype=table.value_dtype,
    )
    keys, values = table.export()
    arguments = (made, constant(keys, table.key_dtype), constant(values, table.value_dtype))
    fill = emit_operation("InitializeTableV2" if is_static else "LookupTableImportV2", *arguments)
    add_to_collection(graph, GraphKeys.TABLE_INITIALIZERS, fill)
    return made
