"""Strings: joined, split, cut, matched, converted, hashed. A string is any bytes; a tensor of them, an object array."""

from __future__ import annotations

import re
from base64 import urlsafe_b64decode, urlsafe_b64encode
from binascii import Error as Base64Error
from collections.abc import Callable, Sequence
from itertools import chain
from math import prod
from typing import Any, Final

import numpy as np

from tensorkeep.dtypes import BOOL, COMPLEX64, COMPLEX128, STRING, DType
from tensorkeep.errors import InvalidArgumentError, OutOfRangeError
from tensorkeep.graph.constants import constant_value
from tensorkeep.graph.graph import Tensor
from tensorkeep.graph.registry.opspec import not_differentiable, op
from tensorkeep.ops.shared.kernel_types import Array, string_array
from tensorkeep.ops.shared.shape_rules import broadcast, check_scalars, same, with_rank, with_rank_at_least
from tensorkeep.ops.shared.value_text import text_of_tensor
from tensorkeep.ops.text._google_re2 import expression, rewriting
from tensorkeep.ops.text.hashes import fingerprints, keyed_hashes, old_hashes
from tensorkeep.runtime.limits import check_allocation
from tensorkeep.shapes import UNKNOWN_SHAPE, Shape


def _map_strings(function: Callable[[bytes], bytes], input: Any) -> Array:
    array = np.asarray(input)
    return string_array(map(function, array.reshape(-1).tolist()), array.shape)


def _text(value: Any, what: str) -> bytes:
    """The value of an input that must be one string."""
    array = np.asarray(value)
    if array.ndim:
        raise InvalidArgumentError(f"{what} must be scalar, but received {list(array.shape)}")
    found: bytes = array.item()
    return found


# ---------------------------------------------------------------------------------------------------- Joining

string_join = op("StringJoin(inputs: N * string) -> output: string", "N: int >= 0", "separator: string = ''")


@string_join.shape
def string_join_shape(inputs: list[Tensor]) -> Shape:
    shapes = [tensor.static_shape for tensor in inputs]
    if all(shape.rank == 0 for shape in shapes):
        return Shape(())
    result = UNKNOWN_SHAPE
    for shape in shapes:
        if shape.rank not in (None, 0):
            result = result.merge(shape)
    return result


@string_join.kernel
def string_join_kernel(inputs: list[Array], *, separator: bytes) -> Array:
    arrays = [np.asarray(array) for array in inputs]
    shapes = {array.shape for array in arrays if array.ndim}
    if len(shapes) > 1:
        raise InvalidArgumentError(
            "Input shapes do not match: " + " vs. ".join(str(list(shape)) for shape in sorted(shapes))
        )
    shape = shapes.pop() if shapes else ()
    count = prod(shape)
    columns = [array.reshape(-1).tolist() if array.ndim else [array[()]] * count for array in arrays]
    if not columns:
        return string_array([b""], ())
    return string_array(map(separator.join, zip(*columns, strict=True)), shape)


reduce_join = op(
    "ReduceJoin(inputs: string, reduction_indices: int32) -> output: string",
    "keep_dims: bool = false",
    "separator: string = ''",
)


@reduce_join.shape
def reduce_join_shape(inputs: Tensor, reduction_indices: Tensor, *, keep_dims: bool) -> Shape:
    dims = inputs.static_shape.dims
    axes = constant_value(reduction_indices)
    if dims is None:
        return UNKNOWN_SHAPE
    if axes is None:
        return Shape((None,) * len(dims)) if keep_dims else UNKNOWN_SHAPE
    reduced = _axes(axes, len(dims))
    if keep_dims:
        return Shape(tuple(1 if axis in reduced else size for axis, size in enumerate(dims)))
    return Shape(tuple(size for axis, size in enumerate(dims) if axis not in reduced))


