"""Passes at random, in TensorFlow's order for a seed.

As in shuffle_dataset_op.cc: a buffer is filled, then each element is drawn from the places that are taken, the first
of which takes over the place drawn, and the next element of the source comes last. With `count`, several passes
through the source follow each other, and the elements of the next fill the buffer while those of one still are in it.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from random import SystemRandom
from threading import Lock
from typing import Final

import numpy as np

from tensorkeep.arrays import Array
from tensorkeep.errors import InvalidArgumentError
from tensorkeep.ops.data.passes.basics import INFINITE, UNKNOWN, Dataset, Pass, State, chunked, stepping
from tensorkeep.ops.data.passes.joining import begun
from tensorkeep.ops.data.passes.rows import Columns, Element, Rows, as_columns
from tensorkeep.ops.random.philox import PhiloxGenerator

_BLOCKS: Final = 256  # of four words, that are drawn at a time
_MOST_PASSES: Final = 3  # through the source, of which rows may be in the buffer before it is filled no more


class Draws:
    """Words of 32 bits, one after the other, for two seeds."""

    def __init__(self, seed: int, seed2: int, used: int = 0) -> None:
        self.seeds = (seed, seed2)
        self.used = used
        self._generator = PhiloxGenerator.of_seeds(seed, seed2)
        self._words: list[int] = []
        self._first = 0  # the number of the first of these words

    def next(self) -> int:
        at = self._place()
        self.used += 1
        return self._words[at]

    def some(self, most: int) -> list[int]:
        """The next words: at least one, and so many at most."""
        at = self._place()
        found = self._words[at : at + most]
        self.used += len(found)
        return found

    def _place(self) -> int:
        """Where the next word is in those that are there; more are drawn if it is not."""
        at = self.used - self._first
        if not 0 <= at < len(self._words):
            block = self.used // 4
            self._first, at = block * 4, self.used % 4
            self._words = self._generator.words(_BLOCKS, block).reshape(-1).tolist()
        return at


class SeedGenerator:
    """Gives the seeds of each pass: always the same, or others every time. Threads may share one."""

    def __init__(self, seed: int, seed2: int, reshuffles: bool) -> None:
        if not seed and not seed2:
            system = SystemRandom()
            seed, seed2 = system.getrandbits(63), system.getrandbits(63)
        self.reshuffles = reshuffles
        self._lock = Lock()
        self._draws = Draws(seed, seed2)

    def seeds(self) -> tuple[int, int]:
        """The seeds of the next pass."""
        with self._lock:
            if not self.reshuffles:
                return self._draws.seeds
            return self._draws.next(), self._draws.next()

    def state(self) -> list[int]:
        with self._lock:
            return [*self._draws.seeds, self._draws.used]

    def restore(self, state: list[int]) -> None:
        with self._lock:
            self._draws = Draws(*state)


class _Store:
    """Rows by number, in places that are used again; as columns for as long as they fit."""

    def __init__(self) -> None:
        self._columns: list[Array] | None = None
        self._rows: dict[int, Element] = {}
        self._free: list[int] = []
        self._size = 0

    def put(self, rows: Rows) -> list[int]:
        """The numbers under which rows are kept."""
        if not rows:
            return []
        places = self._places(len(rows))
        columns = as_columns(rows) if self._columns is not None or not self._rows else None
        if columns is None or not self._takes(columns):
            self._as_rows()
            self._rows.update(zip(places, rows, strict=True))
            return places
        assert self._columns is not None
        for array, column in zip(self._columns, columns.arrays, strict=True):
            array[places] = column
        return places

    def _places(self, count: int) -> list[int]:
        reused = self._free[len(self._free) - min(count, len(self._free)) :]
        del self._free[len(self._free) - len(reused) :]
        fresh = list(range(self._size, self._size + count - len(reused)))
        self._size += len(fresh)
        return reused + fresh

    def _takes(self, columns: Columns) -> bool:
        """Makes room for rows of these columns; False if they are of other shapes than those before."""
        if self._columns is None:
            self._columns = [np.empty((0, *array.shape[1:]), array.dtype) for array in columns.arrays]
        elif not Columns(self._columns, 0).is_like(columns):
            return False
        if len(self._columns[0]) < self._size:
            size = max(self._size, len(self._columns[0]) * 2)
            grown = [np.empty((size, *array.shape[1:]), array.dtype) for array in self._columns]
            for array, old in zip(grown, self._columns, strict=True):
                array[: len(old)] = old
            self._columns = grown
        return True

    def _as_rows(self) -> None:
        if self._columns is not None:
            free = set(self._free)
            held = [at for at in range(min(self._size, len(self._columns[0]))) if at not in free]
            self._rows = {at: tuple(array[at, ...].copy() for array in self._columns) for at in held}
            self._columns = None

    def get(self, places: list[int]) -> Rows:
        """The rows of these numbers, which stay."""
        if self._columns is None or not places:
            return [self._rows[place] for place in places]
        return Columns([array[places] for array in self._columns], len(places))

    def drop(self, places: list[int]) -> None:
        """Forgets rows."""
        self._free.extend(places)
        if self._columns is None:
            for place in places:
                del self._rows[place]


class _Shuffled:
    """A pass at random, or several that follow each other."""

    def __init__(self, source: Dataset, size: int, seeds: SeedGenerator, count: int) -> None:
        self._source = source
        self._size = size
        self._seeds = seeds
        self._count = count
        self._begun = 0  # passes through the source
        self._current: Pass | None = None
        self._incoming: deque[int] = deque()  # rows of the source that are not in the buffer so far
        self._store = _Store()
        self._buffer: list[int] = []
        self._held = 0  # rows in the buffer
        self._slices: deque[_Slice] = deque()
        self._is_fruitless = True  # whether the source has given nothing so far
        self._draws = Draws(*seeds.seeds())
        self._error: Exception | None = None  # of the source, that waits until the rows before it are given

    def more(self, most: int) -> Rows:
        if self._error is not None:
            error, self._error = self._error, None
            raise error
        drawn: list[int] = []
        while len(drawn) < most:
            try:
                self._fill(most - len(drawn))
            except Exception as error:
                if not drawn:
                    raise
                self._error = error
                break
            if not self._held:
                break
            drawn.append(self._drawn())
            self._draw_on(drawn, most)
        return self._out(drawn)

    def _out(self, drawn: list[int]) -> Rows:
        rows = self._store.get(drawn)
        self._store.drop(drawn)
        return rows

    def _drawn(self) -> int:
        """The number of the next row, at random from the pass that comes first."""
        first = self._slices[0]
        while first.start == first.end and first.is_over:
            self._slices.popleft()
            first = self._slices[0]
            self._draws = Draws(*self._seeds.seeds())
        buffer, size = self._buffer, self._size
        index = (first.start + self._draws.next() % (first.end - first.start)) % size
        place = first.start % size
        found = buffer[index]
        buffer[index] = buffer[place]
        first.start += 1
        self._held -= 1
        return found

    def _draw_on(self, drawn: list[int], most: int) -> None:
        """Draws while there are rows that come in as others go out, of one pass: the same by itself, in fewer steps.

        The buffer lacks one row, and does so again in the end.
        """
        count = min(most - len(drawn), len(self._incoming))
        if count < 1 or self._held != self._size - 1 or len(self._slices) > 1:
            return
        first, buffer, size, incoming = self._slices[0], self._buffer, self._size, self._incoming
        place = first.end % size
        words = self._draws.some(count)
        for word in words:
            buffer[place] = incoming.popleft()
            place = place + 1 if place + 1 < size else 0  # of the first row: the buffer is full
            index = (place + word) % size
            drawn.append(buffer[index])
            buffer[index] = buffer[place]
        first.start += len(words)
        first.end += len(words)

    # ------------------------------------------------------------------------------------------------ filling

    def _fill(self, wanted: int) -> None:
        """Fills the buffer. `wanted` is how many rows will be drawn, each of which makes room for another one."""
        while self._held < self._size:
            if self._incoming:
                self._add(self._incoming.popleft())
                continue
            if self._current is None and not self._is_next_begun():
                return
            assert self._current is not None
            rows = self._current.take(self._size - self._held + wanted - 1)
            if rows:
                self._incoming.extend(self._store.put(rows))
                continue
            self._slices[-1].is_over = True
            self._current.close()
            self._current = None
            if self._is_fruitless and self._count < 0:
                self._count = self._begun
                return

    def _is_next_begun(self) -> bool:
        """Begins the next pass through the source, unless that was the last or the buffer has rows of many."""
        if self._begun == self._count or (len(self._slices) > _MOST_PASSES and self._held):
            return False
        end = self._slices[-1].end if self._slices else 0
        self._slices.append(_Slice(end, end, False))
        self._current = self._source.begin()
        self._begun += 1
        return True

    def _add(self, row: int) -> None:
        self._is_fruitless = False
        last = self._slices[-1]
        index = last.end % self._size
        if index == len(self._buffer):
            self._buffer.append(row)
        else:
            self._buffer[index] = row
        last.end += 1
        self._held += 1

    # -------------------------------------------------------------------------------------------------- state

    def state(self) -> State:
        slices = [[item.start, item.end, int(item.is_over)] for item in self._slices]
        places = [at % self._size for start, end, _ in slices for at in range(start, end)]
        return {
            "source": None if self._current is None else self._current.state(),
            "rows": list(self._store.get([self._buffer[at] for at in places])),
            "incoming": list(self._store.get(list(self._incoming))),
            "slices": slices,
            "passes": [self._begun, self._count],
            "draws": [*self._draws.seeds, self._draws.used],
            "seeds": self._seeds.state(),
            "fruitless": self._is_fruitless,
        }

    def restore(self, state: State) -> None:
        self._current = begun(self._source, state["source"])
        self._store = _Store()
        self._slices = deque(_Slice(start, end, bool(over)) for start, end, over in state["slices"])
        numbers = iter(self._store.put(state["rows"]))
        ends = [item.end for item in self._slices]
        self._buffer = [-1] * min(self._size, max(ends, default=0))
        for item in self._slices:
            for at in range(item.start, item.end):
                self._buffer[at % self._size] = next(numbers)
        self._held = len(state["rows"])
        self._incoming = deque(self._store.put(state["incoming"]))
        self._begun, self._count = state["passes"]
        self._draws = Draws(*state["draws"])
        self._seeds.restore(state["seeds"])
        self._is_fruitless = state["fruitless"]

    def close(self) -> None:
        if self._current is not None:
            self._current.close()


@dataclass
class _Slice:
    """The rows of one pass through the source in the buffer, from where to where, counted without end."""

    start: int
    end: int
    is_over: bool


def shuffled(source: Dataset, size: int, seeds: SeedGenerator, count: int = 1) -> Dataset:
    """A dataset at random, drawn from a buffer of so many elements; with `count`, so many times over."""
    if size < 1:
        raise InvalidArgumentError(f"buffer_size must be greater than zero or UNKNOWN_CARDINALITY: {size}")
    known = source.cardinality
    if not count or not known:
        total = 0
    elif count < 0 or known == INFINITE:
        total = INFINITE
    else:
        total = UNKNOWN if known == UNKNOWN else known * count
    return chunked(lambda: _Shuffled(source, size, seeds, count), total)


class _Random:
    """Numbers at random, without end."""

    def __init__(self, draws: Draws) -> None:
        self._draws = draws

    def next(self) -> Element | None:
        return (np.array(self._draws.next(), np.int64),)

    def state(self) -> State:
        return {"draws": [*self._draws.seeds, self._draws.used]}

    def restore(self, state: State) -> None:
        self._draws = Draws(*state["draws"])

    def close(self) -> None:
        pass


def random_numbers(seeds: SeedGenerator) -> Dataset:
    """The dataset of random numbers of 32 bits, without end."""
    return stepping(lambda: _Random(Draws(*seeds.seeds())), INFINITE)
