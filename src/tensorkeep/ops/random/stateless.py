"""Random numbers of ops without state: the seed, or key and counter, that is an input decides all of them."""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from typing import Any

import numpy as np

from tensorkeep.dtypes import DType
from tensorkeep.errors import InvalidArgumentError
from tensorkeep.graph.building import control_dependencies
from tensorkeep.graph.graph import Operation, Tensor
from tensorkeep.graph.registry.opspec import OpSpec, not_differentiable, op
from tensorkeep.io.machine.parallel import asked_threads
from tensorkeep.ops.random import distributions as distributions
from tensorkeep.ops.random.philox import PHILOX, PhiloxGenerator, key_and_counter
from tensorkeep.ops.random.sampling import (
    check_sizes,
    gamma_gradient,
    keyed_generator,
    seeded_generator,
    sizes_of,
    stated_shape,
    truncated_normal_gradients,
)
from tensorkeep.ops.random.stateful import checked_logits, multinomial_shape
from tensorkeep.ops.shared.expressions import first_size, minus, rank_of, shape_of
from tensorkeep.ops.shared.kernel_types import Array, Gradients, Value
from tensorkeep.ops.shared.shape_rules import broadcast_shapes, check_scalars, with_rank
from tensorkeep.shapes import Shape

# ---------------------------------------------------------------------------------------------------- Seeds


def _check_seed(seed: Tensor) -> None:
    check_sizes(seed, 2)


get_key_counter = op(
    "StatelessRandomGetKeyCounter(seed: Tseed) -> key: uint64, counter: uint64", "Tseed: {int32, int64} = int64"
)


@get_key_counter.shape
def get_key_counter_shape(seed: Tensor) -> tuple[Shape, Shape]:
    _check_seed(seed)
    return Shape((1,)), Shape((2,))


@get_key_counter.kernel
def get_key_counter_kernel(seed: Array) -> tuple[Array, Array]:
    return key_and_counter(seed)


get_key_counter_alg = op(
    "StatelessRandomGetKeyCounterAlg(seed: Tseed) -> key: uint64, counter: uint64, alg: int32",
    "Tseed: {int32, int64} = int64",
)


@get_key_counter_alg.shape
def get_key_counter_alg_shape(seed: Tensor) -> tuple[Shape, Shape, Shape]:
    _check_seed(seed)
    return Shape((1,)), Shape((2,)), Shape(())


@get_key_counter_alg.kernel
def get_key_counter_alg_kernel(seed: Array) -> tuple[Value, Value, Value]:
    return *key_and_counter(seed), np.int32(PHILOX)


get_alg = op("StatelessRandomGetAlg() -> alg: int32", "stateful")


@get_alg.shape
def get_alg_shape() -> Shape:
    return Shape(())


@get_alg.kernel
def get_alg_kernel() -> np.int32:
    return np.int32(PHILOX)


# ---------------------------------------------------------------------------------------------- Of a shape only


def _seeded_shape(shape: Tensor, seed: Tensor, *_: Tensor) -> Shape:
    _check_seed(seed)
    return stated_shape(shape)


def _keyed_shape(shape: Tensor, key: Tensor, counter: Tensor, alg: Tensor, *_: Tensor) -> Shape:
    check_keys(key, counter, alg)
    return stated_shape(shape)


def check_keys(key: Tensor, counter: Tensor, alg: Tensor) -> None:
    """The inputs of the second version: a key of one number, a counter of one or two, the number of an algorithm."""
    check_sizes(key, 1)
    with_rank(counter, 1)
    check_scalars(alg)


def _seeded(name: str, draw: Callable[..., Any], types: str, seeds: str = "{int32, int64}") -> OpSpec:
    """An op of the first version whose inputs are the shape of the numbers and a seed."""
    spec = op(
        f"{name}(shape: T, seed: Tseed) -> output: dtype",
        f"dtype: {types}",
        "T: {int32, int64} = int32",
        f"Tseed: {seeds} = int64",
    )
    spec.shape(_seeded_shape)

    @spec.kernel
    def stateless_random_kernel(shape: Array, seed: Array, *, dtype: DType) -> Array:
        result: Array = draw(seeded_generator(seed), sizes_of(shape), dtype.array_dtype)
        return result

    not_differentiable(spec)
    return spec


