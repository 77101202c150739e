# Written by tools/write_stubs.py. Where the names are is said in tables.

from tensorkeep.tf1.functions.data.lookup_tables import (
    KeyValueTensorInitializer, StaticHashTable, StaticVocabularyTable, TextFileIndex, TextFileInitializer,
)
from tensorkeep.v1.lookup import experimental

__all__ = [
    "KeyValueTensorInitializer", "StaticHashTable", "StaticVocabularyTable", "TextFileIndex", "TextFileInitializer",
    "experimental",
]
