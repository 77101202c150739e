"""Images made larger or smaller: nearest pixel, bilinear, bicubic, area, and the gradients."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np

from tensorkeep.dtypes import DType
from tensorkeep.errors import InvalidArgumentError
from tensorkeep.graph.constants import constant_value
from tensorkeep.graph.graph import Operation, Tensor
from tensorkeep.graph.registry.opspec import not_differentiable, op
from tensorkeep.ops.images.resampling import Taps, area_taps, bicubic_taps, bilinear_taps, nearest_places
from tensorkeep.ops.shared.dimensions import merge_sizes, of_rank
from tensorkeep.ops.shared.expressions import shape_of
from tensorkeep.ops.shared.indexing import dense, item
from tensorkeep.ops.shared.kernel_types import Array, Gradients
from tensorkeep.ops.shared.shape_rules import with_rank
from tensorkeep.runtime.limits import check_allocation
from tensorkeep.shapes import Shape

Shares = Callable[[Array, Array, Array], Array]
"""Gradients times the weights of a row tap and of a column tap, in double precision."""

_TYPES: Final = "T: {int8, uint8, int16, uint16, int32, int64, half, float, double, bfloat16}"
_ALIGNED: Final = "align_corners: bool = false"
_CENTERED: Final = "half_pixel_centers: bool = false"


def stated_sizes(size: Tensor) -> tuple[int | None, int | None]:
    """The height and the width that a vector of two states, as far as they are known before running."""
    merge_sizes(with_rank(size, 1)[0], 2)
    value = constant_value(size)
    if value is None:
        return None, None
    height, width = (int(number) for number in value)
    return (None if height < 0 else height), (None if width < 0 else width)


def resized_shape(images: Tensor, size: Tensor, *_: Tensor) -> Shape:
    """The shape of images of another height and width."""
    batch, _height, _width, channels = of_rank(images.static_shape, 4)
    return Shape((batch, *stated_sizes(size), channels))


def second_shape(grads: Tensor, original_image: Tensor, *_: Tensor) -> Shape:
    return original_image.static_shape


def checked_sizes(images: Array, size: Array) -> tuple[int, int]:
    """The new height and width, after checking what TensorFlow does of the images and of them."""
    if np.ndim(images) != 4:
        raise InvalidArgumentError(f"input must be 4-dimensional, got shape {list(np.shape(images))}")
    if np.shape(size) != (2,):
        raise InvalidArgumentError(f"shape_t must be 1-dimensional and have two elements, got {list(np.shape(size))}")
    height, width = (int(number) for number in size)
    if height <= 0 or width <= 0:
        raise InvalidArgumentError(f"output dimensions must be positive, got {height} and {width}")
    if not images.shape[1] or not images.shape[2]:
        raise InvalidArgumentError(f"input image must be of non-zero size, got shape {list(images.shape)}")
    check_allocation((images.shape[0], height, max(width, images.shape[2]), images.shape[3]), np.float32, copies=3)
    return height, width


def _check_options(align_corners: bool, half_pixel_centers: bool) -> None:
    if align_corners and half_pixel_centers:
        raise InvalidArgumentError("If half_pixel_centers is True, align_corners must be False.")


# ---------------------------------------------------------------------------------------------------- Nearest

resize_nearest_neighbor = op(
    "ResizeNearestNeighbor(images: T, size: int32) -> resized_images: T", _TYPES, _ALIGNED, _CENTERED
)
resize_nearest_neighbor_grad = op(
    "ResizeNearestNeighborGrad(grads: T, size: int32) -> output: T",
    "T: {uint8, int8, int32, half, float, double, bfloat16}",
    _ALIGNED,
    _CENTERED,
)
resize_nearest_neighbor.shape(resized_shape)
resize_nearest_neighbor_grad.shape(resized_shape)


@resize_nearest_neighbor.kernel
def resize_nearest_neighbor_kernel(
    images: Array, size: Array, *, align_corners: bool, half_pixel_centers: bool
) -> Array:
    _check_options(align_corners, half_pixel_centers)
    height, width = checked_sizes(images, size)
    rows = nearest_places(images.shape[1], height, align_corners, half_pixel_centers)
    columns = nearest_places(images.shape[2], width, align_corners, half_pixel_centers)
    return images[:, rows[:, None], columns]


@resize_nearest_neighbor_grad.kernel
def resize_nearest_neighbor_grad_kernel(
    grads: Array, size: Array, *, align_corners: bool, half_pixel_centers: bool
) -> Array:
    _check_options(align_corners, half_pixel_centers)
    height, width = checked_sizes(grads, size)
    rows = nearest_places(height, grads.shape[1], align_corners, half_pixel_centers)
    columns = nearest_places(width, grads.shape[2], align_corners, half_pixel_centers)
    batch, _, _, channels = grads.shape
    wide = np.float32 if grads.dtype.itemsize == 2 else grads.dtype
    lines = np.zeros((batch, height, grads.shape[2], channels), wide)
    for new, old in enumerate(rows.tolist()):
        lines[:, old] += grads[:, new].astype(wide)
    total = np.zeros((batch, height, width, channels), wide)
    for new, old in enumerate(columns.tolist()):
        total[:, :, old] += lines[:, :, new]
    return total.astype(grads.dtype)


@resize_nearest_neighbor.gradient
def resize_nearest_neighbor_gradient(op: Operation, dy: Tensor) -> Gradients:
    image = op.inputs[0]
    dims = image.static_shape.dims
    if dims is not None and None not in dims[1:3]:
        sizes: Any = Shape(dims[1:3])
    else:
        sizes = item(shape_of(image), slice(1, 3))
    return [resize_nearest_neighbor_grad(dense(dy), sizes, **_options(op)), None]


def _options(op: Operation) -> dict[str, Any]:
    return {name: op.attr(name) for name in ("align_corners", "half_pixel_centers")}


# --------------------------------------------------------------------------------------------------- Bilinear

resize_bilinear = op(
    "ResizeBilinear(images: T, size: int32) -> resized_images: float",
    "T: {int8, uint8, int16, uint16, int32, int64, bfloat16, half, float, double, bfloat16}",
    _ALIGNED,
    _CENTERED,
)
resize_bilinear_grad = op(
    "ResizeBilinearGrad(grads: float, original_image: T) -> output: T",
    "T: {float, bfloat16, half, double}",
    _ALIGNED,
    _CENTERED,
)
resize_bilinear.shape(resized_shape)
resize_bilinear_grad.shape(second_shape)
not_differentiable(resize_bilinear_grad)


@resize_bilinear.kernel
def resize_bilinear_kernel(images: Array, size: Array, *, align_corners: bool, half_pixel_centers: bool) -> Array:
    _check_options(align_corners, half_pixel_centers)
    height, width = checked_sizes(images, size)
    singles = images.astype(np.float32)
    if (height, width) == singles.shape[1:3]:
        return singles
    across = bilinear_taps(images.shape[2], width, align_corners, half_pixel_centers)
    down = bilinear_taps(images.shape[1], height, align_corners, half_pixel_centers)
    return _blend_lines(_blend_lines(singles, across, 2), down, 1)


def _blend_lines(image: Array, taps: Taps, axis: int) -> Array:
    lower, upper = (np.take(image, taps.places[:, tap], axis) for tap in (0, 1))
    share = taps.weights[:, 1].reshape(-1, *[1] * (image.ndim - axis - 1))
    upper -= lower
    upper *= share
    upper += lower
    return upper


@resize_bilinear_grad.kernel
def resize_bilinear_grad_kernel(
    grads: Array, original_image: Array, *, align_corners: bool, half_pixel_centers: bool
) -> Array:
    _check_options(align_corners, half_pixel_centers)
    rows, columns = _checked_grads(grads, original_image)
    down = bilinear_taps(rows, grads.shape[1], align_corners, half_pixel_centers)
    across = bilinear_taps(columns, grads.shape[2], align_corners, half_pixel_centers)
    return _spread_gradients(grads, original_image, down, across, _single_shares)


def _checked_grads(grads: Array, original_image: Array) -> tuple[int, int]:
    """The height and width of the original images, after the checks that TensorFlow makes of both."""
    for name, value in (("input_grad", grads), ("original_image", original_image)):
        if np.ndim(value) != 4:
            raise InvalidArgumentError(f"{name} must be 4-dimensional, got shape {list(np.shape(value))}")
    if 0 in grads.shape[1:3] or 0 in original_image.shape[1:3]:
        raise InvalidArgumentError("original sizes and those of the gradient must be positive")
    if grads.shape[0] != original_image.shape[0] or grads.shape[3] != original_image.shape[3]:
        raise InvalidArgumentError(
            f"the gradient {list(grads.shape)} and the image {list(original_image.shape)} differ in batch or channels"
        )
    return original_image.shape[1], original_image.shape[2]


def _spread_gradients(grads: Array, original_image: Array, down: Taps, across: Taps, shares: Shares) -> Array:
    """The gradients given back to the pixels of the original, in its type. Sums of 16 bits are rounded once."""
    rows, columns = original_image.shape[1:3]
    if original_image.dtype != np.float64:
        lines = down.scatter(grads, rows, 1)
        return across.scatter(lines, columns, 2).astype(original_image.dtype)
    total = np.zeros(original_image.shape, np.float64)
    for row_tap in range(down.places.shape[1]):
        for column_tap in range(across.places.shape[1]):
            part = shares(grads, down.weights[:, row_tap, None, None], across.weights[:, column_tap, None])
            lines = down.tap(row_tap).scatter(part, rows, 1)
            total += across.tap(column_tap).scatter(lines, columns, 2)
    return total


def _single_shares(grads: Array, row_weights: Array, column_weights: Array) -> Array:
    return ((grads * row_weights) * column_weights).astype(np.float64)


def _double_shares(grads: Array, row_weights: Array, column_weights: Array) -> Array:
    return (grads.astype(np.float64) * row_weights) * column_weights


@resize_bilinear.gradient
def resize_bilinear_gradient(op: Operation, dy: Tensor) -> Gradients:
    return [resize_bilinear_grad(dense(dy), op.inputs[0], **_options(op)), None]


# ---------------------------------------------------------------------------------------------------- Bicubic

resize_bicubic = op("ResizeBicubic(images: T, size: int32) -> resized_images: float", _TYPES, _ALIGNED, _CENTERED)
resize_bicubic_grad = op(
    "ResizeBicubicGrad(grads: float, original_image: T) -> output: T", "T: {float, double}", _ALIGNED, _CENTERED
)
resize_bicubic.shape(resized_shape)
resize_bicubic_grad.shape(second_shape)


@resize_bicubic.kernel
def resize_bicubic_kernel(images: Array, size: Array, *, align_corners: bool, half_pixel_centers: bool) -> Array:
    _check_options(align_corners, half_pixel_centers)
    height, width = checked_sizes(images, size)
    down = bicubic_taps(images.shape[1], height, align_corners, half_pixel_centers)
    across = bicubic_taps(images.shape[2], width, align_corners, half_pixel_centers)
    return across.gather(down.gather(images.astype(np.float32), 1), 2)


@resize_bicubic_grad.kernel
def resize_bicubic_grad_kernel(
    grads: Array, original_image: Array, *, align_corners: bool, half_pixel_centers: bool
) -> Array:
    _check_options(align_corners, half_pixel_centers)
    rows, columns = _checked_grads(grads, original_image)
    down = bicubic_taps(rows, grads.shape[1], align_corners, half_pixel_centers)
    across = bicubic_taps(columns, grads.shape[2], align_corners, half_pixel_centers)
    return _spread_gradients(grads, original_image, down, across, _double_shares)


@resize_bicubic.gradient
def resize_bicubic_gradient(op: Operation, dy: Tensor) -> Gradients:
    dtype: DType = op.inputs[0].dtype
    if dtype.name not in ("float32", "float64"):
        return [None, None]
    return [resize_bicubic_grad(dense(dy), op.inputs[0], **_options(op)), None]


# ------------------------------------------------------------------------------------------------------- Area

resize_area = op("ResizeArea(images: T, size: int32) -> resized_images: float", _TYPES, _ALIGNED)
resize_area.shape(resized_shape)


@resize_area.kernel
def resize_area_kernel(images: Array, size: Array, *, align_corners: bool) -> Array:
    height, width = checked_sizes(images, size)
    down, tall = area_taps(images.shape[1], height, align_corners)
    across, broad = area_taps(images.shape[2], width, align_corners)
    summed = across.gather_weighted(down.gather_weighted(images.astype(np.float32), 1), 2)
    return summed * np.float32(1.0 / np.float64(np.float32(tall * broad)))
