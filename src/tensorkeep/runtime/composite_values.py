"""Values made of several arrays: what sessions give for sparse and ragged tensors, and what is fed to these."""

from __future__ import annotations

from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from tensorkeep.arrays import Array
from tensorkeep.errors import InvalidArgumentError, WrongTypeError


class IndexedSlicesValue(NamedTuple):
    """The fetched value of IndexedSlices."""

    values: Any
    indices: Any
    dense_shape: Any


class SparseTensorValue(NamedTuple):
    """The fetched value of a SparseTensor, or one to feed."""

    indices: Any
    values: Any
    dense_shape: Any


class RaggedTensorValue:
    """Values in rows of different lengths: an array, or again such a value, and the splits that part it into rows."""

    values: Any
    row_splits: Any

    def __init__(self, values: Array | RaggedTensorValue, row_splits: Array) -> None:
        is_vector = isinstance(row_splits, np.ndarray | np.generic) and row_splits.ndim == 1
        if not is_vector or row_splits.dtype not in (np.int64, np.int32):
            raise WrongTypeError("row_splits must be a 1D int32 or int64 numpy array")
        if not isinstance(values, np.ndarray | np.generic | RaggedTensorValue):
            raise WrongTypeError("values must be a numpy array or a RaggedTensorValue")
        if isinstance(values, RaggedTensorValue) and row_splits.dtype != values.row_splits.dtype:
            raise InvalidArgumentError("row_splits and values.row_splits must have the same dtype")
        self.values = values
        self.row_splits = row_splits

    @property
    def dtype(self) -> Any:
        return self.values.dtype

    @property
    def flat_values(self) -> Array:
        """The values, without any rows."""
        return self.values.flat_values if isinstance(self.values, RaggedTensorValue) else self.values

    @property
    def nested_row_splits(self) -> tuple[Any, ...]:
        """The splits of every dimension that is ragged, the outermost first."""
        inner = self.values.nested_row_splits if isinstance(self.values, RaggedTensorValue) else ()
        return (self.row_splits, *inner)

    @property
    def ragged_rank(self) -> int:
        return len(self.nested_row_splits)

    @property
    def shape(self) -> tuple[int | None, ...]:
        return (len(self.row_splits) - 1, None, *self.values.shape[1:])

    def to_list(self) -> list[Any]:
        """The same as nested lists."""
        values = self.values.to_list() if isinstance(self.values, RaggedTensorValue) else self.values.tolist()
        splits = self.row_splits.tolist()
        return [values[start:end] for start, end in pairwise(splits)]

    def __str__(self) -> str:
        return f"<tf.RaggedTensorValue {self.to_list()}>"

    def __repr__(self) -> str:
        return f"tf.RaggedTensorValue(values={self.values!r}, row_splits={self.row_splits!r})"
