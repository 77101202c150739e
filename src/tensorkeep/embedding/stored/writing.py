"""From a snapshot to the tensors of a checkpoint. Their names are in naming.py.

Keys are written in order (see buckets.py), so equal tables give equal bytes, and rows are asked for as they are
written, so a table is never in memory a second time.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from tensorkeep.arrays import Array
from tensorkeep.checkpoint.bundle.writer import BundleWriter
from tensorkeep.checkpoint.saving import SaveOptions, save_checkpoint
from tensorkeep.checkpoint.sources import ArrayLike, ArraySource, PartitionedArray
from tensorkeep.embedding.stored.buckets import bucket_offsets
from tensorkeep.embedding.stored.naming import (
    FILTERED_FREQS,
    FILTERED_KEYS,
    FILTERED_OFFSETS,
    FILTERED_VERSIONS,
    FREQS,
    KEYS,
    NINE,
    OFFSETS,
    VALUES,
    VERSIONS,
    slot_stem,
)
from tensorkeep.embedding.stored.record_writing import (
    WithoutRecords,
    check_no_records,
    positions_of_records,
    write_records,
)
from tensorkeep.embedding.table.snapshot import TableSnapshot, column_of
from tensorkeep.embedding.table.table_snapshots import TakenSnapshot
from tensorkeep.errors import InvalidArgumentError, WrongTypeError
from tensorkeep.io.files.everywhere import FILES
from tensorkeep.io.files.filesystem import FileSystem, PathLike, path_text
from tensorkeep.io.machine.parallel import read_ahead

__all__ = ["StoredForm", "add_embedding", "embedding_tensors", "save_embeddings", "table_tensors"]

Keys = npt.NDArray[np.int64]

_MOST_KEYS: Final = 2**31 - 1  # offsets are int32
_CHUNK: Final = 8 << 20  # bytes of rows asked for at a time
_LAST_PLAIN_STORAGE: Final = 5  # kinds of storage above it keep frequencies and versions by themselves …
_HBM: Final = 6  # … except this one


@dataclass(frozen=True, slots=True)
class StoredForm:
    """Which of a table's contents are written, and how. The default writes all that a snapshot has."""

    frequencies: bool = True
    versions: bool = True
    filtered: bool = True
    admitted_frequency: int | None = None
    """Written for every admitted key instead of its count; None for the counts."""
    key_dtype: np.dtype[Any] = field(default_factory=lambda: np.dtype(np.int64))

    def __post_init__(self) -> None:
        if np.dtype(self.key_dtype) not in (np.dtype(np.int64), np.dtype(np.int32)):
            raise InvalidArgumentError(f"key_dtype: expected int64 or int32, got {self.key_dtype}")

    @classmethod
    def as_upstream(
        cls,
        *,
        filter_freq: int = 0,
        counter_filter: bool = True,
        steps_to_live: int = 0,
        record_freq: bool = False,
        record_version: bool = False,
        storage_type: int = 0,
        save_filtered: bool = True,
        key_dtype: npt.DTypeLike = np.int64,
    ) -> StoredForm:
        """What DeepRec writes for a variable of these options (spec of embedding variables, 3.2).

        With a counter filter and without `record_freq` the counts of admitted keys are not kept there, and the
        threshold is written for each.
        """
        by_storage = storage_type > _LAST_PLAIN_STORAGE
        kept = storage_type != _HBM
        frequencies = kept and (filter_freq > 0 or record_freq or by_storage)
        dropped = frequencies and filter_freq > 0 and not record_freq and not by_storage
        return cls(
            frequencies=frequencies,
            versions=kept and (steps_to_live != 0 or record_version or by_storage),
            filtered=kept and filter_freq > 0 and counter_filter and save_filtered,
            admitted_frequency=filter_freq if dropped else None,
            key_dtype=np.dtype(key_dtype),
        )


def embedding_tensors(
    stem: str, snapshot: TableSnapshot, column: str = "", form: StoredForm = StoredForm()
) -> dict[str, ArraySource]:
    """The nine tensors of one column under a stem, in the order of their names. Rows are read when written."""
    chosen = column_of(snapshot, column)
    keys = snapshot.keys
    filtered = snapshot.filtered_keys if form.filtered else keys[:0]
    freqs = snapshot.freqs if form.frequencies else None
    if form.frequencies and form.admitted_frequency is not None:
        freqs = np.full(keys.size, form.admitted_frequency, np.int64)
    versions = snapshot.versions if form.versions else None
    filtered_versions = snapshot.filtered_versions if form.versions and form.filtered else None
    tensors = {
        KEYS: _keys(keys, form, stem),
        VALUES: ArraySource(chosen.dtype, (keys.size, chosen.dim), _rows(snapshot, column, chosen.dim)),
        FREQS: _vector(freqs),
        VERSIONS: _vector(versions),
        OFFSETS: _offsets(keys, stem),
        FILTERED_KEYS: _keys(filtered, form, stem),
        FILTERED_FREQS: _vector(snapshot.filtered_freqs if form.filtered else None),
        FILTERED_VERSIONS: _vector(filtered_versions),
        FILTERED_OFFSETS: _offsets(filtered, stem),
    }
    return {stem + suffix: tensors[suffix] for suffix in NINE}


