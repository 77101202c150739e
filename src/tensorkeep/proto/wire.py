"""Protocol buffer wire format by hand, for values too large to be copied into message objects and out again.

    message = field*
    field   = varint(number << 3 | type) value
    value   = varint                      type 0: int32, int64, uint32, uint64, bool, enum
            | 8 bytes                     type 1: fixed64, double
            | varint(length) bytes        type 2: string, bytes, message, packed list
            | 4 bytes                     type 5: fixed32, float

Fixed-width values are little-endian. Types 3 and 4, groups, occur in no file of ours and are refused. Small messages
are better left to `messages.parse`, which is compiled and takes a third of the time.
"""

from __future__ import annotations

from collections.abc import Iterator

from tensorkeep.errors import DataLossError
from tensorkeep.io.coding.varint import decode_varint, encode_varint

VARINT = 0
FIXED64 = 1
LENGTH_DELIMITED = 2
FIXED32 = 5

MAX_FIELD_NUMBER = (1 << 29) - 1

_WIDTHS = {FIXED64: 8, FIXED32: 4}


def fields(data: bytes | memoryview, what: str) -> Iterator[tuple[int, int, int | memoryview]]:
    """Yields the number, wire type and value of each field in turn.

    Varints and fixed-width values are unsigned integers; the rest are views of `data`, not copies. Malformed input
    raises a DataLossError that begins with `what` and names the byte, after the fields before it were yielded.
    """
    view = memoryview(data)
    at = 0
    try:
        while at < len(view):
            number, wire_type, start = _decode_tag(view, at)
            if wire_type == VARINT:
                value, at = decode_varint(view, start)
                yield number, wire_type, value
                continue
            if wire_type == LENGTH_DELIMITED:
                length, start = decode_varint(view, start)
            elif wire_type in _WIDTHS:
                length = _WIDTHS[wire_type]
            else:
                raise DataLossError(f"field {number} at byte {at} has wire type {wire_type}, expected 0, 1, 2 or 5")
            end = start + length
            if end > len(view):
                raise DataLossError(
                    f"field {number} at byte {at} needs {length} bytes from byte {start}, but the data ends at byte "
                    f"{len(view)}"
                )
            at = end
            content = view[start:end]
            yield number, wire_type, content if wire_type == LENGTH_DELIMITED else int.from_bytes(content, "little")
    except DataLossError as error:
        raise DataLossError(f"{what}: {error}") from None


def as_signed(value: int) -> int:
    """The number that a varint of an int32, int64 or enum field stands for: negative ones are stored modulo 2**64."""
    return value - (1 << 64) if value >> 63 else value


def encode_tag(number: int, wire_type: int) -> bytes:
    """What precedes the value of a field."""
    assert 0 < number <= MAX_FIELD_NUMBER
    return encode_varint(number << 3 | wire_type)


def encode_varint_field(number: int, value: int) -> bytes:
    """A whole field of an integer, bool or enum type, for values from -2**63 to 2**64 - 1; zero is written too."""
    return encode_tag(number, VARINT) + encode_varint(value + (1 << 64) if value < 0 else value)


def encode_fixed32_field(number: int, value: int) -> bytes:
    """A whole field of type fixed32."""
    return encode_tag(number, FIXED32) + value.to_bytes(4, "little")


def encode_bytes_field(number: int, value: bytes | memoryview) -> bytes:
    """A whole field of type string, bytes, message or packed list."""
    return b"".join((encode_tag(number, LENGTH_DELIMITED), encode_varint(len(value)), value))


def _decode_tag(data: memoryview, at: int) -> tuple[int, int, int]:
    """Returns the field number and the wire type that stand at `at`, and the position after them."""
    tag, after = decode_varint(data, at)
    number = tag >> 3
    if not 0 < number <= MAX_FIELD_NUMBER:
        raise DataLossError(f"field number at byte {at} is {number}, expected 1..{MAX_FIELD_NUMBER}")
    return number, tag & 7, after
