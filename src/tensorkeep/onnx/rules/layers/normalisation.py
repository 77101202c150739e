"""Normalisation of batches and of neighbouring channels."""

from __future__ import annotations

import numpy as np

from tensorkeep.dtypes import BFLOAT16, FLOAT16, FLOAT32
from tensorkeep.onnx.graphs import OnnxGraph
from tensorkeep.onnx.rules.layers.windows import channel_axis, from_channels_first, to_channels_first
from tensorkeep.onnx.rules.registry import rule
from tensorkeep.onnx.terms import Term


@rule("FusedBatchNorm", "FusedBatchNormV2")
def fused_batch_norm(
    to: OnnxGraph, x: Term, scale: Term, offset: Term, mean: Term, variance: Term, *,
    epsilon: float, exponential_avg_factor: float, data_format: bytes, is_training: bool,
) -> tuple[Term, ...]:  # fmt: skip
    """The normalised images, moving mean and variance, and the mean and variance that a gradient needs."""
    if to.model.is_for_engine and 0 in (x.dims or ()):
        to.refuse("of no images ONNX has other statistics")
    kind = scale.dtype
    wide = to.cast(x, FLOAT32) if x.dtype in (FLOAT16, BFLOAT16) else x
    factor, shift, old_mean, old_variance = (to.cast(item, wide.dtype) for item in (scale, offset, mean, variance))
    if not is_training:
        y = to.cast(normalised_images(to, wide, factor, shift, old_mean, old_variance, epsilon, data_format), x.dtype)
        return y, mean, variance, mean, variance
    y, *statistics = _of_its_own_batch(
        to, wide, factor, shift, old_mean, old_variance, epsilon, exponential_avg_factor, data_format
    )
    return to.cast(y, x.dtype), *(to.cast(item, kind) for item in statistics)


@rule("FusedBatchNormV3")
def fused_batch_norm_v3(
    to: OnnxGraph, x: Term, scale: Term, offset: Term, mean: Term, variance: Term, *,
    epsilon: float, exponential_avg_factor: float, data_format: bytes, is_training: bool,
) -> tuple[Term, ...]:  # fmt: skip
    found = fused_batch_norm(
        to, x, scale, offset, mean, variance, epsilon=epsilon,
        exponential_avg_factor=exponential_avg_factor, data_format=data_format, is_training=is_training,
    )  # fmt: skip
    return *found, to.like(scale, 0)


@rule("BatchNormWithGlobalNormalization")
def batch_norm_with_global_normalization(
    to: OnnxGraph, t: Term, m: Term, v: Term, beta: Term, gamma: Term, *,
    variance_epsilon: float, scale_after_normalization: bool,
) -> Term:  # fmt: skip
    if t.dtype.is_integer:
        to.refuse("ONNX normalises no whole numbers")
    wide = [to.cast(item, FLOAT32) if item.dtype in (FLOAT16, BFLOAT16) else item for item in (t, m, v, beta, gamma)]
    x, mean, variance, offset, scale = wide
    if not scale_after_normalization:
        channels = m.size(0)
        if channels is None:
            to.refuse("it is not known how many channels its images have")
        scale = to.constant(np.ones(channels, x.dtype.array_dtype))
    return to.cast(normalised_images(to, x, scale, offset, mean, variance, variance_epsilon, b"NHWC"), t.dtype)


def normalised_images(
    to: OnnxGraph, x: Term, scale: Term, offset: Term, mean: Term, variance: Term, epsilon: float, data_format: bytes
) -> Term:
    """Images by a mean and variance that are given: a product and a sum where all of that is known."""
    if scale.array is None or offset.array is None or mean.array is None or variance.array is None:
        images = to_channels_first(to, x, data_format)
        found = to.node("BatchNormalization", images, scale, offset, mean, variance, epsilon=epsilon)
        return from_channels_first(to, found, data_format, to.known_rank(x))
    factor = scale.array.astype(np.float64) / np.sqrt(variance.array.astype(np.float64) + np.float32(epsilon))
    shift = offset.array - mean.array * factor
    rank = to.known_rank(x)
    own = [1] * rank
    own[channel_axis(rank, data_format)] = -1
    factors, shifts = (item.astype(x.dtype.array_dtype).reshape(own) for item in (factor, shift))
    return to.node("Add", to.node("Mul", x, factors, dims=x.dims), shifts, dims=x.dims)


