"""Writing a checkpoint anew with some of its embeddings changed: what every offline tool ends in.

Everything streams: a tensor is read by bucket while it is written, and what is not changed is carried along. The new
checkpoint appears in one step, or not at all.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from tensorkeep.arrays import Array
from tensorkeep.checkpoint.bundle.writer import BundleWriter
from tensorkeep.checkpoint.finding.opening import open_checkpoint
from tensorkeep.checkpoint.reader import CheckpointReader, Checksums, ReadOptions
from tensorkeep.checkpoint.slices.tensor_slice import TensorSlice, box_shape
from tensorkeep.checkpoint.sources import ArraySource
from tensorkeep.embedding.stored.buckets import BUCKETS, buckets_of_partition
from tensorkeep.embedding.stored.embeddings import StoredEmbedding, stored_embeddings
from tensorkeep.embedding.stored.naming import (
    DELTA_KEYS,
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
    part_stem,
    slot_stem,
)
from tensorkeep.embedding.stored.ordered_columns import OrderedColumn, filtered_in_order, in_order
from tensorkeep.embedding.stored.record_files import link_records
from tensorkeep.embedding.stored.rows import Batch, Fields
from tensorkeep.errors import InvalidArgumentError, NotFoundError
from tensorkeep.io.files.filesystem import Durability, FileSystem, PathLike, path_text
from tensorkeep.io.machine.parallel import read_ahead
from tensorkeep.io.showing.progress import Progress, Told
from tensorkeep.shapes import element_count

Integers = npt.NDArray[np.int64]

Arrangement = Callable[[list[tuple[str, TensorSlice | None]]], list[tuple[str, TensorSlice | None, int]]]
"""Puts tensors, or slices of them, in an order, and gives each a data file."""

_MOST_KEYS: Final = 2**31 - 1
_CHUNK: Final = 8 << 20  # bytes of a slice that are carried along at a time


def opened_for_tools(path: PathLike, fs: FileSystem) -> CheckpointReader:
    """A checkpoint whose tensors are checked before they are first used."""
    return open_checkpoint(path, ReadOptions(checksums=Checksums.ONCE), fs=fs)


@dataclass
class Rewrite:
    """A checkpoint about to be written anew: what is left out of the old one, and what is put in."""

    reader: CheckpointReader
    fs: FileSystem
    embeddings: Mapping[str, StoredEmbedding]
    told: Told
    durability: Durability = Durability.DISK
    only: frozenset[str] | None = None
    """Where several processes write the checkpoint together: the tensors, and the stems of embeddings, that are written
    here; all, if None."""
    _added: dict[str, ArraySource] = field(default_factory=dict)
    _dropped: set[str] = field(default_factory=set)
    _others: dict[str, CheckpointReader] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        reader: CheckpointReader,
        fs: FileSystem,
        progress: Progress | None = None,
        only: frozenset[str] | None = None,
    ) -> Rewrite:
        """Everything as it is, for now."""
        return cls(reader, fs, stored_embeddings(reader, fs=fs), Told(progress), only=only)

    def wants(self, unit: str) -> bool:
        """Whether a tensor, or all tensors of a stem, are to be written here."""
        return self.only is None or unit in self.only

    def chosen_embeddings(self, names: Collection[str] | None) -> list[StoredEmbedding]:
        """The embeddings of these names; all, if none are given. NotFoundError if there is none to choose."""
        if isinstance(names, str):
            raise InvalidArgumentError(f"names: expected several names of embeddings, got the text {names!r}")
        if not self.embeddings:
            raise _no_embeddings(self.reader)
        unknown = [name for name in names or () if name not in self.embeddings]
        if unknown:
            known = ", ".join(f'"{name}"' for name in list(self.embeddings)[:5]) or "none at all"
            raise NotFoundError(f'"{self.reader.path}" holds no embedding "{unknown[0]}"; it holds {known}')
        return [entry for name, entry in self.embeddings.items() if names is None or name in names]

    def drop(self, entry: StoredEmbedding, shards: int = 1) -> None:
        """Leaves out all tensors of an embedding, to be put in again in so many shards."""
        if entry.name.rpartition("/")[2].startswith("block") and max(entry.shard_count, shards) > 1:
            raise InvalidArgumentError(
                f'"{entry.name}" is a block of a variable of dynamic dimension: its shards number keys by themselves, '
                "and cannot be read as one table; name the embeddings to be changed, without it"
            )
        self._dropped.update(entry.tensors(self.reader))

    def put(self, stem: str, column: OrderedColumn, partition: Sequence[int] = (0, 1)) -> None:
        """Puts in the part of a column that belongs to a partition, under a stem."""
        if not self.wants(stem):
            return
        self.told.total += int(column.bucket_sizes[buckets_of_partition(partition)].sum())
        self.put_tensors(column_tensors(stem, column, partition, self.told.add))

    def put_shards(self, name: str, column: str, rows: OrderedColumn, count: int) -> None:
        """Puts in a column of an embedding, or its weights, "", in so many shards."""
        for number in range(count):
            self.put(slot_stem(part_stem(name, number, count), column), rows, (number, count))

    def put_tensors(self, tensors: Mapping[str, ArraySource]) -> None:
        """Puts in tensors by name, in place of those of the same name."""
        self._dropped.update(tensors)
        self._added.update(tensors)

    def units(self) -> dict[str, int]:
        """What the checkpoint will consist of, in names as `only` takes them, and about how many bytes each has.

        Embeddings are told by those who put them in.
        """
        kept = {name: self.reader for name in self.reader if name not in self._dropped} | self._others
        found = {name: reader[name].nbytes for name, reader in kept.items()}
        return found | {name: source.nbytes for name, source in self._added.items()}

    def added_tensor(self, name: str) -> ArraySource:
        """A tensor that was put in."""
        return self._added[name]

    def put_from(self, other: CheckpointReader, name: str) -> None:
        """Puts in a tensor of another checkpoint, as it is stored there."""
        self._dropped.add(name)
        self._others[name] = other

    def write(self, target: PathLike, arranged: Arrangement | None = None, files: int = 1) -> str:
        """Writes the checkpoint, sorted by name into one data file, unless `arranged` says otherwise."""
        path = path_text(target)
        kept = {name: self.reader for name in self.reader if name not in self._dropped and self.wants(name)}
        kept |= {name: other for name, other in self._others.items() if self.wants(name)}
        pieces: list[tuple[str, TensorSlice | None]] = [(name, None) for name in self._added]
        pieces += [(name, part) for name, reader in kept.items() for part in reader[name].slices or (None,)]
        pieces.sort(key=lambda piece: piece[0])
        ordered = [(name, part, 0) for name, part in pieces] if arranged is None else arranged(pieces)
        with BundleWriter(path, durability=self.durability, fs=self.fs) as writer:
            for shard in range(files):
                writer.reserve(0, shard=shard)
            for name, part, shard in ordered:
                if name in self._added:
                    writer.add(name, self._added[name], shard=shard)
                else:
                    _carry(writer, kept[name], name, part, shard)
            if self.only is None:
                self.carry_records(path)  # first: once the checkpoint is there, nothing may be missing
        return path

    def carry_records(self, target: str) -> None:
        """Gives the files of SSD tiers that are not merged in a name beside the new checkpoint."""
        for entry in self.embeddings.values():
            if entry.stems[min(entry.stems)] + KEYS in self._dropped:
                continue
            for stem in entry.stems.values():
                link_records(self.fs, self.reader.path, target, stem)


def require_slots(entries: Iterable[StoredEmbedding], slots: Collection[str], where: str = "") -> None:
    """NotFoundError unless each of these slots is one of at least one of the embeddings."""
    known = {slot for entry in entries for slot in entry.slots}
    if unknown := sorted(set(slots) - known):
        listed = ", ".join(f'"{slot}"' for slot in sorted(known)) or "none at all"
        raise NotFoundError(f'{where}no embedding has a slot "{unknown[0]}"; there are {listed}')


def _carry(writer: BundleWriter, reader: CheckpointReader, name: str, part: TensorSlice | None, shard: int) -> None:
    """Copies a tensor, or a slice of one, as it is."""
    if part is None:
        writer.add(name, reader.source(name), shard=shard)
        return
    info = reader[name]
    shape = box_shape(part.box(info.shape))
    source = ArraySource(info.dtype, shape, _slice_chunks(reader, name, part))
    writer.add_slice(name, info.shape, part, source, shard=shard)


def column_tensors(
    stem: str,
    column: OrderedColumn,
    partition: Sequence[int] = (0, 1),
    report: Callable[[int], None] = lambda rows: None,
) -> dict[str, ArraySource]:
    """The nine tensors of the part of a column that belongs to a partition, read while they are written."""
    sizes, filtered = _within(column.bucket_sizes, partition), _within(column.filtered_sizes, partition)
    count, counted = int(sizes.sum()), int(filtered.sum())
    if max(count, counted) > _MOST_KEYS:
        raise InvalidArgumentError(f'"{stem}" would have {count} keys; a shard holds {_MOST_KEYS} at most')
    rows = _Reading(column, tuple(partition), False)
    others = _Reading(column, tuple(partition), True)
    keys = column.key_dtype
    tensors = {
        KEYS: ArraySource(keys, (count,), rows.of(lambda batch: batch.keys.astype(keys, copy=False))),
        VALUES: ArraySource(column.dtype, (count, column.dim), rows.values(column.dtype, report)),
        FREQS: rows.numbers("freqs", count if column.has_freqs else 0, 1),
        VERSIONS: rows.numbers("versions", count if column.has_versions else 0, -1),
        OFFSETS: _offsets(sizes),
        FILTERED_KEYS: ArraySource(keys, (counted,), others.of(lambda batch: batch.keys.astype(keys, copy=False))),
        FILTERED_FREQS: others.numbers("freqs", counted, 1),
        FILTERED_VERSIONS: others.numbers("versions", counted if column.filtered_has_versions else 0, -1),
        FILTERED_OFFSETS: _offsets(filtered),
    }
    return {stem + suffix: tensors[suffix] for suffix in NINE}


@dataclass(frozen=True)
class _Reading:
    """The batches of a column's part, gone through anew for each tensor that is made of them."""

    column: OrderedColumn
    partition: tuple[int, ...]
    is_filtered: bool

    def of(self, part: Callable[[Batch], Array], fields: Fields = Fields()) -> Iterable[Array]:
        return _Chunks(self, part, fields)

    def values(self, dtype: np.dtype[Any], report: Callable[[int], None]) -> Iterable[Array]:
        def rows(batch: Batch) -> Array:
            assert batch.values is not None
            report(batch.keys.size)
            return batch.values.astype(dtype, copy=False)

        return self.of(rows, Fields(values=True))

    def numbers(self, what: str, count: int, absent: int) -> ArraySource:
        """Frequencies or versions: one for each key, or none at all."""

        def found(batch: Batch) -> Array:
            part: Array | None = getattr(batch, what)
            return np.full(batch.keys.size, absent, np.int64) if part is None else part

        wanted = Fields(freqs=what == "freqs", versions=what == "versions")
        return ArraySource(np.int64, (count,), self.of(found, wanted) if count else ())

    def batches(self, fields: Fields) -> Iterator[Batch]:
        if self.is_filtered:
            return filtered_in_order(self.column, self.partition)
        return in_order(self.column, self.partition, fields)


