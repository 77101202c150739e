"""Parts of plans as graphs of their own, to be written, run or translated without what they were part of.

A tensor that goes in becomes a placeholder, which is called as the one it comes from, or `softmax__1` for the second
output of `softmax`. All other operations keep their names; they wait for others of the same part only.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from tensorkeep.graph.graph import PLACEHOLDERS, Graph, HandleShape, Tensor
from tensorkeep.graph.messages.attrs import shape_to_proto
from tensorkeep.graph.messages.graph_def import import_graph
from tensorkeep.graph.messages.versions import versions_of
from tensorkeep.proto.messages import GraphDef, NodeDef
from tensorkeep.runtime.plans.splitting import Part


@dataclass(frozen=True)
class PartGraph:
    """A part as a graph, with the tensors of its own that those of the plan's graph became, in their order."""

    graph: Graph
    inputs: Mapping[Tensor, Tensor]
    outputs: Mapping[Tensor, Tensor]


def graph_of_part(part: Part, source: Graph) -> PartGraph:
    """The graph of a part of a plan of the graph `source`, with all its functions."""
    own = frozenset(op.name for op in part.ops)
    names = {tensor: _placeholder_name(tensor, own) for tensor in part.inputs}
    proto = GraphDef()
    proto.versions.CopyFrom(versions_of(source))
    for tensor, name in names.items():
        proto.node.add().CopyFrom(_placeholder(tensor, name))
    for op in part.ops:
        if op.type in PLACEHOLDERS and any(tensor in names for tensor in op.outputs):
            continue
        node = proto.node.add()
        op.write_node(node)
        del node.input[:]
        node.input.extend(f"{names[tensor]}:0" if tensor in names else tensor.name for tensor in op.inputs)
        node.input.extend(f"^{control.name}" for control in op.control_inputs if control.name in own)
        if "_class" in node.attr:  # where to be, as an operation that may be in another part
            del node.attr["_class"]
    for function in source.functions.values():
        proto.library.function.add().CopyFrom(function)
    for name, gradient in source.gradient_functions.items():
        proto.library.gradient.add(function_name=name, gradient_func=gradient)
    graph = Graph()
    import_graph(proto, graph, name="")
    inputs = {tensor: graph.tensor(f"{name}:0") for tensor, name in names.items()}
    _tell_handles(graph, inputs)
    return PartGraph(graph, inputs, {tensor: graph.tensor(tensor.name) for tensor in part.outputs})


def _placeholder_name(tensor: Tensor, own: frozenset[str]) -> str:
    name = tensor.op.name
    if tensor.op.type in PLACEHOLDERS:
        return name
    name = f"{name}__{tensor.index}"
    while name in own:
        name += "_"
    return name


def _placeholder(tensor: Tensor, name: str) -> NodeDef:
    node = NodeDef(name=name, op="Placeholder")
    node.attr["dtype"].type = tensor.dtype.base_dtype.number
    node.attr["shape"].shape.CopyFrom(shape_to_proto(tensor.static_shape))
    return node


def _tell_handles(graph: Graph, inputs: Mapping[Tensor, Tensor]) -> None:
    """What is known of what handles lead to, before anything else is inferred."""
    graph.infer_shapes(until=len(inputs))
    for tensor, placeholder in inputs.items():
        if isinstance(tensor.static_shape, HandleShape):
            placeholder._shape = tensor.static_shape
    graph.infer_shapes()
