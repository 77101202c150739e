"""Convolutions by the compiled library: of float32, over two spatial axes, channels last.

A window is a few stretches of memory, one for each of its rows, and so nothing is copied but the images, into what
holds their padding: some images at a time, which stay in the cache. The gradient of images under windows that move by
strides has a part for each place that an element can have between strides; each is a convolution by some of the taps.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Final, NamedTuple

import numpy as np

from tensorkeep.native.finishing import BoundFinish
from tensorkeep.native.layers import (
    FLOAT,
    Floats,
    Functions,
    Ints,
    Stretches,
    add_filter_gradient,
    convolve,
    convolve_depthwise,
    functions,
    in_parts,
    packed_matrix,
    place_of,
)
from tensorkeep.ops.nn.windows import CACHED_PLANS, Placement
from tensorkeep.ops.shared.kernel_types import Array

_PADDED_BYTES: Final = 1 << 20  # of images at a time
_SHARED_BYTES: Final = 1 << 23  # of images that threads read together


class _Part(NamedTuple):
    """A convolution by some taps, for some outputs."""

    stretches: Stretches
    start: int  # bytes from the padded images to where the first window begins
    target: int  # bytes from the output to where its first element goes
    taps: tuple[Ints, Ints] | None  # rows and columns of the filters; None for all


class _Job(NamedTuple):
    """Parts that share padded images."""

    padded: Ints  # rows and columns
    interior: tuple[slice, slice]
    parts: tuple[_Part, ...]


def convolve_into(
    images: Array,
    filters: Array,
    rows: Placement,
    columns: Placement,
    out: Array,
    finish: BoundFinish | None = None,
) -> bool:
    """Computes a convolution into `out` by the compiled library; False if that cannot do it. Shapes must fit."""
    compiled = functions()
    if compiled is None or images.dtype != FLOAT or filters.dtype != FLOAT:
        return False
    depth = filters.shape[-1]
    job = _forward_job(rows, columns, images.shape[3], depth)
    packed = packed_matrix(compiled, np.ascontiguousarray(filters).reshape(-1, depth))
    _run(compiled, job, images, [packed], out, None if finish is None else finish.address)
    return True


@lru_cache(CACHED_PLANS)
def _forward_job(rows: Placement, columns: Placement, channels: int, depth: int) -> _Job:
    stretches = Stretches.over(
        (rows.padded, columns.padded, channels),
        (rows.window, columns.window),
        strides=(rows.stride, columns.stride),
        dilations=(rows.dilation, columns.dilation),
        outputs=(rows.output, columns.output),
        steps=(rows.output * columns.output * depth, columns.output * depth, depth),
    )
    interior = tuple(slice(axis.before, axis.before + axis.input) for axis in (rows, columns))
    return _Job((rows.padded, columns.padded), (interior[0], interior[1]), (_Part(stretches, 0, 0, None),))


def convolve_back_into(gradient: Array, filters: Array, rows: Placement, columns: Placement, out: Array) -> bool:
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
    job = _backward_job(rows, columns, filters.shape[3], depth)
    turned = filters.swapaxes(2, 3)
    packed = []
    for part in job.parts:
        assert part.taps is not None
        chosen = turned[np.ix_(*part.taps)]
        packed.append(packed_matrix(compiled, np.ascontiguousarray(chosen).reshape(-1, depth)))
    if any(axis.window < axis.stride or axis.after < 0 for axis in (rows, columns)):
        out[...] = 0  # some elements are met by no tap
    _run(compiled, job, gradient, packed, out)
    return True


def filter_gradient(
    images: Array, gradient: Array, filter_shape: Ints, rows: Placement, columns: Placement
) -> Array | None:
    """The gradient of a convolution's filters by the compiled library; None if that cannot compute it."""
    compiled = functions()
    if compiled is None or images.dtype != FLOAT or gradient.dtype != FLOAT:
        return None
    *_, depth = filter_shape
    job = _forward_job(rows, columns, images.shape[3], depth)
    found = np.zeros(filter_shape, FLOAT)
    gradient = np.ascontiguousarray(gradient)
    for padded, first in _padded(job, images, _SHARED_BYTES):
        part = gradient[first : first + len(padded)]
        add_filter_gradient(compiled, padded, job.parts[0].stretches, part, found.reshape(-1, depth))
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


