"""Hash tables and their filters in checkpoints: `checkpoint/bundle/hash_tables.py` has the layout.

A part of a table is written as one slice of each of its tensors, which says which keys it has. A part that is restored
takes the keys that are its own from all slices that may have some, in however many the table was saved.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

import numpy as np
import numpy.typing as npt

from tensorkeep.arrays import Array
from tensorkeep.checkpoint.bundle.writer import BundleWriter
from tensorkeep.checkpoint.reader import CheckpointReader, TensorInfo
from tensorkeep.checkpoint.slices.tensor_slice import HashSlice, TensorSlice
from tensorkeep.checkpoint.sources import ArraySource
from tensorkeep.dtypes import INT64
from tensorkeep.embedding.hash_table.admission import AdmitFrequent
from tensorkeep.embedding.hash_table.table import CHILD_BITS, HashTable, SegmentedRows, key_of_child, own_key, places_of
from tensorkeep.embedding.table.rows import SharedRows
from tensorkeep.errors import DataLossError, InvalidArgumentError, NotFoundError
from tensorkeep.io.files.filesystem import Durability, FileSystem

Keys: TypeAlias = npt.NDArray[np.int64]

IDS: Final = "/ids"
"""What the name of the keys has behind the name of a table."""

_AT_ONCE: Final = 1 << 16  # rows that are read or written together


@dataclass(frozen=True)
class TensorNames:
    """Under which names a table is stored: its keys, and the rows of each column."""

    keys: str
    rows: tuple[str, ...]

    @classmethod
    def parse(cls, text: str) -> TensorNames:
        """As the ops of graphs have them: "t/ids;t;t/slots/Adagrad"."""
        keys, *rows = text.split(";")
        if not keys or not rows or not all(rows):
            raise InvalidArgumentError(f'"{text}" names no hash table: expected names of keys and rows, "t/ids;t"')
        return cls(keys, tuple(rows))

    @property
    def table(self) -> str:
        """The name of the table, and of its weights."""
        return self.keys.removesuffix(IDS)

    def renamed(self, new_name: Callable[[str], str]) -> TensorNames:
        """As a checkpoint has them: where only the table has another name there, the others follow it."""
        table = new_name(self.table)

        def followed(name: str) -> str:
            own = new_name(name)
            is_below = name == self.table or name.startswith(f"{self.table}/")
            return table + name[len(self.table) :] if own == name and is_below else own

        return TensorNames(followed(self.keys), tuple(map(followed, self.rows)))


# ---------------------------------------------------------------------------------------------------- Saving


class SavedHashTable:
    """What of a table is to be written: its keys and rows as they are now, under one name or those of its children."""

    def __init__(
        self, table: HashTable, columns: Sequence[SegmentedRows], names: Sequence[TensorNames], part: HashSlice
    ) -> None:
        for name in names:
            if len(name.rows) != len(columns):
                raise InvalidArgumentError(
                    f'{len(name.rows)} names of rows are given for {len(columns)} columns of "{name.table}"'
                )
        self._table = table
        self._columns = list(columns)
        self._part = part
        keys, ids, self._rows = table.share(columns)
        self._contents = [(name, *_child(table, name, keys, ids)) for name in names]

    def add_to(self, writer: BundleWriter) -> None:
        """Writes it to a checkpoint in the making."""
        for names, keys, ids in self._contents:
            if not len(keys) and self._part.begin:
                continue  # one part of a table without keys is enough to tell its shape
            writer.add_hash_slice(names.keys, self._part, ArraySource.of(keys))
            for name, column, rows in zip(names.rows, self._columns, self._rows, strict=True):
                source = ArraySource(column.dtype, (len(ids), *column.row_shape), _in_stretches(rows, ids))
                writer.add_hash_slice(name, self._part, source)

    def write_beside(self, fs: FileSystem, prefix: str, durability: Durability) -> None:
        """Writes nothing: the checkpoint itself holds all of the table."""

    def close(self) -> None:
        """Lets go of the rows."""
        self._table.give_back(self._columns, self._rows)


def _child(table: HashTable, names: TensorNames, keys: Keys, ids: Keys) -> tuple[Keys, Keys]:
    """The keys, and their ids, that are stored under a name: those of a child, in a table of several."""
    if not table.children:
        return keys, ids
    number = table.child_number(names.table)
    if number is None:
        raise NotFoundError(f"Child HashTable {names.table} not found: there are {', '.join(table.children)}")
    is_own = keys >> CHILD_BITS == number
    return own_key(keys[is_own]), ids[is_own]


def _in_stretches(rows: SharedRows, ids: Keys) -> Iterator[Array]:
    for at in range(0, len(ids), _AT_ONCE):
        yield rows.read(ids[at : at + _AT_ONCE])


@dataclass(frozen=True)
class SavedFilter:
    """The counters of a Bloom filter, to be written."""

    name: str
    counters: npt.NDArray[np.int8]
    part: HashSlice

    def add_to(self, writer: BundleWriter) -> None:
        """Writes them to a checkpoint in the making."""
        writer.add_hash_slice(self.name, self.part, ArraySource.of(self.counters))

    def write_beside(self, fs: FileSystem, prefix: str, durability: Durability) -> None:
        """Writes nothing: the checkpoint itself holds all of the filter."""

    def close(self) -> None:
        """There is nothing to let go of."""


# ---------------------------------------------------------------------------------------------------- Restoring


@dataclass(frozen=True)
class StoredHashTable:
    """A table in a checkpoint, whose tensors have been compared with the columns that they are to go to."""

    reader: CheckpointReader
    names: TensorNames
    is_stored: tuple[bool, ...]
    """For each column, whether the checkpoint has it. The table's own is always there."""

    @classmethod
    def find(
        cls, reader: CheckpointReader, names: TensorNames, wanted: Sequence[tuple[np.dtype[Any], tuple[int, ...]]]
    ) -> StoredHashTable:
        """NotFoundError if the table is not there, InvalidArgumentError if its rows are others; each names the tensor.

        `wanted` are the types and shapes that rows have to have.
        """
        lacking = [name for name in (names.keys, names.table) if name not in reader]
        if lacking:
            raise NotFoundError(
                f'"{reader.path}" holds no hash table "{names.table}": there is no {" and no ".join(lacking)}'
            )
        keys = reader[names.keys]
        if keys.dtype is not INT64 or len(keys.shape) != 1:
            raise InvalidArgumentError(f'"{names.keys}" is {keys}, expected the keys of a hash table, int64 [keys]')
        is_stored = tuple(name in reader for name in names.rows)
        for name, found, (dtype, row) in zip(names.rows, is_stored, wanted, strict=True):
            if found:
                _check_rows(name, reader[name], keys, dtype, row)
        return cls(reader, names, is_stored)

    def parts(self, wanted: HashSlice) -> Iterator[tuple[Keys, list[Array | None]]]:
        """The keys of a range, some at a time, and their rows of each column; None for columns that are not stored."""
        keys = self.reader[self.names.keys]
        for start, stop in _stretches(keys, wanted):
            some = self.reader.read(self.names.keys, TensorSlice(((start, stop - start),)))
            rows = [
                self._rows(name, start, stop) if found else None
                for name, found in zip(self.names.rows, self.is_stored, strict=True)
            ]
            yield some, rows

    def _rows(self, name: str, start: int, stop: int) -> Array:
        rank = len(self.reader[name].shape)
        return self.reader.read(name, TensorSlice(((start, stop - start), *(None,) * (rank - 1))))


