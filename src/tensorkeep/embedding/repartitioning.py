"""Spreading stored embeddings over another number of shards, without loading them."""

from __future__ import annotations

from collections.abc import Mapping

from tensorkeep.embedding.buckets import BUCKETS
from tensorkeep.embedding.rewriting import Rewrite, opened_for_tools
from tensorkeep.errors import InvalidArgumentError
from tensorkeep.io.filesystem import FileSystem, PathLike
from tensorkeep.io.local import LOCAL
from tensorkeep.io.progress import Progress

__all__ = ["repartition_checkpoint"]


def repartition_checkpoint(
    source: PathLike,
    target: PathLike,
    shards: int | Mapping[str, int],
    *,
    progress: Progress | None = None,
    fs: FileSystem = LOCAL,
) -> str:
    """Writes a checkpoint with its embeddings in so many shards each, or in so many as the mapping says by name.

    Those that it does not name stay as they are, and so does every other tensor. A table in one shard goes by its own
    name, without `/part_0`.
    """
    with opened_for_tools(source, fs) as reader:
        work = Rewrite.of(reader, fs, progress)
        wanted = dict.fromkeys(work.embeddings, shards) if isinstance(shards, int) else dict(shards)
        for entry in work.chosen(tuple(wanted)):
            count = wanted[entry.name]
            _check(entry.name, count)
            work.drop(entry, count)
            for column in entry.columns:
                work.put_shards(entry.name, column, entry.open(reader, column, fs=fs), count)
        return work.write(target)


def _check(name: str, count: int) -> None:
    if not 1 <= count <= BUCKETS:
        raise InvalidArgumentError(
            f'"{name}" in {count} shards: expected 1 to {BUCKETS}, for shards are made of {BUCKETS} buckets'
        )
