"""An object on its way to the store, in parts, while it is made.

Whoever makes it hands over bytes; a thread passes them on as parts, several of which are under way at a time. At most
`QUEUED` parts wait, so memory stays bounded however large the object is: whoever is quicker than the network waits. The
object appears, whole, when it is finished; if that never comes, it never does.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import Final

from tensorkeep.errors import TensorKeepError
from tensorkeep.io.stores.objects import Objects, Version
from tensorkeep.io.stores.store_errors import translated_error

PART: Final = 8 << 20  # bytes; S3 takes 5 MiB at least
_MOST_PARTS: Final = 9_000  # S3 takes 10,000
_IN_FLIGHT: Final = 8
QUEUED: Final = 2


class _AbandonedError(Exception):
    """The upload was given up."""


class Upload:
    """Parts of an object under way to its key."""

    def __init__(self, objects: Objects, key: str, expected_size: int = 0) -> None:
        self.key = key
        self.part_size = max(PART, -(-expected_size // _MOST_PARTS))
        self._objects = objects
        self._queue: queue.Queue[Sequence[bytes] | BaseException | None] = queue.Queue(QUEUED)
        self._result: Version | None = None
        self._failure: BaseException | None = None
        self._thread = threading.Thread(target=self._send, name="tensorkeep-upload", daemon=True)
        self._thread.start()

    def add(self, pieces: Sequence[bytes]) -> None:
        """Hands over the bytes that follow, about as many as a part has. Waits while as many as may are waiting."""
        self._hand_over(pieces)

    def finish(self) -> Version:
        """Returns when the object is in place."""
        self._hand_over(None)
        self._thread.join()
        self._raise_failure()
        assert self._result is not None
        return self._result

    def abandon(self) -> None:
        """Gives up: the store is told to forget the parts it has."""
        if self._thread.is_alive():
            with suppress(TensorKeepError):  # it has failed already, and is as good as given up
                self._hand_over(_AbandonedError())
            self._thread.join()

    def _hand_over(self, item: Sequence[bytes] | BaseException | None) -> None:
        while True:
            self._raise_failure()
            try:
                self._queue.put(item, timeout=0.2)
            except queue.Full:
                continue
            return

    def _raise_failure(self) -> None:
        if self._failure is not None and not isinstance(self._failure, _AbandonedError):
            raise translated_error(self._failure, "write", self._objects.url(self.key)) from None

    def _send(self) -> None:
        try:
            self._result = self._objects.put_parts(self.key, self._parts(), self.part_size, _IN_FLIGHT)
        except BaseException as error:
            self._failure = error

    def _parts(self) -> Iterator[bytes]:
        while (item := self._queue.get()) is not None:
            if isinstance(item, BaseException):
                raise item
            yield from item
