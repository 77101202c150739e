"""Batch normalization, local response normalization, and their gradients, in NumPy.

    training     y = (x - mean) * scale / sqrt(variance + epsilon) + offset      with the mean and variance of x
    inference    the same, with a mean and variance that are given

Batch normalization returns both as seen, with the variance of a population, and with Bessel's correction as moving
averages, of which a part is what was given. Statistics of no elements are NaN.

What TensorFlow leaves unset on CPUs is set here: the reserve spaces of an inference are the given mean and variance,
and those of an empty batch are 0. The last reserve space is for GPUs; it is a single 0 always.

Sums over positions are products with a vector of ones, which the linear algebra library computes faster than NumPy
adds. Channels, where they come last and are few, are repeated until they fill a row of an image, for long inner loops.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from math import prod
from typing import TYPE_CHECKING, Any, Final, TypedDict

import numpy as np

from tensorkeep.errors import InvalidArgumentError
from tensorkeep.io.machine.blas import ONE_THREAD
from tensorkeep.native.normalizing import channel_moments, gradient_of_channels, gradient_sums, scale_channels
from tensorkeep.ops.linear_algebra.products import multiply
from tensorkeep.ops.nn.windows import Ints, narrow_array, widen_array
from tensorkeep.ops.shared.half_sums import half_products
from tensorkeep.ops.shared.kernel_types import Array

if TYPE_CHECKING:
    from typing_extensions import Unpack  # in `typing` since Python 3.11

_CACHED_BANDS: Final = 8
_FEW_CHANNELS: Final = 64
_LARGE: Final = 1 << 16  # elements, from which repeating the channels pays


class NormalizationAttributes(TypedDict, total=False):
    """What kernels of batch normalization are told."""

    epsilon: float
    data_format: bytes
    is_training: bool


class MovingAttributes(NormalizationAttributes, total=False):
    """The same, and how much a step counts in the moving mean and variance."""

    exponential_avg_factor: float


@dataclass(frozen=True, slots=True)
class _Channels:
    """How to compute with one number per channel: over arrays of `shape`, with each channel `times` in a row."""

    count: int
    times: int
    shape: Ints
    are_first: bool

    @classmethod
    def of(cls, shape: Ints, data_format: bytes) -> _Channels:
        if data_format.startswith(b"NC"):
            return cls(shape[1], 1, (shape[0], shape[1], prod(shape[2:])), True)
        times = shape[-2] if shape[-1] < _FEW_CHANNELS and prod(shape) >= _LARGE else 1
        return cls(shape[-1], times, (shape[0], prod(shape[1:-1]) // times, times * shape[-1]), False)

    def spread(self, vector: Array) -> Array:
        """The vector in a shape that broadcasts."""
        if self.are_first:
            return vector[:, np.newaxis]
        return vector if self.times == 1 else np.concatenate((vector,) * self.times)

    def sums(self, array: Array) -> Array:
        """For each channel, the sum of its elements: of each image first, which keeps it precise."""
        if self.are_first:
            sums: Array = array.sum(axis=2).sum(axis=0)
        else:
            with ONE_THREAD:
                sums = np.matmul(np.ones(self.shape[1], array.dtype), array).sum(axis=0)
        return sums if self.times == 1 else sums.reshape(self.times, self.count).sum(axis=0)


@np.errstate(all="ignore")
def fused_batch_norm_kernel(
    x: Array,
    scale: Array,
    offset: Array,
    mean: Array,
    variance: Array,
    *,
    epsilon: float = 1e-4,
    exponential_avg_factor: float = 1.0,
    data_format: bytes = b"NHWC",
    is_training: bool = True,
) -> tuple[Array, ...]:
    """Returns y, the moving mean and variance, and the mean and variance for the gradient."""
    channels = _Channels.of(x.shape, data_format)
    _expect_vectors(channels, scale=scale, offset=offset)
    if not is_training or exponential_avg_factor != 1:
        _expect_vectors(channels, mean=mean, variance=variance)
    if not x.size:
        return x.copy(), *(np.full_like(scale, value) for value in (np.nan, np.nan, 0, 0))
    y = widen_array(x).reshape(channels.shape)
    if is_training and not channels.are_first and (moments := channel_moments(x)) is not None:
        batch_mean, batch_variance = moments
        factor = _inverse_deviation(batch_variance, epsilon) * scale
        scaled = scale_channels(x, batch_mean, factor, offset)
        if scaled is not None:
            return scaled, *_statistics(x, scale, mean, variance, moments, exponential_avg_factor)
    if not is_training:
        y = _scale_and_shift(y - channels.spread(widen_array(mean)), variance, scale, offset, epsilon, channels)
        return narrow_array(y.reshape(x.shape), x.dtype), mean.copy(), variance.copy(), mean.copy(), variance.copy()
    size = x.size // channels.count
    batch_mean = channels.sums(y) / y.dtype.type(size)
    y = y - channels.spread(batch_mean)
    batch_variance = channels.sums(np.square(y)) / y.dtype.type(size)
    y = _scale_and_shift(y, batch_variance, scale, offset, epsilon, channels)
    statistics = _statistics(x, scale, mean, variance, (batch_mean, batch_variance), exponential_avg_factor)
    return narrow_array(y.reshape(x.shape), x.dtype), *statistics


def _statistics(
    x: Array, scale: Array, mean: Array, variance: Array, moments: tuple[Array, Array], part: float
) -> tuple[Array, ...]:
    """The moving mean and variance, and the mean and variance for the gradient, of the moments of a batch."""
    batch_mean, batch_variance = moments
    size = x.size // scale.size
    new_mean, new_variance = batch_mean, batch_variance * batch_variance.dtype.type(size / max(1, size - 1))
    if part != 1:
        new_mean = _moved_average(widen_array(mean), new_mean, part)
        new_variance = _moved_average(widen_array(variance), new_variance, part)
    vectors = (new_mean.copy(), new_variance, batch_mean, batch_variance)
    return tuple(narrow_array(vector, scale.dtype) for vector in vectors)


def fused_batch_norm_v3_kernel(
    x: Array, scale: Array, offset: Array, mean: Array, variance: Array, **attributes: Unpack[MovingAttributes]
) -> tuple[Array, ...]:
    return *fused_batch_norm_kernel(x, scale, offset, mean, variance, **attributes), np.zeros((), scale.dtype)


@np.errstate(all="ignore")
def fused_batch_norm_grad_kernel(
    gradient: Array,
    x: Array,
    scale: Array,
    mean: Array,
    variance: Array,
    *,
    epsilon: float = 1e-4,
    data_format: bytes = b"NHWC",
    is_training: bool = True,
) -> tuple[Array, ...]:
    """Returns the gradients of x, scale and offset, and two empty vectors for what has none."""
    channels = _Channels.of(x.shape, data_format)
    _expect_vectors(channels, scale=scale, mean=mean, variance=variance)
    if gradient.shape != x.shape:
        raise InvalidArgumentError(f"gradient {list(gradient.shape)} of x {list(x.shape)}: expected the same shape")
    nothing = np.zeros(0, mean.dtype)
    if not x.size:
        return x.copy(), np.zeros_like(mean), np.zeros_like(mean), nothing, nothing.copy()
    compiled = (
        None if channels.are_first else _compiled_gradient(gradient, x, scale, mean, variance, epsilon, is_training)
    )
    if compiled is not None:
        return *compiled, nothing, nothing.copy()
    dy = widen_array(gradient).reshape(channels.shape)
    centered = widen_array(x).reshape(channels.shape) - channels.spread(widen_array(mean))
    inverse = _inverse_deviation(variance, epsilon)
    products, offset_gradient = channels.sums(dy * centered), channels.sums(dy)
    if is_training:
        size = dy.dtype.type(x.size // channels.count)
        centered *= channels.spread(inverse * inverse * products / size)
        dy = dy - channels.spread(offset_gradient / size)
        dy -= centered
    dx = dy * channels.spread(widen_array(scale) * inverse)
    vectors = (narrow_array(vector, mean.dtype) for vector in (products * inverse, offset_gradient))
    return narrow_array(dx.reshape(x.shape), x.dtype), *vectors, nothing, nothing.copy()


def _compiled_gradient(
    gradient: Array, x: Array, scale: Array, mean: Array, variance: Array, epsilon: float, is_training: bool
) -> tuple[Array, Array, Array] | None:
    """The gradients of x, scale and offset by the compiled library, channels last; None if that has none for these."""
    sums = gradient_sums(gradient, x, mean)
    if sums is None:
        return None
    offset_gradient, products = sums
    inverse, size = _inverse_deviation(variance, epsilon), np.float32(x.size // scale.size)
    if is_training:
        less, slope = offset_gradient / size, inverse * inverse * products / size
    else:
        less = slope = np.zeros_like(offset_gradient)
    dx = gradient_of_channels(gradient, x, mean, less, slope, scale * inverse)
    return None if dx is None else (dx, products * inverse, offset_gradient)


def fused_batch_norm_grad_v3_kernel(
    gradient: Array,
    x: Array,
    scale: Array,
    mean: Array,
    variance: Array,
    reserved: Array,
    **attributes: Unpack[NormalizationAttributes],
) -> tuple[Array, ...]:
    return fused_batch_norm_grad_kernel(gradient, x, scale, mean, variance, **attributes)


def _expect_vectors(channels: _Channels, **vectors: Array) -> None:
    for name, vector in vectors.items():
        if vector.shape != (channels.count,):
            raise InvalidArgumentError(
                f"{name} has the shape {list(vector.shape)}: expected one number for each of {channels.count} channels"
            )


def _inverse_deviation(variance: Array, epsilon: float) -> Array:
    inverse: Array = np.float32(1) / np.sqrt(widen_array(variance) + np.float32(epsilon))
    return inverse


def _scale_and_shift(
    centered: Array, variance: Array, scale: Array, offset: Array, epsilon: float, channels: _Channels
) -> Array:
    """Scales and shifts an array, in place."""
    centered *= channels.spread(_inverse_deviation(variance, epsilon) * widen_array(scale))
    centered += channels.spread(widen_array(offset))
    return centered


def _moved_average(average: Array, value: Array, part: float) -> Array:
    """A moving average, with that part of it replaced."""
    moved: Array = np.float32(1 - part) * average + np.float32(part) * value
    return moved


@np.errstate(all="ignore")
def lrn_kernel(
    images: Array, *, depth_radius: int = 5, bias: float = 1.0, alpha: float = 1.0, beta: float = 0.5
) -> Array:
    if images.dtype == np.float16 and images.size:
        return _half_lrn(images, depth_radius, bias, alpha, beta)
    x = widen_array(images)
    norms = _norms(x, depth_radius, bias, alpha)
    if beta == 1:
        return narrow_array(x / norms, images.dtype)
    if beta == 0.5:
        return narrow_array(x / np.sqrt(norms), images.dtype)
    return narrow_array(x * np.exp(np.log(norms) * np.float32(-beta)), images.dtype)


def _half_lrn(x: Array, depth_radius: int, bias: float, alpha: float, beta: float) -> Array:
    """The local response normalization of float16, every step of which is rounded to float16, as TensorFlow's is
    (lrn_op.cc).
    """
    depth = x.shape[-1]
    band = _band(depth, depth_radius, x.dtype)
    norms = half_products(np.square(x).reshape(-1, depth), band).reshape(x.shape) * np.float16(alpha) + np.float16(bias)
    power = np.float16(beta)
    if power == 1:
        return x * np.reciprocal(norms)  # type: ignore[no-any-return]
    if power == 0.5:
        return x * half_inverse_root(norms)
    return x * np.exp(np.log(norms) * -power)  # type: ignore[no-any-return]


def half_inverse_root(values: Array) -> Array:
    """One over the square roots of halves: rounded once, but for the elements after the last group of eight, which are
    rounded twice, as in TensorFlow.
    """
    roots = np.sqrt(values.reshape(-1).astype(np.float32))
    alone = roots.size - roots.size % 8
    roots[alone:] = roots[alone:].astype(np.float16)
    return (np.float32(1) / roots).astype(np.float16).reshape(values.shape)


@np.errstate(all="ignore")
def lrn_grad_kernel(
    gradient: Array,
    images: Array,
    output: Array,
    *,
    depth_radius: int = 5,
    bias: float = 1.0,
    alpha: float = 1.0,
    beta: float = 0.5,
) -> Array:
    """The gradient of a local response normalization. Where none comes in, none goes out, even where a norm is 0."""
    if not gradient.shape == images.shape == output.shape:
        shapes = [list(array.shape) for array in (gradient, images, output)]
        raise InvalidArgumentError(f"gradient, images and output have the shapes {shapes}: expected the same")
    dy, x, y = widen_array(gradient), widen_array(images), widen_array(output)
    norms = _window_sums(np.square(x), depth_radius) * np.float32(alpha) + np.float32(bias)
    is_zero, zero = dy == 0, x.dtype.type(0)
    direct = np.where(is_zero, zero, dy * np.exp(np.log(norms) * np.float32(-beta)))
    shared = _window_sums(np.where(is_zero, zero, dy * y / norms), depth_radius)
    return narrow_array(direct + np.float32(-2 * alpha * beta) * x * shared, gradient.dtype)


def _window_sums(array: Array, radius: int) -> Array:
    """The sum of each element and its neighbors, along the last axis, of which no other element is part.

    TensorFlow's gradient goes through the windows; its forward pass multiplies by a band, where NaN reaches all.
    """
    sums = array.copy()
    for step in range(1, min(radius, array.shape[-1] - 1) + 1):
        sums[..., step:] += array[..., :-step]
        sums[..., :-step] += array[..., step:]
    return sums


def _norms(x: Array, depth_radius: int, bias: float, alpha: float) -> Array:
    norms = _sums_of_neighbors(np.square(x), depth_radius)
    norms *= np.float32(alpha)
    norms += np.float32(bias)
    return norms


def _sums_of_neighbors(array: Array, radius: int) -> Array:
    """The sum of each element and its neighbors, along the last axis."""
    sums: Array = multiply(array, _band(array.shape[-1], radius, array.dtype))
    return sums


@lru_cache(_CACHED_BANDS)
def _band(size: int, radius: int, dtype: np.dtype[Any]) -> Array:
    """A matrix of ones near the diagonal."""
    places = np.arange(size)
    return (abs(places - places[:, np.newaxis]) <= radius).astype(dtype)
