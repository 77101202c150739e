"""Which keys of a batch go to which part of a table, each once.

shard(key) = key mod 1000 mod parts         DeepRec's rule, by which parts are stored too
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from tensorkeep.arrays import Array
from tensorkeep.embedding.stored.buckets import shards_of
from tensorkeep.embedding.table.kernels import Kernels

Keys = npt.NDArray[np.int64]
Integers = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Routed:
    """A batch of keys on its way: those that differ, by part, and how what comes back becomes the batch again."""

    kernels: Kernels
    size: int
    first: Integers | None
    """Where each key stands first in the batch; None if none is there twice."""
    group: Integers | None
    keys: Mapping[int, Keys]
    """By part, its keys."""
    places: Mapping[int, Integers]
    """By part, where its keys stand among those that differ."""

    @classmethod
    def of(cls, keys: Keys, parts: int, kernels: Kernels) -> Routed:
        found = kernels.groups_of(keys)
        first, group = (None, None) if found is None else found
        distinct = keys if first is None else keys[first]
        if parts == 1:
            every = np.arange(distinct.size)
            return cls(kernels, keys.size, first, group, {0: distinct} if distinct.size else {}, {0: every})
        shards = shards_of(distinct, parts)
        places = {number: np.flatnonzero(shards == number) for number in range(parts)}
        places = {number: place for number, place in places.items() if place.size}
        return cls(kernels, keys.size, first, group, {n: distinct[place] for n, place in places.items()}, places)

    @property
    def distinct(self) -> int:
        return self.size if self.first is None else int(self.first.size)

    def gathered(self, answers: Mapping[int, Array], empty: Array) -> Array:
        """What parts say of their keys, for each key of the batch. `empty` has the shape and type of no rows at all."""
        if not answers:
            return np.empty((self.size, *empty.shape[1:]), empty.dtype)
        if len(answers) == 1 and self.group is None:
            [only] = answers.values()
            return np.array(only)
        where = np.empty(self.distinct, np.int64)
        start = 0
        for number, rows in answers.items():
            where[self.places[number]] = np.arange(start, start + len(rows))
            start += len(rows)
        index = where if self.group is None else where[self.group]
        values = next(iter(answers.values())) if len(answers) == 1 else np.concatenate(list(answers.values()))
        return np.take(values, index, axis=0)

    def sums(self, values: Array) -> dict[int, Array]:
        """Rows of the batch for each part, those of one key added up in their order."""
        whole = values
        if self.first is not None and self.group is not None:
            whole = self.kernels.summed(values, self.first, self.group)
        return self._by_part(whole)

    def firsts(self, values: Array | None) -> dict[int, Array | None]:
        """What the batch says of each key where it stands first."""
        if values is None:
            return dict.fromkeys(self.keys)
        return dict(self._by_part(values if self.first is None else values[self.first]))

    def lasts(self, values: Array | None) -> dict[int, Array | None]:
        """What the batch says of each key where it stands last."""
        if values is None:
            return dict.fromkeys(self.keys)
        if self.group is None:
            return dict(self._by_part(values))
        last = np.empty(self.distinct, np.int64)
        last[self.group] = np.arange(self.size)
        return dict(self._by_part(values[last]))

    def counts(self, counts: Integers | None) -> dict[int, Integers | None]:
        """How often each key occurs in the batch, by what is said of each place in it; once each, if nothing is."""
        if self.group is None:
            return dict.fromkeys(self.keys) if counts is None else dict(self._by_part(counts))
        totals = np.bincount(self.group, counts, self.distinct).astype(np.int64)
        return dict(self._by_part(totals))

    def _by_part(self, values: Any) -> dict[int, Any]:
        if len(self.keys) == 1:
            return dict.fromkeys(self.keys, values)
        return {number: values[self.places[number]] for number in self.keys}