@dataclass(frozen=True)
class _Chunks:
    reading: _Reading
    part: Callable[[Batch], Array]
    fields: Fields

    def __iter__(self) -> Iterator[Array]:
        batches = self.reading.batches(self.fields)
        return (self.part(batch) for batch in (read_ahead(batches) if self.fields.values else batches))


def _within(sizes: Integers, partition: Sequence[int]) -> Integers:
    """The sizes of the buckets, with 0 for those that do not belong to a partition."""
    mine = np.zeros(BUCKETS, np.int64)
    chosen = buckets_of_partition(partition)
    mine[chosen] = sizes[chosen]
    return mine


def _offsets(sizes: Integers) -> ArraySource:
    return ArraySource.of(np.concatenate([[0], np.cumsum(sizes)]).astype(np.int32))


def _slice_chunks(reader: CheckpointReader, name: str, part: TensorSlice) -> Iterator[Array]:
    """The elements of a slice, some of its rows at a time."""
    info = reader[name]
    box = part.box(info.shape)
    if not box or info.dtype.is_object:
        yield reader.read(name, part)
        return
    start, stop = box[0]
    row = element_count(box_shape(box[1:])) * info.dtype.itemsize
    step = max(1, _CHUNK // max(1, row))
    rest = tuple(slice(low, high) for low, high in box[1:])
    for first in range(start, stop, step):
        yield reader.read(name, (slice(first, min(first + step, stop)), *rest))


def _no_embeddings(reader: CheckpointReader) -> NotFoundError:
    if any(name.endswith(DELTA_KEYS) for name in reader):
        return NotFoundError(
            f'"{reader.path}" has no embedding tables, for it is an incremental checkpoint: put it over its full one '
            "first, with compact_checkpoint or `tensorkeep ev compact`"
        )
    return NotFoundError(f'"{reader.path}" has no embedding tables: no tensor is called like "...{KEYS}"')
