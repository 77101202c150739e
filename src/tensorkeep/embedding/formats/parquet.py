"""Parquet, by pyarrow (the extra `tables`).

    key int64, embedding fixed_size_list<float>[dim], freq int64, version int64, admitted bool

Rows are sorted by (bucket, key), those of keys without rows last, with a null for their embedding. The file says under
`tensorkeep.…` what it was made of: name, column, dim, part, parts, keys, filtered and, if it is stored, global_step.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

import numpy as np

from tensorkeep.arrays import Array
from tensorkeep.embedding.formats.streams import (
    Exported,
    Imported,
    Input,
    opened_for_export,
    save_imported,
    writing_file,
)
from tensorkeep.embedding.stored.rows import Batch
from tensorkeep.embedding.table.snapshot import ArraySnapshot
from tensorkeep.errors import DataLossError, InvalidArgumentError, TensorKeepError, UnimplementedError
from tensorkeep.io.files.everywhere import FILES
from tensorkeep.io.files.filesystem import FileSystem, PathLike, path_text, texts_of_paths
from tensorkeep.io.showing.progress import Progress, Told


def export_parquet(
    source: PathLike,
    target: PathLike,
    name: str,
    column: str = "",
    *,
    parts: int = 1,
    filtered: bool = True,
    compression: str = "snappy",
    progress: Progress | None = None,
    only: Collection[int] | None = None,
    fs: FileSystem = FILES,
) -> list[str]:
    """Writes an embedding of a checkpoint, its weights or a slot, as Parquet; returns the files.

    With several `parts` there is a file for the keys of each, named as shards are: `x-00001-of-00004.parquet`. `only`
    has the numbers of those that are written, where several processes write them together.
    """
    arrow, parquet = import_pyarrow()
    every = parquet_paths(path_text(target), parts)
    wanted = range(parts) if only is None else sorted(only)
    paths = [every[number] for number in wanted]
    with opened_for_export(source, name, column, fs) as found:
        told = Told(progress, found.column.count)
        for number, path in zip(wanted, paths, strict=True):
            schema = _schema(arrow, found, number, parts)
            with (
                writing_file(path, fs) as file,
                _closing(parquet.ParquetWriter(file, schema, compression=compression)) as w,
            ):
                for batch in found.batches((number, parts)):
                    w.write_table(_table(arrow, schema, batch, found.column.dim))
                    told.add(batch.keys.size)
                for batch in found.filtered((number, parts)) if filtered else ():
                    w.write_table(_table(arrow, schema, batch, found.column.dim))
    return paths


def read_parquet(
    paths: PathLike | Sequence[PathLike], *, progress: Progress | None = None, fs: FileSystem = FILES
) -> ArraySnapshot:
    """Reads a table from Parquet: a column of keys (`key`, `id` or `key_id`), and one of rows (`embedding`).

    Rows are lists of numbers, of fixed size or not, or text of comma-joined numbers. `freq`, `version` and `admitted`
    are read if they are there. A row that is null, or is not admitted, is that of a key that is only counted. Progress
    is told in keys, of those of the files that have been opened.
    """
    arrow, parquet = import_pyarrow()
    given = texts_of_paths(paths)
    taken = Imported(", ".join(f'"{path}"' for path in given))
    others: list[tuple[Array, Array, Array | None]] = []
    told = Told(progress)
    for path in given:
        file = Input(fs.open(path))
        try:
            stored = parquet.ParquetFile(file)
            told.total += stored.metadata.num_rows
            for batch in stored.iter_batches():
                _take(arrow, path, batch, taken, others)
                told.add(batch.num_rows)
        except TensorKeepError:
            raise
        except (arrow.ArrowException, OSError, ValueError, TypeError, AttributeError, OverflowError) as error:
            raise DataLossError(f'"{path}" cannot be read as Parquet: {error}') from error
        finally:
            file.close()
    return taken.snapshot(_filtered_keys(others))


def import_parquet(
    paths: PathLike | Sequence[PathLike],
    target: PathLike,
    name: str,
    *,
    shards: int = 1,
    progress: Progress | None = None,
    fs: FileSystem = FILES,
) -> str:
    """Makes a checkpoint with one embedding of what `read_parquet` reads, which is in memory for a while."""
    return save_imported(read_parquet(paths, progress=progress, fs=fs), target, name, shards, fs)


def import_pyarrow() -> tuple[Any, Any]:
    """pyarrow and its module of Parquet; UnimplementedError, with what to install, where they are not there."""
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError as error:
        raise UnimplementedError(
            f'Parquet needs the package pyarrow, which cannot be imported ({error}): pip install "tensorkeep[tables]"'
        ) from error
    return pyarrow, pyarrow.parquet


def parquet_paths(target: str, parts: int) -> list[str]:
    """The files that an export in so many parts consists of."""
    if parts < 1:
        raise InvalidArgumentError(f"{parts} parts: expected at least 1")
    if parts == 1:
        return [target]
    base, dot, ending = target.rpartition(".")
    if not dot or "/" in ending:
        base, ending = target, "parquet"
    return [f"{base}-{number:05d}-of-{parts:05d}.{ending}" for number in range(parts)]


def _schema(arrow: Any, found: Exported, number: int, parts: int) -> Any:
    column = found.column
    kinds = {np.dtype(np.float64): arrow.float64(), np.dtype(np.float16): arrow.float16()}
    fields = [
        arrow.field("key", arrow.int64(), nullable=False),
        arrow.field("embedding", arrow.list_(kinds.get(found.dtype, arrow.float32()), column.dim)),
        arrow.field("freq", arrow.int64()),
        arrow.field("version", arrow.int64()),
        arrow.field("admitted", arrow.bool_(), nullable=False),
    ]
    told = {"name": found.name, "column": column.name, "dim": column.dim, "part": number, "parts": parts}
    told |= {"keys": column.count, "filtered": column.filtered_count}
    if "global_step" in found.reader and found.reader["global_step"].size == 1:
        told["global_step"] = int(found.reader.read("global_step").reshape(()))
    return arrow.schema(fields, metadata={f"tensorkeep.{what}": str(value) for what, value in told.items()})


def _table(arrow: Any, schema: Any, batch: Batch, dim: int) -> Any:
    rows = schema.field("embedding").type
    if batch.values is None:
        embedding = arrow.nulls(batch.keys.size, rows)
    else:
        embedding = arrow.FixedSizeListArray.from_arrays(arrow.array(batch.values.reshape(-1)), type=rows)
    columns = [
        arrow.array(batch.keys),
        embedding,
        _numbers(arrow, batch.freqs, batch.keys.size),
        _numbers(arrow, batch.versions, batch.keys.size),
        arrow.array(np.full(batch.keys.size, batch.values is not None)),
    ]
    return arrow.Table.from_arrays(columns, schema=schema)


def _numbers(arrow: Any, numbers: Array | None, count: int) -> Any:
    return arrow.nulls(count, arrow.int64()) if numbers is None else arrow.array(numbers)


class _closing:  # noqa: N801
    """Closes a writer at the end of the block, be that good or bad."""

    def __init__(self, writer: Any) -> None:
        self._writer = writer

    def __enter__(self) -> Any:
        return self._writer

    def __exit__(self, *_: object) -> None:
        self._writer.close()


def _take(arrow: Any, path: str, batch: Any, taken: Imported, others: list[tuple[Array, Array, Array | None]]) -> None:
    names = batch.schema.names
    key = next((name for name in ("key", "id", "key_id") if name in names), None)
    if key is None or "embedding" not in names:
        raise InvalidArgumentError(f'"{path}" has the columns {", ".join(names)}; expected "key" and "embedding"')
    keys = _integers(path, key, batch.column(key))
    rows = batch.column("embedding")
    there = np.asarray(rows.is_valid())
    if "admitted" in names:
        there = there & np.asarray(batch.column("admitted").fill_null(True))
    numbers: dict[str, Array | None] = {}
    for what, name in (("freqs", "freq"), ("versions", "version")):
        stored = batch.column(name) if name in names else None
        numbers[what] = None if stored is None or stored.null_count else _integers(path, name, stored)
    values = _rows(arrow, path, rows.filter(arrow.array(there)))
    taken.add(keys[there], values, **{what: None if part is None else part[there] for what, part in numbers.items()})
    if not there.all():
        freqs, versions = numbers["freqs"], numbers["versions"]
        counted = np.ones(keys.size, np.int64) if freqs is None else freqs
        others.append((keys[~there], counted[~there], None if versions is None else versions[~there]))


def _integers(path: str, name: str, column: Any) -> Array:
    if column.null_count or not str(column.type).startswith(("int", "uint")):
        raise InvalidArgumentError(f'"{path}": column "{name}" is {column.type}, expected integers without nulls')
    found: Array = column.to_numpy(zero_copy_only=False)
    if found.dtype.kind == "u" and found.size and int(found.max()) > np.iinfo(np.int64).max:
        raise InvalidArgumentError(
            f'"{path}": column "{name}" has {int(found.max())}, which is more than an int64 holds'
        )
    return found.astype(np.int64)


def _rows(arrow: Any, path: str, column: Any) -> Array:
    """Rows of a column of lists, or of text of comma-joined numbers."""
    if arrow.types.is_string(column.type) or arrow.types.is_large_string(column.type):
        try:
            pieces = [np.array(text.split(","), np.float64) for text in column.to_pylist()]
        except ValueError as error:
            raise InvalidArgumentError(f'"{path}": column "embedding" has text that is no numbers: {error}') from None
        widths = {piece.size for piece in pieces}
        if len(widths) > 1:
            raise InvalidArgumentError(f'"{path}": rows of {", ".join(map(str, sorted(widths)))} numbers')
        return np.stack(pieces) if pieces else np.zeros((0, 0), np.float32)
    if not arrow.types.is_nested(column.type):
        raise InvalidArgumentError(f'"{path}": column "embedding" is {column.type}, expected lists or text')
    flat = column.flatten()
    if flat.null_count or (len(column) and len(flat) % len(column)):
        raise InvalidArgumentError(f'"{path}": rows of different lengths, or with nulls in them')
    if not arrow.types.is_fixed_size_list(column.type):
        lengths = {int(length) for length in column.value_lengths().to_pylist()}
        if len(lengths) > 1:
            raise InvalidArgumentError(f'"{path}": rows of {", ".join(map(str, sorted(lengths)))} numbers')
    values: Array = flat.to_numpy(zero_copy_only=False)
    if values.dtype.kind not in "iuf":
        raise InvalidArgumentError(f'"{path}": column "embedding" is {column.type}, expected lists of numbers')
    return values.reshape(len(column), -1) if len(column) else np.zeros((0, 0), np.float32)


def _filtered_keys(others: list[tuple[Array, Array, Array | None]]) -> tuple[Array, Array, Array | None] | None:
    if not others:
        return None
    versions = [part[2] for part in others if part[2] is not None]
    return (
        np.concatenate([part[0] for part in others]),
        np.concatenate([part[1] for part in others]),
        np.concatenate(versions) if len(versions) == len(others) else None,
    )
