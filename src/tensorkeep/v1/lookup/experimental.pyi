# Written by tools/write_stubs.py. Where the names are is said in tables.

from tensorkeep.tf1.functions.data.mutable_tables import DenseHashTable, MutableHashTable

__all__ = [
    "DenseHashTable", "MutableHashTable",
]
