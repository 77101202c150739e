"""Norms, moments and normalization, under the names of TensorFlow 1's `tf.nn`."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np

from tensorkeep.arrays import Array
from tensorkeep.dtypes import FLOAT16, FLOAT32
from tensorkeep.errors import InvalidArgumentError
from tensorkeep.graph.arguments import AxisLike, TensorLike, TensorSource, emit
from tensorkeep.graph.conversion import convert
from tensorkeep.graph.graph import Tensor
from tensorkeep.ops.nn import normalization as ops
from tensorkeep.ops.nn import softmax as loss_ops
from tensorkeep.tf1.functions.arrays.shapes import either, rank, scope_of, shape, squeeze, stop_gradient, zeros_like
from tensorkeep.tf1.functions.arrays.slicing import gather
from tensorkeep.tf1.functions.constants import constant
from tensorkeep.tf1.functions.numbers.elementwise import (
    add,
    cast,
    div_no_nan,
    imag,
    maximum,
    multiply,
    real,
    reciprocal,
    rsqrt,
    square,
    squared_difference,
    subtract,
)
from tensorkeep.tf1.functions.numbers.elementwise import complex as complex_of
from tensorkeep.tf1.functions.numbers.reductions import reduce_mean, reduce_prod, reduce_sum

# ---------------------------------------------------------------------------------------------------- Norms


def l2_loss(t: TensorLike, name: str | None = None) -> Tensor:
    """Half the sum of squares."""
    return emit(loss_ops.l2_loss, t, name=name)


def l2_normalize(
    x: TensorLike, axis: AxisLike = None, epsilon: float = 1e-12, name: str | None = None, dim: AxisLike = None
) -> Tensor:
    """The tensor divided by its Euclidean norm along some axes."""
    axis = either("axis", axis, "dim", dim)
    with scope_of(name, "l2_normalize", x) as scope:
        x = convert(x, name="x")
        if x.dtype.is_complex:
            return _complex_l2_normalize(x, axis, epsilon, scope)
        total = reduce_sum(square(x), axis, keepdims=True)
        return multiply(x, rsqrt(maximum(total, epsilon)), name=scope)


def _complex_l2_normalize(x: Tensor, axis: Any, epsilon: float, scope: str) -> Tensor:
    square_real = square(real(x))
    square_imag = square(imag(x))
    total = real(reduce_sum(square_real + square_imag, axis, keepdims=True))
    inverse = rsqrt(maximum(total, epsilon))
    norm_real = multiply(real(x), inverse)
    norm_imag = multiply(imag(x), inverse)
    return complex_of(norm_real, norm_imag, name=scope)


def local_response_normalization(
    input: TensorLike,
    depth_radius: int | None = 5,
    bias: float | None = 1,
    alpha: float | None = 1,
    beta: float | None = 0.5,
    name: str | None = None,
) -> Tensor:
    """Each element divided by a power of the weighted sum of the squares of its neighbours among the channels."""
    given = {"bias": bias, "alpha": alpha, "beta": beta}
    options = {key: float(value) for key, value in given.items() if value is not None}
    return emit(ops.lrn, input, depth_radius=5 if depth_radius is None else depth_radius, name=name, **options)


lrn = local_response_normalization

# ---------------------------------------------------------------------------------------------------- Moments


def moments(
    x: Tensor | TensorSource | Array,
    axes: AxisLike,
    shift: TensorLike | None = None,
    name: str | None = None,
    keep_dims: bool | None = None,
    keepdims: bool | None = None,
) -> tuple[Tensor, Tensor]:
    """The mean and the variance along some axes. `shift` plays no part."""
    keep = bool(either("keepdims", keepdims, "keep_dims", keep_dims))
    with scope_of(name, "moments", x, axes):
        x = convert(x, name="x") if isinstance(x, np.ndarray) else x
        is_half = x.dtype.base_dtype is FLOAT16
        y = cast(x, FLOAT32) if is_half else x
        mean = reduce_mean(y, axes, keepdims=True, name="mean")
        variance = reduce_mean(squared_difference(y, stop_gradient(mean)), axes, keepdims=True, name="variance")
        if not keep:
            mean = squeeze(mean, axes)
            variance = squeeze(variance, axes)
        return (cast(mean, FLOAT16), cast(variance, FLOAT16)) if is_half else (mean, variance)


def weighted_moments(
    x: TensorLike,
    axes: AxisLike,
    frequency_weights: TensorLike,
    name: str | None = None,
    keep_dims: bool | None = None,
    keepdims: bool | None = None,
) -> tuple[Tensor, Tensor]:
    """The mean and the variance of elements that count as often as their weights say."""
    keep = bool(either("keepdims", keepdims, "keep_dims", keep_dims))
    with scope_of(name, "weighted_moments", x, frequency_weights, axes):
        x, weights = convert(x, name="x"), convert(frequency_weights, name="frequency_weights")
        is_half = x.dtype.base_dtype is FLOAT16
        if is_half:
            x = cast(x, FLOAT32)
        weights = cast(weights, x.dtype)
        total = reduce_sum(weights * x, axes, name="weighted_input_sum", keepdims=True)
        stretched = weights + zeros_like(x)
        count = reduce_sum(stretched, axes, name="sum_of_weights", keepdims=True)
        mean = div_no_nan(total, count)
        distances = reduce_sum(weights * squared_difference(x, mean), axes, name="weighted_distsq", keepdims=True)
        variance = div_no_nan(distances, count)
        if not keep:
            mean = squeeze(mean, axis=axes)
            variance = squeeze(variance, axis=axes)
        return (cast(mean, FLOAT16), cast(variance, FLOAT16)) if is_half else (mean, variance)


def sufficient_statistics(
    x: TensorLike,
    axes: Sequence[int],
    shift: TensorLike | None = None,
    keep_dims: bool | None = None,
    name: str | None = None,
    keepdims: bool | None = None,
) -> tuple[Tensor, Tensor, Tensor, Any]:
    """The count, the sum and the sum of squares along some axes, of elements less `shift`."""
    axes = list(set(axes))
    keep = bool(either("keepdims", keepdims, "keep_dims", keep_dims))
    with scope_of(name, "sufficient_statistics", x, shift):
        x = convert(x, name="x")
        dims = x.static_shape.dims
        sizes = [None] if dims is None else [dims[axis] for axis in axes]
        if None not in sizes:
            count = constant(prod(size for size in sizes if size is not None), x.dtype)
        else:
            dimensions = rank(x)
            positive = [axis + dimensions if axis < 0 else axis for axis in axes]
            count = reduce_prod(gather(cast(shape(x), x.dtype), positive), name="count")
        if shift is not None:
            shift = convert(shift, name="shift")
            values, squares = subtract(x, shift), squared_difference(x, shift)
        else:
            values, squares = x, square(x)
        values = reduce_sum(values, axes, keepdims=keep, name="mean_ss")
        squares = reduce_sum(squares, axes, keepdims=keep, name="var_ss")
    return count, values, squares, shift


def normalize_moments(
    counts: TensorLike, mean_ss: TensorLike, variance_ss: TensorLike, shift: TensorLike, name: str | None = None
) -> tuple[Tensor, Tensor]:
    """The mean and the variance, of what `sufficient_statistics` gave."""
    with scope_of(name, "normalize", counts, mean_ss, variance_ss, shift):
        divisor = reciprocal(counts, name="divisor")
        if shift is not None:
            shifted = multiply(mean_ss, divisor, name="shifted_mean")
            mean = add(shifted, shift, name="mean")
        else:
            mean = shifted = multiply(mean_ss, divisor, name="mean")
        variance = subtract(multiply(variance_ss, divisor), square(shifted), name="variance")
    return mean, variance


# ---------------------------------------------------------------------------------------------------- Batches


def batch_normalization(
    x: Tensor | TensorSource,
    mean: TensorLike,
    variance: TensorLike,
    offset: TensorLike | None,
    scale: TensorLike | None,
    variance_epsilon: TensorLike,
    name: str | None = None,
) -> Tensor:
    """`(x - mean) / sqrt(variance + epsilon) * scale + offset`; scale and offset may be None."""
    with scope_of(name, "batchnorm", x, mean, variance, scale, offset):
        values: Any = x
        center: Any = mean  # these three may be variables, which are read by the arithmetic
        spread: Any = variance
        moved: Any = offset
        inverse = rsqrt(spread + variance_epsilon)
        if scale is not None:
            inverse = inverse * scale
        scaled = values * cast(inverse, x.dtype)
        shift = moved - center * inverse if moved is not None else -center * inverse
        found: Tensor = scaled + cast(shift, x.dtype)
        return found


def batch_norm_with_global_normalization(
    t: TensorLike | None = None,
    m: TensorLike | None = None,
    v: TensorLike | None = None,
    beta: TensorLike | None = None,
    gamma: TensorLike | None = None,
    variance_epsilon: TensorLike | None = None,
    scale_after_normalization: bool | None = None,
    name: str | None = None,
    input: TensorLike | None = None,
    mean: TensorLike | None = None,
    variance: TensorLike | None = None,
) -> Tensor:
    """As `batch_normalization`, under its older name."""
    images: Any = either("input", input, "t", t)
    center: Any = either("mean", mean, "m", m)
    spread: Any = either("variance", variance, "v", v)
    epsilon: Any = variance_epsilon
    scale = gamma if scale_after_normalization else None
    return batch_normalization(images, center, spread, beta, scale, epsilon, name)


def fused_batch_norm(
    x: TensorLike,
    scale: TensorLike,
    offset: TensorLike,
    mean: TensorLike | None = None,
    variance: TensorLike | None = None,
    epsilon: float = 0.001,
    data_format: str = "NHWC",
    is_training: bool = True,
    name: str | None = None,
    exponential_avg_factor: float = 1.0,
) -> tuple[Tensor, Tensor, Tensor]:
    """Normalized images, and the mean and variance of the batch."""
    if (not is_training or exponential_avg_factor != 1.0) and (mean is None or variance is None):
        raise InvalidArgumentError(
            "Both `mean` and `variance` must be a 1D tensor when `is_training` is False or `exponential_avg_factor` != "
            f"1.0. Received: `mean` {mean!r} and `variance` {variance!r}"
        )
    x, scale, offset = convert(x, name="input"), convert(scale, name="scale"), convert(offset, name="offset")
    mean = constant([]) if mean is None else mean
    variance = constant([]) if variance is None else variance
    found = ops.fused_batch_norm_v3(
        x,
        scale,
        offset,
        mean,
        variance,
        epsilon=epsilon,
        exponential_avg_factor=exponential_avg_factor,
        data_format=data_format,
        is_training=is_training,
        name=name,
    )
    return found[0], found[1], found[2]


__all__ = [
    "batch_norm_with_global_normalization",
    "batch_normalization",
    "fused_batch_norm",
    "l2_loss",
    "l2_normalize",
    "local_response_normalization",
    "lrn",
    "moments",
    "normalize_moments",
    "sufficient_statistics",
    "weighted_moments",
]
