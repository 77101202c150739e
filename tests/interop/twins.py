"""Nodes as TensorFlow has them: graphs of one node each, copied into one graph of TensorFlow's and run there at once.

To make a session takes TensorFlow longer than to run most nodes, so the samples of an op share one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import tensorflow as tf
from tensorflow.core.protobuf.rewriter_config_pb2 import RewriterConfig

from tensorkeep.graph.messages.graph_def import export_graph
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
        self._prefixes = [""] if len(nodes) == 1 else [f"sample_{number}/" for number in range(len(nodes))]
        self.graph = tf.Graph()
        with self.graph.as_default():
            tf.import_graph_def(_joined(nodes, self._prefixes), name="")

    def tensor(self, tensor: Any) -> Any:
        """TensorFlow's tensor for one of ours."""
        number = next(i for i, node in enumerate(self.nodes) if node.graph is tensor.graph)
        return self.graph.get_tensor_by_name(f"{self._prefixes[number]}{tensor.name}")

    def run(self, fetches: Any) -> Any:
        """What TensorFlow computes for its tensors, in the structure in which they are given."""
        feeds = {self.tensor(key): marked(key.dtype, value) for node in self.nodes for key, value in node.feeds.items()}
        with v1.Session(graph=self.graph, config=PLAIN) as session:
            return tf.nest.map_structure(plain, session.run(fetches, feeds))


def _joined(nodes: Sequence[OneNode], prefixes: Sequence[str]) -> Any:
    """One message with the nodes of all graphs, each under its prefix."""
    joined = v1.GraphDef()
    for node, prefix in zip(nodes, prefixes, strict=True):
        proto = v1.GraphDef.FromString(export_graph(node.graph).SerializeToString())
        for each in proto.node:
            each.name = f"{prefix}{each.name}"
            each.input[:] = [_prefixed(name, prefix) for name in each.input]
        joined.MergeFrom(proto)
        if deprecation := node.node.spec.schema.deprecation:  # TensorFlow takes it only in a graph that is as old
            joined.versions.producer = deprecation[0] - 1
    return joined


def _prefixed(name: str, prefix: str) -> str:
    return f"^{prefix}{name[1:]}" if name.startswith("^") else f"{prefix}{name}"


def marked(dtype: Any, value: Any) -> Any:
    """An array as TensorFlow's Python takes it: whole numbers of a quantised type with its name on them."""
    return value.astype([(dtype.name, value.dtype)]) if dtype.quantized else value


def plain(result: Any) -> Any:
    """A result without the name of a quantised type."""
    names = getattr(getattr(result, "dtype", None), "names", None)
    return result[names[0]] if names else result
