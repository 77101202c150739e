"""Which keys are the best of a table, found by several workers.

Most rules look at one key at a time, and workers apply them as they are. The best `count` keys are known only after all
were seen: workers first give the best scores of their shards, then how many keys of each bucket have just the least
score that is kept; of these the first in order are kept, as one process keeps them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tensorkeep.cluster.executors import Executor
from tensorkeep.embedding.stored.buckets import BUCKETS, buckets_of
from tensorkeep.embedding.stored.embeddings import StoredEmbedding
from tensorkeep.embedding.stored.ordered_columns import OrderedColumn, Selection, in_order
from tensorkeep.embedding.stored.rows import Batch
from tensorkeep.embedding.tools.pruning import SCORE_FIELDS, KeepTop, PruneRule, Score, scores_of
from tensorkeep.embedding.tools.rewriting import Rewrite, opened_for_tools
from tensorkeep.io.files.filesystem import FileSystem

Booleans = npt.NDArray[np.bool_]
Integers = npt.NDArray[np.int64]


@dataclass(frozen=True)
class KeepAbove:
    """Keeps the keys that score above the least score, and so many of each bucket that have just that score."""

    by: Score
    least: float
    ties: tuple[int, ...]

    def selection(self, column: OrderedColumn) -> Selection:
        left = np.array(self.ties, np.int64)

        def choose(batch: Batch) -> Booleans:
            scores = scores_of(column, batch, self.by)
            chosen: Booleans = scores > self.least
            equal = np.flatnonzero(scores == self.least)
            for place, bucket in zip(equal.tolist(), buckets_of(batch.keys[equal]).tolist(), strict=True):
                if left[bucket]:
                    left[bucket] -= 1
                    chosen[place] = True
            return chosen

        return Selection.of(column, choose, SCORE_FIELDS[self.by])

    @property
    def filtered(self) -> Callable[[Batch], Booleans] | None:
        return None


@dataclass(frozen=True)
class ScorePart:
    """The part of a table whose scores a worker is to look at."""

    path: str
    name: str
    partition: tuple[int, int]
    rule: KeepTop
    fs: FileSystem
    least: float = 0.0


def best_part(part: ScorePart) -> npt.NDArray[np.float64]:
    """The best scores of a part of a table, no more of them than are kept of all."""
    count = part.rule.count
    best = np.zeros(0, np.float64)
    for scores, _ in _scored_batches(part):
        best = np.concatenate([best, scores])
        if best.size > count:
            best = np.partition(best, best.size - count)[best.size - count :]
    return best


def ties_part(part: ScorePart) -> Integers:
    """How many keys of each bucket have just the least score."""
    ties = np.zeros(BUCKETS, np.int64)
    for scores, batch in _scored_batches(part):
        ties += np.bincount(buckets_of(batch.keys[scores == part.least]), minlength=BUCKETS)
    return ties


def _scored_batches(part: ScorePart) -> Iterator[tuple[npt.NDArray[np.float64], Batch]]:
    """The scores of the keys of a part, batch by batch."""
    with opened_for_tools(part.path, part.fs) as reader:
        entry = Rewrite.of(reader, part.fs).embeddings[part.name]
        weights = entry.open(reader, fs=part.fs)
        for batch in in_order(weights, part.partition, fields=SCORE_FIELDS[part.rule.by]):
            yield scores_of(weights, batch, part.rule.by).astype(np.float64), batch


def resolved_rule(rule: PruneRule, path: str, entry: StoredEmbedding, executor: Executor, fs: FileSystem) -> PruneRule:
    """A rule that looks at one key at a time and keeps what the given one keeps of a table."""
    if not isinstance(rule, KeepTop):
        return rule
    count = max(executor.workers, entry.shard_count)
    parts = [ScorePart(path, entry.name, (number, count), rule, fs) for number in range(count)]
    if not rule.count:
        return KeepAbove(rule.by, np.inf, (0,) * BUCKETS)
    best = np.concatenate([found for _, found in executor.run(best_part, parts)])
    if best.size <= rule.count:
        return KeepAbove(rule.by, -np.inf, (1 << 62,) * BUCKETS)
    best = np.partition(best, best.size - rule.count)[best.size - rule.count :]
    least = float(best.min())
    wanted = int((best == least).sum())
    again = [ScorePart(path, entry.name, part.partition, rule, fs, least) for part in parts]
    ties = np.sum([found for _, found in executor.run(ties_part, again)], axis=0)
    return KeepAbove(rule.by, least, _first_ties(ties, wanted))


def _first_ties(ties: Integers, wanted: int) -> tuple[int, ...]:
    """How many of each bucket's ties are kept: those that come first."""
    before = np.cumsum(ties) - ties
    return tuple(np.clip(wanted - before, 0, ties).tolist())
