"""Values as TensorFlow writes them in messages: numbers, strings, and whole tensors shortened.

Texts are bytes, as in string tensors.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from tensorkeep.ops.shared.kernel_types import Array, Value

_ESCAPES: Final = {0x0A: b"\\n", 0x0D: b"\\r", 0x09: b"\\t", 0x22: b'\\"', 0x27: b"\\'", 0x5C: b"\\\\"}
_ESCAPED: Final = tuple(
    _ESCAPES.get(byte) or (bytes([byte]) if 0x20 <= byte < 0x7F or byte >= 0x80 else b"\\%03o" % byte)
    for byte in range(256)
)


def escape_text(text: bytes) -> bytes:
    """The text with C's escapes for what is not printable, leaving UTF-8 alone."""
    return b"".join(map(_ESCAPED.__getitem__, text))


def number_text(value: np.generic) -> bytes:
    """A number in as few digits as give it back, of 6 or 9 (float32 and narrower), or 15 or 17 (float64)."""
    kind = value.dtype.kind
    if kind == "b":
        return b"1" if value else b"0"
    if kind in "iu" or "int" in value.dtype.name:
        return b"%d" % int(value)
    if kind == "c":
        return b"?"
    number = float(value)
    if number != number:
        return b"-nan" if np.signbit(np.asarray(value, np.float64)) else b"nan"
    if number in (float("inf"), float("-inf")):
        return b"inf" if number > 0 else b"-inf"
    if value.dtype == np.float64:
        short = f"{number:.15g}"
        return (short if float(short) == number else f"{number:.17g}").encode()
    short = f"{number:.6g}"
    return (short if np.float32(short) == np.float32(number) else f"{number:.9g}").encode()


def summary_of_tensor(value: Value, count: int) -> bytes:
    """A tensor as Print and Assert show it: the first `count` elements, all if that is negative."""
    array = np.asarray(value)
    limit = array.size if count < 0 else min(count, array.size)
    dots = b"..." if array.size > limit else b""
    if array.dtype.kind == "b" and not limit:
        return b""
    elements = [_element(item, quoted=False) for item in array.reshape(-1)[:limit]]
    if array.dtype.kind == "c" or array.ndim == 0:
        return b" ".join(elements) + dots
    pieces: list[bytes] = []
    _rows(array.shape, elements, limit, 0, 0, pieces)
    return b"".join(pieces) + dots


def _rows(shape: tuple[int, ...], elements: list[bytes], limit: int, axis: int, start: int, pieces: list[bytes]) -> int:
    """Writes one axis from element `start` on, and says which element comes next."""
    if start >= limit:
        return start
    if axis == len(shape) - 1:
        stop = start + shape[axis]
        pieces.append(b" ".join(elements[start : min(stop, limit)]))
        if stop > limit and axis:
            pieces.append(b"...")
        return min(stop, limit)
    for _ in range(shape[axis]):
        if start >= limit:
            break
        pieces.append(b"[")
        start = _rows(shape, elements, limit, axis + 1, start, pieces)
        pieces.append(b"]")
    return start


def text_of_tensor(value: Value, count: int) -> bytes:
    """A tensor as StringFormat shows it: `count` elements at either end of each axis, all if that is negative."""
    array = np.asarray(value)
    limit = array.size if count < 0 else min(count, array.size)
    if array.dtype.kind == "b" and not limit:
        return b""
    if array.ndim == 0:
        return _element(array[()], quoted=True) if limit else b"..."
    if array.dtype.kind == "c":
        shown = b" ".join([b"?"] * limit)
        return b"[" + shown + (b"..." if limit < array.size else b"") + b"]"
    return _axis(array, limit, 0, array.ndim)


def _axis(array: Array, ends: int, axis: int, rank: int) -> bytes:
    if axis == rank:
        return _element(array, quoted=True)
    spacing = b" " if axis == rank - 1 else b"\n" * (rank - axis - 1) + b" " * (axis + 1)
    count = len(array)
    text = spacing.join(_axis(array[i], ends, axis + 1, rank) for i in range(min(ends, count)))
    if count > 2 * ends:
        text += spacing + b"..."
    for i in range(max(ends, count - ends), count):
        text += spacing + _axis(array[i], ends, axis + 1, rank)
    return b"[" + text + b"]"


def _element(item: Any, quoted: bool) -> bytes:
    if isinstance(item, np.ndarray):
        item = item[()]
    if isinstance(item, bytes):
        return b'"' + escape_text(item) + b'"' if quoted else escape_text(item)
    return number_text(item) if isinstance(item, np.generic) else b"<" + type(item).__name__.encode() + b">"
