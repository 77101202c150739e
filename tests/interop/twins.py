"""Nodes as TensorFlow has them: graphs of one node each, copied into one graph of TensorFlow's and run there at once.

To make a session takes TensorFlow longer than to run most nodes, so the samples of an op share one.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import tensorflow as tf
from tensorflow.core.protobuf.rewriter_config_pb2 import RewriterConfig

from tensorkeep.graph.messages.graph_def import export_graph
from tensorkeep.graph.scopes import prepend_name_scope
from tests.ops.walking import OneNode

v1 = tf.compat.v1

# Rewriting a graph takes longer than to run a node once.
PLAIN = v1.ConfigProto(
    graph_options=v1.GraphOptions(
        rewrite_options=RewriterConfig(disable_meta_optimizer=True),
        optimizer_options=v1.OptimizerOptions(opt_level=v1.OptimizerOptions.L0),
    )
)


class Twins:
    """Graphs of nodes, and TensorFlow's copies of them, side by side in one graph of its own."""

    def __init__(self, nodes: Sequence[OneNode]) -> None:
        self.nodes = nodes
        self._scopes = {node.graph: f"sample_{i}" if len(nodes) > 1 else None for i, node in enumerate(nodes)}
        self.graph = tf.Graph()
        with self.graph.as_default():
            tf.import_graph_def(_joined(nodes, self._scopes.values()), name="")

    def tensor(self, tensor: Any) -> Any:
        """TensorFlow's tensor for one of ours."""
        return self.graph.get_tensor_by_name(prepend_name_scope(tensor.name, self._scopes[tensor.graph]))

    def run(self, fetches: Any) -> Any:
        """What TensorFlow computes for its tensors, in the structure in which they are given."""
        feeds = {self.tensor(key): marked(key.dtype, value) for node in self.nodes for key, value in node.feeds.items()}
        with v1.Session(graph=self.graph, config=PLAIN) as session:
            return tf.nest.map_structure(plain, session.run(fetches, feeds))


def _joined(nodes: Sequence[OneNode], scopes: Iterable[str | None]) -> Any:
    """One message with the nodes of all graphs, each in its scope."""
    joined = v1.GraphDef()
    for node, scope in zip(nodes, scopes, strict=True):
        proto = v1.GraphDef.FromString(export_graph(node.graph).SerializeToString())
        for each in proto.node:
            each.name = prepend_name_scope(each.name, scope)
            each.input[:] = [prepend_name_scope(name, scope) for name in each.input]
        joined.MergeFrom(proto)
        if deprecation := node.node.spec.schema.deprecation:  # TensorFlow takes it only in a graph that is as old
            joined.versions.producer = deprecation[0] - 1
    return joined


def marked(dtype: Any, value: Any) -> Any:
    """An array as TensorFlow's Python takes it: whole numbers of a quantised type with its name on them."""
    return value.astype([(dtype.name, value.dtype)]) if dtype.quantized else value


def plain(result: Any) -> Any:
    """A result without the name of a quantised type."""
    names = getattr(getattr(result, "dtype", None), "names", None)
    return result[names[0]] if names else result
