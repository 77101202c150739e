"""Tensors where they lie: in a stretch of a file, row-major or with strides, or in memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np
import numpy.typing as npt

from tensorkeep.arrays import Array
from tensorkeep.checkpoint.bundle.codec import CHUNK, check_shape
from tensorkeep.checkpoint.reader import TensorInfo
from tensorkeep.checkpoint.slices.regions import read_box
from tensorkeep.checkpoint.slices.tensor_slice import Box, box_shape
from tensorkeep.convert.hub import VALID, StoredArray
from tensorkeep.dtypes import DType
from tensorkeep.errors import DataLossError
from tensorkeep.io.files.filesystem import RandomAccessFile
from tensorkeep.shapes import element_count

_TILE: Final = 16  # rows: as many as a line of the cache has numbers
_LARGEST: Final = 16 << 20  # bytes of a chunk that has to be gathered


def rotating_memory(size: int) -> Callable[[int, int], npt.NDArray[np.uint8]]:
    """A function that gives memory for the next chunk of at most so many bytes: called with where the chunk begins and
    how many bytes are left.

    It is used again and again, for new memory costs as much as reading does: what was given stays valid until `VALID`
    more have been asked for.
    """
    memory = np.empty(min(size, (VALID + 1) * CHUNK), np.uint8)
    places = max(len(memory) // CHUNK, 1)

    def room(at: int, left: int) -> npt.NDArray[np.uint8]:
        start = at // CHUNK % places * CHUNK
        return memory[start : start + min(CHUNK, left)]

    return room


def stretches(file: RandomAccessFile, offset: int, size: int) -> Iterator[npt.NDArray[np.uint8]]:
    """The bytes of a stretch of a file, some at a time, in `rotating_memory`."""
    room = rotating_memory(size)
    for at in range(0, size, CHUNK):
        data = room(at, size - at)
        file.read_into(offset + at, data.data)
        yield data


@dataclass(frozen=True)
class FileArray:
    """A numeric tensor in a stretch of a file, row-major."""

    file: RandomAccessFile
    offset: int
    dtype: DType
    shape: tuple[int, ...]
    order: str = "<"
    """The order of the bytes of an element: "<" or ">"."""

    @property
    def info(self) -> TensorInfo:
        return TensorInfo(self.dtype, self.shape)

    def read(self, box: Box) -> Array:
        # Raw bytes: NumPy's own types for text and dates, and those of ml_dtypes, are not equal in all it can do.
        return self._native(read_box(self.file, self.offset, self.shape, box, np.dtype(f"V{self.dtype.itemsize}")))

    def chunks(self) -> Iterator[Array]:
        size = element_count(self.shape) * self.dtype.itemsize
        for data in stretches(self.file, self.offset, size):
            yield self._native(data)

    def _native(self, array: Array) -> Array:
        if self.order == "<" or self.dtype.itemsize == 1:
            return array.view(self.dtype.array_dtype)
        width = self.dtype.itemsize // 2 if self.dtype.is_complex else self.dtype.itemsize
        return array.view(f"u{width}").byteswap().view(self.dtype.array_dtype)


@dataclass(frozen=True)
class StridedArray:
    """A numeric tensor whose elements lie in a stretch of a file at distances: a view of a larger array.

    `base` is that stretch as an array of one dimension. Strides count elements, and are not negative.
    """

    base: FileArray
    start: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]

    @property
    def info(self) -> TensorInfo:
        return TensorInfo(self.base.dtype, self.shape)

    def read(self, box: Box) -> Array:
        shape = box_shape(box)
        if 0 in shape:
            return np.empty(shape, self.base.dtype.array_dtype)
        first = self.start + sum(begin * stride for (begin, _), stride in zip(box, self.strides, strict=True))
        reach = sum((size - 1) * stride for size, stride in zip(shape, self.strides, strict=True))
        flat = self.base.read(((first, first + reach + 1),))
        steps = tuple(stride * flat.itemsize for stride in self.strides)
        return np.ascontiguousarray(np.lib.stride_tricks.as_strided(flat, shape, steps, writeable=False))

    def chunks(self) -> Iterator[Array]:
        return (self.read(box) for box in boxes(self.shape, _LARGEST // self.base.dtype.itemsize))


@dataclass(frozen=True)
class PermutedArray:
    """A tensor that is another one with its axes in another order: axis `i` is axis `axes[i]` of `base`."""

    base: StoredArray
    axes: tuple[int, ...]

    @property
    def info(self) -> TensorInfo:
        stored = self.base.info
        return TensorInfo(stored.dtype, tuple(stored.shape[axis] for axis in self.axes))

    def read(self, box: Box) -> Array:
        stored: list[tuple[int, int]] = [(0, 0)] * len(box)
        for axis, extent in zip(self.axes, box, strict=True):
            stored[axis] = extent
        return transposed_copy(self.base.read(tuple(stored)), self.axes)

    def chunks(self) -> Iterator[Array]:
        info = self.info
        return (self.read(box) for box in boxes(info.shape, _LARGEST // info.dtype.itemsize))


@dataclass(frozen=True)
class MemoryArray:
    """A tensor in memory."""

    array: Array
    dtype: DType

    @cached_property
    def info(self) -> TensorInfo:
        return TensorInfo(self.dtype, self.array.shape)

    def read(self, box: Box) -> Array:
        found: Array = self.array[tuple(slice(start, stop) for start, stop in box)]
        return found

    def chunks(self) -> Iterator[Array]:
        yield self.array


def transposed_copy(array: Array, axes: tuple[int, ...]) -> Array:
    """A copy with the axes in another order; of a matrix some rows at a time, so that these stay in the cache."""
    if axes != (1, 0) or array.dtype.hasobject:
        return np.ascontiguousarray(array.transpose(axes))
    out = np.empty(array.shape[::-1], array.dtype)
    plain = array.itemsize in (1, 2, 4, 8)  # NumPy moves numbers faster than types that it does not know
    source, target = (item.view(f"u{item.itemsize}") if plain else item for item in (array, out))
    for at in range(0, len(array), _TILE):
        target[:, at : at + _TILE] = source[at : at + _TILE].T
    return out


def boxes(shape: Sequence[int], most: int) -> Iterator[Box]:
    """Boxes that cover an array in row-major order, each of at most so many elements."""
    if 0 in shape:
        return
    if element_count(shape) <= most or not shape:
        yield tuple((0, size) for size in shape)
        return
    row = element_count(shape[1:])
    if row <= most:
        rows = max(1, most // row)
        for start in range(0, shape[0], rows):
            yield ((start, min(start + rows, shape[0])), *((0, size) for size in shape[1:]))
        return
    for at in range(shape[0]):
        for rest in boxes(shape[1:], most):
            yield ((at, at + 1), *rest)


def checked_extent(file: RandomAccessFile, offset: int, dtype: DType, shape: Sequence[int], what: str) -> FileArray:
    """The array at that place of a file; DataLossError if it does not lie within, or cannot be an array at all."""
    if any(size < 0 for size in shape) or offset < 0:
        raise DataLossError(f'"{file.path}": {what} has the shape {list(shape)} and lies at {offset}')
    check_shape(tuple(shape), dtype)
    end = offset + element_count(shape) * dtype.itemsize
    if end > file.size:
        raise DataLossError(f'"{file.path}" is {file.size} bytes long, but {what} lies at bytes {offset}..{end}')
    return FileArray(file, offset, dtype, tuple(shape))


def strided_array(base: FileArray, start: int, shape: tuple[int, ...], strides: tuple[int, ...]) -> StoredArray:
    """The elements of an array of one dimension that begin at `start` and lie at those distances.

    Where they are a whole array in another order of its axes, as transposed ones are, it is read as that.
    """
    axes = sorted(range(len(shape)), key=lambda axis: (-strides[axis], shape[axis] == 1, axis))
    order = [axis for axis in axes if shape[axis] != 1]
    dense = 1
    for axis in reversed(order):
        if strides[axis] != dense:
            return StridedArray(base, start, shape, strides)
        dense *= shape[axis]
    offset = base.offset + start * base.dtype.itemsize
    order += [axis for axis in axes if shape[axis] == 1]
    plain = FileArray(base.file, offset, base.dtype, tuple(shape[axis] for axis in order), base.order)
    if order == sorted(order):
        return FileArray(base.file, offset, base.dtype, shape, base.order)
    return PermutedArray(plain, tuple(order.index(axis) for axis in range(len(shape))))
