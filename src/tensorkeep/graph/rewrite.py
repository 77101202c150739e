"""Graphs made from graphs: pure functions of GraphDef messages."""

from __future__ import annotations

from collections.abc import Iterable

from tensorkeep.graph.attrs import encode_attr
from tensorkeep.graph.opspec import find_op
from tensorkeep.proto.messages import GraphDef, NodeDef


def strip_default_attrs(graph_def: GraphDef) -> GraphDef:
    """The graph without attributes that say what is so by default: older versions, which may not know them, read it.

    Attributes whose name begins with an underscore belong to no op, and stay. Bodies of functions are stripped too.
    """
    stripped = GraphDef()
    stripped.CopyFrom(graph_def)
    _strip(stripped.node)
    for function in stripped.library.function:
        _strip(function.node_def)
    return stripped


def _strip(nodes: Iterable[NodeDef]) -> None:
    for node in nodes:
        spec = find_op(node.op)
        if spec is None:
            continue
        for attr in spec.schema.attrs:
            if attr.has_default and attr.name in node.attr and node.attr[attr.name] == encode_attr(attr.default):
                del node.attr[attr.name]
