"""Examples written as JSON, turned into the bytes that TensorFlow makes of them.

Fields are written in the order of the text, numbers one by one (not packed). Where TensorFlow takes more than JSON
allows (single quotes, names without quotes, a comma before a closing bracket), this does not.
"""

from __future__ import annotations

import binascii
import json
import re
import struct
from base64 import urlsafe_b64decode
from collections.abc import Callable
from typing import Any, Final

from tensorkeep.errors import InvalidArgumentError
from tensorkeep.proto.wire import (
    FIXED32,
    encode_bytes_field,
    encode_tag,
    encode_varint_field,
)

_WHOLE: Final = re.compile(r"-?\d{1,19}")
_DECIMAL: Final = re.compile(r"-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?")
_NOT_FINITE: Final = {"NaN": float("nan"), "Infinity": float("inf"), "-Infinity": float("-inf")}


class _Number(str):
    """A number as it is written."""


Pairs = tuple[tuple[str, Any], ...]
"""An object of JSON, names in their order, repeated ones too."""


def example_of_json(text: bytes) -> bytes:
    """The Example that a text states, serialized. InvalidArgumentError if it states none."""
    try:
        value = json.loads(
            text, object_pairs_hook=tuple, parse_constant=_refuse, parse_float=_Number, parse_int=_Number
        )
        return _message(value, "Example", {"features": _features})
    except (ValueError, RecursionError) as error:
        if isinstance(error, InvalidArgumentError):
            raise
        raise _wrong(str(error)) from None


def _wrong(what: str) -> InvalidArgumentError:
    return InvalidArgumentError(f"Error while parsing JSON: {what}")


def _refuse(word: str) -> Any:
    raise _wrong(f"unexpected {word}")


def _pairs(value: Any, what: str) -> Pairs:
    if not isinstance(value, tuple):
        raise _wrong(f"{what}: expected '{{'")
    return value


def _message(value: Any, what: str, fields: dict[str, Callable[[Any], bytes]]) -> bytes:
    parts = []
    for name, content in _pairs(value, what):
        if name not in fields:
            raise _wrong(f"{what}: no such field: '{name[:100]}'")
        if content is not None:
            parts.append(fields[name](content))
    return b"".join(parts)


def _features(value: Any) -> bytes:
    return encode_bytes_field(1, _message(value, "Features", {"feature": _entries}))


def _entries(value: Any) -> bytes:
    pairs = _pairs(value, "Features.feature")
    if len({key for key, _ in pairs}) != len(pairs):
        raise _wrong("Features.feature: got unexpectedly-repeated repeated map key")
    return b"".join(encode_bytes_field(1, _entry(key, feature)) for key, feature in pairs)


def _entry(key: str, feature: Any) -> bytes:
    try:
        name = encode_bytes_field(1, key.encode())
    except UnicodeEncodeError:
        raise _wrong("a key with half of a surrogate pair") from None
    return name if feature is None else name + encode_bytes_field(2, _feature(feature))


def _feature(value: Any) -> bytes:
    kinds = [name for name, content in _pairs(value, "Feature") if content is not None]
    if len(kinds) > 1:
        raise _wrong(f"Feature: '{kinds[1][:100]}' has already been set (either directly or as part of a oneof)")
    return _message(value, "Feature", _KINDS)


def _list(number: int, element: Callable[[Any], bytes]) -> Callable[[Any], bytes]:
    def values(value: Any) -> bytes:
        return b"".join(element(item) for item in (value if isinstance(value, list) else [value]))

    return lambda value: encode_bytes_field(number, _message(value, "list", {"value": values}))


def _string(value: Any) -> bytes:
    if not isinstance(value, str | None) or isinstance(value, _Number):
        raise _wrong("bytes: expected string")
    text = (value or "").rstrip("=").replace("+", "-").replace("/", "_")
    try:
        if re.fullmatch(r"[A-Za-z0-9_-]*", text) is None:
            raise ValueError
        return encode_bytes_field(1, urlsafe_b64decode(text + "=" * (-len(text) % 4)))
    except (ValueError, binascii.Error):
        raise _wrong("bytes: corrupt base64") from None


def _integer(value: Any) -> bytes:
    number = _decimal("0" if value is None else value)
    if number != number or abs(number) > 1 << 64 or number != int(number):
        raise _wrong("int64: expected integer, but JSON number had fractional part")
    exact = int(value) if value is not None and _WHOLE.fullmatch(value) else int(number)
    if not -(1 << 63) <= exact < 1 << 63:
        raise _wrong("int64: JSON number out of range for int")
    return encode_varint_field(1, exact)


def _float(value: Any) -> bytes:
    text = "0" if value is None else value
    number = _NOT_FINITE[text] if isinstance(text, str) and text in _NOT_FINITE else _decimal(text)
    try:
        return encode_tag(1, FIXED32) + struct.pack("<f", number)
    except OverflowError:
        raise _wrong("float: float out of range") from None


def _decimal(text: Any) -> float:
    if not isinstance(text, str):
        raise _wrong("expected number or string")
    if _DECIMAL.fullmatch(text) is None:
        raise _wrong(f"invalid number: '{text[:100]}'")
    return float(text)


_KINDS: Final = {
    name: _list(number, element)
    for number, names, element in (
        (1, ("bytesList", "bytes_list"), _string),
        (2, ("floatList", "float_list"), _float),
        (3, ("int64List", "int64_list"), _integer),
    )
    for name in names
}
