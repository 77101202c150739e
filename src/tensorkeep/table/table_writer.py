"""Tables (see table.py), written."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from operator import lt
from typing import Protocol

import numpy as np

from tensorkeep.errors import InvalidArgumentError
from tensorkeep.io.files.filesystem import Buffer
from tensorkeep.table.block import EMPTY_BLOCK
from tensorkeep.table.block_plan import BlockPlan, lengths_of
from tensorkeep.table.format import BlockHandle, Footer, seal_block

_PLANNED_BLOCKS = 4  # about how many blocks are worked out together


@dataclass(frozen=True, slots=True)
class TableOptions:
    """How entries are packed. The defaults are TensorFlow's; others are for tests and for other readers."""

    block_size: int = 256 * 1024
    restart_interval: int = 16


class Sink(Protocol):
    """Where a table goes."""

    def write(self, data: Buffer) -> None: ...


class TableWriter:
    """Writes a table to anything with a `write` method. Keys must come in strictly ascending order."""

    def __init__(self, file: Sink, options: TableOptions = TableOptions()) -> None:
        self._file = file
        self._options = options
        self._keys: list[bytes] = []
        self._values: list[bytes] = []
        self._unplanned = 0  # bytes that came since blocks were last cut off
        self._offset = 0
        self._last_key: bytes | None = None
        self._index: list[tuple[bytes, BlockHandle]] = []
        # Invariant: only the last handle can be pending. Its separator needs the first key of the next block.
        self._pending: tuple[bytes, BlockHandle] | None = None

    def add(self, key: bytes, value: bytes) -> None:
        """Adds an entry; a key that is not above the last one is an error."""
        if self._last_key is not None and key <= self._last_key:
            raise InvalidArgumentError(f"table keys must ascend: {key!r} after {self._last_key!r}")
        self._last_key = key
        self._keys.append(key)
        self._values.append(value)
        self._unplanned += len(key) + len(value)
        if self._unplanned >= _PLANNED_BLOCKS * self._options.block_size:
            self._cut_blocks()

    def add_many(self, keys: Sequence[bytes], values: Sequence[bytes]) -> None:
        """Adds entries, as `add` does one after the other, with less ado for each."""
        ascend = all(map(lt, keys, islice(keys, 1, None)))
        if not keys or not ascend or (self._last_key is not None and keys[0] <= self._last_key):
            for key, value in zip(keys, values, strict=True):
                self.add(key, value)
            return
        ends = np.cumsum(lengths_of(keys) + lengths_of(values))
        start = before = 0
        while start < len(keys):
            room = _PLANNED_BLOCKS * self._options.block_size - self._unplanned
            end = min(int(np.searchsorted(ends, before + room)) + 1, len(keys))
            self._keys += keys[start:end]
            self._values += values[start:end]
            self._last_key = keys[end - 1]
            self._unplanned += int(ends[end - 1]) - before
            if self._unplanned >= _PLANNED_BLOCKS * self._options.block_size:
                self._cut_blocks()
            start, before = end, int(ends[end - 1])

    def finish(self) -> None:
        """Writes what is left. Nothing may be added after it."""
        plan = self._cut_blocks()
        if self._keys:
            self._write_block(plan.encode(len(plan) - len(self._keys), len(plan)), self._keys[0], self._keys[-1])
        meta_index = self._write(EMPTY_BLOCK)
        if self._pending is not None:
            self._index.append((short_successor(self._pending[0]), self._pending[1]))
        separators = [separator for separator, _ in self._index]
        index = BlockPlan(separators, [handle.encode() for _, handle in self._index], restart_interval=1)
        self._file.write(Footer(meta_index, self._write(index.encode(0, len(index)))).encode())

    def _cut_blocks(self) -> BlockPlan:
        """Writes the blocks that are complete; the entries of the last, incomplete one stay."""
        self._unplanned = 0
        plan = BlockPlan(self._keys, self._values, self._options.restart_interval)
        start = 0
        while (end := plan.end_of_block(start, self._options.block_size)) is not None:
            self._write_block(plan.encode(start, end), self._keys[start], self._keys[end - 1])
            start = end
        self._keys = self._keys[start:]
        self._values = self._values[start:]
        return plan

    def _write_block(self, contents: bytes, first: bytes, last: bytes) -> None:
        if self._pending is not None:
            before, handle = self._pending
            self._index.append((shortest_separator(before, first), handle))
        self._pending = (last, self._write(contents))

    def _write(self, contents: bytes) -> BlockHandle:
        handle = BlockHandle(self._offset, len(contents))
        self._file.write(seal_block(contents))
        self._offset = handle.end
        return handle


def shortest_separator(start: bytes, limit: bytes) -> bytes:
    """A short key at or above `start` and below `limit`, chosen as TensorFlow chooses it."""
    for at, (low, high) in enumerate(zip(start, limit, strict=False)):
        if low != high:
            return start[:at] + bytes((low + 1,)) if low < 0xFF and low + 1 < high else start
    return start


def short_successor(key: bytes) -> bytes:
    """A short key at or above `key`: its first byte that can grow, grown."""
    for at, byte in enumerate(key):
        if byte != 0xFF:
            return key[:at] + bytes((byte + 1,))
    return key
