"""Philox 4x32-10, the generator behind TensorFlow's random operations: from seeds to words, from words to numbers.

    generator = key counter                    64 and 128 bits, least significant word first
    block     = word[4]                        32 bits each: ten rounds over the words of the counter
    stream    = block(counter) block(counter + 1) …

    stateful    seed seed2  ->  key = seed, counter = seed2 << 64
    stateless   seed[2]     ->  mix = block of key 0x02461e293ec8f720 at counter seed[0] | seed[1] << 64
                                key = mix[0] | mix[1] << 32, counter = (mix[2] | mix[3] << 32) << 64

Seeds are 64-bit integers of either sign.

How exact the numbers are. Integers and uniform numbers are TensorFlow's bits everywhere. Normal numbers of single
precision take `logf` and `sincosf`, for which TensorFlow asks the C library; the functions here repeat what glibc does
since 2.28, operation by operation, and agree with glibc 2.36 on every input that a generator can produce. Normal
numbers of double precision take `log`, `sin` and `cos` from the C library here too: the same bits on the same machine,
but another library, or a processor without fused multiplication, changes the last bit of one number in a thousand –
in TensorFlow as in this module.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Any, Final

import ml_dtypes
import numpy as np
import numpy.typing as npt

from tensorkeep.errors import InvalidArgumentError
from tensorkeep.native.streams import philox_mask, philox_words

Words = npt.NDArray[np.uint32]
Integers = npt.NDArray[np.uint64]
Singles = npt.NDArray[np.float32]
Doubles = npt.NDArray[np.float64]

WORDS: Final = 4  # in a block
DEFAULT_GRAPH_SEED: Final = 87654321
BLOCKS_PER_OUTPUT: Final = 256  # what most stateful operations reserve for one element of their output
BLOCKS_AT_ONCE: Final = 8192  # enough to hide the cost of a call to NumPy, few enough to stay in the cache

# How TensorFlow numbers the algorithms; its CPU kernels know Philox only.
PHILOX: Final = 1
THREEFRY: Final = 2
AUTO_SELECT: Final = 3

_MAXIMUM_SEED: Final = 2**31 - 1
_MASK32: Final = 2**32 - 1
_MASK64: Final = 2**64 - 1
_MASK128: Final = 2**128 - 1

_ROUNDS: Final = 10
_MULTIPLIERS: Final = np.array([[0xD2511F53], [0xCD9E8D57]], np.uint64)
_KEY_STEPS: Final = (0x9E3779B9, 0xBB67AE85)
_SCRAMBLING_KEY: Final = 0x02461E29_3EC8F720
_HALF: Final = np.uint64(32)


@dataclass(frozen=True, slots=True)
class PhiloxGenerator:
    """A place in a stream. Reading words does not move it."""

    key: int
    counter: int

    @classmethod
    def of_seeds(cls, seed: int, seed2: int) -> PhiloxGenerator:
        """The generator of a stateful operation with these attributes."""
        return cls(seed & _MASK64, (seed2 & _MASK64) << 64)

    @classmethod
    def of_stateless_seed(cls, seed: npt.ArrayLike) -> PhiloxGenerator:
        """The generator of a stateless operation with this input, two integers."""
        low, high = _pair(seed)
        words = cls(_SCRAMBLING_KEY, low | high << 64).words(1)[0].tolist()
        return cls(words[0] | words[1] << 32, (words[2] | words[3] << 32) << 64)

    @classmethod
    def of_key_and_counter(
        cls, key: npt.ArrayLike, counter: npt.ArrayLike, algorithm: int = AUTO_SELECT
    ) -> PhiloxGenerator:
        """The generator of a stateless operation of the second version, from its inputs of 64-bit integers."""
        if algorithm not in (PHILOX, AUTO_SELECT):
            raise InvalidArgumentError(
                f"Unsupported algorithm id: {algorithm}; on a CPU only Philox ({PHILOX}, or {AUTO_SELECT}) is known"
            )
        keys, counters = np.asarray(key), np.asarray(counter)
        if keys.shape != (1,):
            raise InvalidArgumentError(f"key must have shape (1,), not {keys.shape}")
        if counters.ndim != 1 or counters.size < 2:
            raise InvalidArgumentError(f"counter must be a vector with length at least 2; got shape {counters.shape}")
        low, high = (int(half) & _MASK64 for half in counters[:2])
        return cls(int(keys[0]) & _MASK64, low | high << 64)

    def skip(self, blocks: int) -> PhiloxGenerator:
        """The place that many blocks later; a negative number is taken modulo 2^64, as TensorFlow takes it."""
        blocks &= _MASK64
        total = (self.counter & _MASK64) + blocks
        # TensorFlow adds word by word, and loses a carry into a second word of all ones.
        is_carry_lost = blocks >> 32 == _MASK32 and (self.counter & _MASK32) + (blocks & _MASK32) > _MASK32
        carry = 0 if is_carry_lost else total >> 64
        high = (self.counter >> 64) + carry
        return PhiloxGenerator(self.key, (total & _MASK64) | (high << 64) & _MASK128)

    def words(self, count: int, first: int = 0) -> Words:
        """The blocks from `first` on, a row of four words each."""
        result = np.empty((count, WORDS), np.uint32)
        self.read_into(result, first)
        return result

    def read_into(self, rows: Words, first: int) -> None:
        """Fills rows of four words, in C order, with the blocks from `first` on."""
        if philox_words(self.key, self.counter, first, rows):
            return
        for start in range(0, len(rows), BLOCKS_AT_ONCE):
            stop = min(start + BLOCKS_AT_ONCE, len(rows))
            offsets = np.arange(first + start, first + stop, dtype=np.uint64)
            rows[start:stop] = self._scramble(offsets)

    def compare_into(self, truths: npt.NDArray[np.bool_], first: int, comparison: np.ufunc, number: float) -> None:
        """Fills an array with how the numbers of [0, 1) of words, from block `first` on, compare with another one."""
        if philox_mask(self.key, self.counter, first, comparison, number, truths):
            return
        numbers = unit_singles(self.words(-(-truths.size // WORDS), first)).reshape(-1)[: truths.size]
        comparison(numbers, np.float32(number), out=truths)

    def words_at(self, offsets: npt.NDArray[Any]) -> Words:
        """The blocks that lie so many blocks after this place, a row of four words each."""
        result = np.empty((offsets.size, WORDS), np.uint32)
        for start in range(0, offsets.size, BLOCKS_AT_ONCE):
            part = slice(start, start + BLOCKS_AT_ONCE)
            result[part] = self._scramble(offsets[part].astype(np.uint64))
        return result

    def _scramble(self, offsets: Integers) -> Words:
        # Invariant: state[0] holds words 0 and 1, and state[1] words 2 and 3, the first of each in the upper half. So
        # a product has its high word where the round wants it, and shifting drops the word that the round replaces.
        state = _halves_swapped(self._counters(offsets))
        products = np.empty_like(state)
        for keys in _round_keys(self.key):
            np.right_shift(state, _HALF, out=products)
            products *= _MULTIPLIERS
            state <<= _HALF
            state ^= keys
            state ^= products[::-1]
        blocks = np.empty((offsets.size, 2), "<u8")
        blocks.T[...] = _halves_swapped(state)
        return blocks.view("<u4").astype(np.uint32, copy=False)

    def _counters(self, offsets: Integers) -> Integers:
        """The lower and the upper half of the counter, at each of the offsets."""
        counters = np.empty((2, offsets.size), np.uint64)
        np.add(offsets, np.uint64(self.counter & _MASK64), out=counters[0])
        np.add(counters[0] < offsets, np.uint64(self.counter >> 64), out=counters[1], dtype=np.uint64)
        return counters


class PhiloxStream:
    """The state of one stateful operation: every execution reserves its blocks, and the next continues after them.

    TensorFlow takes the seeds (0, 0) for "not given" and draws two others; that is left to the caller. Threads may
    share a stream.
    """

    def __init__(self, seed: int, seed2: int) -> None:
        self._next = PhiloxGenerator.of_seeds(seed, seed2)
        self._lock = threading.Lock()

    @property
    def place(self) -> PhiloxGenerator:
        """Where the next execution begins."""
        return self._next

    def go_on_at(self, place: PhiloxGenerator) -> None:
        """Has the next execution begin somewhere else: whoever else drew numbers has got as far."""
        with self._lock:
            self._next = place

    def reserve(self, blocks: int) -> PhiloxGenerator:
        """The generator for one execution, which may read that many blocks without meeting the next execution's."""
        with self._lock:
            reserved = self._next
            self._next = reserved.skip(blocks)
        return reserved

    def reserve_outputs(self, count: int) -> PhiloxGenerator:
        """The generator for one execution that makes `count` elements, for operations that reserve by elements."""
        return self.reserve(count * BLOCKS_PER_OUTPUT)


