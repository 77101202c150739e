"""An index of keys in compiled code: open addressing in many tables, each of which grows by itself."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from itertools import pairwise
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from tensorkeep.arrays import Array
from tensorkeep.embedding.table.chunks import Chunks
from tensorkeep.embedding.table.index import ABSENT, Keys, RowNumbers
from tensorkeep.embedding.table.initial_rows import default_rows
from tensorkeep.embedding.table.reused_memory import new_rows
from tensorkeep.errors import ResourceExhaustedError
from tensorkeep.io.machine.parallel import in_parallel
from tensorkeep.native.embedding import Functions, place
from tensorkeep.native.library import address

_LEAST: Final = 1 << 16  # keys that are worth a thread of their own
_SHARES: Final = 4  # parts for each thread: one that is held up leaves more of them to the others
_SAMPLE: Final = 100  # keys by which a batch is judged
_MOST_ROWS: Final = 2**32 - 1
_FILLED: Final = 1 << 24  # keys that an empty index is filled with at a time


class NativeIndex:
    """An index whose work is done by the compiled library, for large batches in several threads."""

    def __init__(self, compiled: Functions, threads: int = 1) -> None:
        self._compiled = compiled
        self._threads = threads
        self._handle: int = _require_handle(compiled.index_new())
        weakref.finalize(self, compiled.index_free, self._handle)

    @property
    def row_limit(self) -> int:
        return int(self._compiled.index_row_limit(self._handle))

    @property
    def nbytes(self) -> int:
        return int(self._compiled.index_bytes(self._handle))

    def __len__(self) -> int:
        return int(self._compiled.index_count(self._handle))

    def find(self, keys: Keys) -> RowNumbers:
        rows = np.empty(len(keys), np.int64)

        def work(part: slice) -> None:
            mine = keys[part]
            self._compiled.index_find(self._handle, place(mine), len(mine), address(rows[part]))

        in_parts(work, len(keys), self._threads)
        return rows

    def read(self, keys: Keys, rows: Chunks, absent: Array) -> Array:
        """The rows of keys; for those that are not there a row of `absent`, as if that were the default."""
        if not len(rows):
            return default_rows(absent, keys)
        values = new_rows((len(keys), rows.dim), rows.dtype)
        out, defaults = values.view(np.uint8), absent.view(np.uint8)

        def work(part: slice) -> None:
            mine = keys[part]
            self._compiled.find_and_gather(
                self._handle,
                place(mine),
                len(mine),
                address(rows.addresses),
                rows.bits,
                rows.row_bytes,
                place(defaults),
                len(absent),
                address(out[part]),
            )

        in_parts(work, len(keys), self._threads)
        return values

    def find_or_insert(self, keys: Keys) -> tuple[RowNumbers, npt.NDArray[np.int64]]:
        if not self._is_worth_looking(keys):
            return self._find_or_insert(keys)
        rows = self.find(keys)
        absent = np.flatnonzero(rows == ABSENT)
        if len(absent):
            rows[absent], fresh = self._find_or_insert(keys[absent])
            absent = absent[fresh]
        return rows, absent

    def _is_worth_looking(self, keys: Keys) -> bool:
        """Whether it is quicker to look for all keys first, in threads, and then to insert the others, in one."""
        if self._threads == 1 or len(keys) < 2 * _LEAST:
            return False
        sample = self.find(keys[:: len(keys) // _SAMPLE].copy())
        return int(np.count_nonzero(sample == ABSENT)) < len(sample) // 4

    def _find_or_insert(self, keys: Keys) -> tuple[RowNumbers, npt.NDArray[np.int64]]:
        rows, fresh = np.empty(len(keys), np.int64), np.empty(len(keys), np.int64)
        count = self._compiled.index_find_or_insert(self._handle, place(keys), len(keys), address(rows), address(fresh))
        if count < 0:
            raise ResourceExhaustedError(f"no memory is left to insert {len(keys)} keys into an index of {len(self)}")
        return rows, fresh[:count]

    def fill(self, keys: Keys) -> int:
        """Puts keys together by shard, some millions at a time, and then fills shards, each small enough for a cache.

        Threads fill different ones, so none waits for another.
        """
        if len(keys) >= _MOST_ROWS:
            raise ResourceExhaustedError(f"{len(keys)} keys, expected fewer than {_MOST_ROWS}")
        compiled = self._compiled
        blocks = [parts_of(len(keys[at : at + _FILLED]), self._threads) for at in range(0, len(keys), _FILLED)]
        parts = [
            slice(number * _FILLED + part.start, number * _FILLED + part.stop)
            for number, block in enumerate(blocks)
            for part in block
        ]
        counts = np.zeros((len(parts), compiled.index_shards()), np.int64)

        def count(number: int) -> None:
            mine = keys[parts[number]]
            compiled.index_count_shards(place(mine), len(mine), address(counts[number]))

        in_parallel(count, range(len(parts)), self._threads)
        items = np.empty((min(len(keys), _FILLED), 3), np.uint32)
        totals, repeated, first = counts.sum(axis=0), 0, 0
        try:
            if not compiled.index_make_room(self._handle, address(totals)):
                raise ResourceExhaustedError(f"no memory is left for an index of {len(keys)} keys")
            for block in blocks:
                within = slice(first, first + len(block))
                repeated += self._fill_block(keys, parts[within], counts[within], items)
                first = within.stop
        except BaseException:
            self.clear()
            raise
        compiled.index_filled(self._handle)
        if repeated:
            self.clear()
        return repeated

    def _fill_block(self, keys: Keys, parts: list[slice], counts: RowNumbers, items: Array) -> int:
        """Stores some of the keys, of which it is known how many each part has for each shard."""
        offsets = np.concatenate([np.zeros(1, np.int64), np.cumsum(counts.sum(axis=0))])
        starts = offsets[:-1] + np.cumsum(counts, axis=0) - counts

        def distribute(number: int) -> None:
            mine = keys[parts[number]]
            places = (parts[number].start, len(mine), address(starts[number]), address(items))
            self._compiled.index_place_by_shard(place(mine), *places)

        def store(part: slice) -> int:
            places = (address(items), address(offsets), part.start, part.stop)
            return int(self._compiled.index_fill_shards(self._handle, *places))

        in_parallel(distribute, range(len(parts)), self._threads)
        shards = parts_of(counts.shape[1], self._threads if len(parts) > 1 else 1, least=1)
        return sum(in_parallel(store, shards, self._threads))

    def remove(self, keys: Keys) -> RowNumbers:
        freed = np.empty(len(keys), np.int64)
        count = self._compiled.index_remove(self._handle, place(keys), len(keys), address(freed))
        if count < 0:
            raise ResourceExhaustedError(f"no memory is left to remove {len(keys)} keys from an index of {len(self)}")
        return freed[:count]

    def items(self) -> tuple[Keys, RowNumbers]:
        keys, rows = np.empty(len(self), np.int64), np.empty(len(self), np.int64)
        self._compiled.index_items(self._handle, address(keys), address(rows))
        return keys, rows

    def reserve(self, count: int) -> None:
        if not self._compiled.index_reserve(self._handle, count):
            raise ResourceExhaustedError(f"no memory is left for an index of {count} keys")

    def clear(self) -> None:
        self._compiled.index_clear(self._handle)


def parts_of(count: int, threads: int, least: int | None = None) -> list[slice]:
    """A batch in some parts for each thread, if there is enough of it for each; in one if there is one thread."""
    parts = max(1, min(threads * _SHARES, count // (least or _LEAST))) if threads > 1 else 1
    return [slice(*pair) for pair in pairwise(count * part // parts for part in range(parts + 1))]


def in_parts(work: Callable[[slice], Any], count: int, threads: int, least: int | None = None) -> None:
    """Has the parts of a batch done in threads."""
    in_parallel(work, parts_of(count, threads, least), threads)


def _require_handle(handle: int | None) -> int:
    if handle is None:
        raise ResourceExhaustedError("no memory is left for an index of keys")
    return handle
