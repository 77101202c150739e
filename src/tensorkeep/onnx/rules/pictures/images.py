"""Images of other sizes, and parts of images."""

from __future__ import annotations

from typing import Final

import numpy as np

from tensorkeep.arrays import Array
from tensorkeep.dtypes import BOOL, FLOAT32, INT64
from tensorkeep.onnx.graphs import OnnxGraph
from tensorkeep.onnx.known_sizes import sizes_of
from tensorkeep.onnx.rules.registry import rule
from tensorkeep.onnx.terms import Dims, Term
from tensorkeep.ops.images.resizing import (
    resize_area_kernel,
    resize_bicubic_kernel,
    resize_nearest_neighbor_kernel,
)
from tensorkeep.ops.images.warping import scale_and_translate_kernel

_MOST_WEIGHTS: Final = 1 << 22  # of a matrix by which lines become lines of another length
_RESIZED: Final = frozenset(("float32", "int32", "int8", "uint8"))  # what ONNX Runtime resizes
_MARGIN: Final = 1e-3  # of a pixel; as far as two ways to compute a place may differ, and more


@rule("ResizeBilinear")
def resize_bilinear(
    to: OnnxGraph, images: Term, size: Term, *, align_corners: bool, half_pixel_centers: bool
) -> Term:  # fmt: skip
    """Pixels between four others, by where they lie; always as float32."""
    mode = _places_mode(align_corners, half_pixel_centers)
    return _resized_images(to, to.cast(images, FLOAT32), size, mode="linear", coordinate_transformation_mode=mode)


@rule("ResizeNearestNeighbor")
def resize_nearest_neighbor(
    to: OnnxGraph, images: Term, size: Term, *, align_corners: bool, half_pixel_centers: bool
) -> Term:  # fmt: skip
    """The pixel that is nearest.

    Where ONNX Runtime may round the place of one to another than TensorFlow does, which pixels it takes is stated.
    """
    old, new = _sizes(images), _wanted_size(size)
    known = [(had, wanted) for had, wanted in zip(old, new, strict=True) if had is not None and wanted is not None]
    if len(known) < 2 and to.model.is_for_engine:
        to.refuse("ONNX may round the place of a pixel to another, for sizes that are not known before the model runs")
    to.require_listed(max((max(pair) for pair in known), default=0))
    is_exact = all(_is_far_from_ties(*pair, align_corners, half_pixel_centers) for pair in known)
    if len(known) == 2 and not (is_exact and images.dtype.name in _RESIZED):
        for axis, pair in enumerate(known, 1):
            places = _nearest_places(*pair, align_corners, half_pixel_centers)
            images = to.node("Gather", images, to.constant(places.astype(np.int64)), axis=axis)
        return images
    if images.dtype.itemsize > 2 and images.dtype.name not in _RESIZED:
        to.refuse(f"ONNX Runtime resizes no {images.dtype.name}, to a size that is not known before the model runs")
    found = _resized_images(
        to, images if images.dtype.name in _RESIZED else to.cast(images, FLOAT32), size, mode="nearest",
        coordinate_transformation_mode=_places_mode(align_corners, half_pixel_centers),
        nearest_mode="round_prefer_ceil" if align_corners or half_pixel_centers else "floor",
    )  # fmt: skip
    return to.cast(found, images.dtype)


@rule("ResizeBicubic")
def resize_bicubic(
    to: OnnxGraph, images: Term, size: Term, *, align_corners: bool, half_pixel_centers: bool
) -> Term:  # fmt: skip
    """Sixteen pixels by weights of a table, which ONNX's Resize does not have: two products with matrices."""

    def resized(lines: Array, sizes: Array) -> Array:
        return resize_bicubic_kernel(
            lines, sizes, align_corners=align_corners, half_pixel_centers=half_pixel_centers
        )  # fmt: skip

    down, across = (_weights(to, had, new, resized) for had, new in _known_sizes(to, images, size))
    return _by_weights(to, to.cast(images, FLOAT32), down, across)


@rule("ResizeArea")
def resize_area(to: OnnxGraph, images: Term, size: Term, *, align_corners: bool) -> Term:
    """All pixels that a new one covers, by how much of each: two products with matrices."""

    def resized(lines: Array, sizes: Array) -> Array:
        return resize_area_kernel(lines, sizes, align_corners=align_corners)

    down, across = (_weights(to, had, new, resized) for had, new in _known_sizes(to, images, size))
    return _by_weights(to, to.cast(images, FLOAT32), down, across)


