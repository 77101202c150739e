"""Lookup tables, as the resources that ops look into: keys to values, set once or changed at any time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import repeat
from math import prod
from threading import RLock
from typing import Any

import numpy as np

from tensorkeep.dtypes import STRING, DType
from tensorkeep.errors import FailedPreconditionError, InvalidArgumentError, UnimplementedError
from tensorkeep.native.texts import JoinedTexts, Words
from tensorkeep.ops.shared.kernel_types import Array
from tensorkeep.ops.text.hashes import old_hashes

_MANY = 32  # strings that are looked up in compiled code: of fewer, a dictionary has the answer by the time of the call


class Table:
    """Rows of values by key. Keys and values are arrays of one shape each, mostly scalars. Safe to share."""

    def __init__(
        self,
        name: str,
        key_dtype: DType,
        value_dtype: DType,
        value_shape: tuple[int, ...] = (),
        key_shape: tuple[int, ...] = (),
    ) -> None:
        self.name = name
        self.key_dtype = key_dtype
        self.value_dtype = value_dtype
        self.key_shape = key_shape
        self.value_shape = value_shape
        self.lock = RLock()
        self._places: dict[Any, int] = {}  # of each key in `_values`; removing a key leaves its place unused
        self._values = np.empty((0, *value_shape), value_dtype.array_dtype)
        self._used = 0

    def read(self) -> Array:
        """The value of a reference to a table: the container and the name."""
        value = np.empty(2, object)
        value[:] = [b"localhost", self.name.encode()]
        return value

    def __len__(self) -> int:
        return len(self._places)

    # ---------------------------------------------------------------------------------------------- keys, values

    def check_types(self, key_dtype: DType, value_dtype: DType) -> None:
        """An op must be of the table's own types."""
        if (key_dtype, value_dtype) != (self.key_dtype, self.value_dtype):
            raise InvalidArgumentError(
                f"Conflicting key/value dtypes {key_dtype.label}->{value_dtype.label} with "
                f"{self.key_dtype.label}-{self.value_dtype.label} for table {self.name}"
            )

    def _hashable(self, keys: Array | JoinedTexts) -> Sequence[Any]:
        """The keys as a list of what a dictionary can look up."""
        if isinstance(keys, JoinedTexts):
            if not self.key_shape:
                return keys.listed()
            keys = keys.array()
        if not self.key_shape:
            listed: list[Any] = keys.reshape(-1).tolist()
            return listed
        rows = keys.reshape(-1, *self.key_shape)
        if self.key_dtype is STRING:
            return [tuple(row.reshape(-1).tolist()) for row in rows]
        return [row.tobytes() for row in rows]

    def _key_array(self) -> Array:
        keys = list(self._places)
        array = np.empty((len(keys), *self.key_shape), self.key_dtype.array_dtype)
        if not self.key_shape:
            array[:] = keys
        elif self.key_dtype is STRING:
            for i, key in enumerate(keys):
                array[i] = np.array(key, object).reshape(self.key_shape)
        elif keys:
            array[:] = np.frombuffer(b"".join(keys), array.dtype).reshape(array.shape)
        return array

    def batch_shape(self, keys: Array | JoinedTexts) -> tuple[int, ...]:
        """What comes before the shape of one key in the shape of many."""
        cut = keys.ndim - len(self.key_shape)
        if cut < 0 or keys.shape[cut:] != self.key_shape:
            raise InvalidArgumentError(
                f"Input key shape must end with the table's key shape {list(self.key_shape)}, got {list(keys.shape)}"
            )
        return keys.shape[:cut]

    # ---------------------------------------------------------------------------------------------- reading

    def find(self, keys: Array | JoinedTexts, default: Array) -> Array:
        """The value of every key; of those that are not there, the default or their own of many defaults."""
        batch = self.batch_shape(keys)
        whole = (*batch, *self.value_shape)
        is_single = default.shape == self.value_shape
        if not is_single and default.shape != whole:
            raise InvalidArgumentError(
                f"Expected shape {list(self.value_shape)} or {list(whole)} for default value, got {list(default.shape)}"
            )
        with self.lock:
            places = self._places_of(keys)
            missing = places < 0
            is_any_missing = bool(missing.any())
            # Of a key that is not there, any row will do for now; a table without keys has none.
            found = self._values.take(np.maximum(places, 0) if is_any_missing else places, 0) if self._places else None
        if found is None:
            return np.array(np.broadcast_to(default, whole))
        if is_any_missing:
            found[missing] = default if is_single else default.reshape(found.shape)[missing]
        return found.reshape(whole)

    def _places_of(self, keys: Array | JoinedTexts) -> Array:
        """Where the value of each key is in `_values`; -1 of one that is not there."""
        names = self._hashable(keys)
        return np.fromiter(map(self._places.get, names, repeat(-1)), np.int64, len(names))

    def export(self) -> tuple[Array, Array]:
        """All keys, in the order in which they came, and their values."""
        with self.lock:
            places = np.fromiter(self._places.values(), np.int64, len(self._places))
            return self._key_array(), self._values[places]

    # ---------------------------------------------------------------------------------------------- changing

    def insert(self, keys: Array, values: Array) -> None:
        """Sets the values of keys, new or old. Of a key that occurs twice the last value counts."""
        self._store(keys, self._checked(keys, values))

    def _checked(self, keys: Array, values: Array) -> Array:
        expected = (*self.batch_shape(keys), *self.value_shape)
        if values.shape != expected:
            raise InvalidArgumentError(f"Expected shape {list(expected)} for value, got {list(values.shape)}")
        return values

    def _store(self, keys: Array, values: Array) -> None:
        names = self._hashable(keys)
        rows = values.reshape(len(names), *self.value_shape)
        with self.lock:
            known = self._places
            places = np.empty(len(names), np.int64)
            for i, name in enumerate(names):
                place = known.get(name)
                if place is None:
                    place = known[name] = self._used
                    self._used += 1
                places[i] = place
            self._grow()
            self._values[places] = rows

    def _grow(self) -> None:
        if self._used > len(self._values):
            larger = np.empty((max(self._used, 2 * len(self._values)), *self.value_shape), self._values.dtype)
            larger[: len(self._values)] = self._values
            self._values = larger

    def remove(self, keys: Array) -> None:
        """Forgets keys; those that are not there are ignored."""
        names = self._hashable(keys)
        with self.lock:
            for name in names:
                self._places.pop(name, None)
            if 2 * len(self._places) < self._used:
                self._compact()

    def _compact(self) -> None:
        places = np.fromiter(self._places.values(), np.int64, len(self._places))
        self._values = self._values[places]
        self._places = {name: i for i, name in enumerate(self._places)}
        self._used = len(places)

    def replace(self, keys: Array, values: Array) -> None:
        """Sets all contents anew."""
        values = self._checked(keys, values)
        with self.lock:
            self._places, self._used = {}, 0
            self._values = np.empty((0, *self.value_shape), self.value_dtype.array_dtype)
            self._store(keys, values)


