"""Copies of graphs: with other shapes of what goes in, and with the calls of functions in them written out.

In a copy with calls written out, an operation `dense/MatMul` of a function that the operation `call` calls is
`call/dense/MatMul`. The functions of branches and loops stay what they are.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from tensorkeep.errors import InvalidArgumentError, ResourceExhaustedError
from tensorkeep.graph.functions import FunctionBody, find_function, function_body
from tensorkeep.graph.graph import PLACEHOLDERS, Graph, HandleShape, Operation, Tensor
from tensorkeep.graph.messages.attrs import FunctionRef, shape_to_proto
from tensorkeep.graph.messages.graph_def import import_graph
from tensorkeep.graph.messages.versions import versions_of
from tensorkeep.proto.messages import GraphDef, NodeDef
from tensorkeep.shapes import UNKNOWN_SHAPE, Shape

CALLS: Final = frozenset(("PartitionedCall", "StatefulPartitionedCall"))
"""Ops that do nothing but call a function."""
_DEEPEST: Final = 100
_MOST_NODES: Final = 1_000_000


@dataclass(frozen=True)
class GraphCopy:
    """A graph made of another one."""

    graph: Graph
    _names: Mapping[str, str] = field(repr=False)

    def tensor(self, old: Tensor) -> Tensor:
        """The tensor of the copy that is one of the old graph."""
        return self.graph.tensor(_numbered_name(self._names.get(old.name, old.name)))


def copied_graph(
    graph: Graph,
    shapes: Mapping[Tensor, Shape] | None = None,
    *,
    flat: bool = False,
    only: Collection[Operation] | None = None,
) -> GraphCopy:
    """A copy of a graph that is told shapes of some tensors, which become placeholders; all others are inferred anew.

    If `flat`, calls of functions are written out. `only` are the operations that the copy has, if not all: others are
    not waited for. Raises InvalidArgumentError if a shape contradicts the graph.
    """
    copier = _Copier(graph, shapes or {}, flat, None if only is None else frozenset(only))
    copy = Graph()
    import_graph(copier.message(), copy, name="")
    first = len(copier.handles) + len(copier.told)
    if copier.handles:
        copy.infer_shapes(until=first)
        for name, shape in copier.handles.items():
            copy.tensor(name)._shape = shape
    copy.infer_shapes()
    return GraphCopy(copy, copier.names)


class _Copier:
    """A graph on its way to being a message of nodes."""

    def __init__(
        self, graph: Graph, shapes: Mapping[Tensor, Shape], flat: bool, only: frozenset[Operation] | None
    ) -> None:
        self._graph = graph
        self._shapes = shapes
        self._flat = flat
        self._only = only
        self._nodes: list[NodeDef] = []
        self.names: dict[str, str] = {}
        """By the names of the old tensors, the names of those whose names are others."""
        self.told: list[NodeDef] = []
        """Placeholders of tensors whose shapes are told."""
        self.handles: dict[str, Shape] = {}
        """What is known of the handles that are fed, by their tensors' names."""
        self._first: list[NodeDef] = []

    def message(self) -> GraphDef:
        for tensor, shape in self._shapes.items():
            self._add_told(tensor, shape)
        self._write(self._graph.operations, "", self.names, (), 0)
        proto = GraphDef()
        proto.versions.CopyFrom(versions_of(self._graph))
        for node in (*self._first, *self.told, *self._nodes):
            proto.node.add().CopyFrom(node)
        for function in self._graph.functions.values():
            proto.library.function.add().CopyFrom(function)
        for name, gradient in self._graph.gradient_functions.items():
            proto.library.gradient.add(function_name=name, gradient_func=gradient)
        return proto

    def _add_told(self, tensor: Tensor, shape: Shape) -> None:
        """A placeholder for a tensor: its own, or one in the place of what makes it."""
        known = tensor.static_shape
        if not known.is_compatible(shape):
            raise InvalidArgumentError(f'"{tensor.name}" has the shape {known}, and {shape} is another')
        name = tensor.op.name
        if tensor.op.type not in PLACEHOLDERS:
            name = f"{name}__{tensor.index}"
            while name in self._graph:
                name += "_"
            self.names[tensor.name] = name
        node = NodeDef(name=name, op="Placeholder")
        node.attr["dtype"].type = tensor.dtype.base_dtype.number
        node.attr["shape"].shape.CopyFrom(shape_to_proto(known.merge(shape)))
        self.told.append(node)

    def _write(
        self, operations: Sequence[Operation], scope: str, names: dict[str, str], before: Sequence[str], depth: int
    ) -> None:
        """Adds operations under a scope. `names` has the edges that are not called as they would be."""
        given = {node.name for node in self.told} if not scope else set()
        after: dict[str, list[str]] = {}
        for op in operations:
            if op.name in given or (scope and op.outputs and op.outputs[0].name in names):
                continue
            if not scope and self._only is not None and op not in self._only:
                continue
            waits = [
                edge
                for control in op.control_inputs
                if scope or self._only is None or control in self._only
                for edge in after.get(control.name, [f"^{scope}{control.name}"])
            ]
            if self._flat and (reference := self._called_function(op)) is not None:
                after[op.name] = self._write_call(op, reference, scope, names, [*before, *waits], depth)
                continue
            node = NodeDef()
            op.write_node(node)
            node.name = scope + op.name
            del node.input[:]
            node.input.extend(_edge(tensor, scope, names) for tensor in op.inputs)
            node.input.extend(dict.fromkeys(waits if op.inputs else [*waits, *before]))
            if scope and "_class" in node.attr:
                del node.attr["_class"]
            self._add(op, node, scope)

    def _add(self, op: Operation, node: NodeDef, scope: str) -> None:
        if len(self._nodes) >= _MOST_NODES:
            raise ResourceExhaustedError(
                f"the graph has more than {_MOST_NODES:,} operations when its functions are written out"
            )
        if not scope and op.type in PLACEHOLDERS and isinstance(op.outputs[0].static_shape, HandleShape):
            self.handles[f"{op.name}:0"] = op.outputs[0].static_shape
            self._first.append(node)
        else:
            self._nodes.append(node)

    def _called_function(self, op: Operation) -> FunctionRef | None:
        """The function that an operation calls, if the operation does nothing but call it; otherwise None."""
        if op.type in op.graph.functions:
            return FunctionRef(op.type, dict(op.attrs))
        reference = op.attr("f") if op.type in CALLS else None
        return reference if isinstance(reference, FunctionRef) else None

    def _write_call(
        self,
        op: Operation,
        reference: FunctionRef,
        scope: str,
        names: dict[str, str],
        before: Sequence[str],
        depth: int,
    ) -> list[str]:
        """Adds the operations of a function; gives the edges that what waits for the call waits for."""
        if depth >= _DEEPEST:
            raise InvalidArgumentError(f'"{scope}{op.name}": functions call each other more than {_DEEPEST} deep')
        body = self._body(op, reference)
        inside = f"{scope}{op.name}/"
        pairs = zip(body.inputs, op.inputs, strict=True)
        inner = {argument.name: _edge(tensor, scope, names) for argument, tensor in pairs}
        self._write(body.graph.operations, inside, inner, before, depth + 1)
        for tensor, result in zip(op.outputs, body.outputs, strict=True):
            names[tensor.name] = _edge(result, inside, inner)
        waited = [names[tensor.name].partition(":")[0] for tensor in op.outputs]
        waited += [f"{inside}{control.name}" for control in body.controls if self._called_function(control) is None]
        return [f"^{name}" for name in dict.fromkeys(waited)]

    def _body(self, op: Operation, reference: FunctionRef) -> FunctionBody:
        library = op.graph.functions
        shapes = [tensor.static_shape if not isinstance(tensor.static_shape, HandleShape) else UNKNOWN_SHAPE
                  for tensor in op.inputs]  # fmt: skip
        return function_body(find_function(reference.name, library), library, reference.attrs, shapes)


def _edge(tensor: Tensor, scope: str, names: Mapping[str, str]) -> str:
    """How a node names one of its inputs."""
    return names.get(tensor.name) or f"{scope}{tensor.op.name}:{tensor.index}"


def _numbered_name(name: str) -> str:
    return name if ":" in name else f"{name}:0"
