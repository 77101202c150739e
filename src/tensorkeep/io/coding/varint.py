"""Variable-length integers: base 128, low group first, high bit set on every byte but the last.

    varint = (1xxxxxxx)* 0xxxxxxx          1..10 bytes for 64 bits

One value at a time; see varint_arrays.py for many.
"""

from __future__ import annotations

from tensorkeep.errors import DataLossError

MAX_BYTES = 10


def encode_varint(value: int) -> bytes:
    """The bytes of `value`, which must lie in 0 .. 2**64 - 1."""
    if value < 0x80:
        return bytes((value,))
    if value < 0x4000:
        return bytes((value & 0x7F | 0x80, value >> 7))
    if value < 0x200000:
        return bytes((value & 0x7F | 0x80, value >> 7 & 0x7F | 0x80, value >> 14))
    assert value < 1 << 64
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def decode_varint(data: bytes | memoryview, at: int = 0) -> tuple[int, int]:
    """Returns the value that starts at `at`, and the position after it."""
    if at < len(data) and data[at] < 0x80:
        return data[at], at + 1
    value = shift = 0
    start = at
    end = min(len(data), at + MAX_BYTES)
    while at < end:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            if value >> 64:
                raise DataLossError(f"varint at byte {start} does not fit in 64 bits")
            return value, at
        shift += 7
    if end == len(data):
        raise DataLossError(f"varint at byte {start} is cut off by the end of the data at byte {end}")
    raise DataLossError(f"varint at byte {start} is longer than {MAX_BYTES} bytes")
