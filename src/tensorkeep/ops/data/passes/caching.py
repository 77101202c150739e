"""Passes that keep elements for the next pass, in memory or in a file.

A file is a checkpoint of TensorFlow's, with the tensors of each element under numbers that sort:

    name = element (7 places, filled up with spaces) "_" component (as many places as the last one takes)

It is written under its name once the first pass has ended; a pass that is given up leaves nothing.
"""

from __future__ import annotations

from threading import Lock
from typing import Any, Final

import numpy as np

from tensorkeep.checkpoint.bundle.writer import BundleWriter
from tensorkeep.checkpoint.finding.opening import open_checkpoint
from tensorkeep.checkpoint.reader import CheckpointReader
from tensorkeep.errors import InvalidArgumentError
from tensorkeep.io.files.filesystem import FileSystem
from tensorkeep.ops.data.passes.basics import Dataset, Pass, State, chunked_dataset
from tensorkeep.ops.data.passes.joining import begun
from tensorkeep.ops.data.passes.rows import Element, Rows
from tensorkeep.ops.data.passes.stored_variants import component_of_stored, stored_component

_ELEMENT_PLACES: Final = 7
_MOST: Final = 10**_ELEMENT_PLACES


class MemoryCache:
    """The elements of a dataset, once a pass has gone through all of them."""

    def __init__(self) -> None:
        self.lock = Lock()
        self.rows: list[Element] | None = None


class _Remembering:
    """A pass that keeps what it gives, or gives what another one has kept."""

    def __init__(self, source: Dataset, cache: MemoryCache) -> None:
        self._source = source
        self._cache = cache
        self._rows = cache.rows
        self._current: Pass | None = source.begin() if self._rows is None else None
        self._kept: list[Element] = []
        self._at = 0

    def more(self, most: int) -> Rows:
        if self._rows is not None:
            found: Rows = self._rows[self._at : self._at + most]
            self._at += len(found)
            return found
        assert self._current is not None
        rows = self._current.take(most)
        self._kept.extend(tuple(map(_own, row)) for row in rows)
        self._at += len(rows)
        if not rows:
            self._current.close()
            with self._cache.lock:
                self._cache.rows = self._rows = self._kept
        return rows

    def state(self) -> State:
        if self._rows is not None:
            return {"at": self._at, "rows": self._rows, "source": None}
        assert self._current is not None
        return {"at": self._at, "rows": self._kept, "source": self._current.state()}

    def restore(self, state: State) -> None:
        self._at = state["at"]
        self._current = begun(self._source, state["source"])
        self._kept = list(state["rows"])
        self._rows = None
        if self._current is None:
            with self._cache.lock:
                self._cache.rows = self._rows = self._kept

    def close(self) -> None:
        if self._current is not None:
            self._current.close()


def _own(component: Any) -> Any:
    """A component that does not hold on to the rows that it is one of."""
    return component.copy() if isinstance(component, np.ndarray) and component.base is not None else component


def remember_elements(source: Dataset, cache: MemoryCache) -> Dataset:
    """A dataset that is gone through once; later passes take its elements from memory."""
    return chunked_dataset(lambda: _Remembering(source, cache), source.cardinality)


class _Writing:
    """A pass that writes what it gives to a file."""

    def __init__(self, source: Pass, fs: FileSystem, path: str, count: int) -> None:
        self._source = source
        self._writer = BundleWriter(path, fs=fs)
        self._writer.__enter__()
        self._is_open = True
        self._count = count
        self._at = 0

    def more(self, most: int) -> Rows:
        if not self._is_open:
            return []
        rows = self._source.take(most)
        for row in rows:
            for place, component in enumerate(row):
                self._writer.add(_name(self._at, place, self._count), stored_component(component))
            self._at += 1
        if not rows:
            self._is_open = False
            self._writer.__exit__(None, None, None)
        return rows

    def state(self) -> State:
        return {"source": self._source.state()}

    def restore(self, state: State) -> None:
        raise InvalidArgumentError(
            "an iterator over a dataset that is being cached in a file cannot go on in the middle: the file was not "
            "complete when the iterator was saved. Go through the data once before saving, or cache in memory"
        )

    def close(self) -> None:
        self._source.close()
        if self._is_open:
            self._is_open = False
            error = InvalidArgumentError("the pass was given up")
            self._writer.__exit__(type(error), error, None)


class _Reading:
    """A pass through the elements in a file."""

    def __init__(self, fs: FileSystem, path: str, count: int) -> None:
        self._reader: CheckpointReader = open_checkpoint(path, fs=fs)
        self._count = count
        self._size = len(self._reader) // count
        self._at = 0

    def more(self, most: int) -> Rows:
        stop = min(self._at + most, self._size)
        names = [[_name(at, place, self._count) for place in range(self._count)] for at in range(self._at, stop)]
        self._at = stop
        return [tuple(component_of_stored(self._reader.read(name)) for name in row) for row in names]

    def state(self) -> State:
        return {"at": self._at}

    def restore(self, state: State) -> None:
        if "at" not in state:
            raise InvalidArgumentError(
                "the file of a cached dataset is complete, and was not when the iterator was saved"
            )
        self._at = state["at"]

    def close(self) -> None:
        self._reader.close()


def _name(element: int, component: int, count: int) -> str:
    if element >= _MOST:
        raise InvalidArgumentError(f"a file caches {_MOST} elements at most")
    return f"{element:>{_ELEMENT_PLACES}}_{component:>{len(str(count - 1))}}"


def store_elements(source: Dataset, fs: FileSystem, path: str, count: int) -> Dataset:
    """A dataset of `count` components that is gone through once; later passes take its elements from a file."""

    def begin() -> Any:
        if fs.exists(f"{path}.index"):
            return _Reading(fs, path, count)
        return _Writing(source.begin(), fs, path, count)

    return chunked_dataset(begin, source.cardinality)
