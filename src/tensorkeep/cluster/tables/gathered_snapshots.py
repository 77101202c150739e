"""What the parts of a table hold, seen as one snapshot: keys in order, rows asked for in stretches."""

from __future__ import annotations

import uuid
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from tensorkeep.arrays import Array
from tensorkeep.cluster.tables.links import PartitionLink, Request
from tensorkeep.embedding.stored.buckets import order_of, shards_of
from tensorkeep.embedding.table.snapshot import ColumnInfo, column_of

Integers = npt.NDArray[np.int64]


class GatheredSnapshot:
    """What all parts held when they were asked. Closing it lets them change what only it still needed."""

    def __init__(self, link: PartitionLink, columns: Sequence[ColumnInfo]) -> None:
        self._link = link
        self._token = uuid.uuid4().hex
        self.columns = tuple(columns)
        parts = link.spec.partitions
        found = link.ask({number: Request("freeze", (self._token, None)) for number in range(parts)})
        keys = [found[number][0] for number in range(parts)]
        whole = np.concatenate(keys)
        order = order_of(whole)
        self.keys: Integers = whole[order]
        self.freqs = _joined_parts([found[number][1] for number in range(parts)], order)
        self.versions = _joined_parts([found[number][2] for number in range(parts)], order)
        counted = np.concatenate([found[number][3] for number in range(parts)])
        counted_order = order_of(counted)
        self.filtered_keys: Integers = counted[counted_order]
        freqs = _joined_parts([found[number][4] for number in range(parts)], counted_order)
        self.filtered_freqs: Integers = np.zeros(0, np.int64) if freqs is None else freqs
        self.filtered_versions = _joined_parts([found[number][5] for number in range(parts)], counted_order)
        # In order, the keys of a part stand as they do in the part itself: a stretch has a stretch of each.
        self._shards = shards_of(self.keys, parts)
        self._before = np.empty((parts, self.keys.size + 1), np.int64)
        for number in range(parts):
            self._before[number] = np.concatenate([[0], np.cumsum(self._shards == number)])

    def rows(self, column: str, start: int, stop: int) -> Array:
        """The rows of a column that belong to `keys[start:stop]`."""
        info = column_of(self, column)
        values = np.empty((stop - start, info.dim), info.dtype)
        bounds = {
            number: (int(before[start]), int(before[stop]))
            for number, before in enumerate(self._before)
            if before[stop] > before[start]
        }
        asked = {n: Request("frozen_rows", (self._token, column, low, high)) for n, (low, high) in bounds.items()}
        for number, rows in self._link.ask(asked).items():
            values[self._shards[start:stop] == number] = rows
        return values

    def close(self) -> None:
        parts = self._link.spec.partitions
        self._link.ask({number: Request("release", (self._token, False)) for number in range(parts)})

    def __enter__(self) -> GatheredSnapshot:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _joined_parts(parts: Sequence[Integers | None], order: Integers) -> Integers | None:
    there = [part for part in parts if part is not None]
    if len(there) < len(parts):
        return None
    found: Integers = np.concatenate(there)[order]
    return found
