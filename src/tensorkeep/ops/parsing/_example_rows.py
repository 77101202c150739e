"""Examples parsed one after the other: any that TensorFlow accepts, and its complaint about one that it does not."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from tensorkeep.dtypes import STRING, DType
from tensorkeep.errors import InternalError, InvalidArgumentError
from tensorkeep.native.examples import Column
from tensorkeep.ops.parsing.example_bytes import (
    KINDS,
    MalformedError,
    Wanted,
    cannot_parse,
    read_example,
    read_values,
    readable,
)
from tensorkeep.ops.shared.kernel_types import Array, string_array


def by_key(wanted: Sequence[Wanted]) -> dict[bytes, int]:
    """The position of each feature. InternalError, as in TensorFlow, if one is asked for twice."""
    places = {feature.key: i for i, feature in enumerate(wanted)}
    if len(places) != len(wanted):
        raise InternalError("Could not avoid collision. This should not happen: two features have the same key.")
    return places


def parse_rows(serialized: Sequence[bytes], names: Sequence[bytes], wanted: Sequence[Wanted]) -> list[Column]:
    """The columns of a batch. InvalidArgumentError for the first example that is wrong, as TensorFlow words it."""
    places = by_key(wanted)
    rows = []
    for i, example in enumerate(serialized):
        name = readable(names[i]) if len(names) else "<unknown>"
        rows.append(_parse_row(example, wanted, places, _OfBatch(name, i)))
    return [_column(feature, [row[i] for row in rows]) for i, feature in enumerate(wanted)]


def parse_single(serialized: bytes, wanted: Sequence[Wanted]) -> list[Column]:
    """The columns of one example that is no batch, of which TensorFlow complains in other words."""
    row = _parse_row(serialized, wanted, by_key(wanted), _Single())
    return [_column(feature, [values]) for feature, values in zip(wanted, row, strict=True)]


def _column(feature: Wanted, lists: Sequence[Any]) -> Column:
    counts = np.array([0 if found is None else len(found) for found in lists], np.int64)
    present = np.array([found is not None for found in lists], np.bool_)
    return Column(join_values([found for found in lists if found is not None], feature.dtype), counts, present)


def join_values(lists: Sequence[Any], dtype: DType) -> Array:
    """Lists of values as one array."""
    if dtype is STRING:
        flat = [value for values in lists for value in values]
        return string_array(flat, (len(flat),))
    return np.concatenate([np.empty(0, dtype.array_dtype), *lists]).astype(dtype.array_dtype, copy=False)


def _parse_row(serialized: bytes, wanted: Sequence[Wanted], places: dict[bytes, int], words: _Words) -> list[Any]:
    """The values of each feature of one example, None if it has none."""
    try:
        entries = read_example(serialized)
    except MalformedError:
        raise cannot_parse(serialized) from None
    found: list[Any] = [None] * len(wanted)
    seen = [False] * len(wanted)
    for key, at, end in reversed(entries):  # the last of equal keys counts
        place = places.get(key)
        if place is None:
            continue
        feature = wanted[place]
        if at == end:
            seen[place] = seen[place] or (words.counts_empty and feature.form in ("sparse", "ragged"))
            continue
        dtype = KINDS.get(serialized[at])
        if dtype is None:
            raise InvalidArgumentError("Unsupported datatype.")
        if not seen[place]:
            seen[place] = True
            found[place] = _values(feature, dtype, words, serialized, (at + 1, end))
    _check_complete(wanted, found, words)
    return found


def _values(feature: Wanted, dtype: DType, words: _Words, data: bytes, extent: tuple[int, int]) -> Any:
    if dtype is not feature.dtype:
        raise words.wrong_type(feature, dtype)
    try:
        values = read_values(data, *extent, dtype)
    except MalformedError:
        raise words.unreadable(feature) from None
    if feature.form == "dense" and len(values) != feature.stride:
        # TensorFlow has no room for more strings, while of numbers it counts those that are too many.
        too_many = dtype is STRING and len(values) > feature.stride
        raise words.unreadable(feature) if too_many else words.wrong_size(feature, len(values))
    if feature.form == "varying" and len(values) % max(feature.stride, 1):
        raise words.uneven(feature, len(values))
    return values


def _check_complete(wanted: Sequence[Wanted], found: Sequence[Any], words: _Words) -> None:
    for feature, values in zip(wanted, found, strict=True):
        if feature.form == "dense" and values is None and feature.default is None:
            raise InvalidArgumentError(
                f"{words.prefix}Feature: {feature.name} (data type: {feature.dtype.label}) "
                "is required but could not be found."
            )


class _Words(Protocol):
    """How TensorFlow complains of an example."""

    @property
    def prefix(self) -> str: ...

    @property
    def counts_empty(self) -> bool:
        """Whether a feature with an empty list replaces an earlier one of the same key; only for features that need not
        be dense.
        """

    def wrong_type(self, feature: Wanted, dtype: DType) -> InvalidArgumentError: ...

    def unreadable(self, feature: Wanted) -> InvalidArgumentError: ...

    def wrong_size(self, feature: Wanted, size: int) -> InvalidArgumentError: ...

    def uneven(self, feature: Wanted, size: int) -> InvalidArgumentError: ...


@dataclass(frozen=True, slots=True)
class _OfBatch:
    """TensorFlow's words about an example of a batch."""

    name: str
    number: int
    counts_empty = True

    @property
    def prefix(self) -> str:
        return f"Name: {self.name}, "

    def _error(self, feature: Wanted, suffix: str) -> InvalidArgumentError:
        return InvalidArgumentError(f"Name: {self.name}, Key: {feature.name}, Index: {self.number}.  {suffix}")

    def wrong_type(self, feature: Wanted, dtype: DType) -> InvalidArgumentError:
        return self._error(feature, _types_differ(feature, dtype))

    def unreadable(self, feature: Wanted) -> InvalidArgumentError:
        return self._error(feature, "Can't parse serialized Example.")

    def wrong_size(self, feature: Wanted, size: int) -> InvalidArgumentError:
        return self._error(
            feature,
            f"Number of {_kind(feature)} values != expected.  Values size: {size} but output shape: {feature.shape}",
        )

    def uneven(self, feature: Wanted, size: int) -> InvalidArgumentError:
        return self._error(
            feature,
            f"Number of {_kind(feature)} values is not a multiple of stride length. Saw {size} values but output "
            f"shape is: {feature.shape}",
        )


