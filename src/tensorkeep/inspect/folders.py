"""The checkpoints of a folder: which there are, when each was saved, what is known of it, and whether it is whole."""

from __future__ import annotations

import posixpath
from collections.abc import Mapping
from dataclasses import dataclass, field

from tensorkeep.checkpoint.finding.file_names import index_path, parse_shard_pattern
from tensorkeep.checkpoint.finding.files import checkpoint_modified, checkpoints_in
from tensorkeep.checkpoint.finding.latest import latest_checkpoint
from tensorkeep.checkpoint.finding.opening import open_checkpoint
from tensorkeep.checkpoint.reader import CheckpointReader
from tensorkeep.embedding.stored.embeddings import stored_embeddings
from tensorkeep.embedding.stored.naming import KEYS
from tensorkeep.errors import MissingFileError, TensorKeepError
from tensorkeep.inspect.health import HealthReport, examine
from tensorkeep.inspect.listing import file_size
from tensorkeep.io.files.everywhere import FILES
from tensorkeep.io.files.filesystem import FileSystem, PathLike, path_text
from tensorkeep.io.showing.progress import Progress
from tensorkeep.proto.identification import FileKind, is_file_of_kind
from tensorkeep.saved_model.files.layout import contains_saved_model
from tensorkeep.saving.folder import scan, step_of
from tensorkeep.saving.ledger import files_of
from tensorkeep.saving.retention import Record


@dataclass(frozen=True)
class FolderEntry:
    """One checkpoint of a folder."""

    path: str
    """What `open_checkpoint` opens."""
    step: int | None
    time: float
    """When it was saved, in seconds since 1970."""
    nbytes: int
    """The size of its files."""
    metrics: Mapping[str, float] = field(default_factory=dict)
    """Those that its saver was told of, if it keeps a ledger."""
    is_latest: bool = False
    is_pinned: bool = False
    problems: tuple[str, ...] = ()
    """What is wrong with it as far as names and sizes of files tell: missing data, or data that ends too early."""
    health: HealthReport | None = None
    """What an examination of all its numbers found, if one was wanted."""

    @property
    def is_sound(self) -> bool:
        """Whether nothing that was looked at is wrong."""
        return not self.problems and (self.health is None or self.health.is_healthy)


def list_checkpoints(
    directory: PathLike, *, health: bool = False, progress: Progress | None = None, fs: FileSystem = FILES
) -> tuple[FolderEntry, ...]:
    """The checkpoints of a folder, oldest first; with `health`, each is read and examined as by `examine`."""
    folder = path_text(directory)
    if not fs.is_directory(folder):
        raise MissingFileError(f'there is no folder "{folder}"')
    records = {item.record.path: item.record for item in scan(folder, fs=fs)}
    latest = latest_checkpoint(folder, fs=fs)
    entries = [_entry(prefix, records.get(prefix), prefix == latest, fs) for prefix in checkpoints_of(folder, fs=fs)]
    if health:
        entries = [_examined_entry(entry, progress, fs) for entry in entries]
    return tuple(sorted(entries, key=lambda item: (item.time, item.step or 0, item.path)))


def checkpoints_of(path: PathLike, *, fs: FileSystem = FILES) -> list[str]:
    """The prefixes of the checkpoints in a folder, those written first first; none if it is no folder, or a model."""
    folder = path_text(path)
    if not fs.is_directory(folder) or contains_saved_model(folder, fs):
        return []
    return [prefix for prefix in reversed(checkpoints_in(folder, fs)) if is_plain_checkpoint(prefix, fs)]


def is_plain_checkpoint(prefix: str, fs: FileSystem) -> bool:
    """Whether it is one by its name, or a single file that is one of the first version by its contents."""
    if fs.exists(index_path(prefix)) or parse_shard_pattern(prefix) is not None:
        return True
    return is_file_of_kind(prefix, FileKind.CHECKPOINT_TABLE, fs)


def _entry(prefix: str, record: Record | None, is_latest: bool, fs: FileSystem) -> FolderEntry:
    folder, name = posixpath.split(prefix)
    files = files_of(name, fs.list(folder))
    nbytes = sum(file_size(posixpath.join(folder, file), fs) or 0 for file in files)
    known = record or Record(prefix, checkpoint_modified(prefix, fs=fs) or 0.0, step_of(prefix))
    return FolderEntry(
        prefix, known.step, known.time, nbytes, known.metrics, is_latest, known.pinned, stored_problems(prefix, fs=fs)
    )


def _examined_entry(entry: FolderEntry, progress: Progress | None, fs: FileSystem) -> FolderEntry:
    report = examine(entry.path, progress=progress, fs=fs)
    return FolderEntry(
        **{name: getattr(entry, name) for name in entry.__dataclass_fields__ if name != "health"}, health=report
    )


def stored_problems(path: PathLike, *, fs: FileSystem = FILES) -> tuple[str, ...]:
    """What is wrong with a checkpoint as far as its index and the sizes of its files tell. No data is read."""
    try:
        with open_checkpoint(path, fs=fs) as reader:
            return tuple(map(str, reader.file_problems()))
    except TensorKeepError as error:
        return (str(error),)


def table_sizes(reader: CheckpointReader, *, fs: FileSystem = FILES) -> dict[str, int]:
    """How many keys each embedding table of a checkpoint has; those on an SSD tier beside it are not counted."""
    tables = stored_embeddings(reader, fs=fs)
    return {
        name: sum(reader[stem + KEYS].shape[0] for stem in table.stems.values() if stem + KEYS in reader)
        for name, table in tables.items()
    }
