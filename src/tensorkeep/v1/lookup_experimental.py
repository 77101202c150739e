"""`tf.lookup.experimental`: tables that change while the graph runs."""

from __future__ import annotations

from tensorkeep.tf1.functions.data.mutable_tables import DenseHashTable, MutableHashTable

__all__ = ["DenseHashTable", "MutableHashTable"]
