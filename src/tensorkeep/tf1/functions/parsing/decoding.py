"""Bytes decoded: numbers, records, compressed bytes, JSON, serialized tensors and messages."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from tensorkeep.dtypes import STRING, DType
from tensorkeep.errors import InvalidArgumentError
from tensorkeep.graph.arguments import DTypeLike, TensorLike, emit
from tensorkeep.graph.composites import SparseTensor
from tensorkeep.graph.graph import Tensor
from tensorkeep.ops.parsing import decoding as decoding_ops
from tensorkeep.ops.parsing import protos
from tensorkeep.ops.parsing import serialization as serialization_ops
from tensorkeep.tf1.functions.arrays.shapes import either
from tensorkeep.tf1.functions.sparse.tensors import as_sparse


def decode_raw(
    input_bytes: TensorLike | None = None,
    out_type: DTypeLike | None = None,
    little_endian: bool = True,
    name: str | None = None,
    bytes: TensorLike | None = None,
) -> Tensor:
    """The numbers that strings of one length consist of, in a dimension more."""
    input_bytes = either("input_bytes", input_bytes, "bytes", bytes)
    if out_type is None:
        raise InvalidArgumentError("decode_raw_v1() missing 1 positional argument: 'out_type'")
    return emit(
        decoding_ops.decode_raw, input_bytes, out_type=DType.of(out_type), little_endian=little_endian, name=name
    )


def decode_csv(
    records: TensorLike,
    record_defaults: Sequence[Any],
    field_delim: str = ",",
    use_quote_delim: bool = True,
    name: str | None = None,
    na_value: str = "",
    select_cols: Sequence[int] | None = None,
) -> list[Tensor]:
    """The fields of records, one tensor for each; the types are those of the defaults."""
    if select_cols is not None:
        _check_columns(select_cols, record_defaults)
    made: list[Tensor] = decoding_ops.decode_csv(
        records,
        record_defaults,
        field_delim=field_delim,
        use_quote_delim=use_quote_delim,
        na_value=na_value,
        select_cols=[] if select_cols is None else select_cols,
        name=name,
    )
    return made


def _check_columns(select_cols: Sequence[int], record_defaults: Sequence[Any]) -> None:
    if any(a >= b for a, b in pairwise(select_cols)):
        raise InvalidArgumentError("select_cols is not strictly increasing.")
    if select_cols[0] < 0:
        raise InvalidArgumentError("select_cols contains negative values.")
    if len(select_cols) != len(record_defaults):
        raise InvalidArgumentError("Length of select_cols and record_defaults do not match.")


def decode_compressed(bytes: TensorLike, compression_type: str = "", name: str | None = None) -> Tensor:
    """What compressed strings hold: "ZLIB" or "GZIP"."""
    return emit(decoding_ops.decode_compressed, bytes, compression_type=compression_type, name=name)


def decode_json_example(json_examples: TensorLike, name: str | None = None) -> Tensor:
    """Examples written as JSON, in their serialized form."""
    return emit(decoding_ops.decode_json_example, json_examples, name=name)


def parse_tensor(serialized: TensorLike, out_type: DTypeLike, name: str | None = None) -> Tensor:
    """The tensor of that type that a string is the serialized form of."""
    return emit(serialization_ops.parse_tensor, serialized, out_type=DType.of(out_type), name=name)


def serialize_tensor(tensor: TensorLike, name: str | None = None) -> Tensor:
    """The serialized form of a tensor, a string."""
    return emit(serialization_ops.serialize_tensor, tensor, name=name)


def serialize_sparse(sp_input: SparseTensor, name: str | None = None, out_type: DTypeLike = STRING) -> Tensor:
    """The serialized forms of the three parts of a sparse tensor."""
    sparse = as_sparse(sp_input)
    return emit(
        serialization_ops.serialize_sparse,
        sparse.indices,
        sparse.values,
        sparse.dense_shape,
        out_type=DType.of(out_type),
        name=name,
    )


def serialize_many_sparse(sp_input: SparseTensor, name: str | None = None, out_type: DTypeLike = STRING) -> Tensor:
    """The serialized forms of the sparse tensors along the first dimension of one, a row each."""
    sparse = as_sparse(sp_input)
    return emit(
        serialization_ops.serialize_many_sparse,
        sparse.indices,
        sparse.values,
        sparse.dense_shape,
        out_type=DType.of(out_type),
        name=name,
    )


def deserialize_many_sparse(
    serialized_sparse: TensorLike, dtype: DTypeLike, rank: int | None = None, name: str | None = None
) -> SparseTensor:
    """Sparse tensors of serialized forms, put together along a new first dimension; `rank` is that of the result."""
    indices, values, shape = serialization_ops.deserialize_many_sparse(
        serialized_sparse, dtype=DType.of(dtype), name=name
    )
    indices.set_shape([None, rank])
    shape.set_shape([rank])
    return SparseTensor(indices, values, shape)


def decode_proto(
    bytes: TensorLike,
    message_type: str,
    field_names: Sequence[str],
    output_types: Sequence[DTypeLike],
    descriptor_source: str = "local://",
    message_format: str = "binary",
    sanitize: bool = False,
    name: str | None = None,
) -> tuple[Tensor, list[Tensor]]:
    """How many values each field of each message has, and the values, padded with defaults."""
    sizes, values = protos.decode_proto_v2(
        bytes,
        message_type=message_type,
        field_names=field_names,
        output_types=[DType.of(dtype) for dtype in output_types],
        descriptor_source=descriptor_source,
        message_format=message_format,
        sanitize=sanitize,
        name=name,
    )
    return sizes, values


def encode_proto(
    sizes: TensorLike,
    values: Sequence[TensorLike],
    field_names: Sequence[str],
    message_type: str,
    descriptor_source: str = "local://",
    name: str | None = None,
) -> Tensor:
    """Messages with as many of the values in each field as the sizes say."""
    return emit(
        protos.encode_proto,
        sizes,
        values,
        field_names=field_names,
        message_type=message_type,
        descriptor_source=descriptor_source,
        name=name,
    )


__all__ = [
    "decode_compressed",
    "decode_csv",
    "decode_json_example",
    "decode_proto",
    "decode_raw",
    "deserialize_many_sparse",
    "encode_proto",
    "parse_tensor",
    "serialize_many_sparse",
    "serialize_sparse",
    "serialize_tensor",
]