def _keyed_op(name: str, draw: Callable[..., Any], types: str) -> OpSpec:
    """An op of the second version whose inputs are the shape of the numbers, a key and a counter."""
    spec = op(
        f"{name}(shape: Tshape, key: uint64, counter: uint64, alg: int32) -> output: dtype",
        f"dtype: {types}",
        "Tshape: {int32, int64} = int32",
    )
    spec.shape(_keyed_shape)

    @spec.kernel
    def stateless_random_v2_kernel(shape: Array, key: Array, counter: Array, alg: Array, *, dtype: DType) -> Array:
        result: Array = draw(keyed_generator(key, counter, alg), sizes_of(shape), dtype.array_dtype)
        return result

    not_differentiable(spec)
    return spec


_FLOATS = "{half, bfloat16, float, double} = float"
_INTEGERS = "{int32, int64, uint32, uint64} = uint64"

stateless_uniform = _seeded("StatelessRandomUniform", distributions.uniform, _FLOATS)
stateless_normal = _seeded("StatelessRandomNormal", distributions.standard_normal, _FLOATS)
stateless_truncated_normal = _seeded("StatelessTruncatedNormal", distributions.truncated_normal, _FLOATS)
stateless_full_int = _seeded(
    "StatelessRandomUniformFullInt",
    distributions.uniform_full_integers,
    _INTEGERS,
    "{int32, int64, uint32, uint64}",
)
stateless_uniform_v2 = _keyed_op("StatelessRandomUniformV2", distributions.uniform, _FLOATS)
stateless_normal_v2 = _keyed_op("StatelessRandomNormalV2", distributions.standard_normal, _FLOATS)
stateless_truncated_normal_v2 = _keyed_op("StatelessTruncatedNormalV2", distributions.truncated_normal, _FLOATS)
stateless_full_int_v2 = _keyed_op("StatelessRandomUniformFullIntV2", distributions.uniform_full_integers, _INTEGERS)

# ------------------------------------------------------------------------------------------------ With parameters

stateless_uniform_int = op(
    "StatelessRandomUniformInt(shape: T, seed: Tseed, minval: dtype, maxval: dtype) -> output: dtype",
    "dtype: {int32, int64}",
    "T: {int32, int64}",
    "Tseed: {int32, int64} = int64",
)


@stateless_uniform_int.shape
def stateless_uniform_int_shape(shape: Tensor, seed: Tensor, minval: Tensor, maxval: Tensor) -> Shape:
    check_scalars(minval, maxval)
    return _seeded_shape(shape, seed)


@stateless_uniform_int.kernel
def stateless_uniform_int_kernel(shape: Array, seed: Array, minval: Array, maxval: Array, *, dtype: DType) -> Array:
    return _integers(seeded_generator(seed), shape, minval, maxval, dtype)


stateless_uniform_int_v2 = op(
    "StatelessRandomUniformIntV2(shape: Tshape, key: uint64, counter: uint64, alg: int32, minval: dtype, maxval: dtype)"
    " -> output: dtype",
    "dtype: {int32, int64, uint32, uint64}",
    "Tshape: {int32, int64} = int32",
)


@stateless_uniform_int_v2.shape
def stateless_uniform_int_v2_shape(
    shape: Tensor, key: Tensor, counter: Tensor, alg: Tensor, minval: Tensor, maxval: Tensor
) -> Shape:
    check_scalars(minval, maxval)
    return _keyed_shape(shape, key, counter, alg)


