"""What is asked of a store: objects read, put, copied, listed and deleted. Every request of ours is made here.

A *version* tells whether an object is still the one that was seen: the store's etag, with the number of the version
where the bucket keeps old ones.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeVar

from tensorkeep.errors import (
    AlreadyExistsError,
    FailedPreconditionError,
    MissingFileError,
    UnimplementedError,
)
from tensorkeep.io.stores.connections import connection, imported_obstore
from tensorkeep.io.stores.store_errors import CutAnswerError, explained_errors, translated_error
from tensorkeep.io.stores.urls import StoreUrl

if TYPE_CHECKING:
    from obstore.store import ObjectStore

T = TypeVar("T")

_ATTEMPTS: Final = 5  # for answers that end too early, which obstore takes for whole requests
_LISTED: Final = 1000  # keys by one request
_FIRST_PAUSE: Final = 0.05  # seconds


class Version(NamedTuple):
    """Which of the objects that had a key, one after the other, is meant."""

    etag: str | None
    number: str | None = None


class Found(NamedTuple):
    """What a store says of an object."""

    size: int
    version: Version
    modified: float
    """In seconds since 1970."""


class Listing(NamedTuple):
    """What lies in a folder: objects by name, and the names of folders."""

    objects: dict[str, Found]
    folders: frozenset[str]


class Objects:
    """The objects of one bucket, by key."""

    def __init__(self, url: StoreUrl) -> None:
        self._url = url
        self._obstore = imported_obstore(url)
        self._store: ObjectStore = connection(url)

    def url(self, key: str) -> str:
        """The URL of an object, for messages."""
        return str(StoreUrl(self._url.scheme, self._url.container, key))

    def head(self, key: str) -> Found:
        """What is known of an object. MissingFileError if there is none."""
        with explained_errors("look at", self.url(key)):
            return _found_object(self._obstore.head(self._store, key))

    def tail(self, key: str, size: int) -> tuple[Found, memoryview]:
        """What is known of an object, and up to so many of its last bytes; none where a store has no such request."""

        def ask() -> tuple[Found, memoryview]:
            result = self._obstore.get(self._store, key, options={"range": {"suffix": size}})
            return _found_object(result.meta), memoryview(result.bytes())

        try:
            with explained_errors("read", self.url(key)):
                return self._ask_again(ask)
        except UnimplementedError:  # Azure knows no such ranges, and an empty object has none
            return self.head(key), memoryview(b"")

    def read(self, key: str, start: int, end: int, version: Version) -> memoryview:
        """The bytes of an object from `start` to before `end`. FailedPreconditionError if it is another one by now."""
        options: dict[str, Any] = {"range": (start, end)}
        if version.number and version.number != "null":
            options["version"] = version.number
        elif version.etag:
            options["if_match"] = version.etag

        def ask() -> memoryview:
            data = memoryview(self._obstore.get(self._store, key, options=options).bytes())
            if len(data) != end - start:
                raise CutAnswerError(f'"{self.url(key)}": {len(data)} bytes came of {end - start}')
            return data

        try:
            with explained_errors("read", self.url(key)):
                return self._ask_again(ask)
        except (FailedPreconditionError, MissingFileError):
            raise FailedPreconditionError(
                f'"{self.url(key)}" was replaced or deleted after it was opened; open it anew'
            ) from None

    def put(self, key: str, data: bytes) -> Version:
        """Puts an object in place, whole, by one request."""
        with explained_errors("write", self.url(key)):
            return _version(self._obstore.put(self._store, key, data, use_multipart=False))

    def put_if(self, key: str, data: bytes, expected: Version | None) -> Version | None:
        """Puts an object in the place of the expected one, or of none; None if another is there.

        A store without such requests is looked at first, which leaves a moment in which another may come.
        """
        mode: Any = "create" if expected is None else {"e_tag": expected.etag}
        if expected is not None and expected.number and expected.number != "null":
            mode["version"] = expected.number
        try:
            with explained_errors("write", self.url(key)):
                return _version(self._obstore.put(self._store, key, data, mode=mode))
        except (AlreadyExistsError, FailedPreconditionError):
            return None
        except MissingFileError:
            if expected is None:
                raise
            return None  # it was to be replaced, and is gone
        except UnimplementedError:
            seen = self.version(key)
            return self.put(key, data) if seen == expected else None

    def put_parts(self, key: str, parts: Iterator[bytes], size: int, in_flight: int) -> Version:
        """Puts an object in place that comes in pieces, as parts of that size, several under way at a time.

        It appears when the last is there; an error of `parts` is passed on, and nothing appears.
        """
        return _version(
            self._obstore.put(self._store, key, parts, use_multipart=True, chunk_size=size, max_concurrency=in_flight)
        )

    def version(self, key: str) -> Version | None:
        """The version of an object; None if there is none."""
        try:
            return self.head(key).version
        except MissingFileError:
            return None

    def copy(self, source: str, target: str) -> None:
        """Has the store copy an object over another, or to where none is."""
        with explained_errors("copy", self.url(source)):
            self._ask_again(lambda: self._obstore.copy(self._store, source, target))

    def delete(self, key: str) -> None:
        """Deletes an object; fine if there is none."""
        try:
            with explained_errors("delete", self.url(key)):
                self._ask_again(lambda: self._obstore.delete(self._store, key))
        except MissingFileError:
            return

    def list(self, folder: str) -> Listing:
        """What lies in a folder, not what lies in folders below it."""
        with explained_errors("list", self.url(folder)):
            found = self._ask_again(lambda: self._obstore.list_with_delimiter(self._store, folder or None))
        start = len(folder) + 1 if folder else 0
        # An object with the name of the folder itself is a mark by which other programs show empty folders.
        objects = {item["path"][start:]: _found_object(item) for item in found["objects"] if item["path"] != folder}
        return Listing(objects, frozenset(path.rstrip("/")[start:] for path in found["common_prefixes"]))

    def below(self, folder: str) -> Iterator[str]:
        """The keys of all objects in a folder and in those below it."""
        last: str | None = None
        while True:
            batch = self._some_below(folder, last)
            yield from (key for key in batch if key != folder)
            if len(batch) < _LISTED:
                return
            last = batch[-1]

    def _some_below(self, folder: str, after: str | None) -> Sequence[str]:
        """The keys of the next objects below a folder."""

        def ask() -> Sequence[str]:
            stream = self._obstore.list(self._store, folder or None, offset=after, chunk_size=_LISTED)
            return [item["path"] for item in next(iter(stream), ())]

        with explained_errors("list", self.url(folder)):
            return self._ask_again(ask)

    def _ask_again(self, ask: Callable[[], T]) -> T:
        """Asks again if an answer ends before it is whole: obstore asks again only where none began."""
        pause = _FIRST_PAUSE
        for _ in range(_ATTEMPTS - 1):
            try:
                return ask()
            except Exception as error:
                if not isinstance(translated_error(error, "ask", self._url.root), CutAnswerError):
                    raise
            time.sleep(pause)
            pause *= 2
        return ask()


def _found_object(item: Any) -> Found:
    return Found(item["size"], Version(item.get("e_tag"), item.get("version")), item["last_modified"].timestamp())


def _version(result: Any) -> Version:
    return Version(result.get("e_tag"), result.get("version"))
