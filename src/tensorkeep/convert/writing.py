"""Files of tensors in the making: under temporary names until all of them are whole."""

from __future__ import annotations

import posixpath
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Protocol

from tensorkeep.checkpoint.bundle.writer import delete_quietly
from tensorkeep.checkpoint.sources import ArraySource
from tensorkeep.convert.hub import SinkOptions
from tensorkeep.io.files.filesystem import Buffer, Durability, FileSystem, TemporaryFile, prepare_directory

_PUSH: Final = 64 << 20  # bytes after which the system is told to begin with moving them to the disk
_BUFFER: Final = 1 << 20  # bytes; smaller pieces are collected


class BufferedFile:
    """A temporary file that collects small writes, and says how far it is."""

    closed = False

    def __init__(self, path: str, options: SinkOptions, fs: FileSystem) -> None:
        folder = posixpath.dirname(path)
        prepare_directory(fs, folder, options.durability)
        self._options = options
        self._file = TemporaryFile(fs, path)
        self._buffer = bytearray()
        self._at = self._pushed = 0
        self._is_synced = False

    def write(self, data: Buffer) -> int:
        self._at += len(data)
        if len(data) < _BUFFER // 4:
            self._buffer += data
            if len(self._buffer) >= _BUFFER:
                self.flush_buffer()
            return len(data)
        self.flush_buffer()
        self._file.write(data)
        if self._options.durability is Durability.DISK and self._at - self._pushed >= _PUSH:
            self._file.push()
            self._pushed = self._at
        return len(data)

    def flush_buffer(self) -> None:
        if self._buffer:
            buffer, self._buffer = self._buffer, bytearray()
            self._file.write(buffer)

    def tell(self) -> int:
        return self._at

    def flush(self) -> None:
        """What other libraries call now and then. The file is whole, and on its way to the disk, on `finish`."""

    def finish(self) -> None:
        """All is written: it reaches the disk if that is wanted. It still has its temporary name."""
        self.flush_buffer()
        if self._options.durability is Durability.DISK and not self._is_synced:
            self._file.sync()
            self._is_synced = True

    def commit(self) -> None:
        self._file.commit(self._options.durability)
        self._file.close()

    def abort(self) -> None:
        self._file.close()


@dataclass(frozen=True)
class Planned:
    """A file whose tensors lie one after the other behind a head that is known before them."""

    path: str
    order: Sequence[str]
    head: bytes


class FileSink:
    """Writes one such file, from the first tensor on."""

    def __init__(self, planned: Planned, options: SinkOptions, fs: FileSystem) -> None:
        self.order = planned.order
        self.path = planned.path
        self._planned = planned
        self._options = options
        self._fs = fs
        self._file: BufferedFile | None = None

    def write(self, name: str, source: ArraySource) -> None:
        file = self._begun_file()
        for buffer in source.buffers():
            file.write(buffer)

    def finish(self) -> None:
        self._begun_file().finish()

    def commit(self) -> None:
        file = self._begun_file()
        file.finish()
        file.commit()

    def abort(self) -> None:
        if self._file is not None:
            self._file.abort()

    def _begun_file(self) -> BufferedFile:
        if self._file is None:
            self._file = BufferedFile(self.path, self._options, self._fs)
            self._file.write(self._planned.head)
        return self._file


class FileInTheMaking(Protocol):
    """One of several files that shall appear together."""

    @property
    def order(self) -> Sequence[str]: ...

    @property
    def path(self) -> str: ...

    def write(self, name: str, source: ArraySource) -> None: ...

    def finish(self) -> None:
        """All is written: it is whole, under its temporary name."""
        ...

    def commit(self) -> None: ...

    def abort(self) -> None: ...


class FilesSink:
    """Writes several files and an index that names them: the index appears last, when all of them are there."""

    def __init__(
        self, sinks: Sequence[FileInTheMaking], index: str, contents: bytes, options: SinkOptions, fs: FileSystem
    ) -> None:
        self.order = tuple(name for sink in sinks for name in sink.order)
        self._sinks = sinks
        self._of = {name: sink for sink in sinks for name in sink.order}
        self._index = FileSink(Planned(index, (), contents), options, fs)
        self._fs = fs

    def write(self, name: str, source: ArraySource) -> None:
        self._of[name].write(name, source)

    def commit(self) -> None:
        for sink in (*self._sinks, self._index):
            sink.finish()
        placed: list[str] = []
        try:
            for sink in self._sinks:
                is_new = not self._fs.exists(sink.path)
                sink.commit()
                placed += [sink.path] if is_new else []
            self._index.commit()
        except BaseException:
            delete_quietly(self._fs, placed)
            raise

    def abort(self) -> None:
        for sink in (*self._sinks, self._index):
            sink.abort()
