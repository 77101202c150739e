"""Passes that bring elements together: windows, groups by key, elements that are there once."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tensorkeep.errors import InvalidArgumentError
from tensorkeep.ops.data.passes.basics import UNKNOWN, Dataset, Pass, State, chunked_dataset, next_of, stepping_over
from tensorkeep.ops.data.passes.joining import begun
from tensorkeep.ops.data.passes.rows import Element, Rows
from tensorkeep.ops.data.passes.sources import dataset_of_rows

Key = Callable[[Element], int]


class _Windows:
    """Stretches of the elements of a pass, each as datasets of its components. A window with an element that failed is
    that error.
    """

    def __init__(self, source: Pass, size: int, shift: int, stride: int, drops: bool) -> None:
        self._source = source
        self._size = size
        self._shift = shift
        self._stride = stride
        self._drops = drops
        self._buffer: deque[Element | Exception] = deque()
        self._gap = 0  # elements to pass over before the next window
        self._is_over = False

    def next(self) -> Element | None:
        reach = (self._size - 1) * self._stride + 1
        while self._gap and not self._is_over:
            self._gap -= 1
            self._is_over = next_of(self._source) is None
        while len(self._buffer) < reach and not self._is_over:
            element = self._next_outcome()
            if element is None:
                self._is_over = True
            else:
                self._buffer.append(element)
        if not self._buffer or (self._drops and len(self._buffer) < reach):
            return None
        outcomes = list(self._buffer)[: reach : self._stride]
        dropped = min(self._shift, len(self._buffer))
        for _ in range(dropped):
            self._buffer.popleft()
        self._gap = self._shift - dropped if not self._is_over else 0
        window: list[Element] = []
        for outcome in outcomes:
            if isinstance(outcome, Exception):
                raise outcome
            window.append(outcome)
        return tuple(dataset_of_rows([(component,) for component in column]) for column in zip(*window, strict=True))

    def _next_outcome(self) -> Element | Exception | None:
        try:
            return next_of(self._source)
        except Exception as error:
            return error

    def place(self) -> State:
        for outcome in self._buffer:
            if isinstance(outcome, Exception):
                raise outcome
        return {"buffer": list(self._buffer), "gap": self._gap, "over": self._is_over}

    def go_to(self, place: State) -> None:
        self._buffer = deque(place["buffer"])
        self._gap, self._is_over = place["gap"], place["over"]


def windows(source: Dataset, size: int, shift: int, stride: int, drops: bool) -> Dataset:
    """Stretches of a dataset: `size` elements of every `stride`-th, each stretch `shift` after the one before."""
    for value, what in ((size, "size"), (shift, "shift"), (stride, "stride")):
        if value < 1:
            raise InvalidArgumentError(f"Window {what} must be greater than zero.")
    known, reach = source.cardinality, (size - 1) * stride + 1
    count = known
    if known >= 0:
        count = max(0, (known - reach) // shift + 1) if drops else -(-known // shift)
    return stepping_over(source, lambda rows: _Windows(rows, size, shift, stride, drops), count)


class _Grouped:
    """What is made of the elements of a pass with one key, whenever there are enough of them, and in the end."""

    def __init__(
        self, source: Pass, key: Key, size: Callable[[int], int], reduce: Callable[[int, Dataset], Dataset]
    ) -> None:
        self._source = source
        self._key = key
        self._size = size
        self._reduce = reduce
        self._groups: dict[int, list[Element]] = {}
        self._sizes: dict[int, int] = {}
        self._current: Pass | None = None
        self._made_of: tuple[int, list[Element]] | None = None
        self._is_over = False

    def more(self, most: int) -> Rows:
        while True:
            if self._current is not None:
                if rows := self._current.take(most):
                    return rows
                self._current.close()
                self._current = None
            if not self._next_group():
                return []

    def _next_group(self) -> bool:
        """Goes over to the next group that is complete; once the source has ended, to what is left, by key."""
        while not self._is_over:
            element = next_of(self._source)
            if element is None:
                self._is_over = True
                break
            key = self._key(element)
            if key not in self._sizes:
                self._sizes[key] = self._size(key)
                if self._sizes[key] < 1:
                    raise InvalidArgumentError(
                        f"Window size must be greater than zero, but got {self._sizes.pop(key)}."
                    )
            group = self._groups.setdefault(key, [])
            group.append(element)
            if len(group) == self._sizes[key]:
                self._begin(key, self._groups.pop(key))
                return True
        if not self._groups:
            return False
        first = min(self._groups)
        self._begin(first, self._groups.pop(first))
        return True

    def _begin(self, key: int, rows: list[Element]) -> None:
        self._made_of = (key, rows)
        self._current = self._reduce(key, dataset_of_rows(rows)).begin()

    def state(self) -> State:
        groups = [[key, rows] for key, rows in self._groups.items()]
        sizes = [[key, size] for key, size in self._sizes.items()]
        inner = None if self._current is None else self._current.state()
        made_of = list(self._made_of) if self._made_of is not None and inner is not None else None
        place = {"groups": groups, "sizes": sizes, "inner": inner, "made_of": made_of, "over": self._is_over}
        return {"source": self._source.state(), **place}

    def restore(self, state: State) -> None:
        self._source.restore(state["source"])
        self._groups = {key: list(rows) for key, rows in state["groups"]}
        self._sizes = dict(state["sizes"])
        self._is_over = state["over"]
        self._current = None
        if state["made_of"] is not None:
            key, rows = state["made_of"]
            self._made_of = (key, list(rows))
            self._current = begun(self._reduce(key, dataset_of_rows(self._made_of[1])), state["inner"])

    def close(self) -> None:
        self._source.close()
        if self._current is not None:
            self._current.close()


def group_elements(
    source: Dataset, key: Key, size: Callable[[int], int], reduce: Callable[[int, Dataset], Dataset]
) -> Dataset:
    """The datasets that are made of elements with the same key, so many of them at a time."""
    return chunked_dataset(lambda: _Grouped(source.begin(), key, size, reduce))


class _Reduced:
    """One element for each key: what a function made of all elements with that key."""

    def __init__(
        self,
        source: Pass,
        key: Key,
        first: Callable[[int], Sequence[Any]],
        reduce: Callable[..., Sequence[Any]],
        finish: Callable[..., Sequence[Any]],
    ) -> None:
        self._source = source
        self._key = key
        self._first = first
        self._reduce = reduce
        self._finish = finish
        self._states: dict[int, tuple[Any, ...]] = {}
        self._left: deque[int] | None = None  # the keys that are not given so far, once the source has ended

    def next(self) -> Element | None:
        while self._left is None:
            element = next_of(self._source)
            if element is None:
                self._left = deque(sorted(self._states))
                break
            key = self._key(element)
            if key not in self._states:
                self._states[key] = tuple(self._first(key))
            self._states[key] = tuple(self._reduce(*self._states[key], *element))
        if not self._left:
            return None
        return tuple(self._finish(*self._states[self._left.popleft()]))

    def place(self) -> State:
        states = [[key, value] for key, value in self._states.items()]
        left = None if self._left is None else list(self._left)
        return {"states": states, "left": left}

    def go_to(self, place: State) -> None:
        self._states = {key: tuple(value) for key, value in place["states"]}
        self._left = None if place["left"] is None else deque(place["left"])


def reduced(
    source: Dataset,
    key: Key,
    first: Callable[[int], Sequence[Any]],
    reduce: Callable[..., Sequence[Any]],
    finish: Callable[..., Sequence[Any]],
) -> Dataset:
    """One element for each key, in their order."""
    return stepping_over(source, lambda rows: _Reduced(rows, key, first, reduce, finish))


class _Unique:
    """The elements of a pass that were not there before."""

    def __init__(self, source: Pass) -> None:
        self._source = source
        self._seen: set[tuple[Any, ...]] = set()
        self._elements: list[Element] = []

    def next(self) -> Element | None:
        while (element := next_of(self._source)) is not None:
            key = _identity(element)
            if key not in self._seen:
                self._seen.add(key)
                self._elements.append(element)
                return element
        return None

    def place(self) -> State:
        return {"seen": self._elements}

    def go_to(self, place: State) -> None:
        self._elements = list(place["seen"])
        self._seen = set(map(_identity, self._elements))


def _identity(element: Element) -> tuple[Any, ...]:
    """What two elements have in common if they are equal: sizes, and bytes or texts."""
    arrays = [np.asarray(component) for component in element]
    return tuple(
        (array.shape, tuple(array.reshape(-1).tolist()) if array.dtype == object else array.tobytes())
        for array in arrays
    )


def unique(source: Dataset) -> Dataset:
    """A dataset without elements that were there before."""
    return stepping_over(source, _Unique, source.cardinality and UNKNOWN)


class _Sampled:
    """The elements of a pass that a draw lets through."""

    def __init__(self, source: Pass, passes: Callable[[int], bool]) -> None:
        self._source = source
        self._passes = passes
        self._at = 0

    def next(self) -> Element | None:
        while (element := next_of(self._source)) is not None:
            self._at += 1
            if self._passes(self._at - 1):
                return element
        return None

    def place(self) -> State:
        return {"at": self._at}

    def go_to(self, place: State) -> None:
        self._at = place["at"]


def sample_elements(source: Dataset, passes: Callable[[int], bool]) -> Dataset:
    """The elements of a dataset whose number a function lets through."""
    return stepping_over(source, lambda rows: _Sampled(rows, passes))
