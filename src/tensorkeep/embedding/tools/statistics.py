"""What is in a stored embedding: how many keys, how often they occurred, how long their rows are, what it takes."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from tensorkeep.checkpoint.reader import CheckpointReader
from tensorkeep.embedding.stored.embeddings import StoredColumn, StoredEmbedding
from tensorkeep.embedding.stored.ordered_columns import filtered_in_order, in_order
from tensorkeep.embedding.stored.rows import ALL_FIELDS, Batch
from tensorkeep.embedding.tools.pruning import row_norms
from tensorkeep.embedding.tools.rewriting import Rewrite, opened_for_tools
from tensorkeep.io.files.everywhere import FILES
from tensorkeep.io.files.filesystem import FileSystem, PathLike
from tensorkeep.io.showing.progress import Progress, Told

__all__ = ["EmbeddingStatistics", "Histogram", "embedding_statistics"]


@dataclass(frozen=True, slots=True)
class Histogram:
    """How many numbers lie between edges: `counts[i]` from `edges[i]` up to, but without, `edges[i + 1]`.

    The last count has no upper edge; or, if there is one edge more, that one, which is counted with it.
    """

    edges: tuple[float, ...]
    counts: tuple[int, ...]

    @property
    def total(self) -> int:
        """How many numbers there are."""
        return sum(self.counts)

    def trimmed(self) -> Histogram:
        """Without the empty stretches at both ends."""
        used = [at for at, count in enumerate(self.counts) if count]
        if not used:
            return Histogram((), ())
        return Histogram(
            self.edges[used[0] : len(self.edges) - len(self.counts) + used[-1] + 1], self.counts[used[0] : used[-1] + 1]
        )

    def __str__(self) -> str:
        return ", ".join(f"{edge:g}+: {count}" for edge, count in zip(self.edges, self.counts, strict=False))


Integers = npt.NDArray[np.int64]

_POWERS: Final = tuple(2.0**power for power in range(64))
_NORMS: Final = (0.0, *(10.0 ** (power / 2) for power in range(-12, 13)))


@dataclass(frozen=True, slots=True)
class EmbeddingStatistics:
    """What is known of a stored embedding after it was read once."""

    name: str
    shards: int
    dim: int
    dtype: np.dtype[Any]
    key_dtype: np.dtype[Any]
    slots: tuple[str, ...]
    admitted: int
    """Keys with rows."""
    filtered: int
    """Keys that are counted and have none."""
    nbytes: int
    """The bytes of all its tensors, slots included."""
    keys_from: int | None
    keys_to: int | None
    frequencies: Histogram | None
    """How many keys occurred 0, 1, 2 to 3, 4 to 7 … times; None if that is not stored."""
    filtered_frequencies: Histogram | None
    versions_from: int | None
    versions_to: int | None
    norms: Histogram
    """How many rows have which Euclidean length."""
    zero_rows: int
    not_finite: int
    """Rows with a number that is infinite, or none."""
    fullest_bucket: int
    """The keys of the bucket that has most."""

    @property
    def keys(self) -> int:
        """All keys, with rows and without."""
        return self.admitted + self.filtered

    def __str__(self) -> str:
        lines = [
            f'"{self.name}": {self.admitted} keys with rows of {self.dtype} [{self.dim}], {self.filtered} counted, in '
            f"{self.shards} shard{'s' if self.shards != 1 else ''}; slots: {', '.join(self.slots) or 'none'}; "
            f"{self.nbytes} bytes",
            f"norms: {self.norms.trimmed()}; {self.zero_rows} rows are zero, {self.not_finite} not finite",
        ]
        if self.frequencies is not None:
            lines.append(f"frequencies: {self.frequencies.trimmed()}")
        if self.filtered_frequencies is not None:
            lines.append(f"frequencies of counted keys: {self.filtered_frequencies.trimmed()}")
        if self.versions_from is not None:
            lines.append(f"versions: {self.versions_from} to {self.versions_to}")
        return "\n".join(lines)


def embedding_statistics(
    source: PathLike,
    *,
    names: Collection[str] | None = None,
    progress: Progress | None = None,
    fs: FileSystem = FILES,
) -> dict[str, EmbeddingStatistics]:
    """The statistics of every embedding of a checkpoint, or of those that are named, by name."""
    with opened_for_tools(source, fs) as reader:
        work = Rewrite.of(reader, fs)
        opened = [(entry, entry.open(reader, fs=fs)) for entry in work.chosen_embeddings(names)]
        told = Told(progress, sum(column.count for _, column in opened))
        return {entry.name: _statistics(reader, entry, column, told.add) for entry, column in opened}


class _Counts:
    """Histograms and extremes, while rows go by."""

    def __init__(self) -> None:
        self.frequencies = np.zeros(len(_POWERS) + 1, np.int64)
        self.filtered = np.zeros(len(_POWERS) + 1, np.int64)
        self.norms = np.zeros(len(_NORMS), np.int64)
        self.zero = self.not_finite = 0
        self.keys: tuple[int | None, int | None] = (None, None)
        self.versions: tuple[int | None, int | None] = (None, None)

    def add(self, batch: Batch) -> None:
        assert batch.values is not None
        norms = row_norms(batch.values)
        finite = np.isfinite(norms)
        self.not_finite += int((~finite).sum())
        self.zero += int((norms == 0).sum())
        self.norms += _bin_counts(norms[finite], _NORMS)
        self.keys = _widened_extent(self.keys, batch.keys)
        if batch.freqs is not None:
            self.frequencies += _occurrences(batch.freqs)
        if batch.versions is not None:
            self.versions = _widened_extent(self.versions, batch.versions)


def _statistics(
    reader: CheckpointReader, entry: StoredEmbedding, column: StoredColumn, report: Callable[[int], None]
) -> EmbeddingStatistics:
    counts = _Counts()
    for batch in in_order(column, fields=ALL_FIELDS):
        counts.add(batch)
        report(batch.keys.size)
    for batch in filtered_in_order(column):
        counts.filtered += 0 if batch.freqs is None else _occurrences(batch.freqs)
    return EmbeddingStatistics(
        name=entry.name,
        shards=entry.shard_count,
        dim=column.dim,
        dtype=column.dtype,
        key_dtype=column.key_dtype,
        slots=tuple(entry.slots),
        admitted=column.count,
        filtered=column.filtered_count,
        nbytes=sum(reader[name].nbytes for name in entry.tensors(reader)),
        keys_from=counts.keys[0],
        keys_to=counts.keys[1],
        frequencies=_by_powers(counts.frequencies) if column.has_freqs else None,
        filtered_frequencies=_by_powers(counts.filtered) if column.filtered_count else None,
        versions_from=counts.versions[0],
        versions_to=counts.versions[1],
        norms=Histogram(_NORMS, tuple(counts.norms.tolist())),
        zero_rows=counts.zero,
        not_finite=counts.not_finite,
        fullest_bucket=int(column.bucket_sizes.max()),
    )


def _widened_extent(extent: tuple[int | None, int | None], numbers: Integers) -> tuple[int | None, int | None]:
    if not numbers.size:
        return extent
    low, high = int(numbers.min()), int(numbers.max())
    return (low if extent[0] is None else min(low, extent[0]), high if extent[1] is None else max(high, extent[1]))


def _by_powers(counts: Integers) -> Histogram:
    return Histogram((0.0, *_POWERS), tuple(counts.tolist()))


def _occurrences(freqs: Integers) -> Integers:
    """A histogram of frequencies: below 1, then by powers of two."""
    return _bin_counts(freqs.astype(np.float64), (-np.inf, *_POWERS))


def _bin_counts(numbers: npt.NDArray[np.float64], edges: tuple[float, ...]) -> Integers:
    places = np.searchsorted(np.asarray(edges), numbers, side="right") - 1
    return np.bincount(places, minlength=len(edges)).astype(np.int64)