def _axes(axes: Any, rank: int) -> list[int]:
    found: list[int] = []
    for axis in np.asarray(axes).reshape(-1).tolist():
        if not -rank <= axis < rank:
            raise OutOfRangeError(f"Invalid reduction dimension {axis} for input with {rank} dimension(s)")
        if axis % rank in found:
            raise InvalidArgumentError(f"Duplicate reduction dimension {axis}")
        found.append(axis % rank)
    return found


@reduce_join.kernel
def reduce_join_kernel(inputs: Array, reduction_indices: Array, *, keep_dims: bool, separator: bytes) -> Array:
    array = np.asarray(inputs)
    reduced = _axes(reduction_indices, array.ndim)
    kept = [axis for axis in range(array.ndim) if axis not in reduced]
    shape = [array.shape[axis] for axis in kept]
    rows = array.transpose(*kept, *reversed(reduced)).reshape(
        prod(shape), -1 if array.size else _product(array, reduced)
    )
    joined = string_array(map(separator.join, rows.tolist()), shape)
    if keep_dims:
        shape = [1 if axis in reduced else size for axis, size in enumerate(array.shape)]
    return joined.reshape(shape)


def _product(array: Array, axes: Sequence[int]) -> int:
    return prod(array.shape[axis] for axis in axes)


unsorted_segment_join = op(
    "UnsortedSegmentJoin(inputs: string, segment_ids: Tindices, num_segments: Tnumsegments) -> output: string",
    "separator: string = ''",
    "Tindices: {int32, int64}",
    "Tnumsegments: {int32, int64} = int32",
)


@unsorted_segment_join.shape
def unsorted_segment_join_shape(inputs: Tensor, segment_ids: Tensor, num_segments: Tensor) -> Shape:
    check_scalars(num_segments)
    data, ids = inputs.static_shape.dims, segment_ids.static_shape.dims
    if data is None or ids is None:
        return UNKNOWN_SHAPE
    Shape(data[: len(ids)]).merge(Shape(ids))
    count = constant_value(num_segments)
    if count is not None and count < 0:
        raise InvalidArgumentError(f"Dimension size, given by scalar input 2, must be non-negative but is {count}")
    return Shape((None if count is None else int(count), *data[len(ids) :]))


@unsorted_segment_join.kernel
def unsorted_segment_join_kernel(inputs: Array, segment_ids: Array, num_segments: Array, *, separator: bytes) -> Array:
    data, ids = np.asarray(inputs), np.asarray(segment_ids)
    if np.ndim(num_segments):
        raise InvalidArgumentError("Number of segments must be a scalar")
    segments = int(num_segments)
    if segments < 0:
        raise InvalidArgumentError(f"Number of segments must be non-negative but got {segments}")
    if not ids.ndim:
        raise InvalidArgumentError("Segment_id cannot have rank 0")
    if data.shape[: ids.ndim] != ids.shape:
        raise InvalidArgumentError("segment_ids must have the same number of elements as inputs")
    flat = ids.reshape(-1)
    if flat.size and not (flat.min() >= 0 and flat.max() < segments):
        raise InvalidArgumentError(f"segment_ids must lie in [0, {segments}), got {flat.tolist()}")
    rest = data.shape[ids.ndim :]
    rows = data.reshape(flat.size, prod(rest))
    parts: list[list[list[bytes]]] = [[[] for _ in range(prod(rest))] for _ in range(segments)]
    for segment, row in zip(flat.tolist(), rows.tolist(), strict=True):
        for place, item in enumerate(row):
            parts[segment][place].append(item)
    return string_array((separator.join(items) for row in parts for items in row), (segments, *rest))


string_format = op(
    "StringFormat(inputs: T) -> output: string",
    "T: list(type) >= 0",
    "template: string = '%s'",
    "placeholder: string = '%s'",
    "summarize: int = 3",
)


@string_format.shape
def string_format_shape(inputs: list[Tensor]) -> Shape:
    return Shape(())