class StaticTable(Table):
    """A table that is filled once, and read afterwards."""

    is_initialized = False
    _words: Words | None = None  # the keys once more, in the order of their places, for many at a time

    _first: int | None = None  # the first value, if the values are whole numbers that count up from it

    def _places_of(self, keys: Array | JoinedTexts) -> Array:
        count = keys.count if isinstance(keys, JoinedTexts) else keys.size
        if count < _MANY or self.key_dtype is not STRING:
            return super()._places_of(keys)
        if self._words is None:
            self._words = Words.of(list(self._places))
        if self._words is None:
            return super()._places_of(keys)
        return self._words.numbers(keys if isinstance(keys, JoinedTexts) else keys.reshape(-1).tolist())

    def _check_initialized(self) -> None:
        if not self.is_initialized:
            raise FailedPreconditionError("Table not initialized.")

    def initialize(self, keys: Array, values: Array) -> None:
        """Fills the table. Again is fine with as many entries; a key must not have two values."""
        if keys.shape != values.shape:
            raise InvalidArgumentError(
                f"keys and values must have the same size {keys.size} vs {values.size}: "
                f"{list(keys.shape)} and {list(values.shape)}"
            )
        with self.lock:
            if self.is_initialized:
                if keys.size != len(self):
                    raise FailedPreconditionError("Table was already initialized with different data.")
                return
            self._check_unique(keys, values)
            self._store(keys.reshape(-1), values.reshape(-1))
            self._first = _counted_from(self._values[: self._used])
            self.is_initialized = True

    def _check_unique(self, keys: Array, values: Array) -> None:
        seen: dict[Any, Any] = {}
        for key, value in zip(keys.reshape(-1).tolist(), values.reshape(-1).tolist(), strict=True):
            if seen.setdefault(key, value) != value:
                raise FailedPreconditionError(
                    f"HashTable has different value for same key. Key {_shown_value(key)} has "
                    f"{_shown_value(seen[key])} and trying to add value {_shown_value(value)}"
                )

    def __len__(self) -> int:
        return len(self._places)

    def find(self, keys: Array | JoinedTexts, default: Array) -> Array:
        self._check_initialized()
        if default.shape:
            raise InvalidArgumentError(f"Expected shape [] for default_value, got {list(default.shape)}")
        # Indices of a vocabulary count up from a first one: if the default is the one before it, they are told from the
        # places of the keys, and that of a key that is not there is -1.
        if self._first is not None and default.item() == self._first - 1:
            return (self._places_of(keys) + self._first).reshape(keys.shape)
        return super().find(keys, default)

    def export(self) -> tuple[Array, Array]:
        self._check_initialized()
        return super().export()

    def insert(self, keys: Array, values: Array) -> None:
        raise UnimplementedError(f"Insert not supported by the initializable lookup table {self.name}")

    def remove(self, keys: Array) -> None:
        raise UnimplementedError(f"Remove not supported by the initializable lookup table {self.name}")

    def replace(self, keys: Array, values: Array) -> None:
        self.initialize(keys, values)


