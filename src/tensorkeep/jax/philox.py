"""Philox 4x32-10 on the device: the same words as `ops.random.philox`, from a key and a counter that may be computed.

    key     uint32[2]      counter     uint32[4]        both with the least significant word first

Whole numbers and uniform numbers are TensorFlow's bits. Normal numbers are, where JAX computes with 64 bits; without
these they are within a few units of the last place.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import jax
import jax.numpy as jnp
import numpy as np
import numpy.typing as npt
from jax import lax

from tensorkeep.jax.values import CannotTraceError, is_wide
from tensorkeep.ops.random import philox as on_host
from tensorkeep.ops.random.philox import BLOCKS_PER_OUTPUT, WORDS, PhiloxGenerator

_MULTIPLIERS: Final = (0xD2511F53, 0xCD9E8D57)
_KEY_STEPS: Final = (0x9E3779B9, 0xBB67AE85)
_ROUNDS: Final = 10
_TRUNCATION: Final = 2.0
_MASK: Final = 0xFFFFFFFF


@dataclass(frozen=True)
class Generator:
    """A place in a stream of random words."""

    key: Any
    counter: Any

    @classmethod
    def known(cls, generator: PhiloxGenerator) -> Generator:
        """One whose place is known."""
        counter = [generator.counter >> 32 * at & _MASK for at in range(4)]
        key = [generator.key & _MASK, generator.key >> 32]
        return cls(jnp.asarray(np.array(key, np.uint32)), jnp.asarray(np.array(counter, np.uint32)))

    def words_at(self, offsets: jax.Array) -> jax.Array:
        """The blocks so many blocks later, a row of four words each. Offsets are of 32 bits."""
        low = self.counter[0] + offsets
        carry = (low < offsets).astype(jnp.uint32)
        second = self.counter[1] + carry
        carry = (second < carry).astype(jnp.uint32)
        third = self.counter[2] + carry
        fourth = self.counter[3] + (third < carry).astype(jnp.uint32)
        words = [low, second, third, fourth]
        first_key, second_key = self.key[0], self.key[1]
        for _ in range(_ROUNDS):
            words = _round(words, first_key, second_key)
            first_key, second_key = first_key + np.uint32(_KEY_STEPS[0]), second_key + np.uint32(_KEY_STEPS[1])
        return jnp.stack(words, -1)

    def words(self, blocks: int) -> jax.Array:
        """So many blocks from here on."""
        return self.words_at(jnp.arange(blocks, dtype=jnp.uint32))


def _round(words: Sequence[Any], first_key: Any, second_key: Any) -> list[Any]:
    high0, low0 = _product(_MULTIPLIERS[0], words[0])
    high1, low1 = _product(_MULTIPLIERS[1], words[2])
    return [high1 ^ words[1] ^ first_key, low1, high0 ^ words[3] ^ second_key, low0]


def _product(multiplier: int, word: Any) -> tuple[Any, Any]:
    """The upper and the lower word of a product of two words, in arithmetic of 32 bits."""
    low_a, high_a = np.uint32(multiplier & 0xFFFF), np.uint32(multiplier >> 16)
    low_b, high_b = word & np.uint32(0xFFFF), word >> 16
    middle = high_a * low_b + ((low_a * low_b) >> 16)
    other = low_a * high_b + (middle & np.uint32(0xFFFF))
    return high_a * high_b + (middle >> 16) + (other >> 16), np.uint32(multiplier) * word


# ------------------------------------------------------------------------------------------------------ distributions


def _per_block(dtype: Any) -> int:
    return 2 if np.dtype(dtype).itemsize == 8 else WORDS


def _draw_numbers(generator: Generator, shape: Sequence[int], dtype: Any, convert: Any) -> Any:
    count = math.prod(shape)
    blocks = -(-count // _per_block(dtype))
    return convert(generator.words(blocks)).reshape(-1)[:count].reshape(tuple(shape))


def _units(dtype: Any) -> Any:
    """A function from random words to numbers of [0, 1) of a type."""
    if dtype == jnp.float16:
        return lambda words: ((words & np.uint32(0x3FF)).astype(jnp.float32) * np.float32(2**-10)).astype(dtype)
    if dtype == jnp.bfloat16:
        return lambda words: ((words & np.uint32(0x7F)).astype(jnp.float32) * np.float32(2**-7)).astype(dtype)
    return _unit_doubles if dtype == jnp.float64 else _unit_singles


def _unit_singles(words: Any) -> Any:
    bits = words & np.uint32(0x7FFFFF) | np.uint32(0x3F800000)
    return lax.bitcast_convert_type(bits, jnp.float32) - np.float32(1)


def _unit_doubles(words: Any) -> Any:
    high = (words[:, 0::2] & np.uint32(0xFFFFF) | np.uint32(0x3FF00000)).astype(jnp.uint64)
    return lax.bitcast_convert_type(high << 32 | words[:, 1::2].astype(jnp.uint64), jnp.float64) - 1.0


def uniform(generator: Generator, shape: Sequence[int], dtype: npt.DTypeLike) -> jax.Array:
    """Numbers of [0, 1)."""
    return _draw_numbers(generator, shape, dtype, _units(dtype))


def _long_integers(words: Any) -> Any:
    return words[:, 1::2].astype(jnp.uint64) << 32 | words[:, 0::2].astype(jnp.uint64)


def uniform_integers(
    generator: Generator, shape: Sequence[int], low: jax.Array, high: jax.Array, dtype: npt.DTypeLike
) -> jax.Array:
    """Integers of [low, high), uneven as TensorFlow's are."""
    _require_wide(dtype)
    is_long = np.dtype(dtype).itemsize == 8
    unsigned = jnp.uint64 if is_long else jnp.uint32
    low, high = jnp.asarray(low, dtype), jnp.asarray(high, dtype)
    size = lax.bitcast_convert_type(high - low, unsigned)
    start = lax.bitcast_convert_type(low, unsigned)
    bits = _draw_numbers(generator, shape, dtype, _long_integers if is_long else lambda words: words)
    return lax.bitcast_convert_type(bits % size + start, dtype)


