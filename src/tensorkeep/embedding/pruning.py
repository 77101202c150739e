"""Leaving keys out of stored embeddings: the rare, the old, the small, or all but the best."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Any, Final, Literal, Protocol

import numpy as np
import numpy.typing as npt

from tensorkeep.embedding.ordered import AlignedColumn, OrderedColumn, SelectedColumn, Selection, in_order
from tensorkeep.embedding.rewriting import Rewrite, opened_for_tools
from tensorkeep.embedding.stored import StoredColumn, StoredEmbedding
from tensorkeep.embedding.stored_rows import Batch, Fields
from tensorkeep.errors import InvalidArgumentError
from tensorkeep.io.filesystem import FileSystem, PathLike
from tensorkeep.io.local import LOCAL
from tensorkeep.io.progress import Progress

__all__ = [
    "KeepByNorm",
    "KeepFrequent",
    "KeepTop",
    "KeepUpdatedSince",
    "PruneReport",
    "PruneRule",
    "prune_checkpoint",
    "row_norms",
]

Array = npt.NDArray[Any]
Booleans = npt.NDArray[np.bool_]
Score = Literal["frequency", "version", "norm"]

_FIELDS: Final = {"frequency": Fields(freqs=True), "version": Fields(versions=True), "norm": Fields(values=True)}
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
        return Selection.of(column, lambda batch: _scores(column, batch, "frequency") >= self.count, Fields(freqs=True))

    @property
    def filtered(self) -> Callable[[Batch], Booleans] | None:
        return lambda batch: np.ones(batch.keys.size, np.bool_) if batch.freqs is None else batch.freqs >= self.count


@dataclass(frozen=True, slots=True)
class KeepUpdatedSince:
    """Keeps keys whose last update was at this step or later, and those of which none is known (version -1)."""

    step: int

    def selection(self, column: OrderedColumn) -> Selection:
        return Selection.of(column, lambda batch: self._is_kept(_scores(column, batch, "version")), _FIELDS["version"])

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
        return Selection.of(column, lambda batch: _scores(column, batch, "norm") >= self.norm, _FIELDS["norm"])

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
        if self.count < 0 or self.by not in _FIELDS:
            raise InvalidArgumentError(f"expected a count of 0 or more, by one of {', '.join(_FIELDS)}; got {self}")

    def selection(self, column: OrderedColumn) -> Selection:
        least, ties = self._threshold(column)
        left = ties

        def choose(batch: Batch) -> Booleans:
            nonlocal left
            scores = _scores(column, batch, self.by)
            equal = np.flatnonzero(scores == least)[:left]
            left -= equal.size
            chosen = scores > least
            chosen[equal] = True
            return chosen

        return Selection.of(column, choose, _FIELDS[self.by])

    def _threshold(self, column: OrderedColumn) -> tuple[float, int]:
        """The least score that is kept, and how many of the keys that have just this one are."""
        if self.count == 0:
            return np.inf, 0
        best = np.zeros(0, np.float64)
        for batch in in_order(column, fields=_FIELDS[self.by]):
            best = np.concatenate([best, _scores(column, batch, self.by)])
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
    progress: Progress | None = None,
    fs: FileSystem = LOCAL,
) -> dict[str, PruneReport]:
    """Writes a checkpoint whose embeddings (all, unless named) have only the keys that the rule keeps.

    Slots lose the same keys. `keep_filtered=False` leaves out all keys that are counted and have no rows.
    """
    with opened_for_tools(source, fs) as reader:
        work = Rewrite.of(reader, fs, progress)
        reports = {}
        for entry in work.chosen(names):
            weights = entry.open(reader, fs=fs)
            filtered = rule.filtered if keep_filtered else _none
            kept = SelectedColumn(weights, rule.selection(weights), filtered)
            _put(work, entry, weights, kept, fs)
            reports[entry.name] = PruneReport(
                kept.selection.count,
                weights.count - kept.selection.count,
                int(kept.filtered_sizes.sum()),
                weights.filtered_count - int(kept.filtered_sizes.sum()),
            )
        work.write(target)
        return reports


def _put(work: Rewrite, entry: StoredEmbedding, weights: StoredColumn, kept: SelectedColumn, fs: FileSystem) -> None:
    work.drop(entry)
    for column in entry.columns:
        chosen: OrderedColumn = kept
        if column:
            slot = entry.open(work.reader, column, fs=fs)
            chosen = SelectedColumn(AlignedColumn(weights, slot), kept.selection, kept.filtered)
        work.put_shards(entry.name, column, chosen, entry.shard_count)


def row_norms(values: Array) -> npt.NDArray[np.float64]:
    """The Euclidean lengths of rows."""
    wide = values.astype(np.float32, copy=False)
    squares: npt.NDArray[np.float64] = np.einsum("ij,ij->i", wide, wide, dtype=np.float64, casting="same_kind")
    return np.sqrt(squares)


def _scores(column: OrderedColumn, batch: Batch, by: Score) -> Array:
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
