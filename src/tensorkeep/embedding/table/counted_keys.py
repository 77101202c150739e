"""Keys that are counted and have no row yet."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from tensorkeep.embedding.table.eviction import NEVER
from tensorkeep.embedding.table.kernels import Kernels
from tensorkeep.embedding.table.rows import RowStore, SharedRows

Keys: TypeAlias = npt.NDArray[np.int64]
Integers: TypeAlias = npt.NDArray[np.int64]


class FilteredKeys:
    """Keys with their counts and versions."""

    def __init__(self, kernels: Kernels) -> None:
        self._index = kernels.new_index()
        self._counts = RowStore(1, np.int64, kernels)
        self._versions = RowStore(1, np.int64, kernels)

    def __len__(self) -> int:
        return len(self._index)

    @property
    def nbytes(self) -> int:
        return self._index.nbytes + self._counts.nbytes + self._versions.nbytes

    def counts(self, keys: Keys) -> Integers:
        """How often each key occurred; 0 if it is not here."""
        return self._read(self._counts, self._index.find(keys), 0)

    def versions(self, keys: Keys) -> Integers:
        """The version of each key; -1 if it has none, or is not here."""
        return self._read(self._versions, self._index.find(keys), NEVER)

    def put(self, keys: Keys, counts: Integers, versions: Integers | int | None = None) -> None:
        """Stores counts, and versions if they are given; a new key without one has none."""
        rows, fresh = self._index.find_or_insert(keys)
        for store in (self._counts, self._versions):
            store.grow(self._index.row_limit)
        self._counts.write(rows, counts[:, None])
        if versions is not None:
            self._versions.write(rows, np.broadcast_to(versions, keys.shape)[:, None])
        else:
            self._versions.write(rows[fresh], NEVER)

    def remove(self, keys: Keys) -> int:
        """Forgets keys, and returns how many there were."""
        return len(self._index.remove(keys))

    def items(self) -> tuple[Keys, Integers, Integers]:
        """All keys, in no particular order, with their counts and versions."""
        keys, rows = self._index.items()
        return keys, self._counts.read(rows)[:, 0], self._versions.read(rows)[:, 0]

    def share(self) -> tuple[Keys, Integers, dict[RowStore, SharedRows]]:
        """All keys and their row numbers, and the rows with their counts and versions, which are to be given back."""
        return *self._index.items(), {store: store.share() for store in (self._counts, self._versions)}

    def clear(self) -> None:
        self._index.clear()
        self._counts.clear()
        self._versions.clear()

    def _read(self, store: RowStore, rows: Integers, absent: int) -> Integers:
        values = np.full(len(rows), absent, np.int64)
        present = rows >= 0
        if present.any():
            values[present] = store.read(rows[present])[:, 0]
        return values
