"""What kernels of sparse tensors share: places of elements as single numbers, their order, and sums at equal places."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Final

import numpy as np

from tensorkeep.errors import InvalidArgumentError
from tensorkeep.ops.shared.kernel_types import Array

_MOST_PLACES: Final = 1 << 62


def check_parts(indices: Array, values: Array, shape: Array, what: str = "") -> None:
    """Refuses parts that make no sparse tensor."""
    word = f"{what}_" if what else ""
    if indices.ndim != 2:
        raise InvalidArgumentError(f"Input {word}indices should be a matrix but received shape {list(indices.shape)}")
    if values.ndim != 1:
        raise InvalidArgumentError(f"Input {word}values should be a vector but received shape {list(values.shape)}")
    if shape.ndim != 1:
        raise InvalidArgumentError(f"Input {word}shape should be a vector but received shape {list(shape.shape)}")
    if len(indices) != len(values):
        raise InvalidArgumentError(f"Expected {len(values)} non-empty input values, got {len(indices)} {word}indices")
    if indices.shape[1] != len(shape):
        raise InvalidArgumentError(
            f"Dimensions {indices.shape[1]} of {word}indices and {len(shape)} of {word}shape do not agree"
        )


def check_inside(indices: Array, shape: Array) -> None:
    """Refuses an element outside of the shape, and says which one."""
    outside = (indices < 0) | (indices >= shape)
    if outside.any():
        at = int(outside.any(axis=1).argmax())
        raise InvalidArgumentError(
            f"indices[{at}] = [{','.join(map(str, indices[at].tolist()))}] is out of bounds: need 0 <= index < "
            f"[{','.join(map(str, np.asarray(shape).tolist()))}]"
        )


def places(indices: Array, shape: Array | Sequence[int]) -> Array:
    """One number for each row of coordinates, in their order; the rows must be inside the shape."""
    sizes = [int(size) for size in shape]
    if prod(sizes) < _MOST_PLACES:
        strides = np.array([prod(sizes[i + 1 :]) for i in range(len(sizes))], np.int64)
        found: Array = indices.astype(np.int64, copy=False) @ strides
        return found
    _, numbers = np.unique(indices, axis=0, return_inverse=True)
    return numbers.reshape(-1)


def joint_places(first: Array, second: Array, shape: Array) -> tuple[Array, Array]:
    """Such numbers for two sets of coordinates."""
    both = places(np.concatenate([first, second]), shape)
    return both[: len(first)], both[len(first) :]


def order_of(indices: Array) -> Array | None:
    """The order in which coordinates increase; None if they do."""
    if len(indices) < 2:
        return None
    order = np.lexsort(indices.T[::-1]) if indices.shape[1] else np.arange(len(indices))
    return None if np.array_equal(order, np.arange(len(order))) else order


def are_increasing(indices: Array) -> bool:
    """Whether coordinates of two axes increase, each pair behind the one before it; False for other numbers of axes."""
    if indices.shape[1] != 2:
        return False
    rows, columns = indices.T
    is_next = rows[1:] > rows[:-1]
    is_next |= (rows[1:] == rows[:-1]) & (columns[1:] > columns[:-1])
    return bool(is_next.all())


def summed_rows(rows: Array, values: Array, count: int) -> Array:
    """The sums of the values that belong to each of so many rows."""
    found = np.zeros((count, *values.shape[1:]), values.dtype)
    if not len(rows):
        return found
    if np.any(rows[1:] < rows[:-1]):
        order = np.argsort(rows, kind="stable")
        rows, values = rows[order], values[order]
    starts = np.concatenate([[0], np.flatnonzero(rows[1:] != rows[:-1]) + 1])
    found[rows[starts]] = np.add.reduceat(values, starts, axis=0, dtype=values.dtype)
    return found


def coordinates(index: Array) -> tuple[Array, ...]:
    """Rows of coordinates as an index of NumPy."""
    return tuple(index.T)


def checked_sizes(shape: Array) -> tuple[int, ...]:
    sizes = tuple(int(size) for size in shape)
    if any(size < 0 for size in sizes):
        raise InvalidArgumentError(f"a shape has sizes of 0 or more, got {list(sizes)}")
    return sizes


def pick_gradients(gradient: Array, wanted: Array, present: Array) -> Array:
    """The gradients of elements among those present; zero for one that is not."""
    if wanted.ndim != 2 or present.ndim != 2 or wanted.shape[1] != present.shape[1]:
        raise InvalidArgumentError(
            f"indices should be matrices of as many columns, got {list(wanted.shape)} and {list(present.shape)}"
        )
    if gradient.ndim != 1 or len(gradient) != len(present):
        raise InvalidArgumentError(f"{list(gradient.shape)} gradients of {len(present)} elements")
    if not len(wanted) or not len(present):
        return np.zeros(len(wanted), gradient.dtype)
    if np.array_equal(wanted, present) and are_increasing(wanted):
        return gradient
    both = np.concatenate([wanted, present])
    lowest = both.min(axis=0)
    first, second = joint_places(wanted - lowest, present - lowest, both.max(axis=0) - lowest + 1)
    order = np.argsort(second, kind="stable")
    at = np.minimum(np.searchsorted(second[order], first), len(second) - 1)
    found = order[at]
    return np.where(second[found] == first, gradient[found], gradient.dtype.type(0))
