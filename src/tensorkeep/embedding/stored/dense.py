"""Embeddings whose keys number the rows of a dense tensor."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import numpy as np

from tensorkeep.arrays import Array
from tensorkeep.checkpoint.reader import CheckpointReader
from tensorkeep.embedding.stored.embeddings import StoredEmbedding, find_embedding, stored_embeddings
from tensorkeep.embedding.stored.ordered_columns import in_order
from tensorkeep.embedding.stored.rows import Fields
from tensorkeep.errors import InvalidArgumentError
from tensorkeep.io.files.everywhere import FILES
from tensorkeep.io.files.filesystem import FileSystem

_LISTED: Final = 5


def read_dense(
    reader: CheckpointReader,
    stem: str,
    rows: int | None = None,
    *,
    stored: Mapping[str, StoredEmbedding] | None = None,
    fs: FileSystem = FILES,
) -> Array:
    """An embedding whose keys are 0 to n - 1 as the dense array [n, dim] that they number the rows of.

    `rows` is the n that is wanted; by itself it is the number of keys. `stored` is what `stored_embeddings` found, if
    that is known already.
    """
    known = stored_embeddings(reader) if stored is None else stored
    name, column = find_embedding(reader, stem, known)
    source = known[name].open(reader, column, fs=fs)
    count = source.count if rows is None else rows
    out = np.zeros((count, source.dim), source.dtype)
    seen = np.zeros(count, np.bool_)
    for batch in in_order(source, fields=Fields(values=True)):
        outside = batch.keys[(batch.keys < 0) | (batch.keys >= count)]
        if outside.size:
            raise InvalidArgumentError(
                f'"{reader.path}": "{stem}" has the key {int(outside[0])}; only keys 0 to {count - 1} number the rows '
                f"of a dense tensor of {count}"
            )
        out[batch.keys] = batch.values
        seen[batch.keys] = True
    if absent := np.flatnonzero(~seen)[:_LISTED].tolist():
        raise InvalidArgumentError(
            f'"{reader.path}": "{stem}" lacks the keys {", ".join(map(str, absent))} and maybe more; a dense tensor of '
            f"{count} rows needs all from 0 to {count - 1}"
        )
    return out
