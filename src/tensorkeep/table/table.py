"""Tables: sorted maps from bytes to bytes in one file (see format.py for its parts, block.py for the entries).

Data blocks hold the entries in key order. The index block has one entry per data block: a *separator*, at or above
the block's last key and below the first key of the next, and the block's handle. To find a key, take the first
separator at or above it, and look in that block alone.

Byte for byte what TensorFlow writes: a block is closed once it has reached 256 KiB, a value of 512 KiB or more starts
a block of its own, keys restart every 16 entries, separators are shortened, and nothing is compressed.
"""

from __future__ import annotations

from collections.abc import Iterator

from tensorkeep.errors import DataLossError
from tensorkeep.io.files.filesystem import RandomAccessFile
from tensorkeep.table.block import Block
from tensorkeep.table.format import BlockHandle, Footer, read_block

_RECENT_SIZE = 1 << 20
_RECENT_COUNT = 8


class Table:
    """A table opened for reading. Opening reads the footer and the index block; blocks are checked as they are read."""

    def __init__(self, file: RandomAccessFile) -> None:
        self._file = file
        index = Footer.read(file).index
        self.path = file.path
        self.size = file.size
        self._recent: dict[int, Block] = {}  # blocks just used, by offset: neighbours are often asked for in turn
        self._index = self._block(index)

    def get(self, key: bytes) -> bytes | None:
        """The value of a key, or None. Looks in one block: a hostile index could name a large one over and over."""
        for _, handle in self._handles(key):
            for found, value in self._block(handle).seek(key):
                return value if found == key else None
            return None
        return None

    def __contains__(self, key: bytes) -> bool:
        return self.get(key) is not None

    def items(self, start: bytes = b"") -> Iterator[tuple[bytes, bytes]]:
        """The entries at or above `start`, in order. DataLossError at the first damaged block."""
        for _, handle in self._handles(start):
            yield from self._block(handle).seek(start)

    def blocks(self) -> Iterator[tuple[BlockHandle, Block | DataLossError]]:
        """Every data block, or, where a block is damaged, the error that says so: for readers that go on regardless.

        The index block itself has to be sound, and blocks must follow one another in the file.
        """
        end = 0
        for separator, handle in self._handles(b""):
            if handle.offset < end:
                raise DataLossError(
                    f'"{self.path}": the block of keys up to {separator!r} starts at byte {handle.offset}, inside '
                    f"the block before it, which ends at byte {end}"
                )
            end = handle.end
            try:
                yield handle, self._block(handle)
            except DataLossError as error:
                yield handle, error

    def _handles(self, start: bytes) -> Iterator[tuple[bytes, BlockHandle]]:
        for separator, value in self._index.seek(start):
            try:
                handle, _ = BlockHandle.decode(value)
            except DataLossError as error:
                raise DataLossError(f'"{self.path}": damaged handle for keys up to {separator!r}: {error}') from None
            yield separator, handle

    def _block(self, handle: BlockHandle) -> Block:
        block = self._recent.get(handle.offset)
        if block is None:
            block = Block(read_block(self._file, handle), f'"{self.path}": block at byte {handle.offset}')
            if handle.size <= _RECENT_SIZE:
                if len(self._recent) >= _RECENT_COUNT:
                    self._recent = {}
                self._recent[handle.offset] = block
        return block
