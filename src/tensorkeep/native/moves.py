"""Copies of many short stretches of memory, each of which takes NumPy as long as a long one."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, Final

import numpy as np

from tensorkeep.arrays import Array
from tensorkeep.io.machine.reused_memory import result_array
from tensorkeep.native.layers import functions, in_parts, place_of

_SMALLEST: Final = 1 << 16  # bytes; of fewer, NumPy is done before the call
_LONGEST: Final = 1 << 13  # bytes of a stretch; longer ones NumPy copies as fast
_OUTER: Final = 4  # axes besides the stretch
_COST_OF_BYTE: Final = 4  # multiplications that take as long as a byte


def copy_into(target: Array, source: Array) -> None:
    """Puts all elements of one array into another of the same shape and type; they share no memory."""
    numbers = None
    if target.shape == source.shape and target.dtype == source.dtype and not target.dtype.hasobject:
        numbers = _stretches(target, source) if target.nbytes >= _SMALLEST else None
    compiled = functions()
    if numbers is None or compiled is None:
        target[...] = source
        return
    table = np.array(numbers, np.int64)
    places = source.__array_interface__["data"][0], target.__array_interface__["data"][0]
    work = partial(compiled.move, *places, place_of(table))
    in_parts(work, int(table[:3].prod()), _COST_OF_BYTE * target.nbytes)


def padded_array(array: Array, amounts: Sequence[Sequence[int]], value: Any = 0) -> Array:
    """An array with so many elements of one value before and after it along each axis."""
    out = result_array(
        [before + size + after for size, (before, after) in zip(array.shape, amounts, strict=True)], array.dtype
    )
    inside: tuple[slice, ...] = ()
    for size, (before, after) in zip(array.shape, amounts, strict=True):
        if before:
            out[(*inside, slice(before))] = value
        if after:
            out[(*inside, slice(before + size, None))] = value
        inside = (*inside, slice(before, before + size))
    whole: tuple[Any, ...] = (..., *inside)
    copy_into(out[whole], array)
    return out


def _stretches(target: Array, source: Array) -> list[int] | None:
    """The numbers of Stretched in layers.cpp; None if elements lie one by one, or axes are too many."""
    axes: list[tuple[int, int, int]] = []  # size, and bytes from one to the next in source and target
    for size, near, far in zip(target.shape, source.strides, target.strides, strict=True):
        if size == 1:
            continue
        if axes and axes[-1][1:] == (size * near, size * far):
            axes[-1] = axes[-1][0] * size, near, far
        else:
            axes.append((size, near, far))
    length = target.itemsize
    if axes and axes[-1][1:] == (length, length):
        length *= axes.pop()[0]
    if len(axes) > _OUTER or not target.size or not target.itemsize < length <= _LONGEST:
        return None
    axes = [(1, 0, 0)] * (_OUTER - len(axes)) + axes
    return [*(axis[0] for axis in axes), *(axis[1] for axis in axes), *(axis[2] for axis in axes), length]
