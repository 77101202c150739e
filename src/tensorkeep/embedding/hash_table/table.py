"""Keys that are numbered as they appear, and rows by these numbers: what DeepRec's older tables, `tf.hash_table`, are.

A table gives each key an id. Columns have a row for every id: the weights, and the slots of optimizers. Other than in
an `EmbeddingTable`, who looks up is handed ids, and asks columns for the rows of these; new rows come in segments that
a function makes, so that a random one makes each segment anew (DeepRec's hash_table.h and tensible_variable.h).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import Any, Final, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

from tensorkeep.arrays import Array
from tensorkeep.embedding.table.index import ABSENT, KeyIndex
from tensorkeep.embedding.table.locking import SharedLock
from tensorkeep.embedding.table.native_kernels import kernels_for
from tensorkeep.embedding.table.rows import RowStore, SharedRows
from tensorkeep.errors import InvalidArgumentError

Keys: TypeAlias = npt.NDArray[np.int64]
Ids: TypeAlias = npt.NDArray[np.int64]

NOT_ADMITTED: Final = -1
"""The id of a key that was not let in. Its row is what a lookup is told to take for one."""

CHILD_BITS: Final = 52
"""In a table of several others ("children") a key begins with the number of its child; these bits are its own."""

_OWN_BITS: Final = (1 << CHILD_BITS) - 1


class KeyAdmission(Protocol):
    """Decides which keys are given rows."""

    def admits(self, keys: Keys, counts: npt.NDArray[np.int64]) -> npt.NDArray[np.bool_]:
        """For each key, of which some may be equal, whether it is given a row, after it has occurred `counts` more
        times.
        """
        ...


class SegmentedRows:
    """Rows by id, of one shape and type. New ones are made a segment at a time."""

    def __init__(self, segment_shape: Sequence[int], dtype: npt.DTypeLike, make_segment: Callable[[], Array]) -> None:
        if not segment_shape or segment_shape[0] < 1:
            raise InvalidArgumentError(
                f"segments of shape {list(segment_shape)}: expected at least one row, and the shape of a row behind it"
            )
        self.segment_rows, self.row_shape = segment_shape[0], tuple(segment_shape[1:])
        self.make_segment = make_segment
        self._kernels = kernels_for(None)
        self._store = RowStore(prod(self.row_shape), dtype, self._kernels)
        self._limit = 0

    @property
    def dtype(self) -> np.dtype[Any]:
        return self._store.dtype

    @property
    def row_size(self) -> int:
        """How many numbers a row has."""
        return self._store.dim

    @property
    def limit(self) -> int:
        """All ids below it have rows."""
        return self._limit

    def grow(self, limit: int) -> None:
        """Makes rows for the ids below `limit`."""
        while self._limit < limit:
            rows = self._segment()
            self._store.grow(self._limit + self.segment_rows)
            self._store.write(np.arange(self._limit, self._limit + self.segment_rows), rows)
            self._limit += self.segment_rows

    def make_room(self, limit: int) -> None:
        """Makes rows for the ids below `limit`, as `grow` does, but without initial values: the caller is about to
        write them.
        """
        wanted = -(-limit // self.segment_rows) * self.segment_rows
        self._store.grow(wanted)
        self._limit = max(self._limit, wanted)

    def renew(self, ids: Ids) -> None:
        """Gives ids rows as new ones have."""
        for at in range(0, len(ids), self.segment_rows):
            some = ids[at : at + self.segment_rows]
            self._store.write(some, self._segment()[: len(some)])

    def _segment(self) -> Array:
        rows = np.asarray(self.make_segment())
        wanted = (self.segment_rows, *self.row_shape)
        if rows.shape != wanted or rows.dtype != self.dtype:
            raise InvalidArgumentError(
                f"the initializer made a segment of {rows.dtype} {list(rows.shape)}, expected {self.dtype} "
                f"{list(wanted)}"
            )
        return rows.reshape(self.segment_rows, self.row_size)

    def read(self, ids: Ids) -> Array:
        """The rows of ids, all of them below the limit, as [ids, numbers of a row]."""
        return self._store.read(ids)

    def write(self, ids: Ids, rows: Array) -> None:
        """Stores rows. Of several for one id the last is kept."""
        self._store.write(ids, rows.reshape(len(ids), self.row_size))

    def share(self) -> SharedRows:
        """The rows as they are now, which stay so until they are given back."""
        return self._store.share()

    def give_back(self, shared: SharedRows) -> None:
        """Ends what `share` began."""
        self._store.give_back(shared)

    def clear(self) -> None:
        """Lets go of all rows."""
        self._store.clear()
        self._limit = 0


class HashTable:
    """Keys and their ids. Any number of threads may use a table; those that look up known keys run side by side."""

    def __init__(self, children: Sequence[str] = ()) -> None:
        self.children = tuple(children)
        self.columns: list[SegmentedRows] = []
        self.lock = SharedLock()
        """Held for writing by whoever changes rows, for reading by whoever reads them."""
        self._index: KeyIndex = kernels_for(None).new_index()

    def __len__(self) -> int:
        return len(self._index)

    def add_column(self, column: SegmentedRows) -> None:
        """Has a column grow with the table. Keys that are there are given rows."""
        with self.lock.writing:
            column.grow(self._index.row_limit)
            self.columns.append(column)

    def ids(self, keys: Keys, admission: KeyAdmission | None = None, counts: Array | None = None) -> Ids:
        """The ids of keys; new ones are given some, if they are let in.

        `counts` says how often each occurred, by default once: those who let keys in may want to know.
        """
        with self.lock.reading:
            found = self._index.find(keys)
        absent = np.flatnonzero(found == ABSENT)
        if len(absent) and admission is not None:
            given = np.ones(len(absent), np.int64) if counts is None else counts[absent].astype(np.int64)
            absent = absent[admission.admits(keys[absent], given)]
        if len(absent):
            with self.lock.writing:
                found[absent] = self._insert(keys[absent])
        return found

    def _insert(self, keys: Keys) -> Ids:
        """The ids of keys, all of which have rows then; while the table is locked."""
        ids, _ = self._index.find_or_insert(keys)
        for column in self.columns:
            column.grow(self._index.row_limit)
        return ids

    def items(self) -> tuple[Keys, Ids]:
        """All keys and their ids, by key."""
        with self.lock.reading:
            return self._items()

    def _items(self) -> tuple[Keys, Ids]:
        keys, ids = self._index.items()
        order = np.argsort(keys)
        return keys[order], ids[order]

    def share(self, columns: Sequence[SegmentedRows]) -> tuple[Keys, Ids, list[SharedRows]]:
        """All keys and their ids, by key, and the rows of some columns as they are now; to be given back."""
        with self.lock.writing:
            return *self._items(), [column.share() for column in columns]

    def give_back(self, columns: Sequence[SegmentedRows], shared: Sequence[SharedRows]) -> None:
        """Ends what `share` began."""
        with self.lock.writing:
            for column, rows in zip(columns, shared, strict=True):
                column.give_back(rows)

    def restore(self, keys: Keys, rows: Sequence[Array | None]) -> None:
        """Stores the rows of keys, of each column; where there are none, the keys have those of new ones."""
        with self.lock.writing:
            ids, _ = self._index.find_or_insert(keys)
            for column, given in zip(self.columns, rows, strict=True):
                if given is None:
                    column.grow(self._index.row_limit)
                    continue
                before = column.limit
                column.make_room(self._index.row_limit)
                column.write(ids, given)
                rest = np.setdiff1d(np.arange(before, column.limit), ids)
                column.renew(rest)

    def remove(self, keys: Keys) -> None:
        """Forgets keys. Their ids are given to others, with rows as new ones have."""
        with self.lock.writing:
            ids = self._index.remove(keys)
            for column in self.columns:
                column.renew(ids)

    def clear(self) -> None:
        """Forgets all keys."""
        with self.lock.writing:
            self._index.clear()
            for column in self.columns:
                column.clear()

    # ------------------------------------------------------------------------------------------ children

    def child_number(self, name: str) -> int | None:
        """Which of the children has that name; None if there is none."""
        return self.children.index(name) if name in self.children else None

    def remove_children(self, numbers: Sequence[int]) -> None:
        """Forgets the keys of some children."""
        keys, _ = self.items()
        self.remove(keys[np.isin(keys >> CHILD_BITS, numbers)])


def key_of_child(keys: Keys, number: int) -> Keys:
    """The keys of a child as the table has them."""
    return (keys & _OWN_BITS) | (number << CHILD_BITS)


def own_key(keys: Keys) -> Keys:
    """The keys of the table as a child has them."""
    return keys & _OWN_BITS


def places_of(keys: Keys, size: int) -> npt.NDArray[np.int64]:
    """Where keys stand in the range 0 to `size` by which tables are cut: their remainders, taken as unsigned."""
    return (np.asarray(keys, np.int64).view(np.uint64) % np.uint64(size)).astype(np.int64)
