"""Tensors made of other tensors, worked out a box at a time, so that none need be in memory as a whole.

A `Lazy` tensor knows its type and shape, and gives any box of its elements. A step makes one of another: to give a box,
it asks for the box of the other that this comes from.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Final, Protocol

import numpy as np

from tensorkeep.arrays import Array
from tensorkeep.checkpoint.casting import CastLoss, cast_array, cast_chunks, counted_losses
from tensorkeep.checkpoint.slices.tensor_slice import Box, TensorSlice, box_shape, whole_box
from tensorkeep.convert.arrays import boxes, transposed_copy
from tensorkeep.convert.hub import TensorSource
from tensorkeep.dtypes import DType
from tensorkeep.errors import InvalidArgumentError
from tensorkeep.shapes import element_count

_AT_ONCE: Final = 16 << 20  # bytes of a chunk


@dataclass(frozen=True)
class Lazy:
    """A tensor that is worked out when it is asked for."""

    dtype: DType
    shape: tuple[int, ...]
    read: Callable[[Box], Array]
    stream: Callable[[], Iterator[Array]] | None = None
    """All elements in order, where that is simpler than by boxes: a tensor as it is stored."""
    origins: tuple[str, ...] = ()
    """The stored tensors that it is made of."""
    history: tuple[str, ...] = ()
    """What was done to it, in words."""
    casts: tuple[tuple[Lazy, DType], ...] = ()
    """The tensors that were given another type on the way, as they were before, and the type."""

    @property
    def nbytes(self) -> int:
        return element_count(self.shape) * self.dtype.itemsize

    def chunks(self) -> Iterator[Array]:
        """All elements in row-major order, some megabytes at a time."""
        if self.stream is not None:
            return self.stream()
        if self.dtype.is_object:
            return iter((self.read(whole_box(self.shape)),))
        return (self.read(box) for box in boxes(self.shape, _AT_ONCE // self.dtype.itemsize))

    def counted_losses(self) -> CastLoss:
        """What the casts on the way lose and round."""
        return sum((counted_losses(before.chunks(), dtype) for before, dtype in self.casts), CastLoss())

    def told(self, words: str) -> Lazy:
        return replace(self, history=(*self.history, words))


def stored_tensor(source: TensorSource, name: str) -> Lazy:
    """A tensor of a source, as it is."""
    info = source[name]

    def read(box: Box) -> Array:
        part = TensorSlice(tuple((start, stop - start) for start, stop in box))
        return source.read(name, None if box == whole_box(info.shape) else part)

    def stream() -> Iterator[Array]:
        return map(np.asarray, source.source(name).chunks)

    return Lazy(info.dtype, info.shape, read, stream, (name,))


class Step(Protocol):
    """One thing that is done to a tensor."""

    def __call__(self, tensor: Lazy) -> Lazy:
        """The tensor that comes of it. InvalidArgumentError if it cannot be done to one of that type and shape."""
        ...


@dataclass(frozen=True)
class Transpose:
    """Puts axes in another order: axis `i` of the result is axis `axes[i]` of the tensor."""

    axes: tuple[int, ...]

    def __call__(self, tensor: Lazy) -> Lazy:
        if sorted(self.axes) != list(range(len(tensor.shape))):
            raise InvalidArgumentError(f"axes {list(self.axes)} of a tensor of shape {list(tensor.shape)}")

        def read(box: Box) -> Array:
            asked: list[tuple[int, int]] = [(0, 0)] * len(box)
            for axis, extent in zip(self.axes, box, strict=True):
                asked[axis] = extent
            return transposed_copy(tensor.read(tuple(asked)), self.axes)

        shape = tuple(tensor.shape[axis] for axis in self.axes)
        words = "transposed" if self.axes == (1, 0) else f"axes {list(self.axes)}"
        return _derived_tensor(tensor, shape, read, f"{words} {_change(tensor.shape, shape)}")


@dataclass(frozen=True)
class Merge:
    """Makes one axis of an axis and the one after it."""

    axis: int

    def __call__(self, tensor: Lazy) -> Lazy:
        at = self.axis
        if len(tensor.shape) < at + 2:
            raise InvalidArgumentError(f"axes {at} and {at + 1} of a tensor of shape {list(tensor.shape)}")
        outer, inner = tensor.shape[at : at + 2]

        def read(box: Box) -> Array:
            start, stop = box[at]
            first, last = start // inner, -(-stop // inner)
            found = tensor.read((*box[:at], (first, last), (0, inner), *box[at + 1 :]))
            flat = found.reshape(*found.shape[:at], -1, *found.shape[at + 2 :])
            return np.take(flat, range(start - first * inner, stop - first * inner), axis=at)

        shape = (*tensor.shape[:at], outer * inner, *tensor.shape[at + 2 :])
        return _derived_tensor(tensor, shape, read, f"reshaped {_change(tensor.shape, shape)}")


@dataclass(frozen=True)
class Split:
    """Makes two axes of one: the second has `inner` of it."""

    axis: int
    inner: int

    def __call__(self, tensor: Lazy) -> Lazy:
        at, inner = self.axis, self.inner
        if len(tensor.shape) <= at or tensor.shape[at] % inner:
            raise InvalidArgumentError(f"axis {at} of a tensor of shape {list(tensor.shape)} in pieces of {inner}")

        def read(box: Box) -> Array:
            (start, stop), (left, right) = box[at : at + 2]
            found = tensor.read((*box[:at], (start * inner, stop * inner), *box[at + 2 :]))
            cut = found.reshape(*found.shape[:at], stop - start, inner, *found.shape[at + 1 :])
            return np.take(cut, range(left, right), axis=at + 1)

        shape = (*tensor.shape[:at], tensor.shape[at] // inner, inner, *tensor.shape[at + 1 :])
        return _derived_tensor(tensor, shape, read, f"reshaped {_change(tensor.shape, shape)}")


@dataclass(frozen=True)
class Insert:
    """Adds an axis of one element."""

    axis: int

    def __call__(self, tensor: Lazy) -> Lazy:
        at = self.axis

        def read(box: Box) -> Array:
            return tensor.read((*box[:at], *box[at + 1 :])).reshape(box_shape(box))

        shape = (*tensor.shape[:at], 1, *tensor.shape[at:])
        return _derived_tensor(tensor, shape, read, f"reshaped {_change(tensor.shape, shape)}")


@dataclass(frozen=True)
class Remove:
    """Takes an axis of one element away."""

    axis: int

    def __call__(self, tensor: Lazy) -> Lazy:
        at = self.axis
        if len(tensor.shape) <= at or tensor.shape[at] != 1:
            raise InvalidArgumentError(f"axis {at} of a tensor of shape {list(tensor.shape)} has not one element")

        def read(box: Box) -> Array:
            return tensor.read((*box[:at], (0, 1), *box[at:])).reshape(box_shape(box))

        shape = (*tensor.shape[:at], *tensor.shape[at + 1 :])
        return _derived_tensor(tensor, shape, read, f"reshaped {_change(tensor.shape, shape)}")


@dataclass(frozen=True)
class Reorder:
    """Puts the equal blocks of an axis in another order: block `i` of the result is block `order[i]` of the tensor."""

    axis: int
    order: tuple[int, ...]
    words: str = ""

    def __call__(self, tensor: Lazy) -> Lazy:
        at, count = self.axis, len(self.order)
        if len(tensor.shape) <= at or tensor.shape[at] % count:
            raise InvalidArgumentError(f"axis {at} of a tensor of shape {list(tensor.shape)} in {count} blocks")
        size = tensor.shape[at] // count

        def read(box: Box) -> Array:
            start, stop = box[at]
            pieces = []
            while start < stop:
                block, within = divmod(start, size)
                end = min(stop, (block + 1) * size)
                first = self.order[block] * size + within
                pieces.append(tensor.read((*box[:at], (first, first + end - start), *box[at + 1 :])))
                start = end
            return np.concatenate(pieces, at)

        return _derived_tensor(tensor, tensor.shape, read, self.words or f"blocks {list(self.order)} of axis {at}")


@dataclass(frozen=True)
class Take:
    """A stretch of an axis."""

    axis: int
    start: int
    stop: int

    def __call__(self, tensor: Lazy) -> Lazy:
        at = self.axis
        if len(tensor.shape) <= at or not 0 <= self.start <= self.stop <= tensor.shape[at]:
            raise InvalidArgumentError(f"{self.start}..{self.stop} of axis {at} of shape {list(tensor.shape)}")

        def read(box: Box) -> Array:
            start, stop = box[at]
            return tensor.read((*box[:at], (start + self.start, stop + self.start), *box[at + 1 :]))

        shape = (*tensor.shape[:at], self.stop - self.start, *tensor.shape[at + 1 :])
        return _derived_tensor(tensor, shape, read, f"{self.start}..{self.stop} of axis {at}")


@dataclass(frozen=True)
class AddToBlock:
    """Adds a number to one of the equal blocks of the only axis."""

    block: int
    count: int
    value: float
    words: str = ""

    def __call__(self, tensor: Lazy) -> Lazy:
        if len(tensor.shape) != 1 or tensor.shape[0] % self.count:
            raise InvalidArgumentError(f"block {self.block} of {self.count} of shape {list(tensor.shape)}")
        size = tensor.shape[0] // self.count

        def read(box: Box) -> Array:
            found = np.array(tensor.read(box))
            start = box[0][0]
            first, last = self.block * size - start, (self.block + 1) * size - start
            part = slice(max(first, 0), max(last, 0))
            found[part] = (found[part].astype(np.float64) + self.value).astype(found.dtype)
            return found

        return _derived_tensor(tensor, tensor.shape, read, self.words or f"{self.value:+g} to block {self.block}")


@dataclass(frozen=True)
class Zeros:
    """Zeros in the place of all elements."""

    def __call__(self, tensor: Lazy) -> Lazy:
        return _derived_tensor(
            tensor, tensor.shape, lambda box: np.zeros(box_shape(box), tensor.dtype.array_dtype), "zeros"
        )


@dataclass(frozen=True)
class Cast:
    """Another type of elements."""

    dtype: DType

    def __call__(self, tensor: Lazy) -> Lazy:
        if tensor.dtype.is_object or self.dtype.is_object:
            raise InvalidArgumentError(f"{tensor.dtype} cannot be cast to {self.dtype}")

        def read(box: Box) -> Array:
            return cast_array(tensor.read(box), self.dtype)[0]

        words = f"{tensor.dtype} cast to {self.dtype}"
        made = _derived_tensor(replace(tensor, dtype=self.dtype), tensor.shape, read, words)
        stream = partial(cast_chunks_of, tensor, self.dtype)
        return replace(made, stream=stream, casts=(*tensor.casts, (tensor, self.dtype)))


def cast_chunks_of(tensor: Lazy, dtype: DType) -> Iterator[Array]:
    """All elements of a tensor in another type."""
    return cast_chunks(tensor.chunks(), dtype)


def concatenated_tensors(tensors: Sequence[Lazy], axis: int) -> Lazy:
    """Tensors one after the other along an axis."""
    first = tensors[0]
    shapes = {(*item.shape[:axis], *item.shape[axis + 1 :]) for item in tensors}
    if len(shapes) > 1 or len({item.dtype for item in tensors}) > 1:
        raise InvalidArgumentError(f"{', '.join(map(_tensor_text, tensors))} cannot be joined along axis {axis}")
    ends = np.cumsum([item.shape[axis] for item in tensors]).tolist()

    def read(box: Box) -> Array:
        start, stop = box[axis]
        pieces = []
        for item, end in zip(tensors, ends, strict=True):
            begin = end - item.shape[axis]
            low, high = max(start, begin), min(stop, end)
            if low < high:
                pieces.append(item.read((*box[:axis], (low - begin, high - begin), *box[axis + 1 :])))
        return np.concatenate(pieces, axis)

    shape = (*first.shape[:axis], ends[-1], *first.shape[axis + 1 :])
    return _made_of(tensors, shape, read, f"joined along axis {axis}")


def sum_of_tensors(tensors: Sequence[Lazy]) -> Lazy:
    """The sum of tensors of one type and shape."""
    first = tensors[0]
    if len({(item.dtype, item.shape) for item in tensors}) > 1:
        raise InvalidArgumentError(f"{', '.join(map(_tensor_text, tensors))} cannot be added")

    def read(box: Box) -> Array:
        total = np.array(tensors[0].read(box))
        for item in tensors[1:]:
            total = total + item.read(box)
        return total.astype(first.dtype.array_dtype, copy=False)

    return _made_of(tensors, first.shape, read, "added")


def _derived_tensor(tensor: Lazy, shape: tuple[int, ...], read: Callable[[Box], Array], words: str) -> Lazy:
    history = (*tensor.history, words)
    return Lazy(tensor.dtype, shape, _unless_empty(read, tensor.dtype), None, tensor.origins, history, tensor.casts)


def _made_of(tensors: Sequence[Lazy], shape: tuple[int, ...], read: Callable[[Box], Array], words: str) -> Lazy:
    origins = tuple(dict.fromkeys(name for item in tensors for name in item.origins))
    history = tuple(dict.fromkeys(line for item in tensors for line in item.history))
    dtype = tensors[0].dtype
    casts = tuple(cast for item in tensors for cast in item.casts)
    return Lazy(dtype, shape, _unless_empty(read, dtype), None, origins, (*history, words), casts)


def _unless_empty(read: Callable[[Box], Array], dtype: DType) -> Callable[[Box], Array]:
    """A function that reads boxes, made of one that may not be asked for empty boxes: these are given without asking
    it.
    """
    return lambda box: read(box) if all(box_shape(box)) else np.empty(box_shape(box), dtype.array_dtype)


def _change(before: tuple[int, ...], after: tuple[int, ...]) -> str:
    return f"{list(before)} -> {list(after)}"


def _tensor_text(tensor: Lazy) -> str:
    return f'"{", ".join(tensor.origins)}" ({tensor.dtype} {list(tensor.shape)})'
