"""Arrays for training: classes as rows of zeros and a one, vectors scaled to length one, and datasets of HDF5 files.

Of the last, in the place of arrays, rows are read when they are asked for.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tensorkeep.arrays import Array
from tensorkeep.errors import InvalidArgumentError, OutOfRangeError, UnimplementedError
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


class HDF5Matrix:
    """Rows of a dataset of a file, from `start` to `end`, changed by `normalizer` if there is one."""

    def __init__(
        self,
        datapath: str,
        dataset: str,
        start: int = 0,
        end: int | None = None,
        normalizer: Callable[[Any], Any] | None = None,
    ) -> None:
        try:
            import h5py
        except ImportError:
            raise UnimplementedError('HDF5Matrix needs h5py: pip install "tensorkeep[convert]"') from None
        self.data: Any = h5py.File(datapath, "r")[dataset]
        self.start = start
        self.end = self.data.shape[0] if end is None else end
        self.normalizer = normalizer

    def __len__(self) -> int:
        return int(self.end - self.start)

    def __getitem__(self, key: Any) -> Any:
        """Rows by number, by slice, or by a list or array of numbers; numbers count from `start`."""
        if isinstance(key, slice):
            start, stop, step = key.indices(len(self))
            rows = self.data[self.start + start : self.start + max(start, stop)][::step]
        elif isinstance(key, int | np.integer):
            at = int(key) + len(self) if key < 0 else int(key)
            if not 0 <= at < len(self):
                raise OutOfRangeError(f"row {key} of {len(self)}")
            rows = self.data[self.start + at]
        else:
            rows = self._picked(np.asarray(key))
        return rows if self.normalizer is None else self.normalizer(rows)

    def _picked(self, numbers: Array) -> Any:
        """Rows in any order; the file wants them in its own, each once."""
        if numbers.size and (numbers.max() >= len(self) or numbers.min() < 0):
            raise OutOfRangeError(f"rows {numbers.min()} to {numbers.max()} of {len(self)}")
        distinct, places = np.unique(numbers + self.start, return_inverse=True)
        return self.data[distinct.tolist()][places]

    @property
    def shape(self) -> tuple[int, ...]:
        return (len(self), *self.data.shape[1:])

    @property
    def dtype(self) -> np.dtype[Any]:
        dtype: np.dtype[Any] = self.data.dtype
        return dtype

    @property
    def ndim(self) -> int:
        return len(self.data.shape)

    @property
    def size(self) -> int:
        return int(np.prod(self.shape))