@stateless_uniform_int_v2.kernel
def stateless_uniform_int_v2_kernel(
    shape: Array, key: Array, counter: Array, alg: Array, minval: Array, maxval: Array, *, dtype: DType
) -> Array:
    return _integers(keyed_generator(key, counter, alg), shape, minval, maxval, dtype)


def _integers(generator: PhiloxGenerator, shape: Array, minval: Array, maxval: Array, dtype: DType) -> Array:
    for name, bound in (("minval", minval), ("maxval", maxval)):
        if np.ndim(bound):
            raise InvalidArgumentError(f"{name} must be 0-D, got shape {list(np.shape(bound))}")
    if minval >= maxval:
        raise InvalidArgumentError(f"Need minval < maxval, got {minval} >= {maxval}")
    return distributions.uniform_integers(generator, sizes_of(shape), int(minval), int(maxval), dtype.array_dtype)


stateless_multinomial = op(
    "StatelessMultinomial(logits: T, num_samples: int32, seed: Tseed) -> output: output_dtype",
    "T: realnumbertype",
    "Tseed: {int32, int64} = int64",
    "output_dtype: {int32, int64} = int64",
)


@stateless_multinomial.shape
def stateless_multinomial_shape(logits: Tensor, num_samples: Tensor, seed: Tensor) -> Shape:
    _check_seed(seed)
    return multinomial_shape(logits, num_samples)


@stateless_multinomial.kernel
def stateless_multinomial_kernel(logits: Array, num_samples: Array, seed: Array, *, output_dtype: DType) -> Array:
    logits, samples = checked_logits(logits, num_samples)
    generator = seeded_generator(seed)
    return distributions.multinomial(generator, logits, samples, output_dtype.array_dtype, threads=asked_threads())


stateless_binomial = op(
    "StatelessRandomBinomial(shape: S, seed: Tseed, counts: T, probs: T) -> output: dtype",
    "S: {int32, int64}",
    "Tseed: {int32, int64} = int64",
    "T: {half, float, double, int32, int64} = double",
    "dtype: {half, float, double, int32, int64} = int64",
)
stateless_binomial.shape(_seeded_shape)


@stateless_binomial.kernel
def stateless_binomial_kernel(shape: Array, seed: Array, counts: Array, probs: Array, *, dtype: DType) -> Array:
    counts, probs = np.asarray(counts), np.asarray(probs)
    parameters = distributions.broadcast_parameters(counts=counts, probs=probs)
    samples = distributions.sample_shape(sizes_of(shape), parameters)
    generator = seeded_generator(seed)
    return distributions.binomial(generator, samples, counts, probs, dtype.array_dtype)


stateless_parameterized_truncated_normal = op(
    "StatelessParameterizedTruncatedNormal(shape: S, seed: Tseed, means: dtype, stddevs: dtype, minvals: dtype, "
    "maxvals: dtype) -> output: dtype",
    "S: {int32, int64}",
    "Tseed: {int32, int64} = int64",
    "dtype: {half, float, double}",
)


@stateless_parameterized_truncated_normal.shape
def stateless_parameterized_truncated_normal_shape(shape: Tensor, seed: Tensor, *parameters: Tensor) -> Shape:
    reduce(broadcast_shapes, [parameter.static_shape for parameter in parameters])
    return _seeded_shape(shape, seed)


@stateless_parameterized_truncated_normal.kernel
def stateless_parameterized_truncated_normal_kernel(
    shape: Array, seed: Array, means: Array, stddevs: Array, minvals: Array, maxvals: Array
) -> Array:
    parameters = [np.asarray(parameter) for parameter in (means, stddevs, minvals, maxvals)]
    names = ("means", "stddevs", "minvals", "maxvals")
    together = distributions.broadcast_parameters(**dict(zip(names, parameters, strict=True)))
    samples = distributions.sample_shape(sizes_of(shape), together)
    return distributions.stateless_parameterized_truncated_normal(
        seeded_generator(seed), samples, parameters, threads=asked_threads()
    )