@string_format.kernel
def string_format_kernel(inputs: list[Array], *, template: bytes, placeholder: bytes, summarize: int) -> Array:
    pieces = template.split(placeholder) if placeholder else [template]
    if len(pieces) != len(inputs) + 1:
        raise InvalidArgumentError(
            "num placeholders in template and num inputs must match: "
            f"got {len(pieces) - 1} placeholders in template and {len(inputs)} inputs"
        )
    parts = [pieces[0]]
    for value, piece in zip(inputs, pieces[1:], strict=True):
        parts += [text_of_tensor(value, summarize), piece]
    return string_array([b"".join(parts)], ())


# ---------------------------------------------------------------------------------------------------- Splitting

string_split = op(
    "StringSplit(input: string, delimiter: string) -> indices: int64, values: string, shape: int64",
    "skip_empty: bool = true",
)


@string_split.shape
def string_split_shape(input: Tensor, delimiter: Tensor) -> tuple[Shape, Shape, Shape]:
    with_rank(input, 1)
    check_scalars(delimiter)
    return Shape((None, 2)), Shape((None,)), Shape((2,))


@string_split.kernel
def string_split_kernel(input: Array, delimiter: Array, *, skip_empty: bool) -> tuple[Array, Array, Array]:
    array = np.asarray(input)
    if array.ndim != 1:
        raise InvalidArgumentError(f"input must be a vector, got shape: {list(array.shape)}")
    marks = np.asarray(delimiter)
    if marks.ndim:
        raise InvalidArgumentError(f"delimiter must be a scalar, got shape: {list(marks.shape)}")
    mark: bytes = marks.item()
    if not mark:
        return _sparse([[item[i : i + 1] for i in range(len(item))] for item in array.tolist()])
    at_any = re.compile(b"[" + re.escape(mark) + b"]")
    rows = [at_any.split(item) if item else [] for item in array.tolist()]
    return _sparse([[part for part in row if part] for row in rows] if skip_empty else rows)


def _sparse(rows: list[list[bytes]]) -> tuple[Array, Array, Array]:
    """Rows of different lengths as a sparse matrix."""
    lengths = np.fromiter(map(len, rows), np.int64, len(rows))
    indices = np.empty((int(lengths.sum()), 2), np.int64)
    indices[:, 0] = np.repeat(np.arange(len(rows)), lengths)
    starts = np.cumsum(lengths) - lengths
    indices[:, 1] = np.arange(len(indices)) - np.repeat(starts, lengths)
    values = string_array(chain.from_iterable(rows), (len(indices),))
    return indices, values, np.array([len(rows), lengths.max() if len(rows) else 0], np.int64)


string_split_v2 = op(
    "StringSplitV2(input: string, sep: string) -> indices: int64, values: string, shape: int64", "maxsplit: int = -1"
)
string_split_v2.shape(string_split_shape)


@string_split_v2.kernel
def string_split_v2_kernel(input: Array, sep: Array, *, maxsplit: int) -> tuple[Array, Array, Array]:
    array, marks = np.asarray(input), np.asarray(sep)
    if array.ndim != 1:
        raise InvalidArgumentError(f"input must be a vector, got shape: {list(array.shape)}")
    if marks.ndim:
        raise InvalidArgumentError(f"sep must be a scalar, got shape: {list(marks.shape)}")
    items: list[bytes] = array.tolist()
    if maxsplit == 0:
        return _sparse([[item] for item in items])
    mark: bytes = marks.item()
    if mark:
        return _sparse([item.split(mark, max(maxsplit, -1)) for item in items])
    return _sparse([_split_at_spaces(item, maxsplit) for item in items])


def _split_at_spaces(item: bytes, most: int) -> list[bytes]:
    """The words of a text; after as many as `most`, if it is positive, what is left of the text, be it nothing.

    As TensorFlow's SplitV2 of string_split_op.cc does: Python would not give the rest if it is empty.
    """
    words = item.split(None, max(most, -1))
    return [*words, b""] if len(words) == most else words


# ---------------------------------------------------------------------------------------------------- Characters


