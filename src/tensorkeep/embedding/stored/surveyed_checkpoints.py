"""Open checkpoints, together with the embeddings that are found in them by a look at all their names.

What such a checkpoint has under the name of a column is an embedding, a dense tensor, or nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Literal

from tensorkeep.checkpoint.reader import CheckpointReader
from tensorkeep.embedding.stored.column import StoredColumn, dense_column
from tensorkeep.embedding.stored.embeddings import (
    StoredEmbedding,
    looked_up_embedding,
    stored_deltas,
    stored_embeddings,
)
from tensorkeep.embedding.stored.naming import split_parts
from tensorkeep.embedding.stored.ordered_columns import OrderedColumn
from tensorkeep.io.files.filesystem import FileSystem


class SurveyedCheckpoint:
    """An open checkpoint and the embeddings in it, each kind looked for when it is first asked for.

    One thread uses it at a time.
    """

    def __init__(self, reader: CheckpointReader, embeddings: Mapping[str, StoredEmbedding] | None = None) -> None:
        """`embeddings` is what `stored_embeddings` found, if that is known already."""
        self.reader = reader
        self._known = embeddings
        self._weights: tuple[str, FileSystem, StoredColumn] | None = None

    @cached_property
    def embeddings(self) -> Mapping[str, StoredEmbedding]:
        """The embeddings of a full checkpoint, by name, without `/part_<k>`."""
        return stored_embeddings(self.reader) if self._known is None else self._known

    @cached_property
    def deltas(self) -> Mapping[str, StoredEmbedding]:
        """The embeddings of an incremental checkpoint, by name, without `/part_<k>`."""
        return stored_deltas(self.reader)

    def column(self, name: str, slot: str, fs: FileSystem) -> StoredColumn:
        """The weights ("") or a slot of an embedding, ready to be read.

        The weights that were opened last stay open: the slots of a table are compared with them, one after the other.
        """
        last = self._weights
        if not slot and last is not None and last[0] == name and last[1] is fs:
            return last[2]
        column = self.embeddings[name].open(self.reader, slot, fs=fs)
        if not slot:
            self._weights = (name, fs, column)
        return column


def open_source(
    checkpoint: SurveyedCheckpoint, stem: str, column: str, primary: str | None, fs: FileSystem
) -> tuple[StoredColumn | None, OrderedColumn | None, Literal["embedding", "dense", "none"], tuple[str, ...]]:
    """What is stored under a stem, the weights it belongs to, what kind of thing it is, and what is odd about it."""
    reader = checkpoint.reader
    source = _embedding(checkpoint, stem, fs)
    if source is not None:
        found, entry, own = source
        weights: OrderedColumn | None = None
        if column:
            owner = primary if primary is not None else (entry.name if own else None)
            other = _embedding(checkpoint, owner, fs) if owner is not None else None
            weights = other[0] if other else _dense(reader, owner)
        return found, weights, "embedding", () if own else entry.problems
    dense = _dense(reader, stem)
    if dense is not None:
        owner = primary if primary is not None else stem.rpartition("/")[0]
        return dense, _dense(reader, owner) if column else None, "dense", ()
    return None, None, "none", ()


def _embedding(
    checkpoint: SurveyedCheckpoint, stem: str, fs: FileSystem
) -> tuple[StoredColumn, StoredEmbedding, str] | None:
    looked_up = looked_up_embedding(stem, checkpoint.embeddings)
    if looked_up is None:
        return None
    name, own = looked_up
    return checkpoint.column(name, own, fs), checkpoint.embeddings[name], own


def _dense(reader: CheckpointReader, stem: str | None) -> StoredColumn | None:
    names = [] if stem is None else [stem, *(variable + rest for variable, _, rest in split_parts(stem))]
    for name in names:
        if name in reader and len(reader[name].shape) == 2:
            return dense_column(reader, name)
    return None
