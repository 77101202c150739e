"""Readers: what takes names of files from a queue and gives their records, one after the other."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator
from threading import Lock
from typing import Any

from tensorkeep.dtypes import STRING
from tensorkeep.errors import InvalidArgumentError, UnimplementedError
from tensorkeep.io.files.filesystem import FileSystem
from tensorkeep.io.files.record_files import RecordCompression, read_record_file
from tensorkeep.ops.data._queue_values import Queue
from tensorkeep.proto.wire import encode_bytes_field, encode_varint_field, fields

Record = tuple[bytes, bytes]
Records = Callable[[bytes], Iterator[Record]]

_BESIDES = 16  # bytes of a record in a record file besides its data


class Reader:
    """The state of a reader: the file it is in, and how far it has come. Threads may share one."""

    def __init__(self, name: str, records: Records, *, is_whole: bool = False) -> None:
        self._name = name
        self._records = records
        self._is_whole = is_whole  # whether a file is one record, so that it is done with once that is given
        self._lock = Lock()
        self._begin()

    def _begin(self) -> None:
        self._current: Iterator[Record] | None = None
        self._work = b""
        self.started = 0
        self.finished = 0
        self.produced = 0

    def read(self) -> Reader:
        """Itself: what a reference to it leads to."""
        return self

    def reset(self) -> None:
        """Forgets everything."""
        with self._lock:
            self._begin()

    def next_record(self, queue: Queue) -> Record:
        """The next record; files are taken from the queue as they are needed."""
        with self._lock:
            while True:
                found = self._some(queue, 1)
                if found:
                    return found[0]

    def next_records(self, queue: Queue, most: int) -> list[Record]:
        """The next records of one file, so many at most."""
        if most <= 0:
            raise InvalidArgumentError(f"num_records must be positive, got {most}")
        with self._lock:
            while True:
                found = self._some(queue, most)
                if found:
                    return found

    def _some(self, queue: Queue, most: int) -> list[Record]:
        """Records of the current file; none if it has no more."""
        if self._current is None:
            ((name,),) = queue.take(1, (STRING,))
            self._work = bytes(name.item() if hasattr(name, "item") else name)
            self.started += 1
            self._current = self._records(self._work)
        found: list[Record] = []
        while len(found) < most:
            record = next(self._current, None)
            if record is not None:
                found.append(record)
            if record is None or self._is_whole:
                self._current = None
                self.finished = self.started
                break
        self.produced += len(found)
        return found

    def serialized(self) -> bytes:
        """The state, for a reader of the same kind to go on from."""
        self._check_whole("SerializeState")
        counts = zip((1, 2, 3), (self.started, self.finished, self.produced), strict=True)
        parts = [encode_varint_field(number, count) for number, count in counts if count]
        if self._work and self.started > self.finished:
            parts.append(encode_bytes_field(4, self._work))
        return b"".join(parts)

    def restore(self, state: bytes) -> None:
        """Goes on from a state."""
        self._check_whole("RestoreState")
        found: dict[int, Any] = {number: value for number, _, value in fields(state, "the state of a reader")}
        counts = [found.get(number, 0) for number in (1, 2, 3)]
        if any(not isinstance(count, int) for count in counts) or counts[1] > counts[0]:
            raise InvalidArgumentError(f"Could not parse state for {self._name}")
        with self._lock:
            self._begin()
            self.started, self.finished, self.produced = counts

    def _check_whole(self, what: str) -> None:
        if not self._is_whole:
            raise UnimplementedError(f"Reader {what}: {self._name} has no state that could be saved")


# ---------------------------------------------------------------------------------------------------- Files


def names(name: bytes) -> Iterator[Record]:
    """The name itself."""
    yield name, name


def whole_files(fs: FileSystem) -> Records:
    """A file as one record."""

    def records(name: bytes) -> Iterator[Record]:
        yield name, _contents(fs, name)

    return records


def lines(fs: FileSystem, skipped: int) -> Records:
    """The lines of a file, but for some at the beginning, by their numbers."""

    def records(name: bytes) -> Iterator[Record]:
        parts = _contents(fs, name).split(b"\n")
        if not parts[-1].removesuffix(b"\r"):
            parts.pop()
        for number, line in enumerate(parts[skipped:], skipped + 1):
            yield b"%s:%d" % (name, number), line.removesuffix(b"\r")

    return records


def record_files(fs: FileSystem, compression: str) -> Records:
    """The records of a record file, by where they begin."""

    def records(name: bytes) -> Iterator[Record]:
        at = 0
        for data in read_record_file(fs, name.decode(), RecordCompression(compression)):
            yield b"%s:%d" % (name, at), data
            at += len(data) + _BESIDES

    return records


def pieces(fs: FileSystem, header: int, size: int, footer: int, hop: int, encoding: str) -> Records:
    """Parts of one size between a header and a footer, by their numbers."""

    def records(name: bytes) -> Iterator[Record]:
        data = _contents(fs, name)
        if encoding:
            data = _inflate_file(data, name)
        end = len(data) - footer
        for number, at in enumerate(range(header, end - size + 1, hop or size)):
            yield b"%s:%d" % (name, number), data[at : at + size]

    return records


def _inflate_file(data: bytes, name: bytes) -> bytes:
    try:
        return zlib.decompress(data, wbits=47)  # of zlib or gzip, as it says itself
    except zlib.error as error:
        raise InvalidArgumentError(f'"{name.decode()}" is not compressed as it should be: {error}') from None


def _contents(fs: FileSystem, name: bytes) -> bytes:
    file = fs.open(name.decode())
    try:
        return bytes(file.read(0, file.size))
    finally:
        file.close()