def _case_op(name: str, for_bytes: Callable[[bytes], bytes], for_text: Callable[[str], str]) -> Any:
    """StringLower and StringUpper: of ASCII, or with an encoding of Unicode."""
    spec = op(f"{name}(input: string) -> output: string", "encoding: string = ''")
    spec.shape(same)

    def in_utf8(item: bytes) -> bytes:
        return for_text(item.decode("utf-8", "replace")).encode()

    @spec.kernel
    def case_kernel(input: Array, *, encoding: bytes) -> Array:
        if encoding not in (b"", b"utf-8"):
            raise InvalidArgumentError(
                f"only utf-8 or '' (no encoding) is supported, received {encoding.decode(errors='replace')}"
            )
        return _map_strings(in_utf8 if encoding else for_bytes, input)

    return spec


string_lower = _case_op("StringLower", bytes.lower, str.lower)
string_upper = _case_op("StringUpper", bytes.upper, str.upper)

string_strip = op("StringStrip(input: string) -> output: string")
string_strip.shape(same)


@string_strip.kernel
def string_strip_kernel(input: Array) -> Array:
    return _map_strings(bytes.strip, input)


string_length = op("StringLength(input: string) -> output: int32", "unit: {'BYTE', 'UTF8_CHAR'} = 'BYTE'")
string_length.shape(same)

_CONTINUATIONS: Final = bytes(range(0x80, 0xC0))


def _characters(text: bytes) -> int:
    return len(text.translate(None, _CONTINUATIONS))


@string_length.kernel
def string_length_kernel(input: Array, *, unit: bytes) -> Array:
    array = np.asarray(input)
    count = len if unit == b"BYTE" else _characters
    return np.fromiter(map(count, array.reshape(-1).tolist()), np.int32, array.size).reshape(array.shape)


substr = op(
    "Substr(input: string, pos: T, len: T) -> output: string",
    "T: {int32, int64}",
    "unit: {'BYTE', 'UTF8_CHAR'} = 'BYTE'",
)


@substr.shape
def substr_shape(input: Tensor, pos: Tensor, len: Tensor) -> Shape:
    a, b = pos.static_shape, len.static_shape
    if a.rank is not None and b.rank is not None and a.rank != b.rank:
        raise InvalidArgumentError(f"Shapes must be equal rank, but are {a.rank} and {b.rank}")
    if a.is_fully_known and b.is_fully_known and a.dims != b.dims:
        raise InvalidArgumentError(f"pos and len shapes do not match: {a} vs. {b}")
    return broadcast(input, pos)


@substr.kernel
def substr_kernel(input: Array, pos: Array, len: Array, *, unit: bytes) -> Array:
    texts, starts, counts = np.asarray(input), np.asarray(pos), np.asarray(len)
    if starts.shape != counts.shape:
        raise InvalidArgumentError(
            f"pos and len should have the same shape, got: {list(starts.shape)} vs. {list(counts.shape)}"
        )
    try:
        texts, starts, counts = np.broadcast_arrays(texts, starts, counts)
    except ValueError:
        raise InvalidArgumentError(f"Incompatible shapes: {list(texts.shape)} vs. {list(starts.shape)}") from None
    cut = _cut_bytes if unit == b"BYTE" else _cut_characters
    places = zip(texts.reshape(-1).tolist(), starts.reshape(-1).tolist(), counts.reshape(-1).tolist(), strict=True)
    return string_array((cut(*place) for place in places), texts.shape)


def _cut_bytes(text: bytes, start: int, count: int) -> bytes:
    size = len(text)
    if not -size <= start <= size:
        raise InvalidArgumentError(f"pos {start} out of range for string b'{text.decode(errors='replace')}'")
    start = start + size if start < 0 else start
    return text[start : min(start + count, size)] if count > 0 else text[start:] if count < 0 else b""


