"""Graphs as messages: `tf.graph_util`, which makes graphs from graphs, and `tf.io.write_graph`.

Also what the scripts of `tensorflow.python.tools` do to graphs before they are used for inference.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from tensorkeep.dtypes import FLOAT32, DType
from tensorkeep.errors import NotFoundError
from tensorkeep.graph.arguments import SessionLike
from tensorkeep.graph.graph import Graph
from tensorkeep.graph.messages import files
from tensorkeep.graph.rewriting import pruning
from tensorkeep.graph.rewriting.freezing import Selection
from tensorkeep.graph.tensor_shape import TensorShape
from tensorkeep.io.files.filesystem import PathLike
from tensorkeep.proto.messages import GraphDef, NodeDef
from tensorkeep.saving.freezing import FreezeOptions, Runs, freeze

Types = int | Sequence[int]


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
    return files.write_graph(graph_or_graph_def, logdir, name, as_text)


def strip_unused(
    input_graph_def: GraphDef,
    input_node_names: Sequence[str],
    output_node_names: Sequence[str],
    placeholder_type_enum: Types = FLOAT32.as_datatype_enum,
) -> GraphDef:
    """The part of a graph between some nodes, which become placeholders, and others that are wanted of it."""
    names = [node.name for node in input_graph_def.node]
    if lacking := [name for name in input_node_names if name not in names]:
        raise NotFoundError(f"The following input nodes were not found: {lacking}")
    told = placeholder_type_enum
    types = [told] * len(input_node_names) if isinstance(told, int) else list(told)
    wanted = dict(zip(input_node_names, types, strict=True))
    changed = GraphDef(versions=input_graph_def.versions, library=input_graph_def.library)
    changed.node.extend(
        _placeholder(node, wanted[node.name]) if node.name in wanted else node for node in input_graph_def.node
    )
    return pruning.extract_sub_graph(changed, list(output_node_names))


def _placeholder(node: NodeDef, type_number: int) -> NodeDef:
    """A placeholder in the place of a node, of its shape where it says one."""
    made = NodeDef(op="Placeholder", name=node.name)
    made.attr["dtype"].type = DType.of(type_number).as_datatype_enum
    if "shape" in node.attr:
        made.attr["shape"].CopyFrom(node.attr["shape"])
    return made


def optimize_for_inference(
    input_graph_def: GraphDef,
    input_node_names: Sequence[str],
    output_node_names: Sequence[str],
    placeholder_type_enum: Types = FLOAT32.as_datatype_enum,
    toco_compatible: bool = False,
) -> GraphDef:
    """The part of a graph that inference needs, without what is there for training.

    Batch normalizations stay operations of their own: what they compute is the same.
    """
    kept = strip_unused(input_graph_def, input_node_names, output_node_names, placeholder_type_enum)
    return remove_training_nodes(kept, list(output_node_names))
