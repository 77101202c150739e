# Written by tools/write_stubs.py. Where the names are is said in tables.

from tensorkeep.tf1.contrib.layers.collecting import (
    append_tensor_alias, channel_dimension, collect_named_outputs, convert_collection_to_dict, gather_tensors_aliases,
    get_tensor_aliases, get_variable_collections, last_dimension, n_positive_integers, two_element_tuple,
)
from tensorkeep.tf1.functions.control.control_flow import smart_cond, smart_constant_value as constant_value

__all__ = [
    "append_tensor_alias", "channel_dimension", "collect_named_outputs", "constant_value",
    "convert_collection_to_dict", "gather_tensors_aliases", "get_tensor_aliases", "get_variable_collections",
    "last_dimension", "n_positive_integers", "smart_cond", "two_element_tuple",
]
