"""`tf.contrib.framework.BoundedTensorSpec`: what a tensor is, and between which numbers its elements are."""

from __future__ import annotations

from typing import Any

import numpy as np

from tensorkeep.arrays import Array
from tensorkeep.errors import InvalidArgumentError
from tensorkeep.graph.arguments import DTypeLike, ShapeLike
from tensorkeep.tf1.functions.type_specs import TensorSpec


class BoundedTensorSpec(TensorSpec):
    """A tensor of a shape and a data type, whose elements are no less than one number, and no more than another."""

    def __init__(self, shape: ShapeLike, dtype: DTypeLike, minimum: Any, maximum: Any, name: str | None = None) -> None:
        super().__init__(shape, dtype, name)
        sizes = tuple(1 if size is None else size for size in self.shape.as_list())
        self._bounds: list[Array] = []
        for word, bound in (("minimum", minimum), ("maximum", maximum)):
            if bound is None:
                raise InvalidArgumentError(f"{word} and maximum must be provided")
            given = np.array(bound, dtype=self.dtype.as_numpy_dtype)
            try:
                np.broadcast_shapes(given.shape, sizes)
            except ValueError:
                raise InvalidArgumentError(
                    f"{word} is not compatible with shape: {given.shape}, of a tensor {self.shape}"
                ) from None
            given.setflags(write=False)
            self._bounds.append(given)

    @classmethod
    def from_spec(cls, spec: TensorSpec, name: str | None = None) -> BoundedTensorSpec:
        """The same bounds, or for a plain spec those of its data type."""
        dtype = spec.dtype
        minimum, maximum = getattr(spec, "minimum", dtype.min), getattr(spec, "maximum", dtype.max)
        return cls(spec.shape, dtype, minimum, maximum, name or spec.name)

    @property
    def minimum(self) -> Array:
        return self._bounds[0]

    @property
    def maximum(self) -> Array:
        return self._bounds[1]

    def __repr__(self) -> str:
        return (
            f"BoundedTensorSpec(shape={self.shape}, dtype={self.dtype!r}, name={self.name!r}, "
            f"minimum={self.minimum!r}, maximum={self.maximum!r})"
        )

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, BoundedTensorSpec)
            and super().__eq__(other)
            and np.array_equal(self.minimum, other.minimum)
            and np.array_equal(self.maximum, other.maximum)
        )

    def __hash__(self) -> int:
        return hash((self.shape, self.dtype))
