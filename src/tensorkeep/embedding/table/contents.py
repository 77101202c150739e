"""What a table holds and how it changes, for one thread at a time.

Keys are int64 vectors here, and everything has been checked.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

import numpy as np
import numpy.typing as npt

from tensorkeep.arrays import Array
from tensorkeep.embedding.table.admission import Admission, AdmitAll, BloomFilter, CounterFilter
from tensorkeep.embedding.table.chunks import Chunks
from tensorkeep.embedding.table.counted_keys import FilteredKeys
from tensorkeep.embedding.table.eviction import NEVER, Eviction, GlobalStep, L2Weight, Swept
from tensorkeep.embedding.table.index import ABSENT
from tensorkeep.embedding.table.initial_rows import default_rows
from tensorkeep.embedding.table.kernels import Kernels
from tensorkeep.embedding.table.rows import Column, ColumnStore, RowStore
from tensorkeep.embedding.table.tiers import Tier
from tensorkeep.embedding.table.update_rules import Rule

Keys: TypeAlias = npt.NDArray[np.int64]
Integers: TypeAlias = npt.NDArray[np.int64]

_AT_ONCE: Final = 1 << 16  # rows that are looked at together


@dataclass(frozen=True, slots=True, eq=False)
class Blocks:
    """The memory of the rows of all keys, to be written: matrices that together have one for each, in their order."""

    rows: Mapping[str, Sequence[Array]]
    frequencies: Sequence[Array] | None
    versions: Sequence[Array] | None


class Contents:
    """An index and the columns that share its row numbers."""

    def __init__(
        self,
        kernels: Kernels,
        tier: Tier | None,
        admission: Admission,
        *,
        keeps_frequencies: bool,
        keeps_versions: bool,
    ) -> None:
        self.kernels = kernels
        self.forgotten = 0
        """How often keys have been forgotten. As long as it stays, so do row numbers that were found."""
        self.tier = tier
        self.index = kernels.new_index()
        self.columns: Mapping[str, Column] = {}
        """By name. It is replaced and not changed, so that others may go through it."""
        self.threshold = 0 if isinstance(admission, AdmitAll) else admission.threshold
        self.admission = admission if self.threshold else AdmitAll()
        self.frequencies = RowStore(1, np.int64, kernels) if keeps_frequencies else None
        self.versions = RowStore(1, np.int64, kernels) if keeps_versions else None
        self.filtered = FilteredKeys(kernels) if isinstance(self.admission, CounterFilter) else None
        self.bloom = self.admission.counters() if isinstance(self.admission, BloomFilter) else None

    @property
    def stores(self) -> list[ColumnStore]:
        """Everything that has a row for each key."""
        beside: list[ColumnStore] = [store for store in (self.frequencies, self.versions) if store is not None]
        return [column.store for column in self.columns.values()] + beside

    def add(self, column: Column) -> None:
        """Adds a column, in which each key has its default row."""
        keys, rows = self.index.items()
        try:
            column.store.grow(self.index.row_limit)
            column.store.write_defaults(rows, keys, column.default)
        except BaseException:
            if self.tier is not None:
                self.tier.drop_store(column.store)
            raise
        self.columns = {**self.columns, column.name: column}

    def drop(self, column: Column) -> None:
        """Forgets a column."""
        self.columns = {name: other for name, other in self.columns.items() if other is not column}
        if self.tier is not None:
            self.tier.drop_store(column.store)

    def begin_operation(self) -> None:
        """Says that the table begins something new, for a tier that counts how often rows are used."""
        if self.tier is not None:
            self.tier.begin_operation()

    def settle(self) -> None:
        """Has the hottest rows in memory: those of the highest frequencies, or of the latest updates.

        That is known if they are kept, and asked for if not all rows are in memory.
        """
        if self.tier is None:
            return
        known = self.frequencies if self.tier.counts_uses else self.versions
        if known is not None:
            is_row = np.zeros(self.index.row_limit, np.bool_)
            is_row[self.index.items()[1]] = True
            rows = np.flatnonzero(is_row)
            self.tier.settle(rows, known.read(rows)[:, 0])

    # ------------------------------------------------------------------------------------------------ Looking up

    def read(self, column: Column, keys: Keys, absent: Array) -> Array:
        """The rows of keys; of those that are not there, a row of `absent`, as if that were the default."""
        return column.store.look_up(self.index, keys, absent)

    @property
    def notes_looks(self) -> bool:
        """Whether a lookup of a key that is there changes the table: it counts occurrences, or a tier counts uses of
        rows.
        """
        return self.frequencies is not None or self.threshold > 0 or self.tier is not None

    def read_rows(self, column: Column, keys: Keys, rows: Integers, absent: Array) -> Array:
        """The rows of keys, of which the numbers are known; of those that have none, a row of `absent`."""
        missing = rows == ABSENT
        if not missing.any():
            return column.store.read(rows)
        values = np.empty((len(keys), column.dim), column.dtype)
        values[~missing] = column.store.read(rows[~missing])
        values[missing] = default_rows(absent, keys[missing])
        return values

    def known_frequencies(self, keys: Keys) -> Integers:
        known = np.zeros(len(keys), np.int64) if self.filtered is None else self.filtered.counts(keys)
        rows = self.index.find(keys)
        present = rows != ABSENT
        known[present] = self.threshold if self.frequencies is None else self.frequencies.read(rows[present])[:, 0]
        return known

    def known_versions(self, keys: Keys) -> Integers:
        if self.versions is None:
            return np.full(len(keys), NEVER)
        known = np.full(len(keys), NEVER) if self.filtered is None else self.filtered.versions(keys)
        rows = self.index.find(keys)
        present = rows != ABSENT
        known[present] = self.versions.read(rows[present])[:, 0]
        return known

    # ------------------------------------------------------------------------------------------------ Inserting

    def touch(self, keys: Keys, counts: Integers | None, step: int | None, initial: Array | None = None) -> Integers:
        """Finds or inserts keys, counts and stamps them; returns their rows, -1 where they are not let in."""
        if not self.threshold:
            rows = self.insert(keys, initial)
            if self.frequencies is not None:
                self._add_frequencies(rows, counts)
        else:
            groups = self.kernels.groups_of(keys)
            if groups is None:
                rows = self._sift(keys, np.ones(len(keys), np.int64) if counts is None else counts, step, initial)
            else:
                first, group = groups
                total = _totals(group, len(first), counts)
                given = None if initial is None else initial[first]
                rows = self._sift(keys[first], total, step, given)[group]
        if step is not None and self.versions is not None:
            self.versions.write(rows[rows != ABSENT], step)
        return rows

    def insert(self, keys: Keys, initial: Array | None = None, written: Collection[ColumnStore] = ()) -> Integers:
        """Finds or inserts keys, whatever a filter says. New ones have default rows, or the ones given.

        What is going to be written for all of them is left out. A key is taken to have occurred often enough.
        """
        rows, fresh = self.index.find_or_insert(keys)
        if len(fresh):
            numbers, new = rows[fresh], keys[fresh]
            try:
                self._begin_rows(numbers, new, None if initial is None else initial[fresh], written)
            except BaseException:  # a key without a row would be worse than the lack of memory
                self._forget(new)
                raise
        return rows

    def _begin_rows(
        self, numbers: Integers, keys: Keys, initial: Array | None, written: Collection[ColumnStore]
    ) -> None:
        """What the rows of new keys hold."""
        for store in self.stores:
            store.grow(self.index.row_limit)
        for column in self.columns.values():
            if column.store not in written:
                column.store.write_defaults(numbers, keys, column.default)
        if initial is not None:
            self.columns[""].store.write(numbers, initial)
        if self.frequencies is not None and self.frequencies not in written:
            self.frequencies.write(numbers, self.threshold)
        if self.versions is not None and self.versions not in written:
            self.versions.write(numbers, NEVER)

    def _sift(self, keys: Keys, counts: Integers, step: int | None, initial: Array | None) -> Integers:
        """Inserts those keys, each of them there once, that are let in; counts the others."""
        rows = self.index.find(keys)
        unknown = np.flatnonzero(rows == ABSENT)
        old, new = rows != ABSENT, keys[unknown]
        if self.frequencies is not None:
            self._add_frequencies(rows[old], counts[old])
        if not len(unknown):
            return rows
        occurred = counts[unknown]
        before = self._occurred_before(new)
        assert not isinstance(self.admission, AdmitAll)
        enters = self.admission.admits(before, occurred)
        inside = unknown[enters]
        rows[inside] = self._let_in(keys[inside], None if initial is None else initial[inside])
        if self.frequencies is not None:
            total = occurred if self.filtered is None else before + occurred
            self.frequencies.write(rows[inside], total[enters, None])
        if self.filtered is not None:
            self.filtered.put(new[~enters], (before + occurred)[~enters], step if self.versions is not None else None)
        if self.bloom is not None:
            self.bloom.add(new[~enters], occurred[~enters])
        return rows

    def _occurred_before(self, keys: Keys) -> Integers:
        if self.filtered is not None:
            return self.filtered.counts(keys)
        assert self.bloom is not None
        return self.bloom.estimate(keys)

    def _let_in(self, keys: Keys, initial: Array | None) -> Integers:
        """Gives rows to keys, which keep their versions."""
        rows = self.insert(keys, initial)
        if self.filtered is not None:
            if self.versions is not None:
                self.versions.write(rows, self.filtered.versions(keys)[:, None])
            self.filtered.remove(keys)
        return rows

    def _add_frequencies(self, rows: Integers, counts: Integers | None) -> None:
        assert self.frequencies is not None
        groups = self.kernels.groups_of(rows, self.index.row_limit)
        if groups is None:
            added: Any = 1 if counts is None else counts[:, None]
        else:
            first, group = groups
            added, rows = _totals(group, len(first), counts)[:, None], rows[first]
        self.frequencies.write(rows, self.frequencies.read(rows) + added)

    # ------------------------------------------------------------------------------------------------ Changing

    def step(self, rule: Rule, columns: Sequence[Column], rows: Integers, gradient: Array, numbers: list[Any]) -> None:
        """Takes an optimizer's step on rows, those of one number together."""
        admitted = rows != ABSENT
        if not admitted.all():
            rows, gradient = rows[admitted], gradient[admitted]
        groups = self.kernels.groups_of(rows, self.index.row_limit)
        if groups is not None:
            gradient = self.kernels.summed(gradient, *groups)
            rows = rows[groups[0]]
        stores = [column.store for column in columns if isinstance(column.store, RowStore)]
        if len(stores) == len(columns):
            for store in stores:
                store.unshare(rows)
            self.kernels.step(rule, [store.chunks for store in stores], rows, gradient, numbers)
            return
        assert self.tier is not None
        for part in self.tier.pieces(len(rows)):
            blocks = [column.store.read(rows[part]) for column in columns]
            chunks = [Chunks.of(block) for block in blocks]
            self.kernels.step(rule, chunks, np.arange(len(blocks[0])), gradient[part], numbers)
            for column, block in zip(columns, blocks, strict=True):
                column.store.write(rows[part], block)

    def assign(
        self,
        keys: Keys,
        values: Sequence[tuple[Column, Array]],
        counts: Integers | None,
        versions: Integers | None,
    ) -> None:
        """Stores rows in columns, inserting keys whatever a filter says. Of several for one key the last is kept."""
        written: list[tuple[ColumnStore, Array]] = [(column.store, block) for column, block in values]
        if self.frequencies is not None and counts is not None:
            written.append((self.frequencies, counts[:, None]))
        if self.versions is not None and versions is not None:
            written.append((self.versions, versions[:, None]))
        rows = self.insert(keys, written=[store for store, _ in written])
        for store, block in written:
            store.write(rows, block)
        if self.filtered is not None:
            self.filtered.remove(keys)
        if self.bloom is not None:
            least = np.full(len(keys), self.threshold)
            self.bloom.raise_to(keys, least if counts is None else np.maximum(counts, least))

    @property
    def can_be_filled(self) -> bool:
        """Whether `fill` may be called: there is no key, all rows are in memory, and no Bloom filter counts keys."""
        return not len(self.index) and not self.filtered and self.bloom is None and self.tier is None

    def fill(self, keys: Keys, columns: Collection[str], write: Callable[[Blocks], None]) -> int:
        """Stores many keys, and has rows written by column; the others have default rows. It can be filled.

        Returns how many keys are there more than once. If any are, there is none afterwards.
        """
        if self.index.row_limit:
            self.clear()
        repeated = self.index.fill(keys)
        if repeated:
            return repeated
        try:
            for store in self.stores:
                store.grow(len(keys))
            for column in self.columns.values():
                for at in range(0, 0 if column.name in columns else len(keys), _AT_ONCE):
                    part = keys[at : at + _AT_ONCE]
                    column.store.write_defaults(np.arange(at, at + len(part)), part, column.default)
            write(self._blocks(columns, len(keys)))
        except BaseException:
            self.clear()
            raise
        return 0

    def _blocks(self, columns: Collection[str], count: int) -> Blocks:
        stores = {name: self.columns[name].store for name in columns}
        return Blocks(
            {name: store.blocks(count) for name, store in stores.items() if isinstance(store, RowStore)},
            None if self.frequencies is None else self.frequencies.blocks(count),
            None if self.versions is None else self.versions.blocks(count),
        )

    def assign_filtered(self, keys: Keys, counts: Integers, versions: Integers | None) -> int:
        """Stores counts of keys without rows; those that occurred often enough are given default rows."""
        if self.filtered is None:
            return 0
        absent = np.flatnonzero(self.index.find(keys) == ABSENT)
        enters = counts[absent] >= self.threshold
        outside, inside = absent[~enters], absent[enters]
        self.filtered.put(keys[outside], counts[outside], None if versions is None else versions[outside])
        stamped = None if versions is None else versions[inside]
        rows = self.insert(keys[inside])
        if self.frequencies is not None:
            self.frequencies.write(rows, counts[inside, None])
        if self.versions is not None and stamped is not None:
            self.versions.write(rows, stamped[:, None])
        self.filtered.remove(keys[inside])
        return len(absent)

    def reset(self, column: Column, keys: Keys) -> None:
        """Gives keys that are there their default rows in a column."""
        rows = self.index.find(keys)
        present = rows != ABSENT
        column.store.write_defaults(rows[present], keys[present], column.default)

    # ------------------------------------------------------------------------------------------------ Forgetting

    def remove(self, keys: Keys) -> int:
        if self.filtered is not None:
            self.filtered.remove(keys)
        return len(self._forget(keys))

    def retain(self, keys: Keys) -> int:
        rows = self.index.find(keys)
        kept = np.zeros(self.index.row_limit, np.bool_)
        kept[rows[rows != ABSENT]] = True
        known, numbers = self.index.items()
        if self.filtered is not None:
            self.filtered.remove(np.setdiff1d(self.filtered.items()[0], keys))
        return len(self._forget(known[~kept[numbers]]))

    def _forget(self, keys: Keys) -> Integers:
        """Forgets keys, and returns the rows that they had."""
        rows = self.index.remove(keys)
        self.forgotten += 1
        if self.tier is not None:
            self.tier.forget(rows)
        return rows

    def clear(self) -> None:
        self.index.clear()
        self.forgotten += 1
        for store in self.stores:
            store.clear()
        if self.tier is not None:
            self.tier.clear()
        if self.filtered is not None:
            self.filtered.clear()
        if self.bloom is not None:
            self.bloom.clear()

    def evict(self, policy: Eviction, step: int) -> Swept:
        """Drops keys that a policy says are to be dropped, and stamps those that were never updated."""
        beside = np.zeros(0, np.int64)
        if isinstance(policy, GlobalStep):
            doomed, beside = self._evict_by_step(policy, step)
        elif isinstance(policy, L2Weight):
            doomed = self._light(policy)
        else:
            return Swept(beside, beside)
        return Swept(self.kernels.in_order(doomed, self._forget(doomed))[0], beside)

    def _evict_by_step(self, policy: GlobalStep, step: int) -> tuple[Keys, Keys]:
        """The keys with rows that are to go; and those that were stamped, or had no row and are gone."""
        assert self.versions is not None
        keys, rows = self.index.items()
        versions = self.versions.read(rows)[:, 0]
        self.versions.write(rows[versions == NEVER], step)
        beside = [keys[versions == NEVER]]
        if self.filtered is not None:
            others, counts, stamped = self.filtered.items()
            new, expired = stamped == NEVER, policy.expired(stamped, step)
            self.filtered.put(others[new], counts[new], step)
            self.filtered.remove(others[expired])
            beside.append(others[new | expired])
        return keys[policy.expired(versions, step)], np.concatenate(beside)

    def _light(self, policy: L2Weight) -> Keys:
        keys, rows = self.index.items()
        store = self.columns[""].store
        parts = [policy.expired(store.scan(rows[at : at + _AT_ONCE])) for at in range(0, len(rows), _AT_ONCE)]
        return keys[np.concatenate(parts)] if parts else keys


def _totals(group: Integers, count: int, counts: Integers | None) -> Integers:
    """How often the keys of each group occurred."""
    totals = np.zeros(count, np.int64)
    np.add.at(totals, group, 1 if counts is None else counts)
    return totals
