"""Putting a tensor, or a part of one, together from the slices it is stored in.

The caller says how to check that a stored slice is there in full, before memory is taken for it, and how to read a box
or rows of it; positions are relative to that slice.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from tensorkeep.arrays import Array
from tensorkeep.checkpoint.bundle.codec import check_shape
from tensorkeep.checkpoint.reader import TensorInfo
from tensorkeep.checkpoint.slices.tensor_slice import Box, TensorSlice, box_shape, whole_box
from tensorkeep.checkpoint.slices.tiling import copies_for
from tensorkeep.errors import DataLossError

Rows = npt.NDArray[np.int64]


def stitch(
    info: TensorInfo,
    wanted: Box,
    check: Callable[[TensorSlice], None],
    read: Callable[[TensorSlice, Box], Array],
) -> Array:
    """A box of a tensor that is stored in slices, put together from those it touches; `read` reads a box of one.

    DataLossError if the slices leave a gap in the box or overlap there. `check` raises if a slice is not sound.
    """
    check_shape(info.shape, info.dtype)
    stored = [part.box(info.shape) for part in info.slices]
    copies = copies_for(wanted, stored)
    for at, _ in copies:
        check(info.slices[at])
    check_shape(box_shape(wanted), info.dtype)
    out = np.empty(box_shape(wanted), info.dtype.array_dtype)
    for at, shared in copies:
        out[as_index(relative_box(shared, wanted))] = read(info.slices[at], relative_box(shared, stored[at]))
    return out


def stitch_rows(
    info: TensorInfo,
    rows: Rows,
    check: Callable[[TensorSlice], None],
    read: Callable[[TensorSlice, Rows], Array],
) -> Array:
    """The given rows. DataLossError if the slices leave a gap between the first and the last, or overlap."""
    check_shape(info.shape, info.dtype)
    boxes = [part.box(info.shape) for part in info.slices]
    if rows.size:
        span = (int(rows.min()), int(rows.max()) + 1)
        for at, _ in copies_for((span, *whole_box(info.shape[1:])), boxes):
            check(info.slices[at])
    check_shape((rows.size, *info.shape[1:]), info.dtype)
    out = np.empty((rows.size, *info.shape[1:]), info.dtype.array_dtype)
    for part, box in zip(info.slices, boxes, strict=True):
        chosen = np.flatnonzero((rows >= box[0][0]) & (rows < box[0][1]))
        if chosen.size:
            index: tuple[Any, ...] = (chosen, *as_index(box[1:]))
            out[index] = read(part, rows[chosen] - box[0][0])
    return out


def as_index(box: Box) -> tuple[slice, ...]:
    return tuple(slice(start, stop) for start, stop in box)


def relative_box(inner: Box, outer: Box) -> Box:
    """A box as seen from the corner of another."""
    return tuple((start - corner, stop - corner) for (start, stop), (corner, _) in zip(inner, outer, strict=True))


def in_tensor(path: str, name: str, error: DataLossError) -> DataLossError:
    """The error with the checkpoint and the tensor that it is about before its message."""
    return DataLossError(f'"{path}": tensor "{name}": {error}')
