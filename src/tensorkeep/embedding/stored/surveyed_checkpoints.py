"""Open checkpoints, together with the embeddings that are found in them by a look at all their names.

Whoever restores many tables from one checkpoint hands this on, so that its names are gone through once for all tables.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property

from tensorkeep.checkpoint.reader import CheckpointReader
from tensorkeep.embedding.stored.column import StoredColumn
from tensorkeep.embedding.stored.embeddings import StoredEmbedding, stored_deltas, stored_embeddings
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
