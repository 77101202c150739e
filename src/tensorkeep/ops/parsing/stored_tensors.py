"""Tensors and sparse tensors as serialized messages, with TensorFlow's bytes.

A serialized tensor is a TensorProto. Its elements are its `tensor_content`; for strings that is the lengths of all, as
varints, and then all characters:

    strings = varint(length)* bytes

`SerializeTensor` alone lists strings one by one instead. Reading takes all forms.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

import numpy as np

from tensorkeep.dtypes import STRING, DType, dtype_of_array, dtype_of_number
from tensorkeep.errors import DataLossError, InvalidArgumentError, TensorKeepError
from tensorkeep.io.coding.varint_arrays import decode_varints, encode_varints
from tensorkeep.ops.shared.kernel_types import Array
from tensorkeep.ops.sparse.places import check_inside, check_parts, places
from tensorkeep.proto.messages import TensorProto, parse, serialize
from tensorkeep.proto.tensors import array_of_tensor, tensor_of_array
from tensorkeep.shapes import bracketed_shape


class StoredTensor:
    """A tensor as the one element of a variant."""

    # To NumPy it is one element of an array of objects.
    dtype = np.dtype(object)
    __slots__ = ("array",)

    def __init__(self, array: Array) -> None:
        self.array = array


# ----------------------------------------------------------------------------------------------------------- Tensors


def bytes_of_tensor(array: Array, listed_strings: bool = False) -> bytes:
    """A tensor as bytes."""
    dtype = dtype_of_array(array.dtype)
    if dtype is STRING and listed_strings:
        return serialize(tensor_of_array(array))
    proto = TensorProto(dtype=dtype.number)
    proto.tensor_shape.SetInParent()
    for size in array.shape:
        proto.tensor_shape.dim.add().size = size
    proto.tensor_content = _string_content(array) if dtype is STRING else np.ascontiguousarray(array).tobytes()
    return serialize(proto)


def _string_content(array: Array) -> bytes:
    items = array.reshape(-1).tolist()
    return b"".join((encode_varints(np.array([len(item) for item in items], np.uint64)), *items))


def tensor_of_bytes(data: bytes, dtype: DType | None = None) -> Array:
    """The tensor that bytes hold. DataLossError if they hold none; InvalidArgumentError if it is of another type."""
    proto = parse(TensorProto, data, "a serialized tensor")
    found = dtype_of_number(proto.dtype)
    if dtype is not None and found is not dtype:
        raise InvalidArgumentError(f"Type mismatch between parsed tensor ({found.label}) and dtype ({dtype.label})")
    if found is STRING and proto.tensor_content:
        return _strings(proto)
    return array_of_tensor(proto, "a serialized tensor")


def _strings(proto: TensorProto) -> Array:
    shape = tuple(dim.size for dim in proto.tensor_shape.dim)
    content, count = proto.tensor_content, prod(shape)
    if any(size < 0 for size in shape) or count > len(content):
        raise DataLossError(f"a serialized tensor of shape {list(shape)} has {len(content)} bytes of strings")
    lengths, at = decode_varints(content, 0, count)
    made = np.empty(count, object)
    for i, length in enumerate(lengths.tolist()):
        made[i] = content[at : at + length]
        at += length
    if at != len(content):
        raise DataLossError(f"the strings of a serialized tensor take {at} bytes, but it has {len(content)}")
    return made.reshape(shape)


# ---------------------------------------------------------------------------------------------------- Sparse tensors


def check_increasing(indices: Array, shape: Array) -> None:
    """Refuses elements that are not in the order of their coordinates, and all different."""
    check_inside(indices, shape)
    numbers = places(indices, shape)
    wrong = np.flatnonzero(numbers[1:] <= numbers[:-1])
    if wrong.size:
        at = int(wrong[0]) + 1
        what = f"indices[{at}] = {bracketed_shape(indices[at].tolist())}"
        if numbers[at] == numbers[at - 1]:
            raise InvalidArgumentError(f"{what} is repeated")
        raise InvalidArgumentError(
            f"{what} is out of order. Many sparse ops require sorted indices.\n    Use `tf.sparse.reorder` to create "
            "a correctly ordered copy.\n\n"
        )


def rows_of(indices: Array, values: Array, shape: Array) -> list[tuple[Array, Array, Array]]:
    """The sparse tensors along the first dimension of one."""
    indices, values, shape = np.asarray(indices), np.asarray(values), np.asarray(shape)
    check_parts(indices, values, shape)
    if len(shape) < 2:
        raise InvalidArgumentError(f"Rank of input SparseTensor should be > 1, but saw rank: {len(shape)}")
    check_increasing(indices, shape)
    count = int(shape[0])
    if count > MOST_ROWS:
        raise InvalidArgumentError(f"a SparseTensor of {count} rows is too large to be taken apart")
    bounds = np.searchsorted(indices[:, 0], np.arange(count + 1))
    return [
        (indices[start:stop, 1:], values[start:stop], shape[1:])
        for start, stop in zip(bounds[:-1].tolist(), bounds[1:].tolist(), strict=True)
    ]


MOST_ROWS = 1 << 26


def check_loaded(number: int, parts: Sequence[Array], dtype: DType) -> None:
    """Refuses parts that are no sparse tensor of the type."""
    indices, values, shape = parts
    where = f"SparseTensor[{number}]"
    if values.dtype != dtype.array_dtype:
        raise InvalidArgumentError(
            f"Requested SparseTensor of type {dtype.label} but {where}.values.dtype() == "
            f"{dtype_of_array(values.dtype).label}"
        )
    if indices.dtype != np.int64 or indices.ndim != 2:
        raise InvalidArgumentError(
            f"Expected {where}.indices to represent an index matrix but received shape {bracketed_shape(indices.shape)}"
        )
    if values.ndim != 1:
        raise InvalidArgumentError(
            f"Expected {where}.values to represent a values vector but received shape {bracketed_shape(values.shape)}"
        )
    if shape.dtype != np.int64 or shape.ndim != 1:
        raise InvalidArgumentError(
            f"Expected {where}.shape to be a shape vector but its shape is {bracketed_shape(shape.shape)}"
        )
    if len(indices) != len(values):
        raise InvalidArgumentError(
            f"Expected row counts of {where}.indices and {where}.values to match but they do not: "
            f"{len(indices)} vs. {len(values)}"
        )
    if indices.shape[1] != len(shape):
        raise InvalidArgumentError(
            f"Expected column counts of {where}.indices to match size of {where}.shape but they do not: "
            f"{indices.shape[1]} vs. {len(shape)}"
        )


def stack_sparse_tensors(tensors: Sequence[tuple[Array, Array, Array]]) -> tuple[Array, Array, Array]:
    """Sparse tensors of one rank as one that has a first dimension more."""
    rank = len(tensors[0][2])
    for i, (_, _, shape) in enumerate(tensors):
        if len(shape) != rank:
            raise InvalidArgumentError(
                f"Inconsistent shape across SparseTensors: rank prior to SparseTensor[{i}] was: {rank} "
                f"but rank of SparseTensor[{i}] is: {len(shape)}"
            )
    counts = [len(values) for _, values, _ in tensors]
    first = np.repeat(np.arange(len(tensors)), counts).reshape(-1, 1)
    indices = np.concatenate((first, np.concatenate([item[0] for item in tensors])), axis=1)
    sizes = np.max([shape for _, _, shape in tensors], axis=0)
    shape = np.concatenate((np.array([len(tensors)], np.int64), sizes.astype(np.int64)))
    return indices, np.concatenate([item[1] for item in tensors]), shape


def unreadable(error: TensorKeepError) -> InvalidArgumentError:
    return InvalidArgumentError(f"Could not parse serialized proto: {error}")
