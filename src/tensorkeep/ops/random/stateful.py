"""Random numbers of ops with a state: every run continues the stream that the attributes `seed` and `seed2` begin."""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Any

import numpy as np

from tensorkeep.dtypes import DType
from tensorkeep.errors import InvalidArgumentError
from tensorkeep.graph.building import control_dependencies
from tensorkeep.graph.constants import constant_value
from tensorkeep.graph.graph import Operation, Tensor
from tensorkeep.graph.registry.opspec import OpSpec, not_differentiable, op
from tensorkeep.io.machine.parallel import asked_threads
from tensorkeep.ops.random import distributions as distributions
from tensorkeep.ops.random._gamma import gamma_sample_derivative
from tensorkeep.ops.random.sampling import (
    gamma_gradient,
    shape_of_samples,
    sizes_of,
    stated_shape,
    stream_of,
)
from tensorkeep.ops.shared.dimensions import at_most
from tensorkeep.ops.shared.expressions import first_size, shape_of
from tensorkeep.ops.shared.kernel_types import Array, Gradients
from tensorkeep.ops.shared.shape_rules import broadcast, check_scalars, same, with_rank
from tensorkeep.runtime.context import KernelContext
from tensorkeep.runtime.limits import check_allocation
from tensorkeep.shapes import Shape


def _of_shape(name: str, draw: Callable[..., Any]) -> OpSpec:
    """Defines an op whose only input is the shape of the numbers."""
    spec = op(
        f"{name}(shape: T) -> output: dtype",
        "seed: int = 0",
        "seed2: int = 0",
        "dtype: {half, bfloat16, float, double}",
        "T: {int32, int64}",
        "stateful",
    )
    spec.shape(stated_shape)

    @spec.stateful_kernel
    def random_kernel(ctx: KernelContext, shape: Array, *, seed: int, seed2: int, dtype: DType) -> Array:
        sizes = sizes_of(shape)
        result: Array = draw(stream_of(ctx, seed, seed2).reserve_outputs(prod(sizes)), sizes, dtype.array_dtype)
        return result

    not_differentiable(spec)
    return spec


random_uniform = _of_shape("RandomUniform", distributions.uniform)


@random_uniform.comparing
def compared_uniform(
    ctx: KernelContext, shape: Array, other: Array, *, seed: int, seed2: int, comparison: np.ufunc
) -> Array:
    sizes = sizes_of(shape)
    generator = stream_of(ctx, seed, seed2).reserve_outputs(prod(sizes))
    return distributions.compare_uniform(generator, sizes, other, comparison)


random_standard_normal = _of_shape("RandomStandardNormal", distributions.standard_normal)
truncated_normal = _of_shape("TruncatedNormal", distributions.truncated_normal)

random_uniform_int = op(
    "RandomUniformInt(shape: T, minval: Tout, maxval: Tout) -> output: Tout",
    "seed: int = 0",
    "seed2: int = 0",
    "Tout: {int32, int64}",
    "T: {int32, int64}",
    "stateful",
)


@random_uniform_int.shape
def random_uniform_int_shape(shape: Tensor, minval: Tensor, maxval: Tensor) -> Shape:
    check_scalars(minval, maxval)
    return stated_shape(shape)


@random_uniform_int.stateful_kernel
def random_uniform_int_kernel(
    ctx: KernelContext,
    shape: Array,
    minval: Array,
    maxval: Array,
    *,
    seed: int,
    seed2: int,
    Tout: DType,  # noqa: N803
) -> Array:
    for name, bound in (("minval", minval), ("maxval", maxval)):
        if np.ndim(bound):
            raise InvalidArgumentError(f"{name} must be 0-D, got shape {list(np.shape(bound))}")
    sizes = sizes_of(shape)
    if not prod(sizes):
        return np.empty(sizes, Tout.array_dtype)
    stream = stream_of(ctx, seed, seed2)
    if minval >= maxval:
        raise InvalidArgumentError(f"Need minval < maxval, got {minval} >= {maxval}")
    generator = stream.reserve_outputs(prod(sizes))
    return distributions.uniform_integers(generator, sizes, int(minval), int(maxval), Tout.array_dtype)


