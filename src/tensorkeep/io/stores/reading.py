"""An object, open for reading: ranges of it, many at a time.

Opening takes one request, which brings the last bytes too: that is where a table has its footer and its index. Whoever
reads on where the last read ended, or from the start, is taken to go on: more is fetched than was asked for, and kept.
Large ranges are cut, and their parts fetched at once.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, Final

from tensorkeep.errors import DataLossError, FailedPreconditionError, MissingFileError, UnimplementedError
from tensorkeep.io.files.filesystem import AccessCost, RandomAccessFile
from tensorkeep.io.stores.objects import Found, Objects

if TYPE_CHECKING:
    from concurrent.futures import Future, ThreadPoolExecutor

IN_FLIGHT: Final = 16  # requests of one process for parts of large ranges
_TAIL: Final = 64 << 10
_PART: Final = 8 << 20
_STREAM_PART: Final = 8 << 20
_AHEAD: Final = 2  # parts that are under way before they are read
_SMALL_FILE: Final = 64 << 20  # up to this size, who reads from the start is given a good part of it
_WINDOW: Final = 16 << 20
_FIRST_WINDOW: Final = 1 << 20

COST: Final = AccessCost(gap=256 << 10, span=16 << 20, in_flight=32, reads=40, waste=32 << 20, readers=4)


@cache
def _pool() -> ThreadPoolExecutor:
    """The threads that fetch parts, which are made with the first of them: most programs ask no store."""
    from concurrent.futures import ThreadPoolExecutor

    return ThreadPoolExecutor(IN_FLIGHT, "tensorkeep-store")


class _Stream:
    """Bytes that are read from front to back: a few parts ahead of the reader are under way."""

    def __init__(self, fetch: Callable[[int, int], memoryview], start: int, end: int) -> None:
        self._fetch = fetch
        self._at = start
        self._asked = start  # up to where parts were asked for
        self._end = end
        self._parts: deque[tuple[int, Future[memoryview]]] = deque()
        self._ask()

    def read_into(self, offset: int, buffer: memoryview) -> bool:
        """Fills a buffer if the bytes are those that come next; else it is not touched, and False is returned."""
        if offset != self._at or offset + len(buffer) > self._end:
            return False
        done = 0
        while done < len(buffer):
            start, future = self._parts[0]
            data = future.result()
            within = self._at - start
            count = min(len(data) - within, len(buffer) - done)
            buffer[done : done + count] = data[within : within + count]
            done += count
            self._at += count
            if within + count == len(data):
                self._parts.popleft()
                self._ask()
        return True

    def _ask(self) -> None:
        while self._asked < self._end and len(self._parts) < _AHEAD:
            end = min(self._asked + _STREAM_PART, self._end)
            self._parts.append((self._asked, _pool().submit(self._fetch, self._asked, end)))
            self._asked = end


class StoreFile:
    """One version of an object. Reads raise FailedPreconditionError once another has taken its place."""

    cost = COST

    def __init__(self, objects: Objects, key: str, path: str, found: Found | None = None) -> None:
        self.path = path
        self._objects = objects
        self._key = key
        self._found, self._tail = objects.tail(key, _TAIL) if found is None else (found, memoryview(b""))
        self.size = self._found.size
        self._lock = threading.Lock()
        self._window = (0, memoryview(b""))  # where it begins, and its bytes
        self._next = 0  # where the last read ended
        self._streams: dict[int, _Stream] = {}  # by thread
        self._is_closed = False

    @property
    def found(self) -> Found:
        """What the store said of the object."""
        return self._found

    def read(self, offset: int, length: int) -> memoryview:
        self._check(offset, length)
        held = self._held_bytes(offset, length)
        if held is not None:
            return held
        if length > _PART:
            buffer = memoryview(bytearray(length))
            self._fetch_into(offset, buffer)
            return buffer.toreadonly()
        return self._fetch(offset, length)

    def read_into(self, offset: int, buffer: memoryview) -> None:
        length = len(buffer)
        self._check(offset, length)
        stream = self._streams.get(threading.get_ident())
        if stream is not None and stream.read_into(offset, buffer):
            return
        if length > _PART and self._held_bytes(offset, length) is None:
            self._fetch_into(offset, buffer)
        else:
            buffer[:] = self.read(offset, length)

    def expect(self, offset: int, length: int) -> None:
        self._check(offset, length)
        thread = threading.get_ident()
        if length > _PART:
            self._streams[thread] = _Stream(self._part, offset, offset + length)
        else:
            self._streams.pop(thread, None)

    def _part(self, start: int, end: int) -> memoryview:
        return self._objects.read(self._key, start, end, self._found.version)

    def map(self, offset: int, length: int) -> memoryview:
        raise UnimplementedError(
            f'"{self.path}" is in a store and cannot be mapped into memory: read it with copy=True, or have it kept on '
            "this machine by tensorkeep.storage(url, cache=FOLDER)"
        )

    def is_current(self) -> bool:
        return self.is_at(self.path)

    def is_at(self, path: str) -> bool:
        if path != self.path:
            return False
        try:
            now = self._objects.head(self._key)
        except MissingFileError:
            return False
        return now.version == self._found.version and now.size == self.size

    def close(self) -> None:
        self._is_closed = True
        self._streams.clear()
        self._window = (0, memoryview(b""))
        self._tail = memoryview(b"")

    def _check(self, offset: int, length: int) -> None:
        check_extent(self, offset, length, is_closed=self._is_closed)

    def _held_bytes(self, offset: int, length: int) -> memoryview | None:
        """The bytes, if they were fetched before."""
        if not length:
            return memoryview(b"")
        for start, data in ((self.size - len(self._tail), self._tail), self._window):
            if start <= offset and offset + length <= start + len(data):
                self._next = offset + length
                return data[offset - start : offset - start + length]
        return None

    def _fetch(self, offset: int, length: int) -> memoryview:
        if self.size <= _WINDOW and not self._tail:  # no end came with it: then all of it, at once
            self._window = (0, self._objects.read(self._key, 0, self.size, self._found.version))
            return self._window[1][offset : offset + length]
        with self._lock:
            goes_on = offset == self._next or offset == 0
            self._next = offset + length
            if not goes_on:
                window = length
            elif self.size <= _SMALL_FILE:
                window = _WINDOW
            else:
                window = min(max(_FIRST_WINDOW, 2 * len(self._window[1])), _WINDOW)
        end = min(offset + max(length, window), self.size)
        data = self._objects.read(self._key, offset, end, self._found.version)
        if goes_on:
            self._window = (offset, data)
        return data[:length]

    def _fetch_into(self, offset: int, buffer: memoryview) -> None:
        def fetch(at: int) -> None:
            end = min(at + _PART, len(buffer))
            buffer[at:end] = self._objects.read(self._key, offset + at, offset + end, self._found.version)

        for future in [_pool().submit(fetch, at) for at in range(0, len(buffer), _PART)]:
            future.result()
        self._next = offset + len(buffer)


def check_extent(file: RandomAccessFile, offset: int, length: int, *, is_closed: bool) -> None:
    """Raises unless a file is open and has those bytes."""
    if is_closed:
        raise FailedPreconditionError(f'"{file.path}" is closed')
    if offset < 0 or length < 0 or offset + length > file.size:
        raise DataLossError(
            f'"{file.path}" is {file.size} bytes long, but bytes {offset}..{offset + length} were expected in it'
        )
