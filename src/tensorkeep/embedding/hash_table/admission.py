"""Who lets keys into a hash table: nobody, all but those on a list, or those that occurred often enough.

A Bloom filter has counters in slices, one of each place that keys stand at (`places_of`), so that they are cut like the
table (DeepRec's bloom_filter_strategy.cc).
"""

from __future__ import annotations

from collections.abc import Iterator
from threading import Lock
from typing import Any, Final, TypeAlias

import numpy as np
import numpy.typing as npt

from tensorkeep.embedding.hash_table.table import places_of
from tensorkeep.embedding.table.bloom import hash64_without_tail
from tensorkeep.errors import InvalidArgumentError

Keys: TypeAlias = npt.NDArray[np.int64]
Counts: TypeAlias = npt.NDArray[np.int64]
Admitted: TypeAlias = npt.NDArray[np.bool_]

COUNTER_DTYPES: Final = (np.dtype(np.uint8), np.dtype(np.uint16), np.dtype(np.uint32))


class AdmitNobody:
    """Admits no new keys: only those that a table has already are found."""

    def admits(self, keys: Keys, counts: Counts) -> Admitted:
        return np.zeros(len(keys), np.bool_)


class AdmitUnlisted:
    """Admits all keys but those on a list."""

    def __init__(self) -> None:
        self._listed = np.zeros(0, np.int64)

    def keep_out(self, keys: Keys) -> None:
        """Adds keys to the list."""
        self._listed = np.union1d(self._listed, keys)

    def admits(self, keys: Keys, counts: Counts) -> Admitted:
        return ~np.isin(keys, self._listed)


class AdmitFrequent:
    """Admits keys that occurred `threshold` times, by a counting Bloom filter: keys share counters, so a key may be
    admitted a little early.
    """

    def __init__(
        self, threshold: int, hashes: int, shape: tuple[int, int], dtype: npt.DTypeLike, begin: int, size: int
    ) -> None:
        self.threshold = threshold
        self.begin, self.length, self.size = begin, shape[0], size
        self.counters: npt.NDArray[Any] = np.zeros(shape, dtype)
        self.lock = Lock()
        if self.counters.dtype not in COUNTER_DTYPES:
            raise InvalidArgumentError(f"counters of type {self.counters.dtype}, expected uint8, uint16 or uint32")
        if hashes < 1:
            raise InvalidArgumentError(f"a Bloom filter of {hashes} hashes, expected at least one")
        primes = _primes()
        self._seeds = [next(primes) for _ in range(hashes)]

    def admits(self, keys: Keys, counts: Counts) -> Admitted:
        places = places_of(keys, self.size) - self.begin
        if len(places) and (places.min() < 0 or places.max() >= self.length):
            wrong = keys[(places < 0) | (places >= self.length)][0]
            raise InvalidArgumentError(
                f"key {wrong} stands at {places_of(np.array([wrong]), self.size)[0]} of {self.size}, and this filter "
                f"has {self.begin} to {self.begin + self.length}: look it up in the part of the table that it is in"
            )
        if len(counts) and counts.min() < 1:
            raise InvalidArgumentError(f"a key occurred {counts.min()} times; expected at least once")
        buckets = np.uint64(self.counters.shape[1])
        hashes = [hash64_without_tail(keys, seed) for seed in self._seeds]
        columns = np.stack([(of_keys % buckets).astype(np.int64) for of_keys in hashes], axis=-1)
        return self._counted(places[:, None] * self.counters.shape[1] + columns, counts)

    def _counted(self, cells: npt.NDArray[np.int64], counts: Counts) -> Admitted:
        """Adds the counts of keys to their counters, one key after the other; for each key, whether all its counters
        have reached the threshold then.
        """
        most = int(np.iinfo(self.counters.dtype).max)
        flat = self.counters.reshape(-1)
        _, number, times = np.unique(cells, return_inverse=True, return_counts=True)
        is_alone = (times[number].reshape(cells.shape) == 1).all(axis=1)
        admitted = np.empty(len(cells), np.bool_)
        with self.lock:
            raised = np.minimum(flat[cells[is_alone]] + counts[is_alone, None], most)
            flat[cells[is_alone]] = raised
            admitted[is_alone] = (raised >= self.threshold).all(axis=1)
            for at in np.flatnonzero(~is_alone).tolist():
                lowest = most
                for cell in cells[at].tolist():  # a counter that a key has twice counts it twice
                    flat[cell] = value = min(int(flat[cell]) + int(counts[at]), most)
                    lowest = min(lowest, value)
                admitted[at] = lowest >= self.threshold
        return admitted

    def copy(self) -> npt.NDArray[np.int8]:
        """The counters as a checkpoint holds them: as bytes."""
        with self.lock:
            return np.frombuffer(self.counters.tobytes(), np.int8)

    def restore(self, begin: int, length: int, stored: npt.NDArray[np.int8]) -> None:
        """Takes over the counters of those places that a stored slice has too."""
        row_bytes = self.counters.shape[1] * self.counters.dtype.itemsize
        if stored.nbytes != length * row_bytes:
            raise InvalidArgumentError(
                f"a stored Bloom filter has {stored.nbytes} bytes for {length} places, expected {row_bytes} for each: "
                "it was made for another number of keys, another probability or another frequency"
            )
        counters = np.frombuffer(stored.tobytes(), self.counters.dtype).reshape(length, -1)
        first, last = max(begin, self.begin), min(begin + length, self.begin + self.length)
        with self.lock:
            if first < last:
                self.counters[first - self.begin : last - self.begin] = counters[first - begin : last - begin]


def _primes() -> Iterator[int]:
    """2, 3, 5 and so on: the seeds of hashes."""
    found: list[int] = []
    candidate = 2
    while True:
        if all(candidate % prime for prime in found):
            found.append(candidate)
            yield candidate
        candidate += 1
