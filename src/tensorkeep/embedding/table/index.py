"""From keys to row numbers.

Row numbers are dense: a new key takes one that was freed, the last first, or else the next. Any 64-bit key is legal.
"""

from __future__ import annotations

from typing import Final, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

Keys: TypeAlias = npt.NDArray[np.int64]
RowNumbers: TypeAlias = npt.NDArray[np.int64]

ABSENT: Final = -1
"""The row number of a key that is not there."""

_EMPTY: Final = -1
_REMOVED: Final = -2
_SMALLEST: Final = 16  # slots


class KeyIndex(Protocol):
    """Keys and their row numbers. Who calls sees to it that nothing changes while somebody else looks."""

    @property
    def row_limit(self) -> int:
        """All row numbers that are, or ever were, in use lie below."""
        ...

    @property
    def nbytes(self) -> int:
        """The memory that it takes."""
        ...

    def __len__(self) -> int: ...

    def find(self, keys: Keys) -> RowNumbers:
        """The row number of each key; -1 where it is not there."""
        ...

    def find_or_insert(self, keys: Keys) -> tuple[RowNumbers, npt.NDArray[np.int64]]:
        """The row number of each key, and where in `keys` those stand that are new: each once, the first time."""
        ...

    def fill(self, keys: Keys) -> int:
        """Numbers the keys of an index that never had any: 0, 1, 2 … as they stand.

        Returns how many of them are there more than once. If any are, the index stays empty.
        """
        ...

    def remove(self, keys: Keys) -> RowNumbers:
        """Forgets keys, and returns the numbers of their rows. Keys that are not there are passed over."""
        ...

    def items(self) -> tuple[Keys, RowNumbers]:
        """All keys and their rows, in no particular order."""
        ...

    def reserve(self, count: int) -> None:
        """Makes room for so many keys in all."""
        ...

    def clear(self) -> None:
        """Forgets all keys, and starts numbering anew."""
        ...


class NumPyIndex:
    """An index in NumPy: one open-addressing table, probed for all keys of a call together."""

    def __init__(self, capacity: int = 0) -> None:
        self._count = 0
        self._limit = 0
        self._free = np.zeros(0, np.int64)
        self._free_count = 0
        self._allocate(_SMALLEST)
        self.reserve(capacity)

    @property
    def row_limit(self) -> int:
        return self._limit

    @property
    def nbytes(self) -> int:
        return self._keys.nbytes + self._rows.nbytes + self._free.nbytes

    def __len__(self) -> int:
        return self._count

    def find(self, keys: Keys) -> RowNumbers:
        return self._probe(keys)[0]

    def find_or_insert(self, keys: Keys) -> tuple[RowNumbers, npt.NDArray[np.int64]]:
        rows = self.find(keys)
        absent = np.flatnonzero(rows < 0)
        if not absent.size:
            return rows, absent
        new, first, inverse = np.unique(keys[absent], return_index=True, return_inverse=True)
        order = np.argsort(first, kind="stable")
        self.reserve(self._count + len(new))
        numbers = np.empty(len(new), np.int64)
        numbers[order] = self._take(len(new))
        self._place(new, numbers)
        self._count += len(new)
        rows[absent] = numbers[inverse.reshape(-1)]
        return rows, absent[first[order]]

    def fill(self, keys: Keys) -> int:
        repeated = len(keys) - len(self.find_or_insert(keys)[1])
        if repeated:
            self.clear()
        return repeated

    def remove(self, keys: Keys) -> RowNumbers:
        _, slots = self._probe(keys)
        slots = slots[slots >= 0]
        _, first = np.unique(slots, return_index=True)
        slots = slots[np.sort(first)]
        rows: RowNumbers = self._rows[slots]
        self._rows[slots] = _REMOVED
        self._count -= len(rows)
        self._give_back(rows)
        return rows

    def items(self) -> tuple[Keys, RowNumbers]:
        taken = self._rows >= 0
        return self._keys[taken], self._rows[taken]

    def reserve(self, count: int) -> None:
        wanted = len(self._rows)
        while wanted < 2 * count:
            wanted *= 2
        if wanted == len(self._rows) and self._used + count - self._count <= wanted * 3 // 4:
            return
        keys, rows = self.items()
        self._allocate(wanted)
        self._place(keys, rows)

    def clear(self) -> None:
        self._count = self._limit = self._free_count = 0
        self._free = np.zeros(0, np.int64)
        self._allocate(_SMALLEST)

    def _allocate(self, slots: int) -> None:
        self._keys = np.zeros(slots, np.int64)
        self._rows = np.full(slots, _EMPTY, np.int64)
        self._used = 0  # slots that a probe does not end at

    def _start(self, keys: Keys) -> npt.NDArray[np.int64]:
        """Where the probe for each key begins."""
        with np.errstate(over="ignore"):
            mixed = keys.view(np.uint64) ^ (keys.view(np.uint64) >> np.uint64(30))
            mixed = mixed * np.uint64(0xBF58476D1CE4E5B9)
            mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
            mixed ^= mixed >> np.uint64(31)
        start: npt.NDArray[np.int64] = (mixed & np.uint64(len(self._rows) - 1)).astype(np.int64)
        return start

    def _probe(self, keys: Keys) -> tuple[RowNumbers, npt.NDArray[np.int64]]:
        """The row and the slot of each key, -1 where it is not there."""
        keys = np.ascontiguousarray(keys, np.int64)
        rows, slots = np.full(len(keys), ABSENT), np.full(len(keys), ABSENT)
        mask = len(self._rows) - 1
        open_, at, sought = np.arange(len(keys)), self._start(keys), keys
        while open_.size:
            found = self._rows[at]
            hit = (found >= 0) & (self._keys[at] == sought)
            rows[open_[hit]] = found[hit]
            slots[open_[hit]] = at[hit]
            on = ~hit & (found != _EMPTY)
            open_, at, sought = open_[on], (at[on] + 1) & mask, sought[on]
        return rows, slots

    def _place(self, keys: Keys, rows: RowNumbers) -> None:
        """Stores keys that are not there, each of them once."""
        mask = len(self._rows) - 1
        at = self._start(np.ascontiguousarray(keys))
        while keys.size:
            free = self._rows[at] < 0
            was_empty = self._rows[at] == _EMPTY
            self._rows[at[free]] = rows[free]
            won = self._rows[at] == rows  # of those that wanted one slot, the last has it
            self._keys[at[won]] = keys[won]
            self._used += int(np.count_nonzero(won & was_empty))
            keys, rows, at = keys[~won], rows[~won], (at[~won] + 1) & mask

    def _take(self, count: int) -> RowNumbers:
        """Row numbers for new keys."""
        used_again = min(count, self._free_count)
        numbers = np.empty(count, np.int64)
        numbers[:used_again] = self._free[self._free_count - used_again : self._free_count][::-1]
        self._free_count -= used_again
        numbers[used_again:] = np.arange(self._limit, self._limit + count - used_again)
        self._limit += count - used_again
        return numbers

    def _give_back(self, rows: RowNumbers) -> None:
        needed = self._free_count + len(rows)
        if needed > len(self._free):
            self._free = np.concatenate([self._free[: self._free_count], np.empty(needed, np.int64)])
        self._free[self._free_count : needed] = rows
        self._free_count = needed
