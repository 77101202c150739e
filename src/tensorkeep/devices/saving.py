"""Arrays of other libraries as tensors of a checkpoint, copied off their devices in pieces."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import prod
from typing import Any, Final, Literal, overload

import numpy as np

from tensorkeep._lazy import later
from tensorkeep.arrays import Array
from tensorkeep.checkpoint.background import Background, SaveHandle
from tensorkeep.checkpoint.saving import SaveOptions, save_checkpoint
from tensorkeep.checkpoint.sources import ArrayLike, ArraySource, PartitionedArray
from tensorkeep.devices.transfers import PIECE
from tensorkeep.errors import InvalidArgumentError, TensorKeepError
from tensorkeep.io.files.everywhere import FILES
from tensorkeep.io.files.filesystem import FileSystem, PathLike, path_text

__all__ = ["save_arrays"]

_JAX: Final = frozenset(("jax", "jaxlib"))
_jax_pieces = later("tensorkeep.devices.jax_arrays")

Saved = ArrayLike | ArraySource | PartitionedArray


@overload
def save_arrays(
    prefix: PathLike, arrays: Mapping[str, Saved], options: SaveOptions = ..., *, wait: Literal[True] = ...,
    fs: FileSystem = ...,
) -> str: ...  # fmt: skip
@overload
def save_arrays(
    prefix: PathLike, arrays: Mapping[str, Saved], options: SaveOptions = ..., *, wait: bool, fs: FileSystem = ...
) -> str | SaveHandle: ...
def save_arrays(
    prefix: PathLike,
    arrays: Mapping[str, Saved],
    options: SaveOptions = SaveOptions(),
    *,
    wait: bool = True,
    fs: FileSystem = FILES,
) -> str | SaveHandle:
    """Saves arrays of JAX, PyTorch, CuPy or NumPy under their names, as `save_checkpoint` does.

    What is on a device is copied off in pieces while others are written, so that little of it is in memory here at a
    time. With `wait=False` a handle is given at once, and the rest happens in the background: arrays of JAX, which
    never change, are then copied as it goes, and must not be donated before `handle.result()`; those of other libraries
    are copied first.
    """
    if not isinstance(arrays, Mapping):
        raise InvalidArgumentError(f"arrays: expected a mapping from names to arrays, got {type(arrays).__name__}")
    if wait:
        return save_checkpoint(prefix, {name: _source(name, array) for name, array in arrays.items()}, options, fs=fs)
    held = {name: _source(name, _snapshot_array(array)) for name, array in arrays.items()}
    handle = SaveHandle(path_text(prefix))

    def save() -> None:
        save_checkpoint(prefix, held, options, fs=fs)

    Background().start(handle, save)
    return handle


def _is_of_jax(array: object) -> bool:
    return type(array).__module__.partition(".")[0] in _JAX


def _snapshot_array(array: Saved) -> Saved:
    """An array that stays as it is while it is saved later."""
    if isinstance(array, ArraySource | PartitionedArray) or _is_of_jax(array):
        return array
    source = ArraySource.of(array)
    return ArraySource(source.dtype, source.shape, tuple(np.array(chunk) for chunk in source.chunks))


def _source(name: str, array: Saved) -> Saved:
    """What `save_checkpoint` writes: an array of another library as one whose pieces come when they are written."""
    if not hasattr(array, "__dlpack__") or isinstance(array, np.ndarray | ArraySource | PartitionedArray):
        return array
    foreign: Any = array
    shape = tuple(int(size) for size in foreign.shape)
    try:
        if _is_of_jax(array):
            _jax_pieces.require_here(array)
            return ArraySource(np.dtype(foreign.dtype), shape, _jax_pieces.JaxPieces(array, PIECE))
        if not shape or not prod(shape):
            return ArraySource.of(array)
        return ArraySource(ArraySource.of(foreign[:0]).dtype, shape, _Rows(foreign, shape))
    except TensorKeepError as error:
        raise type(error)(f'array "{name}": {error}') from None


class _Rows:
    """An array of another library, as arrays of NumPy: some rows at a time."""

    def __init__(self, array: Any, shape: tuple[int, ...]) -> None:
        self._array = array
        self._shape = shape

    def __iter__(self) -> Iterator[Array]:
        source = ArraySource.of(self._array[:1])
        rows = max(1, PIECE // max(source.nbytes, 1))
        for start in range(0, self._shape[0], rows):
            for chunk in ArraySource.of(self._array[start : start + rows]).chunks:
                yield np.asarray(chunk)
