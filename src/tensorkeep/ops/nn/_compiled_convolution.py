"""Convolutions by the compiled library: of float32, over two spatial axes, channels last.

A window is a few stretches of memory, one for each of its rows, and so nothing is copied but the images, into what
holds their padding: some lines at a time, which stay in the cache. The gradient of images under windows that move by
strides has a part for each place that an element can have between strides; each is a convolution by some of the taps.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import groupby
from typing import Final, NamedTuple

import numpy as np

from tensorkeep.native.finishing import BoundFinish
from tensorkeep.native.layers import (
    FLOAT,
    Convolution,
    Ints,
    Part,
    Stretches,
    add_filter_gradient,
    convolve,
    convolve_depthwise,
    functions,
    packed_matrix,
)
from tensorkeep.ops.nn.windows import CACHED_PLANS, Placement
from tensorkeep.ops.shared.kernel_types import Array

_PADDED_BYTES: Final = 1 << 23  # of images that threads read together


def convolve_into(
    images: Array | Sequence[Array],
    filters: Array,
    rows: Placement,
    columns: Placement,
    out: Array,
    finish: BoundFinish | None = None,
) -> bool:
    """Computes a convolution into `out` by the compiled library; False if that cannot do it. Shapes must fit.

    The channels of images may come from several arrays, one behind the other.
    """
    compiled = functions()
    sources = [images] if isinstance(images, np.ndarray) else images
    if compiled is None or any(array.dtype != FLOAT for array in (*sources, filters)):
        return False
    channels, depth = filters.shape[2:]
    packed = packed_matrix(compiled, np.ascontiguousarray(filters).reshape(-1, depth))
    convolution = _forward(rows, columns, channels, depth)
    address = None if finish is None else finish.address
    convolve(compiled, convolution, list(map(np.ascontiguousarray, sources)), [packed], out, address)
    return True


@lru_cache(CACHED_PLANS)
def _forward(rows: Placement, columns: Placement, channels: int, depth: int) -> Convolution:
    taps, dilations = (rows.window, columns.window), (rows.dilation, columns.dilation)
    width = max(columns.padded, columns.input)
    part = Part(
        (-rows.before, 0),
        rows.effective,
        (rows.stride, columns.stride),
        (rows.output, columns.output),
        0,
        (columns.output * depth, depth),
        depth,
        Stretches.of(width * channels, channels, taps, dilations),
    )
    outputs = rows.output * columns.output
    return Convolution(
        (rows.input, columns.input, channels),
        [part],
        sides=(columns.before, width),
        lines=rows.output,
        out=outputs * depth,
        finished=(columns.output, outputs),
    )


def convolve_back_into(
    gradient: Array,
    filters: Array,
    rows: Placement,
    columns: Placement,
    out: Array,
    finish: BoundFinish | None = None,
) -> bool:
    """Computes the gradient of a convolution's images into `out` by the compiled library; False if that cannot do it.
    Strides may be any.
    """
    compiled = functions()
    if (
        compiled is None
        or gradient.dtype != FLOAT
        or filters.dtype != FLOAT
        or (rows.dilation, columns.dilation) != (1, 1)
    ):
        return False
    depth = filters.shape[2]
    back = _backward(rows, columns, filters.shape[3], depth)
    turned = filters.swapaxes(2, 3)
    packed = []
    for row_taps, column_taps in back.taps:
        chosen = [turned[row_taps][:, taps].reshape(-1, depth) for taps in column_taps]
        packed.append(packed_matrix(compiled, chosen[0] if len(chosen) == 1 else np.concatenate(chosen, axis=1)))
    if any(axis.window < axis.stride or axis.after < 0 for axis in (rows, columns)):
        out[...] = 0  # some elements are met by no tap
    address = None if finish is None else finish.address
    convolve(compiled, back.convolution, [np.ascontiguousarray(gradient)], packed, out, address)
    return True


def filter_gradient(
    images: Array, gradient: Array, filter_shape: Ints, rows: Placement, columns: Placement
) -> Array | None:
    """The gradient of a convolution's filters by the compiled library; None if that cannot compute it."""
    compiled = functions()
    if compiled is None or images.dtype != FLOAT or gradient.dtype != FLOAT:
        return None
    *taps, channels, depth = filter_shape
    width = columns.padded * channels
    stretches = Stretches.of(width, channels, (taps[0], taps[1]), (rows.dilation, columns.dilation))
    found = np.zeros(filter_shape, FLOAT)
    gradient = np.ascontiguousarray(gradient)
    for padded, first in _padded_images(images, rows, columns):
        part = gradient[first : first + len(padded)]
        strides = rows.stride, columns.stride
        add_filter_gradient(compiled, padded, stretches, strides, part, found.reshape(-1, depth))
    return found