@rule("ScaleAndTranslate")
def scale_and_translate(
    to: OnnxGraph, images: Term, size: Term, scale: Term, translation: Term, *, kernel_type: bytes, antialias: bool
) -> Term:
    """Images made larger or smaller and moved, by weights that are known: two products with matrices."""
    scales = to.known_array(scale, "how much larger its images become")
    moves = to.known_array(translation, "how far its images are moved")
    matrices = []
    for axis, (had, new) in enumerate(_known_sizes(to, images, size)):

        def resized(lines: Array, sizes: Array, axis: int = axis) -> Array:
            factor, move = np.array([scales[axis], 1], np.float32), np.array([moves[axis], 0], np.float32)
            return scale_and_translate_kernel(
                lines, sizes, factor, move, kernel_type=kernel_type, antialias=antialias
            )  # fmt: skip

        matrices.append(_weights(to, had, new, resized))
    return _by_weights(to, to.cast(images, FLOAT32), *matrices)


def _places_mode(align_corners: bool, half_pixel_centers: bool) -> str:
    return "align_corners" if align_corners else "half_pixel" if half_pixel_centers else "asymmetric"


def _sizes(images: Term) -> tuple[int | None, int | None]:
    return images.size(1), images.size(2)


def _wanted_size(size: Term) -> tuple[int | None, int | None]:
    """Height and width that are asked for, as far as they are known."""
    found = sizes_of(size)
    if found is None or len(found) != 2:
        return None, None
    height, width = (item if isinstance(item, int) else None for item in found)
    return height, width


def _known_sizes(to: OnnxGraph, images: Term, size: Term) -> list[tuple[int, int]]:
    """Height and width before and after; refuses if they are not known."""
    found = [(had, new) for had, new in zip(_sizes(images), _wanted_size(size), strict=True) if had and new]
    if len(found) < 2:
        to.refuse("its images have sizes that are not known before the model runs; tell them, by --shape")
    return found


def _resized_images(to: OnnxGraph, images: Term, size: Term, **how: str) -> Term:
    """ONNX's Resize of rows and columns: by factors where sizes are known, so that the batch may have any size."""
    if to.model.is_for_engine and None in _wanted_size(size):
        to.refuse("ONNX does not fail for sizes that are not positive")
    x = to.channels_first(images)
    wanted: Dims = (images.size(0), images.size(3), *_wanted_size(size))
    scales = [_scale(had, new) for had, new in zip(_sizes(images), _wanted_size(size), strict=True) if had and new]
    if len(scales) == 2:
        found = to.node("Resize", x, None, np.array([1, 1, *scales], np.float32), dims=wanted, attrs=how)
    else:
        two = size if size.size(0) == 2 else to.reshape(size, [2])
        sizes = to.concat([to.shape(x, 0, 2), to.cast(two, INT64)], 0)
        found = to.node("Resize", x, None, None, sizes, dims=wanted, attrs=how)
    return to.channels_last(found, 4)


def _scale(old: int, new: int) -> np.float32:
    """How much longer a line becomes: such that the product with its length, cut off, is the length it is to have."""
    scale = np.float32(new) / np.float32(old)
    while int(float(old) * float(scale)) < new:
        scale = np.nextafter(scale, np.float32(np.inf))
    return scale


def _nearest_places(old: int, new: int, align_corners: bool, half_pixel_centers: bool) -> Array:
    line = np.arange(old, dtype=np.int32).reshape(1, old, 1, 1)
    found = resize_nearest_neighbor_kernel(
        line, np.array([new, 1], np.int32), align_corners=align_corners, half_pixel_centers=half_pixel_centers
    )
    return found.reshape(-1)


def _is_far_from_ties(old: int, new: int, align_corners: bool, half_pixel_centers: bool) -> bool:
    """Whether no new pixel lies so close to the border between two old ones that rounding decides."""
    numbers = np.arange(new, dtype=np.float64)
    if align_corners:
        places, border = numbers * ((old - 1) / (new - 1) if new > 1 else old), 0.5
    elif half_pixel_centers:
        places, border = (numbers + 0.5) * (old / new), 0.0
    else:
        places, border = numbers * (old / new), 0.0
        if old <= new and new % old == 0:
            return True  # exact: whole pixels are repeated
    ratio = max(old, new) / min(old, new)
    if ratio == int(ratio) and int(ratio) & (int(ratio) - 1) == 0 and not align_corners:
        return True  # exact: by a power of two
    beyond = np.abs((places - border + 0.5) % 1 - 0.5)
    return bool(np.all((beyond > _MARGIN) | (places == 0)))


def _weights(to: OnnxGraph, old: int, new: int, resized: object) -> Array:
    """The matrix by which a line becomes one of another length: what a kernel makes of each of its pixels."""
    if old * new > _MOST_WEIGHTS:
        to.refuse(f"lines of {old} pixels that become {new} need more weights than a file should have")
    assert callable(resized)
    lines = np.eye(old, dtype=np.float32).reshape(1, old, 1, old)
    found: Array = resized(lines, np.array([new, 1], np.int32))
    return found.reshape(new, old)


