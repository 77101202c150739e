"""Embeddings in checkpoints, as savers look at them. What reads them is imported when it is first needed.

Most graphs have no embedding variables, and most checkpoints none either.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy.typing as npt

from tensorkeep.checkpoint.reader import CheckpointReader
from tensorkeep.embedding.stored.naming import KEYS
from tensorkeep.io.files.filesystem import FileSystem

if TYPE_CHECKING:
    from tensorkeep.embedding.stored.embeddings import StoredEmbedding


def stored_embeddings(reader: CheckpointReader, fs: FileSystem) -> Mapping[str, StoredEmbedding]:
    """The embeddings of a checkpoint, by name, without `/part_<k>`."""
    if not any(name.endswith(KEYS) for name in reader):
        return {}
    found: Mapping[str, StoredEmbedding] = import_module("tensorkeep.embedding.stored.embeddings").stored_embeddings(
        reader, fs=fs
    )
    return found


def stored_deltas(reader: CheckpointReader) -> Mapping[str, StoredEmbedding]:
    """The embeddings of an incremental checkpoint, by name, without `/part_<k>`."""
    found: Mapping[str, StoredEmbedding] = import_module("tensorkeep.embedding.restore.incremental").stored_deltas(
        reader
    )
    return found


def find_embedding(reader: CheckpointReader, stem: str, stored: Mapping[str, StoredEmbedding]) -> tuple[str, str]:
    """The stored embedding and column that a stem means. NotFoundError, with the names that are there, if none."""
    found: tuple[str, str] = import_module("tensorkeep.embedding.stored.embeddings").find_embedding(
        reader, stem, stored
    )
    return found


def read_dense(reader: CheckpointReader, stem: str, rows: int | None, fs: FileSystem) -> npt.NDArray[Any]:
    """An embedding whose keys are 0 to n - 1 as the dense array that they number the rows of."""
    found: npt.NDArray[Any] = import_module("tensorkeep.embedding.stored.dense").read_dense(reader, stem, rows, fs=fs)
    return found


def newest_delta(full: str, fs: FileSystem) -> str | None:
    """The prefix of the newest incremental checkpoint beside a full one that is newer; None if there is none."""
    found: str | None = import_module("tensorkeep.embedding.restore.finding_deltas").newest_delta(full, fs=fs)
    return found


def later_full(full: str, delta: str, fs: FileSystem) -> int | None:
    """The step of the full checkpoint that an incremental one goes with in place of an earlier one, if there is one."""
    found: int | None = import_module("tensorkeep.embedding.restore.finding_deltas").later_full(full, delta, fs)
    return found


__all__ = [
    "find_embedding",
    "later_full",
    "newest_delta",
    "read_dense",
    "stored_deltas",
    "stored_embeddings",
]