@lru_cache(CACHED_PLANS)
def _backward_job(rows: Placement, columns: Placement, channels: int, depth: int) -> _Job:
    """Pads the gradient by as much as any window reaches beyond it."""
    row_phases, column_phases = _phases(rows), _phases(columns)
    (top, height), (left, width) = _room(rows, row_phases), _room(columns, column_phases)
    parts = []
    for row in row_phases:
        for column in column_phases:
            stretches = Stretches.over(
                (height, width, channels),
                (len(row.taps), len(column.taps)),
                outputs=(row.number, column.number),
                steps=(
                    rows.input * columns.input * depth,
                    rows.stride * columns.input * depth,
                    columns.stride * depth,
                ),
            )
            start = ((row.start + top) * width + column.start + left) * channels * FLOAT.itemsize
            target = (row.first * columns.input + column.first) * depth * FLOAT.itemsize
            parts.append(_Part(stretches, start, target, (row.taps, column.taps)))
    interior = slice(top, top + rows.output), slice(left, left + columns.output)
    return _Job((height, width), interior, tuple(parts))


def _room(axis: Placement, phases: Sequence[_Phase]) -> tuple[int, int]:
    """How far windows begin before the gradient, and how many elements it has with its padding."""
    before = max((-phase.start for phase in phases), default=0)
    end = max((phase.start + phase.number + len(phase.taps) - 1 for phase in phases), default=0)
    return max(0, before), max(0, before) + max(end, axis.output)


def _run(
    compiled: Functions, job: _Job, images: Array, packed: list[Floats], out: Array, finish: int | None = None
) -> None:
    """Computes all parts, some images at a time, on threads if there is much to do.

    `finish` is where the numbers of a chain are that goes over the outputs, of a job of one part.
    """
    depth = out.shape[3]
    outputs = sum(part.stretches.outputs * len(part.stretches.offsets) * part.stretches.length for part in job.parts)
    cost = outputs * images.shape[0] * depth
    if images.shape[0] == 1:
        for padded, _ in _padded(job, images):
            for part, filters in zip(job.parts, packed, strict=True):
                _run_part(compiled, part, padded, filters, place_of(out), depth, cost // len(job.parts), (finish, 0))
        return

    def work(begin: int, end: int) -> None:
        for padded, image in _padded(job, images[begin:end]):
            target = place_of(out) + (begin + image) * out.strides[0]
            for part, filters in zip(job.parts, packed, strict=True):
                first = (begin + image) * part.stretches.outputs
                _run_part(compiled, part, padded, filters, target, depth, 0, (finish, first))

    in_parts(work, images.shape[0], cost)


def _run_part(
    compiled: Functions,
    part: _Part,
    images: Array,
    filters: Floats,
    out: int,
    depth: int,
    cost: int,
    finish: tuple[int | None, int],
) -> None:
    def work(begin: int, end: int) -> None:
        convolve(
            compiled,
            place_of(images) + part.start,
            part.stretches,
            filters,
            out + part.target,
            depth,
            (begin, end),
            finish,
        )

    in_parts(work, images.shape[0] * part.stretches.outputs, cost)


def _padded(job: _Job, images: Array, most: int = _PADDED_BYTES) -> Iterator[tuple[Array, int]]:
    """Images in C order with their padding, some at a time, and the number of the first. The memory is used again."""
    batch, height, width, channels = images.shape
    if job.padded == (height, width):
        yield np.ascontiguousarray(images), 0
        return
    count = max(1, min(batch, most // (job.padded[0] * job.padded[1] * channels * images.itemsize)))
    buffer = np.zeros((count, *job.padded, channels), images.dtype)
    inside = buffer[:, job.interior[0], job.interior[1]]
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
