"""Keys that sort, byte by byte, like the values they are made of.

    string  = byte 00 as 00 FF, byte FF as FF 00, others as they are; then 00 01
    number  = one byte: how many bytes follow; then the value, big-endian without leading zeros
    signed  = the value in n bytes of two's complement, big-endian, with the top n bits flipped, where n is the
              smallest number for which 7 n - 1 bits hold the magnitude:   -64..63 take one byte, -8192..8191 two

The keys of tensor slices are the only use TensorFlow's checkpoints make of it.
"""

from __future__ import annotations

from tensorkeep.errors import DataLossError

_ESCAPES = {0x00: b"\x00\xff", 0xFF: b"\xff\x00"}
_TERMINATOR = b"\x00\x01"


def encode_string(value: bytes) -> bytes:
    if 0x00 in value or 0xFF in value:
        value = b"".join(_ESCAPES.get(byte) or bytes((byte,)) for byte in value)
    return value + _TERMINATOR


def encode_number(value: int) -> bytes:
    assert 0 <= value < 1 << 64
    length = (value.bit_length() + 7) // 8
    return bytes((length,)) + value.to_bytes(length, "big")


def encode_signed(value: int) -> bytes:
    assert -(1 << 63) <= value < 1 << 63
    magnitude = value if value >= 0 else ~value
    length = magnitude.bit_length() // 7 + 1
    flips = ((1 << length) - 1) << (7 * length)
    return ((value & (1 << 8 * length) - 1) ^ flips).to_bytes(length, "big")


def decode_string(data: bytes, at: int = 0) -> tuple[bytes, int]:
    """Returns the string that starts at `at`, and the position after its terminator."""
    out = bytearray()
    start = at
    while at + 1 < len(data):
        byte, follower = data[at], data[at + 1]
        if byte not in _ESCAPES:
            out.append(byte)
            at += 1
        elif data[at : at + 2] == _ESCAPES[byte]:
            out.append(byte)
            at += 2
        elif data[at : at + 2] == _TERMINATOR:
            return bytes(out), at + 2
        else:
            raise DataLossError(f"ordered code: byte {byte:#04x} followed by {follower:#04x} at byte {at}")
    raise DataLossError(f"ordered code: the string at byte {start} has no end")


def decode_number(data: bytes, at: int = 0) -> tuple[int, int]:
    """Returns the number that starts at `at`, and the position after it."""
    end = at + 1 + data[at] if at < len(data) else at + 1
    if end > len(data) or end - at > 9:
        raise DataLossError(f"ordered code: the number at byte {at} is cut off or longer than 8 bytes")
    return int.from_bytes(data[at + 1 : end], "big"), end


def decode_signed(data: bytes, at: int = 0) -> tuple[int, int]:
    """Returns the signed number that starts at `at`, and the position after it."""
    head = int.from_bytes(data[at : at + 2].ljust(2, b"\0"), "big")
    sign = head >> 15
    run = head if sign == 0 else head ^ 0xFFFF  # the run of equal top bits, its first bit inverted to zeros
    length = 16 - run.bit_length()
    if at + length > len(data) or not 1 <= length <= 10:
        raise DataLossError(f"ordered code: the signed number at byte {at} is cut off or longer than 10 bytes")
    flips = ((1 << length) - 1) << (7 * length)
    value = int.from_bytes(data[at : at + length], "big") ^ flips
    if sign == 0:
        value -= 1 << 8 * length
    return value, at + length
