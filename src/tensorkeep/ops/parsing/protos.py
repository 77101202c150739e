"""Messages as tensors: fields read out of serialized protocol buffers, and written into them."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from tensorkeep.dtypes import DType
from tensorkeep.errors import InvalidArgumentError
from tensorkeep.graph.graph import Tensor
from tensorkeep.graph.registry.opspec import op
from tensorkeep.ops.parsing._proto_values import (
    TENSOR_TYPES,
    encode_field,
    is_scalar,
    packed_values,
    value_of,
    wire_type,
)
from tensorkeep.ops.shared.dimensions import at_least
from tensorkeep.ops.shared.kernel_types import Array
from tensorkeep.ops.shared.shape_rules import merge_shapes
from tensorkeep.proto.descriptors import Field, MessageType, message_type
from tensorkeep.proto.wire import LENGTH_DELIMITED, fields
from tensorkeep.runtime.limits import check_allocation
from tensorkeep.shapes import UNKNOWN_SHAPE, Shape

Names = tuple[bytes, ...]

decode_proto_v2 = op(
    "DecodeProtoV2(bytes: string) -> sizes: int32, values: output_types",
    "message_type: string",
    "field_names: list(string)",
    "output_types: list(type) >= 0",
    "descriptor_source: string = 'local://'",
    "message_format: string = 'binary'",
    "sanitize: bool = false",
)
encode_proto = op(
    "EncodeProto(sizes: int32, values: Tinput_types) -> bytes: string",
    "field_names: list(string)",
    "message_type: string",
    "descriptor_source: string = 'local://'",
    "Tinput_types: list(type) >= 1",
)


def _fields(message: MessageType, name: bytes, field_names: Names, types: tuple[DType, ...], way: str) -> list[Field]:
    """The fields of these names, which must be there and go with these types."""
    found = []
    for field_name, dtype in zip(field_names, types, strict=True):
        field = message.fields.get(field_name.decode())
        if field is None:
            raise InvalidArgumentError(f"Unknown field: {field_name.decode()} in message type {name.decode()}")
        if dtype.name not in TENSOR_TYPES[field.kind]:
            raise InvalidArgumentError(
                f"Unexpected {way} type for {field.full_name}: {field.kind} to DT_{dtype.label.upper()}"
            )
        found.append(field)
    return found


# ---------------------------------------------------------------------------------------------------- Decoding


@decode_proto_v2.shape
def decode_proto_v2_shape(bytes: Tensor, *, output_types: tuple[DType, ...]) -> tuple[Shape, list[Shape]]:
    known = bytes.static_shape
    if known.dims is None:
        return UNKNOWN_SHAPE, [UNKNOWN_SHAPE] * len(output_types)
    return Shape((*known.dims, len(output_types))), [Shape((*known.dims, None)) for _ in output_types]


@decode_proto_v2.kernel
def decode_proto_v2_kernel(
    bytes: Array,
    *,
    message_type: bytes,
    field_names: Names,
    output_types: tuple[DType, ...],
    descriptor_source: bytes,
    message_format: bytes,
    sanitize: bool,
) -> tuple[Array, list[Array]]:
    if len(field_names) != len(output_types):
        raise InvalidArgumentError("field_names and output_types attributes must have the same length")
    if message_format not in (b"binary", b"text"):
        raise InvalidArgumentError("format must be one of binary or text")
    message = _type_of(descriptor_source, message_type)
    wanted = _fields(message, message_type, field_names, output_types, "output")
    batch = np.asarray(bytes, object)
    data = batch.ravel().tolist()
    if not data:
        raise InvalidArgumentError("Bufs argument must contain at least one value")
    if message_format == b"text":
        data = [message.of_text(item) for item in data]
    elif sanitize:
        data = [message.sanitized(item) for item in data]
    rows = [_values(item, wanted) for item in data]
    sizes = np.array([[len(values) for values in row] for row in rows], np.int32)
    filled = [
        _filled_array(field, [row[index] for row in rows], batch.shape, dtype)
        for index, (field, dtype) in enumerate(zip(wanted, output_types, strict=True))
    ]
    return sizes.reshape((*batch.shape, len(wanted))), filled


def _type_of(source: bytes, name: bytes) -> MessageType:
    return message_type(source, name.decode())


def _values(data: bytes, wanted: list[Field]) -> list[list[Any]]:
    """The values of each field of one message. A field that is asked for twice is given once."""
    found: list[list[Any]] = [[] for _ in wanted]
    places = {field.number: index for index, field in reversed(list(enumerate(wanted)))}
    for number, kind, stored in fields(data, "a message"):
        index = places.get(number)
        if index is None:
            continue
        field = wanted[index]
        if kind == wire_type(field):
            new = [value_of(field, stored)]
        elif kind == LENGTH_DELIMITED and is_scalar(field):
            new = packed_values(field, stored)  # type: ignore[arg-type]
        else:
            continue
        found[index] = found[index] + new if field.is_repeated else new[-1:]
    return found


def _filled_array(field: Field, rows: list[list[Any]], batch: tuple[int, ...], dtype: DType) -> Array:
    """The values of all messages in one array, with the field's default where there are none."""
    width = max([1, *map(len, rows)])
    blank = b"" if dtype.name == "string" else 0
    default = blank if field.default is None or field.kind == "message" else field.default
    check_allocation((len(rows), width), dtype.array_dtype)
    result = np.full((len(rows), width), default, dtype.array_dtype)
    for row, values in zip(result, rows, strict=True):
        row[: len(values)] = values
    return result.reshape((*batch, width))