def _cut_characters(text: bytes, start: int, count: int) -> bytes:
    begins = [at for at, byte in enumerate(text) if byte & 0xC0 != 0x80]
    size = len(begins)
    if not -size <= start <= size:
        raise InvalidArgumentError(f"pos {start} out of range for string b'{text.decode(errors='replace')}'")
    start = start + size if start < 0 else start
    begins.append(len(text))
    stop = min(start + count, size) if count >= 0 else size
    return text[begins[start] : begins[stop]]


# ---------------------------------------------------------------------------------------------------- Patterns

static_regex_full_match = op("StaticRegexFullMatch(input: string) -> output: bool", "pattern: string")
static_regex_full_match.shape(same)


@static_regex_full_match.kernel
def static_regex_full_match_kernel(input: Array, *, pattern: bytes) -> Array:
    array = np.asarray(input)
    matches = expression(pattern).matches
    return np.fromiter(map(matches, array.reshape(-1).tolist()), np.bool_, array.size).reshape(array.shape)


regex_full_match = op("RegexFullMatch(input: string, pattern: string) -> output: bool")


@regex_full_match.shape
def regex_full_match_shape(input: Tensor, pattern: Tensor) -> Shape:
    check_scalars(pattern)
    return input.static_shape


@regex_full_match.kernel
def regex_full_match_kernel(input: Array, pattern: Array) -> Array:
    return static_regex_full_match_kernel(input, pattern=_text(pattern, "Pattern"))


static_regex_replace = op(
    "StaticRegexReplace(input: string) -> output: string",
    "pattern: string",
    "rewrite: string",
    "replace_global: bool = true",
)
static_regex_replace.shape(same)


@static_regex_replace.kernel
def static_regex_replace_kernel(input: Array, *, pattern: bytes, rewrite: bytes, replace_global: bool) -> Array:
    compiled, rewritten = expression(pattern), rewriting(rewrite)
    return _map_strings(lambda item: compiled.replaced(item, rewritten, replace_global), input)


regex_replace = op(
    "RegexReplace(input: string, pattern: string, rewrite: string) -> output: string", "replace_global: bool = true"
)


@regex_replace.shape
def regex_replace_shape(input: Tensor, pattern: Tensor, rewrite: Tensor) -> Shape:
    check_scalars(pattern, rewrite)
    return input.static_shape


@regex_replace.kernel
def regex_replace_kernel(input: Array, pattern: Array, rewrite: Array, *, replace_global: bool) -> Array:
    told, wanted = _text(pattern, "Pattern"), _text(rewrite, "Rewrite")
    return static_regex_replace_kernel(input, pattern=told, rewrite=wanted, replace_global=replace_global)


# ---------------------------------------------------------------------------------------------------- Numbers

as_string = op(
    "AsString(input: T) -> output: string",
    "T: {float, double, int32, uint8, int16, int8, int64, bfloat16, uint16, half, uint32, uint64, complex64,"
    " complex128, bool, variant, string}",
    "precision: int = -1",
    "scientific: bool = false",
    "shortest: bool = false",
    "width: int = -1",
    "fill: string = ''",
)
as_string.shape(same)


_FILLED: Final = re.compile(rb"%([ +#0-]?)(\d*)")


@as_string.kernel
def as_string_kernel(
    input: Array,
    *,
    T: DType,  # noqa: N803
    precision: int,
    scientific: bool,
    shortest: bool,
    width: int,
    fill: bytes,
) -> Array:
    array = np.asarray(input)
    has_fraction = T.is_floating or T.is_complex
    if not has_fraction and T is not STRING:
        if scientific or shortest:
            raise InvalidArgumentError(f"scientific and shortest format not supported for datatype {T.enum_name}")
        if precision >= 0:
            raise InvalidArgumentError(f"precision not supported for datatype {T.enum_name}")
    if scientific and shortest:
        raise InvalidArgumentError("Cannot select both scientific and shortest notation")
    if len(fill) > 1 or fill not in (b"", b" ", b"+", b"-", b"0", b"#"):
        raise InvalidArgumentError(f'Fill argument not supported: "{fill.decode(errors="replace")}"')
    if T is STRING:
        return array
    if T is BOOL:
        return string_array((b"true" if item else b"false" for item in array.reshape(-1).tolist()), array.shape)
    check_allocation((np.size(input), max(width, precision, 0)), np.uint8)
    template = b"%" + (fill + b"%d" % width if width >= 0 else b"")
    template += b".%d" % precision if precision >= 0 else b""
    template += (b"g" if shortest else b"e" if scientific else b"f") if has_fraction else b"d"
    if T in (COMPLEX64, COMPLEX128):
        parts = ((item.real, item.imag) for item in array.reshape(-1).tolist())
        shown = (b"(%s,%s)" % (_number(template, real), _number(template, imag)) for real, imag in parts)
        return string_array(shown, array.shape)
    wide = array.astype(np.float64) if has_fraction else array
    return string_array((_number(template, item) for item in wide.reshape(-1).tolist()), array.shape)


