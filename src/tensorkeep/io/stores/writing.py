"""An object that is written as a file.

Nothing is in the store before the file has its final name: what is small waits in memory and is put by one request,
what is large is under way in parts (`uploads`), straight to the key it will have. A temporary name says which that is:
`model.index.tensorkeep-<16 hex digits>.tmp` becomes `model.index`.
"""

from __future__ import annotations

from collections.abc import Callable

from tensorkeep.errors import AbortedError, AlreadyExistsError, FailedPreconditionError
from tensorkeep.io.files.filesystem import Buffer, final_name, is_temporary
from tensorkeep.io.stores.objects import Objects
from tensorkeep.io.stores.uploads import PART, Upload


class StoreWritableFile:
    """A file in the making. `path` is the name it goes by now, `key` that in the bucket."""

    def __init__(
        self,
        objects: Objects,
        path: str,
        key: str,
        forget: Callable[[StoreWritableFile], None],
        *,
        must_be_new: bool = False,
    ) -> None:
        self.path = path
        self.key = key
        self._objects = objects
        self._forget = forget
        self._pieces: list[bytes] = []  # what waits
        self._waiting = 0  # its bytes
        self._upload: Upload | None = None
        self._expected = 0
        self._is_closed = False
        self._must_be_new = must_be_new  # whether it may replace nothing
        self._is_placed = not is_temporary(key)  # whether `key` is its final name
        self._is_stored = False  # whether the store has all that was written

    def write(self, data: Buffer) -> None:
        if self._is_closed:
            raise FailedPreconditionError(f'"{self.path}" is closed')
        self._is_stored = False
        view = memoryview(data).cast("B")
        at = 0
        while at < len(view):  # in parts, so that what waits stays small
            piece = bytes(view[at : at + PART - self._waiting])
            self._pieces.append(piece)
            self._waiting += len(piece)
            at += len(piece)
            if self._waiting >= PART:
                self._send()

    def _send(self) -> None:
        """Hands what waits to the upload, which begins with that if it has not begun."""
        if self._upload is None:
            self._upload = Upload(self._objects, self.key if self._is_placed else final_name(self.key), self._expected)
        pieces, self._pieces, self._waiting = self._pieces, [], 0
        self._upload.add(pieces)

    def reserve(self, size: int) -> None:
        self._expected = max(self._expected, size)

    def push(self) -> None:
        """Parts are sent as they fill up."""

    def sync(self) -> None:
        """What is written is in the store when it has its final name, and not before."""

    def move(self, path: str, key: str) -> None:
        """Gives the file another name: its final one, unless that is temporary too. It is in the store then."""
        if self._upload is not None and self._upload.key != key:
            self._finish_elsewhere(key)
        self.path, self.key, self._is_placed = path, key, not is_temporary(key)
        self._must_be_new = False
        if self._is_placed:
            self._store()

    def _finish_elsewhere(self, key: str) -> None:
        """The parts went to one key and are wanted under another: the store has to copy them."""
        assert self._upload is not None
        if self._objects.version(self._upload.key) is not None:
            raise AbortedError(
                f'"{self.path}" was written in parts for "{self._upload.key}", and cannot be "{key}" now'
            )
        at = self._upload.key
        self._finish_upload()
        self._objects.copy(at, key)
        self._objects.delete(at)
        self._is_stored = True

    def close(self) -> None:
        if self._is_closed:
            return
        self._is_closed = True
        try:
            if self._is_placed or self._upload is None:
                self._store()
        finally:
            if self._upload is None:
                self._forget(self)

    def abandon(self) -> None:
        """Gives up: nothing of it stays in the store."""
        self._is_closed = True
        self._forget(self)
        if self._upload is not None:
            self._upload.abandon()
            self._upload = None
        elif self._is_stored:
            self._objects.delete(self.key)

    def _store(self) -> None:
        """Has the store take all that was written."""
        if self._is_stored:
            return
        if self._upload is not None:
            self._finish_upload()
        elif not self._must_be_new:
            self._objects.put(self.key, b"".join(self._pieces))
        elif self._objects.put_if(self.key, b"".join(self._pieces), None) is None:
            raise AlreadyExistsError(f'cannot create "{self.path}": it exists')
        self._must_be_new = False
        self._is_stored = True

    def _finish_upload(self) -> None:
        if self._pieces:
            self._send()
        upload, self._upload = self._upload, None
        assert upload is not None
        upload.finish()
        if not self._is_closed:
            self._is_closed = True  # an object that is in place cannot be added to
        self._forget(self)
