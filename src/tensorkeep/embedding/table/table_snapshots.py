"""Snapshots of a table: its keys in order, and its chunks of rows as they were."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from tensorkeep.arrays import Array
from tensorkeep.embedding.table.contents import Contents
from tensorkeep.embedding.table.kernels import Kernels
from tensorkeep.embedding.table.rows import ColumnStore, SharedRows
from tensorkeep.embedding.table.snapshot import ColumnInfo
from tensorkeep.errors import FailedPreconditionError, InvalidArgumentError

Integers: TypeAlias = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class SharedContents:
    """What a table held: keys with their row numbers, in any order, and rows that stay until they are given back."""

    kernels: Kernels
    threshold: int
    keys: Integers
    numbers: Integers
    columns: Mapping[ColumnInfo, SharedRows]
    frequencies: SharedRows | None
    versions: SharedRows | None
    filtered: tuple[Integers, Integers, SharedRows, SharedRows] | None
    stores: Sequence[tuple[ColumnStore, SharedRows]]
    """Whom the rows are to be given back to."""
    in_file: Integers | None
    """The numbers of the rows that were in a file and not in memory; None if all are always in memory."""


def share_contents(contents: Contents) -> SharedContents:
    """What a table holds now. It takes as long as copying the keys does."""
    keys, numbers = contents.index.items()
    columns = {column.info: column.store.share() for column in contents.columns.values()}
    frequencies = None if contents.frequencies is None else contents.frequencies.share()
    versions = None if contents.versions is None else contents.versions.share()
    beside = [rows for rows in (frequencies, versions) if rows is not None]
    stores = list(zip(contents.stores, [*columns.values(), *beside], strict=True))
    filtered = None
    if contents.filtered is not None:
        others, rows, shared = contents.filtered.share()
        counts, stamps = shared.values()
        filtered = (others, rows, counts, stamps)
        stores += shared.items()
    in_file = None if contents.tier is None else numbers[~contents.tier.is_in_memory(numbers)]
    return SharedContents(
        contents.kernels, contents.threshold, keys, numbers, columns, frequencies, versions, filtered, stores, in_file
    )


class TakenSnapshot:
    """What a table held when it was asked. Reading it never waits for the table; closing it frees memory."""

    def __init__(self, shared: SharedContents, closing: Callable[[bool], None]) -> None:
        """`closing` is told whether nobody closed the snapshot."""
        self.keys, self._numbers = shared.kernels.in_order(shared.keys, shared.numbers)
        in_file = np.zeros(0, np.int64) if shared.in_file is None else shared.in_file
        self.positions_in_file = np.flatnonzero(np.isin(self._numbers, in_file))
        """Where the keys stand whose rows were in a file and not in memory."""
        self.columns: Sequence[ColumnInfo] = tuple(shared.columns)
        self._stores = {info.name: store for info, store in shared.columns.items()}
        self.freqs = _read(shared.frequencies, self._numbers)
        if self.freqs is None and shared.threshold:
            self.freqs = np.full(len(self.keys), shared.threshold)
        self.versions = _read(shared.versions, self._numbers)
        self.filtered_keys = self.filtered_freqs = np.zeros(0, np.int64)
        self.filtered_versions = None if shared.versions is None else self.filtered_keys
        if shared.filtered is not None:
            keys, numbers, counts, versions = shared.filtered
            self.filtered_keys, numbers = shared.kernels.in_order(keys, numbers)
            self.filtered_freqs = counts.read(numbers)[:, 0]
            if shared.versions is not None:
                self.filtered_versions = versions.read(numbers)[:, 0]
        self._closing: Callable[[bool], None] | None = closing
        self._lock = threading.Lock()

    def rows(self, column: str, start: int, stop: int) -> Array:
        """The rows of a column that belong to `keys[start:stop]`."""
        return self._shared_rows(column).read(self._numbers[start:stop])

    def lent_rows(self, column: str, start: int, stop: int) -> Array:
        """The same, to be read only, and before the snapshot is closed. It may spare a copy."""
        return self._shared_rows(column).lend(self._numbers[start:stop])

    def _shared_rows(self, column: str) -> SharedRows:
        if self._closing is None:
            raise FailedPreconditionError("the snapshot is closed")
        if column not in self._stores:
            known = ", ".join(f'"{name}"' for name in self._stores)
            raise InvalidArgumentError(f'the table has no column "{column}"; it has {known}')
        return self._stores[column]

    def close(self) -> None:
        """Ends the snapshot: the table need not keep what it held any more."""
        with self._lock:
            closing, self._closing = self._closing, None
        if closing is not None:
            closing(False)

    def __enter__(self) -> TakenSnapshot:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __del__(self) -> None:
        if getattr(self, "_closing", None) is not None and self._closing is not None:
            self._closing(True)


class Snapshots:
    """Takes the snapshots of a table, and has what they looked at given back."""

    def __init__(
        self, contents: Contents, looking: AbstractContextManager[None], writing: AbstractContextManager[None]
    ) -> None:
        """`looking` and `writing` are held while the table is looked at, and while it is changed."""
        self._contents = contents
        self._looking = looking
        self._writing = writing
        self._sharing = threading.Lock()  # for several that are taken while others look
        self._forgotten: deque[tuple[ColumnStore, SharedRows]] = deque()  # what snapshots that are gone looked at

    def take(self) -> TakenSnapshot:
        """What the table holds now."""
        with self._looking, self._sharing:
            self._let_go()
            shared = share_contents(self._contents)
        stores = shared.stores  # and not the keys, which the snapshot has in order
        return TakenSnapshot(shared, lambda is_forgotten: self._give_back(stores, is_forgotten))

    def _give_back(self, stores: Sequence[tuple[ColumnStore, SharedRows]], is_forgotten: bool) -> None:
        if is_forgotten:  # found by the garbage collector, in a thread that may hold a lock
            self._forgotten.extend(stores)
            return
        with self._writing:
            self._forgotten.extend(stores)
            self._let_go()

    def _let_go(self) -> None:
        while self._forgotten:
            store, rows = self._forgotten.popleft()
            store.give_back(rows)


def _read(store: SharedRows | None, numbers: Integers) -> Integers | None:
    return None if store is None else store.read(numbers)[:, 0]
