"""Normalisation of batches and of neighbouring channels, and its gradients."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from tensorkeep.jax.registry import lowering


def _wide(x: Any) -> Any:
    return x.astype(jnp.float32) if x.dtype in (jnp.float16, jnp.bfloat16) else x


def _channel(x: Any, data_format: bytes) -> int:
    return 1 if data_format.startswith(b"NC") else x.ndim - 1


def _vector_along_channel(vector: Any, x: Any, channel: int) -> Any:
    return vector.reshape([-1 if axis == channel else 1 for axis in range(x.ndim)])


@lowering("FusedBatchNorm", "FusedBatchNormV2")
def fused_batch_norm(
    x: jax.Array,
    scale: jax.Array,
    offset: jax.Array,
    mean: jax.Array,
    variance: jax.Array,
    *,
    epsilon: float,
    exponential_avg_factor: float,
    data_format: bytes,
    is_training: bool,
) -> tuple[Any, ...]:
    channel, wide = _channel(x, data_format), _wide(x)
    if not is_training:
        y = _normalize_channels(wide, scale, offset, mean, variance, epsilon, channel)
        return y.astype(x.dtype), *map(lax.stop_gradient, (mean, variance, mean, variance))
    axes = tuple(axis for axis in range(x.ndim) if axis != channel)
    size = x.size // max(x.shape[channel], 1)
    batch_mean = jnp.mean(wide, axes)
    batch_variance = jnp.mean(jnp.square(wide - _vector_along_channel(batch_mean, x, channel)), axes)
    y = _normalize_channels(wide, scale, offset, batch_mean, batch_variance, epsilon, channel)
    new_mean, new_variance = batch_mean, batch_variance * np.float32(size / max(1, size - 1))
    if exponential_avg_factor != 1:
        part = np.float32(exponential_avg_factor)
        new_mean = np.float32(1 - exponential_avg_factor) * mean + part * new_mean
        new_variance = np.float32(1 - exponential_avg_factor) * variance + part * new_variance
    # TensorFlow's gradient is that of the first result alone.
    return y.astype(x.dtype), *map(lax.stop_gradient, (new_mean, new_variance, batch_mean, batch_variance))


def _normalize_channels(x: Any, scale: Any, offset: Any, mean: Any, variance: Any, epsilon: float, channel: int) -> Any:
    inverse = lax.rsqrt(_wide(variance) + np.float32(epsilon)) * _wide(scale)
    return (x - _vector_along_channel(_wide(mean), x, channel)) * _vector_along_channel(
        inverse, x, channel
    ) + _vector_along_channel(_wide(offset), x, channel)


@lowering("FusedBatchNormV3")
def fused_batch_norm_v3(
    x: jax.Array,
    scale: jax.Array,
    offset: jax.Array,
    mean: jax.Array,
    variance: jax.Array,
    *,
    epsilon: float,
    exponential_avg_factor: float,
    data_format: bytes,
    is_training: bool,
) -> tuple[Any, ...]:
    found = fused_batch_norm(
        x, scale, offset, mean, variance, epsilon=epsilon, exponential_avg_factor=exponential_avg_factor,
        data_format=data_format, is_training=is_training,
    )  # fmt: skip
    return *found, jnp.zeros((), scale.dtype)


@lowering("FusedBatchNormGrad", "FusedBatchNormGradV2")
def fused_batch_norm_grad(
    y_backprop: jax.Array,
    x: jax.Array,
    scale: jax.Array,
    reserve_space_1: jax.Array,
    reserve_space_2: jax.Array,
    *,
    epsilon: float,
    data_format: bytes,
    is_training: bool,
) -> tuple[Any, ...]:
    channel, dy = _channel(x, data_format), _wide(y_backprop)
    axes = tuple(axis for axis in range(x.ndim) if axis != channel)
    centered = _wide(x) - _vector_along_channel(_wide(reserve_space_1), x, channel)
    inverse = lax.rsqrt(_wide(reserve_space_2) + np.float32(epsilon))
    products, offsets = jnp.sum(dy * centered, axes), jnp.sum(dy, axes)
    if is_training:
        size = max(x.size // max(x.shape[channel], 1), 1)
        dy = (
            dy
            - _vector_along_channel(offsets / size, x, channel)
            - centered * _vector_along_channel(inverse**2 * products / size, x, channel)
        )
    dx = dy * _vector_along_channel(_wide(scale) * inverse, x, channel)
    empty = jnp.zeros(0, scale.dtype)
    return dx.astype(x.dtype), products * inverse, offsets, empty, empty


@lowering("FusedBatchNormGradV3")
def fused_batch_norm_grad_v3(
    y_backprop: jax.Array,
    x: jax.Array,
    scale: jax.Array,
    reserve_space_1: jax.Array,
    reserve_space_2: jax.Array,
    reserve_space_3: jax.Array,
    *,
    epsilon: float,
    data_format: bytes,
    is_training: bool,
) -> tuple[Any, ...]:
    return fused_batch_norm_grad(
        y_backprop, x, scale, reserve_space_1, reserve_space_2, epsilon=epsilon, data_format=data_format,
        is_training=is_training,
    )  # fmt: skip


@lowering("BatchNormWithGlobalNormalization")
def global_normalisation(
    t: jax.Array,
    m: jax.Array,
    v: jax.Array,
    beta: jax.Array,
    gamma: jax.Array,
    *,
    variance_epsilon: float,
    scale_after_normalization: bool,
) -> jax.Array:
    inverse = lax.rsqrt(v + np.float32(variance_epsilon))
    return (t - m) * (inverse * gamma if scale_after_normalization else inverse) + beta


@lowering("LRN")
def local_response(input: jax.Array, *, depth_radius: int, bias: float, alpha: float, beta: float) -> jax.Array:
    wide = _wide(input)
    sums = _window_sums(jnp.square(wide), depth_radius)
    return (wide * jnp.power(bias + alpha * sums, -beta)).astype(input.dtype)


@lowering("LRNGrad")
def local_response_grad(
    input_grads: jax.Array,
    input_image: jax.Array,
    output_image: jax.Array,
    *,
    depth_radius: int,
    bias: float,
    alpha: float,
    beta: float,
) -> jax.Array:
    grads, image, output = _wide(input_grads), _wide(input_image), _wide(output_image)
    norms = bias + alpha * _window_sums(jnp.square(image), depth_radius)
    shared = _window_sums(grads * output / norms, depth_radius)
    found = grads * jnp.power(norms, -beta) - 2 * alpha * beta * image * shared
    return found.astype(input_grads.dtype)


def _window_sums(x: Any, radius: int) -> Any:
    """Sums over the channels that are near each."""
    padding = [(0, 0)] * 3 + [(radius, radius)]
    return lax.reduce_window(x, np.zeros((), x.dtype), lax.add, (1, 1, 1, 2 * radius + 1), (1, 1, 1, 1), padding)