parameterized_truncated_normal = op(
    "ParameterizedTruncatedNormal(shape: T, means: dtype, stdevs: dtype, minvals: dtype, maxvals: dtype)"
    " -> output: dtype",
    "seed: int = 0",
    "seed2: int = 0",
    "dtype: {half, bfloat16, float, double}",
    "T: {int32, int64}",
    "stateful",
)


@parameterized_truncated_normal.shape
def parameterized_truncated_normal_shape(shape: Tensor, *parameters: Tensor) -> Shape:
    for parameter in parameters:
        at_most(parameter.static_shape, 1)
    return stated_shape(shape)


@parameterized_truncated_normal.stateful_kernel
def parameterized_truncated_normal_kernel(
    ctx: KernelContext,
    shape: Array,
    means: Array,
    stdevs: Array,
    minvals: Array,
    maxvals: Array,
    *,
    seed: int,
    seed2: int,
) -> Array:
    sizes = sizes_of(shape)
    parameters = [np.asarray(parameter) for parameter in (means, stdevs, minvals, maxvals)]
    if sizes and not prod(sizes):
        return np.empty(sizes, parameters[0].dtype)
    blocks = distributions.parameterized_truncated_normal_blocks(sizes, [parameter.shape for parameter in parameters])
    generator = stream_of(ctx, seed, seed2).reserve(blocks)
    return distributions.parameterized_truncated_normal(generator, sizes, parameters, threads=asked_threads())


random_shuffle = op("RandomShuffle(value: T) -> output: T", "seed: int = 0", "seed2: int = 0", "T: type", "stateful")
random_shuffle.shape(same)


@random_shuffle.stateful_kernel
def random_shuffle_kernel(ctx: KernelContext, value: Array, *, seed: int, seed2: int) -> Array:
    value = np.asarray(value)
    generator = stream_of(ctx, seed, seed2).reserve(distributions.shuffle_blocks(value.shape))
    return distributions.shuffle(generator, value)


multinomial = op(
    "Multinomial(logits: T, num_samples: int32) -> output: output_dtype",
    "seed: int = 0",
    "seed2: int = 0",
    "T: realnumbertype",
    "output_dtype: {int32, int64} = int64",
    "stateful",
)


@multinomial.shape
def multinomial_shape(logits: Tensor, num_samples: Tensor) -> Shape:
    rows = with_rank(logits, 2)[0]
    check_scalars(num_samples)
    count = constant_value(num_samples)
    if count is not None and count < 0:
        raise InvalidArgumentError(f"Dimension size, given by scalar input 1, must be non-negative but is {count}")
    return Shape((rows, None if count is None else int(count)))


@multinomial.stateful_kernel
def multinomial_kernel(
    ctx: KernelContext, logits: Array, num_samples: Array, *, seed: int, seed2: int, output_dtype: DType
) -> Array:
    logits, samples = checked_logits(logits, num_samples)
    generator = stream_of(ctx, seed, seed2).reserve(distributions.multinomial_blocks(len(logits), samples))
    return distributions.multinomial(generator, logits, samples, output_dtype.array_dtype, threads=asked_threads())


def checked_logits(logits: Array, num_samples: Array) -> tuple[Any, int]:
    """The inputs of a multinomial op: a matrix with at least one column, and how many samples of each row."""
    if logits.dtype.kind in "iu":
        raise InvalidArgumentError(f"logits must be numbers with a fraction: there is no kernel for {logits.dtype}")
    if np.ndim(logits) != 2:
        raise InvalidArgumentError(f"logits should be a matrix, got shape {list(np.shape(logits))}")
    if np.ndim(num_samples):
        raise InvalidArgumentError(f"num_samples should be a scalar, got shape {list(np.shape(num_samples))}")
    samples = int(num_samples)
    if samples < 0:
        raise InvalidArgumentError(f"num_samples should be nonnegative, got {samples}")
    check_allocation((len(logits), samples), np.float64)
    if not logits.shape[1]:
        raise InvalidArgumentError("num_classes should be positive, got 0")
    return logits, samples


