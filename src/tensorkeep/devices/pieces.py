"""Boxes of tensors cut into pieces that fit a buffer, and where a box lies among the bytes of its tensor."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from typing import NamedTuple

from tensorkeep.checkpoint.slices.tensor_slice import Box, box_shape
from tensorkeep.shapes import element_count


class Piece(NamedTuple):
    """Consecutive elements of an array, which are a box of it too."""

    starts: tuple[int, ...]
    """The index of the first element."""
    shape: tuple[int, ...]
    at: int
    """How many bytes of the array come before it."""
    size: int
    """Its own bytes."""


def pieces_of(shape: Sequence[int], itemsize: int, limit: int) -> Iterator[Piece]:
    """Cuts an array into pieces of at most `limit` bytes (one element, if that is larger), from front to back."""
    whole = tuple(shape)
    size = element_count(whole) * itemsize
    if not size:
        return
    if size <= limit or not whole:
        yield Piece((0,) * len(whole), whole, 0, size)
        return
    axis = 0
    while axis < len(whole) - 1 and element_count(whole[axis + 1 :]) * itemsize > limit:
        axis += 1
    below = whole[axis + 1 :]
    row = element_count(below) * itemsize
    rows = max(1, limit // row)
    at = 0
    for leading in product(*map(range, whole[:axis])):
        for start in range(0, whole[axis], rows):
            count = min(rows, whole[axis] - start)
            yield Piece((*leading, start, *(0,) * len(below)), (*(1,) * axis, count, *below), at, count * row)
            at += count * row


def bytes_before(box: Box, shape: Sequence[int], itemsize: int) -> int | None:
    """How many bytes of a tensor come before a box of it; None if the elements of the box are not consecutive."""
    sizes = box_shape(box)
    first_cut = next((axis for axis, size in enumerate(shape) if sizes[axis] != 1), len(sizes))
    if any(sizes[axis] != shape[axis] for axis in range(first_cut + 1, len(sizes))):
        return None
    return sum(start * element_count(shape[axis + 1 :]) for axis, (start, _) in enumerate(box)) * itemsize
