"""The data files of an open V2 checkpoint: each opened on first use, and only as long as its index is in place."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from contextlib import suppress
from typing import Final

from tensorkeep.checkpoint.bundle.codec import check_shape
from tensorkeep.checkpoint.bundle.format import Entry, Header
from tensorkeep.checkpoint.finding.file_names import data_path
from tensorkeep.errors import (
    DataLossError,
    FailedPreconditionError,
    MissingFileError,
    NotFoundError,
    StorageError,
    TensorKeepError,
    UnimplementedError,
)
from tensorkeep.io.files.filesystem import FileSystem, RandomAccessFile
from tensorkeep.io.showing.amounts import some_of
from tensorkeep.shapes import element_count

_MOST_HELD: Final = 256  # a process has so and so many files open at most
_MOST_LISTED: Final = 10_000  # no honest checkpoint has more


class DataFiles:
    """The data files that go with an open index. Several threads may ask for them."""

    def __init__(self, prefix: str, index: RandomAccessFile, header: Header, fs: FileSystem) -> None:
        self.prefix = prefix
        self.header = header
        self.index_path = index.path
        self._index = index
        self._fs = fs
        self._lock = threading.Lock()
        self._files: dict[int, RandomAccessFile] = {}
        self._is_closed = False

    def paths(self) -> list[str]:
        """The paths of the data files, existing or not."""
        return [self._path(number) for number in range(min(self.header.shard_count, _MOST_LISTED))]

    def file(self, number: int) -> RandomAccessFile:
        """The data file of that number, opened on first use."""
        file = self._files.get(number)
        if file is not None:
            return file
        with self._lock:
            self.require_open()
            if number >= self.header.shard_count:
                raise DataLossError(f'"{self.index_path}": data file {number} of {self.header.shard_count}')
            try:
                file = self._fs.open(self._path(number))
            except MissingFileError:
                self.require_current()
                raise
            # A checkpoint is replaced index first, so this data file belongs to our index if that is still in place.
            self.require_current()
            return self._files.setdefault(number, file)

    def hold(self) -> None:
        """Opens the data files. One that cannot be opened raises no error here, but when it is asked for."""
        for number in range(min(self.header.shard_count, _MOST_HELD)):
            with suppress(NotFoundError, StorageError):
                self.file(number)

    def close(self) -> None:
        """Closes the data files and the index."""
        with self._lock:
            self._is_closed = True
            for file in (self._index, *self._files.values()):
                file.close()
            self._files.clear()

    def require_open(self) -> None:
        if self._is_closed:
            raise FailedPreconditionError(f'the reader of "{self.prefix}" is closed')

    def require_current(self) -> None:
        """FailedPreconditionError if another checkpoint, or none, is in the place of this one by now."""
        if not self._index.is_current():
            raise FailedPreconditionError(f'"{self.prefix}" was replaced or deleted after it was opened; open it anew')

    def check_extent(self, entry: Entry) -> None:
        """DataLossError unless the bytes of a stored tensor are there, and as many as its shape asks for."""
        _, dtype, shape, shard, offset, size, _, slices = entry
        if slices:
            return
        check_shape(shape, dtype)
        count = element_count(shape)
        if size != count * dtype.itemsize and (not dtype.is_object or size < count):
            expected = f"at least {count}" if dtype.is_object else f"{count * dtype.itemsize}"
            raise DataLossError(
                f'"{self.index_path}": tensor "{entry.name}" has {size} bytes, expected {expected} for '
                f"{dtype} {list(shape)}"
            )
        with Locating(self, entry):
            file = self.file(shard)
        if offset + size > file.size:
            raise DataLossError(
                f'"{file.path}" is {file.size} bytes long, but tensor "{entry.name}" lies at bytes '
                f"{offset}..{offset + size}"
            )

    def problem(self, number: int, stored: Sequence[tuple[str, int]]) -> TensorKeepError | None:
        """Why a data file lacks tensors that it should hold: it is missing or too short; None if it lacks none.

        `stored` has the name of each tensor in it, and the position after its last byte.
        """
        try:
            file = self.file(number)
        except MissingFileError:
            return MissingFileError(f'"{self._path(number)}" is missing: it has {some_of(dict(stored), 3)}')
        except DataLossError as error:
            return error
        needed = max(end for _, end in stored)
        if needed <= file.size:
            return None
        cut = {name: end for name, end in stored if end > file.size}
        return DataLossError(f'"{file.path}" has {file.size} bytes of at least {needed}: it lacks {some_of(cut, 3)}')

    def _path(self, number: int) -> str:
        return data_path(self.prefix, number, self.header.shard_count)


class Locating:
    """Adds the file, the tensor and the place to errors about damaged or missing data, once."""

    def __init__(self, files: DataFiles, entry: Entry) -> None:
        self._files = files
        self._entry = entry

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        entry = self._entry
        if isinstance(error, DataLossError) and f'tensor "{entry.name}"' not in error.message:
            path = data_path(self._files.prefix, entry.shard, self._files.header.shard_count)
            file = "" if error.message.startswith('"') else f'"{path}": '  # some errors name the file already
            raise DataLossError(f'{file}tensor "{entry.name}" ({entry.extent}): {error}') from error
        if isinstance(error, UnimplementedError) and f'tensor "{entry.name}"' not in error.message:
            raise UnimplementedError(f'"{self._files.prefix}": tensor "{entry.name}": {error}') from error
        if isinstance(error, MissingFileError) and f'tensor "{entry.name}"' not in error.message:
            raise MissingFileError(f'tensor "{entry.name}" ({entry.extent}): {error}') from error
