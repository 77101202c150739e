"""Event files: what training reports about itself, as TensorBoard reads it.

<prefix>.out.tfevents.<seconds since 1970>.<host><suffix>    records, each an Event; the first one names the version
"""

from __future__ import annotations

import posixpath
import threading
from collections.abc import Callable
from typing import Final

from tensorkeep.io.coding.records import encode_record
from tensorkeep.io.files.filesystem import FileSystem, WritableFile
from tensorkeep.io.machine.resources import host_name
from tensorkeep.proto.messages import Event, SourceMetadata, serialize

_VERSION: Final = "brain.Event:2"
_WRITER: Final = "tensorflow.core.util.events_writer"


class EventFile:
    """An event file being written. It begins with its first event, and each is in the file when `add` returns."""

    def __init__(
        self, directory: str, suffix: str, clock: Callable[[], float], fs: FileSystem, prefix: str = "events"
    ) -> None:
        self._directory = directory
        self._prefix = prefix
        self._suffix = suffix
        self._clock = clock
        self._fs = fs
        self._file: WritableFile | None = None
        self._path = ""
        self._lock = threading.Lock()

    def open(self) -> str:
        """Begins the file now, unless that is done. Gives its path."""
        with self._lock:
            self._begun()
            return self._path

    def add(self, event: Event) -> None:
        with self._lock:
            self._begun().write(encode_record(serialize(event)))

    def _begun(self) -> WritableFile:
        if self._file is None:
            self._file = self._begin()
        return self._file

    def _begin(self) -> WritableFile:
        """A new file. Where one was begun in the same second, a later second makes the name another."""
        now = self._clock()
        seconds = int(now)
        while self._fs.exists(path := self._path_at(seconds)):
            seconds += 1
        self._path = path
        file = self._fs.create(path)
        first = Event(wall_time=int(now), file_version=_VERSION, source_metadata=SourceMetadata(writer=_WRITER))
        file.write(encode_record(serialize(first)))
        return file

    def _path_at(self, seconds: int) -> str:
        name = f"{self._prefix}.out.tfevents.{seconds:010d}.{host_name()}{self._suffix}"
        return posixpath.join(self._directory, name)

    def close(self) -> None:
        """Ends the file. What is added later begins another one."""
        with self._lock:
            if self._file is not None:
                self._file.close()
                self._file = None
