"""Elements, reductions, products, random numbers: TensorFlow's functions under the names of Keras."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tensorkeep.dtypes import BOOL
from tensorkeep.errors import InvalidArgumentError
from tensorkeep.graph.arguments import AxisLike, DTypeLike, ShapeLike, TensorLike
from tensorkeep.graph.composites import SparseTensor
from tensorkeep.graph.conversion import convert
from tensorkeep.graph.graph import Tensor
from tensorkeep.tf1.functions.arrays import shapes
from tensorkeep.tf1.functions.linear_algebra.products import matmul
from tensorkeep.tf1.functions.numbers import elementwise, reductions
from tensorkeep.tf1.functions.numbers.clipping import clip_by_value
from tensorkeep.tf1.functions.random import numbers
from tensorkeep.tf1.functions.sparse.tensors import sparse_tensor_dense_matmul
from tensorkeep.tf1.keras.backend.settings import chosen_dtype, chosen_seed

abs = elementwise.abs
cos = elementwise.cos
equal = elementwise.equal
exp = elementwise.exp
greater = elementwise.greater
greater_equal = elementwise.greater_equal
less = elementwise.less
less_equal = elementwise.less_equal
log = elementwise.log
maximum = elementwise.maximum
minimum = elementwise.minimum
not_equal = elementwise.not_equal
round = elementwise.round
sign = elementwise.sign
sin = elementwise.sin
square = elementwise.square


def sqrt(x: TensorLike) -> Tensor:
    """The square root; of negative numbers that of zero."""
    values = convert(x)
    zero = convert(0.0, values.dtype.base_dtype)
    return elementwise.sqrt(clip_by_value(values, zero, convert(np.inf, values.dtype.base_dtype)))


def pow(x: TensorLike, a: TensorLike) -> Tensor:
    return elementwise.pow(x, a)


def clip(x: TensorLike, min_value: TensorLike, max_value: TensorLike) -> Tensor:
    """Numbers between two limits, either of which may be None."""
    values = convert(x)
    if isinstance(min_value, int | float) and isinstance(max_value, int | float) and max_value < min_value:
        max_value = min_value
    low = -np.inf if min_value is None else min_value
    high = np.inf if max_value is None else max_value
    kind = values.dtype.base_dtype
    return clip_by_value(values, elementwise.cast(low, kind), elementwise.cast(high, kind))


# ---------------------------------------------------------------------------------------------------- Reductions


def _numbers(x: Any) -> Tensor:
    values = convert(x)
    return elementwise.cast(values, chosen_dtype(None)) if values.dtype.base_dtype is BOOL else values


def sum(x: TensorLike, axis: AxisLike = None, keepdims: bool = False) -> Tensor:
    return reductions.reduce_sum(x, axis, keepdims)


def prod(x: TensorLike, axis: AxisLike = None, keepdims: bool = False) -> Tensor:
    return reductions.reduce_prod(x, axis, keepdims)


def mean(x: TensorLike, axis: AxisLike = None, keepdims: bool = False) -> Tensor:
    """The mean; of booleans, the part that is true."""
    return reductions.reduce_mean(_numbers(x), axis, keepdims)


def max(x: TensorLike, axis: AxisLike = None, keepdims: bool = False) -> Tensor:
    return reductions.reduce_max(x, axis, keepdims)


def min(x: TensorLike, axis: AxisLike = None, keepdims: bool = False) -> Tensor:
    return reductions.reduce_min(x, axis, keepdims)


def var(x: TensorLike, axis: AxisLike = None, keepdims: bool = False) -> Tensor:
    return reductions.reduce_variance(_numbers(x), axis=axis, keepdims=keepdims)


def std(x: TensorLike, axis: AxisLike = None, keepdims: bool = False) -> Tensor:
    return reductions.reduce_std(_numbers(x), axis=axis, keepdims=keepdims)


def any(x: TensorLike, axis: AxisLike = None, keepdims: bool = False) -> Tensor:
    return reductions.reduce_any(elementwise.cast(x, BOOL), axis, keepdims)


def all(x: TensorLike, axis: AxisLike = None, keepdims: bool = False) -> Tensor:
    return reductions.reduce_all(elementwise.cast(x, BOOL), axis, keepdims)


def logsumexp(x: TensorLike, axis: AxisLike = None, keepdims: bool = False) -> Tensor:
    return reductions.reduce_logsumexp(x, axis, keepdims)


def argmax(x: Tensor, axis: int = -1) -> Tensor:
    return reductions.argmax(x, axis)


def argmin(x: TensorLike, axis: int = -1) -> Tensor:
    return reductions.argmin(x, axis)


def cumsum(x: TensorLike, axis: int = 0) -> Tensor:
    return elementwise.cumsum(x, axis=axis)


def cumprod(x: TensorLike, axis: int = 0) -> Tensor:
    return elementwise.cumprod(x, axis=axis)


# ---------------------------------------------------------------------------------------------------- Products


def dot(x: TensorLike, y: TensorLike) -> Tensor:
    """The product of matrices; of more axes, the last of one with the last but one of the other."""
    if isinstance(x, SparseTensor):
        return sparse_tensor_dense_matmul(x, y)
    first, second = convert(x), convert(y)
    if (first.get_shape().rank or 0) <= 2 and (second.get_shape().rank or 0) <= 2:
        return matmul(first, second)
    mine, theirs = _sizes(first), _sizes(second)
    rank = len(theirs)
    order = [rank - 2, *(at for at in range(rank) if at != rank - 2)]
    flat = matmul(
        shapes.reshape(first, [-1, mine[-1]]), shapes.reshape(shapes.transpose(second, order), [theirs[-2], -1])
    )
    return shapes.reshape(flat, shapes.stack([*mine[:-1], *theirs[:-2], *theirs[-1:]]))


def _sizes(x: Tensor) -> list[Any]:
    """Sizes, as numbers where they are known."""
    known, found = x.get_shape().as_list(), shapes.shape(x)
    return [found[at] if size is None else size for at, size in enumerate(known)]


def batch_dot(x: TensorLike, y: TensorLike, axes: int | Sequence[int] | None = None) -> Tensor:
    """Products of the items of two batches, along an axis of each."""
    first, second = convert(x), convert(y)
    mine, theirs = first.get_shape().rank, second.get_shape().rank
    if mine is None or theirs is None or mine < 2 or theirs < 2:
        raise InvalidArgumentError(
            "Cannot do batch_dot on inputs with rank < 2, or of unknown rank. Received inputs with shapes "
            f"{first.get_shape()} and {second.get_shape()}."
        )
    if axes is None:
        axes = [mine - 1, theirs - 1 if theirs == 2 else theirs - 2]
    one, other = (axes, axes) if isinstance(axes, int) else tuple(axes)
    one, other = one % mine, other % theirs
    if 0 in (one, other):
        raise InvalidArgumentError(f"Cannot perform batch_dot over axis 0, the batch; axes={axes}")
    sizes = (first.get_shape().as_list()[one], second.get_shape().as_list()[other])
    if None not in sizes and sizes[0] != sizes[1]:
        raise InvalidArgumentError(
            f"Cannot do batch_dot on inputs with shapes {first.get_shape()} and {second.get_shape()} with axes={axes}. "
            f"{sizes[0]} != {sizes[1]}"
        )
    left = shapes.transpose(first, [0, *(at for at in range(1, mine) if at != one), one])
    right = shapes.transpose(second, [0, other, *(at for at in range(1, theirs) if at != other)])
    rows, columns = _sizes(left), _sizes(right)
    product = matmul(
        shapes.reshape(left, shapes.stack([rows[0], -1, rows[-1]])),
        shapes.reshape(right, shapes.stack([columns[0], columns[1], -1])),
    )
    kept = [*rows[1:-1], *columns[2:]] or [1]
    result = shapes.reshape(product, shapes.stack([rows[0], *kept]))
    result.set_shape([known if isinstance(known, int) else None for known in [rows[0], *kept]])
    return result


# ---------------------------------------------------------------------------------------------------- Random numbers


def random_normal(
    shape: ShapeLike, mean: float = 0.0, stddev: float = 1.0, dtype: DTypeLike | None = None, seed: int | None = None
) -> Tensor:
    return numbers.random_normal(shape, mean, stddev, chosen_dtype(dtype), seed=chosen_seed(seed))


def random_uniform(
    shape: ShapeLike, minval: float = 0.0, maxval: float = 1.0, dtype: DTypeLike | None = None, seed: int | None = None
) -> Tensor:
    return numbers.random_uniform(shape, minval, maxval, chosen_dtype(dtype), seed=chosen_seed(seed))


def truncated_normal(
    shape: ShapeLike, mean: float = 0.0, stddev: float = 1.0, dtype: DTypeLike | None = None, seed: int | None = None
) -> Tensor:
    return numbers.truncated_normal(shape, mean, stddev, chosen_dtype(dtype), seed=chosen_seed(seed))


def random_binomial(
    shape: ShapeLike, p: float = 0.0, dtype: DTypeLike | None = None, seed: int | None = None
) -> Tensor:
    """Ones with probability `p`, and zeros."""
    kind = chosen_dtype(dtype)
    drawn = numbers.random_uniform(shape, dtype=kind, seed=chosen_seed(seed))
    return shapes.where(drawn <= p, shapes.ones(shape, kind), shapes.zeros(shape, kind))


# ---------------------------------------------------------------------------------------------------- Normalization


def normalize_batch_in_training(
    x: TensorLike,
    gamma: TensorLike | None,
    beta: TensorLike | None,
    reduction_axes: Sequence[int],
    epsilon: float = 1e-3,
) -> tuple[Tensor, Tensor, Tensor]:
    """A batch normalized by its own mean and variance, and these two."""
    values = convert(x)
    axes = list(reduction_axes)
    middle = reductions.reduce_mean(values, axes)
    spread = reductions.reduce_mean(
        elementwise.squared_difference(values, reductions.reduce_mean(values, axes, keepdims=True)), axes
    )
    sizes = [1 if at in axes else size for at, size in enumerate(_sizes(values))]

    def wide(item: Any) -> Any:
        return None if item is None else shapes.reshape(item, shapes.stack(sizes))

    return (
        batch_normalization(values, wide(middle), wide(spread), wide(beta), wide(gamma), epsilon=epsilon),
        middle,
        spread,
    )


def batch_normalization(
    x: Tensor,
    mean: Tensor,
    var: Tensor,
    beta: TensorLike | None,
    gamma: TensorLike | None,
    axis: int = -1,
    epsilon: float = 1e-3,
) -> Tensor:
    """A batch normalized by a mean and a variance."""
    root = elementwise.rsqrt(var + epsilon)
    scale = root if gamma is None else gamma * root
    result: Tensor = x * scale - mean * scale
    return result if beta is None else result + beta