def _number(template: bytes, value: float) -> bytes:
    if not np.isfinite(value):
        return _not_finite(template, value)
    return template % value


def _not_finite(template: bytes, value: float) -> bytes:
    """An infinity or NaN as C's `printf` writes it by a template: NaN with its sign, and filled up with spaces where
    zeros are asked for.
    """
    flag, width = _FILLED.match(template).groups()  # type: ignore[union-attr]
    sign = b"-" if np.signbit(value) else flag if flag in (b"+", b" ") else b""
    text = sign + (b"nan" if value != value else b"inf")
    return text.ljust(int(width or 0)) if flag == b"-" else text.rjust(int(width or 0))


string_to_number = op(
    "StringToNumber(string_tensor: string) -> output: out_type",
    "out_type: {float, double, int32, int64, uint32, uint64} = float",
)
string_to_number.shape(same)

_FRACTION: Final = re.compile(
    rb"[+-]?(?:(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?|[iI][nN][fF](?:[iI][nN][iI][tT][yY])?|[nN][aA][nN])"
)
_WHOLE: Final = re.compile(rb"[+-]?\d+")


@string_to_number.kernel
def string_to_number_kernel(string_tensor: Array, *, out_type: DType) -> Array:
    array = np.asarray(string_tensor)
    dtype = out_type.array_dtype
    items = array.reshape(-1).tolist()
    if out_type.is_floating:
        return np.array([_fraction(item) for item in items], np.float64).astype(dtype).reshape(array.shape)
    limits = np.iinfo(dtype)
    numbers = [_whole(item, int(limits.min), int(limits.max)) for item in items]
    return np.array(numbers, dtype).reshape(array.shape)


def _fraction(text: bytes) -> float:
    stripped = text.strip()
    if not _FRACTION.fullmatch(stripped):
        raise _not_a_number(text)
    return float(stripped)


def _whole(text: bytes, least: int, most: int) -> int:
    stripped = text.strip()
    if not _WHOLE.fullmatch(stripped) or len(stripped) > 40 or (least == 0 and stripped.startswith(b"-")):
        raise _not_a_number(text)
    number = int(stripped)
    if not least <= number <= most:
        raise _not_a_number(text)
    return number


def _not_a_number(text: bytes) -> InvalidArgumentError:
    return InvalidArgumentError(
        f"StringToNumberOp could not correctly convert string: {text[:100].decode(errors='replace')}"
    )


# ---------------------------------------------------------------------------------------------------- Buckets

string_to_hash_bucket_fast = op("StringToHashBucketFast(input: string) -> output: int64", "num_buckets: int >= 1")
string_to_hash_bucket_fast.shape(same)


@string_to_hash_bucket_fast.kernel
def string_to_hash_bucket_fast_kernel(input: Array, *, num_buckets: int) -> Array:
    return (fingerprints(np.asarray(input)) % np.uint64(num_buckets)).astype(np.int64)


fingerprint = op("Fingerprint(data: T, method: string) -> fingerprint: uint8", "T: type")
not_differentiable(fingerprint)


