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
from tensorkeep.io.coding.varint import decode_varint

EMPTY_BLOCK = struct.pack("<II", 0, 1)
MOST_EXPANSION = 64  # with a restart every 16 entries, honest keys take less than 16 times the size of their block
_BATCH = 16  # entries parsed together when a few are wanted


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

    def load(self) -> tuple[list[bytes], list[bytes]]:
        """All keys and all values, which is quicker than one after the other; quicker still by native/blocks.py."""
        keys, values, _ = self._parse(0, b"")
        return keys, values

    @property
    def contents(self) -> tuple[bytes, int]:
        """The bytes of the block, and where its entries end."""
        return self._data, self._end

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
        key = b""
        room = MOST_EXPANSION * len(self._data)
        while at < self._end:
            keys, values, at = self._parse(at, key, _BATCH)
            key = keys[-1]
            room -= sum(map(len, keys))
            if room < 0:
                raise self._too_much_key()
            yield from zip(keys, values, strict=True)

    def _parse(self, at: int, key: bytes, most: int | None = None) -> tuple[list[bytes], list[bytes], int]:
        """Keys and values of the entries from `at` on, which follow `key`, and the position after the last of them."""
        data, end = self._data, self._end
        keys: list[bytes] = []
        values: list[bytes] = []
        # Keys are stored as differences, so a hostile block could spell enormous ones in very few bytes.
        room = MOST_EXPANSION * len(data)
        while at < end and len(keys) != most:
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
            room -= shared + unshared
            if room < 0:
                raise self._too_much_key()
            keys.append(key)
            values.append(data[middle:at])
        return keys, values, at

    def _too_much_key(self) -> DataLossError:
        return DataLossError(
            f"{self._where}: its keys take more than {MOST_EXPANSION} times its {len(self._data)} bytes"
        )
