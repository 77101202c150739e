"""How long each operation of a run takes: for traces of runs.

A compiled plan is a Python function with a line for each operation, so a run is timed by being told of each line. That
takes time itself, for operations of a few microseconds as much as these; the order and the shares are right.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import pairwise
from time import time_ns
from types import CodeType, FrameType
from typing import Any

from tensorkeep.graph.graph import Operation


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
