"""Blocks (see block.py), planned and written."""

from __future__ import annotations

import struct
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from tensorkeep.io.coding.varint import encode_varint
from tensorkeep.native import blocks

Lengths = npt.NDArray[np.int64]


class BlockPlan:
    """How a sequence of entries would be stored: what keys share, and from that where blocks end.

    Lengths are worked out for all entries together, which is a few operations on arrays, not a loop.
    """

    def __init__(self, keys: Sequence[bytes], values: Sequence[bytes], restart_interval: int) -> None:
        self._keys = keys
        self._values = values
        self._interval = restart_interval
        self._key_lengths = lengths_of(keys)
        self._value_lengths = lengths_of(values)
        self._native: blocks.Entries | None = None
        is_small = int(self._key_lengths.sum() + self._value_lengths.sum()) <= _COPIED
        if is_small and (compiled := blocks.functions()) is not None:
            self._native = blocks.Entries(compiled, keys, self._key_lengths, values, self._value_lengths)
            self._shared = self._native.shared
        else:
            self._shared = _shared_lengths(keys, self._key_lengths)

    def __len__(self) -> int:
        return len(self._keys)

    def end_of_block(self, start: int, block_size: int) -> int | None:
        """The first position at which a block that begins at `start` is closed; None if more entries would still fit.

        A block is closed after the entry with which it reaches `block_size`, and before one of twice that size.
        """
        sizes = self._key_lengths[start:] + self._value_lengths[start:]
        large = np.flatnonzero(sizes[1:] >= 2 * block_size)
        before_large = int(large[0]) + 1 if large.size else len(sizes)
        stored = self._stored_sizes(start, start + before_large)
        full = np.flatnonzero(stored >= block_size)
        if full.size:
            return start + int(full[0]) + 1
        return start + before_large if large.size else None

    def encode(self, start: int, end: int) -> bytes:
        """The block of the entries from `start` to `end`."""
        if self._native is not None and start < end:
            size = int(self._stored_sizes(start, end)[-1])
            block = self._native.encode(start, end, self._interval, size)
            if block is not None:
                return block
        heads, shared = self._heads(start, end)
        parts = [b""] * (3 * len(heads))
        parts[0::3] = heads
        parts[1::3] = [key[same:] for key, same in zip(self._keys[start:end], shared, strict=True)]
        parts[2::3] = self._values[start:end]
        restarts = self._entry_offsets(start, end)[:: self._interval].tolist() or [0]
        parts.append(struct.pack(f"<{len(restarts) + 1}I", *restarts, len(restarts)))
        return b"".join(parts)

    def _stored_sizes(self, start: int, end: int) -> Lengths:
        """For each entry from `start` to `end`: the size of a block that begins at `start` and ends with it."""
        offsets = self._entry_offsets(start, end + 1)[1:]
        restarts = np.arange(end - start) // self._interval + 1
        return offsets + 4 * restarts + 4

    def _entry_offsets(self, start: int, end: int) -> Lengths:
        """Where each entry from `start` to `end` lies in a block that begins at `start`."""
        shared = self._shared_from(start, end - 1)
        unshared = self._key_lengths[start : end - 1] - shared
        values = self._value_lengths[start : end - 1]
        sizes = _varint_sizes(shared) + _varint_sizes(unshared) + _varint_sizes(values) + unshared + values
        return np.concatenate((np.zeros(1, np.int64), np.cumsum(sizes)))

    def _shared_from(self, start: int, end: int) -> Lengths:
        shared = self._shared[start:end].copy()
        shared[:: self._interval] = 0
        return shared

    def _heads(self, start: int, end: int) -> tuple[list[bytes], list[int]]:
        """The three lengths before each entry, encoded, and how much of its key it shares."""
        shared = self._shared_from(start, end)
        unshared = self._key_lengths[start:end] - shared
        lengths = np.stack((shared, unshared, self._value_lengths[start:end]), axis=1)
        if lengths.size and lengths.max() < 0x80:  # one byte each, as nearly always
            packed = lengths.astype(np.uint8).tobytes()
            return [packed[at : at + 3] for at in range(0, len(packed), 3)], shared.tolist()
        return [b"".join(map(encode_varint, row)) for row in lengths.tolist()], shared.tolist()


def lengths_of(items: Sequence[bytes]) -> Lengths:
    return np.fromiter(map(len, items), dtype=np.int64, count=len(items))


def _varint_sizes(values: Lengths) -> Lengths:
    sizes = np.ones_like(values)
    limit = 0x80
    while values.size and values.max() >= limit:
        sizes += values >= limit
        limit <<= 7
    return sizes


def _shared_lengths(keys: Sequence[bytes], lengths: Lengths) -> Lengths:
    """How many leading bytes each key shares with the one before it; nothing for the first."""
    shared = np.zeros(len(keys), np.int64)
    width = int(lengths.max(initial=0))
    if width == 0:
        return shared
    step = max(2, _COMPARED // width)
    for first in range(0, len(keys) - 1, step - 1):
        chunk = keys[first : first + step]
        table = np.zeros((len(chunk), width + 1), np.uint8)  # the last column differs, so that a difference is found
        table[:, :width] = np.array(chunk, dtype=f"S{width}").view(np.uint8).reshape(len(chunk), width)
        table[::2, width] = 1
        differs = (table[1:] != table[:-1]).argmax(axis=1)
        limits = np.minimum(lengths[first + 1 : first + step], lengths[first : first + len(chunk) - 1])
        shared[first + 1 : first + len(chunk)] = np.minimum(differs, limits)
    return shared


_COMPARED = 1 << 22  # bytes of keys compared in one go
_COPIED = 1 << 23  # bytes of entries that the native library is given; large values are not worth the copy
