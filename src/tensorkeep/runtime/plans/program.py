"""Compiled plans, the functions that they use by name, errors that name the operation that failed, and times.

A compiled plan is a Python function with a line for each operation, so a run is timed by being told of each line. That
takes time itself, for operations of a few microseconds as much as these; the order and the shares are right.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from inspect import unwrap
from itertools import pairwise
from time import time_ns
from types import CodeType, FrameType, TracebackType
from typing import TYPE_CHECKING, Any, Final, NoReturn

import numpy as np

from tensorkeep.errors import InternalError, InvalidArgumentError, ResourceExhaustedError, TensorKeepError
from tensorkeep.graph.graph import Operation
from tensorkeep.io.machine.reused_memory import spare_memory_after_run

if TYPE_CHECKING:
    from tensorkeep.runtime.partitions.engines import Split

_WITHOUT_NUMBERS: Final = frozenset(("LookupTableFind", "LookupTableFindV2"))


@dataclass(frozen=True)
class OperationTime:
    """When an operation began and ended, in nanoseconds since 1970."""

    op: Operation
    began: int
    ended: int


def time_operations(
    function: Callable[..., Any], code: CodeType | None, lines: Mapping[int, Operation], values: tuple[Any, ...]
) -> tuple[Any, list[OperationTime]]:
    """What a compiled plan gives for values, and when its operations ran. Only this thread is looked at."""
    seen: list[tuple[int, int]] = []

    def on_line(frame: FrameType, event: str, argument: object) -> Any:
        seen.append((frame.f_lineno if event == "line" else 0, time_ns()))
        return on_line

    def on_call(frame: FrameType, event: str, argument: object) -> Any:
        return on_line(frame, "call", None) if frame.f_code is code else None

    before = sys.gettrace()
    sys.settrace(on_call)
    try:
        result = function(*values)
    finally:
        sys.settrace(before)
    seen.append((0, time_ns()))
    pairs = pairwise(seen)
    return result, [OperationTime(lines[line], began, ended) for (line, began), (_, ended) in pairs if line in lines]


class Program:
    """A compiled plan. Call it with the values of the feeds; it gives those of the fetches."""

    def __init__(
        self, function: Callable[..., Any], lines: dict[int, Operation], text: str = "", split: Split | None = None
    ) -> None:
        self.function = function
        """The compiled function: as calling the program, but for errors, which are those of kernels."""
        self._lines = lines
        self._code: CodeType | None = getattr(unwrap(function), "__code__", None)
        self.text = text
        self.split = split
        """Which parts of it an engine runs; None if none was asked."""
        self.runs_elsewhere = (
            split is not None and bool(split.parts) and all(kept.op.type in _WITHOUT_NUMBERS for kept in split.kept)
        )
        """Whether an engine runs all of it that computes with numbers, so that no kernel of ours gives warnings."""

    def __call__(self, *feeds: object) -> tuple[Any, ...]:
        try:
            return self.function(*feeds)  # type: ignore[no-any-return]
        except Exception as error:
            self.raise_explained(error)
        finally:
            spare_memory_after_run()

    def timed(self, *feeds: object) -> tuple[tuple[Any, ...], list[OperationTime]]:
        """The same, and when its operations ran."""
        try:
            return time_operations(self.function, self._code, self._lines, feeds)
        except Exception as error:
            self.raise_explained(error)
        finally:
            spare_memory_after_run()

    def raise_explained(self, error: Exception) -> NoReturn:
        """Raises an error of the function, as one that names the operation."""
        op = self._failed(error.__traceback__)
        if op is None:
            raise error
        raise explained_error(error, op) from error

    def _failed(self, traceback: TracebackType | None) -> Operation | None:
        """The operation of this program that raised an error, found by the innermost frame of the traceback that
        belongs to the program.
        """
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


def raise_no_value(index: int) -> None:
    """Raises the error for fetch number `index`, which has no value in this run. Compiled functions call it."""
    raise no_value(index)


_NOT_BROADCAST: Final = re.compile(r"operands could not be broadcast together with shapes \(([^)]*)\) \(([^)]*)\)")


def explained_error(error: Exception, op: Operation) -> TensorKeepError:
    """An exception of a kernel as one of our errors that names the operation; one that names it already as it is."""
    if isinstance(error, TensorKeepError):
        if getattr(error, "op", None) is None:
            error.op = op
            error.message = f"{error.message}\n\t [[node {op.name} ({op.type})]]"
            error.args = (error.message,)
        return error
    if isinstance(error, MemoryError | RecursionError):
        kind: type[TensorKeepError] = ResourceExhaustedError
    elif isinstance(error, ValueError | TypeError | IndexError | OverflowError | ZeroDivisionError):
        kind = InvalidArgumentError
    else:
        kind = InternalError
    found = kind(f"{_message(error)}\n\t [[node {op.name} ({op.type})]]")
    found.op = op
    return found


def _message(error: Exception) -> str:
    """What went wrong, in TensorFlow's words where NumPy's say less to its users."""
    text = str(error).strip()
    if shapes := _NOT_BROADCAST.match(text):
        first, second = (sizes.replace(" ", "").rstrip(",") for sizes in shapes.groups())
        return f"Incompatible shapes: [{first}] vs. [{second}]"
    return text or type(error).__name__


def no_value(index: int) -> InvalidArgumentError:
    """The error for a fetched tensor on the side of a branch that was not taken."""
    return InvalidArgumentError(f"Retval[{index}] does not have value")
