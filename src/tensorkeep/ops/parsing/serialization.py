"""Tensors and sparse tensors turned into bytes, and back."""

from __future__ import annotations

from base64 import b64encode
from math import prod
from typing import Any

import numpy as np

from tensorkeep.dtypes import VARIANT, DType
from tensorkeep.errors import DataLossError, InvalidArgumentError
from tensorkeep.graph.graph import Tensor
from tensorkeep.graph.registry.opspec import not_differentiable, op
from tensorkeep.ops.parsing.stored_tensors import (
    StoredTensor,
    bytes_of_tensor,
    check_loaded,
    rows_of,
    stack_sparse_tensors,
    tensor_of_bytes,
    unreadable,
)
from tensorkeep.ops.shared.kernel_types import Array
from tensorkeep.ops.shared.shape_rules import scalar, unknown, with_rank
from tensorkeep.proto.messages import TensorProto, parse
from tensorkeep.shapes import Shape, bracketed_shape

parse_tensor = op("ParseTensor(serialized: string) -> output: out_type", "out_type: type")
parse_tensor.shape(unknown)


@parse_tensor.kernel
def parse_tensor_kernel(serialized: Array, *, out_type: DType) -> Array:
    if np.ndim(serialized):
        raise InvalidArgumentError(
            f"Expected `serialized` to be a scalar, got shape: {bracketed_shape(np.shape(serialized))}"
        )
    data = np.asarray(serialized).item()
    try:
        parse(TensorProto, data, "a serialized tensor")
    except DataLossError:
        shown = b64encode(data[:150]).decode()
        raise InvalidArgumentError(f"Could not parse `serialized` as TensorProto, base64: {shown}") from None
    try:
        return tensor_of_bytes(data, out_type)
    except DataLossError as error:
        raise InvalidArgumentError(f"Cannot parse tensor from proto: {error}") from None


serialize_tensor = op("SerializeTensor(tensor: T) -> serialized: string", "T: type")
serialize_tensor.shape(scalar)


@serialize_tensor.kernel
def serialize_tensor_kernel(tensor: Array, *, T: DType) -> Array:  # noqa: N803 - the attribute's name
    array = np.asarray(tensor)
    if T is VARIANT:
        raise InvalidArgumentError("SerializeTensor: the value of a variant has no serialized form")
    return _texts([bytes_of_tensor(array, listed_strings=True)], ())


not_differentiable(parse_tensor, serialize_tensor)


def _texts(items: list[bytes], shape: tuple[int, ...]) -> Array:
    made = np.empty(len(items), object)
    made[:] = items
    return made.reshape(shape)


def _row(indices: Array, values: Array, shape: Array, out_type: DType) -> list[Any]:
    """The three elements of a serialized sparse tensor."""
    parts = (indices, values, shape)
    return [StoredTensor(part) if out_type is VARIANT else bytes_of_tensor(part) for part in parts]


serialize_sparse = op(
    "SerializeSparse(sparse_indices: int64, sparse_values: T, sparse_shape: int64) -> serialized_sparse: out_type",
    "T: type",
    "out_type: {string, variant} = string",
)


@serialize_sparse.shape
def serialize_sparse_shape(sparse_indices: Tensor, sparse_values: Tensor, sparse_shape: Tensor) -> Shape:
    _check_ranks(sparse_indices, sparse_values, sparse_shape)
    return Shape((3,))


def _check_ranks(indices: Tensor, values: Tensor, shape: Tensor) -> None:
    for tensor, rank in ((indices, 2), (values, 1), (shape, 1)):
        with_rank(tensor, rank)


@serialize_sparse.kernel
def serialize_sparse_kernel(
    sparse_indices: Array, sparse_values: Array, sparse_shape: Array, *, out_type: DType
) -> Array:
    indices, values, shape = np.asarray(sparse_indices), np.asarray(sparse_values), np.asarray(sparse_shape)
    for part, rank, what in ((indices, 2, "indices"), (values, 1, "values"), (shape, 1, "shape")):
        if part.ndim != rank:
            kind = "a matrix" if rank == 2 else "a vector"
            raise InvalidArgumentError(
                f"Input {what} should be {kind} but received shape {bracketed_shape(part.shape)}"
            )
    return _texts(_row(indices, values, shape, out_type), (3,))


