"""Compiled plans, and the functions that they use by name."""

from __future__ import annotations

from collections.abc import Callable
from types import CodeType, TracebackType
from typing import Any

import numpy as np

from tensorkeep.graph.graph import Operation
from tensorkeep.runtime.failures import explained, no_value


class Program:
    """A compiled plan. Call it with the values of the feeds; it gives those of the fetches."""

    def __init__(self, function: Callable[..., Any], lines: dict[int, Operation], text: str = "") -> None:
        self._function = function
        self._lines = lines
        self._code: CodeType | None = getattr(function, "__code__", None)
        self.text = text

    def __call__(self, *feeds: Any) -> tuple[Any, ...]:
        try:
            return self._function(*feeds)  # type: ignore[no-any-return]
        except Exception as error:
            op = self._failed(error.__traceback__)
            if op is None:
                raise
            raise explained(error, op) from error

    def _failed(self, traceback: TracebackType | None) -> Operation | None:
        """The operation of this program, of the innermost call of it, that raised."""
        found = None
        while traceback is not None:
            if traceback.tb_frame.f_code is self._code:
                found = self._lines.get(traceback.tb_lineno)
            traceback = traceback.tb_next
        return found


def as_strings(value: Any) -> Any:
    """String values as arrays of bytes objects, which NumPy gives up whenever a result is a scalar."""
    if isinstance(value, np.ndarray) and value.dtype == object:
        return value
    if isinstance(value, tuple):
        return tuple(map(as_strings, value))
    if isinstance(value, list):
        return list(map(as_strings, value))
    if isinstance(value, bytes):
        array = np.empty((), object)
        array[()] = value
        return array
    return value


def dead(index: int) -> None:
    """Fails for a fetch that has no value."""
    raise no_value(index)