def _by_weights(to: OnnxGraph, images: Term, down: Array, across: Array) -> Term:
    """Rows, then columns of images (batch, rows, columns, channels) times matrices."""
    (_, old), width = down.shape, across.shape[1]
    channels = images.size(3)
    if channels is None:
        to.refuse("it is not known how many channels its images have")
    lines = to.reshape(images, [-1, old, width * channels])
    rows = to.reshape(to.node("MatMul", down, lines), [-1, down.shape[0], width, channels])
    return to.node("MatMul", across, rows)


@rule("CropAndResize")
def crop_and_resize(
    to: OnnxGraph, image: Term, boxes: Term, box_ind: Term, crop_size: Term, *,
    method: bytes, extrapolation_value: float,
) -> Term:  # fmt: skip
    """Parts of images, resized: pixels gathered from all images as one list of them."""
    if to.model.is_for_engine:
        to.refuse("ONNX does not fail for boxes of images that are not there")
    size = to.known_array(crop_size, "the size of its crops")
    sizes = to.shape(image)
    height, width = (_element(to, sizes, axis) for axis in (1, 2))
    lines = [
        _crop_places(to, boxes, int(size[axis]), extent, axis) for axis, extent in ((0, height), (1, width))
    ]  # fmt: skip
    rows, columns = to.unsqueeze(lines[0], [2]), to.unsqueeze(lines[1], [1])  # (boxes, height, 1), (boxes, 1, width)
    edges = [to.cast(to.node("Sub", extent, to.constant(1)), FLOAT32) for extent in (height, width)]
    inside = to.node("And", *(_is_inside(to, place, edge) for place, edge in zip((rows, columns), edges, strict=True)))
    pixels = to.node("Reshape", to.cast(image, FLOAT32), to.concat([to.constant([-1]), to.shape(image, 3, 4)], 0))
    first = to.node("Mul", to.unsqueeze(to.cast(box_ind, INT64), [1, 2]), height)  # rows before those of the image

    def pixel(row: Term, column: Term) -> Term:
        """The pixels (boxes, height, width, channels) at places, those outside at the nearest edge."""
        at = [
            to.cast(to.node("Min", to.node("Max", place, to.like(place, 0)), edge), INT64)
            for place, edge in ((row, edges[0]), (column, edges[1]))
        ]
        number = to.node("Add", to.node("Mul", to.node("Add", first, at[0]), width), at[1])
        return to.node("Gather", pixels, number, axis=0)

    if method == b"nearest":
        half = to.constant(0.5, FLOAT32)
        found = pixel(*(to.node("Floor", to.node("Add", place, half)) for place in (rows, columns)))
    else:
        top, left = to.node("Floor", rows), to.node("Floor", columns)
        bottom, right = to.node("Ceil", rows), to.node("Ceil", columns)
        above, beside = (
            to.unsqueeze(to.node("Sub", place, start), [3]) for place, start in ((rows, top), (columns, left))
        )
        upper = _between(to, pixel(top, left), pixel(top, right), beside)
        lower = _between(to, pixel(bottom, left), pixel(bottom, right), beside)
        found = _between(to, upper, lower, above)
    return to.node("Where", to.unsqueeze(inside, [3]), found, to.constant(extrapolation_value, FLOAT32), dtype=FLOAT32)


def _element(to: OnnxGraph, vector: Term, at: int) -> Term:
    if vector.array is not None:
        return to.constant(int(vector.array[at]))
    return to.node("Gather", vector, to.constant(at), dims=(), axis=0)


def _crop_places(to: OnnxGraph, boxes: Term, count: int, extent: Term, axis: int) -> Term:
    """Where along an axis of its image the pixels of each crop lie: (boxes, pixels)."""
    edge = to.cast(to.node("Sub", extent, to.constant(1)), FLOAT32)
    start, end = (to.slice(boxes, [at], [at + 1], [1]) for at in (axis, axis + 2))
    if count == 1:
        half = to.constant(0.5, FLOAT32)
        return to.node("Mul", to.node("Mul", to.node("Add", start, end), half), edge)
    step = to.node("Div", to.node("Mul", to.node("Sub", end, start), edge), to.constant(count - 1, FLOAT32))
    to.require_listed(count)
    numbers = to.constant(np.arange(count, dtype=np.float32).reshape(1, count))
    return to.node("Add", to.node("Mul", start, edge), to.node("Mul", numbers, step))


def _is_inside(to: OnnxGraph, places: Term, edge: Term) -> Term:
    below = to.node("GreaterOrEqual", places, to.like(places, 0), dtype=BOOL)
    return to.node("And", below, to.node("LessOrEqual", places, edge, dtype=BOOL))


def _between(to: OnnxGraph, first: Term, second: Term, share: Term) -> Term:
    return to.node("Add", first, to.node("Mul", to.node("Sub", second, first), share))
