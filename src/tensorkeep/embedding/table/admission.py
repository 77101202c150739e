"""Which keys are given rows.

A filter lets a key in when it has occurred often enough. Until then only its count is kept: exactly, by key, or about,
in a counting Bloom filter.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from tensorkeep.embedding.table.bloom import BloomCounters
from tensorkeep.embedding.table.index import ABSENT, RowNumbers
from tensorkeep.errors import InvalidArgumentError

Counts: TypeAlias = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class AdmitAll:
    """Every key has a row from its first occurrence on."""


@dataclass(frozen=True, slots=True)
class CounterFilter:
    """A key is let in when it has occurred `threshold` times; until then it is counted, and stored with a table."""

    threshold: int

    def __post_init__(self) -> None:
        if self.threshold < 0:
            raise InvalidArgumentError(f"a key cannot occur {self.threshold} times; 0 turns the filter off")

    def admits(self, known: Counts, counts: Counts) -> npt.NDArray[np.bool_]:
        """For keys that occurred `known` times before and `counts` times now, whether they are let in."""
        return known + counts >= self.threshold


@dataclass(frozen=True, slots=True)
class BloomFilter:
    """A key is let in when it has occurred about `threshold` times, by a counting Bloom filter of fixed size.

    The filter is sized for `elements` keys, of which the given share may be let in too early. Its counters are not
    stored with a table.
    """

    threshold: int
    elements: int
    false_positive: float
    counter_dtype: npt.DTypeLike = np.uint64

    def __post_init__(self) -> None:
        problems = []
        if self.threshold < 0:
            problems.append(f"a key cannot occur {self.threshold} times; 0 turns the filter off")
        if self.elements < 1:
            problems.append(f"there have to be elements, got {self.elements}")
        if not 0 < self.false_positive < 1:
            problems.append(f"the false positive probability is {self.false_positive}, expected between 0 and 1")
        if problems:
            raise InvalidArgumentError("; ".join(problems))

    def counters(self) -> BloomCounters:
        """Fresh counters."""
        return BloomCounters(self.elements, self.false_positive, self.threshold, self.counter_dtype)

    def admits(self, known: Counts, counts: Counts) -> npt.NDArray[np.bool_]:
        """For keys that are estimated at `known` and occur `counts` times now, whether they are let in."""
        return known + counts >= self.threshold


Admission: TypeAlias = AdmitAll | CounterFilter | BloomFilter


@dataclass(frozen=True, slots=True, eq=False)
class Touched:
    """What became of keys: their row numbers, -1 where a filter did not let them in."""

    rows: RowNumbers

    @property
    def admitted(self) -> npt.NDArray[np.bool_]:
        """For each key whether it has a row."""
        return np.not_equal(self.rows, ABSENT)
