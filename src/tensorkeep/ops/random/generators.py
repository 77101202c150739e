"""Random numbers whose state is a variable: the counter and the key of a generator, which every op moves on.

    state = counter[2] key[1] …        of int64; what follows is left alone

These are the ops behind `tf.random.Generator`. On a CPU, TensorFlow's and ours alike, the algorithm is Philox.
"""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from secrets import token_bytes
from typing import Any, Final

import numpy as np

from tensorkeep.dtypes import INT64, DType
from tensorkeep.errors import InvalidArgumentError, UnimplementedError
from tensorkeep.graph.graph import Tensor
from tensorkeep.graph.registry.opspec import OpSpec, op
from tensorkeep.ops.random import distributions as distributions
from tensorkeep.ops.random.philox import AUTO_SELECT, BLOCKS_PER_OUTPUT, PHILOX, THREEFRY, PhiloxGenerator
from tensorkeep.ops.random.sampling import sizes_of, stated_shape
from tensorkeep.ops.shared.kernel_types import Array, Handle
from tensorkeep.ops.shared.shape_rules import check_scalars
from tensorkeep.ops.state.variables import initialized_variable_of
from tensorkeep.runtime.limits import check_allocation
from tensorkeep.runtime.resources import VariableResource
from tensorkeep.shapes import Shape

_STATE: Final = 3  # words of a state: two of the counter, one of the key


def _check_algorithm(algorithm: Any, can_choose: bool = True) -> None:
    if np.ndim(algorithm):
        raise InvalidArgumentError(f"input 1 (0-based) must have shape [], not {list(np.shape(algorithm))}")
    if algorithm == THREEFRY and can_choose:
        raise UnimplementedError("Non-XLA devices don't support the ThreeFry algorithm.")
    if algorithm not in ((PHILOX, AUTO_SELECT) if can_choose else (PHILOX,)):
        raise InvalidArgumentError(f"Unsupported algorithm id: {algorithm}")


def _state_of(variable: VariableResource) -> Any:
    state = variable.read()
    if variable.dtype is not INT64:
        raise InvalidArgumentError(f"dtype of RNG state variable must be int64, not {variable.dtype.label}")
    if state.ndim != 1:
        raise InvalidArgumentError(f"RNG state must have one and only one dimension, not {state.ndim}")
    if state.size < _STATE:
        raise InvalidArgumentError(
            f"For the Philox algorithm, the size of state must be at least {_STATE}; got {state.size}"
        )
    return state


def _move_generator(resource: Any, outputs: int) -> tuple[Any, PhiloxGenerator]:
    """The state of the variable and the generator that it stands for; the variable is moved on by so many outputs."""
    variable = initialized_variable_of(resource)
    with variable.lock:
        state = _state_of(variable)
        words = state[:_STATE].view(np.uint64)
        generator = PhiloxGenerator.of_key_and_counter(words[2:], words[:2], PHILOX)
        moved = generator.skip(outputs * BLOCKS_PER_OUTPUT)
        counter = np.array([moved.counter & (2**64 - 1), moved.counter >> 64], np.uint64)
        variable.assign(np.concatenate([counter.view(np.int64), state[2:]]))
    return state, generator


# ---------------------------------------------------------------------------------------------------- The state alone

rng_skip = op("RngSkip(resource: resource, algorithm: int64, delta: int64)", "stateful")
rng_read_and_skip = op("RngReadAndSkip(resource: resource, alg: int32, delta: uint64) -> value: int64", "stateful")


@rng_skip.shape
def rng_skip_shape(resource: Tensor, algorithm: Tensor, delta: Tensor) -> tuple[()]:
    check_scalars(resource, algorithm, delta)
    return ()


def _skip_outputs(resource: Any, algorithm: Any, delta: Any) -> Any:
    _check_algorithm(algorithm)
    if np.ndim(delta):
        raise InvalidArgumentError(f"input 2 (0-based) must have shape [], not {list(np.shape(delta))}")
    return _move_generator(resource, int(delta))[0]


@rng_skip.kernel
def rng_skip_kernel(resource: Handle, algorithm: Array, delta: Array) -> tuple[()]:
    _skip_outputs(resource, algorithm, delta)
    return ()


@rng_read_and_skip.shape
def rng_read_and_skip_shape(resource: Tensor, alg: Tensor, delta: Tensor) -> Shape:
    check_scalars(resource, alg, delta)
    return Shape((_STATE,))


@rng_read_and_skip.kernel
def rng_read_and_skip_kernel(resource: Handle, alg: Array, delta: Array) -> Array:
    result: Array = _skip_outputs(resource, alg, delta)[:_STATE].copy()
    return result


# ---------------------------------------------------------------------------------------------------- Of a shape only


def _stateful_shape(resource: Tensor, algorithm: Tensor, shape: Tensor, *_: Tensor) -> Shape:
    check_scalars(algorithm)
    return stated_shape(shape)


def _of_shape(name: str, draw: Callable[..., Any], dtype: str) -> OpSpec:
    """An op whose only parameter is the shape of the numbers."""
    spec = op(
        f"{name}(resource: resource, algorithm: int64, shape: shape_dtype) -> output: dtype",
        f"dtype: type = {dtype}",
        "shape_dtype: type = int64",
        "stateful",
    )
    spec.shape(_stateful_shape)

    @spec.kernel
    def stateful_random_kernel(resource: Any, algorithm: Array, shape: Array, *, dtype: DType) -> Array:
        _check_algorithm(algorithm)
        sizes = sizes_of(shape)
        result: Array = draw(_move_generator(resource, prod(sizes))[1], sizes, dtype.array_dtype)
        return result

    return spec