def full_integers(generator: Generator, shape: Sequence[int], dtype: npt.DTypeLike) -> jax.Array:
    """Any integers of a type."""
    _require_wide(dtype)
    is_long = np.dtype(dtype).itemsize == 8
    bits = _draw_numbers(generator, shape, dtype, _long_integers if is_long else lambda words: words)
    return lax.bitcast_convert_type(bits, dtype)


def _require_wide(dtype: Any) -> None:
    if np.dtype(dtype).itemsize == 8 and not is_wide():
        raise CannotTraceError(
            f'it draws random {np.dtype(dtype)}, and JAX is set to 32 bits: jax.config.update("jax_enable_x64", True)'
        )


def _normals(dtype: Any) -> Any:
    """A function from random words to normal numbers of a type, by Box and Muller's transform."""
    if dtype == jnp.float64:
        return _normal_doubles
    return lambda words: _normal_singles(words).astype(dtype)


def _normal_singles(words: Any) -> Any:
    units = _unit_singles(words).reshape(-1, 2)
    first = jnp.maximum(units[:, 0], np.float32(1e-7))
    if is_wide():
        logarithms = _log_singles(first)
        angles = (units[:, 1].astype(jnp.float64) * (2 * math.pi)).astype(jnp.float32)
        sines, cosines = _sines_and_cosines(angles)
    else:
        logarithms, angles = jnp.log(first), units[:, 1] * np.float32(2 * math.pi)
        sines, cosines = jnp.sin(angles), jnp.cos(angles)
    radii = jnp.sqrt(np.float32(-2) * logarithms)
    return jnp.stack([sines * radii, cosines * radii], -1).reshape(-1, WORDS)


def _log_singles(values: Any) -> Any:
    """What `ops.random.philox.log_singles` computes, with its tables."""
    places = (lax.bitcast_convert_type(values, jnp.int32) - on_host.LOG_FIRST) >> 19
    r = jnp.asarray(on_host.LOG_RECIPROCALS)[places] * values.astype(jnp.float64) - 1.0
    base = jnp.asarray(on_host.LOG_VALUES)[places] + r
    square = r * r
    polynomial = on_host.LOG_POLYNOMIAL
    return ((r * polynomial[1] + polynomial[2] + square * polynomial[0]) * square + base).astype(jnp.float32)


def _sines_and_cosines(angles: Any) -> tuple[Any, Any]:
    """What `ops.random.philox.sines_and_cosines` computes, with its polynomials."""
    sine, cosine = on_host.SINE, on_host.COSINE
    x = angles.astype(jnp.float64)
    quadrants = ((x * on_host.QUADRANTS_PER_RADIAN).astype(jnp.int32) + (1 << 23)) >> 24
    x = x - quadrants * (math.pi / 2)
    square = x * x
    cube = square * x
    sines = ((square * sine[2] + sine[1]) * (cube * square) + (x + cube * sine[0])).astype(jnp.float32)
    fourth = square * square
    cosines = (square * cosine[4] + cosine[3]) * (fourth * square) + (
        square * cosine[1] + cosine[0] + fourth * cosine[2]
    )
    cosines = cosines.astype(jnp.float32)
    halves = quadrants >> 1
    sines = jnp.where((quadrants ^ halves) & 1, -sines, sines)
    cosines = jnp.where(halves & 1, -cosines, cosines)
    is_odd = (quadrants & 1) != 0
    return jnp.where(is_odd, cosines, sines), jnp.where(is_odd, sines, cosines)


def _normal_doubles(words: Any) -> Any:
    units = _unit_doubles(words)
    radii = jnp.sqrt(-2.0 * jnp.log(jnp.maximum(units[:, 0], 1e-7)))
    angles = units[:, 1] * (2 * math.pi)
    return jnp.stack([jnp.sin(angles) * radii, jnp.cos(angles) * radii], 1)


def standard_normal(generator: Generator, shape: Sequence[int], dtype: npt.DTypeLike) -> jax.Array:
    """Normal numbers, of mean 0 and deviation 1."""
    return _draw_numbers(generator, shape, dtype, _normals(dtype))


def truncated_normal(generator: Generator, shape: Sequence[int], dtype: npt.DTypeLike) -> jax.Array:
    """Normal numbers, those beyond two deviations drawn again; each group of a block's draws from blocks of its own."""
    convert, size = _normals(dtype), _per_block(dtype)
    count = math.prod(shape)
    groups = -(-count // size)
    starts = jnp.arange(groups, dtype=jnp.uint32) * np.uint32(BLOCKS_PER_OUTPUT * size // WORDS)

    def goes_on(state: Any) -> Any:
        return (state[1] < size).any()

    def once(state: Any) -> Any:
        found, filled, step = state
        candidates = convert(generator.words_at(starts + step))
        for at in range(size):
            is_taken = (jnp.abs(candidates[:, at]) < _TRUNCATION) & (filled < size)
            here = jnp.arange(size) == filled[:, None]
            found = jnp.where(here & is_taken[:, None], candidates[:, at : at + 1], found)
            filled = filled + is_taken
        return found, filled, step + np.uint32(1)

    first = (jnp.zeros((groups, size), dtype), jnp.zeros(groups, jnp.int32), jnp.zeros((), jnp.uint32))
    return lax.while_loop(goes_on, once, first)[0].reshape(-1)[:count].reshape(tuple(shape))
