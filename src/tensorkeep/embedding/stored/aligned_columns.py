"""Weights and slots of a checkpoint, read along with each other."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from tensorkeep.arrays import Array
from tensorkeep.embedding.stored.column import StoredColumn
from tensorkeep.embedding.stored.rows import Batch, Fields


class ReadColumn(NamedTuple):
    """A stored column that is read for a table's column of a name, and how its rows are made to fit."""

    name: str
    source: StoredColumn
    partition: tuple[int, int]
    adapted: Callable[[Batch], Array]


class SideBySide:
    """The rows of weights, and with them those of the slots that have the same keys in the same places."""

    def __init__(self, weights: ReadColumn, slots: Sequence[ReadColumn], keeps: Fields, *, is_checked: bool) -> None:
        """`keeps` are the fields that are wanted of the weights. `is_checked`: checksums are compared on the way."""
        self._weights = weights
        self._slots = slots
        self._keeps = keeps
        self._is_checked = is_checked
        self.names = [slot.name for slot in slots]
        """Slots of which all rows have been read. One in which something is otherwise is left out from there on."""

    def read(self) -> Iterator[tuple[Batch, dict[str, Array]]]:
        """The keys, with counts and versions if they are wanted, and the rows by column."""
        mine = self._scan(self._weights, self._keeps)
        others = [(slot, self._scan(slot, Fields(values=True))) for slot in self._slots]
        for batch in mine:
            blocks = {"": self._weights.adapted(batch)}
            for slot, scan in others:
                if slot.name in self.names:
                    theirs = next(scan, None)
                    if theirs is None or not np.array_equal(theirs.keys, batch.keys):
                        self.names.remove(slot.name)
                    else:
                        blocks[slot.name] = slot.adapted(theirs)
            yield batch, blocks
        self.names = [slot.name for slot, scan in others if slot.name in self.names and next(scan, None) is None]

    def _scan(self, column: ReadColumn, fields: Fields) -> Iterator[Batch]:
        if not self._is_checked:
            return column.source.scan(column.partition, fields)
        column.source.verify(later=fields)
        return column.source.checked_scan(fields)
