"""What an embedding table holds at one moment: what is saved, compared and exported.

A snapshot is taken once for a table and all its columns (the weights and the slots of optimizers), so that their keys
cannot drift apart. Its keys are in order (see stored/buckets.py), and rows are asked for in stretches of that order.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from tensorkeep.arrays import Array
from tensorkeep.embedding.stored.buckets import is_in_order, order_of, shards_of, widened_keys
from tensorkeep.errors import InvalidArgumentError

Keys = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class ColumnInfo:
    """One column of a table: "" is the primary one, the weights; others are the slots of optimizers."""

    name: str
    dim: int
    dtype: np.dtype[Any]


class TableSnapshot(Protocol):
    """The contents of a table at one moment, in order of (bucket, key)."""

    @property
    def keys(self) -> Keys:
        """The admitted keys, in order."""
        ...

    @property
    def freqs(self) -> Keys | None:
        """How often each key occurred; None if that is not kept."""
        ...

    @property
    def versions(self) -> Keys | None:
        """The step of each key's last update; None if that is not kept."""
        ...

    @property
    def filtered_keys(self) -> Keys:
        """The keys that are counted and have no row yet, in order."""
        ...

    @property
    def filtered_freqs(self) -> Keys:
        """Their counts."""
        ...

    @property
    def filtered_versions(self) -> Keys | None:
        """Their versions; None if these are not kept."""
        ...

    @property
    def columns(self) -> Sequence[ColumnInfo]:
        """The columns, the primary one first."""
        ...

    def rows(self, column: str, start: int, stop: int) -> Array:
        """The rows of a column that belong to `keys[start:stop]`."""
        ...

    def close(self) -> None:
        """Lets the table forget what only the snapshot still needed."""
        ...


def column_of(snapshot: TableSnapshot, name: str) -> ColumnInfo:
    """The column of that name."""
    for column in snapshot.columns:
        if column.name == name:
            return column
    known = ", ".join(f'"{column.name}"' for column in snapshot.columns)
    raise InvalidArgumentError(f'the table has no column "{name}"; it has {known}')


def _no_keys() -> Keys:
    return np.zeros(0, np.int64)


@dataclass(frozen=True, slots=True, eq=False)
class ArraySnapshot:
    """A snapshot made of arrays in memory, which are in order already. `ArraySnapshot.of` takes them in any order."""

    keys: Keys
    values: Mapping[str, Array]
    freqs: Keys | None = None
    versions: Keys | None = None
    filtered_keys: Keys = field(default_factory=_no_keys)
    filtered_freqs: Keys = field(default_factory=_no_keys)
    filtered_versions: Keys | None = None

    def __post_init__(self) -> None:
        if "" not in self.values:
            raise InvalidArgumentError('a snapshot needs the primary column, named ""')
        for name, rows in self.values.items():
            if rows.ndim != 2 or len(rows) != self.keys.size:
                raise InvalidArgumentError(
                    f'column "{name}": expected [{self.keys.size}, dim], a row for each key, got {list(rows.shape)}'
                )
        beside = [("freqs", self.freqs, self.keys), ("versions", self.versions, self.keys)]
        beside += [("filtered_freqs", self.filtered_freqs, self.filtered_keys)]
        beside += [("filtered_versions", self.filtered_versions, self.filtered_keys)]
        for what, found, keys in beside:
            if found is not None and found.shape != keys.shape:
                raise InvalidArgumentError(f"{what}: expected {keys.size}, one for each key, got {list(found.shape)}")
        for what, keys in (("keys", self.keys), ("filtered_keys", self.filtered_keys)):
            if not is_in_order(keys):
                raise InvalidArgumentError(f"{what}: not in order of (bucket, key), or one of them twice")

    @classmethod
    def of(
        cls,
        keys: npt.ArrayLike,
        values: npt.ArrayLike | Mapping[str, npt.ArrayLike],
        *,
        freqs: npt.ArrayLike | None = None,
        versions: npt.ArrayLike | None = None,
        filtered_keys: npt.ArrayLike = (),
        filtered_freqs: npt.ArrayLike = (),
        filtered_versions: npt.ArrayLike | None = None,
    ) -> ArraySnapshot:
        """A snapshot of arrays in any order. `values` are rows of the weights, or rows by the name of the column."""
        found = widened_keys(keys)
        order = order_of(found)
        columns: Mapping[str, npt.ArrayLike] = values if isinstance(values, Mapping) else {"": values}
        filtered = widened_keys(filtered_keys, "filtered_keys")
        filtered_order = order_of(filtered)
        return cls(
            found[order],
            {name: _taken_in_order(rows, order, f'column "{name}"', None) for name, rows in columns.items()},
            None if freqs is None else _taken_in_order(freqs, order, "freqs"),
            None if versions is None else _taken_in_order(versions, order, "versions"),
            filtered[filtered_order],
            _taken_in_order(filtered_freqs, filtered_order, "filtered_freqs"),
            None
            if filtered_versions is None
            else _taken_in_order(filtered_versions, filtered_order, "filtered_versions"),
        )

    @property
    def columns(self) -> Sequence[ColumnInfo]:
        names = ["", *(name for name in self.values if name)]
        return tuple(ColumnInfo(name, self.values[name].shape[1], self.values[name].dtype) for name in names)

    def rows(self, column: str, start: int, stop: int) -> Array:
        return self.values[column_of(self, column).name][start:stop]

    def close(self) -> None:
        return None

    def split(self, count: int) -> Iterator[ArraySnapshot]:
        """The parts of the table if it is spread over `count` shards."""
        shards, filtered = shards_of(self.keys, count), shards_of(self.filtered_keys, count)
        for number in range(count):
            yield self._chosen_rows(np.flatnonzero(shards == number), np.flatnonzero(filtered == number))

    def _chosen_rows(self, rows: npt.NDArray[np.intp], filtered: npt.NDArray[np.intp]) -> ArraySnapshot:
        return ArraySnapshot(
            self.keys[rows],
            {name: values[rows] for name, values in self.values.items()},
            None if self.freqs is None else self.freqs[rows],
            None if self.versions is None else self.versions[rows],
            self.filtered_keys[filtered],
            self.filtered_freqs[filtered],
            None if self.filtered_versions is None else self.filtered_versions[filtered],
        )


def _taken_in_order(values: npt.ArrayLike, order: npt.NDArray[np.int64], what: str, dtype: Any = np.int64) -> Array:
    array = np.asarray(values)
    if array.size == 0 and dtype is not None:
        array = array.astype(dtype)
    if array.shape[:1] != (order.size,):
        raise InvalidArgumentError(f"{what}: expected {order.size}, one for each key, got {list(array.shape)}")
    taken: Array = array[order]
    return taken if dtype is None else taken.astype(dtype, copy=False)