def key_and_counter(seed: npt.ArrayLike) -> tuple[Integers, Integers]:
    """What StatelessRandomGetKeyCounter returns: a key of shape (1,) and a counter of shape (2,)."""
    generator = PhiloxGenerator.of_stateless_seed(seed)
    counter = [generator.counter & _MASK64, generator.counter >> 64]
    return np.array([generator.key], np.uint64), np.array(counter, np.uint64)


def seeds_for(graph_seed: int | None, op_seed: int | None, last_id: int) -> tuple[int, int]:
    """The attributes `seed` and `seed2` that TensorFlow's Python gives an operation; (0, 0) leaves it unseeded.

    `last_id` stands in for the seed of an operation without one, in a graph with one. In TensorFlow 1 that is the
    number of the operation made last; in 2.21 it is how many operations of the graph have needed a stand-in before.
    """
    if graph_seed is None and op_seed is None:
        return 0, 0
    first = DEFAULT_GRAPH_SEED if graph_seed is None else graph_seed % _MAXIMUM_SEED
    second = (last_id if op_seed is None else op_seed) % _MAXIMUM_SEED
    return (first, second) if first or second else (0, _MAXIMUM_SEED)


def _pair(seed: npt.ArrayLike) -> Sequence[int]:
    seeds = np.asarray(seed)
    if seeds.shape != (2,):
        raise InvalidArgumentError(f"seed must have shape (2,), not {seeds.shape}")
    return [int(number) & _MASK64 for number in seeds]


