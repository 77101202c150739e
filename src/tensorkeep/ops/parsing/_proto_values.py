"""Fields of messages as arrays: which types go with which, and the way from bytes to numbers and back."""

from __future__ import annotations

from collections.abc import Callable
from struct import Struct
from typing import Any, Final

from tensorkeep.errors import DataLossError
from tensorkeep.io.coding.varint import decode_varint, encode_varint
from tensorkeep.proto.descriptors import Field
from tensorkeep.proto.wire import FIXED32, FIXED64, LENGTH_DELIMITED, VARINT, encode_tag

_MASK64: Final = 2**64 - 1

# The types of tensors that a kind of field may be read into or written from; the narrower first.
TENSOR_TYPES: Final = {
    "double": ("float64",),
    "float": ("float32", "float64"),
    "int64": ("int64",),
    "uint64": ("uint64",),
    "int32": ("int32", "int64"),
    "fixed64": ("uint64",),
    "fixed32": ("uint32", "uint64"),
    "bool": ("bool",),
    "string": ("string",),
    "group": ("string",),
    "message": ("string",),
    "bytes": ("string",),
    "uint32": ("uint32", "uint64"),
    "enum": ("int32",),
    "sfixed32": ("int32", "int64"),
    "sfixed64": ("int64",),
    "sint32": ("int32", "int64"),
    "sint64": ("int64",),
}
_FIXED: Final = {
    "double": Struct("<d"),
    "float": Struct("<f"),
    "fixed64": Struct("<Q"),
    "fixed32": Struct("<I"),
    "sfixed64": Struct("<q"),
    "sfixed32": Struct("<i"),
}


def _signed_integer(value: int, bits: int) -> int:
    value &= (1 << bits) - 1
    return value - (1 << bits) if value >> (bits - 1) else value


def _zigzag(value: int) -> int:
    return (value >> 1) ^ -(value & 1)


_OF_VARINT: Final[dict[str, Callable[[int], Any]]] = {
    "int64": lambda value: _signed_integer(value, 64),
    "uint64": lambda value: value & _MASK64,
    "int32": lambda value: _signed_integer(value, 32),
    "uint32": lambda value: value & 0xFFFFFFFF,
    "enum": lambda value: _signed_integer(value, 32),
    "bool": bool,
    "sint32": lambda value: _zigzag(value & 0xFFFFFFFF),
    "sint64": lambda value: _zigzag(value & _MASK64),
}


def is_scalar(field: Field) -> bool:
    """Whether many values of the field may lie packed in one."""
    return field.kind in _OF_VARINT or field.kind in _FIXED


def wire_type(field: Field) -> int:
    """How a single value of the field is stored."""
    if field.kind in _OF_VARINT:
        return VARINT
    if field.kind in _FIXED:
        return FIXED64 if _FIXED[field.kind].size == 8 else FIXED32
    return LENGTH_DELIMITED


def value_of(field: Field, stored: Any) -> Any:
    """The value of a field from what is stored: an unsigned integer, or bytes."""
    if field.kind in _OF_VARINT:
        return _OF_VARINT[field.kind](stored)
    layout = _FIXED.get(field.kind)
    if layout is None:
        return bytes(stored)
    return layout.unpack(stored.to_bytes(layout.size, "little"))[0]


def packed_values(field: Field, data: memoryview) -> list[Any]:
    """The values that lie one after another in a field."""
    layout = _FIXED.get(field.kind)
    if layout is not None:
        if len(data) % layout.size:
            raise DataLossError(f"{field.full_name}: {len(data)} bytes are no list of {field.kind}")
        return [value for (value,) in layout.iter_unpack(data)]
    values, at, read = [], 0, _OF_VARINT[field.kind]
    while at < len(data):
        value, at = decode_varint(data, at)
        values.append(read(value))
    return values


def _single(field: Field, value: Any) -> bytes:
    """A value as it is stored, without the number of its field."""
    layout = _FIXED.get(field.kind)
    if layout is not None:
        return layout.pack(value)
    if field.kind in ("sint32", "sint64"):
        bits = int(field.kind[4:])
        return encode_varint(((value << 1) ^ (value >> (bits - 1))) & ((1 << bits) - 1))
    if field.kind in _OF_VARINT:
        return encode_varint(int(value) & _MASK64)
    return encode_varint(len(value)) + bytes(value)


def encode_field(field: Field, values: list[Any]) -> bytes:
    """A field with all its values."""
    if field.is_packed and is_scalar(field):
        content = b"".join(_single(field, value) for value in values)
        return encode_tag(field.number, LENGTH_DELIMITED) + encode_varint(len(content)) + content if values else b""
    tag = encode_tag(field.number, wire_type(field))
    return b"".join(tag + _single(field, value) for value in values)
