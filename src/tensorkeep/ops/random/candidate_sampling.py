"""Samples of classes for losses over many of them: drawn anew in every run, with how often each was to be expected."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from tensorkeep.errors import InvalidArgumentError, UnimplementedError
from tensorkeep.graph.graph import Tensor
from tensorkeep.graph.registry.opspec import OpSpec, op
from tensorkeep.ops.random.philox import PhiloxGenerator, by_c_library, long_integers, unit_doubles, unit_singles
from tensorkeep.ops.random.sampling import stream_of
from tensorkeep.ops.shared.kernel_types import Array
from tensorkeep.ops.shared.shape_rules import with_rank
from tensorkeep.runtime.context import KernelContext
from tensorkeep.runtime.limits import check_allocation
from tensorkeep.shapes import Shape

Draw = Callable[[PhiloxGenerator, int], Iterator[Array]]

_WORDS_PER_SAMPLE: Final = 2048  # what an execution sets aside for each sample
_BLOCKS_AT_ONCE: Final = 256
_MOST_TRIES: Final = 1 << 31


def _blocks(generator: PhiloxGenerator) -> Iterator[npt.NDArray[np.uint32]]:
    first = 0
    while True:
        yield generator.words(_BLOCKS_AT_ONCE, first)
        first += _BLOCKS_AT_ONCE


def _uniform(generator: PhiloxGenerator, range_max: int) -> Iterator[Array]:
    """Classes below `range_max`, all alike. Numbers that would favour some are passed over."""
    count = np.uint64(range_max)
    is_power = range_max & (range_max - 1) == 0
    rejected = np.uint64((2**64 - 1) % range_max + 1)
    for words in _blocks(generator):
        numbers = long_integers(words).reshape(-1)
        kept = numbers if is_power else numbers[numbers >= rejected]
        yield (kept % count).astype(np.int64)


def _log_uniform(generator: PhiloxGenerator, range_max: int) -> Iterator[Array]:
    """Classes below `range_max`, small ones more often: by a uniform logarithm."""
    span = math.log1p(range_max)
    for words in _blocks(generator):
        powers = by_c_library(math.exp, unit_doubles(words).reshape(-1) * span)
        yield (powers.astype(np.int64) - 1) % range_max


def _uniform_chance(classes: Array, range_max: int) -> Array:
    return np.full(classes.shape, np.float32(1) / np.float32(range_max), np.float32)


def _log_uniform_chance(classes: Array, range_max: int) -> Array:
    exact = classes.astype(np.float64)
    return (np.log((exact + 2) / (exact + 1)) / math.log1p(range_max)).astype(np.float32)


def _pick_samples(samples: Iterator[Array], count: int, unique: bool) -> tuple[Array, int]:
    """As many samples as wanted, and how many were tried for them."""
    if not unique:
        check_allocation((max(count, 0),), np.int64, copies=2)
        parts: list[Array] = []
        missing = count
        while missing > 0:
            parts.append(next(samples))
            missing -= len(parts[-1])
        return np.concatenate([*parts, np.zeros(0, np.int64)])[:count].astype(np.int64), count
    found: dict[int, None] = {}
    tries = 0
    while len(found) < count:
        for value in next(samples).tolist():
            tries += 1
            found[value] = None
            if len(found) == count:
                break
        if tries >= _MOST_TRIES:
            raise InvalidArgumentError(f"no {count} different classes were found in {tries} tries")
    return np.array(list(found), np.int64), tries


def _expected_counts(chances: Array, count: int, tries: int) -> Array:
    """How often a class of each chance is to be expected among the samples."""
    if tries == count:
        return chances * np.float32(count)
    logarithms = np.log1p(-chances.astype(np.float64)).astype(np.float32)
    return (-np.expm1((np.float32(tries) * logarithms).astype(np.float64))).astype(np.float32)


def _check_true_classes(true_classes: Any, num_true: int, range_max: int) -> Array:
    array = np.asarray(true_classes)
    if array.ndim != 2:
        raise InvalidArgumentError("true_classes must be a matrix")
    if array.shape[1] != num_true:
        raise InvalidArgumentError(
            f"true_classes must have num_true columns, expected: {array.shape[1]} was: {num_true}"
        )
    outside = array[(array < 0) | (array >= range_max)]
    if outside.size:
        raise InvalidArgumentError(f"`true_candidate` out of range [0, {range_max}), received {outside[0]}")
    return array


def _sampler_shape(true_classes: Tensor, *, num_true: int, num_sampled: int) -> tuple[Shape, Shape, Shape]:
    rows = with_rank(true_classes, 2)[0]
    return Shape((num_sampled,)), Shape((rows, num_true)), Shape((num_sampled,))


_OUTPUTS: Final = "sampled_candidates: int64, true_expected_count: float, sampled_expected_count: float"
_COUNTS: Final = ("num_true: int >= 1", "num_sampled: int >= 1", "unique: bool")
_SEEDS: Final = ("seed: int = 0", "seed2: int = 0", "stateful")


def _sampler(name: str, draw: Draw, chance: Callable[[Array, int], Array]) -> OpSpec:
    spec = op(f"{name}(true_classes: int64) -> {_OUTPUTS}", *_COUNTS, "range_max: int >= 1", *_SEEDS)
    spec.shape(_sampler_shape)

    @spec.stateful_kernel
    def candidate_sampler_kernel(
        ctx: KernelContext,
        true_classes: Array,
        *,
        num_true: int,
        num_sampled: int,
        unique: bool,
        range_max: int,
        seed: int,
        seed2: int,
    ) -> tuple[Array, ...]:
        classes = _check_true_classes(true_classes, num_true, range_max)
        if unique and num_sampled > range_max:
            raise InvalidArgumentError("Sampler's range is too small.")
        generator = stream_of(ctx, seed, seed2).reserve(_WORDS_PER_SAMPLE * num_sampled // 4)
        samples, tries = _pick_samples(draw(generator, range_max), num_sampled, unique)
        expected = [_expected_counts(chance(values, range_max), num_sampled, tries) for values in (classes, samples)]
        return samples, *expected

    return spec


uniform_candidate_sampler = _sampler("UniformCandidateSampler", _uniform, _uniform_chance)
log_uniform_candidate_sampler = _sampler("LogUniformCandidateSampler", _log_uniform, _log_uniform_chance)

fixed_unigram_candidate_sampler = op(
    f"FixedUnigramCandidateSampler(true_classes: int64) -> {_OUTPUTS}",
    *_COUNTS,
    "range_max: int >= 1",
    "vocab_file: string = ''",
    "distortion: float = 1.0",
    "num_reserved_ids: int = 0",
    "num_shards: int >= 1 = 1",
    "shard: int >= 0 = 0",
    "unigrams: list(float) = []",
    *_SEEDS,
)
fixed_unigram_candidate_sampler.shape(_sampler_shape)


@fixed_unigram_candidate_sampler.stateful_kernel
def fixed_unigram_candidate_sampler_kernel(
    ctx: KernelContext,
    true_classes: Array,
    *,
    num_true: int,
    num_sampled: int,
    unique: bool,
    range_max: int,
    vocab_file: bytes,
    distortion: float,
    num_reserved_ids: int,
    num_shards: int,
    shard: int,
    unigrams: tuple[float, ...],
    seed: int,
    seed2: int,
) -> tuple[Array, ...]:
    if bool(vocab_file) == bool(unigrams):
        wanted = "only provide one of vocab_file and unigrams" if unigrams else "provide either vocab_file or unigrams"
        raise InvalidArgumentError(f"Must {wanted}.")
    if vocab_file:
        raise UnimplementedError(
            f'counts in a file, "{vocab_file.decode()}", are not read: give them in the attribute `unigrams`'
        )
    classes = _check_true_classes(true_classes, num_true, range_max)
    if unique and num_sampled > range_max:
        raise InvalidArgumentError("Sampler's range is too small.")
    picker = ctx.keep(
        "picker", lambda: Picker(_kept_weights(unigrams, distortion, num_reserved_ids, num_shards, shard))
    )
    if len(picker) != range_max:
        raise InvalidArgumentError(f"range is {range_max} must be the same as number of items {len(picker)}")
    generator = stream_of(ctx, seed, seed2).reserve(_WORDS_PER_SAMPLE * num_sampled // 4)
    samples, tries = _pick_samples(picker.draw(_blocks(generator)), num_sampled, unique)
    expected = [_expected_counts(picker.chances[values], num_sampled, tries) for values in (classes, samples)]
    return samples, *expected


def _kept_weights(unigrams: tuple[float, ...], distortion: float, reserved: int, shards: int, shard: int) -> Array:
    """The weights of the classes of a shard; reserved ones are never drawn."""
    weights = np.power(np.array(unigrams, np.float32), np.float32(distortion))
    every = np.concatenate([np.zeros(reserved, np.float32), weights])
    kept: Array = every[np.arange(len(every)) % shards == shard]
    if not kept.size or not np.isfinite(kept).all() or (kept < 0).any() or not kept.any():
        raise InvalidArgumentError("unigrams must be counts of at least one class, none negative, not all zero")
    return kept


all_candidate_sampler = op(f"AllCandidateSampler(true_classes: int64) -> {_OUTPUTS}", *_COUNTS, *_SEEDS)
all_candidate_sampler.shape(_sampler_shape)


@all_candidate_sampler.kernel
def all_candidate_sampler_kernel(true_classes: Array, *, num_true: int, num_sampled: int) -> tuple[Array, Array, Array]:
    classes = _check_true_classes(true_classes, num_true, num_sampled)
    ones = np.ones(num_sampled, np.float32)
    return np.arange(num_sampled, dtype=np.int64), np.ones(classes.shape, np.float32), ones


compute_accidental_hits = op(
    "ComputeAccidentalHits(true_classes: int64, sampled_candidates: int64)"
    " -> indices: int32, ids: int64, weights: float",
    "num_true: int",
    "seed: int = 0",
    "seed2: int = 0",
)


@compute_accidental_hits.shape
def compute_accidental_hits_shape(
    true_classes: Tensor, sampled_candidates: Tensor, *, num_true: int
) -> tuple[Shape, Shape, Shape]:
    with_rank(true_classes, 2).merge(Shape((None, num_true)))
    with_rank(sampled_candidates, 1)
    return Shape((None,)), Shape((None,)), Shape((None,))


@compute_accidental_hits.kernel
def compute_accidental_hits_kernel(
    true_classes: Array, sampled_candidates: Array, *, num_true: int
) -> tuple[Array, Array, Array]:
    classes, samples = np.asarray(true_classes), np.asarray(sampled_candidates)
    if classes.ndim != 2 or classes.shape[1] != num_true:
        raise InvalidArgumentError("true_candidates must be a batch_size * num_true matrix")
    if samples.ndim != 1:
        raise InvalidArgumentError(
            "sampled_candidates must be a vector, which is typically an output from CandidateSampler"
        )
    places = {value: place for place, value in enumerate(samples.tolist())}
    hits = [(row, places[value]) for row, values in enumerate(classes.tolist()) for value in values if value in places]
    indices = np.array([row for row, _ in hits], np.int32)
    ids = np.array([place for _, place in hits], np.int64)
    return indices, ids, np.full(len(hits), -np.finfo(np.float32).max, np.float32)


class Picker:
    """Draws numbers below a count by their weights, in constant time, with the very table and draws of TensorFlow.

    The table is one of pairs, by Walker and Vose. Each number has a column; of the height of a column a part is its
    own, the rest another number's. A draw takes a column and a height.
    """

    def __init__(self, weights: Array) -> None:
        total = np.float32(0)
        for weight in weights.tolist():
            total = np.float32(total + np.float32(weight))
        self.chances: Array = (weights / total).astype(np.float32)
        self._own, self._other = _table(weights.tolist())

    def __len__(self) -> int:
        return len(self._own)

    def draw(self, blocks: Iterable[npt.NDArray[np.uint32]]) -> Iterator[Array]:
        """Numbers from random words, two words each."""
        for words in blocks:
            pairs = words.reshape(-1, 2)
            heights = unit_singles(pairs)[:, 0]
            columns = pairs[:, 1] % np.uint32(len(self))
            yield np.where(heights < self._own[columns], columns, self._other[columns]).astype(np.int64)


def _table(weights: list[float]) -> tuple[Array, Array]:
    """The part of each column that is its own, and whose the rest is."""
    count, total = len(weights), 0.0
    for weight in weights:
        total += weight
    own = [float(np.float32(weight) * np.float32(count)) / total for weight in weights]
    other = list(range(count))
    low = [index for index, part in enumerate(own) if part < 1.0]
    high = [index for index, part in enumerate(own) if part >= 1.0]
    while high and low:
        small, large = low.pop(), high.pop()
        other[small] = large
        own[large] -= 1.0 - own[small]
        (low if own[large] < 1.0 else high).append(large)
    for index in (*high, *low):  # what rounding has left over
        own[index], other[index] = 1.0, index
    return np.array(own, np.float32), np.array(other, np.int64)
