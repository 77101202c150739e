"""Arrays as TensorProto messages, the way TensorFlow's Python writes the constants of a graph.

    one element, or a type of _LISTED    the typed field, every element listed
    more elements                        tensor_content, little-endian
    none                                 neither
    a splat (`of_shape`)                 the typed field with one element; a reader repeats the last one

Reading follows TensorFlow: tensor_content wins; too few listed elements are filled up with the last one, none at all
means zeros or empty strings. The tensor_content of strings is the varints of their lengths, then their bytes.

Servers answer in one of two other ways: every element in the typed field (`listed_tensor`), whatever their number, or
none of them (`content_tensor`).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from math import prod
from typing import Final

import numpy as np

from tensorkeep.arrays import Array
from tensorkeep.dtypes import (
    BOOL,
    COMPLEX64,
    COMPLEX128,
    INT2,
    INT4,
    STRING,
    UINT2,
    UINT4,
    UINT16,
    VARIANT,
    DType,
    dtype_of_array,
    dtype_of_number,
)
from tensorkeep.errors import DataLossError, InvalidArgumentError, ResourceExhaustedError
from tensorkeep.io.coding.varint import encode_varint
from tensorkeep.io.coding.varint_arrays import decode_varints
from tensorkeep.proto.messages import TensorProto, serialize
from tensorkeep.proto.tensor_values import encode_values

_LISTED: Final = frozenset((BOOL, UINT16, COMPLEX64, COMPLEX128, INT4, UINT4, INT2, UINT2, STRING))
_LISTED_BYTES: Final = frozenset(("float8_val",))
_LISTED_FLOATS: Final = frozenset(("float_val", "double_val", "scomplex_val", "dcomplex_val"))
_FEW: Final = 64  # elements that are as quickly handed over as objects as encoded
MAX_ELEMENTS: Final = 1 << 40  # beyond it, a shape in a file is an attack and not a tensor


def tensor_of_array(array: Array, dtype: DType | None = None, of_shape: Sequence[int] | None = None) -> TensorProto:
    """The message for an array; with `of_shape`, for a tensor of that shape that repeats the array's last element."""
    dtype = dtype or dtype_of_array(array.dtype)
    if dtype is not STRING and dtype.is_object:
        raise InvalidArgumentError(f"an array of type {dtype} cannot be a constant")
    proto = TensorProto(dtype=dtype.number)
    proto.tensor_shape.SetInParent()
    for size in array.shape if of_shape is None else of_shape:
        proto.tensor_shape.dim.add().size = size
    if array.size == 0:
        return proto
    same_size = of_shape is None or prod(of_shape) == array.size
    if array.size > 1 and same_size and dtype not in _LISTED:
        proto.tensor_content = np.ascontiguousarray(array).tobytes()
    else:
        proto.MergeFromString(encode_values(dtype, array))
    return proto


def listed_tensor(array: Array, dtype: DType | None = None, into: TensorProto | None = None) -> TensorProto:
    """The message for an array with every element in the typed field, where clients of servers look for them.

    It is made in `into`, an empty message, if one is given.
    """
    dtype = dtype or dtype_of_array(array.dtype)
    proto = _of_type_and_shape(array.shape, dtype, into)
    if dtype.proto_field in _LISTED_BYTES or (array.size > _FEW and dtype.proto_field in _LISTED_FLOATS):
        proto.MergeFromString(encode_values(dtype, array))
        return proto
    if dtype.proto_field == "half_val":
        array = np.ascontiguousarray(array).view(np.uint16)
    elif dtype in (COMPLEX64, COMPLEX128):
        array = np.ascontiguousarray(array).reshape(-1).view(np.float32 if dtype is COMPLEX64 else np.float64)
    getattr(proto, dtype.proto_field).extend(array.reshape(-1).tolist())
    return proto


def listed_tensor_bytes(array: Array, dtype: DType | None = None) -> bytes:
    """The bytes of what `listed_tensor` gives, without making a message: servers send many small ones."""
    dtype = dtype or dtype_of_array(array.dtype)
    return _head_bytes(dtype, array.shape) + encode_values(dtype, array)


def content_tensor_bytes(array: Array, dtype: DType | None = None) -> bytes:
    """The bytes of what `content_tensor` gives."""
    return serialize(content_tensor(array, dtype))


@lru_cache(maxsize=1024)
def _head_bytes(dtype: DType, shape: tuple[int, ...]) -> bytes:
    """The type and the shape at the head of a tensor's bytes."""
    return serialize(_of_type_and_shape(shape, dtype, None))


