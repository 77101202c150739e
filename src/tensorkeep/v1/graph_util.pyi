# Written by tools/write_stubs.py. Where the names are is said in tables.

from tensorkeep.graph.rewriting.pruning import extract_sub_graph, must_run_on_cpu
from tensorkeep.v1.framework import import_graph_def
from tensorkeep.v1.stored.graph_defs import (
    convert_variables_to_constants, remove_training_nodes, tensor_shape_from_node_def_name,
)

__all__ = [
    "convert_variables_to_constants", "extract_sub_graph", "import_graph_def", "must_run_on_cpu",
    "remove_training_nodes", "tensor_shape_from_node_def_name",
]
