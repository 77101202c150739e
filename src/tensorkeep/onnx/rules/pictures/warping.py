"""Images sampled elsewhere: at places that are given, and as a transformation of the plane says."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import numpy as np

from tensorkeep.dtypes import BOOL, FLOAT32, FLOAT64, INT64, UINT8
from tensorkeep.onnx.graphs import OnnxGraph
from tensorkeep.onnx.rules.numbers.elementwise import Expression
from tensorkeep.onnx.rules.registry import rule
from tensorkeep.onnx.size_vectors import axes_of, counted_indices, parts_of, product, reshaped_value, scalar, vector
from tensorkeep.onnx.terms import Term


class _Pixels:
    """The pixels of images, [batch, height, width, channels], by place."""

    def __init__(self, to: OnnxGraph, images: Term) -> None:
        self.to = to
        batch, height, width, channels = axes_of(images)
        self.height, self.width = scalar(to, height), scalar(to, width)
        self.rows = reshaped_value(to, images, [product(to, [batch, height, width]), channels])
        self.first = to.node("Mul", counted_indices(to, batch), to.node("Mul", self.height, self.width), dims=(None,))

    def at(self, rows: Term, columns: Term, filling: Term) -> Term:
        """The pixels at whole places, [batch, …, channels], and a value where there are none."""
        to = self.to
        y, x = to.cast(rows, INT64), to.cast(columns, INT64)
        is_in = [to.node("And", to.node("GreaterOrEqual", place, to.constant(0), dtype=BOOL),
                         to.node("Less", place, size, dtype=BOOL), dtype=BOOL)
                 for place, size in ((y, self.height), (x, self.width))]  # fmt: skip
        inside = to.node("And", *is_in, dtype=BOOL)
        number = to.node("Add", to.node("Mul", y, self.width), x)
        number = to.node("Add", number, to.unsqueeze(self.first, list(range(1, to.known_rank(rows)))))
        safe = to.node("Where", inside, number, to.constant(0), dtype=INT64, dims=rows.dims)
        found = to.node("Gather", self.rows, safe, axis=0)
        return to.node("Where", to.unsqueeze(inside, [to.known_rank(rows)]), found, filling, dtype=found.dtype)


def _sampled(to: OnnxGraph, pixels: _Pixels, rows: Term, columns: Term, filling: Term) -> Term:
    """Pixels at any places, by the four around each of them."""
    depth = to.known_rank(rows)
    y, x = Expression(to, rows), Expression(to, columns)
    top, left = y.apply("Floor"), x.apply("Floor")
    down, right = (Expression(to, to.unsqueeze(item.term, [depth])) for item in (y - top, x - left))
    found: Expression | None = None
    for is_down in (False, True):
        for is_right in (False, True):
            place = (top + 1.0 if is_down else top).term, (left + 1.0 if is_right else left).term
            share = (down if is_down else 1.0 - down) * (right if is_right else 1.0 - right)
            each = share * pixels.at(place[0], place[1], filling)
            found = each if found is None else found + each
    assert found is not None
    return found.term


@rule("Resampler", "Addons>Resampler")
def resampler(to: OnnxGraph, data: Term, warp: Term) -> Term:
    """Pixels of each image at places that are given as (x, y). Around an image there is nothing but zeros."""
    if to.model.is_for_engine:
        to.refuse("that there are as many images as places is not found out")
    if to.known_rank(data) != 4 or to.known_rank(warp) < 2:
        to.refuse("its images have not four axes")
    wide = FLOAT64 if data.dtype is FLOAT64 else FLOAT32
    images, places = to.cast(data, wide), to.cast(warp, wide)
    last = to.known_rank(warp) - 1
    x, y = (to.node("Gather", places, to.constant(at), dims=(warp.dims or ())[:-1], axis=last) for at in (0, 1))
    height, width = (scalar(to, size) for size in axes_of(images)[1:3])
    is_near = to.constant(np.bool_(True))
    for place, size in ((x, width), (y, height)):
        for op_type, limit in (("Greater", to.like(place, -1)), ("Less", to.cast(size, wide))):
            is_near = to.node("And", is_near, to.node(op_type, place, limit, dtype=BOOL), dtype=BOOL)
    safe = [to.node("Where", is_near, place, to.like(place, -2), dtype=wide, dims=place.dims) for place in (y, x)]
    return to.cast(_sampled(to, _Pixels(to, images), safe[0], safe[1], to.like(images, 0)), data.dtype)


# ---------------------------------------------------------------------------------------------------- Transformations


def _clamped(place: Expression, size: Expression) -> Expression:
    return place.most(0.0).least(size - 1.0)


def _truncated(value: Expression) -> Expression:
    return value.apply("Abs").apply("Floor") * value.apply("Sign")


def _reflected(place: Expression, size: Expression) -> Expression:
    """As if [abcd] were [dcba|abcd|dcba]."""
    period = size * 2.0
    low = period * _truncated(-place / period) + place
    low = (-low - 1.0).unless(low < -size, low + period)
    high = place - period * _truncated(place / period)
    high = high.unless(_is_at_least(high, size), period - high - 1.0)
    return _moved_inside(place, size, low, high)


def _wrapped(place: Expression, size: Expression) -> Expression:
    """As if [abcd] were [abcd|abcd|abcd]."""
    edge = size - 1.0
    low = place + size * (_truncated(-place / edge) + 1.0)
    high = place - size * _truncated(place / edge)
    return _moved_inside(place, size, low, high)


def _is_at_least(value: Expression, limit: Expression) -> Term:
    return value.to.node("Not", value < limit, dtype=BOOL)


def _moved_inside(place: Expression, size: Expression, low: Expression, high: Expression) -> Expression:
    found = place.unless(place > size - 1.0, high).unless(place < 0.0, low)
    alone = place.unless(place > size - 1.0, 0.0).unless(place < 0.0, 0.0)
    return _clamped(found.unless(size < 1.5, alone), size)


def _unchanged(place: Expression, size: Expression) -> Expression:
    return place


_MODES: Final[dict[bytes, Callable[[Expression, Expression], Expression]]] = {
    b"CONSTANT": _unchanged,
    b"NEAREST": _clamped,
    b"REFLECT": _reflected,
    b"WRAP": _wrapped,
}


@rule("ImageProjectiveTransformV2")
def image_projective_transform_v2(
    to: OnnxGraph, images: Term, transforms: Term, output_shape: Term, *, interpolation: bytes, fill_mode: bytes
) -> Term:
    return _projected(to, images, transforms, output_shape, to.constant(0.0, FLOAT32), (interpolation, fill_mode))


@rule("ImageProjectiveTransformV3")
def image_projective_transform_v3(
    to: OnnxGraph, images: Term, transforms: Term, output_shape: Term, fill_value: Term, *,
    interpolation: bytes, fill_mode: bytes,
) -> Term:  # fmt: skip
    return _projected(to, images, transforms, output_shape, fill_value, (interpolation, fill_mode))


def _projected(
    to: OnnxGraph, images: Term, transforms: Term, output_shape: Term, filling: Term, how: tuple[bytes, bytes]
) -> Term:
    """Images as they look through a projection: the pixel that each place of the result comes from, or those around."""
    if to.model.is_for_engine:
        to.refuse("that there are as many images as transformations is not found out")
    to.known_rank(images)
    takes_nearest = how[0].upper() == b"NEAREST"
    if images.dtype is FLOAT64 or not (images.dtype.is_floating or (images.dtype is UINT8 and takes_nearest)):
        to.refuse(f"its images are of {images.dtype.name}, which float32 does not give exactly; cast them before")
    source = to.cast(images, FLOAT32)
    filling = to.cast(to.cast(filling, images.dtype), FLOAT32)
    height, width = (Expression(to, to.cast(scalar(to, size), FLOAT32)) for size in axes_of(images)[1:3])
    sizes = parts_of(to, output_shape, 2)
    down, across = (to.cast(counted_indices(to, size), FLOAT32) for size in sizes)
    y, x = Expression(to, to.unsqueeze(down, [0, 2])), Expression(to, to.unsqueeze(across, [0, 1]))
    column = [to.unsqueeze(to.node("Gather", transforms, to.constant(at), axis=1, dims=(None,)), [1, 2])
              for at in range(8)]  # fmt: skip
    below = x * column[6] + y * column[7] + 1.0
    is_endless = below.equals(0.0)
    source_x = (x * column[0] + y * column[1] + column[2]) / below
    source_y = (x * column[3] + y * column[4] + column[5]) / below
    place = _MODES[how[1].upper()]
    rows, columns = place(source_y, height), place(source_x, width)
    batch = axes_of(images)[0]
    spread = vector(to, [batch, *sizes])
    if takes_nearest:
        rows, columns = (_truncated(place + place.apply("Sign") * 0.5) for place in (rows, columns))
    at = [to.node("Expand", item.term, spread, dims=(None, None, None)) for item in (rows, columns)]
    pixels = _Pixels(to, source)
    found = pixels.at(at[0], at[1], filling) if takes_nearest else _sampled(to, pixels, at[0], at[1], filling)
    endless = to.unsqueeze(to.node("Expand", is_endless, spread, dims=(None, None, None)), [3])
    return to.cast(to.node("Where", endless, filling, found, dtype=FLOAT32), images.dtype)
