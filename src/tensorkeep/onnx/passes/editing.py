"""What all passes do to graphs: constants looked at and made, nodes put in the place of others."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TypeAlias

import numpy as np
import onnx_ir as ir

from tensorkeep.arrays import Array

AttrValue: TypeAlias = int | float | str | Sequence[int] | Sequence[float]


def graphs_of(model: ir.Model) -> Iterator[ir.Graph]:
    """The model's graph, and those that its nodes have."""
    yield model.graph
    yield from model.graph.subgraphs()


def constant_of(value: ir.Value | None) -> Array | None:
    """The array of a value that is known before the model runs."""
    if value is None or value.const_value is None or value.is_graph_input():
        return None
    return value.const_value.numpy()


def ints_of(value: ir.Value | None) -> list[int] | None:
    """The elements of a known value of whole numbers."""
    found = constant_of(value)
    return None if found is None or found.dtype.kind not in "iu" else [int(item) for item in found.reshape(-1)]


def rank_of(value: ir.Value) -> int | None:
    return None if value.shape is None else len(value.shape)


def size_of(value: ir.Value, axis: int) -> int | None:
    """The size of an axis, if it is known."""
    size = None if value.shape is None else value.shape[axis]
    return size if isinstance(size, int) else None


def attribute(node: ir.Node, name: str) -> ir.Attr | None:
    return node.attributes.get(name)


def int_attribute(node: ir.Node, name: str, otherwise: int) -> int:
    found = node.attributes.get(name)
    return otherwise if found is None else found.as_int()


def float_attribute(node: ir.Node, name: str, otherwise: float) -> float:
    found = node.attributes.get(name)
    return otherwise if found is None else found.as_float()


def ints_attribute(node: ir.Node, name: str) -> list[int] | None:
    found = node.attributes.get(name)
    return None if found is None else [int(item) for item in found.as_ints()]


def input_at(node: ir.Node, position: int) -> ir.Value | None:
    """An input of a node; None if it has none there."""
    return node.inputs[position] if position < len(node.inputs) else None


def only_user(value: ir.Value) -> ir.Node | None:
    """The one node that takes a value, if nothing else does."""
    uses = list(value.uses())
    return uses[0].node if len(uses) == 1 and not value.is_graph_output() else None


def is_op(node: ir.Node | None, *op_types: str) -> bool:
    return node is not None and not node.domain and node.op_type in op_types


class Editor:
    """Adds nodes and constants to a model, under names that are not in use."""

    def __init__(self, model: ir.Model) -> None:
        self.model = model
        self.opset = model.graph.opset_imports.get("", 0)
        self._names = {value.name for value in model.graph.initializers.values()}
        for graph in graphs_of(model):
            self._names.update(value.name for value in graph.inputs)
            for node in graph:
                self._names.add(node.name)
                self._names.update(value.name for value in node.outputs)

    def new_name(self, wanted: str) -> str:
        name, number = wanted, 0
        while name in self._names:
            number += 1
            name = f"{wanted}__{number}"
        self._names.add(name)
        return name

    def constant(self, array: Array, wanted: str) -> ir.Value:
        """A new constant of the model."""
        name = self.new_name(wanted)
        tensor = ir.Tensor(np.ascontiguousarray(array).reshape(array.shape), name=name)
        value = ir.Value(name=name, shape=ir.Shape(array.shape), type=ir.TensorType(tensor.dtype), const_value=tensor)
        self.model.graph.register_initializer(value)
        return value

    def constant_like(self, array: Array, value: ir.Value) -> ir.Value:
        """A new constant of the type that another has, in the place of it."""
        name = self.new_name(value.name or "constant")
        assert value.const_value is not None
        dtype = value.const_value.dtype
        if dtype == ir.DataType.STRING:
            tensor: ir.TensorProtocol = ir.StringTensor(array, shape=ir.Shape(array.shape), name=name)
        else:
            tensor = ir.Tensor(np.ascontiguousarray(array).reshape(array.shape), dtype, name=name)
        made = ir.Value(name=name, shape=ir.Shape(array.shape), type=ir.TensorType(dtype), const_value=tensor)
        self.model.graph.register_initializer(made)
        return made

    def replace_constant(self, node: ir.Node, position: int, array: Array) -> None:
        """Lets a node take another constant of the same type; the one that it took is gone if no other takes it."""
        old = node.inputs[position]
        assert old is not None
        node.replace_input_with(position, self.constant_like(array, old))
        if old.name is not None and old.is_initializer() and not old.uses() and not old.is_graph_output():
            del self.model.graph.initializers[old.name]
            old.const_value = None

    def node(
        self, op_type: str, inputs: Sequence[ir.Value | None], attrs: Mapping[str, AttrValue], like: ir.Value,
    ) -> ir.Node:  # fmt: skip
        """A new node that is in no graph yet, with one output, of the type of `like`."""
        base = like.name or op_type
        output = ir.Value(name=self.new_name(f"{base}/{op_type}"), type=like.type)
        return ir.Node(
            "", op_type, inputs, [ir.convenience.convert_attribute(name, value) for name, value in attrs.items()],
            outputs=[output], name=self.new_name(f"{base}/{op_type}/node"),
        )  # fmt: skip

    def take_place(self, value: ir.Value, by: ir.Value) -> None:
        """Lets `by` be taken wherever `value` is; where that is an output of the model, under its name."""
        if value.is_graph_output():
            if by.is_graph_output() or by.producer() is None or by.is_initializer():
                producer = value.producer()
                assert producer is not None
                assert producer.graph is not None
                passing = self.node("Identity", [by], {}, value)
                producer.graph.insert_after(producer, passing)
                by = passing.outputs[0]
            name = value.name
            value.name = self.new_name(f"{name}/before")
            by.name = name
        by.shape = by.shape or value.shape
        ir.convenience.replace_all_uses_with(value, by, replace_graph_outputs=True)

    def drop_unused(self, nodes: Sequence[ir.Node]) -> None:
        """Drops nodes of which nothing takes an output, and then those that were there for them alone."""
        waiting = list(nodes)
        while waiting:
            node = waiting.pop()
            if node.graph is None or any(value.uses() or value.is_graph_output() for value in node.outputs):
                continue
            before = [value.producer() for value in node.inputs if value is not None]
            node.graph.remove(node, safe=True)
            waiting.extend(other for other in before if other is not None)
