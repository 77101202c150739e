"""What the scripts of `tensorflow.python.tools` do to graphs before they are used for inference."""

from __future__ import annotations

from collections.abc import Sequence

from tensorkeep.dtypes import FLOAT32, DType
from tensorkeep.errors import NotFoundError
from tensorkeep.graph.rewriting.pruning import extract_sub_graph
from tensorkeep.proto.messages import GraphDef, NodeDef
from tensorkeep.v1.graph_defs import remove_training_nodes

Types = int | Sequence[int]


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
    return extract_sub_graph(changed, list(output_node_names))


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
