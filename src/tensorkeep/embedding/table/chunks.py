"""Where the rows of a column lie: in chunks, their number of rows a power of two, by which row numbers are divided."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tensorkeep.arrays import Array


class Chunk:
    """Some rows, and how many snapshots look at them."""

    __slots__ = ("array", "shares")

    def __init__(self, array: Array) -> None:
        self.array = array
        self.shares = 0


class Chunks:
    """The chunks of a column, and where they are in memory."""

    def __init__(self, dim: int, dtype: np.dtype[Any], bits: int, chunks: Sequence[Chunk] = ()) -> None:
        self.dim = dim
        self.dtype = dtype
        self.bits = bits
        self._chunks = list(chunks)
        self.addresses = np.array([chunk.array.ctypes.data for chunk in chunks], np.int64)

    @classmethod
    def of(cls, rows: Array) -> Chunks:
        """The rows of a matrix, which they change with, as one chunk."""
        return cls(rows.shape[1], rows.dtype, len(rows).bit_length(), [Chunk(rows)])

    @property
    def row_bytes(self) -> int:
        """The size of a row."""
        return self.dim * self.dtype.itemsize

    @property
    def nbytes(self) -> int:
        """The memory that the chunks take."""
        return sum(chunk.array.nbytes for chunk in self._chunks)

    def __len__(self) -> int:
        return len(self._chunks)

    def __getitem__(self, number: int) -> Chunk:
        return self._chunks[number]

    def append(self, chunk: Chunk) -> None:
        """Adds a chunk behind the others."""
        self._chunks.append(chunk)
        self.addresses = np.append(self.addresses, chunk.array.ctypes.data)

    def replace(self, number: int, chunk: Chunk) -> None:
        """Puts a chunk in the place of another."""
        self._chunks[number] = chunk
        self.addresses[number] = chunk.array.ctypes.data

    def clear(self) -> None:
        """Lets go of all chunks."""
        self._chunks.clear()
        self.addresses = self.addresses[:0].copy()

    def copy(self) -> Chunks:
        """The same chunks, whatever becomes of this list."""
        return Chunks(self.dim, self.dtype, self.bits, self._chunks)