@dataclass(frozen=True, slots=True)
class _Single:
    """TensorFlow's words about an example that is no batch."""

    prefix = ""
    counts_empty = False

    def wrong_type(self, feature: Wanted, dtype: DType) -> InvalidArgumentError:
        return InvalidArgumentError(f"Key: {feature.name}.  {_types_differ(feature, dtype)}")

    def unreadable(self, feature: Wanted) -> InvalidArgumentError:
        counted = feature.dtype is STRING and feature.form != "dense"
        what = "Could not get num elements in bytes_list." if counted else f"Parsing {_kind(feature)}_list failed."
        return InvalidArgumentError(f"Key: {feature.name}.  Can't parse serialized Example: {what}")

    def wrong_size(self, feature: Wanted, size: int) -> InvalidArgumentError:
        return InvalidArgumentError(
            f"Key: {feature.name}.  Can't parse serialized Example: Some {_kind(feature)}_list slice was not parsed. "
            f"It has {size} values, but the output shape is {feature.shape}"
        )

    def uneven(self, feature: Wanted, size: int) -> InvalidArgumentError:
        return InvalidArgumentError(
            f"Error while parsing feature with key {feature.name}: number of elements should be divisible by "
            f"{feature.stride}, found {size} instead"
        )


def _types_differ(feature: Wanted, dtype: DType) -> str:
    if feature.form in ("dense", "varying"):
        return f"Data types don't match. Data type: {dtype.label} but expected type: {feature.dtype.label}"
    return f"Data types don't match. Expected type: {feature.dtype.label}, Actual type: {dtype.label}"


def _kind(feature: Wanted) -> str:
    return "bytes" if feature.dtype is STRING else feature.dtype.label
