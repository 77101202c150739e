# Written by tools/write_stubs.py. Where the names are is said in tables.

from tensorkeep.runtime.composite_values import RaggedTensorValue
from tensorkeep.tf1.functions.ragged.arrays import boolean_mask, stack
from tensorkeep.tf1.functions.ragged.crosses import cross, cross_hashed, stack_dynamic_partitions
from tensorkeep.tf1.functions.ragged.factories import constant, constant_value, map_flat_values, placeholder, range
from tensorkeep.tf1.functions.ragged.row_partition import row_splits_to_segment_ids, segment_ids_to_row_splits

__all__ = [
    "RaggedTensorValue", "boolean_mask", "constant", "constant_value", "cross", "cross_hashed", "map_flat_values",
    "placeholder", "range", "row_splits_to_segment_ids", "segment_ids_to_row_splits", "stack",
    "stack_dynamic_partitions",
]
