"""What the random ops share: shapes given as tensors, generators from attributes and from inputs, gradients."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from random import SystemRandom
from typing import Any

import numpy as np

from tensorkeep.dtypes import INT32
from tensorkeep.errors import InvalidArgumentError
from tensorkeep.graph.arguments import emit
from tensorkeep.graph.constants import constant_shape, constant_value
from tensorkeep.graph.graph import Tensor
from tensorkeep.ops.random.philox import PhiloxGenerator, PhiloxStream
from tensorkeep.ops.shared.dimensions import at_most
from tensorkeep.ops.shared.expressions import (
    concat,
    constant,
    first_size,
    minus,
    negative,
    ones,
    ones_like,
    over,
    plus,
    rank_of,
    reduce_sum,
    reshape,
    shape_of,
    span,
    times,
    unbroadcast,
)
from tensorkeep.ops.shared.kernel_types import Array
from tensorkeep.ops.shared.shape_rules import with_rank
from tensorkeep.runtime.context import KernelContext
from tensorkeep.runtime.limits import check_allocation
from tensorkeep.shapes import UNKNOWN_SHAPE, Shape, checked_shape


def stated_shape(shape: Tensor) -> Shape:
    """The shape that an input states, as far as it is known."""
    at_most(shape.static_shape, 1)
    value = constant_value(shape)
    if value is not None and (value < -1).any():
        raise InvalidArgumentError(f"Expected shape dimensions to be non-negative, got {value.tolist()}")
    return constant_shape(shape)


def check_sizes(tensor: Tensor, size: int) -> None:
    """The tensor must be a vector of that many elements."""
    stated = with_rank(tensor, 1)[0]
    if stated not in (None, size):
        raise InvalidArgumentError(f"Dimension must be {size} but is {stated}")


def sizes_of(shape: Array) -> tuple[int, ...]:
    """The value of a shape input as sizes."""
    shape = np.asarray(shape)
    if shape.ndim != 1:
        raise InvalidArgumentError(f"shape must be a vector of {{int32,int64}}, got shape {list(shape.shape)}")
    sizes = checked_shape(shape.tolist())
    if prod(sizes) >= 1 << 48:
        raise InvalidArgumentError(f"a tensor of shape {list(sizes)} has too many elements")
    check_allocation(sizes, np.float64)
    return sizes


def stream_of(ctx: KernelContext, seed: int, seed2: int) -> PhiloxStream:
    """The stream of an op with state, which goes on from run to run. Without seeds, nobody knows where it begins."""

    def begin() -> PhiloxStream:
        if seed or seed2:
            return PhiloxStream(seed, seed2)
        system = SystemRandom()
        return PhiloxStream(system.getrandbits(63) + 1, system.getrandbits(63))

    return ctx.keep("stream", begin)


def seeded_generator(seed: Array) -> PhiloxGenerator:
    """The generator of a stateless op of the first version."""
    if np.asarray(seed).dtype not in (np.int32, np.int64):
        raise InvalidArgumentError(f"Invalid seed type: {np.asarray(seed).dtype}")
    return PhiloxGenerator.of_stateless_seed(seed)


def keyed_generator(key: Array, counter: Array, alg: Array) -> PhiloxGenerator:
    """The generator of a stateless op of the second version."""
    if np.ndim(alg):
        raise InvalidArgumentError(f"algorithm must be of shape [], not {list(np.shape(alg))}")
    return PhiloxGenerator.of_key_and_counter(key, counter, int(alg))


def gamma_gradient(alpha: Tensor, sample: Tensor, grad: Tensor, sample_dimensions: Tensor) -> Tensor:
    """The gradient of gamma samples by `alpha`, of which each element made the samples along the first dimensions."""
    leading = ones([sample_dimensions], INT32)
    wide = reshape(alpha, concat([leading, shape_of(alpha)]))
    partial = emit("RandomGammaGrad", wide, sample)
    product = times(grad, partial)
    return reduce_sum(product, span(0, sample_dimensions))


def truncated_normal_gradients(parameters: Sequence[Tensor], sample: Tensor, grad: Tensor, sizes: Tensor) -> list[Any]:
    """The gradients of truncated normal samples by mean, deviation, minimum and maximum, which broadcast.

    By implicit differentiation (Figurnov and others, 2018), with TensorFlow's precaution against the logarithm of zero.
    """
    mean, deviation, minimum, maximum = parameters
    low, high, at = (over(minus(x, mean), deviation) for x in (minimum, maximum, sample))
    below = _normal_distribution(low)
    chance = over(minus(_normal_distribution(at), below), minus(_normal_distribution(high), below))
    limits = np.finfo(mean.dtype.array_dtype)
    chance = emit("Minimum", chance, constant(float(1 - limits.eps), mean.dtype))
    chance = emit("Maximum", chance, constant(float(limits.tiny), mean.dtype))
    half = constant(0.5, mean.dtype)

    def of_bound(bound: Tensor, weight: Tensor) -> Tensor:
        exponent = times(half, minus(emit("Square", at), emit("Square", bound)))
        return emit("Exp", plus(exponent, weight))

    partials = [
        ones_like(at),
        at,
        of_bound(low, emit("Log1p", negative(chance))),
        of_bound(high, emit("Log", chance)),
    ]
    samples = span(0, minus(first_size(shape_of(sizes)), rank_of(plus(low, high))))
    totals = [reduce_sum(times(grad, partial), samples) for partial in partials]
    return [unbroadcast(x, total, total, total)[0] for x, total in zip(parameters, totals, strict=True)]


def _normal_distribution(x: Tensor) -> Tensor:
    """The chance that a standard normal number is below x, by whichever of erf and erfc is exact there."""
    root = constant(0.5 * 2.0**0.5, x.dtype)
    scaled = times(x, root)
    distance = emit("Abs", scaled)
    tail = emit("Erfc", distance)
    outer = emit("SelectV2", emit("Greater", scaled, constant(0, x.dtype)), minus(constant(2, x.dtype), tail), tail)
    inner = plus(constant(1, x.dtype), emit("Erf", scaled))
    return times(constant(0.5, x.dtype), emit("SelectV2", emit("Less", distance, root), inner, outer))


def shape_of_samples(shape: Shape, parameter: Tensor) -> Shape:
    """The shape of samples of each of several parameters."""
    known = parameter.static_shape
    return UNKNOWN_SHAPE if shape.dims is None or known.dims is None else shape.concatenate(known)
