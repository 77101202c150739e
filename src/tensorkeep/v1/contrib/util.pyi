# Written by tools/write_stubs.py. Where the names are is said in tables.

from tensorkeep.v1.framework import get_static_value as constant_value, make_ndarray, make_tensor_proto
from tensorkeep.v1.meta_graph import ops_used_by_graph_def, stripped_op_list_for_graph

__all__ = [
    "constant_value", "make_ndarray", "make_tensor_proto", "ops_used_by_graph_def", "stripped_op_list_for_graph",
]
