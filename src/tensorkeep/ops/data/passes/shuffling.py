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
from typing import Final, TypeAlias

import numpy as np
import numpy.typing as npt

from tensorkeep.arrays import Array
from tensorkeep.errors import InvalidArgumentError
from tensorkeep.native.streams import ring_draw
from tensorkeep.ops.data.passes.basics import INFINITE, UNKNOWN, Dataset, Pass, State, chunked_dataset, stepping
from tensorkeep.ops.data.passes.joining import begun
from tensorkeep.ops.data.passes.rows import Columns, Element, Rows, as_columns
from tensorkeep.ops.random.philox import PhiloxGenerator
from tensorkeep.runtime.limits import check_waiting

Numbers: TypeAlias = npt.NDArray[np.int64]

_NONE: Final[Numbers] = np.empty(0, np.int64)
_NO_WORDS: Final[npt.NDArray[np.uint32]] = np.empty(0, np.uint32)
_BLOCKS: Final = 256  # of four words, that are drawn at a time
_MOST_PASSES: Final = 3  # through the source, of which rows may be in the buffer before it is filled no more


class Draws:
    """Words of 32 bits, one after the other, for two seeds."""

    def __init__(self, seed: int, seed2: int, used: int = 0) -> None:
        self.seeds = (seed, seed2)
        self.used = used
        self._generator = PhiloxGenerator.of_seeds(seed, seed2)
        self._words = _NO_WORDS
        self._first = 0  # the number of the first of these words

    def next(self) -> int:
        at = self._place()
        self.used += 1
        return int(self._words[at])

    def some(self, most: int) -> npt.NDArray[np.uint32]:
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
            self._words = self._generator.words(_BLOCKS, block).reshape(-1)
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
        self._free = _NONE
        self._size = 0

    def put(self, rows: Rows) -> Numbers:
        """The numbers under which rows are kept."""
        places = self._places(len(rows))
        if not rows:
            return places
        columns = as_columns(rows) if self._columns is not None or not self._rows else None
        if columns is None or not self._takes(columns):
            self._as_rows()
            self._rows.update(zip(places.tolist(), rows, strict=True))
            return places
        assert self._columns is not None
        for array, column in zip(self._columns, columns.arrays, strict=True):
            array[places] = column
        return places

    def _places(self, count: int) -> Numbers:
        """As many numbers that are free: those that have been in use before, then others."""
        reused = min(count, len(self._free))
        kept = len(self._free) - reused
        places = np.empty(count, np.int64)
        places[:reused] = self._free[kept:]
        places[reused:] = np.arange(self._size, self._size + count - reused)
        self._free = self._free[:kept]
        self._size += count - reused
        return places

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
            free = set(self._free.tolist())
            held = [at for at in range(min(self._size, len(self._columns[0]))) if at not in free]
            self._rows = {at: tuple(array[at, ...].copy() for array in self._columns) for at in held}
            self._columns = None

    def get(self, places: Numbers) -> Rows:
        """The rows of these numbers, which stay."""
        if self._columns is None or not len(places):
            return [self._rows[place] for place in places.tolist()]
        return Columns([array[places] for array in self._columns], len(places))

    def drop(self, places: Numbers) -> None:
        """Forgets rows."""
        self._free = np.concatenate([self._free, places])
        if self._columns is None:
            for place in places.tolist():
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
        self._incoming = _NONE  # rows of the source that are not in the buffer so far
        self._store = _Store()
        self._buffer = _NONE  # as much of it as has been needed so far
        self._held = 0  # rows in the buffer
        self._slices: deque[_Slice] = deque()
        self._is_fruitless = True  # whether the source has given nothing so far
        self._draws = Draws(*seeds.seeds())
        self._error: Exception | None = None  # of the source, that waits until the rows before it are given

    def more(self, most: int) -> Rows:
        if self._error is not None:
            error, self._error = self._error, None
            raise error
        drawn: list[Numbers] = []
        count = 0
        while count < most:
            try:
                self._fill(most - count)
            except Exception as error:
                if not count:
                    raise
                self._error = error
                break
            if not self._held:
                break
            drawn.append(self._drawn(most - count))
            count += len(drawn[-1])
        return self._out(drawn[0] if len(drawn) == 1 else np.concatenate([_NONE, *drawn]))

    def _out(self, drawn: Numbers) -> Rows:
        rows = self._store.get(drawn)
        self._store.drop(drawn)
        return rows

    def _drawn(self, most: int) -> Numbers:
        """The numbers of some of the next rows, at random from the pass that comes first.

        While there are rows that come in, one takes the place of each that goes out. Without them only one is drawn:
        the source may have more to fill the buffer with, unless it is known that it has not.
        """
        first = self._slices[0]
        while first.start == first.end and first.is_over:
            self._slices.popleft()
            first = self._slices[0]
            self._draws = Draws(*self._seeds.seeds())
        last = self._slices[-1]
        if self._held == self._size:
            count = min(most, 1 + len(self._incoming))
        else:
            count = most if self._begun == self._count and self._current is None else 1
        if first is not last or self._held < self._size:
            count = min(count, first.end - first.start)
        words = self._draws.some(count)
        coming = self._incoming[: len(words)]
        drawn = ring_draw(self._buffer, self._size, (first.start, first.end, last.end), coming, words)
        self._incoming = self._incoming[len(coming) :]
        first.start += len(words)
        last.end += len(coming)
        self._held += len(coming) - len(words)
        return drawn

    # ------------------------------------------------------------------------------------------------ filling

    def _fill(self, wanted: int) -> None:
        """Fills the buffer. `wanted` is how many rows will be drawn, each of which makes room for another one."""
        while self._held < self._size:
            if len(self._incoming):
                self._add(self._incoming[: self._size - self._held])
                continue
            if self._current is None and not self._is_next_begun():
                return
            assert self._current is not None
            rows = self._current.take(self._size - self._held + wanted - 1)
            if rows:
                self._incoming = self._store.put(rows)
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

    def _add(self, rows: Numbers) -> None:
        """Puts the first of the rows that come in, for which there is room, into the buffer."""
        self._is_fruitless = False
        last = self._slices[-1]
        end = last.end + len(rows)
        if len(self._buffer) < min(end, self._size):
            grown = np.empty(min(max(end, 2 * len(self._buffer)), self._size), np.int64)
            grown[: len(self._buffer)] = self._buffer
            self._buffer = grown
        self._buffer[np.arange(last.end, end) % self._size] = rows
        last.end = end
        self._held += len(rows)
        self._incoming = self._incoming[len(rows) :]

    # -------------------------------------------------------------------------------------------------- state

    def state(self) -> State:
        slices = [[item.start, item.end, int(item.is_over)] for item in self._slices]
        return {
            "source": None if self._current is None else self._current.state(),
            "rows": list(self._store.get(self._buffer[self._held_places()])),
            "incoming": list(self._store.get(self._incoming)),
            "slices": slices,
            "passes": [self._begun, self._count],
            "draws": [*self._draws.seeds, self._draws.used],
            "seeds": self._seeds.state(),
            "fruitless": self._is_fruitless,
        }

    def _held_places(self) -> Numbers:
        """Where the rows of all passes are in the buffer, in their order."""
        return np.concatenate([_NONE, *(np.arange(item.start, item.end) for item in self._slices)]) % self._size

    def restore(self, state: State) -> None:
        self._current = begun(self._source, state["source"])
        self._store = _Store()
        self._slices = deque(_Slice(start, end, bool(over)) for start, end, over in state["slices"])
        ends = [item.end for item in self._slices]
        self._buffer = np.empty(min(self._size, max(ends, default=0)), np.int64)
        self._buffer[self._held_places()] = self._store.put(state["rows"])
        self._held = len(state["rows"])
        self._incoming = self._store.put(state["incoming"])
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


def shuffle_elements(source: Dataset, size: int, seeds: SeedGenerator, count: int = 1) -> Dataset:
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
    return chunked_dataset(lambda: _Shuffled(source, size, seeds, count), total)


class _Random:
    """Numbers at random, without end."""

    def __init__(self, seeds: SeedGenerator) -> None:
        self._seeds = seeds
        self._draws = Draws(*seeds.seeds())

    def next(self) -> Element | None:
        check_waiting()
        return (np.array(self._draws.next(), np.int64),)

    def state(self) -> State:
        return {"draws": [*self._draws.seeds, self._draws.used], "seeds": self._seeds.state()}

    def restore(self, state: State) -> None:
        self._draws = Draws(*state["draws"])
        if "seeds" in state:  # states that were written before passes could differ have none
            self._seeds.restore(state["seeds"])

    def close(self) -> None:
        pass


def random_numbers(seeds: SeedGenerator) -> Dataset:
    """The dataset of random numbers of 32 bits, without end."""
    return stepping(lambda: _Random(seeds), INFINITE)
