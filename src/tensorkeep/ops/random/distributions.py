"""TensorFlow's random distributions over the words of a Philox generator, as its CPU kernels compute them.

Arrays in, arrays out; the generator says which numbers. An operation with `seed` attributes takes its generator from
a `PhiloxStream`, which has to advance by the amount that goes with the distribution:

    uniform, uniform_integers, standard_normal, truncated_normal, gamma, poisson    reserve_outputs(elements)
    shuffle                                                                         reserve(shuffle_blocks(…))
    multinomial                                                                     reserve(multinomial_blocks(…))
    parameterized_truncated_normal                 reserve(parameterized_truncated_normal_blocks(…))

All are exact in the sense of `_philox`, and gamma samples, made in double precision, as double normal numbers are.
Where a logarithm or an exponential only decides whether to accept a sample, it is NumPy's; its last bit matters once
in 10^9 samples of float32, and once in 10^15 of float64.

Some kernels draw differently when TensorFlow splits their work: `multinomial` and the parameterized truncated normals
take the number of threads it runs with (`intra_op_parallelism_threads`, or all processors: `asked_threads`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

import ml_dtypes
import numpy as np
import numpy.typing as npt

from tensorkeep.errors import InvalidArgumentError
from tensorkeep.io.machine.parallel import in_parallel, thread_limit
from tensorkeep.io.machine.reused_memory import result_array
from tensorkeep.ops.random.philox import (
    BLOCKS_AT_ONCE,
    BLOCKS_PER_OUTPUT,
    WORDS,
    Doubles,
    PhiloxGenerator,
    Words,
    by_c_library,
    log_singles,
    long_integers,
    normal_doubles,
    normal_singles,
    unit_bfloats,
    unit_doubles,
    unit_halves,
    unit_singles,
)
from tensorkeep.ops.shared.kernel_types import Array

Indices = npt.NDArray[np.intp]
Conversion = Callable[[Words], Array]

_COMPARED_AT_ONCE: Final = 1 << 17  # words
_WORTH_THREADS: Final = 1 << 17  # blocks of a stream that are worth the making of threads
_HALF: Final = np.dtype(np.float16)
_BFLOAT16: Final = np.dtype(ml_dtypes.bfloat16)
_SINGLE: Final = np.dtype(np.float32)
_DOUBLE: Final = np.dtype(np.float64)

_SAMPLES_AT_ONCE: Final = 16384
_TRUNCATION: Final = 2.0  # standard deviations
_MAXIMUM_ITERATIONS: Final = 1000
_BATCH_SIZE: Final = 100  # to which ParameterizedTruncatedNormal cuts an output that has one set of parameters


# Uniform distributions.


def uniform(generator: PhiloxGenerator, shape: Sequence[int], dtype: npt.DTypeLike) -> Array:
    """RandomUniform, StatelessRandomUniform(V2): numbers of [0, 1), of 10, 7, 23 or 52 random bits."""
    if np.dtype(dtype) == _SINGLE:
        return _unit_singles(generator, shape)
    return _fill(generator, shape, np.dtype(dtype), _conversion(_UNIFORM, dtype))


def _unit_singles(generator: PhiloxGenerator, shape: Sequence[int]) -> Array:
    """Numbers of [0, 1), of single precision, made where the words are: the most asked for of all."""
    count = math.prod(shape)
    blocks = -(-count // WORDS)
    result = result_array((blocks, WORDS), _SINGLE)
    words = result.view(np.uint32)

    def fill(start: int) -> None:
        part = slice(start, min(start + BLOCKS_AT_ONCE, blocks))
        generator.read_into(words[part], start)
        words[part] &= np.uint32(0x7FFFFF)
        words[part] |= np.uint32(0x3F800000)
        result[part] -= np.float32(1)

    in_parallel(fill, range(0, blocks, BLOCKS_AT_ONCE), thread_limit() if blocks > _WORTH_THREADS else 1)
    return result.reshape(-1)[:count].reshape(shape)


def compare_uniform(generator: PhiloxGenerator, shape: Sequence[int], other: Array, comparison: np.ufunc) -> Array:
    """How numbers of [0, 1) of single precision compare with another one, or with an array of them."""
    if np.ndim(other):
        result: Array = comparison(_unit_singles(generator, shape), other)
        return result
    count, number = math.prod(shape), float(other)
    result = result_array((count,), np.dtype(np.bool_))

    def compare(start: int) -> None:
        generator.compare_into(result[start : start + _COMPARED_AT_ONCE], start // WORDS, comparison, number)

    threads = thread_limit() if count > WORDS * _WORTH_THREADS else 1
    in_parallel(compare, range(0, count, _COMPARED_AT_ONCE), threads)
    return result.reshape(shape)


def uniform_integers(
    generator: PhiloxGenerator, shape: Sequence[int], low: int, high: int, dtype: npt.DTypeLike
) -> Array:
    """RandomUniformInt, StatelessRandomUniformInt(V2): integers of [low, high), slightly uneven as TensorFlow's are."""
    integer = np.dtype(dtype)
    to_bits = _conversion(_INTEGERS, integer)
    count = math.prod(shape)
    if low >= high and count:
        raise InvalidArgumentError(f"Need minval < maxval, got {low} >= {high}")
    unsigned = np.dtype(f"u{integer.itemsize}")
    size = unsigned.type((high - low) % 2 ** (8 * integer.itemsize) or 1)
    start = unsigned.type(low % 2 ** (8 * integer.itemsize))

    def within(words: Words) -> Array:
        # Wraps like TensorFlow's: `low` may be negative, and the range wider than the positive half of the type.
        values: Array = to_bits(words).view(unsigned) % size + start
        return values

    return _fill(generator, shape, unsigned, within).view(integer)