@fingerprint.shape
def fingerprint_shape(data: Tensor, method: Tensor) -> Shape:
    rows = with_rank_at_least(data, 1)
    check_scalars(method)
    name = constant_value(method)
    if name is not None and np.asarray(name).item() != b"farmhash64":
        raise InvalidArgumentError(f"Unsupported method: {name}; only farmhash64 is known")
    return Shape((None if rows.dims is None else rows.dims[0], None if name is None else 8))


@fingerprint.kernel
def fingerprint_kernel(data: Array, method: Array) -> Array:
    """A fingerprint for each row, as eight bytes: of the row's bytes; of a row of several strings, of the bytes of
    their fingerprints.
    """
    if np.ndim(method) or np.asarray(method).item() != b"farmhash64":
        raise InvalidArgumentError(f"Unsupported method: {method}; only farmhash64 is known")
    rows = np.asarray(data)
    if not rows.ndim:
        raise InvalidArgumentError("`data` should have at least 1 dimension")
    if rows.dtype == object and rows.size == len(rows):
        return _fingerprint_bytes(rows.reshape(-1))
    if rows.dtype == object:
        rows = fingerprints(rows)
    return _fingerprint_bytes(string_array((row.tobytes() for row in np.ascontiguousarray(rows)), (len(rows),)))


def _fingerprint_bytes(strings: Array) -> Array:
    return fingerprints(strings).astype("<u8").view(np.uint8).reshape(len(strings), 8)


string_to_hash_bucket_strong = op(
    "StringToHashBucketStrong(input: string) -> output: int64", "num_buckets: int >= 1", "key: list(int)"
)
string_to_hash_bucket_strong.shape(same)


@string_to_hash_bucket_strong.kernel
def string_to_hash_bucket_strong_kernel(input: Array, *, num_buckets: int, key: tuple[int, ...]) -> Array:
    if len(key) != 2:
        raise InvalidArgumentError("Key must have 2 elements")
    return (keyed_hashes(np.asarray(input), key) % np.uint64(num_buckets)).astype(np.int64)


string_to_hash_bucket = op("StringToHashBucket(string_tensor: string) -> output: int64", "num_buckets: int >= 1")
string_to_hash_bucket.shape(same)


@string_to_hash_bucket.kernel
def string_to_hash_bucket_kernel(string_tensor: Array, *, num_buckets: int) -> Array:
    return (old_hashes(np.asarray(string_tensor)) % np.uint64(num_buckets)).astype(np.int64)


# ---------------------------------------------------------------------------------------------------- Base64

encode_base64 = op("EncodeBase64(input: string) -> output: string", "pad: bool = false")
encode_base64.shape(same)


@encode_base64.kernel
def encode_base64_kernel(input: Array, *, pad: bool) -> Array:
    return _map_strings(urlsafe_b64encode if pad else lambda item: urlsafe_b64encode(item).rstrip(b"="), input)


decode_base64 = op("DecodeBase64(input: string) -> output: string")
decode_base64.shape(same)

_BASE64: Final = re.compile(rb"[A-Za-z0-9_-]*={0,2}")


@decode_base64.kernel
def decode_base64_kernel(input: Array) -> Array:
    return _map_strings(_decode_base64, input)


def _decode_base64(text: bytes) -> bytes:
    bare = text.rstrip(b"=")
    fits = len(text) - len(bare) <= 2 and (len(bare) == len(text) or len(text) % 4 == 0)
    if not _BASE64.fullmatch(text) or len(bare) % 4 == 1 or not fits:
        raise InvalidArgumentError("Invalid character found in base64.")
    try:
        return urlsafe_b64decode(bare + b"=" * (-len(bare) % 4))
    except Base64Error:
        raise InvalidArgumentError("Invalid base64 encoding.") from None


not_differentiable(
    regex_replace,
    string_to_hash_bucket,
    string_to_hash_bucket_fast,
    string_to_hash_bucket_strong,
    reduce_join,
    string_join,
    string_split,
    as_string,
    encode_base64,
    decode_base64,
)
