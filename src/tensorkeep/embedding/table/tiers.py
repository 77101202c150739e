"""Where a table keeps its rows: in memory, or in a file, with those in memory that are used most.

All columns of a table move together: a row number that is in memory has a slot there, the same for all columns. What is
read or changed is brought into memory first; when others need the slot it is written back, if it was changed.

Which rows leave is DeepRec's choice (cache.h): the least recently used, or the least recently used among those that
were least often used since they came in. An operation of the table uses a row once, however many columns it touches.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from typing import Any, Final, TypeAlias

import numpy as np
import numpy.typing as npt

from tensorkeep.arrays import Array
from tensorkeep.embedding.table.index import ABSENT, KeyIndex
from tensorkeep.embedding.table.initial_rows import default_rows
from tensorkeep.embedding.table.kernels import Kernels
from tensorkeep.embedding.table.rows import ColumnStore, RowStore, SharedRows
from tensorkeep.errors import InvalidArgumentError
from tensorkeep.io.machine.mapped_memory import MappedMemory


@dataclass(frozen=True, slots=True)
class Memory:
    """All rows are in memory."""


class Cache(Enum):
    """Which rows leave memory when others need the room."""

    LRU = "least recently used"
    LFU = "least frequently used"


@dataclass(frozen=True, slots=True)
class FileTier:
    """Rows are in a file, and as many of them as fit into so many bytes in memory.

    `folder` is where the file is; it has no name, and is gone when the process ends. Keys, frequencies and versions are
    in memory all the same.
    """

    folder: str
    memory_bytes: int
    cache: Cache = Cache.LFU

    def __post_init__(self) -> None:
        if self.memory_bytes < 1:
            raise InvalidArgumentError(f"{self.memory_bytes} bytes of memory hold no rows")


Storage: TypeAlias = Memory | FileTier


RowNumbers: TypeAlias = npt.NDArray[np.int64]
Slots: TypeAlias = npt.NDArray[np.int64]

_MANY: Final = 4096  # slots; a larger cache makes room for some more than is needed, as that takes a look at all slots
_FIRST: Final = 64  # slots that there are at least
_SHARE: Final = 16  # of the slots that are then freed


class Tier:
    """Which rows are in memory, and where. Who calls sees to it that only one thread does."""

    def __init__(self, options: FileTier, kernels: Kernels) -> None:
        self._options = options
        self._kernels = kernels
        self._memory = MappedMemory(options.folder)
        self._stores: list[TieredStore] = []
        self._clock = 0
        self._operation_began = 0
        self.capacity = 0
        """How many rows fit into memory."""
        self._slot_of = np.zeros(0, np.int64)  # by row; -1 if it is not in memory
        self._row_of = np.zeros(0, np.int64)  # by slot; -1 if it is free
        self._uses = np.zeros(0, np.int64)  # by slot; how often, where that counts
        self._used_at = np.zeros(0, np.int64)  # by slot; by the clock, which goes on with every row
        self._is_changed = np.zeros(0, np.bool_)

    @property
    def counts_uses(self) -> bool:
        """Whether rows that are used often stay; if not, those that were used lately do."""
        return self._options.cache is Cache.LFU

    @property
    def nbytes(self) -> int:
        """The memory that keeping track takes."""
        kept = (self._slot_of, self._row_of, self._uses, self._used_at, self._is_changed)
        return sum(array.nbytes for array in kept)

    @property
    def file_bytes(self) -> int:
        """The size of the file."""
        return self._memory.nbytes

    def add_store(self, dim: int, dtype: np.dtype[Any]) -> TieredStore:
        """A column. Slots become fewer by it, as each then takes more memory."""
        added = TieredStore(self, dim, dtype, self._kernels, self._memory)
        self._set_stores([*self._stores, added])
        return added

    def drop_store(self, store: ColumnStore) -> None:
        """Forgets a column. There are more slots afterwards."""
        self._set_stores([other for other in self._stores if other is not store])

    def _set_stores(self, stores: list[TieredStore]) -> None:
        row = sum(store.dim * store.dtype.itemsize for store in stores)
        capacity = self._options.memory_bytes // row
        if not capacity:
            raise InvalidArgumentError(
                f"{self._options.memory_bytes} bytes of memory hold no row of {row} bytes; give the table more"
            )
        self.flush()
        self._slot_of[:] = ABSENT
        self._let_go_of_slots()
        self._stores = stores
        self.capacity = capacity

    def grow(self, limit: int) -> None:
        """Makes room for the rows below `limit`."""
        if limit > len(self._slot_of):
            grown = np.full(max(limit, len(self._slot_of) * 3 // 2), ABSENT)
            grown[: len(self._slot_of)] = self._slot_of
            self._slot_of = grown

    def begin_operation(self) -> None:
        """What is brought from now on is used by another operation than what was before."""
        self._operation_began = self._clock

    def pieces(self, count: int) -> Iterator[slice]:
        """Parts of a batch that fit into memory."""
        for start in range(0, count, self.capacity):
            yield slice(start, min(start + self.capacity, count))

    def bring(self, rows: RowNumbers, is_changing: bool = False) -> Slots:
        """The slots of rows, which are brought into memory if they are not there. They are not more than fit."""
        slots = self._slot_of[rows]
        missing = slots == ABSENT
        if missing.any():
            wanted = np.unique(rows[missing])
            taken = self._freed_slots(len(wanted), slots[~missing])
            for store in self._stores:
                store.load(wanted, taken)
            self._slot_of[wanted] = taken
            self._row_of[taken] = wanted
            self._uses[taken] = 0
            self._used_at[taken] = -1
            self._is_changed[taken] = False
            slots = self._slot_of[rows]
        self._use(slots)
        if is_changing:
            self._is_changed[slots] = True
        return slots

    def settle(self, rows: RowNumbers, heat: npt.NDArray[np.int64]) -> None:
        """Has the hottest rows in memory, as if used as often as their heat says, or in its order; no others.

        Among equals those that come later are hotter.
        """
        order = _hottest(heat, self.capacity)
        self.flush()
        self.forget(self._row_of[self._row_of != ABSENT])
        if not len(order):
            return
        slots = self.bring(rows[order])
        if self.counts_uses:
            self._uses[slots] = heat[order]

    def is_in_memory(self, rows: RowNumbers) -> npt.NDArray[np.bool_]:
        """For each row whether it is in memory."""
        return np.not_equal(self._slot_of[rows], ABSENT)

    def forget(self, rows: RowNumbers) -> None:
        """Frees the slots of rows that are not needed any more."""
        rows = rows[rows < len(self._slot_of)]
        slots = self._slot_of[rows]
        slots = slots[slots != ABSENT]
        self._slot_of[rows] = ABSENT
        self._row_of[slots] = ABSENT
        self._is_changed[slots] = False

    def flush(self) -> None:
        """Writes back all that was changed."""
        self._write_back(np.flatnonzero(self._is_changed))

    def clear(self) -> None:
        """Forgets all rows."""
        self._slot_of = np.zeros(0, np.int64)
        self._let_go_of_slots()

    def _let_go_of_slots(self) -> None:
        self._row_of, self._uses, self._used_at = self._row_of[:0], self._uses[:0], self._used_at[:0]
        self._is_changed = self._is_changed[:0]
        for store in self._stores:
            store.let_go_of_slots()

    def _make_slots(self, wanted: int) -> None:
        """Makes free slots, as long as there may be more, and at least twice as many as there were."""
        have = len(self._row_of)
        more = min(max(wanted, have, _FIRST), self.capacity - have)
        self._row_of = np.concatenate([self._row_of, np.full(more, ABSENT)])
        self._uses = np.concatenate([self._uses, np.zeros(more, np.int64)])
        self._used_at = np.concatenate([self._used_at, np.zeros(more, np.int64)])
        self._is_changed = np.concatenate([self._is_changed, np.zeros(more, np.bool_)])
        for store in self._stores:
            store.make_slots(have + more)

    def _use(self, slots: Slots) -> None:
        if self.counts_uses:
            self._uses[slots[self._used_at[slots] < self._operation_began]] += 1  # once, also if it is there twice
        self._used_at[slots] = np.arange(self._clock, self._clock + len(slots))  # of equal ones the last counts
        self._clock += len(slots)

    def _freed_slots(self, count: int, kept: Slots) -> Slots:
        """Slots for rows that come in: free ones, and those of the rows used least, but for some that are kept."""
        free = np.flatnonzero(self._row_of == ABSENT)
        if len(free) < count and len(self._row_of) < self.capacity:
            self._make_slots(count - len(free))
            free = np.flatnonzero(self._row_of == ABSENT)
        if len(free) < count:
            evicted = count - len(free)
            if self.capacity > _MANY:
                evicted = max(evicted, self.capacity // _SHARE)
            victims = self._least_used(evicted, kept)
            self._write_back(victims[self._is_changed[victims]])
            self._slot_of[self._row_of[victims]] = ABSENT
            self._row_of[victims] = ABSENT
            free = np.concatenate([free, victims])
        return free[:count]

    def _least_used(self, count: int, kept: Slots) -> Slots:
        """The slots of at most so many rows, those that are to leave first; none that is kept."""
        may_leave = self._row_of != ABSENT
        may_leave[kept] = False
        candidates = np.flatnonzero(may_leave)
        count = min(count, len(candidates))
        uses = self._uses[candidates]
        limit = np.partition(uses, count - 1)[count - 1]
        seldom, equal = candidates[uses < limit], candidates[uses == limit]
        wanted = count - len(seldom)
        return np.concatenate([seldom, equal[np.argpartition(self._used_at[equal], wanted - 1)[:wanted]]])

    def _write_back(self, slots: Slots) -> None:
        if len(slots):
            for store in self._stores:
                store.store(self._row_of[slots], slots)
            self._is_changed[slots] = False


def _hottest(heat: npt.NDArray[np.int64], count: int) -> npt.NDArray[np.int64]:
    """The indices of the `count` largest values of `heat`, in ascending order of heat; of equal values, the later ones
    count as larger.
    """
    chosen = np.arange(len(heat))
    if len(heat) > count:  # without sorting all, of which there may be many
        limit = np.partition(heat, -count)[-count]
        above, equal = np.flatnonzero(heat > limit), np.flatnonzero(heat == limit)
        chosen = np.sort(np.concatenate([above, equal[len(equal) - (count - len(above)) :]]))
    return chosen[np.argsort(heat[chosen], kind="stable")]


class TieredStore:
    """The rows of one column, in a file and partly in memory."""

    def __init__(self, tier: Tier, dim: int, dtype: np.dtype[Any], kernels: Kernels, memory: MappedMemory) -> None:
        self._tier = tier
        self._kernels = kernels
        self._file = RowStore(dim, dtype, kernels, memory.allocate)
        self._cache = RowStore(dim, dtype, kernels)

    @property
    def dim(self) -> int:
        return self._file.dim

    @property
    def dtype(self) -> np.dtype[Any]:
        return self._file.dtype

    @property
    def nbytes(self) -> int:
        """The memory that rows take, without the file."""
        return self._cache.nbytes

    def grow(self, limit: int) -> None:
        self._file.grow(limit)
        self._tier.grow(limit)

    def read(self, rows: RowNumbers) -> Array:
        values = np.empty((len(rows), self.dim), self.dtype)
        for part in self._tier.pieces(len(rows)):
            values[part] = self._cache.read(self._tier.bring(rows[part]))
        return values

    def look_up(self, index: KeyIndex, keys: npt.NDArray[np.int64], absent: Array) -> Array:
        rows = index.find(keys)
        missing = rows == ABSENT
        values = np.empty((len(keys), self.dim), self.dtype)
        values[~missing] = self.read(rows[~missing])
        values[missing] = default_rows(absent, keys[missing])
        return values

    def write(self, rows: RowNumbers, values: npt.ArrayLike) -> None:
        given = np.asarray(values, self.dtype)
        given = np.broadcast_to(given, (len(rows), self.dim))
        for part in self._tier.pieces(len(rows)):
            self._cache.write(self._tier.bring(rows[part], is_changing=True), given[part])

    def write_defaults(self, rows: RowNumbers, keys: npt.NDArray[np.int64], matrix: Array) -> None:
        for part in self._tier.pieces(len(rows)):
            self._cache.write_defaults(self._tier.bring(rows[part], is_changing=True), keys[part], matrix)

    def scan(self, rows: RowNumbers) -> Array:
        """The rows of these numbers, read past the memory, which keeps what is in it."""
        self._tier.flush()
        return self._file.read(rows)

    def share(self) -> SharedRows:
        self._tier.flush()
        return self._file.share()

    def give_back(self, shared: SharedRows) -> None:
        self._file.give_back(shared)

    def clear(self) -> None:
        self._file.clear()

    def make_slots(self, count: int) -> None:
        """Makes room in memory for so many rows."""
        self._cache.grow(count)

    def let_go_of_slots(self) -> None:
        """Lets go of the memory."""
        self._cache.clear()

    def load(self, rows: RowNumbers, slots: Slots) -> None:
        """From the file into memory."""
        self._cache.write(slots, self._file.read(rows))

    def store(self, rows: RowNumbers, slots: Slots) -> None:
        """From memory into the file."""
        self._file.write(rows, self._cache.read(slots))
