"""The cold part of an embedding whose storage had an SSD tier: DeepRec leaves it outside the checkpoint proper.

    <prefix>-<stem, / as _>-ssd_record.index, .data-…    a bundle: keys, keys_file_id, keys_offset, files, …
    <prefix>-<stem, / as _>-emb_files/<id>.emb           records
    record = row of the weights, row of each slot, each padded to 16 bytes; int64 frequency; int64 version

A record is as long for every key, and `keys_offset` counts bytes.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterator, Sequence
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from tensorkeep.checkpoint.bundle.reader import BundleReader
from tensorkeep.checkpoint.finding.file_names import index_path
from tensorkeep.checkpoint.reader import ReadOptions
from tensorkeep.checkpoint.slices.regions import read_rows
from tensorkeep.embedding.stored.buckets import BUCKETS, bucket_offsets, order_of
from tensorkeep.embedding.stored.naming import record_folder, record_path
from tensorkeep.embedding.stored.rows import Batch, Fields, rows_at_once, stretches_of_buckets
from tensorkeep.errors import DataLossError
from tensorkeep.io.files.filesystem import FileSystem, RandomAccessFile

Keys = npt.NDArray[np.int64]
Integers = npt.NDArray[np.int64]

_ALIGNMENT: Final = 16
_NUMBERS: Final = 16  # bytes of frequency and version
FILE_BYTES: Final = 1 << 27
"""How large a file of records becomes at most."""


def padded_row_size(dim: int) -> int:
    """The bytes that a row of `dim` float32 takes in a record."""
    return -(-dim * 4 // _ALIGNMENT) * _ALIGNMENT


def record_size(dims: Sequence[int]) -> int:
    """The bytes of a record with rows of these dimensions."""
    return sum(map(padded_row_size, dims)) + _NUMBERS


def has_records(fs: FileSystem, prefix: str, stem: str) -> bool:
    """Whether rows of a stem lie outside the checkpoint."""
    return fs.exists(index_path(record_path(prefix, stem)))


class RecordFiles:
    """The records of one stem: where the record of each key lies, keys in order."""

    def __init__(self, fs: FileSystem, prefix: str, stem: str, dims: Sequence[int]) -> None:
        self.path = record_path(prefix, stem)
        self._folder = record_folder(prefix, stem)
        self._fs = fs
        self._open: dict[int, RandomAccessFile] = {}
        self.stride = record_size(dims)
        with BundleReader(self.path, ReadOptions(), fs=fs) as reader:
            missing = [name for name in ("keys", "keys_file_id", "keys_offset") if name not in reader]
            if missing:
                raise DataLossError(f'"{self.path}" holds no {" nor ".join(missing)}')
            keys, files, offsets = (self._vector(reader, name) for name in ("keys", "keys_file_id", "keys_offset"))
        if not keys.size == files.size == offsets.size:
            raise DataLossError(
                f'"{self.path}" has {keys.size} keys, {files.size} file numbers and {offsets.size} offsets, expected '
                "as many of each"
            )
        if wrong := offsets[(offsets < 0) | (offsets % self.stride != 0)][:1].tolist():
            raise DataLossError(
                f'"{self.path}": a record begins at byte {wrong[0]}, expected a multiple of {self.stride}, the size of '
                f"records with rows of {', '.join(map(str, dims))}"
            )
        order = order_of(keys)
        self.keys, self.files, self.records = keys[order], files[order], offsets[order] // self.stride

    def _vector(self, reader: BundleReader, name: str) -> Integers:
        info = reader[name]
        if len(info.shape) != 1 or info.dtype.name not in ("int64", "int32"):
            raise DataLossError(f'"{self.path}": "{name}" is {info}, expected a vector of integers')
        return reader.read(name).astype(np.int64, copy=False)

    def read(self, positions: Integers) -> npt.NDArray[np.uint8]:
        """The records of the keys at these positions."""
        out = np.empty((positions.size, self.stride), np.uint8)
        files = self.files[positions]
        for number in np.unique(files).tolist():
            chosen = np.flatnonzero(files == number)
            file = self._file(number)
            records = self.records[positions[chosen]]
            if (int(records.max()) + 1) * self.stride > file.size:
                raise DataLossError(
                    f'"{file.path}" is {file.size} bytes long, but "{self.path}" places a record at byte '
                    f"{int(records.max()) * self.stride}"
                )
            shape = (file.size // self.stride, self.stride)
            out[chosen] = read_rows(file, 0, shape, records, np.dtype(np.uint8))
        return out

    def _file(self, number: int) -> RandomAccessFile:
        if number not in self._open:
            self._open[number] = self._fs.open(posixpath.join(self._folder, f"{number}.emb"))
        return self._open[number]

    def close(self) -> None:
        for file in self._open.values():
            file.close()
        self._open.clear()


class RecordRows:
    """One column of the records of a stem, without the keys that are in memory tiers too, which come first."""

    has_freqs = True
    has_versions = True
    tensors: tuple[str, ...] = ()

    def __init__(self, files: RecordFiles, dims: Sequence[int], column: int, known: npt.NDArray[np.bool_]) -> None:
        self._files = files
        self._kept = np.flatnonzero(~known)
        self._start = sum(map(padded_row_size, dims[:column]))
        self._dim = dims[column]
        self.where = f'"{files.path}"'
        self.offsets = bucket_offsets(files.keys[self._kept])

    @property
    def dim(self) -> int:
        return self._dim

    @property
    def dtype(self) -> np.dtype[Any]:
        return np.dtype(np.float32)

    def read(self, start: int, stop: int, fields: Fields) -> Batch:
        return self.take(np.arange(start, stop, dtype=np.int64), fields)

    def take(self, positions: Integers, fields: Fields) -> Batch:
        positions = self._kept[positions]
        keys = self._files.keys[positions]
        if not any(fields):
            return Batch(keys)
        records = self._files.read(positions)
        numbers = np.ascontiguousarray(records[:, -_NUMBERS:]).view("<i8").astype(np.int64, copy=False)
        values = np.ascontiguousarray(records[:, self._start : self._start + 4 * self._dim]).view("<f4")
        return Batch(
            keys,
            values.astype(np.float32, copy=False) if fields.values else None,
            numbers[:, 0] if fields.freqs else None,
            numbers[:, 1] if fields.versions else None,
        )

    def scan(self, number: int, count: int, fields: Fields) -> Iterator[Batch]:
        step = rows_at_once(self._files.stride // 4)
        for start, stop in stretches_of_buckets(self.offsets, np.arange(number, BUCKETS, count)):
            for first in range(start, stop, step):
                yield self.read(first, min(first + step, stop), fields)
