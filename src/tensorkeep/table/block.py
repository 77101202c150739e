"""Blocks: runs of sorted entries, each key stored as its difference from the one before.

    block = entry*  restart(4)*  number of restarts(4)
    entry = varint(shared) varint(unshared) varint(value size)  key[shared:]  value

`shared` counts the bytes a key has in common with the previous one. Every so many entries it is 0 by decree, and
the position of that entry is a restart: reading can start there, so a search can halve its way to it.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator

from tensorkeep.errors import DataLossError
from tensorkeep.io.varint import decode_varint, encode_varint

EMPTY_BLOCK = struct.pack("<II", 0, 1)


class BlockBuilder:
    """Collects entries in key order; `finish` gives the bytes and starts over."""

    def __init__(self, restart_interval: int) -> None:
        self._restart_interval = restart_interval
        self._clear()

    def _clear(self) -> None:
        self._parts: list[bytes] = []
        self._length = 0
        self._restarts = [0]
        self._count = 0
        self._last_key = b""

    def __bool__(self) -> bool:
        return self._count > 0

    @property
    def size(self) -> int:
        """The bytes `finish` would give now."""
        return self._length + 4 * len(self._restarts) + 4

    def add(self, key: bytes, value: bytes) -> None:
        """Appends an entry. The caller has checked that `key` is above the previous one."""
        shared = 0
        if self._count % self._restart_interval:
            shared = common_prefix(self._last_key, key)
        elif self._count:
            self._restarts.append(self._length)
        unshared = len(key) - shared
        if unshared < 0x80 and shared < 0x80 and len(value) < 0x80:
            head = bytes((shared, unshared, len(value)))
        else:
            head = encode_varint(shared) + encode_varint(unshared) + encode_varint(len(value))
        self._parts += (head, key[shared:] if shared else key, value)
        self._length += len(head) + unshared + len(value)
        self._last_key = key
        self._count += 1

    def finish(self) -> bytes:
        restarts = self._restarts
        self._parts.append(struct.pack(f"<{len(restarts) + 1}I", *restarts, len(restarts)))
        contents = b"".join(self._parts)
        self._clear()
        return contents


class Block:
    """The entries of one block. Malformed contents raise DataLossError, when the block is opened or on the way."""

    def __init__(self, contents: bytes, where: str = "block") -> None:
        self._data = contents
        self._where = where
        if len(contents) < 4:
            raise DataLossError(f"{where} has {len(contents)} bytes, too few for its restart count")
        (count,) = struct.unpack_from("<I", contents, len(contents) - 4)
        self._end = len(contents) - 4 * (count + 1)
        if self._end < 0:
            raise DataLossError(f"{where} claims {count} restarts, more than its {len(contents)} bytes can hold")
        self._restarts = struct.unpack_from(f"<{count}I", contents, self._end)

    def __iter__(self) -> Iterator[tuple[bytes, bytes]]:
        return self._entries(0)

    def seek(self, target: bytes) -> Iterator[tuple[bytes, bytes]]:
        """The entries with keys at or above `target`, in order."""
        entries = self._entries(self._restart_below(target))
        return ((key, value) for key, value in entries if key >= target)

    def _restart_below(self, target: bytes) -> int:
        """The last restart whose key is below `target`, or the start."""
        low, high = 0, len(self._restarts)
        while high - low > 1:
            middle = (low + high) // 2
            key, _ = next(self._entries(self._restarts[middle]), (None, None))
            if key is None or key >= target:
                high = middle
            else:
                low = middle
        return self._restarts[low] if self._restarts else 0

    def _entries(self, at: int) -> Iterator[tuple[bytes, bytes]]:
        data, end = self._data, self._end
        key = b""
        while at < end:
            start = at
            # Nearly all lengths fit in one byte each; the three are then read together.
            shared, unshared, size = data[at], data[at + 1], data[at + 2]  # restarts follow: no entry is last
            at += 3
            if shared > 0x7F or unshared > 0x7F or size > 0x7F:
                shared, at = decode_varint(data, start)
                unshared, at = decode_varint(data, at)
                size, at = decode_varint(data, at)
            middle = at + unshared
            if shared > len(key) or middle + size > end:
                raise DataLossError(
                    f"{self._where}: bad entry at byte {start}: {shared} + {unshared} bytes of key after a key of "
                    f"{len(key)}, {size} bytes of value, and the entries end at byte {end}"
                )
            key = key[:shared] + data[at:middle] if shared else data[at:middle]
            at = middle + size
            yield key, data[middle:at]


def common_prefix(first: bytes, second: bytes) -> int:
    """How many leading bytes two keys share. One big comparison instead of a loop over bytes."""
    size = min(len(first), len(second))
    difference = int.from_bytes(first[:size], "big") ^ int.from_bytes(second[:size], "big")
    return size - (difference.bit_length() + 7) // 8
