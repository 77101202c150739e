"""Keyed rows as they lie in a checkpoint: whole tensors with or without offsets, dense tensors, and rows joined.

All are read in stretches, so nothing is in memory as a whole, except the keys of forms that are not grouped by bucket.
Every number a file gives is checked before it is used.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final, NamedTuple, Protocol

import ml_dtypes
import numpy as np
import numpy.typing as npt

from tensorkeep.arrays import Array
from tensorkeep.checkpoint.reader import CheckpointReader, TensorInfo
from tensorkeep.checkpoint.stretches import SequentialTensor
from tensorkeep.embedding.stored.buckets import BUCKETS, bucket_offsets, first_misplaced, order_of, shards_of
from tensorkeep.errors import DataLossError

Keys = npt.NDArray[np.int64]
Integers = npt.NDArray[np.int64]

_SCANNED: Final = 16 << 20  # bytes of rows read at a time, where order does not matter …
_FEWEST: Final = 1 << 12  # … but so many rows at least …
_MOST: Final = 1 << 16  # … and so many at most, which stay in the cache until they are used
_FLOATS: Final = tuple(map(np.dtype, (np.float32, np.float64, np.float16, ml_dtypes.bfloat16)))


class Batch(NamedTuple):
    """Some keys, and what was asked for of each. What is not stored is None."""

    keys: Keys
    values: Array | None = None
    freqs: Keys | None = None
    versions: Keys | None = None

    def taken(self, rows: npt.NDArray[Any]) -> Batch:
        """Some of the keys, by their positions or by a mask."""
        return Batch(*(None if part is None else part[rows] for part in self))  # type: ignore[arg-type]


class Fields(NamedTuple):
    """What is wanted beside the keys."""

    values: bool = False
    freqs: bool = False
    versions: bool = False


ALL_FIELDS: Final = Fields(True, True, True)


def rows_at_once(dim: int) -> int:
    """How many rows of so many numbers are read at a time."""
    return min(max(_SCANNED // (4 * max(dim, 1)), _FEWEST), _MOST)


class KeyedRows(Protocol):
    """Rows by key, grouped by bucket: positions `offsets[b]` up to `offsets[b + 1]` are those of bucket `b`."""

    where: str

    @property
    def offsets(self) -> Integers: ...

    @property
    def dim(self) -> int: ...

    @property
    def dtype(self) -> np.dtype[Any]: ...

    def read(self, start: int, stop: int, fields: Fields) -> Batch:
        """The keys at these positions, in no order within a bucket, and what is wanted of them."""
        ...

    def take(self, positions: Integers, fields: Fields) -> Batch:
        """The keys at some positions, and what is wanted of them."""
        ...

    def scan(self, number: int, count: int, fields: Fields) -> Iterator[Batch]:
        """The keys that belong to part `number` of `count`, in batches, in whatever order is quick to read."""
        ...


@dataclass(frozen=True, slots=True)
class RowNames:
    """The names of the tensors that make up a group of keyed rows; empty for those that are absent."""

    keys: str
    values: str = ""
    freqs: str = ""
    versions: str = ""
    offsets: str = ""
    scales: str = ""


class TensorRows:
    """Rows in tensors beside each other. Those without offsets are put in order of bucket by an index in memory."""

    def __init__(self, reader: CheckpointReader, names: RowNames) -> None:
        self._reader = reader
        self.names = names
        self.where = f'"{reader.path}": "{names.keys}"'
        self._count = _checked_vector(reader, names.keys, ("int64", "int32"))
        self._has_freqs = self._is_kept(names.freqs)
        self._has_versions = self._is_kept(names.versions)
        self._values = self._checked_values()
        self.is_grouped = bool(names.offsets)

    @property
    def dim(self) -> int:
        return self._values.shape[1] if self._values else 0

    @property
    def dtype(self) -> np.dtype[Any]:
        stored = self._values.dtype.array_dtype if self._values else np.dtype(np.float32)
        return np.dtype(np.float32) if stored == np.int8 else stored

    @property
    def key_dtype(self) -> np.dtype[Any]:
        """The type of the stored keys."""
        return self._reader[self.names.keys].dtype.array_dtype

    @property
    def has_freqs(self) -> bool:
        """Whether a count is stored for each key."""
        return self._has_freqs

    @property
    def has_versions(self) -> bool:
        """Whether a version is stored for each key."""
        return self._has_versions

    @property
    def tensors(self) -> list[str]:
        """The names of its tensors."""
        names = self.names
        return [
            name
            for name in (names.keys, names.values, names.freqs, names.versions, names.offsets, names.scales)
            if name
        ]

    @cached_property
    def offsets(self) -> Integers:
        if self._order is not None:
            return bucket_offsets(self._widened_keys(0, self._count))
        name = self.names.offsets
        if _checked_vector(self._reader, name, ("int32", "int64")) != BUCKETS + 1:
            raise DataLossError(f'"{self._reader.path}": "{name}" has {self._reader[name].size} offsets, expected 1001')
        offsets: Integers = self._reader.read(name).astype(np.int64)
        if offsets[0] != 0 or offsets[-1] != self._count or np.any(np.diff(offsets) < 0):
            wrong = np.flatnonzero(np.diff(offsets) < 0)
            at = f", and fall after bucket {int(wrong[0])}" if wrong.size else ""
            raise DataLossError(
                f'"{self._reader.path}": the offsets "{name}" run from {offsets[0]} to {offsets[-1]}{at}, expected '
                f'0 to {self._count}, the number of keys in "{self.names.keys}", never falling'
            )
        return offsets

    @cached_property
    def _order(self) -> Integers | None:
        """Where the keys lie that come first, second … in order; None if they are grouped by bucket as they lie."""
        return None if self.is_grouped else order_of(self._widened_keys(0, self._count))

    def read(self, start: int, stop: int, fields: Fields) -> Batch:
        if self._order is not None:
            return self._fields(self._order[start:stop], fields)
        batch = self._fields(slice(start, stop), fields)
        self.check_buckets(batch.keys, start)
        return batch

    def take(self, positions: Integers, fields: Fields) -> Batch:
        return self._fields(positions if self._order is None else self._order[positions], fields)

    def scan(self, number: int, count: int, fields: Fields) -> Iterator[Batch]:
        step = rows_at_once(self.dim)
        if not self.is_grouped:
            for start in range(0, self._count, step):
                keys = self._widened_keys(start, min(start + step, self._count))
                mine = np.flatnonzero(shards_of(keys, count) == number)
                if mine.size == keys.size:
                    yield self._fields(slice(start, start + keys.size), fields)
                elif mine.size:
                    yield self._fields(start + mine, fields)
            return
        for start, stop in stretches_of_buckets(self.offsets, np.arange(number, BUCKETS, count)):
            for first in range(start, stop, step):
                yield self.read(first, min(first + step, stop), fields)

    def scanned(self, fields: Fields) -> list[str]:
        """The names of the tensors whose checksums `checked_scan` compares."""
        return self._wanted_names(fields) if self._count else []

    def checked_scan(self, fields: Fields) -> Iterator[Batch]:
        """All keys, as they lie. That a tensor is damaged is raised before the last batch, or earlier."""
        tensors = {name: SequentialTensor(self._reader, name) for name in self.scanned(fields)}
        step = rows_at_once(self.dim)
        for start in range(0, self._count, step):
            stop = min(start + step, self._count)
            batch = self._batch({name: tensor.read(start, stop) for name, tensor in tensors.items()})
            if self.is_grouped:
                self.check_buckets(batch.keys, start)
            yield batch

    def _wanted_names(self, fields: Fields) -> list[str]:
        names = self.names
        beside = (
            names.values if fields.values else "",
            names.freqs if fields.freqs and self._has_freqs else "",
            names.versions if fields.versions and self._has_versions else "",
        )
        return [names.keys, *filter(None, beside)]

    def _fields(self, rows: slice | Integers, fields: Fields) -> Batch:
        return self._batch({name: self._taken_rows(name, rows) for name in self._wanted_names(fields)})

    def _batch(self, read: Mapping[str, Array]) -> Batch:
        """What was read of some keys, by the names of the tensors."""
        names = self.names
        keys, freqs, versions = (
            read[name].astype(np.int64, copy=False) if name in read else None
            for name in (names.keys, names.freqs, names.versions)
        )
        assert keys is not None
        return Batch(keys, self._scaled_values(read[names.values]) if names.values in read else None, freqs, versions)

    def _taken_rows(self, name: str, rows: slice | Integers) -> Array:
        return self._reader.read(name, rows) if isinstance(rows, slice) else self._reader.read_rows(name, rows)

    def _widened_keys(self, start: int, stop: int) -> Keys:
        return self._reader.read(self.names.keys, slice(start, stop)).astype(np.int64, copy=False)

    def _scaled_values(self, values: Array) -> Array:
        """Values as numbers: quantised ones multiplied by their scales, others as they are."""
        return values if self._scales is None else values.astype(np.float32) * self._scales

    @cached_property
    def _scales(self) -> Array | None:
        if self._values is None or self._values.dtype.array_dtype != np.int8:
            return None
        name = self.names.scales
        info = self._reader[name]
        if info.dtype.array_dtype != np.float32 or info.shape != (self.dim,):
            raise DataLossError(
                f'"{self._reader.path}": the scales "{name}" are {info}, expected float [{self.dim}], one for each '
                f'column of "{self.names.values}"'
            )
        return self._reader.read(name)

    def check_buckets(self, keys: Keys, start: int) -> None:
        """DataLossError unless keys, which lie from a position on, are of the buckets that the offsets say."""
        at = first_misplaced(keys, start, self.offsets)
        if at is not None:
            expected = int(np.searchsorted(self.offsets, start + at, side="right")) - 1
            raise DataLossError(
                f"{self.where}: key {int(keys[at])} at position {start + at} lies in bucket {expected} by "
                f'"{self.names.offsets}", but its bucket is {int(keys[at]) % BUCKETS}'
            )

    def _is_kept(self, name: str) -> bool:
        """Whether a tensor stores one number for each key; false if it is absent or empty. Any other length is a
        DataLossError.
        """
        if not name:
            return False
        size = _checked_vector(self._reader, name, ("int64", "int32"))
        if size not in (0, self._count):
            raise DataLossError(
                f'"{self._reader.path}": "{name}" has {size} numbers, expected {self._count}, one for each key of '
                f'"{self.names.keys}", or none'
            )
        return size == self._count

    def _checked_values(self) -> TensorInfo | None:
        name = self.names.values
        if not name:
            return None
        info = self._reader[name]
        if len(info.shape) != 2 or info.shape[0] != self._count or not info.shape[1]:
            raise DataLossError(
                f'"{self._reader.path}": "{name}" is {info}, expected [{self._count}, dim], a row for each key of '
                f'"{self.names.keys}"'
            )
        quantised = info.dtype.array_dtype == np.int8 and bool(self.names.scales)
        if info.dtype.array_dtype not in _FLOATS and not quantised:
            raise DataLossError(f'"{self._reader.path}": "{name}" is {info}, expected rows of floating-point numbers')
        return info


class DenseRows:
    """The rows of a dense tensor, by their numbers."""

    has_freqs = False
    has_versions = False

    def __init__(self, reader: CheckpointReader, name: str) -> None:
        self._reader = reader
        self._name = name
        self.where = f'"{reader.path}": "{name}"'
        self._info = reader[name]
        if len(self._info.shape) != 2 or self._info.dtype.array_dtype not in _FLOATS or not self._info.shape[1]:
            raise DataLossError(f"{self.where} is {self._info}, expected a matrix of floating-point numbers")

    @property
    def dim(self) -> int:
        return self._info.shape[1]

    @property
    def dtype(self) -> np.dtype[Any]:
        return self._info.dtype.array_dtype

    @property
    def tensors(self) -> list[str]:
        return [self._name]

    @cached_property
    def offsets(self) -> Integers:
        count = self._info.shape[0]
        sizes = count // BUCKETS + (np.arange(BUCKETS) < count % BUCKETS)
        return np.concatenate([np.zeros(1, np.int64), np.cumsum(sizes, dtype=np.int64)])

    def read(self, start: int, stop: int, fields: Fields) -> Batch:
        return self.take(np.arange(start, stop, dtype=np.int64), fields)

    def take(self, positions: Integers, fields: Fields) -> Batch:
        buckets = np.searchsorted(self.offsets, positions, side="right") - 1
        keys = (positions - self.offsets[buckets]) * BUCKETS + buckets
        return Batch(keys, self._reader.read_rows(self._name, keys) if fields.values else None)

    def scan(self, number: int, count: int, fields: Fields) -> Iterator[Batch]:
        step = rows_at_once(self.dim)
        for start in range(0, self._info.shape[0], step):
            keys = np.arange(start, min(start + step, self._info.shape[0]), dtype=np.int64)
            mine = np.flatnonzero(shards_of(keys, count) == number)
            if mine.size:
                rows = self._reader.read(self._name, slice(start, start + keys.size))[mine] if fields.values else None
                yield Batch(keys[mine], rows)


def stretches_of_buckets(offsets: Integers, buckets: npt.NDArray[Any]) -> Iterator[tuple[int, int]]:
    """The positions of some buckets, ascending, as few stretches that do not touch."""
    lows, highs = offsets[buckets], offsets[buckets + 1]
    filled = lows != highs
    lows, highs = lows[filled], highs[filled]
    if lows.size:
        apart = lows[1:] != highs[:-1]
        starts, stops = lows[1:][apart].tolist(), highs[:-1][apart].tolist()
        yield from zip([int(lows[0]), *starts], [*stops, int(highs[-1])], strict=True)


def joined_batches(batches: Sequence[Batch]) -> Batch:
    """One batch of several. What some do not have is made up for: counts of 1, versions of -1."""
    if len(batches) == 1:
        return batches[0]
    keys = np.concatenate([batch.keys for batch in batches])
    rows = [batch.values for batch in batches if batch.values is not None]
    values = np.concatenate(rows) if rows and len(rows) == len(batches) else None
    return Batch(
        keys,
        values,
        _filled_field([b.freqs for b in batches], batches, 1),
        _filled_field([b.versions for b in batches], batches, -1),
    )


def _filled_field(parts: Sequence[Keys | None], batches: Sequence[Batch], value: int) -> Keys | None:
    if all(part is None for part in parts):
        return None
    whole = [
        np.full(batch.keys.size, value, np.int64) if part is None else part
        for part, batch in zip(parts, batches, strict=True)
    ]
    return np.concatenate(whole)


def _checked_vector(reader: CheckpointReader, name: str, dtypes: tuple[str, ...]) -> int:
    """The length of a vector of one of these types."""
    info = reader[name]
    if len(info.shape) != 1 or info.dtype.name not in dtypes:
        raise DataLossError(f'"{reader.path}": "{name}" is {info}, expected a vector of {" or ".join(dtypes)}')
    return info.shape[0]
