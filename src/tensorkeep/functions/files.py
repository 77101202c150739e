"""Reading and writing files from a graph."""

from __future__ import annotations

from typing import Any

from tensorkeep.graph.graph import Operation, Tensor
from tensorkeep.graph.opspec import get_op


def read_file(filename: Any, name: str | None = None) -> Tensor:
    """The contents of a file."""
    return get_op("ReadFile")(filename, name=name)  # type: ignore[no-any-return]


def write_file(filename: Any, contents: Any, name: str | None = None) -> Operation:
    """An operation that writes a file, and the folders it lies in."""
    return get_op("WriteFile")(filename, contents, name=name)  # type: ignore[no-any-return]


def matching_files(pattern: Any, name: str | None = None) -> Tensor:
    """The names of the files that match one of the patterns."""
    return get_op("MatchingFiles")(pattern, name=name)  # type: ignore[no-any-return]


__all__ = ["matching_files", "read_file", "write_file"]
