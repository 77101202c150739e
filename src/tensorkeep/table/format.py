"""The fixed parts of a table file: handles, the footer, and the trailer behind every block.

    file    = block trailer, ... , block trailer, footer         the last block but one is the (empty) meta-index,
                                                                 the last is the index of the blocks before
    handle  = varint(offset) varint(size)                        1..20 bytes; the size excludes the trailer
    trailer = compression(1) masked_crc32c(4)                    the checksum covers the stored block and the
                                                                 compression byte
    footer  = handle(meta-index) handle(index) zeros magic(8)    48 bytes, the last of the file

Fixed-width integers are little-endian.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from tensorkeep.errors import DataLossError
from tensorkeep.io.coding.crc32c import crc32c, mask, unmask
from tensorkeep.io.coding.snappy import decompress
from tensorkeep.io.coding.varint import decode_varint, encode_varint
from tensorkeep.io.files.filesystem import RandomAccessFile

MAGIC: Final = bytes.fromhex("57fb808b247547db")
FOOTER_SIZE: Final = 48
TRAILER_SIZE: Final = 5
UNCOMPRESSED: Final = 0
SNAPPY: Final = 1


@dataclass(frozen=True, slots=True)
class BlockHandle:
    """The extent of one block, without its trailer."""

    offset: int
    size: int

    @property
    def end(self) -> int:
        """Where the next block may start."""
        return self.offset + self.size + TRAILER_SIZE

    def encode(self) -> bytes:
        return encode_varint(self.offset) + encode_varint(self.size)

    @classmethod
    def decode(cls, data: bytes | memoryview, at: int = 0) -> tuple[BlockHandle, int]:
        """Returns the handle that starts at `at`, and the position after it."""
        offset, at = decode_varint(data, at)
        size, at = decode_varint(data, at)
        return cls(offset, size), at


@dataclass(frozen=True, slots=True)
class Footer:
    """Where the two last blocks lie."""

    meta_index: BlockHandle
    index: BlockHandle

    def encode(self) -> bytes:
        handles = self.meta_index.encode() + self.index.encode()
        return handles.ljust(FOOTER_SIZE - len(MAGIC), b"\0") + MAGIC

    @classmethod
    def read(cls, file: RandomAccessFile) -> Footer:
        """The footer of a file, which must be a table."""
        if file.size < FOOTER_SIZE:
            raise DataLossError(
                f'"{file.path}" is not a table: it has {file.size} bytes, the footer alone takes {FOOTER_SIZE}'
            )
        data = file.read(file.size - FOOTER_SIZE, FOOTER_SIZE)
        if data[-len(MAGIC) :] != MAGIC:
            raise DataLossError(
                f'"{file.path}" is not a table: it ends in {data[-len(MAGIC) :].hex()}, expected {MAGIC.hex()} '
                "(cut short, added to, or another kind of file)"
            )
        try:
            meta_index, at = BlockHandle.decode(data[: -len(MAGIC)])
            index, _ = BlockHandle.decode(data[: -len(MAGIC)], at)
        except DataLossError as error:
            raise DataLossError(f'"{file.path}": damaged footer: {error}') from None
        return cls(meta_index, index)


def seal_block(contents: bytes) -> bytes:
    """A block with its trailer, stored uncompressed as TensorFlow does."""
    body = contents + bytes((UNCOMPRESSED,))
    return body + mask(crc32c(body)).to_bytes(4, "little")


def read_block(file: RandomAccessFile, handle: BlockHandle) -> bytes:
    """The checked and, where needed, decompressed contents of a block."""
    where = f'"{file.path}": block at byte {handle.offset} ({handle.size} bytes)'
    if handle.end > file.size - FOOTER_SIZE:
        raise DataLossError(f"{where} runs into the footer: the file is {file.size} bytes long")
    data = file.read(handle.offset, handle.size + TRAILER_SIZE)
    compression = data[handle.size]
    stored = unmask(int.from_bytes(data[-4:], "little"))
    actual = crc32c(data[: handle.size + 1])
    if actual != stored:
        raise DataLossError(f"{where} is damaged: its checksum is {actual:#010x}, expected {stored:#010x}")
    if compression == UNCOMPRESSED:
        return bytes(data[: handle.size])
    if compression != SNAPPY:
        raise DataLossError(f"{where} has compression type {compression}, known are 0 (none) and 1 (snappy)")
    try:
        return decompress(data[: handle.size])
    except DataLossError as error:
        raise DataLossError(f"{where}: {error}") from None