def _check_rows(
    name: str, info: TensorInfo, keys: TensorInfo, dtype: np.dtype[Any], row_shape: tuple[int, ...]
) -> None:
    if info.dtype.array_dtype != dtype or info.shape[1:] != row_shape:
        raise InvalidArgumentError(
            f'"{name}" has rows of {info.dtype} {list(info.shape[1:])} in the checkpoint, expected {dtype} '
            f"{list(row_shape)}"
        )
    if info.shape[:1] != keys.shape:
        raise DataLossError(f'"{name}" has {info.shape[0]} rows for {keys.shape[0]} keys')


def _stretches(keys: TensorInfo, wanted: HashSlice) -> Iterator[tuple[int, int]]:
    """The rows that may have keys of a range: those of slices that share some with it; all, if slices do not say."""
    for part in keys.slices or (TensorSlice.whole(1),):
        start, stop = part.box(keys.shape)[0]
        if part.keys is not None and part.keys.size == wanted.size and not _overlap(part.keys, wanted):
            continue
        for at in range(start, stop, _AT_ONCE):
            yield at, min(at + _AT_ONCE, stop)


def _overlap(one: HashSlice, other: HashSlice) -> bool:
    return one.begin < other.begin + other.length and other.begin < one.begin + one.length


def restore_hash_table(
    table: HashTable,
    columns: Sequence[SegmentedRows],
    stored: Sequence[StoredHashTable],
    wanted: HashSlice,
    *,
    clear: bool = True,
) -> None:
    """Sets a table to what a checkpoint holds of the keys of a range, or, of one of children, to what it holds of each.

    Without `clear`, children that the checkpoint does not have stay as they are.
    """
    if clear or not table.children:
        table.clear()
    else:
        numbers = [table.child_number(one.names.table) for one in stored]
        table.remove_children([number for number in numbers if number is not None])
    for one in stored:
        number = table.child_number(one.names.table) if table.children else None
        for keys, rows in one.parts(wanted):
            own = keys if number is None else key_of_child(keys, number)
            places = places_of(own, wanted.size)
            chosen = np.flatnonzero((wanted.begin <= places) & (places < wanted.begin + wanted.length))
            given = {id(column): found for column, found in zip(columns, rows, strict=True)}
            of_columns = [given.get(id(column)) for column in table.columns]
            table.restore(own[chosen], [None if some is None else some[chosen] for some in of_columns])


def restore_filter(admission: AdmitFrequent, reader: CheckpointReader, name: str) -> None:
    """Sets the counters of a Bloom filter to those that a checkpoint holds of the same places."""
    if name not in reader:
        raise NotFoundError(f'"{reader.path}" holds no Bloom filter "{name}"')
    info = reader[name]
    if info.dtype.array_dtype != np.int8 or len(info.shape) != 1:
        raise InvalidArgumentError(f'"{name}" is {info}, expected the counters of a Bloom filter, int8 [bytes]')
    for part in info.slices or (TensorSlice.whole(1),):
        of_part = part.keys or HashSlice(0, admission.size, admission.size)
        if _overlap(of_part, HashSlice(admission.begin, admission.length, admission.size)):
            admission.restore(of_part.begin, of_part.length, reader.read(name, part))
