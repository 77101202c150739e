"""Files: whole ones read and written, and names that match a pattern."""

from __future__ import annotations

import posixpath
from collections.abc import Sequence
from typing import Any

import numpy as np

from tensorkeep.errors import InvalidArgumentError
from tensorkeep.graph.graph import Tensor
from tensorkeep.graph.registry.opspec import op
from tensorkeep.io.files.filesystem import Durability, FileSystem, atomic_write
from tensorkeep.io.files.globbing import matching_paths
from tensorkeep.io.files.places import place_of
from tensorkeep.ops.shared.dimensions import at_most
from tensorkeep.ops.shared.kernel_types import Array, string_array
from tensorkeep.ops.shared.shape_rules import check_scalars
from tensorkeep.runtime.context import KernelContext
from tensorkeep.shapes import Shape


def _scalar(value: Any, what: str) -> bytes:
    array = np.asarray(value)
    if array.ndim:
        raise InvalidArgumentError(f"{what} tensor must be scalar, but had shape: {list(array.shape)}")
    text: bytes = array.item()
    return text


read_file = op("ReadFile(filename: string) -> contents: string")


@read_file.shape
def read_file_shape(filename: Tensor) -> Shape:
    check_scalars(filename)
    return Shape(())


@read_file.stateful_kernel
def read_file_kernel(ctx: KernelContext, filename: Array) -> Array:
    file = ctx.filesystem.open(_scalar(filename, "Input filename").decode())
    try:
        contents = bytes(file.read(0, file.size))
    finally:
        file.close()
    return string_array([contents], ())


write_file = op("WriteFile(filename: string, contents: string)", "stateful")


@write_file.shape
def write_file_shape(filename: Tensor, contents: Tensor) -> tuple[()]:
    check_scalars(filename, contents)
    return ()


@write_file.stateful_kernel
def write_file_kernel(ctx: KernelContext, filename: Array, contents: Array) -> tuple[()]:
    path = _scalar(filename, "Input filename").decode()
    data = _scalar(contents, "Contents")
    folder = posixpath.dirname(path)
    if folder:
        ctx.filesystem.make_directory(folder)
    atomic_write(ctx.filesystem, path, data, Durability.CACHE)
    return ()


matching_files = op("MatchingFiles(pattern: string) -> filenames: string")


@matching_files.shape
def matching_files_shape(pattern: Tensor) -> Shape:
    at_most(pattern.static_shape, 1)
    return Shape((None,))


@matching_files.stateful_kernel
def matching_files_kernel(ctx: KernelContext, pattern: Array) -> Array:
    array = np.asarray(pattern)
    if array.ndim > 1:
        raise InvalidArgumentError(
            f"Input patterns tensor must be scalar or vector, but had shape: {list(array.shape)}"
        )
    patterns = [item.decode() for item in array.reshape(-1).tolist()]
    found = sorted(path for item in patterns for path in _matches(ctx.filesystem, item))
    return string_array((path.encode() for path in found), (len(found),))


def _matches(filesystem: FileSystem, pattern: str) -> list[str]:
    def names_in(path: str) -> Sequence[str]:
        place = place_of(path)
        folder = "" if place == "." else place
        return filesystem.list(folder) if filesystem.is_directory(folder) else []

    return matching_paths(pattern, exists=lambda path: filesystem.exists(place_of(path)), names_in=names_in)
