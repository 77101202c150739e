"""Reading and writing files from a graph."""

from __future__ import annotations

from tensorkeep.graph.arguments import TensorLike, emit, emit_operation
from tensorkeep.graph.graph import Operation, Tensor
from tensorkeep.ops.files import whole_files as file_ops


def read_file(filename: TensorLike, name: str | None = None) -> Tensor:
    """The contents of a file."""
    return emit(file_ops.read_file, filename, name=name)


def write_file(filename: TensorLike, contents: TensorLike, name: str | None = None) -> Operation:
    """An operation that writes a file, and the folders it lies in."""
    return emit_operation(file_ops.write_file, filename, contents, name=name)


def matching_files(pattern: TensorLike, name: str | None = None) -> Tensor:
    """The names of the files that match one of the patterns."""
    return emit(file_ops.matching_files, pattern, name=name)


__all__ = ["matching_files", "read_file", "write_file"]