random_gamma = op(
    "RandomGamma(shape: S, alpha: T) -> output: T",
    "seed: int = 0",
    "seed2: int = 0",
    "S: {int32, int64}",
    "T: {half, float, double}",
    "stateful",
)


@random_gamma.shape
def random_gamma_shape(shape: Tensor, alpha: Tensor) -> Shape:
    return shape_of_samples(stated_shape(shape), alpha)


@random_gamma.stateful_kernel
def random_gamma_kernel(ctx: KernelContext, shape: Array, alpha: Array, *, seed: int, seed2: int) -> Array:
    sizes, alpha = sizes_of(shape), np.asarray(alpha)
    check_allocation((*sizes, alpha.size), np.float64)
    generator = stream_of(ctx, seed, seed2).reserve_outputs(prod(sizes) * alpha.size)
    return distributions.gamma(generator, sizes, alpha)


@random_gamma.gradient
def random_gamma_gradient(op: Operation, dy: Tensor) -> Gradients:
    with control_dependencies([dy]):
        sample_dimensions = first_size(shape_of(op.inputs[0]))
        return None, gamma_gradient(op.inputs[1], op.outputs[0], dy, sample_dimensions)


random_gamma_grad = op("RandomGammaGrad(alpha: T, sample: T) -> output: T", "T: {float, double}")
random_gamma_grad.shape(broadcast)
random_gamma_grad.kernel(gamma_sample_derivative)


def _poisson_shape(shape: Tensor, rate: Tensor) -> Shape:
    return shape_of_samples(stated_shape(shape), rate)


def _poisson(ctx: KernelContext, shape: Array, rate: Array, seed: int, seed2: int, dtype: DType) -> Array:
    sizes, rate = sizes_of(shape), np.asarray(rate)
    check_allocation((*sizes, rate.size), np.float64)
    generator = stream_of(ctx, seed, seed2).reserve_outputs(prod(sizes) * rate.size)
    return distributions.poisson(generator, sizes, rate, dtype.array_dtype)


random_poisson = op(
    "RandomPoisson(shape: S, rate: dtype) -> output: dtype",
    "seed: int = 0",
    "seed2: int = 0",
    "S: {int32, int64}",
    "dtype: {half, float, double}",
    "stateful",
    "deprecated 25 'Replaced by RandomPoissonV2'",
)
random_poisson.shape(_poisson_shape)


@random_poisson.stateful_kernel
def random_poisson_kernel(
    ctx: KernelContext, shape: Array, rate: Array, *, seed: int, seed2: int, dtype: DType
) -> Array:
    return _poisson(ctx, shape, rate, seed, seed2, dtype)


random_poisson_v2 = op(
    "RandomPoissonV2(shape: S, rate: R) -> output: dtype",
    "seed: int = 0",
    "seed2: int = 0",
    "S: {int32, int64}",
    "R: {half, float, double, int32, int64} = double",
    "dtype: {half, float, double, int32, int64} = int64",
    "stateful",
)
random_poisson_v2.shape(_poisson_shape)


@random_poisson_v2.stateful_kernel
def random_poisson_v2_kernel(
    ctx: KernelContext, shape: Array, rate: Array, *, seed: int, seed2: int, dtype: DType
) -> Array:
    return _poisson(ctx, shape, rate, seed, seed2, dtype)


not_differentiable(
    parameterized_truncated_normal,
    random_shuffle,
    multinomial,
)
