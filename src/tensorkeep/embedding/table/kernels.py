"""The work on keys and rows that takes time, as a table sees it, and its implementation in NumPy."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

from tensorkeep.arrays import Array
from tensorkeep.embedding.stored.buckets import order_of
from tensorkeep.embedding.table.chunks import Chunk, Chunks
from tensorkeep.embedding.table.index import ABSENT, KeyIndex, Keys, NumPyIndex, RowNumbers
from tensorkeep.embedding.table.initial_rows import default_rows
from tensorkeep.embedding.table.update_rules import Rule

Integers: TypeAlias = npt.NDArray[np.int64]

_AT_ONCE: Final = 1 << 14  # rows that a rule works on together, so that they stay in the cache


class Kernels(Protocol):
    """What a table has done for it. Row numbers are of rows that are there, and values of the right type and shape."""

    def new_index(self) -> KeyIndex:
        """An empty index."""
        ...

    def read(self, index: KeyIndex, keys: Keys, rows: Chunks, absent: Array) -> Array:
        """The rows of keys; for those that are not there a row of `absent`, as if that were the default."""
        ...

    def gather(self, rows: Chunks, numbers: RowNumbers) -> Array:
        """The rows of these numbers, as [rows, dim], in memory of their own."""
        ...

    def scatter(self, rows: Chunks, numbers: RowNumbers, values: Array) -> None:
        """Stores a row for each number, or one for all. Of rows for the same number the last is kept."""
        ...

    def scatter_defaults(self, rows: Chunks, numbers: RowNumbers, keys: Keys, matrix: Array) -> None:
        """Stores the default rows of keys."""
        ...

    def groups_of(self, values: Integers, limit: int | None = None) -> tuple[Integers, Integers] | None:
        """Where each value stands first, and for each position its group, numbered in order of first occurrence.

        None if no value is there twice. If there is a limit, values lie from 0 up to it.
        """
        ...

    def summed(self, values: Array, first: Integers, group: Integers) -> Array:
        """The sums of the rows of each group, added one after the other in their order."""
        ...

    def step(
        self, rule: Rule, columns: Sequence[Chunks], numbers: RowNumbers, gradient: Array, values: Sequence[Any]
    ) -> None:
        """Takes an optimizer's step on rows, none of them named twice."""
        ...

    def in_order(self, keys: Keys, numbers: RowNumbers) -> tuple[Keys, RowNumbers]:
        """Keys by bucket, and by key within one, with their rows."""
        ...


class NumPyKernels:
    """The work done by NumPy."""

    def new_index(self) -> KeyIndex:
        return NumPyIndex()

    def read(self, index: KeyIndex, keys: Keys, rows: Chunks, absent: Array) -> Array:
        numbers = index.find(keys)
        missing = numbers == ABSENT
        if not missing.any():
            return self.gather(rows, numbers)
        values = np.empty((len(keys), rows.dim), rows.dtype)
        values[~missing] = self.gather(rows, numbers[~missing])
        values[missing] = default_rows(absent, keys[missing])
        return values

    def gather(self, rows: Chunks, numbers: RowNumbers) -> Array:
        values = np.empty((len(numbers), rows.dim), rows.dtype)
        for chunk, positions, within in _by_chunk(rows, numbers):
            values[positions] = chunk.array[within]
        return values

    def scatter(self, rows: Chunks, numbers: RowNumbers, values: Array) -> None:
        values = np.broadcast_to(values, (len(numbers), rows.dim))
        for chunk, positions, within in _by_chunk(rows, numbers):
            chunk.array[within] = values[positions]

    def scatter_defaults(self, rows: Chunks, numbers: RowNumbers, keys: Keys, matrix: Array) -> None:
        self.scatter(rows, numbers, default_rows(matrix, keys))

    def groups_of(self, values: Integers, limit: int | None = None) -> tuple[Integers, Integers] | None:
        unique, first, inverse = np.unique(values, return_index=True, return_inverse=True)
        if len(unique) == len(values):
            return None
        order = np.argsort(first, kind="stable")
        rank = np.empty(len(order), np.int64)
        rank[order] = np.arange(len(order))
        return first[order].astype(np.int64), rank[inverse.reshape(-1)]

    def summed(self, values: Array, first: Integers, group: Integers) -> Array:
        sums: Array = values[first]
        rest = np.ones(len(values), np.bool_)
        rest[first] = False
        np.add.at(sums, group[rest], values[rest])
        return sums

    def step(
        self, rule: Rule, columns: Sequence[Chunks], numbers: RowNumbers, gradient: Array, values: Sequence[Any]
    ) -> None:
        words = dict(zip(rule.numbers, values, strict=True))
        with np.errstate(all="ignore"):
            for at in range(0, len(numbers), _AT_ONCE):
                part = numbers[at : at + _AT_ONCE]
                blocks = [self.gather(rows, part) for rows in columns]
                rule.step(*blocks, gradient[at : at + _AT_ONCE], **words)
                for rows, block in zip(columns, blocks, strict=True):
                    self.scatter(rows, part, block)

    def in_order(self, keys: Keys, numbers: RowNumbers) -> tuple[Keys, RowNumbers]:
        order = order_of(keys)
        return keys[order], numbers[order]


def _by_chunk(rows: Chunks, numbers: RowNumbers) -> Iterator[tuple[Chunk, Any, RowNumbers]]:
    """The chunks that hold some of the rows: which of them, and where in the chunk they are."""
    if not len(numbers):
        return
    if len(rows) == 1:
        yield rows[0], slice(None), numbers
        return
    which = numbers >> rows.bits
    within = numbers & ((1 << rows.bits) - 1)
    order = np.argsort(which, kind="stable")
    for part in np.split(order, np.flatnonzero(np.diff(which[order])) + 1):
        yield rows[int(which[part[0]])], part, within[part]
