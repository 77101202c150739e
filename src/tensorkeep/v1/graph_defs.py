"""Graphs as messages: `tf.graph_util`, which makes graphs from graphs, and `tf.io.write_graph`."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from tensorkeep.graph.arguments import SessionLike
from tensorkeep.graph.graph import Graph
from tensorkeep.graph.messages import files
from tensorkeep.graph.rewriting import pruning
from tensorkeep.graph.rewriting.freezing import Selection
from tensorkeep.graph.tensor_shape import TensorShape
from tensorkeep.io.files.filesystem import PathLike
from tensorkeep.proto.messages import GraphDef
from tensorkeep.saving.freezing import FreezeOptions, Runs, freeze


def convert_variables_to_constants(
    sess: SessionLike | Runs,
    input_graph_def: GraphDef,
    output_node_names: Sequence[str],
    variable_names_whitelist: Collection[str] | None = None,
    variable_names_blacklist: Collection[str] | None = None,
) -> GraphDef:
    """The graph that some nodes need, with the values that variables have in a session in their place."""
    selection = Selection(variable_names_whitelist, variable_names_blacklist)
    return freeze(input_graph_def, getattr(sess, "core", sess), output_node_names, FreezeOptions(selection))


def remove_training_nodes(input_graph: GraphDef, protected_nodes: Sequence[str] | None = None) -> GraphDef:
    """The graph without nodes that only training needs, as TensorFlow does it.

    What took the value of a CheckNumerics loses that input, and library and versions are lost:
    `tensorkeep.graph.rewriting.pruning.remove_training_nodes` keeps them.
    """
    return pruning.remove_training_nodes_as_tensorflow(input_graph, protected_nodes or ())


def tensor_shape_from_node_def_name(graph: Graph, input_name: str) -> TensorShape:
    """The shape of the tensor that an input of a node names."""
    return pruning.tensor_of_edge(graph, input_name).get_shape()


def write_graph(graph_or_graph_def: Graph | GraphDef, logdir: PathLike, name: str, as_text: bool = True) -> str:
    """Writes a graph to a file of a folder; gives the file's path."""
    return files.write_graph(graph_or_graph_def, str(logdir), name, as_text)
