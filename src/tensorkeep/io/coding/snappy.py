"""Snappy decompression, for tables whose blocks were stored compressed.

stream  = varint(length of the output) element*
element = literal | copy, told apart by the two low bits of the tag byte

00  literal: length - 1 in the upper six bits, or 60..63 for "in the next 1..4 bytes"
01  copy of 4..11 bytes: length - 4 in bits 2..4, offset in 11 bits (upper three in the tag)
10  copy of 1..64 bytes: offset in the next 2 bytes
11  copy of 1..64 bytes: offset in the next 4 bytes
"""

from __future__ import annotations

from typing import Final

from tensorkeep.errors import DataLossError
from tensorkeep.io.coding.varint import decode_varint

# No element yields more than 64 bytes from 3 (or, cut short, from 2), so an honest length is bounded by the input.
MAX_EXPANSION: Final = 32


def decompress(data: bytes | memoryview) -> bytes:
    """The original bytes. Damaged input raises, and never makes more output than 32 times its own size."""
    length, at = decode_varint(data)
    if length > MAX_EXPANSION * len(data):
        raise DataLossError(f"snappy: {len(data)} compressed bytes cannot expand to the {length} they claim")
    out = bytearray()
    end = len(data)
    while at < end:
        tag = data[at]
        at += 1
        if tag & 3 == 0:
            size, at = _literal_size(data, tag >> 2, at)
            out += data[at : at + size]
            at += size
            if at > end:
                raise DataLossError(f"snappy: a literal of {size} bytes runs past the end of the data at byte {end}")
        else:
            size, offset, at = _copy(data, tag, at)
            _append_copy(out, size, offset, at)
        if len(out) > length:
            raise DataLossError(f"snappy: the data yields more than the {length} bytes it claims (at byte {at})")
    if len(out) != length:
        raise DataLossError(f"snappy: the data yields {len(out)} bytes, {length} were claimed")
    return bytes(out)


def _literal_size(data: bytes | memoryview, code: int, at: int) -> tuple[int, int]:
    if code < 60:
        return code + 1, at
    width = code - 59
    return _little_endian(data, at, width) + 1, at + width


def _copy(data: bytes | memoryview, tag: int, at: int) -> tuple[int, int, int]:
    if tag & 3 == 1:
        return (tag >> 2 & 7) + 4, (tag >> 5) << 8 | _little_endian(data, at, 1), at + 1
    width = 2 if tag & 3 == 2 else 4
    return (tag >> 2) + 1, _little_endian(data, at, width), at + width


def _append_copy(out: bytearray, size: int, offset: int, at: int) -> None:
    if not 0 < offset <= len(out):
        raise DataLossError(f"snappy: a copy from {offset} bytes back, with {len(out)} bytes so far (at byte {at})")
    start = len(out) - offset
    chunk = out[start : start + size]
    # A copy may overlap what it is making: the bytes so far then repeat.
    out += (chunk * (size // len(chunk) + 1))[:size]


def _little_endian(data: bytes | memoryview, at: int, width: int) -> int:
    piece = bytes(data[at : at + width])
    if len(piece) < width:
        raise DataLossError(f"snappy: an element at byte {at} is cut off by the end of the data at byte {len(data)}")
    return int.from_bytes(piece, "little")
