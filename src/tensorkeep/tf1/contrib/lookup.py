"""`tf.contrib.lookup`: tables of a vector of texts, which is called `mapping` there, and what looks them up at once."""

from __future__ import annotations

from typing import Any, TypeVar

from tensorkeep.dtypes import STRING
from tensorkeep.graph.arguments import DTypeLike, TensorLike
from tensorkeep.graph.composites import SparseTensor
from tensorkeep.graph.graph import Tensor
from tensorkeep.tf1.functions.data import lookup_tables as tables
from tensorkeep.tf1.functions.data.lookup_tables import (
    FastHashSpec,
    HasherSpec,
    IdTableWithHashBuckets,
    StaticHashTable,
)

Keys = TypeVar("Keys", Tensor, SparseTensor)


def index_table_from_tensor(
    mapping: TensorLike,
    num_oov_buckets: int = 0,
    default_value: TensorLike = -1,
    hasher_spec: HasherSpec = FastHashSpec,
    dtype: DTypeLike = STRING,
    name: str | None = None,
) -> StaticHashTable | IdTableWithHashBuckets:
    """A table from the elements of a vector to their places."""
    return tables.index_table_from_tensor(mapping, num_oov_buckets, default_value, hasher_spec, dtype, name)


def string_to_index_table_from_tensor(
    mapping: TensorLike,
    num_oov_buckets: int = 0,
    default_value: TensorLike = -1,
    hasher_spec: HasherSpec = FastHashSpec,
    name: str | None = None,
) -> StaticHashTable | IdTableWithHashBuckets:
    """The same of texts."""
    return tables.index_table_from_tensor(mapping, num_oov_buckets, default_value, hasher_spec, STRING, name)


def string_to_index_table_from_file(
    vocabulary_file: TensorLike | None = None,
    num_oov_buckets: int = 0,
    vocab_size: int | None = None,
    default_value: TensorLike = -1,
    hasher_spec: HasherSpec = FastHashSpec,
    name: str | None = None,
) -> StaticHashTable | IdTableWithHashBuckets:
    """A table from the lines of a file to their numbers."""
    return tables.index_table_from_file(
        vocabulary_file, num_oov_buckets, vocab_size, default_value, hasher_spec, STRING, name
    )


def index_to_string_table_from_tensor(
    mapping: TensorLike, default_value: TensorLike = "UNK", name: str | None = None
) -> StaticHashTable:
    """A table from places to the elements of a vector."""
    return tables.index_to_string_table_from_tensor(mapping, default_value, name)


def string_to_index(tensor: Keys, mapping: TensorLike, default_value: TensorLike = -1, name: str | None = None) -> Keys:
    """The places of texts in a vector, by a table of its own."""
    table: Any = index_table_from_tensor(mapping, default_value=default_value, name=name)
    found: Keys = table.lookup(tensor)
    return found


def index_to_string(
    tensor: Keys, mapping: TensorLike, default_value: TensorLike = "UNK", name: str | None = None
) -> Keys:
    """The elements of a vector at places, by a table of its own."""
    table: Any = index_to_string_table_from_tensor(mapping, default_value, name)
    found: Keys = table.lookup(tensor)
    return found
