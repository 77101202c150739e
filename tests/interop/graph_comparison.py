"""Graphs beside TensorFlow's, node by node."""

from __future__ import annotations

from typing import Any

import numpy as np
import tensorflow as tf

from tensorkeep.graph.graph import Graph
from tensorkeep.graph.messages.graph_def import export_graph
from tensorkeep.proto.messages import TensorProto
from tensorkeep.proto.tensors import array_of_tensor


def our_nodes(graph: Graph) -> dict[str, Any]:
    """The nodes of our graph, in order, as TensorFlow's messages."""
    proto = tf.compat.v1.GraphDef.FromString(export_graph(graph).SerializeToString())
    return {node.name: node for node in proto.node}


def their_nodes(graph: Any) -> dict[str, Any]:
    return {node.name: node for node in graph.as_graph_def().node}


def described(node: Any) -> str:
    """A node as text: op, name, inputs, attributes; constants by value."""
    attrs = {}
    for name, value in sorted(node.attr.items()):
        if name == "value" and node.op == "Const":
            array = array_of_tensor(TensorProto.FromString(value.tensor.SerializeToString()))
            attrs[name] = f"{array.dtype} {array.shape} {np.array2string(array, threshold=2000)}"
        elif name != "_output_shapes":
            attrs[name] = " ".join(str(value).split())
    inputs = ", ".join(node.input)
    return f"{node.name} = {node.op}({inputs}) {attrs}" + (f" on {node.device}" if node.device else "")


def assert_same_nodes(ours: dict[str, Any], theirs: dict[str, Any], what: str = "") -> None:
    """Both graphs have the same nodes, in whatever order."""
    mine, their = {k: described(v) for k, v in ours.items()}, {k: described(v) for k, v in theirs.items()}
    missing = [text for name, text in their.items() if name not in mine]
    surplus = [text for name, text in mine.items() if name not in their]
    other = [f"  {mine[name]}\n  {their[name]}" for name in mine if name in their and mine[name] != their[name]]
    lines = ["missing:", *missing, "surplus:", *surplus, "different (ours, theirs):", *other]
    assert mine == their, "\n".join([what, *lines])
