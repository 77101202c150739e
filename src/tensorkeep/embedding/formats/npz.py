"""NumPy's `.npz`: keys, values, and what else is stored, as arrays of one file that `np.load` reads.

    keys, values, freqs, versions, keys_filtered, freqs_filtered, versions_filtered; slots as `values/<slot>`

What is not stored is left out.
"""

from __future__ import annotations

import zipfile
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from tensorkeep.arrays import Array
from tensorkeep.embedding.formats.streams import Output, opened_for_export, writing_file
from tensorkeep.embedding.stored.embeddings import StoredColumn
from tensorkeep.embedding.stored.ordered_columns import filtered_in_order, in_order
from tensorkeep.embedding.stored.rows import Batch, Fields
from tensorkeep.io.files.everywhere import FILES
from tensorkeep.io.files.filesystem import FileSystem, PathLike, path_text
from tensorkeep.io.showing.progress import Progress, Told


def export_npz(
    source: PathLike,
    target: PathLike,
    name: str,
    *,
    slots: bool = True,
    progress: Progress | None = None,
    fs: FileSystem = FILES,
) -> str:
    """Writes an embedding of a checkpoint, slots included unless unwanted, as one `.npz` file, uncompressed."""
    path = path_text(target)
    with opened_for_export(source, name, "", fs) as found, writing_file(path, fs) as file:
        columns = {"values": found.column}
        if slots:
            for slot in found.entry.slots:
                columns[f"values/{slot}"] = found.entry.open(found.reader, slot, fs=fs)
        told = Told(progress, sum(column.count for column in columns.values()))
        with zipfile.ZipFile(_as_binary(file), "w", zipfile.ZIP_STORED, allowZip64=True) as archive:
            _write_keys(archive, found.column)
            for label, column in columns.items():
                dtype = column.dtype if column.dtype in (np.float64, np.float16) else np.dtype(np.float32)
                _write(archive, label, dtype, (column.count, column.dim), _rows(column, dtype, told))
    return path


def _as_binary(file: Output) -> Any:
    return file


def _write_keys(archive: zipfile.ZipFile, column: StoredColumn) -> None:
    count, counted = (column.count,), (column.filtered_count,)
    whole = np.dtype(np.int64)
    _write(archive, "keys", whole, count, _parts(in_order(column), lambda batch: batch.keys))
    if column.has_freqs:
        batches = in_order(column, fields=Fields(freqs=True))
        _write(archive, "freqs", whole, count, _parts(batches, lambda batch: batch.freqs))
    if column.has_versions:
        batches = in_order(column, fields=Fields(versions=True))
        _write(archive, "versions", whole, count, _parts(batches, lambda batch: batch.versions))
    if column.filtered_count:
        _write(archive, "keys_filtered", whole, counted, _parts(filtered_in_order(column), lambda batch: batch.keys))
        _write(archive, "freqs_filtered", whole, counted, _parts(filtered_in_order(column), lambda batch: batch.freqs))
        if column.filtered_has_versions:
            batches = filtered_in_order(column)
            _write(archive, "versions_filtered", whole, counted, _parts(batches, lambda batch: batch.versions))


def _parts(batches: Iterator[Batch], part: Callable[[Batch], Array | None]) -> Iterator[Array]:
    for batch in batches:
        found = part(batch)
        yield np.ones(batch.keys.size, np.int64) if found is None else found


def _rows(column: StoredColumn, dtype: np.dtype[Any], told: Told) -> Iterator[Array]:
    for batch in in_order(column, fields=Fields(values=True)):
        assert batch.values is not None
        yield batch.values.astype(dtype, copy=False)
        told.add(batch.keys.size)


def _write(
    archive: zipfile.ZipFile, name: str, dtype: np.dtype[Any], shape: tuple[int, ...], chunks: Iterator[Array]
) -> None:
    with archive.open(zipfile.ZipInfo(f"{name}.npy"), "w", force_zip64=True) as member:
        described = {"descr": np.lib.format.dtype_to_descr(dtype), "fortran_order": False, "shape": shape}
        np.lib.format.write_array_header_1_0(member, described)
        for chunk in chunks:
            member.write(np.ascontiguousarray(chunk).reshape(-1).view(np.uint8).data)
