"""Barriers: elements that are put together by key, component by component, as values of their handles.

When a key may be inserted, which index an element has, and what is left to be taken after the end, is measured with
TensorFlow's ops (tests/interop/test_barriers.py).
"""

from __future__ import annotations

from bisect import insort
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from threading import Condition
from typing import Any, Final

import numpy as np

from tensorkeep.arrays import Array
from tensorkeep.dtypes import DType
from tensorkeep.errors import CancelledError, InvalidArgumentError, OutOfRangeError
from tensorkeep.ops.control.tensor_array_values import zeros_of
from tensorkeep.ops.data._queue_values import wait_for_change
from tensorkeep.shapes import Shape

FIRST_INDEX: Final = -(2**63)
"""The index of what is inserted first."""


@dataclass(slots=True)
class _Element:
    """What a key has so far."""

    index: int
    key: bytes
    values: dict[int, Any] = field(default_factory=dict)


class Barrier:
    """Elements whose components come at different times. One can be taken as soon as it is complete.

    Of those that are complete, the one with the smallest index goes first: keys that are first seen in one insertion
    have the same index, and each such insertion has the next. Once it is closed no new key comes in, but those that are
    there can still be completed.
    """

    def __init__(self, name: str, dtypes: Sequence[DType], shapes: Sequence[Shape]) -> None:
        if shapes and len(shapes) != len(dtypes):
            raise InvalidArgumentError(f"{name} has {len(dtypes)} components, but {len(shapes)} shapes were given")
        self._name = name
        self._dtypes = tuple(dtypes)
        self._shapes = tuple(shapes)
        self._changed = Condition()
        self._incomplete: dict[bytes, _Element] = {}
        self._ready: list[tuple[int, int, _Element]] = []  # by index, and then in the order of their completion
        self._completed = 0
        self._next_index = FIRST_INDEX
        self._takers: deque[object] = deque()  # in the order in which they came
        self._is_closed = False
        self._is_cancelled = False
        self._is_gone = False

    def read(self) -> Barrier:
        """Itself: what a reference to it leads to."""
        return self

    @property
    def ready_size(self) -> int:
        """How many elements are complete."""
        return len(self._ready)

    @property
    def incomplete_size(self) -> int:
        """How many elements lack components."""
        return len(self._incomplete)

    def check(self, dtypes: Sequence[DType], shapes: Sequence[Shape]) -> None:
        """Refuses a second use of its name for elements of another kind."""
        if tuple(dtypes) != self._dtypes or tuple(shapes) != self._shapes:
            raise InvalidArgumentError(
                f"{self._name} holds {_kinds(self._dtypes)} of shapes {list(map(str, self._shapes))}, but was asked "
                f"for {_kinds(dtypes)} of shapes {list(map(str, shapes))}: give it a shared_name of its own"
            )

    def insert(self, component: int, keys: Sequence[bytes], values: Array) -> None:
        """Gives each key a row of `values` as its component of this number."""
        self._check_values(component, keys, values)
        with self._changed:
            if self._is_cancelled:
                raise CancelledError(f"{self._name} is closed. Pending inserts cancelled.")
            index = self._next_index
            try:
                for key, value in zip(keys, values, strict=True):
                    self._insert_one(component, key, np.array(value, values.dtype), index)
            finally:
                self._changed.notify_all()

    def _check_values(self, component: int, keys: Sequence[bytes], values: Any) -> None:
        if not 0 <= component < len(self._dtypes):
            raise InvalidArgumentError(
                f"{self._name} has components 0 to {len(self._dtypes) - 1}, but component {component} was to be set"
            )
        if np.ndim(values) == 0 or len(values) != len(keys):
            raise InvalidArgumentError(
                f"{self._name}: {len(keys)} keys need as many rows, but the values have shape {np.shape(values)}"
            )
        wanted = self._dtypes[component]
        if values.dtype != wanted.array_dtype:
            raise InvalidArgumentError(f"{self._name}: component {component} is {wanted}, got {values.dtype}")
        shape = Shape(values.shape[1:])
        if self._shapes and not self._shapes[component].is_compatible(shape):
            raise InvalidArgumentError(
                f"{self._name}: component {component} has shape {self._shapes[component]}, got {shape}"
            )

    def _insert_one(self, component: int, key: bytes, value: Any, index: int) -> None:
        element = self._incomplete.get(key)
        if element is None:
            if self._is_closed:
                raise CancelledError(
                    f"{self._name} is closed, but attempted to insert a brand new key: {key.decode(errors='replace')}. "
                    f"Pending inserts cancelled."
                )
            self._next_index = index + 1
            element = self._incomplete[key] = _Element(index, key)
        if component in element.values:
            raise InvalidArgumentError(
                f"{self._name}: key {key.decode(errors='replace')} already has a value for component {component}; keys "
                f"have to differ as long as their elements are incomplete"
            )
        element.values[component] = value
        if len(element.values) == len(self._dtypes):
            del self._incomplete[key]
            insort(self._ready, (element.index, self._completed, element), key=lambda entry: entry[:2])
            self._completed += 1

    def take(self, count: int, dtypes: Sequence[DType], allow_small: bool) -> tuple[Any, Any, list[Any]]:
        """Removes so many complete elements as soon as they are there: their indices, keys, and components stacked.

        Once it is closed `allow_small` takes what is complete, and fails if nothing is; without it, it fails as soon as
        there can be too few.
        """
        if tuple(dtypes) != self._dtypes:
            raise InvalidArgumentError(f"{self._name} holds {_kinds(self._dtypes)}, but {_kinds(dtypes)} was asked for")
        turn = object()
        with self._changed:
            self._takers.append(turn)
            try:
                taken = self._taken(count, allow_small, turn)
            finally:
                self._takers.remove(turn)
                self._changed.notify_all()
        return self._stacked(taken)

    def _taken(self, count: int, allow_small: bool, turn: object) -> list[_Element]:
        while True:
            if self._takers[0] is turn:  # who came first is served in full
                size = self._takeable(count, allow_small)
                if size <= len(self._ready):
                    taken = [element for _, _, element in self._ready[:size]]
                    del self._ready[:size]
                    return taken
            wait_for_change(self._changed, self._is_gone, "Barrier take")

    def _takeable(self, count: int, allow_small: bool) -> int:
        """How many elements a request for `count` is to get; more than are complete if it has to wait."""
        if not self._is_closed or count == 0:
            return count
        coming = len(self._ready) + (0 if allow_small else len(self._incomplete))
        if coming < (1 if allow_small else count):
            raise OutOfRangeError(
                f"{self._name} is closed and has insufficient elements (requested {count}, total size {coming})"
            )
        return min(count, coming)

    def _stacked(self, taken: list[_Element]) -> tuple[Any, Any, list[Any]]:
        indices = np.array([element.index for element in taken], np.int64)
        keys = np.empty(len(taken), object)
        keys[:] = [element.key for element in taken]
        return indices, keys, [self._stacked_component(i, dtype, taken) for i, dtype in enumerate(self._dtypes)]

    def _stacked_component(self, number: int, dtype: DType, taken: list[_Element]) -> Any:
        if taken:
            return np.stack([element.values[number] for element in taken])
        return zeros_of((0, *self._shapes[number].as_tuple()) if self._shapes else (0,), dtype)

    def close(self, cancel_pending: bool) -> None:
        """Lets no new key in. With `cancel_pending`, what is incomplete is dropped, and nothing more comes in."""
        with self._changed:
            if self._is_closed and (self._is_cancelled or not cancel_pending):
                raise CancelledError(f"{self._name} is already closed.")
            self._is_closed = True
            if cancel_pending:
                self._is_cancelled = True
                self._incomplete.clear()
            self._changed.notify_all()

    def cancel(self) -> None:
        """Makes all that wait fail: the session that they belong to has been closed."""
        with self._changed:
            self._is_gone = True
            self._changed.notify_all()


def _kinds(dtypes: Sequence[DType]) -> str:
    return ", ".join(map(str, dtypes))
