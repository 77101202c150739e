"""Blocks of tables, put together and taken apart in one call. What a block is stands in `table/block.py`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
import numpy.typing as npt

from tensorkeep.native.library import address, compiled_function

Lengths = npt.NDArray[np.int64]

_SEPARATOR = b"\n"  # what native.cpp puts between keys


@dataclass(frozen=True, slots=True)
class Functions:
    """The compiled functions."""

    shared_lengths: Callable[..., None]
    encode_block: Callable[..., int]
    count_entries: Callable[..., int]
    load_entries: Callable[..., None]


@cache
def functions() -> Functions | None:
    """The compiled functions; None if the library is not there."""
    shared = compiled_function("table_shared_lengths", "pplp")
    encode = compiled_function("table_encode_block", "ppppplllpl", "l")
    count = compiled_function("table_count_entries", "pllp", "l")
    load = compiled_function("table_load_entries", "plpppp")
    if shared is None or encode is None or count is None or load is None:
        return None
    return Functions(shared, encode, count, load)


class Entries:
    """Sorted entries, to be stored in blocks."""

    def __init__(
        self,
        compiled: Functions,
        keys: Sequence[bytes],
        key_lengths: Lengths,
        values: Sequence[bytes],
        value_lengths: Lengths,
    ) -> None:
        self._functions = compiled
        self._keys = b"".join(keys)
        self._values = b"".join(values)
        self._key_ends = _ends(key_lengths)
        self._value_ends = _ends(value_lengths)
        self.shared = np.empty(len(keys), np.int64)
        """How many leading bytes each key shares with the one before it; nothing for the first."""
        compiled.shared_lengths(self._keys, address(self._key_ends), len(keys), address(self.shared))

    def encode(self, start: int, end: int, restart_interval: int, size: int) -> bytes | None:
        """The block of the entries from `start` to `end`, which takes `size` bytes; None if that cannot be."""
        out = np.empty(size, np.uint8)
        written = self._functions.encode_block(
            self._keys,
            address(self._key_ends),
            self._values,
            address(self._value_ends),
            address(self.shared),
            start,
            end,
            restart_interval,
            address(out),
            size,
        )
        return out.tobytes() if written else None


def load(data: bytes, end: int, most: int) -> tuple[list[bytes], list[bytes]] | None:
    """All keys and values of a block whose entries end at `end`; None if that has to be done without the library.

    That is the answer to all that is malformed, or unusual, and to keys that take more than `most` bytes together.
    """
    compiled = functions()
    if compiled is None:
        return None
    key_bytes = np.zeros(1, np.int64)
    count = compiled.count_entries(data, end, most, address(key_bytes))
    if count < 0:
        return None
    if count == 0:
        return [], []
    joined = np.empty(int(key_bytes[0]) + count - 1, np.uint8)
    key_ends, starts, ends = np.empty((3, count), np.int64)
    compiled.load_entries(data, end, address(joined), address(key_ends), address(starts), address(ends))
    text = joined.tobytes()
    keys = text.split(_SEPARATOR)
    if len(keys) != count:  # some have a line end in them
        edges = key_ends.tolist()
        keys = [text[first:last] for first, last in zip([0, *(edge + 1 for edge in edges)], edges, strict=False)]
    return keys, [data[first:last] for first, last in zip(starts.tolist(), ends.tolist(), strict=True)]


def _ends(lengths: Lengths) -> Lengths:
    """Where each item ends if one is put behind the other, behind a 0."""
    ends = np.zeros(lengths.size + 1, np.int64)
    np.cumsum(lengths, out=ends[1:])
    return ends
