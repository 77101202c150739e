"""Columns of numbers, and of the buckets that they are in."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from tensorkeep.dtypes import FLOAT32, INT64, DType
from tensorkeep.errors import InvalidArgumentError, WrongTypeError
from tensorkeep.graph.arguments import DTypeLike, emit
from tensorkeep.graph.composites import SparseTensor
from tensorkeep.graph.graph import Tensor
from tensorkeep.graph.tensor_shape import TensorShape
from tensorkeep.tf1.columns.column import CategoricalColumn, DenseColumn, Features, IdWeightPair, check_key
from tensorkeep.tf1.functions.arrays.shapes import expand_dims, one_hot, reshape, stack, tile, transpose
from tensorkeep.tf1.functions.arrays.shapes import shape as shape_of
from tensorkeep.tf1.functions.numbers.elementwise import cast
from tensorkeep.tf1.functions.numbers.elementwise import range as span
from tensorkeep.tf1.functions.parsing.feature_configs import FixedLenFeature

Normalizer = Callable[[Tensor], Tensor]


@dataclass(frozen=True)
class NumericColumn(DenseColumn):
    """See `numeric_column`."""

    key: str
    shape: tuple[int, ...]
    default_value: Any
    dtype: DType
    normalizer_fn: Normalizer | None

    @property
    def name(self) -> str:
        return self.key

    @property
    def parse_example_spec(self) -> dict[str, Any]:
        return {self.key: FixedLenFeature(self.shape, self.dtype, self.default_value)}

    @property
    def variable_shape(self) -> TensorShape:
        return TensorShape(self.shape)

    def transform(self, inputs: Features) -> Tensor:
        tensor: Any = inputs.get(self.key)
        if isinstance(tensor, SparseTensor):
            raise InvalidArgumentError(
                "The corresponding Tensor of numerical column must be a Tensor. SparseTensor is not supported. key: "
                f"{self.key}"
            )
        if self.normalizer_fn is not None:
            tensor = self.normalizer_fn(tensor)
        found: Tensor = cast(tensor, FLOAT32)
        return found

    def dense(self, inputs: Features) -> Tensor:
        found: Tensor = inputs.get(self)
        return found


@dataclass(frozen=True)
class BucketizedColumn(DenseColumn, CategoricalColumn):
    """See `bucketized_column`."""

    source_column: NumericColumn
    boundaries: tuple[float, ...]

    @property
    def name(self) -> str:
        return f"{self.source_column.name}_bucketized"

    @property
    def parse_example_spec(self) -> dict[str, Any]:
        return self.source_column.parse_example_spec

    @property
    def variable_shape(self) -> TensorShape:
        return TensorShape((*self.source_column.shape, len(self.boundaries) + 1))

    @property
    def num_buckets(self) -> int:
        return (len(self.boundaries) + 1) * self.source_column.shape[0]

    def transform(self, inputs: Features) -> Tensor:
        return emit("Bucketize", inputs.get(self.source_column), boundaries=list(map(float, self.boundaries)))

    def dense(self, inputs: Features) -> Tensor:
        return one_hot(cast(inputs.get(self), INT64), depth=len(self.boundaries) + 1, on_value=1.0, off_value=0.0)

    def sparse(self, inputs: Features) -> IdWeightPair:
        """Ids of which each element of the number's vector has its own."""
        buckets = inputs.get(self)
        batch, width = shape_of(buckets)[0], self.source_column.shape[0]
        rows = reshape(tile(expand_dims(span(0, batch), 1), [1, width]), (-1,))
        columns: Any = tile(span(0, width), [batch])
        ids: Any = reshape(buckets, (-1,))
        indices = cast(transpose(stack((rows, columns))), INT64)
        sizes = cast(stack([batch, width]), INT64)
        return IdWeightPair(SparseTensor(indices, ids + (len(self.boundaries) + 1) * columns, sizes), None)


def numeric_column(
    key: str,
    shape: int | Sequence[int] = (1,),
    default_value: npt.ArrayLike | None = None,
    dtype: DTypeLike = FLOAT32,
    normalizer_fn: Normalizer | None = None,
) -> NumericColumn:
    """A feature of numbers, of a fixed shape for each example, as floats; `normalizer_fn` changes them first.

    `default_value`, one number or as many as the shape has, stands for the feature in examples that lack it.
    """
    sizes = _checked_shape(shape, key)
    kind = DType.of(dtype)
    if not (kind.is_integer or kind.is_floating):
        raise InvalidArgumentError(f"dtype must be convertible to float. dtype: {kind.name}, key: {key}")
    default = _checked_default(sizes, default_value, kind, key)
    if normalizer_fn is not None and not callable(normalizer_fn):
        raise WrongTypeError(f"normalizer_fn must be a callable. Given: {normalizer_fn}")
    check_key(key)
    return NumericColumn(key, sizes, default, kind, normalizer_fn)


def bucketized_column(source_column: NumericColumn, boundaries: Sequence[float]) -> BucketizedColumn:
    """Which bucket a number is in. With boundaries 0 and 1 these are: below 0; from 0, below 1; from 1."""
    if not isinstance(source_column, NumericColumn):
        raise InvalidArgumentError(
            f"source_column must be a column generated with numeric_column(). Given: {source_column}"
        )
    if len(source_column.shape) > 1:
        raise InvalidArgumentError(f"source_column must be one-dimensional column. Given: {source_column}")
    if not isinstance(boundaries, list | tuple) or not boundaries:
        raise InvalidArgumentError(f"boundaries must be a sorted list. Given: {boundaries}")
    if any(one >= other for one, other in pairwise(boundaries)):
        raise InvalidArgumentError(f"boundaries must be a sorted list. Given: {boundaries}")
    return BucketizedColumn(source_column, tuple(boundaries))


def _checked_shape(shape: Any, key: str) -> tuple[int, ...]:
    sizes = tuple(shape) if isinstance(shape, list | tuple | TensorShape) else (shape,)
    found = []
    for size in sizes:
        size = getattr(size, "value", size)
        if not isinstance(size, int | np.integer):
            raise WrongTypeError(f"shape dimensions must be integer. shape: {shape}, key: {key}")
        if size < 1:
            raise InvalidArgumentError(f"shape dimensions must be greater than 0. shape: {shape}, key: {key}")
        found.append(int(size))
    return tuple(found)


def _checked_default(shape: tuple[int, ...], value: Any, dtype: DType, key: str) -> Any:
    """A default as nested tuples of a shape."""
    if value is None:
        return None
    complaint = f"default_value must be compatible with dtype. default_value: {value}, dtype: {dtype.name}, key: {key}"
    try:
        array = np.asarray(value)
    except ValueError as error:
        raise InvalidArgumentError(
            f"The shape of default_value must be equal to given shape. default_value: {value}, shape: {shape}, "
            f"key: {key}"
        ) from error
    if array.dtype.kind not in "biuf" or (array.dtype.kind == "f" and not dtype.is_floating):
        raise WrongTypeError(complaint)
    if array.ndim == 0:
        array = np.full(shape, array)
    elif array.shape != shape:
        raise InvalidArgumentError(
            f"The shape of default_value must be equal to given shape. default_value: {value}, shape: {shape}, "
            f"key: {key}"
        )
    return _as_tuples(array.tolist())


def _as_tuples(value: Any) -> Any:
    return tuple(map(_as_tuples, value)) if isinstance(value, list) else value
