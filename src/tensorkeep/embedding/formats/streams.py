"""What the formats have in common: files as other libraries want them, and a stored embedding as batches of rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Final, NamedTuple

import numpy as np

from tensorkeep.arrays import Array
from tensorkeep.checkpoint.reader import CheckpointReader
from tensorkeep.embedding.stored.buckets import require_shards
from tensorkeep.embedding.stored.embeddings import StoredColumn, StoredEmbedding, find_embedding, stored_embeddings
from tensorkeep.embedding.stored.ordered_columns import filtered_in_order, in_order
from tensorkeep.embedding.stored.rows import ALL_FIELDS, Batch
from tensorkeep.embedding.stored.writing import save_embeddings
from tensorkeep.embedding.table.snapshot import ArraySnapshot
from tensorkeep.embedding.tools.rewriting import opened_for_tools
from tensorkeep.errors import DataLossError, InvalidArgumentError
from tensorkeep.io.files.filesystem import (
    Buffer,
    Durability,
    FileSystem,
    PathLike,
    RandomAccessFile,
    TemporaryFile,
    path_text,
    prepare_directory,
)

_READ_AHEAD: Final = 1 << 20


class Output:
    """A file being written, as libraries want one: it counts, and cannot go back."""

    closed = False

    def __init__(self, file: TemporaryFile) -> None:
        self._file = file
        self._at = 0

    def write(self, data: Buffer) -> int:
        self._file.write(data)
        self._at += len(data)
        return len(data)

    def tell(self) -> int:
        return self._at

    def flush(self) -> None:
        return None

    def close(self) -> None:
        return None

    def writable(self) -> bool:
        return True

    def readable(self) -> bool:
        return False

    def seekable(self) -> bool:
        return False


class Input:
    """A file being read, as libraries want one; or a stretch of a file, as if there were nothing around it."""

    closed = False

    def __init__(self, file: RandomAccessFile, start: int = 0, size: int | None = None) -> None:
        self._file = file
        self._start = start
        self._size = file.size - start if size is None else size
        self._at = 0

    def read(self, size: int | None = -1) -> bytes:
        left = max(self._size - self._at, 0)
        length = left if size is None or size < 0 else min(size, left)
        data = bytes(self._file.read(self._start + self._at, length))
        self._at += length
        return data

    def seek(self, offset: int, whence: int = 0) -> int:
        self._at = offset + (0, self._at, self._size)[whence]
        return self._at

    def tell(self) -> int:
        return self._at

    def size(self) -> int:
        return self._size

    def close(self) -> None:
        self._file.close()

    def readable(self) -> bool:
        return True

    def writable(self) -> bool:
        return False

    def seekable(self) -> bool:
        return True


@contextmanager
def writing_file(path: PathLike, fs: FileSystem, durability: Durability = Durability.DISK) -> Iterator[Output]:
    """A file that appears under its name when the block ends well, and not at all otherwise."""
    target = path_text(path)
    folder = target.rpartition("/")[0]
    if folder:
        prepare_directory(fs, folder, durability)
    with TemporaryFile(fs, target) as file:
        yield Output(file)
        file.commit(durability)


def lines_of(file: RandomAccessFile, read: Callable[[int], None] = lambda size: None) -> Iterator[str]:
    """The lines of a text file, each with its end. `read` is told how many bytes were read."""
    rest = b""
    for at in range(0, file.size, _READ_AHEAD):
        size = min(_READ_AHEAD, file.size - at)
        rest += bytes(file.read(at, size))
        read(size)
        *whole, rest = rest.split(b"\n")
        for line in whole:
            yield line.decode("utf-8", "replace") + "\n"
    if rest:
        yield rest.decode("utf-8", "replace")


class Exported(NamedTuple):
    """A stored embedding that is about to be exported."""

    reader: CheckpointReader
    entry: StoredEmbedding
    column: StoredColumn
    name: str

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type of the values in the export: that of the table, and float32 for types few know."""
        return self.column.dtype if self.column.dtype in (np.float64, np.float16) else np.dtype(np.float32)

    def batches(self, partition: tuple[int, int] = (0, 1)) -> Iterator[Batch]:
        """All keys with rows of a partition, in order, with everything stored of them."""
        for batch in in_order(self.column, partition, ALL_FIELDS):
            assert batch.values is not None
            yield batch._replace(values=batch.values.astype(self.dtype, copy=False))

    def filtered(self, partition: tuple[int, int] = (0, 1)) -> Iterator[Batch]:
        """All counted keys without rows of a partition, in order."""
        return filtered_in_order(self.column, partition)


