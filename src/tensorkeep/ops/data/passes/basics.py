"""Datasets, and passes through them: what gives elements one after the other, and can be stopped and gone on with.

A pass is asked for as many rows as are wanted, and gives as many, unless the dataset ends before or an error comes:
then it gives those before it, and the next call raises the error or gives none. After an error it goes on with what
follows.
Nothing more of its source is used up than the wanted rows need, but by passes that work ahead on purpose.

Its state says how far it has come; a new pass through the same dataset that takes it over goes on there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Final, Protocol, TypeAlias

import numpy as np

from tensorkeep.errors import InvalidArgumentError
from tensorkeep.ops.data.passes.rows import Element, Rows, joined_rows
from tensorkeep.ops.shared.kernel_types import Value

State: TypeAlias = dict[str, Any]
"""Numbers, texts, arrays, rows, and lists and dictionaries of these by name."""

INFINITE: Final = -1
UNKNOWN: Final = -2


class Pass(Protocol):
    """One way through a dataset, from its first element on. One thread at a time uses it."""

    def take(self, most: int) -> Rows:
        """The next rows: so many, or fewer if the end or an error comes after them."""

    def state(self) -> State:
        """How far it has come."""

    def restore(self, state: State) -> None:
        """Goes on from where another pass through the same dataset was."""

    def close(self) -> None:
        """Ends what works for it in the background. Nobody asks it for more."""


@dataclass(frozen=True)
class Dataset:
    """A dataset: what begins a new pass through it, and how many elements it has as far as that is known."""

    begin: Callable[[], Pass]
    cardinality: int = UNKNOWN
    rows: Rows | None = None
    """Its elements, where they are all in memory: such a dataset can be an element of a state that is stored."""
    again: Callable[[], Dataset] | None = None
    """Makes it once more, from sources that are made once more; None if passes through it share nothing."""

    def copied(self) -> Dataset:
        """The same dataset with seeds, functions and caches of its own, and so is each of the datasets that it is made
        of: one that was used twice becomes two.
        """
        return self if self.again is None else self.again()

    def elements(self) -> Iterator[Element]:
        """A new pass, one element after the other."""
        current = self.begin()
        try:
            while rows := current.take(1):
                yield rows[0]
        finally:
            current.close()


def dataset_of(value: object) -> Dataset:
    """The dataset that a variant tensor holds."""
    found = value.item() if isinstance(value, np.ndarray) and value.dtype == object and value.size == 1 else value
    if not isinstance(found, Dataset):
        raise InvalidArgumentError(f"expected a dataset, got a {type(found).__name__}")
    return found


class Resumable(Protocol):
    """What can be stopped, gone on with, and ended."""

    def state(self) -> State: ...

    def restore(self, state: State) -> None: ...

    def close(self) -> None: ...


class Placed(Protocol):
    """What works on one source that others close: its own place is all that there is to say of it."""

    def place(self) -> State:
        """How far it has come itself, beside its source."""

    def go_to(self, place: State) -> None:
        """Goes on from such a place; there may be more in it than `place` gives."""


class SourceState:
    """How far something that works on one source has come: the state of the source, and beside it its own place."""

    __slots__ = ("_source", "_worker")

    def __init__(self, source: Pass, worker: Placed) -> None:
        self._source = source
        self._worker = worker

    def state(self) -> State:
        return {"source": self._source.state(), **self._worker.place()}

    def restore(self, state: State) -> None:
        self._source.restore(state["source"])
        self._worker.go_to(state)

    def close(self) -> None:
        self._source.close()


class Steps:
    """A pass of the elements that `step` makes one at a time; None is the end."""

    __slots__ = ("_error", "_progress", "_step")

    def __init__(self, step: Callable[[], Element | None], progress: Resumable) -> None:
        self._step = step
        self._progress = progress
        self._error: Exception | None = None

    def take(self, most: int) -> Rows:
        if self._error is not None:
            error, self._error = self._error, None
            raise error
        found: list[Element] = []
        step = self._step
        while len(found) < most:
            try:
                element = step()
            except Exception as error:
                if not found:
                    raise
                self._error = error
                break
            if element is None:
                break
            found.append(element)
        return found

    def state(self) -> State:
        return self._progress.state()

    def restore(self, state: State) -> None:
        self._error = None
        self._progress.restore(state)

    def close(self) -> None:
        self._progress.close()


class Chunks:
    """A pass of the rows that `more` makes: called with a number, it gives at least one row and so many at most, or
    none at the end.
    """

    __slots__ = ("_error", "_more", "_progress")

    def __init__(self, more: Callable[[int], Rows], progress: Resumable) -> None:
        self._more = more
        self._progress = progress
        self._error: Exception | None = None

    def take(self, most: int) -> Rows:
        if self._error is not None:
            error, self._error = self._error, None
            raise error
        found = self._more(most)
        if not found or len(found) == most:
            return found
        parts, count = [found], len(found)
        while count < most:
            try:
                rows = self._more(most - count)
            except Exception as error:
                self._error = error
                break
            if not rows:
                break
            parts.append(rows)
            count += len(rows)
        return joined_rows(parts)

    def state(self) -> State:
        return self._progress.state()

    def restore(self, state: State) -> None:
        self._error = None
        self._progress.restore(state)

    def close(self) -> None:
        self._progress.close()


class Stepper(Resumable, Protocol):
    """What makes one element at a time."""

    def next(self) -> Element | None:
        """The next element; None at the end."""


class Chunker(Resumable, Protocol):
    """What makes some elements at a time."""

    def more(self, most: int) -> Rows:
        """The next rows: at least one and so many at most; none at the end."""


class SourceStepper(Placed, Protocol):
    """What makes one element at a time of those of one source."""

    def next(self) -> Element | None: ...


class SourceChunker(Placed, Protocol):
    """What makes some elements at a time of those of one source."""

    def more(self, most: int) -> Rows: ...


def chunked_dataset(make: Callable[[], Chunker], cardinality: int = UNKNOWN) -> Dataset:
    """A dataset whose passes make some elements at a time."""

    def begin() -> Pass:
        chunker = make()
        return Chunks(chunker.more, chunker)

    return Dataset(begin, cardinality)


def stepping(make: Callable[[], Stepper], cardinality: int = UNKNOWN) -> Dataset:
    """A dataset whose passes make one element at a time."""

    def begin() -> Pass:
        stepper = make()
        return Steps(stepper.next, stepper)

    return Dataset(begin, cardinality)


def chunked_over(source: Dataset, make: Callable[[Pass], SourceChunker], cardinality: int = UNKNOWN) -> Dataset:
    """A dataset whose passes make some elements at a time of those of a pass through `source`."""

    def begin() -> Pass:
        rows = source.begin()
        chunker = make(rows)
        return Chunks(chunker.more, SourceState(rows, chunker))

    return Dataset(begin, cardinality)


def stepping_over(source: Dataset, make: Callable[[Pass], SourceStepper], cardinality: int = UNKNOWN) -> Dataset:
    """A dataset whose passes make one element at a time of those of a pass through `source`."""

    def begin() -> Pass:
        rows = source.begin()
        stepper = make(rows)
        return Steps(stepper.next, SourceState(rows, stepper))

    return Dataset(begin, cardinality)


def next_of(current: Pass) -> Element | None:
    """The next element of a pass; None at its end."""
    rows = current.take(1)
    return rows[0] if rows else None


def scalar_count(value: Value, what: str) -> int:
    """A number that an input tells."""
    if np.ndim(value):
        raise InvalidArgumentError(f"{what} must be a scalar")
    return int(value)
