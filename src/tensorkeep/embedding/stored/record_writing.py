"""Writing rows of a table as the records of an SSD tier, beside a checkpoint or into it. Their form: ssd_records.py.

DeepRec's SSD tier leaves its rows there, and a restore takes them from there if the files exist
(embedding_var_restore.cc, RestoreSSD): into a variable of the same name and shard alone, where rows of the checkpoint
proper go into any number of shards. So records are written only where they are asked for.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from tensorkeep.arrays import Array
from tensorkeep.checkpoint.bundle.writer import BundleWriter
from tensorkeep.checkpoint.finding.file_names import RECORDS, index_path
from tensorkeep.embedding.stored.naming import RECORD_FOLDER, record_folder, record_path
from tensorkeep.embedding.stored.record_files import delete_records, files_of_records, record_files
from tensorkeep.embedding.stored.ssd_records import FILE_BYTES, has_records, padded_row_size, record_size
from tensorkeep.embedding.table.snapshot import ColumnInfo, TableSnapshot
from tensorkeep.embedding.tools.rewriting import Rewrite, opened_for_tools
from tensorkeep.errors import AlreadyExistsError, InvalidArgumentError
from tensorkeep.io.files.everywhere import FILES
from tensorkeep.io.files.filesystem import Durability, FileSystem, TemporaryFile, prepare_directory

Keys = npt.NDArray[np.int64]
Integers = npt.NDArray[np.int64]

_CHUNK: Final = 8 << 20  # bytes of records made at a time
_GAP: Final = 64  # rows that are read in vain at most, so that those around them are read at once
_NEVER: Final = -1


def check_no_records(fs: FileSystem, prefix: str, stem: str) -> None:
    """AlreadyExistsError if records of a stem lie beside a prefix: a reader would take them for the new table's."""
    if has_records(fs, prefix, stem):
        raise AlreadyExistsError(
            f'"{record_path(prefix, stem)}" holds records of an SSD tier, which would be taken for rows of the new '
            f'"{stem}": delete it and "{record_folder(prefix, stem)}", or save under another name'
        )


def positions_of_records(stem: str, snapshot: TableSnapshot, keys: npt.ArrayLike) -> Integers:
    """Where the keys that are to be records stand in a snapshot. All have to be there, and rows to be float32."""
    wanted = np.unique(np.asarray(keys, np.int64))
    if missing := np.setdiff1d(wanted, snapshot.keys)[:1].tolist():
        raise InvalidArgumentError(f'"{stem}" has no key {missing[0]}, which is to be written as a record')
    if wrong := [column for column in snapshot.columns if column.dtype != np.float32]:
        kinds = ", ".join(f'"{column.name}" of {column.dtype}' for column in wrong)
        raise InvalidArgumentError(f'records have rows of float32; "{stem}" has the columns {kinds}')
    return np.flatnonzero(np.isin(snapshot.keys, wanted))


class WithoutRecords:
    """A snapshot without the keys that are written as records. It reads from the whole snapshot, which has to stay open
    meanwhile.
    """

    def __init__(self, snapshot: TableSnapshot, records: Integers) -> None:
        self._whole = snapshot
        self._kept = np.setdiff1d(np.arange(snapshot.keys.size), records)
        self.keys = snapshot.keys[self._kept]
        self.freqs = None if snapshot.freqs is None else snapshot.freqs[self._kept]
        self.versions = None if snapshot.versions is None else snapshot.versions[self._kept]
        self.filtered_keys = snapshot.filtered_keys
        self.filtered_freqs = snapshot.filtered_freqs
        self.filtered_versions = snapshot.filtered_versions
        self.columns: Sequence[ColumnInfo] = snapshot.columns

    def rows(self, column: str, start: int, stop: int) -> Array:
        """The rows of a column that belong to `keys[start:stop]`."""
        return _picked_rows(self._whole, column, self._kept[start:stop])

    def close(self) -> None:
        """Nothing: who took the snapshot closes it."""


def write_records(
    prefix: str,
    stem: str,
    snapshot: TableSnapshot,
    positions: Integers,
    *,
    key_dtype: npt.DTypeLike = np.int64,
    durability: Durability = Durability.DISK,
    fs: FileSystem,
) -> None:
    """Writes the rows at these positions of a snapshot, weights and slots, as records beside a prefix."""
    table = _Records(snapshot, positions)
    folder = record_folder(prefix, stem)
    prepare_directory(fs, folder, durability)
    at_most = max(FILE_BYTES // table.size, 1)
    counts = [min(at_most, positions.size - first) for first in range(0, positions.size, at_most)]
    for number, count in enumerate(counts):
        with TemporaryFile(fs, posixpath.join(folder, f"{number}.emb")) as file:
            for records in table.made(number * at_most, number * at_most + count):
                file.write(records)
            file.commit(durability)
    within = np.arange(positions.size, dtype=np.int64)
    with BundleWriter(record_path(prefix, stem), durability=durability, fs=fs) as writer:
        writer.add("keys", snapshot.keys[positions].astype(key_dtype))
        writer.add("keys_file_id", within // at_most)
        writer.add("keys_offset", within % at_most * table.size)
        writer.add("files", np.arange(len(counts), dtype=np.int64))
        writer.add("invalid_record_count", np.zeros(len(counts), np.int64))
        writer.add("record_count", np.array(counts, np.int64))


@dataclass(frozen=True, slots=True)
class _Records:
    """The records of some keys of a snapshot. Slots stand in order of their names."""

    snapshot: TableSnapshot
    positions: Integers

    @property
    def columns(self) -> list[ColumnInfo]:
        first, *slots = self.snapshot.columns
        return [first, *sorted(slots, key=lambda column: column.name)]

    @property
    def size(self) -> int:
        return record_size([column.dim for column in self.columns])

    def made(self, start: int, stop: int) -> Iterator[memoryview]:
        """The bytes of records, some at a time."""
        step = max(_CHUNK // self.size, 1)
        for first in range(start, stop, step):
            yield self._bytes(self.positions[first : min(first + step, stop)]).data.cast("B")

    def _bytes(self, positions: Integers) -> npt.NDArray[np.uint8]:
        records = np.zeros((positions.size, self.size), np.uint8)
        at = 0
        for column in self.columns:
            rows = np.ascontiguousarray(_picked_rows(self.snapshot, column.name, positions), "<f4")
            records[:, at : at + 4 * column.dim] = rows.view(np.uint8)
            at += padded_row_size(column.dim)
        for numbers, absent in ((self.snapshot.freqs, 0), (self.snapshot.versions, _NEVER)):
            known = np.full(positions.size, absent, "<i8") if numbers is None else numbers[positions].astype("<i8")
            records[:, at : at + 8] = known[:, None].view(np.uint8)
            at += 8
        return records


def _picked_rows(snapshot: TableSnapshot, column: str, positions: Integers) -> Array:
    """The rows of a column at ascending positions."""
    if not positions.size:
        return snapshot.rows(column, 0, 0)
    parts = np.split(positions, np.flatnonzero(np.diff(positions) > _GAP) + 1)
    return np.concatenate([snapshot.rows(column, part[0], part[-1] + 1)[part - part[0]] for part in parts])


def make_way_for_records(prefix: str, stems: Iterable[str], durability: Durability, *, fs: FileSystem = FILES) -> None:
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


def fold_records(prefix: str, durability: Durability = Durability.DISK, *, fs: FileSystem = FILES) -> None:
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
