"""What a row is before it has been trained: a row of a default matrix, chosen by the key.

An initializer is called once, for a matrix of a few thousand rows. A new key takes row `key mod count`, with the
remainder never negative; so a key that is looked up without being inserted is given the same row.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, TypeAlias

import numpy as np
import numpy.typing as npt

from tensorkeep.arrays import Array
from tensorkeep.errors import InvalidArgumentError

Keys: TypeAlias = npt.NDArray[np.int64]
Initial: TypeAlias = "Callable[[tuple[int, int]], npt.ArrayLike] | npt.ArrayLike"

DEFAULT_ROWS: Final = 4096
"""How many default rows an initializer is asked for, as in DeepRec."""


def default_matrix(initial: Initial, dim: int, dtype: npt.DTypeLike, count: int = DEFAULT_ROWS) -> Array:
    """The default rows, in memory of their own: what `initial` makes of the shape [count, dim], or is.

    A number stands for one row of it, a vector for one row, a matrix for itself.
    """
    if callable(initial):
        if count < 1:
            raise InvalidArgumentError(f"there has to be at least one default row, got {count}")
        initial = initial((count, dim))
    try:
        values = np.array(initial, dtype=dtype, order="C")
    except (TypeError, ValueError) as error:
        raise InvalidArgumentError(f"default rows are numbers of type {np.dtype(dtype)}: {error}") from None
    if values.ndim == 0:
        values = np.full((1, dim), values)
    if values.ndim == 1:
        values = values.reshape(1, -1)
    if values.ndim != 2 or values.shape[1] != dim or not len(values):
        raise InvalidArgumentError(
            f"default rows have the shape {list(values.shape)}, expected [rows, {dim}] with at least one row"
        )
    return values


def default_rows(matrix: Array, keys: Keys) -> Array:
    """The default row of each key."""
    if len(matrix) == 1:
        return np.repeat(matrix, len(keys), axis=0)
    rows: Array = matrix[np.mod(keys, len(matrix))]
    return rows


def rows_of_dim(values: Array, keys: Keys, dim: int, defaults: Array | None) -> Array:
    """Rows cut to a dimension; or made longer, by those of the default rows of their keys, or by zeros."""
    if values.shape[1] >= dim:
        return values[:, :dim]
    dtype = values.dtype if defaults is None else defaults.dtype
    rows = np.zeros((len(values), dim), dtype) if defaults is None else default_rows(defaults, keys)
    rows[:, : values.shape[1]] = values
    return rows