def _of_its_own_batch(
    to: OnnxGraph, x: Term, scale: Term, offset: Term, mean: Term, variance: Term,
    epsilon: float, part: float, data_format: bytes,
) -> tuple[Term, ...]:  # fmt: skip
    rank = to.known_rank(x)
    channel = channel_axis(rank, data_format)
    axes = [axis for axis in range(rank) if axis != channel]
    own = [axis for axis in axes if axis > channel]  # axes that come after the channels

    def spread(vector: Term) -> Term:
        return to.unsqueeze(vector, [axis - channel for axis in own])

    batch_mean = to.reduce("ReduceMean", x, axes)
    centered = to.node("Sub", x, spread(batch_mean))
    batch_variance = to.reduce("ReduceMean", to.node("Mul", centered, centered), axes)
    deviation = to.node("Sqrt", to.node("Add", batch_variance, to.like(x, epsilon)))
    factor = to.node("Div", scale, deviation)
    y = to.node("Add", to.node("Mul", centered, spread(factor)), spread(offset), dims=x.dims)
    one, zero = to.like(x, 1), to.like(x, 0)
    sizes = [x.size(axis) for axis in axes]
    known = [size for size in sizes if size is not None]
    if len(known) == len(sizes):
        count = int(np.prod(known))
        correction = to.like(x, count / max(1, count - 1))
    else:
        chosen = to.node("Gather", to.shape(x), to.constant(axes), axis=0)
        counted = to.cast(to.reduce("ReduceProd", chosen, None), x.dtype)
        correction = to.node("Div", counted, to.node("Max", to.node("Sub", counted, one), one))
    new_mean, new_variance = batch_mean, to.node("Mul", batch_variance, correction)
    if part != 1:
        old, new = to.like(x, 1 - part), to.like(x, part)
        new_mean, new_variance = (
            to.node("Add", to.node("Mul", old, had), to.node("Mul", new, found))
            for had, found in ((mean, new_mean), (variance, new_variance))
        )
    else:
        new_mean = to.node("Add", new_mean, zero)
    return y, new_mean, new_variance, batch_mean, batch_variance


@rule("LRN")
def lrn(to: OnnxGraph, input: Term, *, depth_radius: int, bias: float, alpha: float, beta: float) -> Term:
    """Each element by the squares of its neighbours along the channels."""
    if alpha <= 0 or beta <= 0:
        to.refuse(f"ONNX Runtime wants alpha {alpha} and beta {beta} above zero")
    size = 2 * depth_radius + 1
    x = to.channels_first(to.cast(input, FLOAT32))
    found = to.node("LRN", x, size=size, alpha=alpha * size, beta=beta, bias=bias)
    return to.channels_last(to.cast(found, input.dtype), 4)


# ---------------------------------------------------------------------------------------------------- Gradients


@rule("FusedBatchNormGrad", "FusedBatchNormGradV2")
def fused_batch_norm_grad(
    to: OnnxGraph, y_backprop: Term, x: Term, scale: Term, reserve_space_1: Term, reserve_space_2: Term, *,
    epsilon: float, data_format: bytes, is_training: bool,
) -> tuple[Term, ...]:  # fmt: skip
    """The gradients of images, scale and offset, by the mean and variance that the images were normalised by."""
    if to.model.is_for_engine:
        to.refuse("it is not known whether its inputs go together")
    if is_training:
        to.refuse("it is the gradient of a step of training; make a graph that only computes (is_training=False)")
    kind, rank = scale.dtype, to.known_rank(x)
    wide = FLOAT32 if x.dtype in (FLOAT16, BFLOAT16) else x.dtype
    at = channel_axis(rank, data_format)
    others = [axis for axis in range(rank) if axis != at]
    slopes, images, factor, mean, variance = (
        to.cast(item, wide) for item in (y_backprop, x, scale, reserve_space_1, reserve_space_2)
    )
    inverse = to.node("Reciprocal", to.node("Sqrt", to.node("Add", variance, to.like(variance, epsilon))))
    spread = [axis - at for axis in range(at + 1, rank)]
    columns = [to.unsqueeze(item, spread) for item in (to.node("Mul", factor, inverse), mean)]
    dx = to.node("Mul", slopes, columns[0], dims=x.dims)
    away = to.node("Mul", slopes, to.node("Sub", images, columns[1], dims=x.dims), dims=x.dims)
    d_scale = to.node("Mul", to.reduce("ReduceSum", away, others), inverse)
    d_offset = to.reduce("ReduceSum", slopes, others)
    nothing = to.constant(np.zeros(0, kind.array_dtype), kind)
    return to.cast(dx, x.dtype), to.cast(d_scale, kind), to.cast(d_offset, kind), nothing, nothing


@rule("FusedBatchNormGradV3")
def fused_batch_norm_grad_v3(
    to: OnnxGraph, y_backprop: Term, x: Term, scale: Term, reserve_space_1: Term, reserve_space_2: Term,
    reserve_space_3: Term, *, epsilon: float, data_format: bytes, is_training: bool,
) -> tuple[Term, ...]:  # fmt: skip
    return fused_batch_norm_grad(
        to, y_backprop, x, scale, reserve_space_1, reserve_space_2, epsilon=epsilon, data_format=data_format,
        is_training=is_training,
    )  # fmt: skip
