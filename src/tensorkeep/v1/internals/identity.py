"""Containers that tell things by identity, not by equality: `tensorflow.python.util.object_identity`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, MutableMapping, MutableSet
from typing import Any


class ObjectIdentityDictionary(MutableMapping[Any, Any]):
    """A mapping whose keys may be anything: two are the same key if they are one object."""

    def __init__(self, *args: Mapping[Any, Any] | Iterable[tuple[Any, Any]]) -> None:
        self._held: dict[int, tuple[Any, Any]] = {}
        self.update(*args)

    def __getitem__(self, key: Any) -> Any:
        return self._held[id(key)][1]

    def __setitem__(self, key: object, value: object) -> None:
        self._held[id(key)] = (key, value)

    def __delitem__(self, key: object) -> None:
        del self._held[id(key)]

    def __iter__(self) -> Iterator[Any]:
        return (key for key, _ in self._held.values())

    def __len__(self) -> int:
        return len(self._held)


class ObjectIdentitySet(MutableSet[Any]):
    """A set whose items may be anything: two are the same if they are one object."""

    def __init__(self, items: Iterable[Any] = ()) -> None:
        self._held = {id(item): item for item in items}

    def __contains__(self, item: object) -> bool:
        return id(item) in self._held

    def __iter__(self) -> Iterator[Any]:
        return iter(self._held.values())

    def __len__(self) -> int:
        return len(self._held)

    def add(self, value: object) -> None:
        self._held[id(value)] = value

    def discard(self, value: object) -> None:
        self._held.pop(id(value), None)
