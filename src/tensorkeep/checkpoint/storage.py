"""How tensors lie in the files of a checkpoint: what its reader tells those who want more of them than arrays.

Of some formats there is nothing to tell. They are read as arrays, which always works.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple, Protocol

from tensorkeep.checkpoint.bundle.format import Entry, Header
from tensorkeep.checkpoint.slices.tensor_slice import TensorSlice
from tensorkeep.dtypes import DType
from tensorkeep.io.files.filesystem import RandomAccessFile

if TYPE_CHECKING:
    from tensorkeep.checkpoint.reader import TensorInfo


class Place(NamedTuple):
    """Where the bytes of a stored tensor, or of one of the slices it is stored in, lie."""

    shard: int
    """The number of the data file."""
    offset: int
    size: int
    checksum: int
    """Of these bytes. Tensors of one type and shape, stored alike, are equal only if they have the same."""


class StoredBytes(Protocol):
    """The bytes of a tensor that is stored in one piece, and just as it is in memory.

    They can be read in any number of stretches, in any order, by several threads. Checksums that are not wanted, by the
    options of the reader, are neither worked out nor compared.
    """

    @property
    def dtype(self) -> DType: ...

    @property
    def shape(self) -> tuple[int, ...]: ...

    @property
    def size(self) -> int:
        """How many bytes there are."""
        ...

    @property
    def offset(self) -> int:
        """Where they begin in their file: memory that begins at the same place of a page is filled faster."""
        ...

    def read(self, start: int, buffer: memoryview, crc: int = 0) -> int:
        """Fills a buffer with the bytes from `start` on; gives the checksum of `crc` and them."""
        ...

    @property
    def readers(self) -> int:
        """How many threads read them well at a time; 0 for as many as there are processors."""
        ...

    def expect(self, start: int, end: int) -> None:
        """Says that the thread which asks will read the bytes from `start` to `end` from front to back."""
        ...

    def compare(self, crc: int) -> None:
        """DataLossError unless that is the checksum of all the bytes."""
        ...


class Linkable(Protocol):
    """A checkpoint whose data files a V2 checkpoint can share, by hard links, together with their entries."""

    path: str

    @property
    def header(self) -> Header:
        """Number and byte order of the data files."""
        ...

    @property
    def shard_count(self) -> int: ...

    def __iter__(self) -> Iterator[str]: ...

    def __getitem__(self, name: str, /) -> TensorInfo: ...

    def encoded_entry(self, name: str, part: TensorSlice | None = None) -> bytes:
        """The entry of a tensor, or of one of its slices, as it stands in the index."""
        ...

    def check_extent(self, entry: Entry) -> None:
        """DataLossError unless the bytes of a stored tensor are there, and as many as its shape asks for."""
        ...

    def shard(self, number: int) -> RandomAccessFile:
        """One of the data files."""
        ...
