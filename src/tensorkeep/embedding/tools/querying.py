"""Looking up single keys in a checkpoint: only the keys of their buckets, and the rows that are there, are read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tensorkeep.arrays import Array
from tensorkeep.checkpoint.finding.opening import open_checkpoint
from tensorkeep.embedding.restore.finding_deltas import check_goes_with
from tensorkeep.embedding.restore.incremental import StoredDelta
from tensorkeep.embedding.stored.buckets import find_in_order, order_of, widened_keys
from tensorkeep.embedding.stored.embeddings import StoredColumn, find_embedding, stored_deltas, stored_embeddings
from tensorkeep.embedding.stored.rows import Batch
from tensorkeep.io.files.everywhere import FILES
from tensorkeep.io.files.filesystem import FileSystem, PathLike

Keys = npt.NDArray[np.int64]
Integers = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class FoundRows:
    """What is stored of some keys, in the order in which they were asked for."""

    keys: Keys
    is_stored: npt.NDArray[np.bool_]
    """Which keys have rows."""
    is_filtered: npt.NDArray[np.bool_]
    """Which keys are counted and have none."""
    values: Array
    """The rows; zeros for keys that have none."""
    freqs: Keys | None
    """How often each occurred, 0 if it is not there; None if that is not stored."""
    versions: Keys | None
    """The step of each key's last update, -1 if it is not there; None if that is not stored."""


def look_up(
    source: PathLike,
    name: str,
    keys: npt.ArrayLike | Sequence[int],
    column: str = "",
    *,
    delta: PathLike | None = None,
    fs: FileSystem = FILES,
) -> FoundRows:
    """The rows of some keys of a stored embedding: of its weights, or of the slot that is named as the column.

    With a `delta`, an incremental checkpoint, they are as of that: what it holds comes first. Parts of tensors are
    read, whose checksums cannot be compared; `check_checkpoint` compares them all.
    """
    wanted = widened_keys(keys)
    distinct, back = np.unique(wanted, return_inverse=True)
    order = order_of(distinct)
    with open_checkpoint(source, fs=fs) as reader:
        stored = stored_embeddings(reader, fs=fs)
        found, own = find_embedding(reader, name, stored)
        opened = stored[found].open(reader, column or own, fs=fs)
        answers = _Answers(distinct[order], opened)
        answers.take(opened.look_up(distinct[order]), opened.look_up_filtered(distinct[order]))
        if delta is not None:
            with open_checkpoint(delta, fs=fs) as changes:
                check_goes_with(reader, changes, fs)
                deltas = stored_deltas(changes)
                if found in deltas:
                    answers.put_over(StoredDelta(changes, deltas[found], column or own))
    place = np.empty(order.size, np.int64)
    place[order] = np.arange(order.size)
    return answers.rows(wanted, place[back.reshape(-1)])


class _Answers:
    """What is known of each key that is asked for, in order."""

    def __init__(self, keys: Keys, column: StoredColumn) -> None:
        self._keys = keys
        self._values = np.zeros((keys.size, column.dim), column.dtype)
        self._is_stored = np.zeros(keys.size, np.bool_)
        self._is_filtered = np.zeros(keys.size, np.bool_)
        self._freqs = np.zeros(keys.size, np.int64)
        self._versions = np.full(keys.size, -1, np.int64)
        self._has_freqs = column.has_freqs or column.filtered_count > 0
        self._has_versions = column.has_versions

    def take(self, rows: tuple[Integers, Batch], counted: tuple[Integers, Batch]) -> None:
        for flags, (positions, batch) in ((self._is_filtered, counted), (self._is_stored, rows)):
            flags[positions] = True
            if batch.values is not None:
                self._values[positions] = batch.values
            if batch.freqs is not None:
                self._freqs[positions] = batch.freqs
            if batch.versions is not None:
                self._versions[positions] = batch.versions
        self._is_filtered &= ~self._is_stored

    def put_over(self, delta: StoredDelta) -> None:
        """Puts what an incremental checkpoint says in place of what was known."""
        rows, counted = delta.rows.look_up(self._keys), delta.rows.look_up_filtered(self._keys)
        gone = np.flatnonzero(find_in_order(delta.removed, self._keys)[1])
        touched = np.concatenate([rows[0], counted[0], gone])
        self._is_stored[touched] = self._is_filtered[touched] = False
        self._values[touched], self._freqs[touched], self._versions[touched] = 0, 0, -1
        self.take(rows, counted)

    def rows(self, keys: Keys, place: Integers) -> FoundRows:
        return FoundRows(
            keys,
            self._is_stored[place],
            self._is_filtered[place],
            self._values[place],
            self._freqs[place] if self._has_freqs else None,
            self._versions[place] if self._has_versions else None,
        )
