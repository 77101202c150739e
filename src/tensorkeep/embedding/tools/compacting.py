"""A full checkpoint and its newest incremental one, put together to a plain full checkpoint.

It is, byte for byte, what the program would have saved in full at that step: tensors lie in the same data files and in
the same order as in the full checkpoint that it was made of.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from tensorkeep.arrays import Array
from tensorkeep.checkpoint.reader import CheckpointReader
from tensorkeep.checkpoint.slices.tensor_slice import TensorSlice
from tensorkeep.checkpoint.sources import ArraySource
from tensorkeep.embedding.restore.finding_deltas import DELTA_FOLDER, check_goes_with, newest_delta
from tensorkeep.embedding.restore.incremental import OverlaidColumn, StoredDelta
from tensorkeep.embedding.stored.embeddings import StoredEmbedding, stored_deltas
from tensorkeep.embedding.stored.naming import DELTA_KEYS, DELTA_OFFSETS, DELTA_VALUES, part_stem, slot_stem
from tensorkeep.embedding.tools.rewriting import Rewrite, opened_for_tools
from tensorkeep.errors import DataLossError, NotFoundError
from tensorkeep.io.files.everywhere import FILES
from tensorkeep.io.files.filesystem import FileSystem, PathLike, path_text
from tensorkeep.io.showing.progress import Progress

_CHUNK = 8 << 20


def compact_checkpoint(
    full: PathLike,
    target: PathLike,
    delta: PathLike | None = None,
    *,
    progress: Progress | None = None,
    only: frozenset[str] | None = None,
    fs: FileSystem = FILES,
) -> str:
    """Writes a full checkpoint with an incremental one put over it. Without a `delta` it is the newest of that one.

    A folder stands for the latest full checkpoint in it. Deltas are cumulative: of a chain, the newest alone is needed.
    That of another full checkpoint is refused. `only` names the tensors, and the stems of embeddings, that are written,
    where several processes write the checkpoint together.
    """
    prefix, newest = full_and_newest_delta(full, delta, fs=fs)
    with opened_for_tools(prefix, fs) as reader, opened_for_tools(newest, fs) as changes:
        work = Rewrite.of(reader, fs, progress, only)
        put_delta(work, changes, fs)
        if only is not None:
            return work.write(target)
        layout = _Layout(reader)
        return work.write(target, layout.arranged, layout.file_count)


def put_delta(work: Rewrite, changes: CheckpointReader, fs: FileSystem) -> None:
    """Puts an incremental checkpoint over the full one that is about to be written anew."""
    deltas = stored_deltas(changes)
    for name, entry in deltas.items():
        _put_embedding(work, changes, name, entry, fs)
    for name in changes:
        if not _is_of_embedding(name, deltas):
            _put_tensor(work, changes, name)


def plan_compacting(full: str, delta: str, *, fs: FileSystem = FILES) -> dict[str, str]:
    """What `compact_checkpoint` would do to each embedding, in numbers of keys; nothing is written."""
    plan: dict[str, str] = {}
    with opened_for_tools(full, fs) as reader, opened_for_tools(delta, fs) as changes:
        embeddings = Rewrite.of(reader, fs).embeddings
        for name, entry in stored_deltas(changes).items():
            if name not in embeddings:
                raise _of_another(name, reader, changes)
            overlaid = OverlaidColumn(embeddings[name].open(reader, fs=fs), StoredDelta(changes, entry))
            before, after = int(overlaid.full.bucket_sizes.sum()), int(overlaid.bucket_sizes.sum())
            put, removed = overlaid.delta.rows.count, overlaid.delta.removed.size
            plan[name] = f"keys {before:,} -> {after:,}: {put:,} put over them, {removed:,} removed"
    return plan


def _of_another(name: str, full: CheckpointReader, changes: CheckpointReader) -> DataLossError:
    return DataLossError(
        f'"{changes.path}" has changes of the embedding "{name}", which "{full.path}" does not hold: they '
        "do not belong together"
    )


def full_and_newest_delta(full: PathLike, delta: PathLike | None = None, *, fs: FileSystem = FILES) -> tuple[str, str]:
    """The prefixes of the two checkpoints that `compact_checkpoint` would put together, if they go together."""
    with opened_for_tools(full, fs) as reader:
        newest = newest_delta(reader.path, fs=fs) if delta is None else path_text(delta)
        if newest is None:
            raise NotFoundError(
                f'"{reader.path}" has no newer incremental checkpoint in the folder "{DELTA_FOLDER}" beside it'
            )
        with opened_for_tools(newest, fs) as changes:
            check_goes_with(reader, changes, fs)
            return reader.path, changes.path


def _put_embedding(work: Rewrite, changes: CheckpointReader, name: str, entry: StoredEmbedding, fs: FileSystem) -> None:
    if name not in work.embeddings:
        raise _of_another(name, work.reader, changes)
    full = work.embeddings[name]
    if absent := [column for column in full.columns if column not in entry.columns]:
        raise DataLossError(f'"{changes.path}" has changes of "{name}", but none of its slot "{absent[0]}"')
    work.drop(full)
    count = full.shard_count
    for column in full.columns:
        stored, delta = full.open(work.reader, column, fs=fs), StoredDelta(changes, entry, column)
        for number in range(count):
            overlaid = OverlaidColumn(stored, delta, (number, count))
            work.put(slot_stem(part_stem(name, number, count), column), overlaid, (number, count))


def _is_of_embedding(name: str, deltas: dict[str, StoredEmbedding]) -> bool:
    stem = name
    for suffix in ("-sparse_incr_", "-tensorkeep_incr_"):
        stem = stem.rpartition(suffix)[0] or stem
    stem = stem.removesuffix(DELTA_OFFSETS)
    return any(stem in entry.stems_of(column).values() for entry in deltas.values() for column in entry.columns)


def _put_tensor(work: Rewrite, changes: CheckpointReader, name: str) -> None:
    """A plain variable: whole, or the rows that changed."""
    if name.endswith(DELTA_VALUES) and name.removesuffix(DELTA_VALUES) + DELTA_KEYS in changes:
        return
    if not name.endswith(DELTA_KEYS) or name.removesuffix(DELTA_KEYS) + DELTA_VALUES not in changes:
        if name not in work.reader:
            raise DataLossError(f'"{changes.path}" has "{name}", which "{work.reader.path}" does not hold')
        work.put_from(changes, name)
        return
    variable = name.removesuffix(DELTA_KEYS)
    if not work.wants(variable):
        return
    if variable not in work.reader:
        raise DataLossError(f'"{changes.path}" has rows of "{variable}", which "{work.reader.path}" does not hold')
    rows, values = changes.read(name), changes.read(variable + DELTA_VALUES)
    info = work.reader[variable]
    fits = rows.ndim == 1 and values.shape == (rows.size, *info.shape[1:]) and values.dtype == info.dtype.array_dtype
    if not fits or (rows.size and not 0 <= int(rows.min()) <= int(rows.max()) < info.shape[0]):
        raise DataLossError(
            f'"{changes.path}": {values.dtype} {list(values.shape)} for rows of "{variable}", which is {info}'
        )
    work.put_tensors({variable: ArraySource(info.dtype, info.shape, _overlaid(work.reader, variable, rows, values))})


def _overlaid(reader: CheckpointReader, name: str, rows: Array, values: Array) -> Iterator[Array]:
    order = np.argsort(rows, kind="stable")
    rows, values = rows[order], values[order]
    info = reader[name]
    step = max(1, _CHUNK // max(1, info.nbytes // max(1, info.shape[0])))
    for start in range(0, info.shape[0], step):
        chunk = reader.read(name, slice(start, min(start + step, info.shape[0])))
        low, high = np.searchsorted(rows, [start, start + len(chunk)])
        chunk[rows[low:high] - start] = values[low:high]
        yield chunk


class _Layout:
    """Where the tensors of a checkpoint lie: in which data file, and in which order."""

    def __init__(self, reader: CheckpointReader) -> None:
        self._places: dict[tuple[str, TensorSlice | None], tuple[int, int, bool, str]] = {}
        self.file_count = reader.shard_count
        for name, places in reader.places():
            for part, place in zip(reader[name].slices or (None,), places, strict=False):  # none, if nobody can tell
                # What is empty lies where the next begins; of several such, names tell.
                self._places[name, part] = (place.shard, place.offset, place.size > 0, name)

    def arranged(self, pieces: list[tuple[str, TensorSlice | None]]) -> list[tuple[str, TensorSlice | None, int]]:
        """Pieces in the order of this layout, each with its data file. What it does not know comes last."""
        last = self.file_count - 1

        def place(piece: tuple[str, TensorSlice | None]) -> tuple[int, int, bool, str]:
            known = self._places.get(piece) or self._places.get((piece[0], None))
            return known or (last, 1 << 62, True, piece[0])

        return [(name, part, place((name, part))[0]) for name, part in sorted(pieces, key=place)]
