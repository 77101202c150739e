"""A counting Bloom filter: about how often a key occurred, in a fixed amount of memory.

Its sizes and its hash are DeepRec's, so that both count alike.
"""

from __future__ import annotations

import math
from typing import Any, Final, TypeAlias

import numpy as np
import numpy.typing as npt

from tensorkeep.errors import InvalidArgumentError

Keys: TypeAlias = npt.NDArray[np.int64]
Counts: TypeAlias = npt.NDArray[np.int64]

_SEEDS: Final = (2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53, 59, 61, 67, 71, 73, 79, 83, 89, 97)
_MULTIPLIER: Final = np.uint64(0x880355F21E6D1965)
_MIXER: Final = np.uint64(0x2127599BF4325C37)
_KEY_LENGTH: Final = np.uint64(8)


def _mix_bits(values: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
    values = values ^ (values >> np.uint64(23))
    values = values * _MIXER
    return values ^ (values >> np.uint64(47))


def hash64(keys: Keys, seed: int) -> npt.NDArray[np.uint64]:
    """DeepRec's hash of each key."""
    with np.errstate(over="ignore"):
        # The tail of a key of eight bytes is empty, and mixes to nothing.
        return _mix_bits(_taken_in(keys, seed) * _MULTIPLIER)


def hash64_without_tail(keys: Keys, seed: int) -> npt.NDArray[np.uint64]:
    """The hash that the filters of DeepRec's hash tables have, which leave an empty tail out."""
    with np.errstate(over="ignore"):
        return _mix_bits(_taken_in(keys, seed))


def _taken_in(keys: Keys, seed: int) -> npt.NDArray[np.uint64]:
    start = np.uint64(seed) ^ (_KEY_LENGTH * _MULTIPLIER)
    return (start ^ _mix_bits(keys.astype(np.int64).view(np.uint64))) * _MULTIPLIER


def hash_count(false_positive: float) -> int:
    """How many counters a key has."""
    return math.ceil(math.log2(1 / false_positive))


def counter_count(elements: int, false_positive: float) -> int:
    """How many counters there are."""
    return math.ceil(abs(math.log(false_positive)) / math.log(2) ** 2 * elements)


class BloomCounters:
    """Counters that keys share. An estimate is never less than the count, up to the limit."""

    def __init__(self, elements: int, false_positive: float, limit: int, dtype: npt.DTypeLike = np.uint64) -> None:
        self.hashes = hash_count(false_positive)
        if not 1 <= self.hashes <= len(_SEEDS):
            raise InvalidArgumentError(
                f"a false positive probability of {false_positive} takes {self.hashes} hashes, of 1 to {len(_SEEDS)}"
            )
        self.limit = limit
        self.counters: npt.NDArray[Any] = np.zeros(counter_count(elements, false_positive), dtype)
        if limit > np.iinfo(self.counters.dtype).max:
            raise InvalidArgumentError(
                f"counters of type {self.counters.dtype} cannot count to {limit}; choose a wider type"
            )

    def buckets(self, keys: Keys) -> npt.NDArray[np.int64]:
        """The counters of each key, as [keys, hashes]. One may be there twice."""
        count = np.uint64(len(self.counters))
        columns = [(hash64(keys, seed) % count).astype(np.int64) for seed in _SEEDS[: self.hashes]]
        return np.stack(columns, axis=-1)

    def estimate(self, keys: Keys) -> Counts:
        """About how often each key was added: never less, unless that is more than the limit."""
        if not len(keys):
            return np.zeros(0, np.int64)
        least: Counts = self.counters[self.buckets(keys)].min(axis=1).astype(np.int64)
        return least

    def add(self, keys: Keys, counts: Counts) -> None:
        """Counts keys, one after the other: of each, the counters that have not reached the limit."""
        buckets = self.buckets(keys)
        shared = np.bincount(np.unique(buckets, return_inverse=True)[1].ravel())
        repeated = shared[np.unique(buckets, return_inverse=True)[1].reshape(buckets.shape)].max(axis=1, initial=0) > 1
        alone = buckets[~repeated]
        values = self.counters[alone].astype(np.int64)
        self.counters[alone] = self._raised(values, counts[~repeated, None])
        for row, count in zip(buckets[repeated].tolist(), counts[repeated].tolist(), strict=True):
            for bucket in row:
                self.counters[bucket] = self._raised(np.int64(self.counters[bucket]), np.int64(count))

    def raise_to(self, keys: Keys, counts: Counts) -> None:
        """Sees to it that each key is estimated at no less than its count."""
        np.maximum.at(self.counters, self.buckets(keys), self._clipped(counts)[:, None].astype(self.counters.dtype))

    def clear(self) -> None:
        """All counters are 0 again."""
        self.counters[...] = 0

    def _raised(self, values: Any, counts: Any) -> Any:
        return np.where(values < self.limit, self._clipped(values + counts), values)

    def _clipped(self, counts: Any) -> Any:
        # An addition that leaves the range of 64 bits becomes negative; such counts are beyond any limit.
        most = min(int(np.iinfo(self.counters.dtype).max), 2**63 - 1)
        return np.where(counts < 0, most, np.minimum(counts, most))