def _counted_from(values: Array) -> int | None:
    """The first of some values, if they are whole numbers of 64 bits that count up from it."""
    if values.dtype != np.int64 or not len(values):
        return None
    first = int(values[0])
    is_counted = abs(first) < 1 << 62 and np.array_equal(values, np.arange(first, first + len(values)))
    return first if is_counted else None


class DenseTable(Table):
    """A table that sets two keys aside, which can never be used.

    It is exported as TensorFlow keeps it: buckets found by hashing, those that are not in use with the empty key.
    """

    def __init__(
        self,
        name: str,
        value_dtype: DType,
        value_shape: tuple[int, ...],
        empty_key: Array,
        deleted_key: Array | None,
        buckets: int,
        load: float,
    ) -> None:
        check_buckets(buckets)
        if not 0 < load < 1:
            raise InvalidArgumentError(f"max_load_factor must be between 0 and 1, got: {load}")
        self._buckets = buckets
        self._load = load
        self._empty_key = empty_key
        super().__init__(name, _dtype_of(empty_key), value_dtype, value_shape, empty_key.shape)
        self._reserved: dict[str, Any] = {}
        reserved = {"empty_key": self._hashable(empty_key)[0]}
        if deleted_key is not None:
            if deleted_key.shape != empty_key.shape:
                raise InvalidArgumentError(
                    f"Empty and deleted keys must have same shape, got shapes: {list(empty_key.shape)} and "
                    f"{list(deleted_key.shape)}"
                )
            reserved["deleted_key"] = self._hashable(deleted_key)[0]
            if len(set(reserved.values())) < 2:
                raise InvalidArgumentError("Empty and deleted keys cannot be equal")
        self._reserved = reserved

    def _hashable(self, keys: Array | JoinedTexts) -> Sequence[Any]:
        names = super()._hashable(keys)
        for what, key in self._reserved.items():
            if key in names:
                raise InvalidArgumentError(f"Using the {what} as a table key is not allowed")
        return names

    def _store(self, keys: Array, values: Array) -> None:
        super()._store(keys, values)
        while len(self) > self._buckets * self._load:
            self._buckets *= 2

    def export(self) -> tuple[Array, Array]:
        """All buckets: a row of a key's elements each, and a row of a value's."""
        keys, values = super().export()
        rows = keys.reshape(len(keys), -1)
        places = _bucket_places(_bucket_hashes(rows), self._buckets)
        all_keys = np.empty((self._buckets, max(prod(self.key_shape), 1)), keys.dtype)
        all_keys[:] = self._empty_key.reshape(-1)
        all_values = np.zeros((self._buckets, max(prod(self.value_shape), 1)), values.dtype)
        if self.value_dtype is STRING:
            all_values[:] = b""
        all_keys[places] = rows
        all_values[places] = values.reshape(len(keys), -1)
        return all_keys, all_values

    def replace(self, keys: Array, values: Array) -> None:
        """Sets all contents anew, from buckets as they are exported."""
        check_buckets(len(keys) if keys.ndim else 0)
        if values.shape[:1] != keys.shape[:1]:
            raise InvalidArgumentError(f"{len(keys)} buckets of keys, but {list(values.shape)} values")
        names = Table._hashable(self, keys)
        unused = set(self._reserved.values())
        used = np.array([i for i, name in enumerate(names) if name not in unused], np.int64)
        self._buckets = len(keys)
        super().replace(
            keys.reshape(len(keys), *self.key_shape)[used], values.reshape(len(keys), *self.value_shape)[used]
        )