def content_tensor(array: Array, dtype: DType | None = None, into: TensorProto | None = None) -> TensorProto:
    """The message for an array with all elements in tensor_content, made in `into` if that is given."""
    dtype = dtype or dtype_of_array(array.dtype)
    proto = _of_type_and_shape(array.shape, dtype, into)
    if dtype is STRING:
        items = array.reshape(-1).tolist()
        proto.tensor_content = b"".join((*(encode_varint(len(item)) for item in items), *items))
    else:
        proto.tensor_content = np.ascontiguousarray(array).tobytes()
    return proto


def _of_type_and_shape(shape: tuple[int, ...], dtype: DType, into: TensorProto | None) -> TensorProto:
    if dtype is not STRING and dtype.is_object:
        raise InvalidArgumentError(f"an array of type {dtype} cannot be sent")
    proto = TensorProto() if into is None else into
    proto.dtype = dtype.number
    proto.tensor_shape.SetInParent()
    for size in shape:
        proto.tensor_shape.dim.add().size = size
    return proto


def array_of_tensor(proto: TensorProto, what: str = "a tensor") -> Array:
    """The array in a message; tensor_content is not copied, so the array may be read-only."""
    dtype = dtype_of_number(proto.dtype)
    if dtype.is_object and dtype is not STRING:
        raise DataLossError(f"{what} is of type {dtype}, which has no elements that could be stored")
    shape = tuple(dim.size for dim in proto.tensor_shape.dim)
    count = 1
    for size in shape:
        count *= size or 1
        if size < 0 or count > MAX_ELEMENTS:
            raise DataLossError(f"{what} has the impossible shape {list(shape)}")
    try:
        return _elements(proto, dtype, shape, prod(shape), what)
    except MemoryError as error:
        raise ResourceExhaustedError(f"{what}: {error}") from error
    except DataLossError:
        raise
    except ValueError as error:
        raise DataLossError(f"{what} of shape {list(shape)}: {error}") from None


def _elements(proto: TensorProto, dtype: DType, shape: tuple[int, ...], count: int, what: str) -> Array:
    if proto.tensor_content:
        if dtype is STRING:
            return _strings_of_content(proto.tensor_content, shape, count, what)
        return _of_content(proto.tensor_content, dtype, shape, count, what)
    values = _listed_values(proto, dtype)
    if len(values) < count:
        if count > 1 and len(values) > 1:
            values = np.concatenate([values, np.full(count - len(values), values[-1], values.dtype)])
        else:
            last = values[0] if len(values) else (b"" if dtype is STRING else dtype.array_dtype.type(0))
            values = np.broadcast_to(np.array(last, dtype.array_dtype), shape)  # a splat takes no memory
    return values[:count].reshape(shape) if values.ndim == 1 else values


def _of_content(content: bytes, dtype: DType, shape: tuple[int, ...], count: int, what: str) -> Array:
    if len(content) != count * dtype.itemsize:
        raise DataLossError(
            f"{what}: tensor_content has {len(content)} bytes, but {count} elements of {dtype} "
            f"take {count * dtype.itemsize}"
        )
    array = np.frombuffer(content, np.uint8 if dtype.bits else dtype.array_dtype)
    if dtype.bits:
        array = (array & np.uint8((1 << dtype.bits) - 1)).view(dtype.array_dtype)
    return array.reshape(shape)


def _strings_of_content(content: bytes, shape: tuple[int, ...], count: int, what: str) -> Array:
    lengths, at = decode_varints(content, 0, count)
    ends = np.cumsum(lengths, dtype=np.uint64)
    total = len(content) - at
    if int(ends[-1] if count else 0) != total or (count and int(lengths.max()) > total):
        raise DataLossError(f"{what}: tensor_content has {total} bytes of strings, but their lengths say otherwise")
    values = np.empty(count, object)
    start = at
    for i, length in enumerate(lengths.tolist()):
        values[i] = content[start : start + length]
        start += length
    return values.reshape(shape)


def _listed_values(proto: TensorProto, dtype: DType) -> Array:
    field = getattr(proto, dtype.proto_field)
    if dtype in (STRING, VARIANT):
        values = np.empty(len(field), object)
        values[:] = list(field)
        return values
    if dtype.proto_field == "half_val":
        return np.array(field, np.uint16).view(dtype.array_dtype)
    if dtype.proto_field == "float8_val":
        return np.frombuffer(field, np.uint8).view(dtype.array_dtype)
    if dtype in (COMPLEX64, COMPLEX128):
        part = np.float32 if dtype is COMPLEX64 else np.float64
        return np.array(field, part)[: len(field) // 2 * 2].view(dtype.array_dtype)
    if dtype.bits:
        return (np.array(field, np.int64) & ((1 << dtype.bits) - 1)).astype(np.uint8).view(dtype.array_dtype)
    if dtype.array_dtype.kind in "iu":  # a stored number too wide for its type wraps, as in TensorFlow
        return np.array(field, np.uint64 if dtype.name == "uint64" else np.int64).astype(dtype.array_dtype)
    return np.array(field, dtype.array_dtype)
