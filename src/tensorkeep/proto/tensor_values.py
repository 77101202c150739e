"""The typed fields of a TensorProto, straight between wire bytes and arrays.

A TensorProto may carry its elements in a repeated field of its type (`float_val`, `int_val`, ...). Building message
objects for millions of elements would take a Python object each; here a packed field is one NumPy operation.

    float, double, complex   packed little-endian numbers; a complex one is two, real part first
    integers, half, bfloat16 packed varints; a negative number is sign-extended to 64 bits, ten bytes; the 16-bit
                             floats are their bit patterns
    bool                     packed varints 0 and 1
    float8, float4           one `bytes` field, one byte per element
    string                   one field per element
"""

from __future__ import annotations

from functools import cache
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from tensorkeep.arrays import Array
from tensorkeep.dtypes import DType
from tensorkeep.errors import DataLossError
from tensorkeep.io.coding.varint_arrays import decode_varints, encode_varints
from tensorkeep.proto.messages import TensorProto
from tensorkeep.proto.wire import FIXED32, FIXED64, VARINT, encode_bytes_field, fields

# How each field's elements look on the wire: the type of the number that is stored, and the wire type of one alone.
_FIXED: Final[dict[str, tuple[np.dtype[Any], int]]] = {
    "float_val": (np.dtype("<f4"), FIXED32),
    "double_val": (np.dtype("<f8"), FIXED64),
    "scomplex_val": (np.dtype("<f4"), FIXED32),
    "dcomplex_val": (np.dtype("<f8"), FIXED64),
}
_BIT_PATTERN: Final = "half_val"
_BYTES: Final = "float8_val"


@cache
def field_number(dtype: DType) -> int:
    """The number of the TensorProto field that holds elements of this type."""
    return int(TensorProto.DESCRIPTOR.fields_by_name[dtype.proto_field].number)


def encode_values(dtype: DType, array: Array) -> bytes:
    """The wire bytes of a TensorProto that has this typed field and nothing else. No elements, no bytes."""
    number = field_number(dtype)
    if dtype.is_object:
        return b"".join(encode_bytes_field(number, item) for item in array.flat)
    if array.size == 0:
        return b""
    flat = np.ascontiguousarray(array).reshape(-1)
    if dtype.proto_field in _FIXED:
        stored, _ = _FIXED[dtype.proto_field]
        return encode_bytes_field(number, flat.view(stored).data.cast("B"))
    if dtype.proto_field == _BYTES:
        return encode_bytes_field(number, flat.view(np.uint8).data)
    if dtype.proto_field == _BIT_PATTERN:
        flat = flat.view(np.uint16)
    # Sign extension to 64 bits is what a negative int32 or int64 looks like as a varint.
    wide = flat if flat.dtype.kind == "u" else flat.astype(np.int64)
    return encode_bytes_field(number, encode_varints(wide.astype(np.uint64)))


def decode_values(dtype: DType, data: bytes | memoryview, count: int, what: str) -> Array:
    """The `count` elements of the typed field in a serialized TensorProto, one-dimensional.

    Packed and single elements are both accepted, in any mixture, as protocol buffers demand.
    """
    number = field_number(dtype)
    pieces = [(wire_type, value) for found, wire_type, value in fields(data, what) if found == number]
    try:
        array = _decode_pieces(dtype, pieces)
    except DataLossError as error:
        raise DataLossError(f"{what}: {error}") from None
    if array.size != count:
        raise DataLossError(f"{what}: {dtype.proto_field} holds {array.size} elements, expected {count}")
    return array


def _decode_pieces(dtype: DType, pieces: list[tuple[int, int | memoryview]]) -> Array:
    if dtype.is_object:
        items = np.empty(len(pieces), dtype=object)
        items[:] = [_view(value, dtype).tobytes() for _, value in pieces]
        return items
    if dtype.proto_field in _FIXED:
        stored, single = _FIXED[dtype.proto_field]
        numbers = _joined_arrays(stored, [_fixed_size_values(piece, stored, single, dtype) for piece in pieces])
        if numbers.nbytes % dtype.itemsize:
            raise DataLossError(f"{dtype.proto_field} has {numbers.nbytes} bytes, not a multiple of {dtype.itemsize}")
        return numbers.view(dtype.array_dtype)
    if dtype.proto_field == _BYTES:
        last = _view(pieces[-1][1], dtype) if pieces else memoryview(b"")
        return np.frombuffer(bytes(last), dtype.array_dtype)
    values = _joined_arrays(np.dtype(np.uint64), [_varints(piece, dtype) for piece in pieces])
    return _narrow(values, dtype)


def _joined_arrays(dtype: np.dtype[Any], arrays: list[Array]) -> Array:
    return arrays[0] if len(arrays) == 1 else np.concatenate([np.empty(0, dtype), *arrays])


def _fixed_size_values(piece: tuple[int, int | memoryview], stored: np.dtype[Any], single: int, dtype: DType) -> Array:
    wire_type, value = piece
    if wire_type == single and isinstance(value, int):
        return np.frombuffer(value.to_bytes(stored.itemsize, "little"), stored)
    view = _view(value, dtype)
    if len(view) % stored.itemsize:
        raise DataLossError(f"{dtype.proto_field} has {len(view)} bytes, not a multiple of {stored.itemsize}")
    return np.frombuffer(view, stored).copy()


def _varints(piece: tuple[int, int | memoryview], dtype: DType) -> Array:
    wire_type, value = piece
    if wire_type == VARINT and isinstance(value, int):
        return np.array([value], dtype=np.uint64)
    view = _view(value, dtype)
    count = int(np.count_nonzero(np.frombuffer(view, np.uint8) < 0x80))
    values, end = decode_varints(view, 0, count)
    if end != len(view):
        raise DataLossError(f"{dtype.proto_field} ends in the middle of a number")
    return values


def _view(value: int | memoryview, dtype: DType) -> memoryview:
    if isinstance(value, int):
        raise DataLossError(f"{dtype.proto_field} holds a number of another kind")
    return value


def _narrow(values: npt.NDArray[np.uint64], dtype: DType) -> Array:
    """Elements of the right type from the 64-bit numbers that were stored; those that do not fit are damage."""
    target = dtype.array_dtype
    if dtype.proto_field == _BIT_PATTERN:
        narrow: Array = values.astype(np.uint16)
        restored = narrow.astype(np.uint64)
    elif dtype.bits:
        narrow = (values & np.uint64((1 << dtype.bits) - 1)).astype(np.uint8)
        restored = narrow.view(target).astype(np.int64).astype(np.uint64)
    else:
        narrow = values.astype(target)
        restored = (narrow if target.kind == "u" else narrow.astype(np.int64)).astype(np.uint64)
    if not np.array_equal(restored, values):
        raise DataLossError(f"{dtype.proto_field} holds a number that is no {dtype}")
    return narrow.view(target)
