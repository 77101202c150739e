"""Columns of a table: the weights, and the slots of optimizers, which have a row for each key too."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from tensorkeep.arrays import Array
from tensorkeep.embedding.table.rows import ColumnStore
from tensorkeep.embedding.table.snapshot import ColumnInfo


@dataclass(frozen=True, slots=True, eq=False)
class Column:
    """Rows with a name, and the default rows that new keys are given."""

    name: str
    default: Array
    store: ColumnStore

    @property
    def dim(self) -> int:
        return self.store.dim

    @property
    def dtype(self) -> np.dtype[Any]:
        return self.store.dtype

    @property
    def info(self) -> ColumnInfo:
        return ColumnInfo(self.name, self.dim, self.dtype)