serialize_many_sparse = op(
    "SerializeManySparse(sparse_indices: int64, sparse_values: T, sparse_shape: int64) -> serialized_sparse: out_type",
    "T: type",
    "out_type: {string, variant} = string",
)


@serialize_many_sparse.shape
def serialize_many_sparse_shape(sparse_indices: Tensor, sparse_values: Tensor, sparse_shape: Tensor) -> Shape:
    _check_ranks(sparse_indices, sparse_values, sparse_shape)
    return Shape((None, 3))


@serialize_many_sparse.kernel
def serialize_many_sparse_kernel(
    sparse_indices: Array, sparse_values: Array, sparse_shape: Array, *, out_type: DType
) -> Array:
    rows = rows_of(sparse_indices, sparse_values, sparse_shape)
    return _texts([item for row in rows for item in _row(*row, out_type)], (len(rows), 3))


deserialize_sparse = op(
    "DeserializeSparse(serialized_sparse: Tserialized) -> sparse_indices: int64, sparse_values: dtype, "
    "sparse_shape: int64",
    "dtype: type",
    "Tserialized: {string, variant} = string",
)


@deserialize_sparse.shape
def deserialize_sparse_shape(serialized_sparse: Tensor) -> tuple[Shape, Shape, Shape]:
    dims = serialized_sparse.static_shape.dims
    if dims is not None and (not dims or dims[-1] not in (None, 3)):
        raise InvalidArgumentError(f"Dimension must be 3 but is {dims[-1] if dims else 'missing'}")
    return Shape((None, None)), Shape((None,)), Shape((None,))


@deserialize_sparse.kernel
def deserialize_sparse_kernel(serialized_sparse: Array, *, dtype: DType) -> tuple[Array, Array, Array]:
    array = np.asarray(serialized_sparse)
    if not array.ndim:
        raise InvalidArgumentError("Serialized sparse should have non-zero rank []")
    if array.shape[-1] != 3:
        raise InvalidArgumentError(
            f"Serialized sparse should have 3 as the last dimension {bracketed_shape(array.shape)}"
        )
    if not array.size:
        raise InvalidArgumentError(
            "Serialized sparse should have at least 1 serialized tensor, but has a zero dimension "
            f"{bracketed_shape(array.shape)}"
        )
    tensors: list[tuple[Array, Array, Array]] = []
    for i, row in enumerate(array.reshape(-1, 3).tolist()):
        indices, values, shape = (_part(item) for item in row)
        check_loaded(i, (indices, values, shape), dtype)
        tensors.append((indices, values, shape))
    return tensors[0] if array.ndim == 1 else _unstack_first_dimension(array.shape[:-1], *stack_sparse_tensors(tensors))


def _part(item: Any) -> Array:
    if isinstance(item, StoredTensor):
        return item.array
    if not isinstance(item, bytes):
        raise InvalidArgumentError(f"a {type(item).__name__} is no serialized tensor")
    try:
        return tensor_of_bytes(item)
    except DataLossError as error:
        raise unreadable(error) from None


def _unstack_first_dimension(
    before: tuple[int, ...], indices: Array, values: Array, shape: Array
) -> tuple[Array, Array, Array]:
    """A sparse tensor whose first dimension is several in fact."""
    if len(before) == 1:
        return indices, values, shape
    assert prod(before) == int(shape[0])
    places = np.stack(np.unravel_index(indices[:, 0], before), axis=1)
    return (
        np.concatenate((places, indices[:, 1:]), axis=1),
        values,
        np.concatenate((np.array(before, np.int64), shape[1:])),
    )


deserialize_many_sparse = op(
    "DeserializeManySparse(serialized_sparse: string) -> sparse_indices: int64, sparse_values: dtype, "
    "sparse_shape: int64",
    "dtype: type",
)


@deserialize_many_sparse.shape
def deserialize_many_sparse_shape(serialized_sparse: Tensor) -> tuple[Shape, Shape, Shape]:
    with_rank(serialized_sparse, 2)
    return deserialize_sparse_shape(serialized_sparse)


deserialize_many_sparse.kernel(deserialize_sparse_kernel)
