"""Accumulators: gradients of several runs that are added up until there are enough, as values of their handles.

When a gradient counts, and what is divided by what, is measured with TensorFlow's ops
(tests/interop/test_accumulators.py).
"""

from __future__ import annotations

from threading import Condition
from typing import Any

import numpy as np

from tensorkeep.arrays import Array
from tensorkeep.dtypes import FLOAT16, FLOAT32, FLOAT64, DType
from tensorkeep.errors import InvalidArgumentError
from tensorkeep.ops.data._queue_values import wait_for_change
from tensorkeep.shapes import Shape


class Accumulator:
    """A sum or mean of gradients. What is older than its step is dropped; taking it empties it for the next step."""

    def __init__(self, name: str, dtype: DType, shape: Shape, reduction: bytes) -> None:
        if reduction not in (b"MEAN", b"SUM"):
            raise InvalidArgumentError(f"{name}: a reduction is MEAN or SUM, got {reduction.decode(errors='replace')}")
        if dtype not in (FLOAT16, FLOAT32, FLOAT64):
            raise InvalidArgumentError(f"{name}: gradients are float16, float32 or float64, got {dtype}")
        self._name = name
        self._kind = (dtype, shape, reduction)
        self._dtype = dtype
        self._shape = shape
        self._is_mean = reduction == b"MEAN"
        self._changed = Condition()
        self._step = 0
        self._count = 0
        self._sum: Any = None
        self._is_gone = False

    def read(self) -> Accumulator:
        """Itself: what a reference to it leads to."""
        return self

    @property
    def count(self) -> int:
        """How many gradients have been added up since the last were taken."""
        return self._count

    def check(self, dtype: DType, shape: Shape, reduction: bytes) -> None:
        """Refuses a second use of its name for gradients of another kind."""
        if (dtype, shape, reduction) != self._kind:
            raise InvalidArgumentError(
                f"{self._name} takes {self._dtype} of shape {self._shape}, but was asked for {dtype} of shape {shape}, "
                f"or for another reduction: give it a shared_name of its own"
            )

    def set_step(self, step: int) -> None:
        """Sets the step, below which gradients are dropped."""
        with self._changed:
            self._step = step

    def apply(self, step: int, gradient: Array | _Rows) -> None:
        """Adds the gradient of a step, unless it is older than the accumulator's."""
        self._check_gradient(gradient)
        with self._changed:
            if step < self._step:
                return
            self._add(gradient)
            self._count += 1
            self._changed.notify_all()

    def take(self, count: int, dtype: DType) -> Any:
        """The sum or mean of all gradients as soon as there are so many."""
        if count <= 0:
            raise InvalidArgumentError(f"{self._name}: num_required must be positive, got {count}")
        if dtype is not self._dtype:
            raise InvalidArgumentError(f"{self._name} takes {self._dtype}, but {dtype} was asked for")
        with self._changed:
            while self._count < count:
                wait_for_change(self._changed, self._is_gone, "Accumulator take")
            taken = self._reduced()
            self._sum, self._count = None, 0
            self._step += 1
            return taken

    def _check_gradient(self, gradient: Any) -> None:
        if gradient.dtype != self._dtype.array_dtype:
            raise InvalidArgumentError(f"{self._name} takes {self._dtype}, got {gradient.dtype}")
        shape = self._shape if self._sum is None else Shape(self._sum.shape)
        if not shape.is_compatible(Shape(gradient.shape)) or not self._shape.is_compatible(Shape(gradient.shape)):
            raise InvalidArgumentError(f"{self._name}: Shape mismatch: expected {shape}, got {gradient.shape}")

    def _add(self, gradient: Any) -> None:
        if self._sum is None:
            self._sum = np.array(gradient)
        else:
            self._sum += gradient

    def _reduced(self) -> Any:
        return np.divide(self._sum, self._count).astype(self._sum.dtype) if self._is_mean else self._sum

    def cancel(self) -> None:
        """Makes all that wait fail: the session that they belong to has been closed."""
        with self._changed:
            self._is_gone = True
            self._changed.notify_all()


class SparseAccumulator(Accumulator):
    """Rows of gradients by their indices, which are in order. The mean of a row is that of those that have it."""

    def __init__(self, name: str, dtype: DType, shape: Shape, reduction: bytes) -> None:
        super().__init__(name, dtype, shape, reduction)
        self._rows: dict[int, Any] = {}
        self._counts: dict[int, int] = {}
        self._row_shape: tuple[int, ...] | None = None

    def apply_rows(self, step: int, indices: Array, values: Array, shape: Array | None) -> None:
        """Adds the rows of a step; `shape` is None if that of the whole is not known."""
        if np.ndim(indices) != 1 or np.ndim(values) < 1 or len(values) != len(indices):
            raise InvalidArgumentError(
                f"{self._name}: indices have to be a vector, and as many as there are rows of values, got shapes "
                f"{np.shape(indices)} and {np.shape(values)}"
            )
        self.apply(step, _Rows(np.asarray(indices), np.asarray(values), shape))

    def _check_gradient(self, gradient: Any) -> None:
        if gradient.values.dtype != self._dtype.array_dtype:
            raise InvalidArgumentError(f"{self._name} takes {self._dtype}, got {gradient.values.dtype}")
        row = gradient.values.shape[1:]
        known = gradient.shape if gradient.shape is not None else (None, *row)
        if not self._shape.is_compatible(Shape(known)) or self._row_shape not in (None, row) or known[1:] != row:
            raise InvalidArgumentError(f"{self._name}: Shape mismatch: expected {self._shape}, got rows of {row}")

    def _add(self, gradient: Any) -> None:
        self._row_shape = gradient.values.shape[1:]
        for index, row in zip(gradient.indices.tolist(), gradient.values, strict=True):
            known = self._rows.get(index)
            self._rows[index] = np.array(row) if known is None else known + row
            self._counts[index] = self._counts.get(index, 0) + 1

    def _reduced(self) -> Any:
        indices = np.array(sorted(self._rows), np.int64)
        shape = (len(indices), *(self._row_shape or ()))
        values = np.zeros(shape, self._dtype.array_dtype)
        for place, index in enumerate(indices.tolist()):
            values[place] = self._rows[index] / self._counts[index] if self._is_mean else self._rows[index]
        told = self._shape[0] if self._shape.rank else None  # by the program; no gradient adds to it
        self._rows, self._counts, self._row_shape = {}, {}, None
        return indices, values, np.array([-1 if told is None else told, *shape[1:]], np.int64)


class _Rows:
    """Rows of a gradient."""

    def __init__(self, indices: Any, values: Any, shape: Any) -> None:
        self.indices = indices
        self.values = values
        self.shape = None if shape is None else tuple(np.asarray(shape).tolist())
