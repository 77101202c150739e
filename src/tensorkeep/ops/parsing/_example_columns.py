"""Examples parsed all at once: by the compiled library, or the same step of every one in one NumPy operation.

Only for what programs write: an Example of one `features` field, entries of a key and then a value, lists that are
packed, keys that occur once. Anything else, damage included, is left to `_example_rows`. In a batch of a thousand this
takes NumPy a fifteenth of the time; of a few, more.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Final

import numpy as np

from tensorkeep.dtypes import FLOAT32, INT64, STRING
from tensorkeep.native.examples import Column, Features, functions
from tensorkeep.ops.parsing.example_bytes import FIRST, SECOND, TAGS, MalformedError, Wanted, decode_varints
from tensorkeep.ops.shared.kernel_types import Array

_FEWEST: Final = 8  # examples from which on NumPy's way pays

_PADDING: Final = bytes(16)  # so that a word or a varint that begins within the bytes can be read
_PER_ROUND: Final = 16  # how many fields a step must find on average; with fewer, one at a time is faster
_ODD: Final = np.uint64(0x9E3779B97F4A7C15)


class _IrregularError(Exception):
    """Something that programs do not write."""


def pays_for(count: int) -> bool:
    """Whether so many examples are parsed faster all at once than one by one."""
    return count >= _FEWEST or functions() is not None


def parse_columns(serialized: Sequence[bytes], wanted: Sequence[Wanted]) -> list[Column] | None:
    """The columns of a batch, or None if something about it is out of the ordinary."""
    parsed = _features(tuple((item.key, TAGS[item.dtype]) for item in wanted)).parse(serialized)
    if parsed is not None:
        return parsed
    try:
        return _Batch(serialized).columns(wanted)
    except (_IrregularError, MalformedError):
        return None


@lru_cache(64)
def _features(wanted: tuple[tuple[bytes, int], ...]) -> Features:
    """Keys and kinds, ready to be looked for."""
    keys, kinds = zip(*wanted, strict=True)
    return Features(keys, kinds)


def _require(condition: Array) -> None:
    if not condition.all():
        raise _IrregularError


class _Batch:
    """The bytes of all examples, one after the other."""

    def __init__(self, serialized: Sequence[bytes]) -> None:
        self.text = b"".join((*serialized, _PADDING))
        self.bytes = np.frombuffer(self.text, np.uint8)
        self.count = len(serialized)
        lengths = np.fromiter(map(len, serialized), np.int64, self.count)
        self.ends = np.cumsum(lengths)
        self.starts = self.ends - lengths

    def columns(self, wanted: Sequence[Wanted]) -> list[Column]:
        owner, feature, start, end = self._features([item.key for item in wanted])
        slots = np.full(len(wanted) * self.count, -1)
        slots[feature * self.count + owner] = np.arange(owner.size)
        if np.count_nonzero(slots >= 0) != owner.size:
            raise _IrregularError  # a key that occurs twice
        tags = np.array([TAGS[item.dtype] for item in wanted], np.uint8)
        filled = start < end
        _require(self.bytes[start[filled]] == tags[feature[filled]])
        size, at = self._lengths(start + 1)
        stop = at + size
        _require((stop == end) | ~filled)
        by_column = slots.reshape(len(wanted), self.count)
        found: list[Column | None] = [None] * len(wanted)
        for dtype, reader in ((FLOAT32, self._floats), (INT64, self._integers), (STRING, self._strings)):
            those = [i for i, item in enumerate(wanted) if item.dtype is dtype]
            entries = by_column[those]
            present = entries >= 0
            present[present] = filled[entries[present]]
            lists = entries[present]
            values, counts = reader(at[lists], stop[lists])
            self._split(those, present, values, counts, found)
        return [column for column in found if column is not None]

    def _split(
        self, those: list[int], present: Array, values: Array, counts: Array, found: list[Column | None]
    ) -> None:
        """Parts the values of the columns of one type, which stand one after the other."""
        table = np.zeros(present.shape, np.int64)
        table[present] = counts
        stops = np.cumsum(table.sum(axis=1)).tolist()
        for row, (column, start, stop) in enumerate(zip(those, [0, *stops], stops, strict=False)):
            found[column] = Column(values[start:stop], table[row], present[row])

    # ------------------------------------------------------------------------------------------------ structure

    def _lengths(self, at: Array) -> tuple[Array, Array]:
        """The lengths at positions, and the positions after them."""
        value = self.bytes[at].astype(np.int64)
        after = at + 1
        longer = np.flatnonzero(value >= 0x80)
        value[longer] &= 0x7F
        for shift in (7, 14, 21, 28):
            if not longer.size:
                return value, after
            byte = self.bytes[after[longer]].astype(np.int64)
            value[longer] |= (byte & 0x7F) << shift
            after[longer] += 1
            longer = longer[byte >= 0x80]
        if longer.size:
            raise _IrregularError
        return value, after

    def _features(self, keys: list[bytes]) -> tuple[Array, Array, Array, Array]:
        """The features that are asked for: the example, which one it is, and where it begins and ends."""
        filled = np.flatnonzero(self.starts < self.ends)
        at, end = self.starts[filled], self.ends[filled]
        _require(self.bytes[at] == FIRST)
        size, at = self._lengths(at + 1)
        _require(at + size == end)
        owner, start, stop = self._fields(filled, at, end)
        _require((start < stop) & (self.bytes[start] == FIRST))
        size, key = self._lengths(start + 1)
        value = key + size
        _require(value < stop)
        _require(self.bytes[value] == SECOND)
        feature = self._matches(key, size, keys)
        those = np.flatnonzero(feature >= 0)
        length, start = self._lengths(value + 1)
        _require(start + length == stop)
        return owner[those], feature[those], start[those], stop[those]

    def _fields(self, owner: Array, at: Array, end: Array) -> tuple[Array, Array, Array]:
        """All fields of messages that have only fields 1 of bytes: whose it is, and where it begins and ends."""
        going = at < end
        owner, at, end = owner[going], at[going], end[going]
        found: list[tuple[Array, Array, Array]] = []
        total = 0
        while owner.size:
            _require(self.bytes[at] == FIRST)
            size, at = self._lengths(at + 1)
            stop = at + size
            _require(stop <= end)
            found.append((owner, at, stop))
            total += owner.size
            if len(found) * _PER_ROUND > total + 16 * _PER_ROUND:
                raise _IrregularError  # few messages have very many fields
            going = stop < end
            if going.all():
                at = stop
            else:
                owner, at, end = owner[going], stop[going], end[going]
        if not found:
            return owner, at, end
        owners, starts, stops = (np.concatenate(parts) for parts in zip(*found, strict=True))
        return owners, starts, stops

    # ------------------------------------------------------------------------------------------------------ keys

    def _matches(self, start: Array, size: Array, keys: list[bytes]) -> Array:
        """Which of the keys stands at each place, -1 if none."""
        matches = np.full(start.size, -1)
        for length in {len(key) for key in keys}:
            places = np.flatnonzero(size == length)
            numbers = np.array([i for i, key in enumerate(keys) if len(key) == length])
            if not places.size:
                continue
            if not length:
                matches[places] = numbers[0]
                continue
            words = _words(self.bytes, start[places], length)
            text = np.frombuffer(b"".join(keys[i] for i in numbers) + _PADDING, np.uint8)
            known = _words(text, np.arange(numbers.size) * length, length)
            matches[places] = _looked_up(words, known, numbers)
        return matches

    # ---------------------------------------------------------------------------------------------------- values

    def _packed(self, at: Array, end: Array) -> tuple[Array, Array]:
        """Where the numbers of packed lists begin and end; at the same place for an empty list."""
        filled = np.flatnonzero(at < end)
        _require(self.bytes[at[filled]] == FIRST)
        size, start = self._lengths(at[filled] + 1)
        _require(start + size == end[filled])
        starts = end.copy()
        starts[filled] = start
        return starts, end

    def _floats(self, at: Array, end: Array) -> tuple[Array, Array]:
        start, end = self._packed(at, end)
        size = end - start
        _require(size % 4 == 0)
        counts = size // 4
        places = _element_places(start, counts, 4)
        anywhere: Array = np.ndarray(self.bytes.size - 3, "<f4", self.text, strides=(1,))
        return anywhere[places].astype(np.float32, copy=False), counts

    def _integers(self, at: Array, end: Array) -> tuple[Array, Array]:
        start, end = self._packed(at, end)
        sizes = end - start
        values, ends = decode_varints(self.bytes[_element_places(start, sizes, 1)])
        stops = np.cumsum(sizes)
        until = np.searchsorted(ends, stops, side="right")
        _require(np.append(ends, 0)[until - 1] == stops)  # no number begins in one list and ends in the next
        return values, np.diff(until, prepend=0)

    def _strings(self, at: Array, end: Array) -> tuple[Array, Array]:
        owner, start, stop = self._fields(np.arange(at.size), at, end)
        order = np.argsort(owner, kind="stable")
        text = self.text
        values = np.empty(owner.size, object)
        values[:] = [text[a:b] for a, b in zip(start[order].tolist(), stop[order].tolist(), strict=True)]
        return values, np.bincount(owner, minlength=at.size)


def _element_places(start: Array, counts: Array, step: int) -> Array:
    """The places of all elements of lists that begin at `start`."""
    before = np.cumsum(counts) - counts
    return np.repeat(start - step * before, counts) + step * np.arange(int(counts.sum()))


def _words(text: Array, start: Array, length: int) -> list[Array]:
    """Strings of one length, eight bytes at a time, as integers."""
    anywhere: Array = np.ndarray(text.size - 7, "<u8", text, strides=(1,))
    words = [anywhere[start + offset].astype(np.uint64) for offset in range(0, length, 8)]
    if length % 8:
        words[-1] &= np.uint64((1 << 8 * (length % 8)) - 1)
    return words


def _looked_up(words: list[Array], known: list[Array], numbers: Array) -> Array:
    """The number of the known string that each one equals, -1 if none."""
    hashes = _mix_words(known)
    order = np.argsort(hashes)
    hashes = hashes[order]
    _require(hashes[1:] != hashes[:-1])
    place = np.minimum(np.searchsorted(hashes, _mix_words(words)), order.size - 1)
    which = order[place]
    equal = np.ones(which.size, np.bool_)
    for word, known_word in zip(words, known, strict=True):
        equal &= word == known_word[which]
    return np.where(equal, numbers[which], -1)


def _mix_words(words: list[Array]) -> Array:
    mixed = words[0]
    for word in words[1:]:
        mixed = mixed * _ODD + word
    return mixed
