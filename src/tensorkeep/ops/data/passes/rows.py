"""Elements of datasets, and many of them at once as columns.

An element is a tuple of components. Rows are elements one after the other: a list of tuples, or `Columns`, which hold
each component of all rows in one array. So what goes over many elements costs one step of Python and not one for each.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeAlias, overload

import numpy as np

from tensorkeep.arrays import Array
from tensorkeep.errors import InvalidArgumentError
from tensorkeep.shapes import bracketed_shape

Element: TypeAlias = tuple[Any, ...]


class Columns(Sequence[Element]):
    """Elements as one array for each component, along whose first dimension they lie."""

    __slots__ = ("_count", "arrays")

    def __init__(self, arrays: Sequence[Array], count: int | None = None) -> None:
        self.arrays = tuple(arrays)
        self._count = len(self.arrays[0]) if count is None else count

    def __len__(self) -> int:
        return self._count

    @overload
    def __getitem__(self, index: int) -> Element: ...

    @overload
    def __getitem__(self, index: slice) -> Columns: ...

    def __getitem__(self, index: int | slice) -> Element | Columns:
        if isinstance(index, slice):
            start, stop, step = index.indices(self._count)
            return Columns([array[index] for array in self.arrays], len(range(start, stop, step)))
        if not -self._count <= index < self._count:
            raise IndexError(index)
        return tuple([array[index, ...] for array in self.arrays])

    def __iter__(self) -> Iterator[Element]:
        arrays = self.arrays
        for index in range(self._count):
            yield tuple([array[index, ...] for array in arrays])

    def is_like(self, other: Columns) -> bool:
        """Whether rows of both can lie in one array for each component."""
        pairs = zip(self.arrays, other.arrays, strict=True)
        return all(mine.dtype == theirs.dtype and mine.shape[1:] == theirs.shape[1:] for mine, theirs in pairs)


Rows: TypeAlias = Sequence[Element]


def joined_rows(parts: Sequence[Rows]) -> Rows:
    """Rows that follow each other, as one sequence."""
    filled = [part for part in parts if len(part)]
    if not filled:
        return []
    first = filled[0]
    if len(filled) == 1:
        return first
    if isinstance(first, Columns) and all(isinstance(part, Columns) and part.is_like(first) for part in filled):
        columns: list[Any] = filled
        arrays = zip(*(part.arrays for part in columns), strict=True)
        return Columns([np.concatenate(pieces) for pieces in arrays], sum(map(len, filled)))
    return [row for part in filled for row in part]


def stacked_component(components: Sequence[Any], place: int) -> Array:
    """One component of several elements as an array with one more dimension. All must have the same shape."""
    arrays = [item if isinstance(item, np.ndarray) else as_component(item) for item in components]
    shape = arrays[0].shape
    for number, array in enumerate(arrays):
        if array.shape != shape:
            raise InvalidArgumentError(
                f"Cannot batch tensors with different shapes in component {place}. First element had shape "
                f"{bracketed_shape(shape)} and element {number} had shape {bracketed_shape(array.shape)}."
            )
    found = np.empty((len(arrays), *shape), arrays[0].dtype)
    for number, array in enumerate(arrays):
        found[number] = array[()]
    return found


def as_component(value: object) -> Array:
    """A component as an array: numbers and texts as arrays without dimensions, whatever else as one object."""
    found = np.asarray(value) if isinstance(value, np.generic | np.ndarray | int | float) else None
    if found is None or found.dtype.kind in "SU":
        found = np.empty((), object)
        found[()] = value
    return found


def stacked_rows(rows: Rows, stack: Callable[[Sequence[Any], int], Array] = stacked_component) -> tuple[Array, ...]:
    """Rows as one array for each component."""
    if isinstance(rows, Columns) and stack is stacked_component:
        return rows.arrays
    return tuple([stack(column, place) for place, column in enumerate(zip(*rows, strict=True))])


def as_columns(rows: Rows) -> Columns | None:
    """The same rows as columns; None if their shapes do not allow it."""
    if isinstance(rows, Columns):
        return rows
    try:
        return Columns(stacked_rows(rows), len(rows))
    except InvalidArgumentError:
        return None