@lru_cache(maxsize=256)
def _round_keys(key: int) -> Integers:
    """What the rounds mix into words 0 and 2, which are upper halves; of shape (rounds, 2, 1)."""
    words = (key & _MASK32, key >> 32)
    raised = [
        [(word + number * step) & _MASK32 for word, step in zip(words, _KEY_STEPS, strict=True)]
        for number in range(_ROUNDS)
    ]
    return np.array(raised, np.uint64)[:, :, np.newaxis] << _HALF


def _halves_swapped(numbers: Integers) -> Integers:
    return numbers << _HALF | numbers >> _HALF


# From words to numbers. Each takes rows of four words, and returns rows of four numbers or of two.


def unit_halves(words: Words) -> npt.NDArray[np.float16]:
    """Numbers of [0, 1), ten random bits each."""
    return (_low_bits(words, 10) * np.float32(2**-10)).astype(np.float16)


def unit_bfloats(words: Words) -> npt.NDArray[Any]:
    """Numbers of [0, 1), seven random bits each."""
    return (_low_bits(words, 7) * np.float32(2**-7)).astype(ml_dtypes.bfloat16)


def unit_singles(words: Words) -> Singles:
    """Numbers of [0, 1), 23 random bits each."""
    # The bits of a number of [1, 2), less 1: faster than to convert integers.
    return (words & np.uint32(0x7FFFFF) | np.uint32(0x3F800000)).view(np.float32) - np.float32(1)


