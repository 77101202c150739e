"""Random numbers: those of a seed that is an input, and those of a key that the function is given."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp
import numpy as np

from tensorkeep.dtypes import DType
from tensorkeep.jax import philox
from tensorkeep.jax.philox import Generator
from tensorkeep.jax.registry import lowering, traced_lowering
from tensorkeep.jax.values import (
    CannotTraceError,
    NotKnownError,
    Value,
    device_type,
    is_known,
    is_wide,
    on_device,
    sizes,
)
from tensorkeep.ops.random.philox import PHILOX, PhiloxGenerator, key_and_counter

if TYPE_CHECKING:
    from tensorkeep.jax.tracing import Tracing

Draw = Callable[[Generator, Any, Any], Any]


def _shape(shape: Value) -> tuple[int, ...]:
    if not is_known(shape):
        raise NotKnownError('its input "shape" decides the shape of its result, and is computed by the function')
    return sizes(shape)


# ------------------------------------------------------------------------------------------------------ with a state


def _drawing(op: str, draw: Draw) -> None:
    @traced_lowering(op, known=("shape",))
    def stateful(tracing: Tracing, shape: Value, *, dtype: DType) -> Any:
        wanted = _shape(shape)
        return draw(tracing.generator(int(np.prod(wanted, dtype=np.int64))), wanted, device_type(dtype))


_drawing("RandomUniform", philox.uniform)
_drawing("RandomStandardNormal", philox.standard_normal)
_drawing("TruncatedNormal", philox.truncated_normal)


@traced_lowering("RandomUniformInt", known=("shape",))
def random_integers(tracing: Tracing, shape: Value, minval: Value, maxval: Value, *, Tout: DType) -> Value:  # noqa: N803
    wanted = _shape(shape)
    generator = tracing.generator(int(np.prod(wanted, dtype=np.int64)))
    return philox.uniform_integers(generator, wanted, on_device(minval), on_device(maxval), device_type(Tout))


@traced_lowering("RandomShuffle")
def random_shuffle(tracing: Tracing, value: Value) -> Value:
    return jax.random.permutation(tracing.next_key(), on_device(value))


@traced_lowering("Multinomial", known=("num_samples",))
def multinomial(tracing: Tracing, logits: Value, num_samples: Value) -> Value:
    if not is_known(num_samples):
        raise NotKnownError("how many numbers it draws is computed by the function")
    scores = on_device(logits)
    shape = (scores.shape[0], int(num_samples))
    return jax.random.categorical(tracing.next_key(), scores[:, None, :], shape=shape)


# --------------------------------------------------------------------------------------------------- without a state


def _seeded(seed: Value) -> Generator:
    """The generator of a seed of two numbers."""
    if is_known(seed):
        return Generator.known(PhiloxGenerator.of_stateless_seed(seed))
    words = _words(on_device(seed))
    scrambling = Generator.known(PhiloxGenerator(0x02461E29_3EC8F720, 0))
    mixed = Generator(scrambling.key, words).words(1)[0]
    zeros = jnp.zeros(2, jnp.uint32)
    return Generator(mixed[:2], jnp.concatenate([zeros, mixed[2:]]))


def _words(numbers: Any) -> Any:
    """The words of whole numbers of 64 bits, which JAX may hold in 32."""
    if numbers.dtype.itemsize == 8:
        return jax.lax.bitcast_convert_type(numbers, jnp.uint32).reshape(-1)
    low = jax.lax.bitcast_convert_type(numbers, jnp.uint32)
    high = jnp.where(numbers < 0, np.uint32(0xFFFFFFFF), np.uint32(0)) if numbers.dtype == jnp.int32 else low * 0
    return jnp.stack([low, high], -1).reshape(-1)


def _keyed_generator(key: Value, counter: Value, alg: Value) -> Generator:
    """The generator of a key and a counter."""
    if is_known(key) and is_known(counter):
        algorithm = int(alg) if is_known(alg) else PHILOX
        return Generator.known(PhiloxGenerator.of_key_and_counter(key, counter, algorithm))
    keys, counters = on_device(key), on_device(counter)
    if keys.dtype.itemsize < 8:
        raise CannotTraceError(
            "a key of 64 bits is computed by the function, and JAX is set to 32 bits: "
            'jax.config.update("jax_enable_x64", True)'
        )
    return Generator(_words(keys), _words(counters[:2]))


def _stateless(op: str, draw: Draw) -> None:
    @lowering(op, known=("shape",), raw=True)
    def seeded(shape: Value, seed: Value, *, dtype: DType) -> Any:
        return draw(_seeded(seed), _shape(shape), device_type(dtype))

    @lowering(f"{op}V2", known=("shape",), raw=True)
    def keyed(shape: Value, key: Value, counter: Value, alg: Value, *, dtype: DType) -> Any:
        return draw(_keyed_generator(key, counter, alg), _shape(shape), device_type(dtype))


_stateless("StatelessRandomUniform", philox.uniform)
_stateless("StatelessRandomNormal", philox.standard_normal)
_stateless("StatelessTruncatedNormal", philox.truncated_normal)
_stateless("StatelessRandomUniformFullInt", philox.full_integers)


@lowering("StatelessRandomUniformInt", known=("shape",), raw=True)
def stateless_integers(shape: Value, seed: Value, minval: Value, maxval: Value, *, dtype: DType) -> Value:
    bounds = on_device(minval), on_device(maxval)
    return philox.uniform_integers(_seeded(seed), _shape(shape), *bounds, device_type(dtype))


@lowering("StatelessRandomUniformIntV2", known=("shape",), raw=True)
def stateless_integers_keyed(
    shape: Value, key: Value, counter: Value, alg: Value, minval: Value, maxval: Value, *, dtype: DType
) -> Value:
    bounds = on_device(minval), on_device(maxval)
    return philox.uniform_integers(_keyed_generator(key, counter, alg), _shape(shape), *bounds, device_type(dtype))


@lowering("StatelessRandomGetKeyCounter", raw=True)
def get_key_counter(seed: Value) -> tuple[Any, Any]:
    if is_known(seed):
        return key_and_counter(seed)
    if not is_wide():
        raise CannotTraceError(
            "a key of 64 bits is computed by the function, and JAX is set to 32 bits: "
            'jax.config.update("jax_enable_x64", True)'
        )
    generator = _seeded(seed)
    pairs = jnp.concatenate([generator.key, generator.counter]).reshape(3, 2)
    numbers = jax.lax.bitcast_convert_type(pairs, jnp.uint64)
    return numbers[:1], numbers[1:]


@lowering("StatelessRandomGetKeyCounterAlg", raw=True)
def get_key_counter_alg(seed: Value) -> tuple[Any, Any, Any]:
    return *get_key_counter(seed), np.int32(PHILOX)


@lowering("StatelessRandomGetAlg", raw=True)
def get_alg() -> Value:
    return np.int32(PHILOX)
