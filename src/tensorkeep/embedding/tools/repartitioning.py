"""Spreading stored embeddings over another number of shards, without loading them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from tensorkeep.embedding.stored.buckets import buckets_of_partition, require_shards
from tensorkeep.embedding.stored.embeddings import StoredEmbedding
from tensorkeep.embedding.tools.rewriting import Rewrite, opened_for_tools
from tensorkeep.io.files.everywhere import FILES
from tensorkeep.io.files.filesystem import FileSystem, PathLike
from tensorkeep.io.showing.progress import Progress

_FEW = 16  # parts, each of which is told by itself


@dataclass(frozen=True, slots=True)
class RepartitionReport:
    """How the keys with rows of an embedding, and those that are only counted, spread over its new parts."""

    parts_before: int
    keys: tuple[int, ...]
    filtered: tuple[int, ...]

    def __str__(self) -> str:
        counted = f"; {_spread_text(self.filtered)} counted ones" if any(self.filtered) else ""
        return f"{self.parts_before} -> {len(self.keys)} parts; {_spread_text(self.keys)} keys{counted}"


def repartition_checkpoint(
    source: PathLike,
    target: PathLike,
    shards: int | Mapping[str, int],
    *,
    progress: Progress | None = None,
    only: frozenset[str] | None = None,
    fs: FileSystem = FILES,
) -> str:
    """Writes a checkpoint with its embeddings in so many shards each, or in so many as the mapping says by name.

    Those that it does not name stay as they are, and so does every other tensor. A table in one shard goes by its own
    name, without `/part_0`. `only` names the tensors, and the stems of embeddings, that are written, where several
    processes write the checkpoint together.
    """
    with opened_for_tools(source, fs) as reader:
        work = Rewrite.of(reader, fs, progress, only)
        for entry, count in wanted_shards(work, shards):
            work.drop(entry, count)
            for column in entry.columns:
                work.put_shards(entry.name, column, entry.open(reader, column, fs=fs), count)
        return work.write(target)


def plan_repartitioning(
    source: PathLike, shards: int | Mapping[str, int], *, fs: FileSystem = FILES
) -> dict[str, RepartitionReport]:
    """How many keys each part would have of each embedding that `repartition_checkpoint` would write."""
    with opened_for_tools(source, fs) as reader:
        work = Rewrite.of(reader, fs)
        reports = {}
        for entry, count in wanted_shards(work, shards):
            work.drop(entry, count)  # which refuses what cannot be spread
            weights = entry.open(reader, fs=fs)
            parts = [buckets_of_partition((number, count)) for number in range(count)]
            reports[entry.name] = RepartitionReport(
                entry.shard_count,
                tuple(int(weights.bucket_sizes[part].sum()) for part in parts),
                tuple(int(weights.filtered_sizes[part].sum()) for part in parts),
            )
        return reports


def wanted_shards(work: Rewrite, shards: int | Mapping[str, int]) -> list[tuple[StoredEmbedding, int]]:
    """The embeddings that are spread anew, each with how many parts it shall have."""
    wanted = dict.fromkeys(work.embeddings, shards) if isinstance(shards, int) else dict(shards)
    chosen = work.chosen_embeddings(tuple(wanted))
    for entry in chosen:
        require_shards(entry.name, wanted[entry.name])
    return [(entry, wanted[entry.name]) for entry in chosen]


def _spread_text(counts: tuple[int, ...]) -> str:
    if len(counts) <= _FEW:
        return " + ".join(map(str, counts))
    return f"{sum(counts)} ({min(counts)} to {max(counts)} a part)"