def uniform_full_integers(generator: PhiloxGenerator, shape: Sequence[int], dtype: npt.DTypeLike) -> Array:
    """StatelessRandomUniformFullInt(V2): any integer of the type."""
    return _fill(generator, shape, np.dtype(dtype), _conversion(_FULL_INTEGERS, dtype))


# Normal distributions.


def standard_normal(generator: PhiloxGenerator, shape: Sequence[int], dtype: npt.DTypeLike) -> Array:
    """RandomStandardNormal, StatelessRandomNormal(V2): mean 0, deviation 1."""
    return _fill(generator, shape, np.dtype(dtype), _conversion(_NORMAL, dtype))


def truncated_normal(generator: PhiloxGenerator, shape: Sequence[int], dtype: npt.DTypeLike) -> Array:
    """TruncatedNormal, StatelessTruncatedNormal(V2): normal numbers, those beyond two deviations drawn again.

    The numbers that one block yields form a group; each group draws from blocks of its own.
    """
    convert = _conversion(_NORMAL, dtype)
    size = _values_per_block(np.dtype(dtype))
    stride = BLOCKS_PER_OUTPUT * size // WORDS
    count = math.prod(shape)
    groups = -(-count // size)
    result = np.empty((groups, size), dtype)
    for start in range(0, groups, BLOCKS_AT_ONCE):
        stop = min(start + BLOCKS_AT_ONCE, groups)
        result[start:stop] = _truncated_groups(generator, np.arange(start, stop) * stride, convert)
    return result.reshape(-1)[:count].reshape(shape)


def _truncated_groups(generator: PhiloxGenerator, starts: Indices, convert: Conversion) -> Array:
    """For each place of the stream, as many numbers as a block yields, the first ones within the bounds."""
    candidates = convert(generator.words_at(starts))
    size = candidates.shape[1]
    groups = candidates.copy()
    pending = np.flatnonzero((np.abs(candidates) >= _TRUNCATION).any(axis=1))
    candidates = candidates[pending]
    filled = np.zeros(len(pending), np.intp)
    step = 0
    while len(pending):
        accepted = np.abs(candidates) < _TRUNCATION
        places = accepted.cumsum(axis=1) + (filled[:, np.newaxis] - 1)
        accepted &= places < size
        rows, _ = accepted.nonzero()
        groups[pending[rows], places[accepted]] = candidates[accepted]
        filled = np.minimum(places[:, -1] + 1, size)
        unfilled = filled < size
        pending, filled = pending[unfilled], filled[unfilled]
        step += 1
        candidates = convert(generator.words_at(starts[pending] + step))
    return groups


# Distributions with parameters, one stream of blocks per sample.


def sample_shape(shape: Sequence[int], parameters: Sequence[int]) -> tuple[int, ...]:
    """What comes before the shape of the parameters in an output shape, which is how stateless operations state it."""
    cut = len(shape) - len(parameters)
    if cut < 0 or tuple(shape[cut:]) != tuple(parameters):
        raise InvalidArgumentError(
            f"Shape passed in must end with broadcasted shape: {tuple(shape)} does not end with {tuple(parameters)}"
        )
    return tuple(shape[:cut])


def gamma(generator: PhiloxGenerator, samples: Sequence[int], alpha: Array) -> Array:
    """RandomGamma, StatelessRandomGammaV2 and V3: of shape `samples` + that of `alpha`, with scale 1.

    By Marsaglia and Tsang's method, in double precision whatever the type.
    """
    _conversion(_UNIFORM, alpha.dtype)

    def draw(numbers: Indices, alphas: Doubles) -> Doubles:
        result = np.empty(len(numbers))
        exponential = alphas == 1.0
        result[exponential] = _exponential_samples(generator, numbers[exponential])
        result[~exponential] = _gamma_samples(generator, numbers[~exponential], alphas[~exponential])
        return result

    return _per_sample(samples, (alpha,), alpha.dtype, draw)


def poisson(generator: PhiloxGenerator, samples: Sequence[int], rate: Array, dtype: npt.DTypeLike) -> Array:
    """RandomPoisson, RandomPoissonV2, StatelessRandomPoisson: of shape `samples` + that of `rate`."""
    result_type = np.dtype(dtype)
    is_integer = result_type.kind == "i"
    highest = float(np.iinfo(result_type).max if is_integer else np.finfo(result_type).max)
    exact = rate.astype(np.float64)
    # TensorFlow would search forever. A sample below the mean by 40 deviations does not happen.
    hopeless = np.isnan(exact) | (exact > highest + 40 * np.sqrt(np.abs(exact)))
    if hopeless.any():
        raise InvalidArgumentError(f"a rate of {exact[hopeless][0]} has no samples of type {result_type}")

    def draw(numbers: Indices, rates: Doubles) -> Doubles:
        result = np.full(len(numbers), 0.0 if is_integer else np.inf)
        few, many = rates < 10, (rates >= 10) & (rates < np.inf)
        result[few] = _poisson_by_products(generator, numbers[few], rates[few], highest)
        result[many] = _poisson_by_rejection(generator, numbers[many], rates[many], highest)
        return result

    return _per_sample(samples, (rate,), result_type, draw)


def broadcast_parameters(**parameters: Array) -> tuple[int, ...]:
    """The shape that the parameters, given by their names, have together."""
    shapes = [parameter.shape for parameter in parameters.values()]
    try:
        return np.broadcast_shapes(*shapes)
    except ValueError:
        names, given = " and ".join(parameters), " vs. ".join(str(list(shape)) for shape in shapes)
        raise InvalidArgumentError(f"{names} must have compatible batch dimensions: {given}") from None


def binomial(
    generator: PhiloxGenerator, samples: Sequence[int], counts: Array, probabilities: Array, dtype: npt.DTypeLike
) -> Array:
    """StatelessRandomBinomial: of shape `samples` + what `counts` and `probabilities` broadcast to."""
    counts, probabilities = np.broadcast_arrays(counts, probabilities)
    if np.isnan(counts).any():
        raise InvalidArgumentError("one of the counts is not a number, for which TensorFlow would search forever")
    one = probabilities.dtype.type(1)
    is_mirrored = probabilities > 0.5
    with np.errstate(all="ignore"):
        minor = np.where(is_mirrored, one - probabilities, probabilities)
        is_large = counts * minor >= 10  # in the type of the parameters, as TensorFlow decides

    def draw(numbers: Indices, trials: Doubles, chance: Doubles, mirrored: Doubles, large: Doubles) -> Doubles:
        result = np.where(np.isnan(chance), np.nan, mirrored * trials)
        result[trials <= 0] = 0.0
        drawn = (trials > 0) & (chance > 0)
        for chosen, method in ((large > 0, _binomial_by_rejection), (large == 0, _binomial_by_waiting)):
            some = np.flatnonzero(drawn & chosen)
            successes = method(generator, numbers[some], trials[some], chance[some])
            result[some] = np.where(mirrored[some] > 0, trials[some] - successes, successes)
        return result

    return _per_sample(samples, (counts, minor, is_mirrored, is_large), np.dtype(dtype), draw)


def _per_sample(
    samples: Sequence[int], parameters: Sequence[Array], dtype: np.dtype[Any], draw: Callable[..., Doubles]
) -> Array:
    """Draws every sample from its number and its parameters; all samples of one parameter are numbered in a row."""
    shape = parameters[0].shape
    per_parameter, kinds = math.prod(samples), math.prod(shape)
    flat = [parameter.reshape(-1).astype(np.float64) for parameter in parameters]
    result = np.empty(kinds * per_parameter, dtype)
    for start in range(0, result.size, _SAMPLES_AT_ONCE):
        numbers = np.arange(start, min(start + _SAMPLES_AT_ONCE, result.size))
        which = numbers // per_parameter
        with np.errstate(all="ignore"):
            drawn = draw(numbers, *(parameter[which] for parameter in flat))
            result[start : start + len(numbers)] = _narrow_values(drawn, dtype)
    return np.ascontiguousarray(result.reshape(kinds, per_parameter).T).reshape((*samples, *shape))


class _Places:
    """Where in the stream each sample of a group has got to."""

    def __init__(self, generator: PhiloxGenerator, numbers: Indices, stride: int = BLOCKS_PER_OUTPUT) -> None:
        self._generator = generator
        self._next = numbers * stride

    def words(self, who: Indices) -> Words:
        """The next block of each of the samples `who`."""
        words = self._generator.words_at(self._next[who])
        self._next[who] += 1
        return words


class _Pairs:
    """Doubles that come two to a block, and are used from the last to the first."""

    def __init__(self, places: _Places, count: int, convert: Conversion) -> None:
        self._places, self._convert = places, convert
        self._pairs = np.empty((count, 2))
        self._left = np.zeros(count, np.intp)

    def draw(self, who: Indices) -> Doubles:
        """The next number of each of the samples `who`, which are different ones."""
        empty = who[self._left[who] == 0]
        if len(empty):
            self._pairs[empty] = self._convert(self._places.words(empty))
            self._left[empty] = 2
        self._left[who] -= 1
        drawn: Doubles = self._pairs[who, self._left[who]]
        return drawn


def _exponential_samples(generator: PhiloxGenerator, numbers: Indices) -> Doubles:
    unit = unit_doubles(generator.words_at(numbers * BLOCKS_PER_OUTPUT))[:, -1]
    return -by_c_library(math.log1p, -unit)


def _gamma_samples(generator: PhiloxGenerator, numbers: Indices, alphas: Doubles) -> Doubles:
    result = np.empty(len(numbers))
    places = _Places(generator, numbers)
    normals = _Pairs(places, len(numbers), normal_doubles)
    uniforms = _Pairs(places, len(numbers), unit_doubles)
    is_small = alphas < 1
    shifted = alphas + np.where(is_small, 2.0 / 3, -1.0 / 3)
    scale = 1.0 / 3 / np.sqrt(shifted)
    pending = np.arange(len(numbers))
    while len(pending):
        x = normals.draw(pending)
        v = 1 + scale[pending] * x
        usable = ~(v <= 0)
        tried, x, v = pending[usable], x[usable], v[usable]
        v = v * v * v
        u = uniforms.draw(tried)
        d = shifted[tried]
        accepted = (u < 1 - 0.0331 * (x * x) * (x * x)) | (np.log(u) < 0.5 * x * x + d * (1 - v + np.log(v)))
        done = tried[accepted]
        result[done] = (d * v)[accepted]
        small = done[is_small[done]]
        result[small] *= _powers(uniforms.draw(small), 1 / alphas[small])
        keep = ~usable
        keep[usable] = ~accepted
        pending = pending[keep]
    return result


def _powers(bases: Doubles, exponents: Doubles) -> Doubles:
    """`pow` of numbers of [0, 1), without which a gamma sample for a small alpha would not have the right bits."""
    powers = np.power(bases, exponents)
    is_small = exponents > 0  # else there is no distribution, and Python raises an error for what is infinite in C
    powers[is_small] = by_c_library(math.pow, bases[is_small], exponents[is_small])
    return _flush_subnormals(powers)


def _poisson_by_products(generator: PhiloxGenerator, numbers: Indices, rates: Doubles, highest: float) -> Doubles:
    """Knuth's method: how many uniform numbers it takes until their product is small."""
    uniforms = _Pairs(_Places(generator, numbers), len(numbers), unit_doubles)
    bounds = np.exp(-rates)
    products = np.ones(len(numbers))
    counts = np.zeros(len(numbers))
    pending = np.arange(len(numbers))
    while len(pending):
        products[pending] *= uniforms.draw(pending)
        pending = pending[~((products[pending] <= bounds[pending]) & (counts[pending] <= highest))]
        counts[pending] += 1
    return counts


def _poisson_by_rejection(generator: PhiloxGenerator, numbers: Indices, rates: Doubles, highest: float) -> Doubles:
    """Hörmann's method of transformed rejection (PTRS), from a pair of uniform numbers per attempt."""
    result = np.empty(len(numbers))
    b = 0.931 + 2.53 * np.sqrt(rates)
    a = -0.059 + 0.02483 * b
    inverse_alpha = 1.1239 + 1.1328 / (b - 3.4)
    bound = 0.9277 - 3.6224 / (b - 2)

    def attempt(who: Indices, u: Doubles, v: Doubles) -> npt.NDArray[np.bool_]:
        shifted = 0.5 - np.abs(u)
        k = np.floor((2 * a[who] / shifted + b[who]) * u + rates[who] + 0.43)
        result[who] = k
        accepted = (shifted >= 0.07) & (v <= bound[who])
        undecided = ~accepted & ~((k < 0) | ((shifted < 0.013) & (v > shifted))) & (k <= highest)
        s = np.log(v * inverse_alpha[who] / (a[who] / (shifted * shifted) + b[who]))
        t = -rates[who] + k * np.log(rates[who])
        accepted[undecided] = s[undecided] <= t[undecided] - by_c_library(math.lgamma, k[undecided] + 1)
        return accepted & (k <= highest)

    _until_accepted(_Places(generator, numbers), len(numbers), attempt)
    return result


def _binomial_by_waiting(generator: PhiloxGenerator, numbers: Indices, trials: Doubles, chances: Doubles) -> Doubles:
    """How many successes fit: the number of trials up to each is geometric."""
    uniforms = _Pairs(_Places(generator, numbers, stride=42), len(numbers), unit_doubles)
    spent = np.zeros(len(numbers))
    successes = np.zeros(len(numbers))
    denominators = np.log1p(-chances)
    pending = np.arange(len(numbers))
    while len(pending):
        spent[pending] += np.ceil(np.log(uniforms.draw(pending)) / denominators[pending])
        pending = pending[~(spent[pending] > trials[pending])]
        successes[pending] += 1
    return successes


def _binomial_by_rejection(generator: PhiloxGenerator, numbers: Indices, trials: Doubles, chances: Doubles) -> Doubles:
    """Hörmann's method of transformed rejection (BTRS), from a pair of uniform numbers per attempt."""
    result = np.empty(len(numbers))
    deviation = np.sqrt(trials * chances * (1 - chances))
    b = 1.15 + 2.53 * deviation
    a = -0.0873 + 0.0248 * b + 0.01 * chances
    c = trials * chances + 0.5
    odds = chances / (1 - chances)
    alpha = (2.83 + 5.1 / b) * deviation
    mode = np.floor((trials + 1) * chances)

    def attempt(who: Indices, u: Doubles, v: Doubles) -> npt.NDArray[np.bool_]:
        n, r, m = trials[who], odds[who], mode[who]
        shifted = 0.5 - np.abs(u)
        k = np.floor((2 * a[who] / shifted + b[who]) * u + c[who])
        result[who] = k
        inside = (shifted >= 0.07) & (v <= 0.92 - 4.2 / b[who])
        possible = (k >= 0) & (k <= n)
        k = np.where(possible, k, 0.0)
        bound = (
            (m + 0.5) * np.log((m + 1) / (r * (n - m + 1)))
            + (n + 1) * np.log((n - m + 1) / (n - k + 1))
            + (k + 0.5) * np.log(r * (n - k + 1) / (k + 1))
            + _stirling_tail(m)
            + _stirling_tail(n - m)
            - _stirling_tail(k)
            - _stirling_tail(n - k)
        )
        ratio = np.log(v * alpha[who] / (a[who] / (shifted * shifted) + b[who]))
        accepted: npt.NDArray[np.bool_] = inside | (possible & (ratio <= bound))
        return accepted

    _until_accepted(_Places(generator, numbers), len(numbers), attempt)
    return result


def _until_accepted(
    places: _Places, count: int, attempt: Callable[[Indices, Doubles, Doubles], npt.NDArray[np.bool_]]
) -> None:
    """Tries every sample until it is accepted, each time with u of [-1/2, 1/2) and v of [0, 1)."""
    pending = np.arange(count)
    while len(pending):
        pairs = unit_doubles(places.words(pending))
        pending = pending[~attempt(pending, pairs[:, 1] - 0.5, pairs[:, 0])]


def _stirling_tail(k: Doubles) -> Doubles:
    """The error of Stirling's formula for the logarithm of k!, from a table where k is small."""
    square = (k + 1) * (k + 1)
    tail = (1.0 / 12 - (1.0 / 360 - 1.0 / 1260 / square) / square) / (k + 1)
    return np.where(k <= 9, _STIRLING_TAILS[np.where(k <= 9, k, 0).astype(np.intp)], tail)


# With the digits that TensorFlow has: core/kernels/random_binomial_op.cc.
_STIRLING_TAILS: Final = np.array(
    [
        *(0.0810614667953272, 0.0413406959554092, 0.0276779256849983, 0.02079067210376509, 0.0166446911898211),
        *(0.0138761288230707, 0.0118967099458917, 0.0104112652619720, 0.00925546218271273, 0.00833056343336287),
    ]
)


# Distributions that read one stream from front to back.


def shuffle_blocks(shape: Sequence[int]) -> int:
    """How many blocks RandomShuffle reserves for an input of this shape."""
    return (shape[0] - 1 + WORDS - 1) // WORDS if _is_shuffled(shape) else 0


def shuffle(generator: PhiloxGenerator, values: Array) -> Array:
    """RandomShuffle, StatelessShuffle: the rows in another order."""
    if not _is_shuffled(values.shape):
        return values.copy()
    count = len(values)
    words = generator.words(-(-(count - 1) // WORDS)).reshape(-1)[: count - 1]
    swaps = words % np.arange(count, 1, -1).astype(np.uint32) + np.arange(count - 1)
    order = list(range(count))
    for place, other in enumerate(swaps.tolist()):
        order[place], order[other] = order[other], order[place]
    shuffled: Array = values[np.array(order)]
    return shuffled


def _is_shuffled(shape: Sequence[int]) -> bool:
    return math.prod(shape) > 1 and shape[0] > 1


def multinomial_blocks(batches: int, samples: int) -> int:
    """How many blocks Multinomial reserves for so many rows of logits and samples of each."""
    return batches * (-(-samples // WORDS) * WORDS * 2) * BLOCKS_PER_OUTPUT if batches and samples else 0


def multinomial(
    generator: PhiloxGenerator, logits: Array, samples: int, dtype: npt.DTypeLike = np.int64, *, threads: int = 1
) -> Array:
    """Multinomial, StatelessMultinomial: classes by the unnormalised logarithms of their probabilities, row by row.

    Logits that are not finite count as impossible; where no class is left, the answer is the number of classes.
    """
    if logits.ndim != 2:
        raise InvalidArgumentError(f"logits should be a matrix, got shape {logits.shape}")
    if samples < 0:
        raise InvalidArgumentError(f"num_samples should be non-negative, got {samples}")
    batches, classes = logits.shape
    if not classes:
        raise InvalidArgumentError("num_classes should be positive, got 0")
    result = np.empty((batches, samples), dtype)
    if not result.size:
        return result
    sums = _running_sums(logits)
    cost = int(50 * (samples * math.log(classes) / math.log(2) + classes))
    for start, stop in _shards(batches, cost, threads):
        first = start * (samples + 3) // 4
        drawn = (stop - start) * samples
        points = unit_doubles(generator.words(-(-drawn // 2), first)).reshape(-1)[:drawn].reshape(-1, samples)
        for row in range(start, stop):
            result[row] = sums[row].searchsorted(points[row - start] * sums[row, -1], side="right")
    return result


def _running_sums(logits: Array) -> Doubles:
    """The probabilities of each row added up, of which the last is their sum and not 1."""
    exact = logits.astype(np.float64)
    finite = np.isfinite(exact)
    greatest = np.where(finite, exact, -np.inf).max(axis=1, keepdims=True)
    with np.errstate(invalid="ignore"):
        return np.where(finite, np.exp(exact - greatest), 0.0).cumsum(axis=1)


# The one whose parameters and samples share a stream.


@dataclass(frozen=True, slots=True)
class _Batches:
    """How ParameterizedTruncatedNormal divides its output: into batches of one size, of which the last may be short."""

    count: int
    size: int

    @classmethod
    def of(cls, shape: Sequence[int], parameters: Sequence[Sequence[int]]) -> _Batches:
        if not len(shape):
            raise InvalidArgumentError("the shape must not be that of a scalar: its first dimension counts batches")
        for parameter in parameters:
            if len(parameter) > 1 or math.prod(parameter) not in (1, shape[0]):
                raise InvalidArgumentError(
                    f"a parameter should be a scalar, or a vector of length 1 or {shape[0]}, got shape {parameter}"
                )
        means, deviations, minima, maxima = parameters
        if math.prod(means) == math.prod(deviations) == 1 and not len(minima) and not len(maxima):
            return cls(-(-math.prod(shape) // _BATCH_SIZE), _BATCH_SIZE)
        return cls(shape[0], math.prod(shape[1:]))

    def blocks_before(self, batch: int) -> int:
        """How many blocks are set aside for the batches before that one."""
        return batch * 2 * _MAXIMUM_ITERATIONS * (self.size + 3) // 4


def parameterized_truncated_normal_blocks(shape: Sequence[int], parameters: Sequence[Sequence[int]]) -> int:
    """How many blocks ParameterizedTruncatedNormal reserves for an output of `shape` and parameters of these shapes."""
    batches = _Batches.of(shape, parameters)
    # TensorFlow multiplies in 32 bits, which overflows beyond a million elements, and divides towards zero.
    product = batches.count * 2 * _MAXIMUM_ITERATIONS * (batches.size + 3)
    wrapped = (product + 2**31) % 2**32 - 2**31
    return wrapped // 4 if wrapped >= 0 else -(-wrapped // 4)


def parameterized_truncated_normal(
    generator: PhiloxGenerator, shape: Sequence[int], parameters: Sequence[Array], *, threads: int = 1
) -> Array:
    """ParameterizedTruncatedNormal: by means, deviations, minima and maxima, each one number or one per shape[0]."""
    batches = _Batches.of(shape, [parameter.shape for parameter in parameters])
    dtype = parameters[0].dtype
    result = np.empty(math.prod(shape), dtype)
    rows = [np.broadcast_to(parameter.reshape(-1), (batches.count,)) for parameter in parameters]
    for start, stop in _shards(batches.count, _truncation_cost(dtype, batches.size), threads):
        place = batches.blocks_before(start)
        for batch in range(start, stop):
            part = result[batch * batches.size : (batch + 1) * batches.size]
            with np.errstate(all="ignore"):
                place += _Truncation.of(*(row[batch] for row in rows)).fill(part, generator.skip(place))
    return result.reshape(shape)


def stateless_parameterized_truncated_normal(
    generator: PhiloxGenerator, samples: Sequence[int], parameters: Sequence[Array], *, threads: int = 1
) -> Array:
    """StatelessParameterizedTruncatedNormal: of shape `samples` + what the four parameters broadcast to.

    All samples of one set of parameters follow each other in the stream, and every shard sets aside blocks of its own.
    """
    broadcast = np.broadcast_arrays(*parameters)
    shape, dtype = broadcast[0].shape, broadcast[0].dtype
    rows = [parameter.reshape(-1) for parameter in broadcast]
    per_set, sets = math.prod(samples), math.prod(shape)
    result = np.empty(sets * per_set, dtype)
    for start, stop in _shards(result.size, _truncation_cost(dtype, 1), threads):
        place = -(-start * 2 * _MAXIMUM_ITERATIONS // _values_per_block(dtype))
        for which in range(start // per_set, -(-stop // per_set)):
            part = result[max(start, which * per_set) : min(stop, (which + 1) * per_set)]
            with np.errstate(all="ignore"):
                place += _Truncation.of(*(row[which] for row in rows)).fill(part, generator.skip(place))
    return np.ascontiguousarray(result.reshape(sets, per_set).T).reshape((*samples, *shape))


@dataclass(frozen=True, slots=True)
class _Truncation:
    """One set of parameters. Everything is in their type, and the bounds are in units of the deviation from the mean.

    The deviation is negative where that mirrors the bounds so that the lower one is finite, or both are positive.
    """

    mean: Any
    deviation: Any
    lower: Any
    upper: Any

    @classmethod
    def of(cls, mean: Any, deviation: Any, minimum: Any, maximum: Any) -> _Truncation:
        if not (deviation > 0 and minimum < maximum and (np.isfinite(minimum) or np.isfinite(maximum))):
            raise InvalidArgumentError(
                f"Invalid parameters: a deviation of {deviation} between {minimum} and {maximum}; wanted a positive "
                "deviation, and bounds in ascending order of which one is finite"
            )
        if minimum == -np.inf or maximum < mean:
            minimum, maximum, deviation = maximum, minimum, -deviation
        return cls(mean, deviation, (minimum - mean) / deviation, (maximum - mean) / deviation)

    def fill(self, result: Array, generator: PhiloxGenerator) -> int:
        """Draws the numbers of a batch, and returns how many blocks that took."""
        propose, blocks_per_step = self._proposal()
        filled = step = 0
        while filled < len(result):
            steps = (len(result) - filled) // 2 + 8
            values, accepted = propose(generator.words(steps * blocks_per_step, step * blocks_per_step))
            places = np.flatnonzero(accepted)[: len(result) - filled]
            if not len(places) and step > _MAXIMUM_ITERATIONS:
                raise InvalidArgumentError(f"no number was found between {self.lower} and {self.upper} deviations")
            result[filled : filled + len(places)] = values.reshape(-1)[places] * self.deviation + self.mean
            filled += len(places)
            step += int(places[-1]) // accepted.shape[1] + 1 if filled == len(result) else steps
        return step * blocks_per_step

    def _proposal(self) -> tuple[Callable[[Words], tuple[Array, Array]], int]:
        """What makes candidates of blocks and says which of them to accept, and how many blocks belong together."""
        number, root = self._number, self._root
        threshold = number(1.3)
        if (self.lower < -threshold and self.upper >= 0) or (self.upper > threshold and self.lower <= 0):
            return self._from_normal, 1
        exponent = number(0.5) + self.lower * (self.lower - root) / number(4)
        cutoff = number(2) * _exponential(exponent) / (self.lower + root)
        return (self._from_uniform, 2) if self.upper - self.lower < cutoff else (self._from_exponential, 1)

    @property
    def _number(self) -> Any:
        return type(self.lower)

    @property
    def _root(self) -> Any:
        return np.sqrt(self.lower * self.lower + self._number(4))

    def _from_normal(self, words: Words) -> tuple[Array, Array]:
        candidates = _NORMAL[np.dtype(self._number)](words).astype(self._number, copy=False)
        return candidates, (candidates >= self.lower) & (candidates <= self.upper)

    def _from_uniform(self, words: Words) -> tuple[Array, Array]:
        units = _UNIFORM[np.dtype(self._number)](words)
        candidates = units[0::2] * (self.upper - self.lower) + self.lower
        surplus = self._number(0) if self.lower < 0 else self.lower * self.lower
        return candidates, units[1::2] <= _exponential((surplus - candidates * candidates) / self._number(2))

    def _from_exponential(self, words: Words) -> tuple[Array, Array]:
        units = _UNIFORM[np.dtype(self._number)](words)
        alpha = (self.lower + self._root) / self._number(2)
        candidates = -_logarithm(units[:, 0::2]) / alpha + self.lower
        x = alpha - candidates if self.lower < alpha else self.lower - alpha
        accepted = (units[:, 1::2] <= _exponential(-x * x / self._number(2))) & (candidates < self.upper)
        return candidates, accepted


def _truncation_cost(dtype: np.dtype[Any], size: int) -> int:
    """What TensorFlow takes a batch of that size to cost, in cycles."""
    root, exponential = {_HALF: (8, 43), _SINGLE: (8, 34), _DOUBLE: (28, 51)}[dtype]
    return 4 + 2 + root + 4 + exponential + 1 + (2 * 13 + 7 + exponential) * 2 * size


def _shards(total: int, cost: int, threads: int) -> Iterator[tuple[int, int]]:
    """The ranges into which TensorFlow divides `total` units of work, each of so many cycles."""
    size = _shard_size(total, cost, threads) if total else 1
    for start in range(0, total, size):
        yield start, min(start + size, total)


def _shard_size(total: int, cost: int, threads: int) -> int:
    """As Eigen's `parallelFor` decides: about 40,000 cycles or more, at most four shards per thread, evenly loaded."""
    if total == 1 or threads == 1 or (total * cost - 100_000) / 100_000 + 0.9 < 2:
        return total

    def efficiency(shards: int) -> float:
        return shards / (-(-shards // threads) * threads)

    size = min(total, max(-(-total // (4 * threads)), int(1.0 / (cost / 40_000))))
    greatest = min(total, 2 * size)
    shards = tried = -(-total // size)
    best = efficiency(shards)
    while best < 1.0 and tried > 1:
        coarser = -(-total // (tried - 1))
        if coarser > greatest:
            break
        tried = -(-total // coarser)
        if efficiency(tried) + 0.01 >= best:
            size = coarser
            best = max(best, efficiency(tried))
    return size


# What they share.


def _fill(generator: PhiloxGenerator, shape: Sequence[int], dtype: np.dtype[Any], convert: Conversion) -> Array:
    """An array of what `convert` makes of the stream from its beginning."""
    count = math.prod(shape)
    size = _values_per_block(dtype)
    blocks = -(-count // size)
    result = np.empty((blocks, size), dtype)

    def fill(start: int) -> None:
        stop = min(start + BLOCKS_AT_ONCE, blocks)
        result[start:stop] = convert(generator.words(stop - start, start))

    in_parallel(fill, range(0, blocks, BLOCKS_AT_ONCE), thread_limit() if blocks > _WORTH_THREADS else 1)
    return result.reshape(-1)[:count].reshape(shape)


def _values_per_block(dtype: np.dtype[Any]) -> int:
    return 2 if dtype.itemsize == 8 else 4


def _logarithm(values: Array) -> Array:
    """The natural logarithm of numbers of [0, 1), in their own type, with the bits of the C library."""
    is_positive = values > 0
    if values.dtype == _DOUBLE:
        result = np.full(values.shape, -np.inf)
        result[is_positive] = by_c_library(math.log, values[is_positive])
        return result
    singles = np.full(values.shape, -np.inf, np.float32)
    singles[is_positive] = log_singles(values[is_positive].astype(np.float32))
    return singles.astype(values.dtype)


def _exponential(values: Any) -> Any:
    """The exponential in the type of the values, which may differ from the C library's in the last bit."""
    return np.exp(values.astype(np.float64)).astype(values.dtype)


def _conversion(conversions: dict[np.dtype[Any], Conversion], dtype: npt.DTypeLike) -> Conversion:
    wanted = np.dtype(dtype)
    if wanted not in conversions:
        known = ", ".join(sorted(str(dtype) for dtype in conversions))
        raise InvalidArgumentError(f"this distribution has no numbers of type {wanted}, only of {known}")
    return conversions[wanted]


def _narrow_values(values: Doubles, dtype: np.dtype[Any]) -> Array:
    """The values as `dtype`; TensorFlow rounds to float32 on the way to 16 bits."""
    values = _flush_subnormals(values)
    return (_flush_subnormals(values.astype(np.float32)) if dtype in (_HALF, _BFLOAT16, _SINGLE) else values).astype(
        dtype
    )


def _flush_subnormals(values: Array) -> Array:
    """The values with zeros for subnormal numbers, which TensorFlow has its processor make of them."""
    values[np.abs(values) < np.finfo(values.dtype).tiny] = 0
    return values


_UNIFORM: Final[dict[np.dtype[Any], Conversion]] = {
    _HALF: unit_halves,
    _BFLOAT16: unit_bfloats,
    _SINGLE: unit_singles,
    _DOUBLE: unit_doubles,
}
_NORMAL: Final[dict[np.dtype[Any], Conversion]] = {
    _HALF: normal_singles,  # and then rounded, as TensorFlow does
    _BFLOAT16: normal_singles,
    _SINGLE: normal_singles,
    _DOUBLE: normal_doubles,
}
_INTEGERS: Final[dict[np.dtype[Any], Conversion]] = {
    np.dtype(np.int32): np.ascontiguousarray,
    np.dtype(np.int64): long_integers,
}
_FULL_INTEGERS: Final[dict[np.dtype[Any], Conversion]] = {
    np.dtype(np.int32): np.ascontiguousarray,
    np.dtype(np.uint32): np.ascontiguousarray,
    np.dtype(np.int64): long_integers,
    np.dtype(np.uint64): long_integers,
}
