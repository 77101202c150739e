"""Versions that can be looked up, and requests that hold them.

Requests look into a table that never changes; a new one takes its place when a version comes or goes. A version that
goes is closed when the last request that holds it is answered.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from threading import Lock
from types import TracebackType

from tensorkeep.errors import InvalidArgumentError, NotFoundError
from tensorkeep.serving.models import ModelAsked
from tensorkeep.serving.servables import Servable


class Held:
    """A loaded version, and how many requests hold it."""

    __slots__ = ("_count", "_lock", "_when_free", "servable")

    def __init__(self, servable: Servable) -> None:
        self.servable = servable
        self._count = 0
        self._lock = Lock()
        self._when_free: Callable[[], None] | None = None

    def take(self) -> bool:
        """Counts one more request that uses the version. False if it is being unloaded: the request has to look it up
        anew.
        """
        with self._lock:
            if self._when_free is not None:
                return False
            self._count += 1
            return True

    def give_back(self) -> None:
        """Counts one request less; the last one of a version that is being unloaded calls what `let_go` was given."""
        with self._lock:
            self._count -= 1
            when_free = self._when_free if self._count == 0 else None
        if when_free is not None:
            when_free()

    def let_go(self, when_free: Callable[[], None]) -> None:
        """Lets no new request use the version, and calls `when_free` once, when no request uses it any more, at once or
        later. It must not block.
        """
        with self._lock:
            self._when_free = when_free
            is_free = self._count == 0
        if is_free:
            when_free()

    @property
    def count(self) -> int:
        """How many requests use the version now."""
        return self._count


@dataclass(frozen=True, slots=True)
class Available:
    """The versions of a model that can be looked up, and the labels of its versions."""

    versions: Mapping[int, Held] = field(default_factory=dict)
    labels: Mapping[str, int] = field(default_factory=dict)
    newest: Held | None = None

    @classmethod
    def of(cls, versions: Mapping[int, Held], labels: Mapping[str, int]) -> Available:
        """These versions, of which the highest is the newest."""
        return cls(dict(versions), dict(labels), versions[max(versions)] if versions else None)


Table = Mapping[str, Available]
"""Models by name. Never changed, but replaced."""

_NOTHING = Available()


def look_up(table: Table, asked: ModelAsked) -> Held:
    """The version that is to answer: the one asked for, or the one that a label names, or the highest there is."""
    model = table.get(asked.name, _NOTHING)
    version = asked.version
    if version is None and asked.label is not None:
        version = model.labels.get(asked.label)
        if version is None:
            raise InvalidArgumentError(f"Unrecognized servable version label: {asked.label}")
    found = model.newest if version is None else model.versions.get(version)
    if found is None:
        wanted = f"Latest({asked.name})" if version is None else f"Specific({asked.name}, {version})"
        raise NotFoundError(f"Servable not found for request: {wanted}")
    return found


class Hold:
    """Holds the version that answers a request while the context lasts."""

    __slots__ = ("_asked", "_held", "_table")

    def __init__(self, table: Callable[[], Table], asked: ModelAsked) -> None:
        self._table = table
        self._asked = asked
        self._held: Held | None = None

    def __enter__(self) -> Servable:
        while True:
            held = look_up(self._table(), self._asked)
            if held.take():  # else it went between the two, and the table without it is there
                self._held = held
                return held.servable

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        held, self._held = self._held, None
        if held is not None:
            held.give_back()
