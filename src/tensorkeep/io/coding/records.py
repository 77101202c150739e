"""Record files (TFRecord): byte strings one after the other, each with checksums of its own.

record = length(8, little-endian)  masked_crc(length)(4)  data  masked_crc(data)(4)
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import Final

from tensorkeep.errors import DataLossError
from tensorkeep.io.coding.crc32c import masked_crc32c
from tensorkeep.io.files.filesystem import FileSystem, RandomAccessFile

_HEADER: Final = struct.Struct("<QI")
_CHECKSUM: Final = struct.Struct("<I")


class CutRecordError(DataLossError):
    """A file ends in the middle of a record, as one does whose writer was killed: all before it is whole."""


def encode_record(data: bytes) -> bytes:
    """A record that holds `data`."""
    length = struct.pack("<Q", len(data))
    return b"".join((length, _CHECKSUM.pack(masked_crc32c(length)), data, _CHECKSUM.pack(masked_crc32c(data))))


def read_records(fs: FileSystem, path: str) -> Iterator[bytes]:
    """What the records of a file hold, one after the other.

    DataLossError at a record that is damaged or cut off (CutRecordError); those before it have been given by then.
    """
    file = fs.open(path)
    try:
        at = 0
        while at < file.size:
            data = _record_at(file, at)
            yield data
            at += _HEADER.size + len(data) + _CHECKSUM.size
    finally:
        file.close()


def _record_at(file: RandomAccessFile, at: int) -> bytes:
    if file.size - at < _HEADER.size:
        raise CutRecordError(f'"{file.path}": truncated record at {at}: {file.size - at} bytes are left')
    header = bytes(file.read(at, _HEADER.size))
    length, checksum = _HEADER.unpack(header)
    if masked_crc32c(header[:8]) != checksum:
        raise DataLossError(f'"{file.path}": corrupted record at {at}: the checksum of its length does not fit')
    start = at + _HEADER.size
    if file.size - start < length + _CHECKSUM.size:
        raise CutRecordError(
            f'"{file.path}": truncated record at {at}: {length} bytes and a checksum are to come, '
            f"{file.size - start} bytes are left"
        )
    data = bytes(file.read(start, length))
    (checksum,) = _CHECKSUM.unpack(file.read(start + length, _CHECKSUM.size))
    if masked_crc32c(data) != checksum:
        raise DataLossError(f'"{file.path}": corrupted record at {at}: the checksum of its {length} bytes does not fit')
    return data
