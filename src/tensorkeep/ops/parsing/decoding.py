"""Bytes read as numbers, as records, as compressed bytes, as JSON."""

from __future__ import annotations

import re
import zlib
from collections.abc import Sequence
from itertools import pairwise
from math import prod
from typing import Any, Final

import numpy as np

from tensorkeep.dtypes import BOOL, DType
from tensorkeep.errors import DataLossError, InvalidArgumentError, UnimplementedError
from tensorkeep.graph.constants import constant_value
from tensorkeep.graph.graph import Tensor
from tensorkeep.graph.registry.opspec import not_differentiable, op
from tensorkeep.ops.parsing._json_examples import example_of_json
from tensorkeep.ops.parsing.csv_records import column, split_record
from tensorkeep.ops.shared.dimensions import at_most
from tensorkeep.ops.shared.kernel_types import Array, string_array
from tensorkeep.ops.shared.shape_rules import check_scalars, same
from tensorkeep.shapes import UNKNOWN_SHAPE, Shape, bracketed_shape

decode_raw = op(
    "DecodeRaw(bytes: string) -> output: out_type",
    "out_type: {half, float, double, int32, uint16, uint8, int16, int8, int64, complex64, complex128, bool, bfloat16}",
    "little_endian: bool = true",
)


@decode_raw.shape
def decode_raw_shape(bytes: Tensor) -> Shape:
    return _with_one_more(bytes.static_shape, None)


def _with_one_more(shape: Shape, size: int | None) -> Shape:
    return UNKNOWN_SHAPE if shape.dims is None else Shape((*shape.dims, size))


