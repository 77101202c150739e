"""Leaving keys out of stored embeddings (the rare, the old, the small, or all but the best), or slots."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Final, Literal, Protocol

import numpy as np
import numpy.typing as npt

from tensorkeep.arrays import Array
from tensorkeep.embedding.stored.buckets import buckets_of_partition
from tensorkeep.embedding.stored.embeddings import StoredEmbedding
from tensorkeep.embedding.stored.naming import part_stem, slot_stem
from tensorkeep.embedding.stored.ordered_columns import (
    AlignedColumn,
    ChosenColumn,
    KeysWithin,
    OrderedColumn,
    SelectedKeys,
    Selection,
    in_order,
)
from tensorkeep.embedding.stored.rows import Batch, Fields
from tensorkeep.embedding.tools.rewriting import Rewrite, opened_for_tools, require_slots
from tensorkeep.errors import InvalidArgumentError
from tensorkeep.io.files.everywhere import FILES
from tensorkeep.io.files.filesystem import FileSystem, PathLike
from tensorkeep.io.showing.progress import Progress

__all__ = [
    "KeepByNorm",
    "KeepFrequent",
    "KeepTop",
    "KeepUpdatedSince",
    "PruneReport",
    "PruneRule",
    "Score",
    "drop_slots",
    "nothing_left",
    "plan_pruning",
    "prune_checkpoint",
    "row_norms",
    "scores_of",
]

Booleans = npt.NDArray[np.bool_]
Score = Literal["frequency", "version", "norm"]

SCORE_FIELDS: Final = {"frequency": Fields(freqs=True), "version": Fields(versions=True), "norm": Fields(values=True)}
_HELD: Final = 1 << 20  # scores in memory beyond those that are kept


class PruneRule(Protocol):
    """Says which keys are kept."""

    def selection(self, column: OrderedColumn) -> Selection:
        """The keys of the weights that are kept."""
        ...

    @property
    def filtered(self) -> Callable[[Batch], Booleans] | None:
        """Says which keys without rows are kept; None for all."""
        ...


@dataclass(frozen=True, slots=True)
class KeepFrequent:
    """Keeps keys that occurred at least so often, whether they have rows or not."""

    count: int

    def selection(self, column: OrderedColumn) -> Selection:
        return Selection.of(
            column, lambda batch: scores_of(column, batch, "frequency") >= self.count, Fields(freqs=True)
        )

    @property
    def filtered(self) -> Callable[[Batch], Booleans] | None:
        return lambda batch: np.ones(batch.keys.size, np.bool_) if batch.freqs is None else batch.freqs >= self.count


@dataclass(frozen=True, slots=True)
class KeepUpdatedSince:
    """Keeps keys whose last update was at this step or later, and those of which none is known (version -1)."""

    step: int

    def selection(self, column: OrderedColumn) -> Selection:
        return Selection.of(
            column, lambda batch: self._is_kept(scores_of(column, batch, "version")), SCORE_FIELDS["version"]
        )

    @property
    def filtered(self) -> Callable[[Batch], Booleans] | None:
        return lambda batch: (
            np.ones(batch.keys.size, np.bool_) if batch.versions is None else self._is_kept(batch.versions)
        )

    def _is_kept(self, versions: Array) -> Booleans:
        kept: Booleans = (versions >= self.step) | (versions == -1)
        return kept


@dataclass(frozen=True, slots=True)
class KeepByNorm:
    """Keeps keys whose rows have at least this length (Euclidean), none with a NaN. Keys without rows are kept."""

    norm: float

    def selection(self, column: OrderedColumn) -> Selection:
        return Selection.of(column, lambda batch: scores_of(column, batch, "norm") >= self.norm, SCORE_FIELDS["norm"])

    @property
    def filtered(self) -> Callable[[Batch], Booleans] | None:
        return None


@dataclass(frozen=True, slots=True)
class KeepTop:
    """Keeps the `count` keys that are best by frequency, version or norm; of equals, those that come first in order.

    Keys without rows are kept.
    """

    count: int
    by: Score = "frequency"

    def __post_init__(self) -> None:
        if self.count < 0 or self.by not in SCORE_FIELDS:
            raise InvalidArgumentError(
                f"expected a count of 0 or more, by one of {', '.join(SCORE_FIELDS)}; got {self}"
            )

    def selection(self, column: OrderedColumn) -> Selection:
        least, ties = self._threshold(column)
        left = ties

        def choose(batch: Batch) -> Booleans:
            nonlocal left
            scores = scores_of(column, batch, self.by)
            equal = np.flatnonzero(scores == least)[:left]
            left -= equal.size
            chosen = scores > least
            chosen[equal] = True
            return chosen

        return Selection.of(column, choose, SCORE_FIELDS[self.by])

    def _threshold(self, column: OrderedColumn) -> tuple[float, int]:
        """The least score that is kept, and how many of the keys that have just this one are."""
        if self.count == 0:
            return np.inf, 0
        best = np.zeros(0, np.float64)
        for batch in in_order(column, fields=SCORE_FIELDS[self.by]):
            best = np.concatenate([best, scores_of(column, batch, self.by)])
            if best.size > self.count + _HELD:
                best = np.partition(best, best.size - self.count)[best.size - self.count :]
        if best.size <= self.count:
            return -np.inf, 0
        best = np.partition(best, best.size - self.count)[best.size - self.count :]
        least = float(best.min())
        return least, int((best == least).sum())

    @property
    def filtered(self) -> Callable[[Batch], Booleans] | None:
        return None


@dataclass(frozen=True, slots=True)
class PruneReport:
    """How many keys of an embedding were kept and left out."""

    kept: int
    removed: int
    filtered_kept: int
    filtered_removed: int

    def __str__(self) -> str:
        return (
            f"{self.kept} keys kept, {self.removed} removed; {self.filtered_kept} counted ones kept, "
            f"{self.filtered_removed} removed"
        )


def prune_checkpoint(
    source: PathLike,
    target: PathLike,
    rule: PruneRule,
    *,
    names: Collection[str] | None = None,
    keep_filtered: bool = True,
    allow_empty: bool = False,
    progress: Progress | None = None,
    only: frozenset[str] | None = None,
    fs: FileSystem = FILES,
) -> dict[str, PruneReport]:
    """Writes a checkpoint whose embeddings (all, unless named) have only the keys that the rule keeps.

    Slots lose the same keys. `keep_filtered=False` leaves out all keys that are counted and have no rows. A rule that
    keeps not one row of a table that has some is refused, unless `allow_empty` says that this is meant. `only` names
    the tensors, and the stems of embeddings, that are written, where several processes write the checkpoint together;
    the report then counts the keys of their parts.
    """
    with opened_for_tools(source, fs) as reader:
        work = Rewrite.of(reader, fs, progress, only)
        pruned = _pruned_columns(work, rule, names, keep_filtered)
        if not allow_empty:
            _check_something_is_left(reader.path, rule, pruned)
        for entry, weights, kept in pruned:
            _put(work, entry, weights, kept, fs)
        work.write(target)
        return {entry.name: _report(weights, kept) for entry, weights, kept in pruned}


def plan_pruning(
    source: PathLike,
    rule: PruneRule,
    *,
    names: Collection[str] | None = None,
    keep_filtered: bool = True,
    allow_empty: bool = False,
    fs: FileSystem = FILES,
) -> dict[str, PruneReport]:
    """What `prune_checkpoint` would report, and refuse; nothing is written."""
    with opened_for_tools(source, fs) as reader:
        pruned = _pruned_columns(Rewrite.of(reader, fs), rule, names, keep_filtered)
        if not allow_empty:
            _check_something_is_left(reader.path, rule, pruned)
        return {entry.name: _report(weights, kept) for entry, weights, kept in pruned}


_Pruned = tuple[StoredEmbedding, OrderedColumn, ChosenColumn]
"""An embedding, its weights, and those of its keys that are kept."""


def _pruned_columns(
    work: Rewrite, rule: PruneRule, names: Collection[str] | None, keep_filtered: bool
) -> list[_Pruned]:
    filtered = rule.filtered if keep_filtered else _none
    pruned = []
    for entry in work.chosen_embeddings(names):
        weights = _wanted_of(work, entry)
        pruned.append((entry, weights, ChosenColumn(weights, SelectedKeys(rule.selection(weights), filtered))))
    return pruned


def _wanted_of(work: Rewrite, entry: StoredEmbedding) -> OrderedColumn:
    """The weights of an embedding; of those parts alone that are written here, if not all are."""
    weights = entry.open(work.reader, fs=work.fs)
    count = entry.shard_count
    stems = {number: part_stem(entry.name, number, count) for number in range(count)}
    mine = [
        number for number, stem in stems.items() if any(work.wants(slot_stem(stem, column)) for column in entry.columns)
    ]
    if len(mine) == count:
        return weights
    parts = [buckets_of_partition((number, count)) for number in mine]
    return ChosenColumn(weights, KeysWithin(np.sort(np.concatenate([np.zeros(0, np.int64), *parts]))))


def _report(weights: OrderedColumn, kept: ChosenColumn) -> PruneReport:
    counted, chosen = int(kept.filtered_sizes.sum()), int(kept.bucket_sizes.sum())
    before, before_counted = int(weights.bucket_sizes.sum()), int(weights.filtered_sizes.sum())
    return PruneReport(chosen, before - chosen, counted, before_counted - counted)


def _check_something_is_left(path: str, rule: PruneRule, pruned: list[_Pruned]) -> None:
    emptied = [weights for _, weights, kept in pruned if weights.bucket_sizes.any() and not kept.bucket_sizes.any()]
    if emptied:
        raise nothing_left(path, rule, emptied)


def nothing_left(path: str, rule: PruneRule, emptied: Sequence[OrderedColumn]) -> InvalidArgumentError:
    """The error for tables that would lose all of their keys."""
    lines = [
        f'"{weights.name}" would lose all of its {int(weights.bucket_sizes.sum())} keys{_why(rule, weights)}'
        for weights in emptied
    ]
    return InvalidArgumentError(
        f'"{path}" by {rule}: {"; ".join(lines)}. If that is meant, say allow_empty=True (--allow-empty)'
    )


def _why(rule: PruneRule, weights: OrderedColumn) -> str:
    """The end of the message that a rule by frequency keeps no key: the highest frequency that is stored. Empty for
    other rules.
    """
    if not isinstance(rule, KeepFrequent):
        return ""
    most = max(
        int(scores_of(weights, batch, "frequency").max()) for batch in in_order(weights, fields=Fields(freqs=True))
    )
    # DeepRec drops the count when a key is admitted and stores the threshold, unless TF_RECORD_FREQ is set.
    return (
        f", of which none is stored with a frequency above {most} (behind a counter filter that does not record "
        "frequencies every admitted key is stored with the filter's threshold)"
    )


def _put(work: Rewrite, entry: StoredEmbedding, weights: OrderedColumn, kept: ChosenColumn, fs: FileSystem) -> None:
    work.drop(entry)
    for column in entry.columns:
        chosen: OrderedColumn = kept
        if column:
            slot = entry.open(work.reader, column, fs=fs)
            chosen = ChosenColumn(AlignedColumn(weights, slot), kept.choice)
        work.put_shards(entry.name, column, chosen, entry.shard_count)


def row_norms(values: Array) -> npt.NDArray[np.float64]:
    """The Euclidean lengths of rows."""
    wide = values.astype(np.float32, copy=False)
    squares: npt.NDArray[np.float64] = np.einsum("ij,ij->i", wide, wide, dtype=np.float64, casting="same_kind")
    return np.sqrt(squares)


def scores_of(column: OrderedColumn, batch: Batch, by: Score) -> Array:
    """What the keys of a batch are chosen by. InvalidArgumentError if that is not stored."""
    found = {"frequency": batch.freqs, "version": batch.versions, "norm": batch.values}[by]
    if found is None:
        raise InvalidArgumentError(
            f'"{column.name}" is stored without {"frequencies" if by == "frequency" else "versions"}, by which keys '
            "were to be chosen"
        )
    if by != "norm":
        return found
    norms = row_norms(found)
    return np.where(np.isnan(norms), -np.inf, norms)  # what is no number is no better than nothing


def _none(batch: Batch) -> Booleans:
    return np.zeros(batch.keys.size, np.bool_)


def drop_slots(
    source: PathLike,
    target: PathLike,
    slots: Collection[str] | None = None,
    *,
    names: Collection[str] | None = None,
    progress: Progress | None = None,
    fs: FileSystem = FILES,
) -> dict[str, tuple[str, ...]]:
    """Writes a checkpoint without these slots of its embeddings, or without any; returns those that went, by embedding.

    Everything else is as it was. `names` are the embeddings whose slots are meant, if not all.
    """
    if isinstance(slots, str):
        raise InvalidArgumentError(f"slots: expected several names of slots, got the text {slots!r}")
    with opened_for_tools(source, fs) as reader:
        work = Rewrite.of(reader, fs, progress)
        entries = work.chosen_embeddings(names)
        require_slots(entries, slots or ())
        gone: dict[str, tuple[str, ...]] = {}
        for entry in entries:
            gone[entry.name] = tuple(slot for slot in entry.slots if slots is None or slot in slots)
            if gone[entry.name]:
                work.drop(entry, entry.shard_count)
                for column in entry.columns:
                    if column not in gone[entry.name]:
                        work.put_shards(entry.name, column, entry.open(reader, column, fs=fs), entry.shard_count)
        work.write(target)
        return gone
