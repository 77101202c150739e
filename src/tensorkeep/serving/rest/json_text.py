"""Arrays as JSON text, for answers.

Floats have the fewest digits that read back to the same value of their type, and whole ones keep their ".0"; numbers
that are not finite are the tokens NaN, Infinity and -Infinity. Strings are raw UTF-8, and what is no UTF-8 passes
through as it is.
"""

from __future__ import annotations

import math
import re
from binascii import b2a_base64
from collections.abc import Callable
from typing import Any, Final

import numpy as np

from tensorkeep.arrays import Array
from tensorkeep.dtypes import DType
from tensorkeep.errors import InvalidArgumentError, UnimplementedError

try:
    import orjson
except ImportError as missing:
    raise UnimplementedError(
        f'Serving needs the package orjson, which cannot be imported ({missing}): pip install "tensorkeep[serve]"'
    ) from missing


_OPTION: Final = orjson.OPT_SERIALIZE_NUMPY
_WRITTEN: Final = frozenset(map(np.dtype, ["f4", "f8", "i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "?", "O"]))
_ESCAPED: Final = re.compile(rb'["\\\x00-\x1f]')
_SHORT_ESCAPES: Final = {
    b'"': rb"\"", b"\\": rb"\\", b"\b": rb"\b", b"\f": rb"\f", b"\n": rb"\n", b"\r": rb"\r", b"\t": rb"\t",
}  # fmt: skip


def number_text(value: int | float) -> str:
    """A number as JSON, or the token of one that is not finite."""
    if isinstance(value, int) or math.isfinite(value):
        return repr(value)
    return "NaN" if value != value else "Infinity" if value > 0 else "-Infinity"


def quoted_text(content: bytes) -> bytes:
    """A string as JSON."""
    if _ESCAPED.search(content) is not None:
        content = _ESCAPED.sub(_escape, content)
    return b'"' + content + b'"'


def _escape(found: re.Match[bytes]) -> bytes:
    character = found.group()
    return _SHORT_ESCAPES.get(character) or b"\\u%04X" % character[0]


def base64_object(content: bytes) -> bytes:
    """Bytes as the object that stands for them in JSON."""
    return b'{"b64": "' + b2a_base64(content, newline=False) + b'"}'


def check_written(array: Array) -> None:
    """InvalidArgumentError if an array's type has no form in JSON."""
    if array.dtype not in _WRITTEN and array.dtype.newbyteorder("=") not in _WRITTEN and array.dtype.kind not in "SU":
        label = DType.of(array.dtype).label
        raise InvalidArgumentError(f"Failed to write JSON value for tensor type: {label}")


def is_text(array: Array) -> bool:
    """Whether an array holds strings."""
    return array.dtype.kind in "OSU"


def array_text(array: Array, name: str = "") -> bytes:
    """An array as nested lists, or one value if it has no dimensions. A name that ends in "_bytes" is for base64."""
    check_written(array)
    if is_text(array):
        return _nested_lists(array, base64_object if name.endswith("_bytes") else quoted_text)
    if array.ndim == 0:
        return value_text(array[()])
    return numbers_text(np.ascontiguousarray(array))


def value_text(value: Any) -> bytes:
    """A number or a truth value of NumPy's as JSON."""
    if isinstance(value, np.floating) and not np.isfinite(value):
        return number_text(float(value)).encode()
    return orjson.dumps(value, option=_OPTION)


def numbers_text(array: Array) -> bytes:
    """An array of numbers or truth values, with dimensions, in C order."""
    if array.dtype.byteorder not in "=|":
        array = array.astype(array.dtype.newbyteorder("="))
    text = orjson.dumps(array, option=_OPTION)
    if array.dtype.kind != "f":
        return text
    finite = np.isfinite(array)
    return text if finite.all() else _with_tokens(text, array[~finite].tolist())


def _with_tokens(text: bytes, values: list[float]) -> bytes:
    """The text with the tokens of numbers that are not finite, where it has null for them, in order."""
    pieces = text.split(b"null")
    joined: list[bytes] = []
    for piece, value in zip(pieces, values, strict=False):
        joined += (piece, number_text(value).encode())
    return b"".join([*joined, pieces[-1]])


def _nested_lists(array: Array, write: Callable[[bytes], bytes]) -> bytes:
    """Strings in nested lists."""
    if array.size == 0:
        return orjson.dumps(np.empty(array.shape, np.int8), option=_OPTION)
    items = [write(_content(value)) for value in array.reshape(-1).tolist()]
    for size in reversed(array.shape):
        items = [b"[" + b", ".join(items[start : start + size]) + b"]" for start in range(0, len(items), size)]
    return items[0]


def _content(value: object) -> bytes:
    return value if isinstance(value, bytes) else str(value).encode()
