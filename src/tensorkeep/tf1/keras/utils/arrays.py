"""Classes as rows of zeros and a one, and vectors scaled to length one."""

from __future__ import annotations

import numpy as np

from tensorkeep.arrays import Array
from tensorkeep.errors import InvalidArgumentError
from tensorkeep.graph.arguments import TensorLike
from tensorkeep.graph.graph import Tensor


def to_categorical(y: TensorLike, num_classes: int | None = None, dtype: str = "float32") -> Array:
    """Numbers of classes as rows with a one at the class."""
    numbers = np.array(y, dtype="int")
    shape = numbers.shape
    if shape and shape[-1] == 1 and len(shape) > 1:
        shape = shape[:-1]
    flat = numbers.ravel()
    count = num_classes or (int(flat.max()) + 1 if flat.size else 0)
    if flat.size and (flat.max() >= count or flat.min() < -count):
        raise InvalidArgumentError(f"to_categorical: class {flat.max()} of {count} classes: there are 0 to {count - 1}")
    rows = np.zeros((flat.size, count), dtype=dtype)
    rows[np.arange(flat.size), flat] = 1
    return rows.reshape((*shape, count))


def normalize(x: Tensor, axis: int = -1, order: int = 2) -> Array:
    """Vectors along an axis, scaled to length one; those of length zero stay."""
    lengths = np.atleast_1d(np.linalg.norm(x, order, axis))
    lengths[lengths == 0] = 1
    return np.asarray(x / np.expand_dims(lengths, axis))
