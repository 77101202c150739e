"""Riegeli files for tests, by the public description of the format: simple chunks, uncompressed by default."""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence

from tensorkeep.io.coding.riegeli import riegeli_hash
from tensorkeep.io.coding.varint import encode_varint

BLOCK = 1 << 16


class RiegeliWriter:
    """Writes chunks of records; `position` of a record is where the next chunk begins, plus its number in the chunk."""

    def __init__(self) -> None:
        self.data = bytearray()
        self._chunk(b"", ord("s"), 0, 0)

    def write(
        self,
        records: Sequence[bytes],
        kind: int = ord("r"),
        compression: int = 0,
        compress: Callable[[bytes], bytes] = bytes,
    ) -> list[int]:
        """Adds a chunk, and gives the positions of its records."""
        begin = len(self.data)
        sizes = b"".join(encode_varint(len(record)) for record in records)
        values = b"".join(records)
        total = len(values)
        if compression:
            sizes = encode_varint(len(sizes)) + compress(sizes)
            values = encode_varint(len(values)) + compress(values)
        data = bytes([compression]) + encode_varint(len(sizes)) + sizes + values
        self._chunk(data, kind, len(records), total)
        return [begin + index for index in range(len(records))]

    def _chunk(self, data: bytes, kind: int, records: int, decoded: int) -> None:
        rest = struct.pack("<QQQQ", len(data), riegeli_hash(data), kind | records << 8, decoded)
        whole = struct.pack("<Q", riegeli_hash(rest)) + rest + data
        begin = len(self.data)
        end = self._end(begin, len(whole), records)
        for byte_at in range(len(whole)):
            self._skip_header(begin, end)
            self.data.append(whole[byte_at])
        while len(self.data) < end:
            self._skip_header(begin, end)
            self.data.append(0)

    def _skip_header(self, begin: int, end: int) -> None:
        if len(self.data) % BLOCK == 0:
            here = len(self.data)
            rest = struct.pack("<QQ", here - begin, end - here)
            self.data += struct.pack("<Q", riegeli_hash(rest)) + rest

    @staticmethod
    def _end(begin: int, size: int, records: int) -> int:
        """Counted byte by byte: the end may lie neither within a block header nor right after one."""
        at, left = begin, size
        while left:
            at += 24 if at % BLOCK == 0 else 0
            at += 1
            left -= 1
        at = max(at, begin + records)
        return at + (25 - at % BLOCK if 0 < at % BLOCK < 25 else 0)
