"""Tables of rows by key, which grow as keys appear.

A table is an index, which gives every key a row number, and columns, which share these numbers: the weights, and the
slots of optimizers. What it knows of a key besides, how often it occurred and when it was updated last, are columns of
one number, there only if they are kept. Policies say which keys are given rows, and which are dropped.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, Final, TypeAlias

import numpy as np
import numpy.typing as npt

from tensorkeep.arrays import Array
from tensorkeep.embedding.table.admission import Admission, AdmitAll, Touched
from tensorkeep.embedding.table.arguments import (
    check_policies,
    checked_column,
    checked_count,
    checked_counts,
    checked_dim,
    checked_integers,
    checked_keys,
    checked_new,
    checked_rows,
    checked_rule,
    checked_same,
    checked_slots,
    checked_step,
)
from tensorkeep.embedding.table.contents import Blocks, Contents
from tensorkeep.embedding.table.eviction import Eviction, GlobalStep, KeepAll, Swept
from tensorkeep.embedding.table.index import ABSENT
from tensorkeep.embedding.table.initial_rows import DEFAULT_ROWS, Initial, default_matrix
from tensorkeep.embedding.table.locking import SharedLock
from tensorkeep.embedding.table.native_kernels import kernels_for
from tensorkeep.embedding.table.rows import Column, RowStore
from tensorkeep.embedding.table.snapshot import ColumnInfo
from tensorkeep.embedding.table.table_snapshots import Snapshots, TakenSnapshot
from tensorkeep.embedding.table.tiers import FileTier, Memory, Storage, Tier
from tensorkeep.errors import InvalidArgumentError, WrongTypeError
from tensorkeep.io.showing.amounts import amount_of, size_text
from tensorkeep.io.showing.html_tables import html_table

Keys: TypeAlias = npt.NDArray[np.int64]
Integers: TypeAlias = npt.NDArray[np.int64]

_KEY_DTYPES: Final = (np.dtype(np.int64), np.dtype(np.int32))


class EmbeddingTable:
    """Rows of numbers by integer key.

    Any number of threads may use a table. Those that look up run side by side; a change is seen whole or not at all.
    Keys may have any shape, and rows then have it too, with their own dimension behind.
    """

    def __init__(
        self,
        dim: int,
        *,
        initial: Initial = 0.0,
        default_rows: int = DEFAULT_ROWS,
        key_dtype: npt.DTypeLike = np.int64,
        value_dtype: npt.DTypeLike = np.float32,
        admission: Admission = AdmitAll(),
        eviction: Eviction = KeepAll(),
        keeps_frequencies: bool = False,
        keeps_versions: bool = False,
        no_permission: float = 0.0,
        storage: Storage = Memory(),
        capacity: int = 0,
        native: bool | None = None,
        threads: int | None = None,
    ) -> None:
        """`initial` makes the default rows: a function of the shape [`default_rows`, `dim`], a matrix, a row or a
        number. A key that a filter has not let in is looked up as a row of `no_permission`. `capacity` is how many keys
        are expected. `native` asks for the compiled library, or for doing without; `threads` says how many may work on
        one batch.
        """
        check_policies(admission, eviction, storage)
        self.key_dtype = np.dtype(key_dtype)
        if self.key_dtype not in _KEY_DTYPES:
            raise WrongTypeError(f"keys of type {self.key_dtype}, expected int64 or int32")
        matrix = default_matrix(initial, checked_dim(dim), np.dtype(value_dtype), default_rows)
        self.admission = admission
        self.eviction = eviction
        self.storage = storage
        self.keeps_frequencies = keeps_frequencies
        self.keeps_versions = keeps_versions or isinstance(eviction, GlobalStep)
        self._kernels = kernels_for(native, threads)
        self._lock = SharedLock()
        tier = Tier(storage, self._kernels) if isinstance(storage, FileTier) else None
        # In a table of which rows move, a look may move some.
        self._looking = self._lock.reading if tier is None else self._lock.writing
        self._contents = Contents(
            self._kernels, tier, admission, keeps_frequencies=keeps_frequencies, keeps_versions=self.keeps_versions
        )
        self._snapshots = Snapshots(self._contents, self._looking, self._lock.writing)
        self._contents.index.reserve(checked_count("capacity", capacity))
        weights = self._new_column("", matrix)
        self._contents.add(weights)
        self._denied = np.full((1, dim), no_permission, value_dtype) if self._contents.threshold else weights.default

    # ------------------------------------------------------------------------------------------------ What it is

    @property
    def dim(self) -> int:
        """How many numbers a row of weights has."""
        return self._column("").dim

    @property
    def value_dtype(self) -> np.dtype[Any]:
        """The type of the weights."""
        return self._column("").dtype

    @property
    def columns(self) -> Sequence[ColumnInfo]:
        """The columns, the weights first, named ""."""
        return tuple(column.info for column in self._contents.columns.values())

    @property
    def filtered_count(self) -> int:
        """How many keys are counted and have no row yet."""
        return 0 if self._contents.filtered is None else len(self._contents.filtered)

    @property
    def nbytes(self) -> int:
        """The memory that keys and rows take."""
        beside = [part.nbytes for part in (self._contents.filtered, self._contents.tier) if part is not None]
        return self._contents.index.nbytes + sum(beside) + sum(store.nbytes for store in self._contents.stores)

    def __len__(self) -> int:
        """How many keys have rows."""
        return len(self._contents.index)

    def __repr__(self) -> str:
        return f"<EmbeddingTable: {amount_of(len(self), 'key')}, dim {self.dim} {self.value_dtype}{self._slots_text()}>"

    def _slots_text(self) -> str:
        slots = ", ".join(column.name for column in self.columns if column.name)
        return f", slots {slots}" if slots else ""

    def _repr_html_(self) -> str:
        """What a notebook shows: the columns of the table."""
        columns = [(column.name or "weights", column.dim, column.dtype) for column in self.columns]
        caption = f"EmbeddingTable: {amount_of(len(self), 'key')}, {size_text(self.nbytes)}"
        return html_table(caption, ("column", "dim", "type"), columns, len(columns))

    def default(self, column: str = "") -> Array:
        """The default rows of a column."""
        return self._column(column).default.copy()

    def absent_rows(self) -> Array:
        """The rows that keys which are not there are looked up as, by their remainders."""
        return self._denied.copy()

    def add_column(
        self,
        name: str,
        dim: int | None = None,
        initial: Initial = 0.0,
        *,
        dtype: npt.DTypeLike | None = None,
        default_rows: int = DEFAULT_ROWS,
    ) -> None:
        """Adds a column, in which each key has its default row. Without a dimension it has that of the weights."""
        width = self.dim if dim is None else checked_dim(dim)
        # Before the lock is held: what `initial` calls may look something up.
        matrix = default_matrix(initial, width, np.dtype(dtype or self.value_dtype), default_rows)
        with self._lock.writing:
            checked_new(name, self._contents.columns)
            self._contents.add(self._new_column(name, matrix))

    def drop_column(self, name: str) -> None:
        """Forgets a column with all its rows. The weights stay. Snapshots that have it keep it."""
        if not name:
            raise InvalidArgumentError("the weights cannot be dropped; a table without them is none")
        with self._lock.writing:
            self._contents.drop(self._column(name))

    # ------------------------------------------------------------------------------------------------ Looking up

    def lookup(self, keys: npt.ArrayLike, column: str = "") -> Array:
        """The row of each key, without inserting any.

        A key that is not there has its default row or, if a filter decides, a row of `no_permission`.
        """
        asked, shape = self._keys(keys)
        with self._looking:
            self._contents.begin_operation()
            found = self._column(column)
            values = self._contents.read(found, asked, found.default if column else self._denied)
        return values.reshape(*shape, found.dim)

    def lookup_or_create(
        self, keys: npt.ArrayLike, counts: npt.ArrayLike | None = None, initial: npt.ArrayLike | None = None
    ) -> Array:
        """The row of each key; those that are not there are inserted, if they are let in.

        `counts` are as for `touch`. `initial`, a row for each key, are what new keys begin with.
        """
        asked, shape = self._keys(keys)
        weights = self._column("")
        given = checked_counts(counts, shape)
        first = None if initial is None else checked_rows(initial, shape, weights)
        if self._contents.notes_looks:
            with self._lock.writing:
                self._contents.begin_operation()
                rows = self._contents.touch(asked, given, None, first)
                values = self._contents.read_rows(weights, asked, rows, self._denied)
        else:
            values = self._read_or_insert(weights, asked, first)
        return values.reshape(*shape, weights.dim)

    def _read_or_insert(self, weights: Column, keys: Keys, initial: Array | None) -> Array:
        """The rows of keys, inserting some; if all are there, others may look too."""
        contents = self._contents
        with self._lock.reading:
            rows, forgotten = contents.index.find(keys), contents.forgotten
            absent = np.flatnonzero(rows == ABSENT)
            if not len(absent):
                return contents.read_rows(weights, keys, rows, self._denied)
        with self._lock.writing:
            if forgotten != contents.forgotten:
                rows = contents.insert(keys, initial)
            else:
                rows[absent] = contents.insert(keys[absent], None if initial is None else initial[absent])
            return contents.read_rows(weights, keys, rows, self._denied)

    def contains(self, keys: npt.ArrayLike) -> npt.NDArray[np.bool_]:
        """For each key whether it has a row."""
        asked, shape = self._keys(keys)
        with self._lock.reading:
            return np.not_equal(self._contents.index.find(asked), ABSENT).reshape(shape)

    def frequencies(self, keys: npt.ArrayLike) -> Integers:
        """How often each key occurred.

        Where that is kept only for keys that are not let in yet, all others are said to have reached the threshold.
        """
        asked, shape = self._keys(keys)
        with self._lock.reading:
            return self._contents.known_frequencies(asked).reshape(shape)

    def versions(self, keys: npt.ArrayLike) -> Integers:
        """The step of each key's last update; -1 if there was none, or that is not kept."""
        asked, shape = self._keys(keys)
        with self._lock.reading:
            return self._contents.known_versions(asked).reshape(shape)

    def tiers(self, keys: npt.ArrayLike) -> npt.NDArray[np.int32]:
        """Where the row of each key is: 0 in memory, 1 in a file, -1 nowhere."""
        asked, shape = self._keys(keys)
        with self._lock.reading:
            rows = self._contents.index.find(asked)
            tiers = np.where(rows == ABSENT, ABSENT, 0).astype(np.int32)
            if self._contents.tier is not None:
                present = rows != ABSENT
                tiers[present] = ~self._contents.tier.is_in_memory(rows[present])
        return tiers.reshape(shape)

    # ------------------------------------------------------------------------------------------------ Changing

    def touch(self, keys: npt.ArrayLike, counts: npt.ArrayLike | None = None, step: int | None = None) -> Touched:
        """Finds keys, inserts those that are let in, counts their occurrences and stamps them with the step.

        `counts` says how often each occurred: once if it is not given, and 0 for keys that are only to be there.
        """
        asked, shape = self._keys(keys)
        given, stamp = checked_counts(counts, shape), checked_step(step)
        with self._lock.writing:
            self._contents.begin_operation()
            return Touched(self._contents.touch(asked, given, stamp).reshape(shape))

    def apply(
        self,
        rule: str,
        gradients: npt.ArrayLike,
        keys: npt.ArrayLike,
        *,
        slots: Sequence[str] | None = None,
        counts: npt.ArrayLike | None = None,
        step: int | None = None,
        **numbers: Any,
    ) -> None:
        """Takes an optimizer's step on the rows of some keys; `rules.RULES` has the rules and their numbers.

        Gradients of a key that is there several times are added up first. Keys that are not there are inserted, as by
        `touch`, and those that are not let in are counted and stamped, no more. `slots` are the columns that the rule
        changes besides the weights; if not given, they are those that were added first.
        """
        asked, shape = self._keys(keys)
        found, values = checked_rule(rule, numbers, self.value_dtype)
        given, stamp = checked_counts(counts, shape), checked_step(step)
        weights = self._column("")
        gradient = checked_rows(gradients, shape, weights)
        with self._lock.writing:
            self._contents.begin_operation()
            columns = [weights, *checked_slots(found, slots, self._contents.columns)]
            rows = self._contents.touch(asked, given, stamp)
            self._contents.step(found, columns, rows, gradient, values)

    def assign(
        self,
        keys: npt.ArrayLike,
        rows: npt.ArrayLike,
        column: str = "",
        freqs: npt.ArrayLike | None = None,
        versions: npt.ArrayLike | None = None,
    ) -> None:
        """Stores rows, inserting the keys that are not there, whatever a filter says.

        The other columns of new keys have their default rows. Frequencies and versions are stored if they are kept.
        """
        self.assign_columns(keys, {column: rows}, freqs, versions)

    def assign_columns(
        self,
        keys: npt.ArrayLike,
        rows: Mapping[str, npt.ArrayLike],
        freqs: npt.ArrayLike | None = None,
        versions: npt.ArrayLike | None = None,
    ) -> None:
        """Stores rows of several columns at once, by name, as `assign` does those of one."""
        asked, shape = self._keys(keys)
        targets = [self._column(name) for name in rows]
        values = [(column, checked_rows(rows[column.name], shape, column)) for column in targets]
        given, stamped = checked_integers("freqs", freqs, shape), checked_integers("versions", versions, shape)
        with self._lock.writing:
            for column in targets:
                checked_same(column, self._contents.columns)
            self._contents.begin_operation()
            self._contents.assign(asked, values, given, stamped)

    @property
    def can_be_filled(self) -> bool:
        """Whether `fill` may be called: there is no key, all rows are in memory, and no Bloom filter counts keys."""
        return self._contents.can_be_filled

    def fill(self, keys: Keys, columns: Collection[str], write: Callable[[Blocks], None]) -> int | None:
        """Stores many keys of an empty table, and has `write` put rows of these columns where they are to lie.

        Frequencies and versions are written too, if they are kept; other columns have default rows. Returns how many
        keys are there more than once: if any are, or `write` raises, the table is empty afterwards. None, and nothing
        is done, if it cannot be filled any more. Nobody else sees the table meanwhile.
        """
        with self._lock.writing:
            return self._contents.fill(keys, columns, write) if self.can_be_filled else None

    def assign_filtered(self, keys: npt.ArrayLike, freqs: npt.ArrayLike, versions: npt.ArrayLike | None = None) -> int:
        """Stores counts of keys that have no row, and returns how many keys were stored.

        Those that have occurred often enough are given their default rows; those that have rows stay as they are. A
        table without a counter filter has no place for such keys, and stores none.
        """
        asked, shape = self._keys(keys)
        given, stamped = checked_integers("freqs", freqs, shape), checked_integers("versions", versions, shape)
        if given is None:
            raise InvalidArgumentError("keys without rows are stored with their counts, got none")
        with self._lock.writing:
            return self._contents.assign_filtered(asked, given, stamped)

    def reset_column(self, column: str, keys: npt.ArrayLike) -> None:
        """Gives keys their default rows in a column. Keys that are not there are passed over."""
        asked, _ = self._keys(keys)
        with self._lock.writing:
            self._contents.reset(self._column(column), asked)

    def remove(self, keys: npt.ArrayLike) -> int:
        """Forgets keys, their counts too, and returns how many of them had rows."""
        asked, _ = self._keys(keys)
        with self._lock.writing:
            return self._contents.remove(asked)

    def retain(self, keys: npt.ArrayLike) -> int:
        """Forgets all keys but these, with rows or without, and returns how many of those had rows."""
        asked, _ = self._keys(keys)
        with self._lock.writing:
            return self._contents.retain(asked)

    def clear(self) -> None:
        """Forgets everything but the columns."""
        with self._lock.writing:
            self._contents.clear()

    def evict(self, step: int = 0) -> Keys:
        """Drops what the policy says is to be dropped at a step, and returns the keys that had rows, in order."""
        return self.sweep(step).removed

    def sweep(self, step: int = 0) -> Swept:
        """What `evict` does, with all that it changed."""
        with self._lock.writing:
            return self._contents.evict(self.eviction, step)

    def settle(self) -> None:
        """Has those rows in memory that were used most or last, by frequencies or versions, if these are kept.

        It is what a restore ends with. A table whose rows are all in memory stays as it is.
        """
        with self._lock.writing:
            self._contents.settle()

    def reserve(self, count: int) -> None:
        """Makes room for so many keys in all, so that inserting them is quicker."""
        with self._lock.writing:
            self._contents.index.reserve(checked_count("count", count))

    # ------------------------------------------------------------------------------------------------ Snapshots

    def snapshot(self) -> TakenSnapshot:
        """What the table holds now, all columns of the same moment. Close it when it has been read.

        Others may look things up meanwhile, and change them as soon as the keys have been copied.
        """
        return self._snapshots.take()

    # ------------------------------------------------------------------------------------------------ Arguments

    def _new_column(self, name: str, matrix: Array) -> Column:
        form, tier = (matrix.shape[1], matrix.dtype), self._contents.tier
        return Column(name, matrix, RowStore(*form, self._kernels) if tier is None else tier.add_store(*form))

    def _column(self, name: str) -> Column:
        return checked_column(name, self._contents.columns)

    def _keys(self, keys: npt.ArrayLike) -> tuple[Keys, tuple[int, ...]]:
        return checked_keys(keys, self.key_dtype)