def unit_doubles(words: Words) -> Doubles:
    """Numbers of [0, 1), 52 random bits each, the first of two words the upper one."""
    high = (words[:, 0::2] & np.uint32(0xFFFFF) | np.uint32(0x3FF00000)).astype(np.uint64)
    return (high << _HALF | words[:, 1::2]).view(np.float64) - 1.0


def long_integers(words: Words) -> Integers:
    """64-bit integers, the first of two words the lower one."""
    return words[:, 1::2].astype(np.uint64) << _HALF | words[:, 0::2]


def normal_singles(words: Words) -> Singles:
    """Normal numbers by Box and Muller's transform, two from two words; those of 16 bits are these, rounded."""
    units = unit_singles(words).reshape(-1, 2)
    radii = np.sqrt(np.float32(-2) * log_singles(np.maximum(units[:, 0], np.float32(1e-7))))
    angles = (units[:, 1].astype(np.float64) * (2 * math.pi)).astype(np.float32)
    sines, cosines = sines_and_cosines(angles)
    result = np.empty_like(units)
    np.multiply(sines, radii, out=result[:, 0])
    np.multiply(cosines, radii, out=result[:, 1])
    return result.reshape(-1, WORDS)


def normal_doubles(words: Words) -> Doubles:
    """Normal numbers by Box and Muller's transform, two from four words."""
    units = unit_doubles(words)
    radii = np.sqrt(-2.0 * by_c_library(math.log, np.maximum(units[:, 0], 1e-7)))
    angles = units[:, 1] * (2 * math.pi)
    return np.stack([by_c_library(math.sin, angles) * radii, by_c_library(math.cos, angles) * radii], axis=1)


def _low_bits(words: Words, count: int) -> Singles:
    return (words & np.uint32((1 << count) - 1)).astype(np.float32)


# Elementary functions with the very bits of the C library. Those of single precision work in double precision with
# the tables and polynomials that Arm's optimized routines gave to glibc.


def log_singles(values: Singles) -> Singles:
    """`logf` of numbers of [2^-24, 1]: log(x) = log(c) + log1p(x / c - 1), with c from a table."""
    places = values.view(np.int32).astype(np.intp)
    places -= LOG_FIRST
    places >>= 19
    r = LOG_RECIPROCALS.take(places)
    r *= values
    r -= 1.0
    base = LOG_VALUES.take(places)
    base += r
    square = r * r
    r *= LOG_POLYNOMIAL[1]
    r += LOG_POLYNOMIAL[2]
    r += square * LOG_POLYNOMIAL[0]
    r *= square
    r += base
    return np.asarray(r, np.float32)


def sines_and_cosines(angles: Singles) -> tuple[Singles, Singles]:
    """`sincosf` of numbers of [0, 120): by polynomials around the nearest multiple of π/2."""
    x = angles.astype(np.float64)
    quadrants = (x * QUADRANTS_PER_RADIAN).astype(np.int32)
    quadrants += 1 << 23
    quadrants >>= 24
    x -= quadrants * (math.pi / 2)
    square = x * x
    cube = square * x
    sines = square * SINE[2]
    sines += SINE[1]
    sines *= cube * square
    cube *= SINE[0]
    x += cube
    sines += x
    fourth = square * square
    cosines = square * COSINE[4]
    cosines += COSINE[3]
    cosines *= fourth * square
    square *= COSINE[1]
    square += COSINE[0]
    fourth *= COSINE[2]
    square += fourth
    cosines += square
    return _turn_quadrants(sines.astype(np.float32), cosines.astype(np.float32), quadrants.view(np.uint32))


def _turn_quadrants(sines: Singles, cosines: Singles, quadrants: npt.NDArray[np.uint32]) -> tuple[Singles, Singles]:
    """Sines and cosines after so many quarter turns: some change places, and some the bits of their signs."""
    halves = quadrants >> np.uint32(1)
    sine_bits, cosine_bits = sines.view(np.uint32), cosines.view(np.uint32)
    sine_bits ^= (quadrants ^ halves) << np.uint32(31)
    cosine_bits ^= halves << np.uint32(31)
    is_odd = (quadrants & np.uint32(1)).astype(np.bool_)
    return np.where(is_odd, cosines, sines), np.where(is_odd, sines, cosines)