def table_tensors(stem: str, snapshot: TableSnapshot, form: StoredForm = StoredForm()) -> dict[str, ArraySource]:
    """The nine tensors of every column of a table: the weights under the stem, slots under `<stem>/<slot>`."""
    tensors: dict[str, ArraySource] = {}
    for column in snapshot.columns:
        tensors.update(embedding_tensors(slot_stem(stem, column.name), snapshot, column.name, form))
    return tensors


def add_embedding(
    writer: BundleWriter,
    stem: str,
    snapshot: TableSnapshot,
    column: str = "",
    form: StoredForm = StoredForm(),
    *,
    shard: int = 0,
) -> None:
    """Writes the nine tensors of one column to a checkpoint in the making, into the data file of that number."""
    for name, source in embedding_tensors(stem, snapshot, column, form).items():
        writer.add(name, source, shard=shard)


def save_embeddings(
    prefix: PathLike,
    tables: Mapping[str, TableSnapshot],
    tensors: Mapping[str, ArrayLike | ArraySource | PartitionedArray] | None = None,
    form: StoredForm = StoredForm(),
    options: SaveOptions = SaveOptions(),
    *,
    records: Mapping[str, npt.ArrayLike] | None = None,
    fs: FileSystem = FILES,
) -> str:
    """Saves tables by their stems, and other tensors by their names, as one checkpoint. Snapshots stay open.

    `records` are keys of tables, by stem, whose rows lie beside the checkpoint, as those of DeepRec's SSD tier do.
    """
    everything: dict[str, ArrayLike | ArraySource | PartitionedArray] = dict(tensors or {})
    path, beside = path_text(prefix), _checked_records(records, tables)
    positions: dict[str, Keys] = {}
    for stem, snapshot in tables.items():
        if not hasattr(snapshot, "filtered_keys"):
            raise WrongTypeError(
                f'"{stem}" is given as {type(snapshot).__name__}, expected a snapshot: that of a table is '
                "table.snapshot()"
            )
        check_no_records(fs, path, stem)
        if stem in beside:
            positions[stem] = positions_of_records(stem, snapshot, beside[stem])
        kept = WithoutRecords(snapshot, positions[stem]) if stem in beside else snapshot
        made = table_tensors(stem, kept, form)
        if twice := sorted(made.keys() & everything.keys()):
            raise InvalidArgumentError(f'"{twice[0]}" is the name of two tensors: of the table "{stem}" and of another')
        everything.update(made)
    for stem, chosen in positions.items():  # first: once the checkpoint is there, nothing may be missing
        write_records(path, stem, tables[stem], chosen, key_dtype=form.key_dtype, durability=options.durability, fs=fs)
    return save_checkpoint(prefix, everything, options, fs=fs)


def _checked_records(
    records: Mapping[str, npt.ArrayLike] | None, tables: Mapping[str, TableSnapshot]
) -> Mapping[str, npt.ArrayLike]:
    if unknown := sorted(set(records or ()) - set(tables)):
        raise InvalidArgumentError(f'records of "{unknown[0]}" are asked for, which is no table that is saved')
    return records or {}


def _keys(keys: Keys, form: StoredForm, stem: str) -> ArraySource:
    if form.key_dtype == np.int32 and keys.size:
        limits = np.iinfo(np.int32)
        wide = keys[(keys < limits.min) | (keys > limits.max)]
        if wide.size:
            raise InvalidArgumentError(f'"{stem}": key {int(wide[0])} does not fit in int32, in which keys are stored')
    if keys.size > _MOST_KEYS:
        raise InvalidArgumentError(
            f'"{stem}" has {keys.size} keys; a shard holds {_MOST_KEYS} at most: spread the table over more shards'
        )
    return ArraySource.of(np.ascontiguousarray(keys, form.key_dtype))


def _vector(values: Keys | None) -> ArraySource:
    return ArraySource.of(np.zeros(0, np.int64) if values is None else np.ascontiguousarray(values, np.int64))


def _offsets(keys: Keys, stem: str) -> ArraySource:
    return ArraySource.of(bucket_offsets(keys).astype(np.int32))


def _rows(snapshot: TableSnapshot, column: str, dim: int) -> Iterable[Array]:
    return _Chunks(snapshot, column, max(1, _CHUNK // max(1, dim * column_of(snapshot, column).dtype.itemsize)))


@dataclass(frozen=True, slots=True)
class _Chunks:
    """The rows of a column, some at a time, as often as they are asked for."""

    snapshot: TableSnapshot
    column: str
    step: int

    def __iter__(self) -> Iterator[Array]:
        count = self.snapshot.keys.size
        starts = range(0, count, self.step)
        rows = self.snapshot.lent_rows if isinstance(self.snapshot, TakenSnapshot) else self.snapshot.rows
        return read_ahead(rows(self.column, start, min(start + self.step, count)) for start in starts)
