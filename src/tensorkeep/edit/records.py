"""Rows of tables that lie beside a checkpoint, as records of an SSD tier: an edit takes them along, or is refused.

A reader finds the columns of a record by the tensors of the table. So records go along with a table that stays as it
is, under its names; a table of which an edit changes or drops a part would not be that of its records any more.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Protocol

from tensorkeep.checkpoint.reader import CheckpointReader
from tensorkeep.embedding.stored.embeddings import stored_embeddings
from tensorkeep.embedding.stored.naming import KEYS, VALUES
from tensorkeep.embedding.stored.record_writing import check_no_records
from tensorkeep.embedding.stored.ssd_records import has_records
from tensorkeep.errors import FailedPreconditionError
from tensorkeep.io.files.filesystem import FileSystem


class _Stored(Protocol):
    """A tensor of an open checkpoint."""

    @property
    def reader(self) -> CheckpointReader: ...

    @property
    def name(self) -> str: ...


def stems_with_records(reader: CheckpointReader, fs: FileSystem) -> Iterator[str]:
    """The stems of the tables of a checkpoint that have rows beside it."""
    for name in reader:
        stem = name.removesuffix(KEYS)
        if stem != name and stem + VALUES in reader and has_records(fs, reader.path, stem):
            yield stem


def records_to_carry(stored: Mapping[str, _Stored], target: str, fs: FileSystem) -> list[tuple[str, str]]:
    """The checkpoint and the stem of all records that belong to a new checkpoint, beside another.

    `stored` are its tensors that come from other checkpoints as they are. FailedPreconditionError if records would be
    parted from their table; AlreadyExistsError if others lie where the new checkpoint is to be.
    """
    carried: list[tuple[str, str]] = []
    for name, origin in stored.items():
        if not name.endswith(KEYS):
            continue
        stem, reader = origin.name.removesuffix(KEYS), origin.reader
        is_same = fs.canonical(reader.path) == fs.canonical(target)
        if not is_same:
            check_no_records(fs, target, name.removesuffix(KEYS))
        if has_records(fs, reader.path, stem):
            _require_whole(stored, reader, stem, fs)
            carried += [] if is_same else [(reader.path, stem)]
    return carried


def _require_whole(stored: Mapping[str, _Stored], reader: CheckpointReader, stem: str, fs: FileSystem) -> None:
    for entry in stored_embeddings(reader, fs=fs).values():
        if stem not in entry.stems.values():
            continue
        for name in entry.tensors(reader):
            origin = stored.get(name)
            if origin is None or origin.reader is not reader or origin.name != name:
                raise FailedPreconditionError(
                    f'"{reader.path}" has rows of "{stem}" beside it, as records of an SSD tier, and "{name}" would '
                    "not stay as it is: they would not go with the table any more. Put them into the checkpoint first, "
                    f"with `tensorkeep ev repair {reader.path} TARGET`"
                )
