"""`tf.lookup`: tables."""

from __future__ import annotations

from tensorkeep.tf1.functions.data.lookup_tables import (
    KeyValueTensorInitializer,
    StaticHashTable,
    StaticVocabularyTable,
    TextFileIndex,
    TextFileInitializer,
)
from tensorkeep.v1 import lookup_experimental as experimental

__all__ = [
    "KeyValueTensorInitializer",
    "StaticHashTable",
    "StaticVocabularyTable",
    "TextFileIndex",
    "TextFileInitializer",
    "experimental",
]
