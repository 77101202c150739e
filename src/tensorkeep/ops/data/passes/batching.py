"""Passes that put elements together into batches, and take batches apart."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tensorkeep.arrays import Array
from tensorkeep.errors import DataLossError, InvalidArgumentError
from tensorkeep.ops.data.passes.basics import Dataset, Pass, State, chunked_over, next_of, stepping_over
from tensorkeep.ops.data.passes.rows import Columns, Element, Rows, as_component, joined_rows, stacked_rows
from tensorkeep.runtime.limits import check_allocation

Stacking = Callable[[Rows], Element]
"""Makes one element of several."""


class _Batched:
    """So many elements of a pass as one. With `spends`, an element that fails has the others of its batch go too."""

    def __init__(self, source: Pass, size: int, drops: bool, stack: Stacking, spends: bool) -> None:
        self._source = source
        self._size = size
        self._drops = drops
        self._stack = stack
        self._spends = spends
        self._begun: Rows = []  # rows of a batch that is not complete

    def more(self, most: int) -> Rows:
        begun, self._begun = self._begun, []
        wanted = most * self._size
        rows = joined_rows([begun, self._taken(wanted - len(begun), len(begun))])
        whole = len(rows) // self._size
        if whole:
            self._begun = rows[whole * self._size :]
            return [self._stack(rows[at * self._size : (at + 1) * self._size]) for at in range(whole)]
        if not rows:
            return []
        # Fewer than a batch: the end, which the next call confirms, or an error, with which the rows before it go.
        rest = self._taken(self._size - len(rows), len(rows))
        if rest:
            self._begun = joined_rows([rows, rest])
            return self.more(most)
        return [] if self._drops else [self._stack(rows)]

    def _taken(self, count: int, before: int) -> Rows:
        """Rows for a batch that has some already; what is left of that batch is passed over if the first one fails."""
        try:
            return self._source.take(count)
        except Exception:
            if self._spends:
                self._pass_over(self._size - before - 1)
            raise

    def _pass_over(self, count: int) -> None:
        while count > 0:
            try:
                found = len(self._source.take(count))
            except Exception:  # one of those that are passed over
                found = 1
            if not found:
                break
            count -= found

    def place(self) -> State:
        return {"begun": list(self._begun)}

    def go_to(self, place: State) -> None:
        self._begun = place["begun"]


def batch_elements(
    source: Dataset, size: int, drops: bool, stack: Stacking = stacked_rows, *, spends: bool = False
) -> Dataset:
    """The dataset of batches of `size` elements of another, made one by `stack`. The last batch may be smaller; with
    `drops`, it is left out then. With an element that fails go those before it in its batch; with `spends`, all of it.
    """
    if size < 1:
        raise InvalidArgumentError("Batch size must be greater than zero.")
    known = source.cardinality
    count = known if known < 0 else known // size + (0 if drops else known % size > 0)
    return chunked_over(source, lambda rows: _Batched(rows, size, drops, stack, spends), count)


def padding(shapes: Sequence[Sequence[int]], values: Sequence[Any]) -> Stacking:
    """How elements of different sizes become one: each component is filled up with its value."""

    def stack(rows: Rows) -> Element:
        if isinstance(rows, Columns):
            return tuple(map(_filled_up, rows.arrays, shapes, values, range(len(shapes))))
        columns = enumerate(zip(*rows, strict=True))
        return tuple(
            _padded_batch([as_array(item) for item in column], shapes[at], values[at], at) for at, column in columns
        )

    return stack


def as_array(item: object) -> Array:
    """A component as an array."""
    return item if isinstance(item, np.ndarray) else as_component(item)


def _filled_up(array: Array, told: Sequence[int], value: Any, place: int) -> Array:
    """A column of elements that are of one size already."""
    wanted = tuple(n if size < 0 else size for n, size in zip(array.shape[1:], told, strict=False))
    if len(told) == array.ndim - 1 and array.shape[1:] == wanted:
        return array
    return _padded_batch([array[i, ...] for i in range(len(array))], told, value, place)


def _padded_batch(arrays: Sequence[Array], told: Sequence[int], value: Any, place: int) -> Array:
    """Arrays of one rank in a batch, each filled up to what is told, or to the largest of them where that is -1."""
    if any(array.ndim != len(told) for array in arrays):
        raise InvalidArgumentError(
            "All elements in a batch must have the same rank as the padded shape for component"
            f"{place}: expected rank {len(told)} but got element with rank "
            f"{next(array.ndim for array in arrays if array.ndim != len(told))}"
        )
    largest = [max(sizes) for sizes in zip(*(array.shape for array in arrays), strict=True)]
    dims = [most if size < 0 else size for size, most in zip(told, largest, strict=True)]
    if any(most > size for size, most in zip(dims, largest, strict=True)):
        raise DataLossError(
            f"Attempted to pad to a smaller size than the input element: component {place} has shape {largest}, "
            f"padded to {dims}"
        )
    check_allocation((len(arrays), *dims), arrays[0].dtype)
    out = np.full((len(arrays), *dims), np.asarray(value)[()], arrays[0].dtype)
    for number, array in enumerate(arrays):
        corner: tuple[slice, ...] = tuple(map(slice, array.shape))
        out[number, ...][corner] = array
    return out


class _Unbatched:
    """The rows that the elements of a pass are made of."""

    def __init__(self, source: Pass) -> None:
        self._source = source
        self._rows: Rows = []
        self._at = 0

    def more(self, most: int) -> Rows:
        while self._at >= len(self._rows):
            element = next_of(self._source)
            if element is None:
                return []
            self._rows, self._at = sliced_rows(element), 0
        found = self._rows[self._at : self._at + most]
        self._at += len(found)
        return found

    def place(self) -> State:
        return {"rows": list(self._rows[self._at :])}

    def go_to(self, place: State) -> None:
        self._rows, self._at = place["rows"], 0


def sliced_rows(components: Sequence[Any]) -> Rows:
    """The rows of components along their first dimension, which must be of one size."""
    arrays = [component if isinstance(component, np.ndarray) else np.asarray(component) for component in components]
    if not all(array.ndim for array in arrays):
        raise InvalidArgumentError("All components must be at least 1-dimensional")
    if len({len(array) for array in arrays}) > 1:
        raise InvalidArgumentError("All components must have the same size in the 0th dimension")
    return Columns(arrays)


def unbatch_elements(source: Dataset) -> Dataset:
    """The rows that the elements of a dataset are made of."""
    return chunked_over(source, _Unbatched)


class _Rebatched:
    """Batches of other sizes, which take turns, of the rows of batches."""

    def __init__(self, source: Pass, sizes: Sequence[int], drops: bool) -> None:
        self._source = source
        self._sizes = sizes
        self._drops = drops
        self._turn = 0

    def next(self) -> Element | None:
        size = self._sizes[self._turn]
        rows = self._source.take(size) if size else []
        if size and not rows:
            return None
        if len(rows) < size:
            rows = joined_rows([rows, self._source.take(size - len(rows))])
        if len(rows) < size and self._drops:
            return None
        self._turn = (self._turn + 1) % len(self._sizes)
        return tuple(stacked_rows(rows)) if rows else ()

    def place(self) -> State:
        return {"turn": self._turn}

    def go_to(self, place: State) -> None:
        self._turn = place["turn"]


def rebatch_elements(source: Dataset, sizes: Sequence[int], drops: bool) -> Dataset:
    """The dataset of the rows of batches in other batches, of these sizes in turn. With `drops`, a last batch that is
    too small is left out.
    """
    if not sizes or any(size < 1 for size in sizes):
        raise InvalidArgumentError("Batch sizes must be greater than zero.")
    return stepping_over(unbatch_elements(source), lambda rows: _Rebatched(rows, sizes, drops))
