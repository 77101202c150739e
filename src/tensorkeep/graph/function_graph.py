"""Graphs of functions while they are built: what they use of the graph around them becomes an argument."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

from tensorkeep.graph.building import building, unique_name
from tensorkeep.graph.collections import GraphKeys
from tensorkeep.graph.functions import function_def
from tensorkeep.graph.graph import Graph, HandleShape, Tensor
from tensorkeep.graph.registry.opspec import get_op
from tensorkeep.proto.messages import FunctionDef

_SHARED_COLLECTIONS: Final = (
    GraphKeys.EMBEDDING_VARIABLES,
    GraphKeys.GLOBAL_VARIABLES,
    GraphKeys.LOCAL_VARIABLES,
    GraphKeys.TRAINABLE_VARIABLES,
)
"""Collections that a body adds to as the graph around it does; summaries, losses and others of a body stay inside."""


class FunctionGraph(Graph):
    """The body of a function, being built inside another graph."""

    def __init__(self, outer: Graph) -> None:
        super().__init__()
        self.outer = outer
        self.seed = outer.seed
        self.collections = {name: list(items) for name, items in outer.collections.items()}
        self.collections |= {name: outer.collections.setdefault(name, []) for name in _SHARED_COLLECTIONS}
        self.functions = outer.functions
        self.captured: dict[Tensor, Tensor] = {}  # tensors from outside, and the arguments that stand for them

    def captures_from(self, other: Graph) -> bool:
        return other is self.outer or self.outer.captures_from(other)

    def capture(self, tensor: Tensor) -> Tensor:
        """The argument that stands for a tensor from outside; the same one every time."""
        if not self.captures_from(tensor.graph):
            return super().capture(tensor)
        if tensor not in self.captured:
            self.captured[tensor] = self._argument(tensor)
        return self.captured[tensor]

    def _argument(self, tensor: Tensor) -> Tensor:
        name = unique_name(tensor.op.name, self)
        attrs = {"dtype": tensor.dtype, "shape": tensor.static_shape}
        made = self.add_operation(get_op("Placeholder"), name, [], attrs).outputs[0]
        self.infer_shapes(until=made.op.index + 1)
        if isinstance(tensor.static_shape, HandleShape):
            made._shape = tensor.static_shape
        return made

    def function(self, name: str, outputs: Sequence[Tensor], arguments: Sequence[Tensor]) -> FunctionDef:
        """The function, with arguments for these tensors from outside, be they used or not."""
        return function_def(name, self, [self.capture(tensor) for tensor in arguments], outputs)


def function_graph(outer: Graph) -> FunctionGraph:
    """An empty body of a function that is built inside a graph, with the methods that this graph has."""
    made: FunctionGraph = (outer.body_class or FunctionGraph)(outer)
    return made


def trace_function(function: Callable[[], Any], outer: Graph) -> tuple[FunctionGraph, Any]:
    """The graph of what a Python function builds, and what it gave."""
    graph = function_graph(outer)
    with building(graph):
        return graph, function()