def _of_kinds(name: str, draw: Callable[..., Any], kinds: tuple[str, ...]) -> Callable[..., Any]:
    """What draws numbers of these types, and says so of others."""

    def drawn(generator: PhiloxGenerator, sizes: tuple[int, ...], dtype: Any) -> Any:
        if np.dtype(dtype).name not in kinds:
            raise InvalidArgumentError(
                f"{name} has no kernel for {np.dtype(dtype).name}; for {', '.join(kinds)} it has"
            )
        return draw(generator, sizes, dtype)

    return drawn


_FLOATS: Final = ("float16", "bfloat16", "float32", "float64")
_INTEGERS: Final = ("int32", "int64", "uint32", "uint64")

stateful_uniform = _of_shape("StatefulUniform", _of_kinds("StatefulUniform", distributions.uniform, _FLOATS), "float")
stateful_standard_normal_v2 = _of_shape(
    "StatefulStandardNormalV2", _of_kinds("StatefulStandardNormalV2", distributions.standard_normal, _FLOATS), "float"
)
stateful_truncated_normal = _of_shape(
    "StatefulTruncatedNormal", _of_kinds("StatefulTruncatedNormal", distributions.truncated_normal, _FLOATS), "float"
)
stateful_uniform_full_int = _of_shape(
    "StatefulUniformFullInt",
    _of_kinds("StatefulUniformFullInt", distributions.uniform_full_integers, _INTEGERS),
    "uint64",
)

# ------------------------------------------------------------------------------------------------ With parameters

stateful_uniform_int = op(
    "StatefulUniformInt(resource: resource, algorithm: int64, shape: shape_dtype, minval: dtype, maxval: dtype)"
    " -> output: dtype",
    "dtype: type = int64",
    "shape_dtype: type = int64",
    "stateful",
)


@stateful_uniform_int.shape
def stateful_uniform_int_shape(
    resource: Tensor, algorithm: Tensor, shape: Tensor, minval: Tensor, maxval: Tensor
) -> Shape:
    check_scalars(minval, maxval)
    return _stateful_shape(resource, algorithm, shape)


@stateful_uniform_int.kernel
def stateful_uniform_int_kernel(
    resource: Handle, algorithm: Array, shape: Array, minval: Array, maxval: Array, *, dtype: DType
) -> Array:
    for name, bound in (("minval", minval), ("maxval", maxval)):
        if np.ndim(bound):
            raise InvalidArgumentError(f"{name} must be 0-D, got shape {list(np.shape(bound))}")
    if minval >= maxval:
        raise InvalidArgumentError(f"Need minval < maxval, got {minval} >= {maxval}")
    _check_algorithm(algorithm)
    sizes = sizes_of(shape)

    def draw(generator: PhiloxGenerator, sizes: tuple[int, ...], dtype: Any) -> Any:
        return distributions.uniform_integers(generator, sizes, int(minval), int(maxval), dtype)

    kinds = _of_kinds("StatefulUniformInt", draw, _INTEGERS[:2])
    result: Array = kinds(_move_generator(resource, prod(sizes))[1], sizes, dtype.array_dtype)
    return result


stateful_random_binomial = op(
    "StatefulRandomBinomial(resource: resource, algorithm: int64, shape: S, counts: T, probs: T) -> output: dtype",
    "S: {int32, int64}",
    "T: {half, float, double, int32, int64} = double",
    "dtype: {half, float, double, int32, int64} = int64",
    "stateful",
)
stateful_random_binomial.shape(_stateful_shape)


@stateful_random_binomial.kernel
def stateful_random_binomial_kernel(
    resource: Handle, algorithm: Array, shape: Array, counts: Array, probs: Array, *, dtype: DType
) -> Array:
    counts, probs = np.asarray(counts), np.asarray(probs)
    parameters = distributions.broadcast_parameters(counts=counts, probs=probs)
    _check_algorithm(algorithm, can_choose=False)
    samples = distributions.sample_shape(sizes_of(shape), parameters)
    check_allocation((*samples, prod(parameters)), np.float64)
    outputs = prod(parameters) * 2 * 100 * (prod(samples) + 3) // 4  # as TensorFlow reserves them
    return distributions.binomial(_move_generator(resource, outputs)[1], samples, counts, probs, dtype.array_dtype)


non_deterministic_ints = op(
    "NonDeterministicInts(shape: shape_dtype) -> output: dtype",
    "dtype: type = int64",
    "shape_dtype: type = int64",
    "stateful",
)


@non_deterministic_ints.shape
def non_deterministic_ints_shape(shape: Tensor) -> Shape:
    return stated_shape(shape)


@non_deterministic_ints.kernel
def non_deterministic_ints_kernel(shape: Array, *, dtype: DType) -> Array:
    sizes, kind = sizes_of(shape), np.dtype(dtype.array_dtype)
    if kind.name not in _INTEGERS:
        raise InvalidArgumentError(
            f"NonDeterministicInts has no kernel for {kind.name}; for {', '.join(_INTEGERS)} it has"
        )
    return np.frombuffer(bytearray(token_bytes(prod(sizes) * kind.itemsize)), kind).reshape(sizes)
