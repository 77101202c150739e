# Written by tools/write_stubs.py. Where the names are is said in tables.

from tensorkeep.tf1.contrib.lookup import (
    index_table_from_tensor, index_to_string, index_to_string_table_from_tensor, string_to_index,
    string_to_index_table_from_file, string_to_index_table_from_tensor,
)
from tensorkeep.tf1.functions.data.lookup_tables import (
    HasherSpec, IdTableWithHashBuckets, KeyValueTensorInitializer, StaticHashTable as HashTable, StrongHashSpec,
    TextFileIdTableInitializer, TextFileIndex, TextFileInitializer, TextFileStringTableInitializer,
    index_table_from_file, index_to_string_table_from_file,
)
from tensorkeep.tf1.functions.data.mutable_tables import DenseHashTable as MutableDenseHashTable, MutableHashTable

__all__ = [
    "HashTable", "HasherSpec", "IdTableWithHashBuckets", "KeyValueTensorInitializer", "MutableDenseHashTable",
    "MutableHashTable", "StrongHashSpec", "TextFileIdTableInitializer", "TextFileIndex", "TextFileInitializer",
    "TextFileStringTableInitializer", "index_table_from_file", "index_table_from_tensor", "index_to_string",
    "index_to_string_table_from_file", "index_to_string_table_from_tensor", "string_to_index",
    "string_to_index_table_from_file", "string_to_index_table_from_tensor",
]
