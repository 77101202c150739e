# Written by tools/write_stubs.py. Where the names are is said in tables.

from tensorkeep.tf1.contrib.layers.regularizers import (
    apply_regularization, l1_l2_regularizer, l1_regularizer, l2_regularizer, sum_regularizer,
)

__all__ = [
    "apply_regularization", "l1_l2_regularizer", "l1_regularizer", "l2_regularizer", "sum_regularizer",
]
