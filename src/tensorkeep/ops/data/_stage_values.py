"""Stages: tensors that some runs leave for later ones, in order or by key, as values of their names.

What waits for what, and which errors there are, is measured with TensorFlow's ops (tests/interop/test_staging.py).
There whoever waits does so for ever; here, until the session is closed.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Sequence
from threading import Condition
from typing import Any, Final, TypeAlias

import numpy as np

from tensorkeep.errors import InternalError, InvalidArgumentError, ResourceExhaustedError
from tensorkeep.ops.data._queue_values import Element, wait_for_change

_STRING_BYTES: Final = 24  # what TensorFlow counts for a string besides its characters

Components: TypeAlias = dict[int, Any]
"""What is staged under one key, by the number of the component."""


def _bytes_of(values: Sequence[Any]) -> int:
    return sum(
        sum(_STRING_BYTES + len(item) for item in value.flat) if value.dtype == object else value.nbytes
        for value in values
    )


class Room:
    """How many elements and bytes a stage holds, how many it may hold, and the threads that wait for a change.

    Zero elements, or zero bytes, stand for any number.
    """

    def __init__(self, name: str, capacity: int, memory_limit: int) -> None:
        self.name = name
        self.changed = Condition()
        self._capacity = capacity
        self._memory_limit = memory_limit
        self._bytes = 0
        self._is_gone = False

    def wait(self, doing: str) -> None:
        wait_for_change(self.changed, self._is_gone, f"{self.name}: {doing}")

    def take(self, values: Sequence[Any]) -> int:
        """How many bytes the values have; an error if they could never be held."""
        size = _bytes_of(values)
        if 0 < self._memory_limit < size:
            raise ResourceExhaustedError(
                f"{self.name}: tensors of {size} bytes were put into it, but it has a memory limit of "
                f"{self._memory_limit} bytes: give it a memory_limit of {size} at least, or 0 for none"
            )
        return size

    def lacks(self, size: int, elements: int | None) -> bool:
        """Whether so many bytes more are too many, or one element more, where there are so many."""
        is_full = elements is not None and 0 < self._capacity <= elements
        return is_full or 0 < self._memory_limit < self._bytes + size

    def change(self, size: int) -> None:
        """Counts bytes that come, or that go if they are negative, and wakes all that wait."""
        self._bytes += size
        self.changed.notify_all()

    def empty(self) -> None:
        self._bytes = 0
        self.changed.notify_all()

    def cancel(self) -> None:
        with self.changed:
            self._is_gone = True
            self.changed.notify_all()


class Stage:
    """Elements in the order in which they were put in. Who finds it full or without the element wanted waits."""

    def __init__(self, name: str, capacity: int, memory_limit: int) -> None:
        self._room = Room(name, capacity, memory_limit)
        self._elements: deque[Element] = deque()

    def __len__(self) -> int:
        return len(self._elements)

    def put(self, element: Element, waits: bool) -> None:
        """Adds an element as soon as there is room; at once if it does not wait."""
        with self._room.changed:
            size = self._room.take(element)
            while waits and self._room.lacks(size, len(self._elements)):
                self._room.wait("put")
            self._elements.append(element)
            self._room.change(size)

    def take(self, dtypes: Sequence[np.dtype[Any]]) -> Element:
        """Removes the first element as soon as there is one. One of other types stays where it is."""
        with self._room.changed:
            while not self._elements:
                self._room.wait("get")
            _check_types(self._room.name, self._elements[0], dtypes)
            element = self._elements.popleft()
            self._room.change(-_bytes_of(element))
            return element

    def peek(self, index: int, dtypes: Sequence[np.dtype[Any]]) -> Element:
        """The element of this number, which stays, as soon as there are so many."""
        if index < 0:
            raise InvalidArgumentError(f"{self._room.name}: elements have numbers from 0 on, got {index}")
        with self._room.changed:
            while len(self._elements) <= index:
                self._room.wait("peek")
            element = self._elements[index]
            _check_types(self._room.name, element, dtypes)
            return element

    def clear(self) -> None:
        with self._room.changed:
            self._elements.clear()
            self._room.empty()

    def cancel(self) -> None:
        """Makes all that wait fail: the session that they belong to has been closed."""
        self._room.cancel()


class StageMap:
    """Elements by key. Their components may be put in and taken at different times.

    An element is there as soon as all of its components are, and until the last of them has been taken.
    """

    def __init__(self, name: str, capacity: int, memory_limit: int) -> None:
        self._room = Room(name, capacity, memory_limit)
        self._elements: dict[int, Components] = {}
        self._incomplete: dict[int, Components] = {}

    def __len__(self) -> int:
        return len(self._elements)

    @property
    def incomplete_size(self) -> int:
        """How many elements lack components."""
        return len(self._incomplete)

    def put(self, key: int, components: Components, dtypes: Sequence[np.dtype[Any]], waits: bool) -> None:
        """Adds components of an element, whose types are those of all of its components, as soon as there is room.

        Those of a part of one wait for memory only. With `waits` False nothing is waited for.
        """
        numbers = list(components)
        if not all(0 <= number < len(dtypes) for number in numbers):
            raise InvalidArgumentError(f"{self._room.name} has components 0 to {len(dtypes) - 1}, got {numbers}")
        values = list(components.values())
        _check_types(self._room.name, values, [dtypes[number] for number in numbers])
        is_whole = len(components) == len(dtypes)
        with self._room.changed:
            size = self._room.take(values)
            self._check_new(key, components)
            while waits and self._room.lacks(size, len(self._elements) if is_whole else None):
                self._room.wait("put")
                self._check_new(key, components)
            found = {**self._incomplete.pop(key, {}), **components}
            (self._elements if len(found) == len(dtypes) else self._incomplete)[key] = found
            self._room.change(size)

    def _check_new(self, key: int, components: Components) -> None:
        """TensorFlow drops what is put under a key that is there already, without a word."""
        again = sorted(self._incomplete.get(key, {}).keys() & components)
        if again:
            raise InvalidArgumentError(f"{self._room.name}: key {key} already has components {again}")
        if key in self._elements:
            raise InvalidArgumentError(f"{self._room.name}: key {key} is there already: take it before it is put again")

    def take(self, key: int, numbers: Sequence[int], dtypes: Sequence[np.dtype[Any]]) -> list[Any]:
        """Removes components of an element as soon as it is there."""
        with self._room.changed:
            self._wait_for(key, "get")
            return self._removed(key, numbers, dtypes)

    def take_any(
        self, numbers: Sequence[int], dtypes: Sequence[np.dtype[Any]], next_key: Callable[[Iterable[int]], int]
    ) -> tuple[int, list[Any]]:
        """The same of the element whose key `next_key` chooses of those that are there."""
        with self._room.changed:
            while not self._elements:
                self._room.wait("get")
            key = next_key(self._elements)
            return key, self._removed(key, numbers, dtypes)

    def peek(self, key: int, numbers: Sequence[int], dtypes: Sequence[np.dtype[Any]]) -> list[Any]:
        """Components of an element, which stay, as soon as it is there."""
        with self._room.changed:
            self._wait_for(key, "peek")
            return self._found(key, numbers, dtypes)

    def _wait_for(self, key: int, doing: str) -> None:
        while key not in self._elements:
            self._room.wait(doing)

    def _found(self, key: int, numbers: Sequence[int], dtypes: Sequence[np.dtype[Any]]) -> list[Any]:
        element = self._elements[key]
        if len(set(numbers)) < len(numbers) or not element.keys() >= set(numbers):
            raise InvalidArgumentError(
                f"{self._room.name}: of key {key} components {sorted(element)} are there to be taken once, but "
                f"{list(numbers)} were asked for"
            )
        found = [element[number] for number in numbers]
        _check_types(self._room.name, found, dtypes)
        return found

    def _removed(self, key: int, numbers: Sequence[int], dtypes: Sequence[np.dtype[Any]]) -> list[Any]:
        found = self._found(key, numbers, dtypes)
        element = self._elements[key]
        for number in numbers:
            del element[number]
        if not element:
            del self._elements[key]
        self._room.change(-_bytes_of(found))
        return found

    def clear(self) -> None:
        with self._room.changed:
            self._elements.clear()
            self._incomplete.clear()
            self._room.empty()

    def cancel(self) -> None:
        """Makes all that wait fail: the session that they belong to has been closed."""
        self._room.cancel()


def arrays_as_they_are(values: Sequence[Any]) -> Element:
    """Copies: what is fed may be changed by its owner after the run."""
    return tuple(map(np.array, values))


def first_key(keys: Iterable[int]) -> int:
    """The one that came first."""
    return next(iter(keys))


def _check_types(name: str, values: Sequence[Any], dtypes: Sequence[np.dtype[Any]]) -> None:
    held, wanted = ", ".join(str(value.dtype) for value in values), ", ".join(map(str, dtypes))
    if held == wanted:
        return
    error = InternalError if len(values) == len(dtypes) else InvalidArgumentError
    raise error(f"{name}: got an element of {held}, wanted one of {wanted}")
