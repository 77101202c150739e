"""Record files that a thread of its own writes, one after the other.

    <prefix>.<time>.<process>.<number>.tfrecord         such as logs/m.20260730T120000.4711.0.tfrecord

A file is written from its beginning, and what was written is the system's as soon as nothing waits: a killed process
loses what waited, and leaves a file that is whole up to its last whole record. A file that is large or old enough is
closed, and the next record begins another one.
"""

from __future__ import annotations

import logging
import posixpath
import time
from collections.abc import Callable
from dataclasses import dataclass
from queue import Empty, Full, Queue
from threading import Thread
from typing import Final

from tensorkeep.errors import InvalidArgumentError, TensorKeepError
from tensorkeep.io.coding.records import encode_record
from tensorkeep.io.files.everywhere import FILES
from tensorkeep.io.files.filesystem import FileSystem, WritableFile, path_text
from tensorkeep.io.machine.resources import process_number
from tensorkeep.serving.statuses import OK, code_of

LOG: Final = logging.getLogger("tensorkeep.serving")
_WARNED_EVERY: Final = 60.0  # seconds

Record = Callable[[], bytes]
"""Makes the bytes of a record, in the thread that writes."""
Written = Callable[[int], None]
"""Is told the code of what became of a record, in the thread that writes."""


@dataclass(frozen=True, slots=True)
class Rotation:
    """When a file ends and the next one begins."""

    size: int = 64 << 20
    seconds: float = 3600.0

    def __post_init__(self) -> None:
        if self.size <= 0 or self.seconds <= 0:
            raise InvalidArgumentError(f"a file ends after some bytes and seconds, got {self}")


class LogFiles:
    """Files of records with one prefix. `put` never waits; the rest happens in a thread."""

    def __init__(
        self,
        prefix: str,
        rotation: Rotation = Rotation(),
        *,
        most_waiting: int = 256,
        fs: FileSystem = FILES,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._prefix = path_text(prefix)
        self._rotation = rotation
        self._fs = fs
        self._clock = clock
        self._waiting: Queue[tuple[Record, Written] | None] = Queue(most_waiting)
        self._file: WritableFile | None = None
        self._size = 0
        self._ends_at = 0.0
        self._number = 0
        self._warned_at = float("-inf")
        self._thread = Thread(target=self._work, name="tensorkeep-request-log", daemon=True)
        self._thread.start()

    def put(self, record: Record, written: Written) -> bool:
        """Has a record written; False if too many are waiting."""
        try:
            self._waiting.put_nowait((record, written))
        except Full:
            return False
        return True

    def drain(self) -> None:
        """Waits until everything is written that was put before."""
        self._waiting.join()

    def close(self) -> None:
        """Writes what waits, and ends the file and the thread."""
        self._waiting.put(None)
        self._thread.join()

    # ------------------------------------------------------------------------------------------ In the thread

    def _work(self) -> None:
        while True:
            try:
                item = self._waiting.get(timeout=self._rotation.seconds if self._file is not None else None)
            except Empty:  # nothing came for as long as a file may live
                self._end_file()
                continue
            if item is not None:
                self._write(*item)
            self._waiting.task_done()
            if item is None:
                self._end_file()
                return

    def _write(self, record: Record, written: Written) -> None:
        code = OK
        try:
            data = encode_record(record())
            self._file_for(len(data)).write(data)
            self._size += len(data)
        except Exception as error:
            code = code_of(error)
            self._warn(error)
            if isinstance(error, OSError):
                self._end_file()  # half a record may be in it: it ends there
        written(code)

    def _file_for(self, size: int) -> WritableFile:
        """The file that so many bytes go to."""
        now = self._clock()
        if self._file is not None and (self._size + size > self._rotation.size or now >= self._ends_at):
            self._end_file()
        if self._file is None:
            self._fs.make_directory(posixpath.dirname(self._prefix) or ".")
            path = self._next_path(now)
            self._file = self._fs.create(path)
            self._size = 0
            self._ends_at = now + self._rotation.seconds
        return self._file

    def _next_path(self, now: float) -> str:
        stamp = time.strftime("%Y%m%dT%H%M%S", time.gmtime(now))
        while True:
            path = f"{self._prefix}.{stamp}.{process_number()}.{self._number}.tfrecord"
            self._number += 1
            if not self._fs.exists(path):
                return path

    def _end_file(self) -> None:
        file, self._file = self._file, None
        if file is not None:
            try:
                file.close()
            except TensorKeepError as error:
                self._warn(error)

    def _warn(self, error: Exception) -> None:
        now = self._clock()
        if now - self._warned_at >= _WARNED_EVERY:
            self._warned_at = now
            LOG.warning('requests are not logged to "%s…": %s', self._prefix, error)
