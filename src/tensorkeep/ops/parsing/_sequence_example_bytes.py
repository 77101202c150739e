"""SequenceExamples as bytes: what TensorFlow's parser finds in them.

    SequenceExample = (0x0a length context* | 0x12 length list* | other field)*
    context         = 0x0a length key value          as in an Example, the key first
    list            = 0x0a length key rows
    key             = 0x0a length bytes
    rows            = 0x12 length row*
    row             = 0x0a length Feature            an empty one, or one without values, is a row without values

See `example_bytes` for Feature. Of equal keys the last counts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any, TypeAlias

import numpy as np

from tensorkeep.dtypes import STRING, DType
from tensorkeep.errors import InvalidArgumentError
from tensorkeep.ops.parsing._example_rows import join_values
from tensorkeep.ops.parsing.example_bytes import (
    FIRST,
    SECOND,
    TAGS,
    MalformedError,
    Wanted,
    bytes_within,
    message_within,
    read_length,
    read_values,
    readable,
    skip_field,
)
from tensorkeep.ops.parsing.example_tensors import row_splits
from tensorkeep.ops.shared.kernel_types import Array
from tensorkeep.shapes import bracketed_shape

Extent: TypeAlias = tuple[int, int]
Found: TypeAlias = dict[bytes, Extent]


@dataclass(frozen=True, slots=True)
class Sequences:
    """A batch of SequenceExamples, with where the features lie that each of them has."""

    data: Sequence[bytes]
    names: Sequence[bytes]
    contexts: Sequence[Found]
    lists: Sequence[Found]
    is_batch: bool

    def name(self, number: int) -> str:
        return readable(self.names[number]) if len(self.names) else "<unknown>"


def find_features(data: Sequence[bytes], names: Sequence[bytes], is_batch: bool) -> Sequences:
    """Reads the keys of all examples. InvalidArgumentError for one that is no SequenceExample."""
    if len(names) not in (0, len(data)):
        raise InvalidArgumentError("example_names must be empty or have the correct number of elements")
    found = Sequences(data, names, [{} for _ in data], [{} for _ in data], is_batch)
    for i, example in enumerate(data):
        try:
            _find(example, found.contexts[i], found.lists[i])
        except MalformedError:
            raise InvalidArgumentError(f"Invalid protocol message input, example id: {found.name(i)}") from None
    return found


def _find(data: bytes, context: Found, lists: Found) -> None:
    at, end = 0, len(data)
    while at < end:
        if data[at] not in (FIRST, SECOND):
            at = skip_field(data, at, end)
            continue
        target = context if data[at] == FIRST else lists
        start, at = message_within(data, at + 1, end)
        while start < at:
            if data[start] != FIRST:
                raise MalformedError
            entry, start = message_within(data, start + 1, at)
            _find_entry(data, entry, start, target)


def _find_entry(data: bytes, at: int, end: int, target: Found) -> None:
    extents = []
    for tag in (FIRST, SECOND):
        if at >= end or data[at] != tag:
            raise MalformedError
        start, at = bytes_within(data, at + 1, end)
        extents.append((start, at))
    if at != end:
        raise MalformedError
    (start, stop), value = extents
    target[data[start:stop]] = value


def _feature_values(data: bytes, at: int, end: int, dtype: DType) -> Any:
    """The values of a feature that must be of a type."""
    if data[at] != TAGS[dtype]:
        raise MalformedError
    return read_values(data, at + 1, end, dtype, whole=True)


# ----------------------------------------------------------------------------------------------------------- Context


def context_values(batch: Sequences, feature: Wanted) -> list[Any]:
    """The values of a context feature in each example; None where it is missing."""
    found: list[Any] = []
    for i, (data, places) in enumerate(zip(batch.data, batch.contexts, strict=True)):
        extent = places.get(feature.key)
        try:
            if extent is None:
                found.append(None)
            else:
                start, end = extent
                found.append(_feature_values(data, start, end, feature.dtype) if start < end else ())
        except MalformedError:
            raise InvalidArgumentError(
                f"Name: {batch.name(i)}, Context feature: {feature.name}.  Data types don't match. "
                f"Expected type: {feature.dtype.label}"
            ) from None
    return found


def context_dense(batch: Sequences, feature: Wanted, found: Sequence[Any]) -> Array:
    """A dense context feature, the default where it is missing."""
    default = () if feature.default is None else feature.default
    longest = max([len(default), *(len(values) for values in found if values is not None)])
    if longest != feature.stride:
        raise InvalidArgumentError(
            f"Inconsistent max number of elements for feature {feature.name}: expected {feature.stride}, "
            f"but found {longest}"
        )
    for i, values in enumerate(found):
        if values is None and feature.default is None and feature.stride:
            raise InvalidArgumentError(
                f"Feature: {feature.name} (data type: {feature.dtype.label}) is required but could not be found."
            )
        if values is not None and len(values) != longest:
            raise InvalidArgumentError(f"Unexpected number of elements in example {batch.name(i)}")
    flat = join_values([default if values is None else values for values in found], feature.dtype)
    before = (len(found),) if batch.is_batch else ()
    return flat.reshape((*before, *(size or 0 for size in feature.shape.dims or ())))


def context_sparse(batch: Sequences, feature: Wanted, found: Sequence[Any]) -> tuple[Array, Array, Array]:
    """Indices, values and dense shape of a context feature."""
    counts = np.array([0 if values is None else len(values) for values in found], np.int64)
    flat = join_values([values for values in found if values is not None], feature.dtype)
    columns = np.arange(flat.size) - np.repeat(np.cumsum(counts) - counts, counts)
    longest = counts.max(initial=0)
    if not batch.is_batch:
        return columns.reshape(-1, 1), flat, np.array([longest], np.int64)
    rows = np.repeat(np.arange(counts.size), counts)
    return np.stack((rows, columns), axis=1), flat, np.array([counts.size, longest], np.int64)


def context_ragged(batch: Sequences, feature: Wanted, found: Sequence[Any], splits: DType) -> tuple[Array, Array]:
    """Values and row splits of a context feature; a single example has no rows to be parted."""
    counts = np.array([0 if values is None else len(values) for values in found], np.int64)
    flat = join_values([values for values in found if values is not None], feature.dtype)
    return flat, row_splits(counts, splits) if batch.is_batch else np.empty(0, splits.array_dtype)


# ------------------------------------------------------------------------------------------------------------- Lists


def list_rows(batch: Sequences, feature: Wanted) -> list[Any]:
    """The rows of a feature list in each example, each the values of one; None where it is missing."""
    found: list[Any] = []
    for i, (data, places) in enumerate(zip(batch.data, batch.lists, strict=True)):
        extent = places.get(feature.key)
        found.append(None if extent is None else _rows(data, extent, feature, batch.name(i)))
    return found


def _rows(data: bytes, extent: Extent, feature: Wanted, name: str) -> list[Any]:
    at, end = extent
    rows: list[Any] = []
    while at < end:
        try:
            if data[at] != FIRST:
                raise MalformedError
            length, at = read_length(data, at + 1, end)
        except MalformedError:
            raise _damaged_feature_error(feature, name) from None
        if length == 1 or at + length > end:
            raise _damaged_feature_error(feature, name)
        try:
            rows.append(_feature_values(data, at, at + length, feature.dtype) if length else ())
        except MalformedError:
            raise InvalidArgumentError(
                f"Name: {name}, Feature list: {feature.name}, Index: {len(rows)}.  Data types don't match. "
                f"Expected type: {feature.dtype.label}"
            ) from None
        at += length
    return rows


def _damaged_feature_error(feature: Wanted, name: str) -> InvalidArgumentError:
    return InvalidArgumentError(f"Error in sequence feature {feature.name} in example {name}")


def list_dense(batch: Sequences, feature: Wanted, found: Sequence[Any], may_miss: bool) -> tuple[Array, Array]:
    """A dense feature list, padded with zeros or empty strings, and how many rows each example has."""
    dims = tuple(size or 0 for size in feature.shape.dims or ())
    width = prod(dims)
    for i, rows in enumerate(found):
        _check_rows(feature, rows, may_miss, batch.name(i), dims)
    lengths = np.array([len(rows or ()) for rows in found], np.int64)
    longest = int(lengths.max(initial=0)) if width else 0
    padding = b"" if feature.dtype is STRING else 0
    made = np.full((len(found), longest, width), padding, feature.dtype.array_dtype)
    flat = join_values([values for rows in found for values in rows or ()], feature.dtype)
    if width:
        made[np.arange(longest) < lengths[:, None]] = flat.reshape(-1, width)
    made = made.reshape((len(found), longest, *dims))
    return (made, lengths) if batch.is_batch else (made[0], lengths[0])


def _check_rows(feature: Wanted, rows: Any, may_miss: bool, name: str, dims: tuple[int, ...]) -> None:
    if rows is None and not may_miss:
        raise InvalidArgumentError(
            f"Name: {name}, Feature list '{feature.name}' is required but could not be found.  Did you mean to "
            "include it in feature_list_dense_missing_assumed_empty or feature_list_dense_defaults?"
        )
    for i, values in enumerate(rows or ()):
        if len(values) != prod(dims):
            raise InvalidArgumentError(
                f"Name: {name}, Key: {feature.name}, Index: {i}.  Number of values != expected.  "
                f"values size: {len(values)} but output shape: {bracketed_shape(dims)}"
            )


def list_sparse(batch: Sequences, feature: Wanted, found: Sequence[Any]) -> tuple[Array, Array, Array]:
    """Indices, values and dense shape of a feature list: examples, rows, values."""
    height = np.array([len(rows or ()) for rows in found], np.int64)
    counts = np.array([len(values) for rows in found for values in rows or ()], np.int64)
    flat = join_values([values for rows in found for values in rows or ()], feature.dtype)
    examples = np.repeat(np.repeat(np.arange(height.size), height), counts)
    rows_of = np.repeat(np.arange(counts.size) - np.repeat(np.cumsum(height) - height, height), counts)
    columns = np.arange(flat.size) - np.repeat(np.cumsum(counts) - counts, counts)
    shape = np.array([len(found), height.max(initial=0), counts.max(initial=0)], np.int64)
    indices = np.stack((examples, rows_of, columns), axis=1)
    return (indices, flat, shape) if batch.is_batch else (indices[:, 1:], flat, shape[1:])


def list_ragged(batch: Sequences, feature: Wanted, found: Sequence[Any], splits: DType) -> tuple[Array, Array, Array]:
    """Values, and where those of each example's rows and of each row begin."""
    height = np.array([len(rows or ()) for rows in found], np.int64)
    counts = np.array([len(values) for rows in found for values in rows or ()], np.int64)
    flat = join_values([values for rows in found for values in rows or ()], feature.dtype)
    outer = row_splits(height, splits) if batch.is_batch else np.empty(0, splits.array_dtype)
    return flat, outer, row_splits(counts, splits)


def check_distinct(what: str, forms: Mapping[str, Sequence[Wanted]]) -> None:
    """Refuses a feature that is asked for in several forms."""
    sparse, ragged = ({feature.key for feature in forms[form]} for form in ("sparse", "ragged"))
    for key in sparse & ragged:
        raise InvalidArgumentError(f"{what} feature {readable(key)} cannot be both ragged and sparse")
    for feature in forms["dense"]:
        if feature.key in sparse | ragged:
            raise InvalidArgumentError(f"{what} feature {feature.name} cannot be both dense and sparse")
