"""Examples as bytes: what TensorFlow's parser finds in them, one value at a time.

    Example   = (0x0a length entry* | other field)*
    entry     = 0x0a length key value                in either order
    key       = 0x0a length bytes
    value     = 0x12 length Feature
    Feature   = kind length list                     what follows it is ignored
    kind      = 0x0a strings | 0x12 floats | 0x1a integers
    strings   = (0x0a length bytes)*
    floats    = 0x0a length float* | (0x0d float)*
    integers  = 0x0a length varint* | (0x08 varint)*

The grammar is narrower than that of protocol buffers, and keys are bytes, not text. A message that says it is longer
than what it lies in ends with it; bytes must be there in full. A length is the low 32 bits of a varint.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final, TypeAlias

import numpy as np

from tensorkeep.dtypes import FLOAT32, INT64, STRING, DType
from tensorkeep.errors import InvalidArgumentError
from tensorkeep.ops.shared.kernel_types import Array
from tensorkeep.shapes import Shape

Entry: TypeAlias = tuple[bytes, int, int]
"""A key, and where its feature begins and ends."""

FIRST: Final = 0x0A  # the tag of a field 1 of bytes; also what says that a feature holds strings
SECOND: Final = 0x12  # ... of a field 2; also what says that a feature holds floats
THIRD: Final = 0x1A
KINDS: Final = {FIRST: STRING, SECOND: FLOAT32, THIRD: INT64}
TAGS: Final = {dtype: tag for tag, dtype in KINDS.items()}

_FIXED32: Final = 0x0D
_VARINT: Final = 0x08
_MAX_VARINT: Final = 10
_BULK: Final = 128  # bytes of varints from which on NumPy decodes them faster
_NO_DIMENSIONS: Final = Shape(())


class MalformedError(Exception):
    """These bytes are no such message."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """A feature that is asked for. `form` is "dense", "varying" (dense, padded), "sparse" or "ragged"."""

    key: bytes
    dtype: DType
    form: str
    shape: Shape = _NO_DIMENSIONS
    stride: int = 1
    """How many values a dense feature has, or how many make up a row of a varying one."""
    default: Any = None
    """The values of a dense feature that an example lacks, None if it is required; what pads a varying one."""

    @property
    def name(self) -> str:
        return readable(self.key)


def readable(text: bytes) -> str:
    """Bytes in a message for people."""
    return text.decode("utf-8", "backslashreplace")


def read_varint(data: bytes, at: int, end: int) -> tuple[int, int]:
    """The number at a position, of 64 bits, and the position after it."""
    value = shift = 0
    for place in range(at, min(end, at + _MAX_VARINT)):
        byte = data[place]
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value & 0xFFFFFFFFFFFFFFFF, place + 1
        shift += 7
    raise MalformedError


def read_length(data: bytes, at: int, end: int) -> tuple[int, int]:
    if at < end and data[at] < 0x80:
        return data[at], at + 1
    value, at = read_varint(data, at, end)
    return value & 0xFFFFFFFF, at


def message_within(data: bytes, at: int, end: int) -> tuple[int, int]:
    """The extent of a message whose length is at a position."""
    length, at = read_length(data, at, end)
    return at, min(at + length, end)


def bytes_within(data: bytes, at: int, end: int) -> tuple[int, int]:
    """The extent of bytes whose length is at a position."""
    length, at = read_length(data, at, end)
    if at + length > end:
        raise MalformedError
    return at, at + length


def skip_field(data: bytes, at: int, end: int) -> int:
    """The position after a field that means nothing to us. Groups are refused."""
    tag, at = read_varint(data, at, end)
    wire_type = tag & 7
    if wire_type == 0:
        return read_varint(data, at, end)[1]
    if wire_type == 2:
        length, at = read_length(data, at, end)
        return min(at + length, end) if length < 1 << 31 else at
    width = {1: 8, 5: 4}.get(wire_type)
    if width is None or at + width > end:
        raise MalformedError
    return at + width


def read_example(data: bytes) -> list[Entry]:
    """The features of an Example, in their order. MalformedError if it is none."""
    found: list[Entry] = []
    at, end = 0, len(data)
    while at < end:
        if data[at] == FIRST:
            start, at = message_within(data, at + 1, end)
            _read_entries(data, start, at, found)
        else:
            at = skip_field(data, at, end)
    return found


def _read_entries(data: bytes, at: int, end: int, found: list[Entry]) -> None:
    while at < end:
        if data[at] != FIRST:
            raise MalformedError
        start, at = message_within(data, at + 1, end)
        found.append(_read_entry(data, start, at))


def _read_entry(data: bytes, at: int, end: int) -> Entry:
    """Two fields, each a key or a value: of two keys, or of two values, the later one counts."""
    key, feature = b"", (0, 0)
    for _ in range(2):
        tag, at = read_varint(data, at, end)
        tag &= 0xFFFFFFFF
        if tag not in (FIRST, SECOND):
            raise MalformedError
        start, at = bytes_within(data, at, end)
        if tag == FIRST:
            key = data[start:at]
        else:
            feature = start, at
    if at != end:
        raise MalformedError
    return key, *feature


def read_values(data: bytes, at: int, end: int, dtype: DType, whole: bool = False) -> list[bytes] | Array:
    """The list at a position, behind its kind: a list of `bytes`, or an array of numbers.

    With `whole`, bytes after the last whole float are an error; otherwise they are ignored.
    """
    at, end = message_within(data, at, end)
    if dtype is STRING:
        return read_strings(data, at, end)
    return _read_floats(data, at, end, whole) if dtype is FLOAT32 else _read_integers(data, at, end)


def read_strings(data: bytes, at: int, end: int) -> list[bytes]:
    found = []
    while at < end:
        if data[at] != FIRST:
            raise MalformedError
        start, at = bytes_within(data, at + 1, end)
        found.append(data[start:at])
    return found


def _read_floats(data: bytes, at: int, end: int, whole: bool) -> Array:
    if at >= end:
        return np.empty(0, np.float32)
    if data[at] == FIRST:
        length, at = read_length(data, at + 1, end)
        if whole:
            length = min(length, end - at)
        size = length // 4 * 4
        if at + size > end or (whole and size != length):
            raise MalformedError
        return np.frombuffer(data, "<f4", size // 4, at)
    pieces = np.frombuffer(data, np.uint8, end - at, at)
    if pieces.size % 5 or np.any(pieces[::5] != _FIXED32):
        raise MalformedError
    return np.ascontiguousarray(pieces.reshape(-1, 5)[:, 1:]).view("<f4").reshape(-1)


def _read_integers(data: bytes, at: int, end: int) -> Array:
    if at >= end:
        return np.empty(0, np.int64)
    if data[at] == FIRST:
        at, end = message_within(data, at + 1, end)
        if end - at > _BULK:
            return decode_varints(np.frombuffer(data, np.uint8, end - at, at))[0]
        numbers = list(data[at:end])
        if numbers and max(numbers) >= 0x80:
            numbers = []
            while at < end:
                value, at = read_varint(data, at, end)
                numbers.append(value)
        return np.array(numbers, np.uint64).view(np.int64)
    found = []
    while at < end:
        if data[at] != _VARINT:
            raise MalformedError
        value, at = read_varint(data, at + 1, end)
        found.append(value)
    return np.array(found, np.uint64).view(np.int64)


def decode_varints(data: Array) -> tuple[Array, Array]:
    """The numbers that bytes consist of, and where each ends. The excess of one beyond 64 bits is dropped."""
    ends = np.flatnonzero(data < 0x80) + 1
    if (ends[-1] if ends.size else 0) != data.size:
        raise MalformedError
    lengths = np.diff(ends, prepend=0)
    starts = ends - lengths
    width = int(lengths.max(initial=1))
    if width > _MAX_VARINT:
        raise MalformedError
    values = data[starts].astype(np.uint64) & np.uint64(0x7F)
    longer = np.arange(starts.size)
    for place in range(1, width):
        longer = longer[lengths[longer] > place]
        group = data[starts[longer] + place].astype(np.uint64) & np.uint64(0x7F)
        values[longer] |= group << np.uint64(7 * place)
    return values.view(np.int64), ends


def cannot_parse(serialized: bytes) -> InvalidArgumentError:
    shown = readable(serialized[:200]) + ("..." if len(serialized) > 200 else "")
    return InvalidArgumentError(f"Could not parse example input, value: '{shown}'")
