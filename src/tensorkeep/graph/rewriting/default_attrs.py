"""Attributes that say what is so by default: taken out of a graph, for older readers, or written into it."""

from __future__ import annotations

from collections.abc import Iterable

from tensorkeep.graph.messages.attrs import encode_attr
from tensorkeep.graph.registry.opspec import find_op
from tensorkeep.proto.messages import AttrValue, GraphDef, NodeDef


def strip_defaults_in_place(graph_def: GraphDef) -> None:
    """Takes attributes that say what is so by default out of a message, for older versions, which may not know them.

    Attributes whose name begins with an underscore belong to no op, and stay. Bodies of functions are stripped too.
    """
    defaults: dict[str, list[tuple[str, AttrValue]]] = {}
    _strip(graph_def.node, defaults)
    for function in graph_def.library.function:
        _strip(function.node_def, defaults)


def add_defaults_in_place(graph_def: GraphDef) -> None:
    """Says in a message what is so by default, for the nodes of the graph; bodies of functions stay as they are.

    The same nodes as in TensorFlow's `import_graph_def`, which does so to the message that it is given.
    """
    defaults: dict[str, list[tuple[str, AttrValue]]] = {}
    for node in graph_def.node:
        if node.op not in defaults:
            defaults[node.op] = _defaults(node.op)
        for name, default in defaults[node.op]:
            if name not in node.attr:
                node.attr[name].CopyFrom(default)


def _strip(nodes: Iterable[NodeDef], defaults: dict[str, list[tuple[str, AttrValue]]]) -> None:
    for node in nodes:
        if node.op not in defaults:
            defaults[node.op] = _defaults(node.op)
        attrs = node.attr
        for name, default in defaults[node.op]:
            if name in attrs and attrs[name] == default:
                del attrs[name]


def _defaults(op: str) -> list[tuple[str, AttrValue]]:
    spec = find_op(op)
    attrs = () if spec is None else spec.schema.attrs
    return [(attr.name, encode_attr(attr.default)) for attr in attrs if attr.has_default]
