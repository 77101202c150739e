"""Rows by number, in chunks of a few megabytes. Columns, the weights and the slots, are such rows with a name.

Growing moves no rows, but for those of a table that is still smaller than a chunk. A snapshot costs nothing but a note
that a chunk is shared, which is then copied by whoever changes a row in it first.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

from tensorkeep.arrays import Array
from tensorkeep.embedding.table.chunks import Chunk, Chunks
from tensorkeep.embedding.table.index import KeyIndex
from tensorkeep.embedding.table.kernels import Kernels
from tensorkeep.embedding.table.snapshot import ColumnInfo

RowNumbers: TypeAlias = npt.NDArray[np.int64]
Bytes: TypeAlias = npt.NDArray[np.uint8]

_CHUNK_BYTES: Final = 1 << 23
_FIRST_ROWS: Final = 64
_CACHE_LINE: Final = 64  # bytes
_LARGE_PAGE: Final = 1 << 21


class SharedRows:
    """The rows of a column as they were, to be read."""

    def __init__(self, chunks: Chunks, kernels: Kernels) -> None:
        self.chunks = chunks
        self._kernels = kernels

    def read(self, rows: RowNumbers) -> Array:
        """The rows of these numbers, as [rows, dim], in memory of their own."""
        return self._kernels.gather(self.chunks, rows)

    def lend(self, rows: RowNumbers) -> Array:
        """The same, to be looked at until they are given back: where they lie, if they lie there one after the other.

        So they do in a table that was restored, and has changed little since.
        """
        if len(rows):
            first, size = int(rows[0]), 1 << self.chunks.bits
            start, end = first % size, first % size + len(rows)
            if end <= size and np.array_equal(rows, np.arange(first, first + len(rows))):
                lent = self.chunks[first // size].array[start:end]
                lent.flags.writeable = False
                return lent
        return self.read(rows)


class ColumnStore(Protocol):
    """The rows of a column, wherever they are. While one thread changes them, no other may use them."""

    @property
    def dim(self) -> int: ...

    @property
    def dtype(self) -> np.dtype[Any]: ...

    @property
    def nbytes(self) -> int:
        """The memory that the rows take."""
        ...

    def grow(self, limit: int) -> None:
        """Makes room for the rows below `limit`. What new rows hold is not said."""
        ...

    def read(self, rows: RowNumbers) -> Array:
        """The rows of these numbers, as [rows, dim], in memory of their own."""
        ...

    def look_up(self, index: KeyIndex, keys: npt.NDArray[np.int64], absent: Array) -> Array:
        """The rows of keys; for those that are not there a row of `absent`, as if that were the default."""
        ...

    def write(self, rows: RowNumbers, values: npt.ArrayLike) -> None:
        """Stores a row for each number, or the same for all. Of rows for the same number the last is kept."""
        ...

    def write_defaults(self, rows: RowNumbers, keys: npt.NDArray[np.int64], matrix: Array) -> None:
        """Stores the default rows of the keys."""
        ...

    def scan(self, rows: RowNumbers) -> Array:
        """What `read` gives, where all rows are looked at and none is the more likely to be needed for it."""
        ...

    def share(self) -> SharedRows:
        """The rows as they are now, which stay so until they are given back."""
        ...

    def give_back(self, shared: SharedRows) -> None:
        """Ends what `share` began."""
        ...

    def clear(self) -> None:
        """Lets go of all rows."""
        ...


class RowStore:
    """Rows in memory, or in memory that is a file's."""

    def __init__(
        self, dim: int, dtype: npt.DTypeLike, kernels: Kernels, allocate: Callable[[int], Bytes] | None = None
    ) -> None:
        dtype = np.dtype(dtype)
        rows = max(_FIRST_ROWS, _CHUNK_BYTES // max(dim * dtype.itemsize, 1))
        self.chunks = Chunks(dim, dtype, rows.bit_length() - 1)
        self._kernels = kernels
        self._allocate = allocate or _aligned_memory
        self._shared = 0  # chunks that a snapshot looks at
        self._limit = 0

    @property
    def dim(self) -> int:
        return self.chunks.dim

    @property
    def dtype(self) -> np.dtype[Any]:
        return self.chunks.dtype

    @property
    def nbytes(self) -> int:
        return self.chunks.nbytes

    def grow(self, limit: int) -> None:
        if limit <= self._limit:
            return
        size = 1 << self.chunks.bits
        if limit > size:
            self._grow_first(size)
            while len(self.chunks) < -(-limit // size):
                self.chunks.append(self._new_chunk(size))
        else:
            self._grow_first(max(_FIRST_ROWS, 1 << (limit - 1).bit_length()))
        self._limit = limit

    def read(self, rows: RowNumbers) -> Array:
        return self._kernels.gather(self.chunks, rows)

    def look_up(self, index: KeyIndex, keys: npt.NDArray[np.int64], absent: Array) -> Array:
        return self._kernels.read(index, keys, self.chunks, absent)

    def scan(self, rows: RowNumbers) -> Array:
        return self.read(rows)

    def write(self, rows: RowNumbers, values: npt.ArrayLike) -> None:
        given = np.asarray(values, self.dtype)
        if given.ndim < 2:
            given = np.broadcast_to(given, (1, self.dim))
        self.unshare(rows)
        self._kernels.scatter(self.chunks, rows, given)

    def write_defaults(self, rows: RowNumbers, keys: npt.NDArray[np.int64], matrix: Array) -> None:
        self.unshare(rows)
        self._kernels.scatter_defaults(self.chunks, rows, keys, matrix)

    def blocks(self, count: int) -> list[Array]:
        """The first rows, as matrices that they change with, all but the last of one size. No snapshot has them."""
        size = 1 << self.chunks.bits
        return [self.chunks[at // size].array[: count - at] for at in range(0, count, size)]

    def unshare(self, rows: RowNumbers) -> None:
        """Copies the chunks that hold these rows and that a snapshot looks at, so that it keeps what it has."""
        if not self._shared or not len(rows):
            return
        held = np.zeros(len(self.chunks), np.bool_)
        held[rows >> self.chunks.bits] = True
        for which in np.flatnonzero(held).tolist():
            if self.chunks[which].shares:
                self._copy_chunk(which)

    def share(self) -> SharedRows:
        for number in range(len(self.chunks)):
            chunk = self.chunks[number]
            self._shared += not chunk.shares
            chunk.shares += 1
        return SharedRows(self.chunks.copy(), self._kernels)

    def give_back(self, shared: SharedRows) -> None:
        current = {id(self.chunks[number]) for number in range(len(self.chunks))}
        for number in range(len(shared.chunks)):
            chunk = shared.chunks[number]
            chunk.shares -= 1
            self._shared -= not chunk.shares and id(chunk) in current
        shared.chunks.clear()

    def clear(self) -> None:
        self.chunks.clear()
        self._shared = self._limit = 0

    def _new_chunk(self, rows: int) -> Chunk:
        size = rows * self.chunks.row_bytes
        return Chunk(self._allocate(size)[:size].view(self.dtype).reshape(rows, self.dim))

    def _copy_chunk(self, which: int) -> None:
        old = self.chunks[which].array
        new = self._new_chunk(len(old))
        new.array[...] = old
        self.chunks.replace(which, new)
        self._shared -= 1

    def _grow_first(self, rows: int) -> None:
        """While there is only one chunk, it is no larger than it has to be."""
        if not len(self.chunks):
            self.chunks.append(self._new_chunk(rows))
            return
        old = self.chunks[0]
        if len(old.array) < rows:
            new = self._new_chunk(rows)
            new.array[: len(old.array)] = old.array
            self._shared -= bool(old.shares)
            self.chunks.replace(0, new)


def _aligned_memory(size: int) -> Bytes:
    """Memory that begins with a cache line, so that rows lie in as few of them as can be, or with a large page."""
    alignment = _LARGE_PAGE if size >= _LARGE_PAGE else _CACHE_LINE
    memory = np.empty(size + alignment, np.uint8)
    start = -memory.ctypes.data % alignment
    return memory[start : start + size]


@dataclass(frozen=True, slots=True, eq=False)
class Column:
    """Rows with a name, and the default rows that new keys are given."""

    name: str
    default: Array
    store: ColumnStore

    @property
    def dim(self) -> int:
        return self.store.dim

    @property
    def dtype(self) -> np.dtype[Any]:
        return self.store.dtype

    @property
    def info(self) -> ColumnInfo:
        return ColumnInfo(self.name, self.dim, self.dtype)