@decode_raw.kernel
def decode_raw_kernel(bytes: Array, *, out_type: DType, little_endian: bool) -> Array:
    array = np.asarray(bytes)
    items = array.reshape(-1).tolist()
    size = len(items[0]) if items else 0
    if len(set(map(len, items))) > 1:
        at, other = next((i, len(item)) for i, item in enumerate(items) if len(item) != size)
        raise InvalidArgumentError(
            f"DecodeRaw requires input strings to all be the same size, but element {at} has size {size} != {other}"
        )
    if size % out_type.itemsize:
        raise InvalidArgumentError(
            f"Input to DecodeRaw has length {size} that is not a multiple of {out_type.itemsize}, "
            f"the size of {out_type.label}"
        )
    return _numbers(bytearray().join(items), out_type, little_endian).reshape((*array.shape, size // out_type.itemsize))


def _numbers(data: bytearray, dtype: DType, little_endian: bool) -> Array:
    """The elements that bytes, which nobody else has, are; every bit pattern but 0 is true."""
    if dtype is BOOL:
        result: Array = np.frombuffer(data, np.uint8) != 0
        return result
    array = np.frombuffer(data, dtype.array_dtype)
    return array if little_endian else array.byteswap()


decode_padded_raw = op(
    "DecodePaddedRaw(input_bytes: string, fixed_length: int32) -> output: out_type",
    "out_type: {half, float, double, int32, uint16, uint8, int16, int8, int64, bfloat16}",
    "little_endian: bool = true",
)


@decode_padded_raw.shape
def decode_padded_raw_shape(input_bytes: Tensor, fixed_length: Tensor, *, out_type: DType) -> Shape:
    check_scalars(fixed_length)
    known = constant_value(fixed_length)
    if known is None:
        return _with_one_more(input_bytes.static_shape, None)
    length = int(known)
    if length < 0:
        raise InvalidArgumentError(f"Dimension size, given by scalar input 1, must be non-negative but is {length}")
    if length % out_type.itemsize:
        raise InvalidArgumentError(f"Dimension size must be evenly divisible by {out_type.itemsize} but is {length}")
    return _with_one_more(input_bytes.static_shape, length // out_type.itemsize)


@decode_padded_raw.kernel
def decode_padded_raw_kernel(input_bytes: Array, fixed_length: Array, *, out_type: DType, little_endian: bool) -> Array:
    if np.ndim(fixed_length):
        raise InvalidArgumentError(f"k must be scalar, got shape {bracketed_shape(np.shape(fixed_length))}")
    length = int(np.asarray(fixed_length).item())
    if length % out_type.itemsize:
        raise InvalidArgumentError(
            f"fixed_length ({length}) must be a multiple of the size of out_type ({out_type.itemsize})"
        )
    if length <= 0:
        raise InvalidArgumentError(f"fixed_length ({length}) must be greater than zero.")
    array = np.asarray(input_bytes)
    padded = bytearray().join(item[:length].ljust(length, b"\0") for item in array.reshape(-1).tolist())
    return _numbers(padded, out_type, little_endian).reshape((*array.shape, length // out_type.itemsize))


not_differentiable(decode_raw, decode_padded_raw)


decode_csv = op(
    "DecodeCSV(records: string, record_defaults: OUT_TYPE) -> output: OUT_TYPE",
    "OUT_TYPE: list({float, double, int32, int64, string}) >= 1",
    "field_delim: string = ','",
    "use_quote_delim: bool = true",
    "na_value: string = ''",
    "select_cols: list(int) = []",
)


@decode_csv.shape
def decode_csv_shape(records: Tensor, record_defaults: Sequence[Tensor]) -> list[Shape]:
    for default in record_defaults:
        dims = at_most(default.static_shape, 1).dims
        if dims and dims[0] is not None and dims[0] > 1:
            raise InvalidArgumentError("Shape of a default must be a length-0 or length-1 vector, or a scalar.")
    return [records.static_shape] * len(record_defaults)


@decode_csv.kernel
def decode_csv_kernel(
    records: Array,
    record_defaults: list[Array],
    *,
    OUT_TYPE: Sequence[DType],  # noqa: N803 - the attribute's name
    field_delim: bytes,
    use_quote_delim: bool,
    na_value: bytes,
    select_cols: Sequence[int],
) -> list[Array]:
    _check_csv(record_defaults, field_delim, select_cols)
    array = np.asarray(records)
    rows = []
    for i, record in enumerate(array.reshape(-1).tolist()):
        fields = split_record(record, field_delim, use_quote_delim)
        if select_cols:
            fields = [fields[place] for place in select_cols if place < len(fields)]
        if len(fields) != len(OUT_TYPE):
            raise InvalidArgumentError(f"Expect {len(OUT_TYPE)} fields but have {len(fields)} in record {i}")
        rows.append(fields)
    return [
        column([row[i] for row in rows], i, dtype, default, na_value).reshape(array.shape)
        for i, (dtype, default) in enumerate(zip(OUT_TYPE, record_defaults, strict=True))
    ]


def _check_csv(record_defaults: Sequence[Any], field_delim: bytes, select_cols: Sequence[int]) -> None:
    if len(field_delim) != 1:
        raise InvalidArgumentError("field_delim should be only 1 char")
    if select_cols and len(select_cols) != len(record_defaults):
        raise InvalidArgumentError("select_cols should match output size")
    if any(place < 0 for place in select_cols):
        raise InvalidArgumentError("select_cols should be non-negative indices")
    if any(a >= b for a, b in pairwise(select_cols)):
        raise InvalidArgumentError("select_cols should be strictly increasing indices")
    for i, default in enumerate(record_defaults):
        if (count := prod(np.shape(default))) > 1:
            raise InvalidArgumentError(f"There should only be 1 default per field but field {i} has {count}")


decode_compressed = op("DecodeCompressed(bytes: string) -> output: string", "compression_type: string = ''")
decode_compressed.shape(same)

_ZLIB, _GZIP = zlib.MAX_WBITS, zlib.MAX_WBITS | 16
_REASON: Final = re.compile(r"Error (-?\d+)[^:]*: (.*)")


@decode_compressed.kernel
def decode_compressed_kernel(bytes: Array, *, compression_type: bytes) -> Array:
    array = np.asarray(bytes)
    if compression_type == b"":
        return array
    if compression_type == b"ZSTD":
        raise UnimplementedError("DecodeCompressed of ZSTD is not supported: decompress it before, or use ZLIB or GZIP")
    if compression_type not in (b"ZLIB", b"GZIP"):
        raise InvalidArgumentError("Only ZLIB, ZSTD, GZIP or NONE are supported compressions")
    inflate = _inflated_gzip if compression_type == b"GZIP" else _inflate_bytes
    return string_array(map(inflate, array.reshape(-1).tolist()), array.shape)


def _inflate_bytes(data: bytes) -> bytes:
    """What compressed bytes hold, as much of it as there is; what follows them is ignored."""
    return _read_stream(data, _ZLIB)[0]


def _inflated_gzip(data: bytes) -> bytes:
    """What compressed files hold, one after the other."""
    found = []
    while data:
        contents, data = _read_stream(data, _GZIP)
        found.append(contents)
    return b"".join(found)


def _read_stream(data: bytes, window: int) -> tuple[bytes, bytes]:
    stream = zlib.decompressobj(window)
    try:
        return stream.decompress(data), stream.unused_data
    except zlib.error as error:
        found = _REASON.search(str(error))
        number, reason = found.groups() if found else ("-3", str(error))
        raise DataLossError(f"inflate() failed with error {number}: {reason}") from None


decode_json_example = op("DecodeJSONExample(json_examples: string) -> binary_examples: string")
decode_json_example.shape(same)


@decode_json_example.kernel
def decode_json_example_kernel(json_examples: Array) -> Array:
    array = np.asarray(json_examples)
    return string_array(map(example_of_json, array.reshape(-1).tolist()), array.shape)