class _Phase(NamedTuple):
    """The outputs along one axis that are met by the same taps, of a mirrored window."""

    taps: Ints
    first: int  # output
    number: int
    start: int  # of the first window, in the gradient


@lru_cache(CACHED_PLANS)
def _phases(axis: Placement) -> tuple[_Phase, ...]:
    found = []
    for rest in range(min(axis.stride, axis.window)):
        taps = tuple(range(rest, axis.window, axis.stride))
        place = -((rest - axis.before) // axis.stride)  # the first at which `place * stride + rest - before` is not < 0
        first = place * axis.stride + rest - axis.before
        count = max(0, -((first - axis.input) // axis.stride))
        if count:
            found.append(_Phase(taps[::-1], first, count, place - len(taps) + 1))
    return tuple(found)


def _side_by_side(phases: Sequence[_Phase]) -> list[list[_Phase]]:
    """Phases in groups that have the same windows, and whose outputs lie beside each other."""
    ordered = enumerate(sorted(phases, key=lambda phase: phase.first))
    return [
        [phase for _, phase in group]
        for _, group in groupby(
            ordered, lambda each: (each[1].start, len(each[1].taps), each[1].number, each[1].first - each[0])
        )
    ]


class _Back(NamedTuple):
    """A convolution, and which taps of the filters each part of it takes: of rows, and of columns for each of the
    outputs that lie beside each other.
    """

    convolution: Convolution
    taps: tuple[tuple[list[int], list[list[int]]], ...]


@lru_cache(CACHED_PLANS)
def _backward(rows: Placement, columns: Placement, channels: int, depth: int) -> _Back:
    """Pads the gradient by as much as any window reaches beyond it."""
    row_phases, column_phases = _phases(rows), _phases(columns)
    left, width = _room(columns, column_phases)
    parts, taps = [], []
    for row in row_phases:
        for group in _side_by_side(column_phases):
            column = group[0]
            sizes = len(row.taps), len(column.taps)
            part = Part(
                (row.start, column.start + left),
                sizes[0],
                (1, 1),
                (row.number, column.number),
                (row.first * columns.input + column.first) * depth,
                (rows.stride * columns.input * depth, columns.stride * depth),
                len(group) * depth,
                Stretches.of(width * channels, channels, sizes),
            )
            parts.append(part)
            taps.append((list(row.taps), [list(phase.taps) for phase in group]))
    outputs = rows.input * columns.input
    convolution = Convolution(
        (rows.output, columns.output, channels),
        parts,
        sides=(left, width),
        lines=-(-rows.input // rows.stride),
        out=outputs * depth,
        finished=(rows.stride * columns.input, outputs),
    )
    return _Back(convolution, tuple(taps))


def _room(axis: Placement, phases: Sequence[_Phase]) -> tuple[int, int]:
    """How far windows begin before the gradient, and how many elements it has with its padding."""
    before = max(0, *(-phase.start for phase in phases), 0)
    end = max((phase.start + phase.number + len(phase.taps) - 1 for phase in phases), default=0)
    return before, before + max(end, axis.output)


def _padded_images(images: Array, rows: Placement, columns: Placement) -> Iterator[tuple[Array, int]]:
    """Images in C order with their padding, some at a time, and the number of the first. The memory is used again."""
    batch, height, width, channels = images.shape
    if (rows.padded, columns.padded) == (height, width):
        yield np.ascontiguousarray(images), 0
        return
    count = max(1, min(batch, _PADDED_BYTES // (rows.padded * columns.padded * channels * images.itemsize)))
    buffer = np.zeros((count, rows.padded, columns.padded, channels), images.dtype)
    inside = buffer[:, rows.before : rows.before + height, columns.before : columns.before + width]
    for first in range(0, batch, count):
        part = images[first : first + count]
        inside[: len(part)] = part
        yield buffer[: len(part)], first


def convolve_depthwise_into(
    images: Array,
    filters: Array,
    rows: Placement,
    columns: Placement,
    out: Array,
    finish: BoundFinish | None = None,
) -> bool:
    """Computes a depthwise convolution into `out` by the compiled library; False if that cannot do it. Each channel has
    one filter.
    """
    compiled = functions()
    if compiled is None or images.dtype != FLOAT or filters.dtype != FLOAT or filters.shape[3] != 1:
        return False
    if not np.isfinite(filters).all():  # the library leaves out what lies around images, and zero times it is no number
        return False
    numbers = (
        *images.shape[1:],
        rows.window,
        columns.window,
        rows.stride,
        columns.stride,
        rows.dilation,
        columns.dilation,
        rows.before,
        columns.before,
        rows.output,
        columns.output,
    )
    address = None if finish is None else finish.address
    convolve_depthwise(compiled, np.ascontiguousarray(images), np.ascontiguousarray(filters), out, numbers, address)
    return True
