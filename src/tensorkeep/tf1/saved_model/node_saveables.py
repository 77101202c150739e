"""Variables that are known by their nodes only, as what a saver saves."""

from __future__ import annotations

from collections.abc import Sequence

from tensorkeep.graph.arguments import emit, emit_operation
from tensorkeep.graph.graph import Graph, Operation, Tensor
from tensorkeep.graph.rewriting.freezing import VariableNode
from tensorkeep.graph.saveable import SaveableObject, SaveSpec


class NodeSaveable(SaveableObject):
    """A variable that is known by its node only, under its name or another key."""

    def __init__(self, graph: Graph, node: VariableNode, key: str | None = None) -> None:
        self._node = node
        self._handle = graph.operation(node.name).outputs[0]
        chosen = key or node.name
        super().__init__(self._handle.op, [SaveSpec(self._value, "", chosen, node.dtype, "")], chosen)

    def _value(self) -> Tensor:
        if not self._node.is_resource:
            return self._handle
        return emit("ReadVariableOp", self._handle, dtype=self._node.dtype)

    def restore(
        self, restored_tensors: Sequence[Tensor], restored_shapes: Sequence[Tensor] | None
    ) -> Operation | Tensor:
        (value,) = restored_tensors
        if self._node.is_resource:
            return emit_operation("AssignVariableOp", self._handle, value)
        return emit("Assign", self._handle, value)
