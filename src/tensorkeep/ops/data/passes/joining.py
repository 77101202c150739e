"""Passes over parts of datasets, and over several datasets."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tensorkeep.errors import FailedPreconditionError, InvalidArgumentError, OutOfRangeError
from tensorkeep.ops.data.passes.basics import (
    INFINITE,
    UNKNOWN,
    Dataset,
    Pass,
    State,
    chunked_dataset,
    chunked_over,
    next_of,
    stepping,
    stepping_over,
)
from tensorkeep.ops.data.passes.rows import Element, Rows
from tensorkeep.runtime.limits import check_waiting, count_step, count_steps

Inner = Callable[[Element], Dataset]
"""Gives the dataset that an element stands for."""


class _Taken:
    """The first rows of a pass."""

    def __init__(self, source: Pass, count: int) -> None:
        self._source = source
        self._left = count

    def more(self, most: int) -> Rows:
        found = self._source.take(min(most, self._left)) if self._left else []
        self._left -= len(found)
        return found

    def place(self) -> State:
        return {"left": self._left}

    def go_to(self, place: State) -> None:
        self._left = place["left"]


def take_elements(source: Dataset, count: int) -> Dataset:
    """The first elements of a dataset; all if the count is negative."""
    if count < 0:
        return source
    known = source.cardinality
    least = count if known in (INFINITE,) else UNKNOWN if known == UNKNOWN else min(known, count)
    return chunked_over(source, lambda rows: _Taken(rows, count), 0 if not count else least)


class _Skipped:
    """What comes after the first rows of a pass."""

    def __init__(self, source: Pass, count: int) -> None:
        self._source = source
        self._left = count

    def more(self, most: int) -> Rows:
        while self._left:
            check_waiting()
            found = self._source.take(min(self._left, 1024))
            if not found:
                return []
            self._left -= len(found)
        return self._source.take(most)

    def place(self) -> State:
        return {"left": self._left}

    def go_to(self, place: State) -> None:
        self._left = place["left"]


def skip_elements(source: Dataset, count: int) -> Dataset:
    """A dataset without its first elements; an empty one if the count is negative."""
    if count < 0:
        return take_elements(source, 0)
    known = source.cardinality
    return chunked_over(source, lambda rows: _Skipped(rows, count), known if known < 0 else max(known - count, 0))


class _Sharded:
    """Every so many-th element of a pass."""

    def __init__(self, source: Pass, count: int, index: int, requires: bool) -> None:
        self._source = source
        self._count = count
        self._index = index
        self._requires = requires
        self._at = 0

    def next(self) -> Element | None:
        while (element := next_of(self._source)) is not None:
            self._at += 1
            if (self._at - 1) % self._count == self._index:
                return element
        if self._requires and self._at < self._count:
            raise InvalidArgumentError(
                "Could not apply FILE based sharding: there aren't enough elements in this dataset for each shard to "
                f"have at least one element (# elems = {self._at}, # shards = {self._count})."
            )
        return None

    def place(self) -> State:
        return {"at": self._at}

    def go_to(self, place: State) -> None:
        self._at = place["at"]


def shard_elements(source: Dataset, count: int, index: int, requires: bool) -> Dataset:
    """The elements of a dataset whose number leaves `index` when divided by `count`."""
    if count <= 0:
        raise InvalidArgumentError(f"Number of shards must be greater than zero (currently num_shards = {count}).")
    if not 0 <= index < count:
        raise InvalidArgumentError(
            f"Index must be between 0 and {count - 1} (currently index = {index}, num_shards = {count})."
        )
    known = source.cardinality
    size = known if known < 0 else known // count + (index < known % count)
    return stepping_over(source, lambda rows: _Sharded(rows, count, index, requires), size)


class _Repeated:
    """Pass after pass through a dataset."""

    def __init__(self, source: Dataset, times: int) -> None:
        self._source = source
        self._times = times
        self._done = 0
        self._current: Pass | None = None
        self._is_empty = True  # whether the current pass has given nothing so far

    def more(self, most: int) -> Rows:
        while self._done != self._times:
            if self._current is None:
                self._current, self._is_empty = self._source.begin(), True
            try:
                rows = self._current.take(most)
            except Exception:
                self._is_empty = False
                raise
            if rows:
                self._is_empty = False
                count_steps(len(rows))
                return rows
            self._current.close()
            self._current = None
            self._done += 1
            if self._is_empty:
                self._done = self._times = 0  # nothing in it: nothing will ever be
        return []

    def state(self) -> State:
        inner = None if self._current is None else self._current.state()
        return {"done": self._done, "times": self._times, "inner": inner, "empty": self._is_empty}

    def restore(self, state: State) -> None:
        self._done, self._times, self._is_empty = state["done"], state["times"], state["empty"]
        self._current = begun(self._source, state["inner"])

    def close(self) -> None:
        if self._current is not None:
            self._current.close()


def begun(source: Dataset, state: State | None) -> Pass | None:
    """A pass that goes on from a state; None without one."""
    if state is None:
        return None
    current = source.begin()
    current.restore(state)
    return current


def repeat_elements(source: Dataset, times: int) -> Dataset:
    """A dataset several times over; without end if `times` is negative."""
    known = source.cardinality
    if not times or not known:
        size = 0
    elif times < 0 or known == INFINITE:
        size = INFINITE
    else:
        size = UNKNOWN if known == UNKNOWN else known * times
    return chunked_dataset(lambda: _Repeated(source, times), size)


class _Concatenated:
    """One dataset after the other."""

    def __init__(self, sources: Sequence[Dataset]) -> None:
        self._sources = sources
        self._at = 0
        self._current: Pass | None = None

    def more(self, most: int) -> Rows:
        while self._at < len(self._sources):
            if self._current is None:
                self._current = self._sources[self._at].begin()
            if rows := self._current.take(most):
                return rows
            self._current.close()
            self._current = None
            self._at += 1
        return []

    def state(self) -> State:
        return {"at": self._at, "inner": None if self._current is None else self._current.state()}

    def restore(self, state: State) -> None:
        self._at = state["at"]
        self._current = begun(self._sources[self._at], state["inner"]) if self._at < len(self._sources) else None

    def close(self) -> None:
        if self._current is not None:
            self._current.close()


def concatenate_datasets(sources: Sequence[Dataset]) -> Dataset:
    """Datasets one after the other."""
    sizes = [source.cardinality for source in sources]
    size = INFINITE if INFINITE in sizes else UNKNOWN if UNKNOWN in sizes else sum(sizes)
    return chunked_dataset(lambda: _Concatenated(sources), size)


class _Zipped:
    """Elements of several passes side by side; the shortest says when it ends."""

    def __init__(self, sources: Sequence[Pass]) -> None:
        self._sources = sources
        self._is_over = False

    def next(self) -> Element | None:
        if self._is_over:
            return None
        found: list[Any] = []
        failed: Exception | None = None
        for source in self._sources:  # all of them move on, also when one fails
            try:
                element = next_of(source)
            except Exception as error:
                failed = failed or error
                continue
            if element is None:
                self._is_over = failed is None
                break
            found.extend(element)
        if failed is not None:
            raise failed
        return None if self._is_over else tuple(found)

    def state(self) -> State:
        return {"sources": [source.state() for source in self._sources], "over": self._is_over}

    def restore(self, state: State) -> None:
        for source, inner in zip(self._sources, state["sources"], strict=True):
            source.restore(inner)
        self._is_over = state["over"]

    def close(self) -> None:
        for source in self._sources:
            source.close()


def zip_datasets(sources: Sequence[Dataset]) -> Dataset:
    """Datasets side by side."""
    finite = [source.cardinality for source in sources if source.cardinality != INFINITE]
    size = INFINITE if not finite else UNKNOWN if UNKNOWN in finite else min(finite)
    return stepping(lambda: _Zipped([source.begin() for source in sources]), size)


class _Flattened:
    """The datasets that elements stand for, one after the other."""

    def __init__(self, source: Pass, inner: Inner) -> None:
        self._source = source
        self._inner = inner
        self._element: Element | None = None
        self._current: Pass | None = None

    def more(self, most: int) -> Rows:
        while True:
            if self._current is None:
                self._element = next_of(self._source)
                if self._element is None:
                    return []
                self._current = self._inner(self._element).begin()
            if rows := self._current.take(most):
                return rows
            self._current.close()
            self._current = None

    def state(self) -> State:
        inner = None if self._current is None else self._current.state()
        return {"source": self._source.state(), "element": self._element if inner is not None else None, "inner": inner}

    def restore(self, state: State) -> None:
        self._source.restore(state["source"])
        self._element = state["element"]
        self._current = None if self._element is None else begun(self._inner(self._element), state["inner"])

    def close(self) -> None:
        self._source.close()
        if self._current is not None:
            self._current.close()


def flatten_datasets(source: Dataset, inner: Inner) -> Dataset:
    """The datasets that the elements of a dataset stand for, one after the other."""
    return chunked_dataset(lambda: _Flattened(source.begin(), inner))


class _Interleaved:
    """The datasets that elements stand for, several at a time: a block of each in turn.

    A dataset that ends makes room for that of the next element, in its place, and its turn is over, as in TensorFlow's
    interleave_dataset_op.cc.
    """

    def __init__(self, source: Pass, inner: Inner, cycle: int, block: int) -> None:
        self._source = source
        self._inner = inner
        self._block = block
        self._slots: list[tuple[Element, Pass] | None] = [None] * cycle
        self._at = 0
        self._in_block = 0
        self._open = 0
        self._is_over = False  # whether the source has no more elements

    def next(self) -> Element | None:
        while not self._is_over or self._open:
            slot = self._slots[self._at]
            if slot is not None:
                element = next_of(slot[1])
                if element is not None:
                    self._in_block += 1
                    if self._in_block == self._block:
                        self._advance()
                    return element
                slot[1].close()
                self._slots[self._at] = None
                self._open -= 1
                self._advance()
            elif not self._fill():
                self._advance()
        return None

    def _fill(self) -> bool:
        """Puts the dataset of the next element into the current place, if there is one."""
        if self._is_over:
            return False
        element = next_of(self._source)
        if element is None:
            self._is_over = True
            return False
        self._slots[self._at] = (element, self._inner(element).begin())
        self._open += 1
        return True

    def _advance(self) -> None:
        self._in_block = 0
        self._at = (self._at + 1) % len(self._slots)

    def state(self) -> State:
        slots = [None if slot is None else {"element": slot[0], "inner": slot[1].state()} for slot in self._slots]
        place = [self._at, self._in_block, self._open]
        return {"source": self._source.state(), "slots": slots, "place": place, "over": self._is_over}

    def restore(self, state: State) -> None:
        self._source.restore(state["source"])
        self._at, self._in_block, self._open = state["place"]
        self._is_over = state["over"]
        for at, slot in enumerate(state["slots"]):
            self._slots[at] = None
            if slot is not None:
                current = self._inner(slot["element"]).begin()
                current.restore(slot["inner"])
                self._slots[at] = (slot["element"], current)

    def close(self) -> None:
        self._source.close()
        for slot in self._slots:
            if slot is not None:
                slot[1].close()


def interleave_datasets(source: Dataset, inner: Inner, cycle: int, block: int) -> Dataset:
    """The datasets that the elements of a dataset stand for, `cycle` at a time, `block` elements of each in turn."""
    for value, what in ((cycle, "cycle_length"), (block, "block_length")):
        if value < 1:
            raise InvalidArgumentError(f"`{what}` must be > 0, got {value}")
    return stepping(lambda: _Interleaved(source.begin(), inner, cycle, block))


class _Directed:
    """An element of one of several passes, as another one says."""

    def __init__(self, selector: Pass, sources: Sequence[Pass], stops: bool) -> None:
        self._selector = selector
        self._sources = sources
        self._stops = stops
        self._open = [True] * len(sources)

    def next(self) -> Element | None:
        while any(self._open):
            chosen = next_of(self._selector)
            if chosen is None:
                return None
            index = int(chosen[0])
            if not 0 <= index < len(self._sources):
                raise InvalidArgumentError(
                    f"Selector index out of range: {index} >= {len(self._sources)}"
                    if index >= 0
                    else f"Selector index out of range: {index} < 0"
                )
            if self._open[index]:
                element = next_of(self._sources[index])
                if element is not None:
                    return element
                self._open[index] = False
                if self._stops:
                    self._open = [False] * len(self._open)
        return None

    def state(self) -> State:
        inner = [source.state() for source in self._sources]
        return {"selector": self._selector.state(), "sources": inner, "open": list(self._open)}

    def restore(self, state: State) -> None:
        self._selector.restore(state["selector"])
        for source, inner in zip(self._sources, state["sources"], strict=True):
            source.restore(inner)
        self._open = list(state["open"])

    def close(self) -> None:
        for source in (self._selector, *self._sources):
            source.close()


def choose_from_datasets(selector: Dataset, sources: Sequence[Dataset], stops: bool) -> Dataset:
    """Elements of several datasets in the order that a dataset of their numbers says."""
    return stepping(lambda: _Directed(selector.begin(), [source.begin() for source in sources], stops))


class _Forgiving:
    """The elements of a pass that are no errors."""

    def __init__(self, source: Pass, tell: Callable[[Exception], None]) -> None:
        self._source = source
        self._tell = tell

    def next(self) -> Element | None:
        while True:
            try:
                return next_of(self._source)
            except OutOfRangeError:
                return None
            except Exception as error:
                count_step()
                self._tell(error)

    def place(self) -> State:
        return {}  # how far the source has come says it all

    def go_to(self, place: State) -> None:
        """It has none."""


def forgiving(source: Dataset, tell: Callable[[Exception], None]) -> Dataset:
    """A dataset without the elements whose making fails; each error is told."""
    return stepping_over(source, lambda rows: _Forgiving(rows, tell), source.cardinality and UNKNOWN)


class _Counted:
    """A pass that must have a certain number of elements."""

    def __init__(self, source: Pass, count: int) -> None:
        self._source = source
        self._count = count
        self._at = 0

    def next(self) -> Element | None:
        element = next_of(self._source)
        self._at += element is not None
        wanted = self._count
        if wanted >= 0 and (self._at > wanted or (element is None and self._at < wanted)):
            more = "at least " if element is not None else ""
            plural = "" if wanted == 1 else "s"
            raise FailedPreconditionError(
                f"Input dataset was expected to contain {wanted} element{plural} but contained "
                f"{more}{self._at} element{'' if self._at == 1 else 's'}."
            )
        if element is None and wanted == INFINITE:
            raise FailedPreconditionError(
                f"Input dataset was expected to contain an infinite number of elements but contained "
                f"only {self._at} element{'' if self._at == 1 else 's'}."
            )
        return element

    def place(self) -> State:
        return {"at": self._at}

    def go_to(self, place: State) -> None:
        self._at = place["at"]


def of_known_count(source: Dataset, count: int) -> Dataset:
    """A dataset that fails unless it has so many elements."""
    return stepping_over(source, lambda rows: _Counted(rows, count), count)