@stateless_parameterized_truncated_normal.gradient
def stateless_parameterized_truncated_normal_gradient(op: Operation, dy: Tensor) -> Gradients:
    with control_dependencies([dy]):
        return None, None, *truncated_normal_gradients(op.inputs[2:], op.outputs[0], dy, op.inputs[0])


stateless_poisson = op(
    "StatelessRandomPoisson(shape: T, seed: Tseed, lam: Rtype) -> output: dtype",
    "Rtype: {half, float, double, int32, int64}",
    "dtype: {half, float, double, int32, int64}",
    "T: {int32, int64}",
    "Tseed: {int32, int64} = int64",
)
stateless_poisson.shape(_seeded_shape)


@stateless_poisson.kernel
def stateless_poisson_kernel(shape: Array, seed: Array, lam: Array, *, dtype: DType) -> Array:
    lam = np.asarray(lam)
    samples = distributions.sample_shape(sizes_of(shape), lam.shape)
    return distributions.poisson(seeded_generator(seed), samples, lam, dtype.array_dtype)


stateless_gamma_v2 = op(
    "StatelessRandomGammaV2(shape: T, seed: Tseed, alpha: dtype) -> output: dtype",
    "dtype: {half, float, double}",
    "T: {int32, int64}",
    "Tseed: {int32, int64} = int64",
)
stateless_gamma_v2.shape(_seeded_shape)


@stateless_gamma_v2.kernel
def stateless_gamma_v2_kernel(shape: Array, seed: Array, alpha: Array) -> Array:
    alpha = np.asarray(alpha)
    samples = distributions.sample_shape(sizes_of(shape), alpha.shape)
    return distributions.gamma(seeded_generator(seed), samples, alpha)


@stateless_gamma_v2.gradient
def stateless_gamma_v2_gradient(op: Operation, dy: Tensor) -> Gradients:
    return None, None, _gamma_gradient(op, op.inputs[2], dy)


stateless_gamma_v3 = op(
    "StatelessRandomGammaV3(shape: shape_dtype, key: uint64, counter: uint64, alg: int32, alpha: dtype)"
    " -> output: dtype",
    "dtype: {half, float, double}",
    "shape_dtype: {int32, int64} = int32",
)
stateless_gamma_v3.shape(_keyed_shape)


@stateless_gamma_v3.kernel
def stateless_gamma_v3_kernel(shape: Array, key: Array, counter: Array, alg: Array, alpha: Array) -> Array:
    alpha = np.asarray(alpha)
    samples = distributions.sample_shape(sizes_of(shape), alpha.shape)
    return distributions.gamma(keyed_generator(key, counter, alg), samples, alpha)


@stateless_gamma_v3.gradient
def stateless_gamma_v3_gradient(op: Operation, dy: Tensor) -> Gradients:
    return None, None, None, None, _gamma_gradient(op, op.inputs[4], dy)


def _gamma_gradient(op: Operation, alpha: Tensor, dy: Any) -> Any:
    with control_dependencies([dy]):
        sample_dimensions = minus(first_size(shape_of(op.inputs[0])), rank_of(alpha))
        return gamma_gradient(alpha, op.outputs[0], dy, sample_dimensions)


stateless_shuffle = op("StatelessShuffle(value: T, key: uint64, counter: uint64, alg: int32) -> output: T", "T: type")


@stateless_shuffle.shape
def stateless_shuffle_shape(value: Tensor, key: Tensor, counter: Tensor, alg: Tensor) -> Shape:
    check_keys(key, counter, alg)
    return value.static_shape


@stateless_shuffle.kernel
def stateless_shuffle_kernel(value: Array, key: Array, counter: Array, alg: Array) -> Array:
    return distributions.shuffle(keyed_generator(key, counter, alg), np.asarray(value))


not_differentiable(
    stateless_uniform_int,
    stateless_uniform_int_v2,
    stateless_multinomial,
    stateless_binomial,
    stateless_poisson,
)