def by_c_library(function: Callable[..., float], *arguments: Doubles) -> Doubles:
    """The function of the `math` module, for each element."""
    if in_numpy := _same_in_numpy(function):
        values: Doubles = in_numpy(*arguments)
        return values
    return np.fromiter(map(function, *(argument.tolist() for argument in arguments)), np.float64, arguments[0].size)


@cache
def _same_in_numpy(function: Callable[..., float]) -> Callable[..., Doubles] | None:
    """NumPy's function if it calls the C library. Where it has code of its own, one number in 500 shows it."""
    candidate: Callable[..., Doubles] | None = {math.log: np.log, math.sin: np.sin, math.cos: np.cos}.get(function)
    samples = np.arange(1, 2**15) * (6.28 / 2**15)
    exact = map(function, samples.tolist())
    return candidate if candidate and candidate(samples).tolist() == list(exact) else None


def _hexadecimal(numbers: str) -> list[float]:
    return [float.fromhex(number) for number in numbers.split()]


_LOG_EXPONENTS: Final = np.arange(-25, 1)[:, np.newaxis]
LOG_FIRST: Final = 0x3F330000 - (25 << 23)  # where the table begins, in the bits of a float32; 16 entries an octave
# 1 / c, and what is closest to log(c) there, for c in the middle of each sixteenth of [0.7, 1.4).
LOG_RECIPROCALS: Final = np.ravel(
    np.ldexp(1.0, -_LOG_EXPONENTS)
    * _hexadecimal("""
        0x1.661ec79f8f3bep+0 0x1.571ed4aaf883dp+0 0x1.49539f0f010bp+0  0x1.3c995b0b80385p+0
        0x1.30d190c8864a5p+0 0x1.25e227b0b8eap+0  0x1.1bb4a4a1a343fp+0 0x1.12358f08ae5bap+0
        0x1.0953f419900a7p+0 0x1p+0               0x1.e608cfd9a47acp-1 0x1.ca4b31f026aap-1
        0x1.b2036576afce6p-1 0x1.9c2d163a1aa2dp-1 0x1.886e6037841edp-1 0x1.767dcf5534862p-1
    """)
)
LOG_VALUES: Final = np.ravel(
    _LOG_EXPONENTS * math.log(2)
    + _hexadecimal("""
        -0x1.57bf7808caadep-2 -0x1.2bef0a7c06ddbp-2 -0x1.01eae7f513a67p-2 -0x1.b31d8a68224e9p-3
        -0x1.6574f0ac07758p-3 -0x1.1aa2bc79c81p-3   -0x1.a4e76ce8c0e5ep-4 -0x1.1973c5a611cccp-4
        -0x1.252f438e10c1ep-5 0x0p+0                0x1.aa5aa5df25984p-5  0x1.c5e53aa362eb4p-4
        0x1.526e57720db08p-3  0x1.bc2860d22477p-3   0x1.1058bc8a07ee1p-2  0x1.4043057b6ee09p-2
    """)
)
LOG_POLYNOMIAL: Final = _hexadecimal("-0x1.00ea348b88334p-2 0x1.5575b0be00b6ap-2 -0x1.ffffef20a4123p-2")

QUADRANTS_PER_RADIAN: Final = float.fromhex("0x1.45f306dc9c883p+23")  # in units of 2^-24
SINE: Final = _hexadecimal("-0x1.555545995a603p-3 0x1.1107605230bc4p-7 -0x1.994eb3774cf24p-13")
COSINE: Final = _hexadecimal("""
    0x1p+0 -0x1.ffffffd0c621cp-2 0x1.55553e1068f19p-5 -0x1.6c087e89a359dp-10 0x1.99343027bf8c3p-16
""")