@contextmanager
def opened_for_export(source: PathLike, name: str, column: str, fs: FileSystem) -> Iterator[Exported]:
    """Opens the embedding of a checkpoint that is to be exported: its weights, or the slot named as the column."""
    with opened_for_tools(source, fs) as reader:
        stored = stored_embeddings(reader, fs=fs)
        found, own = find_embedding(reader, name, stored)
        entry = stored[found]
        yield Exported(reader, entry, entry.open(reader, column or own, fs=fs), found)


class Imported:
    """Rows that come in from another format, piece by piece, until they are a table."""

    def __init__(self, where: str) -> None:
        self._where = where
        self._keys: list[Array] = []
        self._values: list[Array] = []
        self._numbers: dict[str, list[Array]] = {}
        self.dim: int | None = None

    def add(self, keys: Array, values: Array, **numbers: Array | None) -> None:
        """Adds rows; `numbers` are frequencies and versions of all, or None."""
        if self.dim is None and len(keys):
            self.dim = values.shape[1]
        if len(keys) and values.shape != (len(keys), self.dim):
            raise InvalidArgumentError(f"{self._where}: rows of {values.shape[1]} after rows of {self.dim}")
        self._keys.append(keys.astype(np.int64, copy=False))
        self._values.append(self._narrowed(keys, values))
        for what, found in numbers.items():
            if found is not None:
                self._numbers.setdefault(what, []).append(found.astype(np.int64, copy=False))

    def _narrowed(self, keys: Array, values: Array) -> Array:
        """Values as float32. A number that is no infinity does not become one."""
        if values.dtype == np.float32:
            return values
        with np.errstate(over="ignore"):
            narrow = values.astype(np.float32)
        lost = np.argwhere(np.isinf(narrow) & np.isfinite(values))
        if lost.size:
            row, at = lost[0]
            key, value = int(keys[row]), values[row, at]
            raise DataLossError(f"{self._where}: the row of key {key} has {value}, which is more than a float32 holds")
        return narrow

    def snapshot(self, filtered: tuple[Array, Array, Array | None] | None = None) -> ArraySnapshot:
        """The table, in order. A key that came twice is an error."""
        if self.dim is None:
            raise InvalidArgumentError(f"{self._where} holds no row")
        keys = np.concatenate(self._keys)
        distinct, counts = np.unique(keys, return_counts=True)
        if distinct.size != keys.size:
            raise InvalidArgumentError(f"{self._where}: key {int(distinct[counts > 1][0])} is there twice")
        numbers = {what: np.concatenate(parts) for what, parts in self._numbers.items()}
        others = filtered or (keys[:0], keys[:0], None)
        return ArraySnapshot.of(
            keys,
            np.concatenate([part for part in self._values if len(part)]),
            freqs=numbers.get("freqs"),
            versions=numbers.get("versions"),
            filtered_keys=others[0],
            filtered_freqs=others[1],
            filtered_versions=others[2],
        )


def save_imported(snapshot: ArraySnapshot, target: PathLike, name: str, shards: int, fs: FileSystem) -> str:
    """Saves an imported table as a checkpoint, in so many shards."""
    require_shards(name, shards)
    parts = {name: snapshot}
    if shards > 1:
        parts = {f"{name}/part_{number}": part for number, part in enumerate(snapshot.split(shards))}
    return save_embeddings(target, parts, fs=fs)