def check_buckets(count: int) -> None:
    """Buckets are found by the low bits of a hash."""
    if count < 4 or count & (count - 1):
        raise InvalidArgumentError(f"Number of buckets must be at least 4 and a power of 2, got: {count}")


def _bucket_hashes(rows: Array) -> list[int]:
    """The hash of each row of key elements: of one element its own, of several all of theirs combined."""
    hashes = old_hashes(rows) if rows.dtype == object else rows.astype(np.int64).astype(np.uint64)
    columns = [hashes[:, i].tolist() for i in range(rows.shape[1])]
    if len(columns) == 1:
        return columns[0]  # type: ignore[no-any-return]
    combined = [0] * len(rows)
    for column in columns:
        combined = [
            (a ^ (b + 0x9E3779B97F4A7800 + (a << 10) + (a >> 4))) & 0xFFFF_FFFF_FFFF_FFFF
            for a, b in zip(combined, column, strict=True)
        ]
    return combined


def _bucket_places(hashes: Sequence[int], buckets: int) -> list[int]:
    """A bucket for every hash: the first free one on its way, each step longer than the last."""
    taken: set[int] = set()
    places = []
    for value in hashes:
        place, step = value & (buckets - 1), 0
        while place in taken:
            step += 1
            place = (place + step) & (buckets - 1)
        taken.add(place)
        places.append(place)
    return places


def _dtype_of(keys: Array) -> DType:
    return DType.of(keys.dtype)


def _shown_value(value: Any) -> str:
    return value.decode(errors="replace") if isinstance(value, bytes) else str(value)


# ---------------------------------------------------------------------------------------------------- Text files

WHOLE_LINE = -2
LINE_NUMBER = -1


class TextColumns:
    """How keys and values lie in a text file: in columns, or as whole lines or their numbers."""

    def __init__(self, path: str, key_index: int, value_index: int, delimiter: bytes, offset: int) -> None:
        self.path = path
        self.indices = (key_index, value_index)
        self.delimiter = delimiter
        self.offset = offset

    def read(self, text: bytes, count: int, dtypes: tuple[DType, DType]) -> tuple[Array, Array]:
        """The keys and values of the first `count` lines, of all if that is -1."""
        columns: tuple[list[Any], list[Any]] = ([], [])
        number = -1
        for number, line in enumerate(self._lines(text)):
            if count != -1 and number >= count:
                number -= 1
                break
            tokens = self._tokens(line, number)
            for column, index, dtype in zip(columns, self.indices, dtypes, strict=True):
                column.append(self._field(index, line, tokens, number, dtype))
        if count != -1 and number + 1 != count:
            raise InvalidArgumentError(f"Invalid vocab_size in {self.path}: expected {count} but got {number + 1}.")
        keys, values = (_column(column, dtype) for column, dtype in zip(columns, dtypes, strict=True))
        return keys, values

    def _lines(self, text: bytes) -> Iterator[bytes]:
        lines = text.replace(b"\r", b"").split(b"\n")
        if not lines[-1]:
            lines.pop()
        yield from lines

    def _tokens(self, line: bytes, number: int) -> list[bytes]:
        if not line:
            raise InvalidArgumentError(f"Invalid content in {self.path}: empty line found at position {number}.")
        if max(self.indices) < 0:
            return []
        tokens = line.split(self.delimiter)
        if max(self.indices) >= len(tokens):
            raise InvalidArgumentError(
                f"Invalid number of columns in {self.path} line {number} ({line.decode(errors='replace')}) : expected "
                f"{max(self.indices)} got {len(tokens)}"
            )
        return tokens

    def _field(self, index: int, line: bytes, tokens: list[bytes], number: int, dtype: DType) -> Any:
        if index == LINE_NUMBER:
            return number + self.offset
        text = line if index == WHOLE_LINE else tokens[index]
        if dtype is STRING:
            return text
        try:
            if b"_" in text:
                raise ValueError
            value = int(text) if dtype.is_integer else float(text)
            if dtype.is_integer and not np.iinfo(dtype.array_dtype).min <= value <= np.iinfo(dtype.array_dtype).max:
                raise ValueError
        except ValueError:
            raise InvalidArgumentError(
                f"Field {text.decode(errors='replace')} in line {number} is not a valid {dtype.label}."
            ) from None
        return value


def _column(items: list[Any], dtype: DType) -> Array:
    array = np.empty(len(items), dtype.array_dtype)
    array[:] = items
    return array
