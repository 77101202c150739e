"""Rows that lie beside a checkpoint put into it, so that its records may go and another be saved in its place."""

from __future__ import annotations

import posixpath
from collections.abc import Iterable

from tensorkeep.checkpoint.finding.file_names import RECORDS, index_path
from tensorkeep.embedding.stored.naming import RECORD_FOLDER
from tensorkeep.embedding.stored.record_files import delete_records, files_of_records, record_files
from tensorkeep.embedding.stored.record_writing import check_no_records
from tensorkeep.embedding.stored.ssd_records import has_records
from tensorkeep.embedding.tools.rewriting import Rewrite, opened_for_tools
from tensorkeep.io.files.filesystem import Durability, FileSystem
from tensorkeep.io.files.local import LOCAL


def make_way_for_records(prefix: str, stems: Iterable[str], durability: Durability, *, fs: FileSystem = LOCAL) -> None:
    """Sees to it that no records lie beside a prefix that would be taken for rows of a checkpoint about to be saved.

    Those of a checkpoint that is there are put into it. Those that a save which died has left are deleted.
    """
    folder, base = posixpath.split(prefix)
    if not fs.is_directory(folder):
        return
    beside = [name for name in fs.list(folder) if name.startswith(f"{base}-")]
    if not any(RECORDS in name or name.endswith(RECORD_FOLDER) for name in beside):
        return  # as a rule, and without a look at every stem
    if fs.exists(index_path(prefix)):
        fold_records(prefix, durability, fs=fs)
        for stem in stems:
            check_no_records(fs, prefix, stem)  # of a checkpoint that cannot be read
        return
    names = [name for stem in stems for name in files_of_records(fs, folder, base, stem)]
    delete_records(fs, [posixpath.join(folder, name) for name in names])


def fold_records(prefix: str, durability: Durability = Durability.DISK, *, fs: FileSystem = LOCAL) -> None:
    """Puts all rows of a checkpoint into it, and deletes the records beside it.

    Whenever that is interrupted, it has the same rows: one that is in it counts, and not its record.
    """
    folder = posixpath.dirname(prefix)
    records = record_files(fs, prefix)
    if not records:
        return
    with opened_for_tools(prefix, fs) as reader:
        work = Rewrite.of(reader, fs)
        work.durability = durability
        for entry in work.embeddings.values():
            if any(has_records(fs, prefix, stem) for stem in entry.stems.values()):
                work.drop(entry, entry.shard_count)
                for column in entry.columns:
                    work.put_shards(entry.name, column, entry.open(reader, column, fs=fs), entry.shard_count)
        work.write(prefix)
    delete_records(fs, [posixpath.join(folder, name) for name in records])
