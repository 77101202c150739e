"""Variables that are known by their nodes only, as what a saver saves."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tensorkeep.graph.graph import Graph, Tensor
from tensorkeep.graph.registry.opspec import get_op
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
        read: Tensor = get_op("ReadVariableOp")(self._handle, dtype=self._node.dtype)
        return read

    def restore(self, restored_tensors: Sequence[Any], restored_shapes: Sequence[Any] | None) -> Any:
        (value,) = restored_tensors
        return get_op("AssignVariableOp" if self._node.is_resource else "Assign")(self._handle, value)


__all__ = ["NodeSaveable"]