# ---------------------------------------------------------------------------------------------------- Encoding


@encode_proto.shape
def encode_proto_shape(sizes: Tensor, values: list[Tensor]) -> Shape:
    known = sizes.static_shape
    for shape in (known, *(value.static_shape for value in values)):
        at_least(shape, 2)
    batch = UNKNOWN_SHAPE if known.dims is None else Shape(known.dims[:-1])
    for value in values:
        theirs = value.static_shape
        if theirs.dims is not None:
            batch = merge_shapes(batch, Shape(theirs.dims[:-1]))
    return batch


@encode_proto.kernel
def encode_proto_kernel(
    sizes: Array,
    values: list[Array],
    *,
    field_names: Names,
    message_type: bytes,
    descriptor_source: bytes,
    Tinput_types: tuple[DType, ...],  # noqa: N803 - TensorFlow's name
) -> Array:
    if len(field_names) != len(values):
        raise InvalidArgumentError(f"Mismatched number of field names and values: {len(field_names)} and {len(values)}")
    message = _type_of(descriptor_source, message_type)
    wanted = _fields(message, message_type, field_names, Tinput_types, "input")
    sizes = np.asarray(sizes)
    if sizes.ndim < 2 or sizes.shape[-1] != len(values):
        raise InvalidArgumentError(f"sizes must be [..., {len(values)}], one for each field, got {list(sizes.shape)}")
    batch = sizes.shape[:-1]
    _check_values(sizes, values, batch, wanted)
    count = prod(batch)
    each = [np.asarray(value).reshape((count, value.shape[-1])).tolist() for value in values]
    order = sorted(range(len(wanted)), key=lambda index: wanted[index].number)
    result = np.empty(count, object)
    for row, amounts in enumerate(sizes.reshape((count, len(values))).tolist()):
        result[row] = b"".join(encode_field(wanted[index], each[index][row][: amounts[index]]) for index in order)
    return result.reshape(batch)


def _check_values(sizes: Array, values: list[Array], batch: tuple[int, ...], wanted: list[Field]) -> None:
    for index, (value, field) in enumerate(zip(values, wanted, strict=True)):
        if np.ndim(value) != sizes.ndim or value.shape[:-1] != batch:
            raise InvalidArgumentError(
                f"values of {field.full_name} must be {[*batch, 'n']}, as the sizes, got {list(np.shape(value))}"
            )
        amounts = sizes[..., index]
        if amounts.size and not 0 <= amounts.min() <= amounts.max() <= value.shape[-1]:
            raise InvalidArgumentError(
                f"Size to write must not be larger than value tensor; but got: {amounts.max()} > {value.shape[-1]}"
                if amounts.max() > value.shape[-1]
                else f"sizes of {field.full_name} must not be negative, got {amounts.min()}"
            )
