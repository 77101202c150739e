# Written by tools/write_stubs.py. Where the names are is said in tables.

from tensorkeep.tf1.keras.regularizers import L1L2, Regularizer, deserialize, get, l1, l1_l2, l2, serialize

__all__ = [
    "L1L2", "Regularizer", "deserialize", "get", "l1", "l1_l2", "l2", "serialize",
]
