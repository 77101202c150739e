"""Texts that are attributes of HDF5 files: the configuration of a Keras model in an .h5 file.

    file          superblock at 0, 512, 1024, 2048, ...; addresses count from there
    superblock    "\\x89HDF\\r\\n\\x1a\\n" version …; sizes of addresses and lengths: at 13, 14 (version 0, 1) or 9, 10
    attribute     version flags name-size:u16 type-size:u16 space-size:u16 [charset, in version 3] name type space data
                  in version 1 name, type and space are padded to 8 bytes each
    text          of fixed size: data; of any size: length:u32 address index:u32, in a global heap
    global heap   "GCOL" version 0 0 0 size, then (index:u16 count:u16 0:u32 size data, padded to 8 bytes)*

The name of an attribute stands in the file as it is, wherever the attribute is kept, and HDF5 compresses neither
attributes nor global heaps. So each place where the name stands is looked at, and what is an attribute there is read.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from tensorkeep.errors import DataLossError

_MAGIC: Final = b"\x89HDF\r\n\x1a\n"
_STRING: Final = 3
_OF_ANY_SIZE: Final = 9
_SHARED: Final = 0b11
_MOST_PLACES: Final = 1000


def attribute_texts(data: bytes | memoryview, name: str, what: str) -> Iterator[str]:
    """The texts of all attributes of that name, of whatever object. DataLossError if one cannot be read."""
    file = _File(memoryview(data), what)
    wanted = name.encode() + b"\0"
    for number, match in enumerate(re.finditer(re.escape(wanted), file.data)):
        if number > _MOST_PLACES:
            raise DataLossError(f'{what}: "{name}" stands in more than {_MOST_PLACES} places')
        for length, version in ((8, 1), (8, 2), (9, 3)):
            start = match.start() - length
            if start >= 0 and file.data[start] == version and file.number(start + 2, 2) == len(wanted):
                yield file.text(start, version, len(wanted))


class _File:
    def __init__(self, data: memoryview, what: str) -> None:
        self.data = data
        self.what = what
        self._base = self._superblock()
        at = self._base + (13 if self.number(self._base + 8, 1) < 2 else 9)
        self._address, self._length = self.number(at, 1), self.number(at + 1, 1)
        if self._address not in (2, 4, 8) or self._length not in (2, 4, 8):
            raise DataLossError(f"{what}: HDF5 with addresses of {self._address} bytes")

    def _superblock(self) -> int:
        at = 0
        while at < len(self.data):
            if bytes(self.data[at : at + 8]) == _MAGIC:
                return at
            at = at * 2 if at else 512
        raise DataLossError(f"{self.what} is no HDF5 file")

    def number(self, at: int, size: int) -> int:
        if at < 0 or at + size > len(self.data):
            raise DataLossError(f"{self.what}: HDF5 ends in the middle, at {at}")
        return int.from_bytes(self.data[at : at + size], "little")

    def _part(self, at: int, size: int) -> bytes:
        if at < 0 or at + size > len(self.data):
            raise DataLossError(f"{self.what}: HDF5 ends in the middle, at {at}")
        return bytes(self.data[at : at + size])

    def text(self, start: int, version: int, name_size: int) -> str:
        """The text of the attribute that starts there."""
        if version > 1 and self.data[start + 1] & _SHARED:
            raise DataLossError(f"{self.what}: an attribute of a type that is kept elsewhere, at {start}")
        type_size, space_size = self.number(start + 4, 2), self.number(start + 6, 2)
        at = start + (9 if version == 3 else 8)
        type_at = at + _padded_size(name_size, version)
        data_at = type_at + _padded_size(type_size, version) + _padded_size(space_size, version)
        kind, size = self.number(type_at, 1) & 0x0F, self.number(type_at + 4, 4)
        if kind == _STRING:
            found = self._part(data_at, size)
        elif kind == _OF_ANY_SIZE:
            found = self._from_heap(data_at)
        else:
            raise DataLossError(f"{self.what}: an attribute that is no text, but of class {kind}, at {start}")
        return found.rstrip(b"\0").decode("utf-8", "replace")

    def _from_heap(self, at: int) -> bytes:
        size = self.number(at, 4)
        address = self.number(at + 4, self._address) + self._base
        wanted = self.number(at + 4 + self._address, 4)
        if self._part(address, 4) != b"GCOL":
            raise DataLossError(f"{self.what}: no global heap at {address}")
        end = min(address + self.number(address + 8, self._length), len(self.data))
        place = address + 8 + self._length
        while place + 8 + self._length <= end:
            index = self.number(place, 2)
            held = self.number(place + 8, self._length)
            if index == wanted:
                return self._part(place + 8 + self._length, min(size, held))
            if index == 0:
                break  # what is left is free
            place += 8 + self._length + _padded_size(held, 1)
        raise DataLossError(f"{self.what}: the global heap at {address} has no object {wanted}")


def _padded_size(size: int, version: int) -> int:
    return -(-size // 8) * 8 if version == 1 else size
