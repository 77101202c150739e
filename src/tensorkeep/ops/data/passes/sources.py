"""Passes through what needs no other dataset: rows in memory, ranges of numbers, results of functions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tensorkeep.arrays import Array
from tensorkeep.errors import OutOfRangeError, UnimplementedError
from tensorkeep.ops.data.passes.basics import INFINITE, Dataset, State, stepping
from tensorkeep.ops.data.passes.rows import Columns, Element, Rows
from tensorkeep.runtime.limits import check_waiting, count_steps


class _ListedRows:
    """Rows that are all there."""

    def __init__(self, rows: Rows) -> None:
        self._rows = rows
        self._at = 0

    def take(self, most: int) -> Rows:
        found = self._rows[self._at : self._at + most]
        self._at += len(found)
        return found

    def state(self) -> State:
        return {"at": self._at}

    def restore(self, state: State) -> None:
        self._at = state["at"]

    def close(self) -> None:
        pass


def dataset_of_rows(rows: Rows) -> Dataset:
    """The dataset of these rows."""
    return Dataset(lambda: _ListedRows(rows), len(rows), rows)


class _Numbers:
    """Numbers at equal distances."""

    def __init__(self, numbers: range, dtype: np.dtype[Any]) -> None:
        self._numbers = numbers
        self._dtype = dtype
        self._at = 0

    def take(self, most: int) -> Rows:
        part = self._numbers[self._at : self._at + most]
        count_steps(len(part))
        self._at += len(part)
        return Columns([_as_array(part, self._dtype)], len(part)) if part else []

    def state(self) -> State:
        return {"at": self._at}

    def restore(self, state: State) -> None:
        self._at = state["at"]

    def close(self) -> None:
        pass


def _as_array(numbers: range, dtype: np.dtype[Any]) -> Array:
    if min(numbers[0], numbers[-1]) >= -(1 << 63) and max(numbers[0], numbers[-1]) < 1 << 63:
        return np.fromiter(numbers, np.int64, len(numbers)).astype(dtype)
    return np.array(list(numbers), dtype)


def range_of(numbers: range, dtype: np.dtype[Any]) -> Dataset:
    """The dataset of a range."""
    try:
        count = len(numbers)
    except OverflowError:
        count = INFINITE
    return Dataset(lambda: _Numbers(numbers, dtype), count)


class _Generated:
    """The elements that `advance` makes of a state, again and again, until it raises OutOfRangeError; then `finish` is
    told.
    """

    def __init__(
        self,
        begin: Callable[[], Sequence[Any]],
        advance: Callable[..., Sequence[Any]],
        finish: Callable[..., Sequence[Any]],
    ) -> None:
        self._begin = begin
        self._advance = advance
        self._finish = finish
        self._state: Sequence[Any] | None = None
        self._is_over = False

    def next(self) -> Element | None:
        if self._is_over:
            return None
        if self._state is None:
            self._state = self._begin()
        check_waiting()
        try:
            return tuple(self._advance(*self._state))
        except OutOfRangeError:
            self.close()
            return None

    def state(self) -> State:
        if self._is_over:
            return {"over": True}
        raise UnimplementedError(
            "GeneratorDataset does not support checkpointing: how far a Python generator has come cannot be stored. "
            "Save iterators over files or tensors, or leave this one out of the saver"
        )

    def restore(self, state: State) -> None:
        self._is_over = bool(state["over"])

    def close(self) -> None:
        if self._state is not None and not self._is_over:
            self._is_over = True
            self._finish(*self._state)
        self._is_over = True


def generate_elements(
    begin: Callable[[], Sequence[Any]],
    advance: Callable[..., Sequence[Any]],
    finish: Callable[..., Sequence[Any]],
) -> Dataset:
    """The dataset of the elements that `advance` makes of the state that `begin` gives, again and again until it raises
    OutOfRangeError; `finish` is called with the state in the end.
    """
    return stepping(lambda: _Generated(begin, advance, finish))
