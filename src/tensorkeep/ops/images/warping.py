"""Images cropped, scaled, moved and projected: CropAndResize, ScaleAndTranslate, ImageProjectiveTransform."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np

from tensorkeep.dtypes import FLOAT32, INT32, DType
from tensorkeep.errors import InvalidArgumentError, OutOfRangeError, WrongTypeError
from tensorkeep.graph.arguments import emit
from tensorkeep.graph.building import name_scope
from tensorkeep.graph.constants import constant_shape
from tensorkeep.graph.graph import Operation, Tensor
from tensorkeep.graph.registry.opspec import op
from tensorkeep.ops.images.resampling import SAMPLING_KERNELS, Singles, round_half_away, span_taps
from tensorkeep.ops.images.resizing import checked_sizes, resized_shape, second_shape, stated_sizes
from tensorkeep.ops.shared.dimensions import merge_sizes, of_rank
from tensorkeep.ops.shared.expressions import concat, constant, ones, over, reshape, shape_of
from tensorkeep.ops.shared.indexing import dense, item
from tensorkeep.ops.shared.kernel_types import Array, Gradients
from tensorkeep.ops.shared.shape_rules import with_rank
from tensorkeep.runtime.limits import check_allocation
from tensorkeep.shapes import Shape

# ------------------------------------------------------------------------------------------------ Crop and resize

_CROPPED: Final = "T: {uint8, uint16, int8, int16, int32, int64, half, float, double}"
crop_and_resize = op(
    "CropAndResize(image: T, boxes: float, box_ind: int32, crop_size: int32) -> crops: float",
    _CROPPED,
    "method: {'bilinear', 'nearest'} = 'bilinear'",
    "extrapolation_value: float = 0.0",
)
crop_and_resize_grad_image = op(
    "CropAndResizeGradImage(grads: float, boxes: float, box_ind: int32, image_size: int32) -> output: T",
    "T: {float, half, double}",
    "method: {'bilinear', 'nearest'} = 'bilinear'",
)
crop_and_resize_grad_boxes = op(
    "CropAndResizeGradBoxes(grads: float, image: T, boxes: float, box_ind: int32) -> output: float",
    _CROPPED,
    "method: {'bilinear'} = 'bilinear'",
)


@crop_and_resize.shape
def crop_and_resize_shape(image: Tensor, boxes: Tensor, box_ind: Tensor, crop_size: Tensor) -> Shape:
    channels = with_rank(image, 4)[3]
    count, columns = of_rank(boxes.static_shape, 2)
    count = merge_sizes(count, with_rank(box_ind, 1)[0])
    merge_sizes(columns, 4)
    return Shape((count, *stated_sizes(crop_size), channels))


@crop_and_resize_grad_image.shape
def crop_and_resize_grad_image_shape(grads: Tensor, boxes: Tensor, box_ind: Tensor, image_size: Tensor) -> Shape:
    return of_rank(constant_shape(image_size), 4)


@crop_and_resize_grad_boxes.shape
def crop_and_resize_grad_boxes_shape(grads: Tensor, image: Tensor, boxes: Tensor, box_ind: Tensor) -> Shape:
    return boxes.static_shape


def _check_boxes(boxes: Array, box_ind: Array, batch: int) -> int:
    """Refuses boxes that are not of these images. Gives how many boxes there are."""
    if not boxes.size and not box_ind.size:
        return 0
    if boxes.ndim != 2 or boxes.shape[1] != 4:
        raise InvalidArgumentError(f"boxes must be 2-D with 4 columns, got shape {list(boxes.shape)}")
    if box_ind.shape != boxes.shape[:1]:
        raise InvalidArgumentError(f"box_index has incompatible shape {list(box_ind.shape)}: {len(boxes)} boxes")
    if box_ind.size and (box_ind.min() < 0 or box_ind.max() >= batch):
        raise OutOfRangeError(f"box_index has values outside [0, batch_size): {box_ind.min()}..{box_ind.max()}")
    return len(boxes)


def _check_finite(boxes: Array) -> None:
    if not np.isfinite(boxes).all():
        raise InvalidArgumentError("Boxes contains at least one element that is not finite")


def _crop_positions(first: np.float32, last: np.float32, old: int, new: int) -> Singles:
    """Where along one axis of an image the pixels of a crop lie."""
    edge = np.float32(old - 1)
    if new == 1:
        return np.array([0.5 * float(np.float32(first + last)) * float(old - 1)], np.float32)
    scale = np.float32(np.float32((last - first) * edge) / np.float32(new - 1))
    places: Singles = first * edge + np.arange(new, dtype=np.float32) * scale
    return places


class _Crop:
    """Where the pixels of a crop lie in its image: those inside, their neighbours and how near they are."""

    def __init__(self, box: Array, image_size: tuple[int, int], crop_size: tuple[int, int]) -> None:
        ys = _crop_positions(box[0], box[2], image_size[0], crop_size[0])
        xs = _crop_positions(box[1], box[3], image_size[1], crop_size[1])
        self.rows = np.flatnonzero((ys >= 0) & (ys <= image_size[0] - 1))
        self.columns = np.flatnonzero((xs >= 0) & (xs <= image_size[1] - 1))
        self.ys, self.xs = ys[self.rows], xs[self.columns]
        self.place = np.ix_(self.rows, self.columns)

    def corners(self, image: Array) -> tuple[Any, Any, Any, Any]:
        """The four neighbours of every pixel, as single precision."""
        top, bottom = (edge(self.ys).astype(np.int64) for edge in (np.floor, np.ceil))
        left, right = (edge(self.xs).astype(np.int64) for edge in (np.floor, np.ceil))
        return tuple(image[np.ix_(y, x)].astype(np.float32) for y in (top, bottom) for x in (left, right))  # type: ignore[return-value]

    @property
    def shares(self) -> tuple[Singles, Singles]:
        """How far each pixel is from its upper and from its left neighbour."""
        return (self.ys - np.floor(self.ys))[:, None, None], (self.xs - np.floor(self.xs))[None, :, None]

    @property
    def nearest(self) -> Any:
        return np.ix_(round_half_away(self.ys).astype(np.int64), round_half_away(self.xs).astype(np.int64))


@crop_and_resize.kernel
def crop_and_resize_kernel(
    image: Array, boxes: Array, box_ind: Array, crop_size: Array, *, method: bytes, extrapolation_value: float
) -> Array:
    if np.ndim(image) != 4 or 0 in image.shape[1:3]:
        raise InvalidArgumentError(f"input image must be 4-D and have pixels, got shape {list(np.shape(image))}")
    if np.ndim(boxes) != 2 or np.ndim(box_ind) != 1:
        raise InvalidArgumentError(f"boxes must be 2-D and box_indices 1-D, got {boxes.shape} and {box_ind.shape}")
    count = _check_boxes(boxes, box_ind, image.shape[0])
    if np.shape(crop_size) != (2,) or min(crop_size) <= 0:
        raise InvalidArgumentError(f"crop dimensions must be two positive numbers, got {np.asarray(crop_size)}")
    height, width = (int(size) for size in crop_size)
    check_allocation((count, height, width, image.shape[3]), np.float32, copies=2)
    _check_finite(boxes)
    crops = np.full((count, height, width, image.shape[3]), extrapolation_value, np.float32)
    for box, which, crop in zip(boxes, box_ind, crops, strict=True):
        inside = _Crop(box, image.shape[1:3], (height, width))
        if not inside.rows.size or not inside.columns.size:
            continue
        if method == b"nearest":
            crop[inside.place] = image[which][inside.nearest]
            continue
        above, beside = inside.shares
        top_left, top_right, bottom_left, bottom_right = inside.corners(image[which])
        top = top_left + (top_right - top_left) * beside
        bottom = bottom_left + (bottom_right - bottom_left) * beside
        crop[inside.place] = top + (bottom - top) * above
    return crops


def _check_crop_grads(grads: Array, boxes: Array, box_ind: Array, image_size: tuple[int, ...]) -> None:
    if np.ndim(grads) != 4 or 0 in grads.shape[1:3]:
        raise InvalidArgumentError(f"grads must be 4-D and have pixels, got shape {list(np.shape(grads))}")
    if len(image_size) != 4 or min(image_size[1:3]) <= 0:
        raise InvalidArgumentError(f"image dimensions must be positive, got {image_size}")
    if grads.shape[3] != image_size[3]:
        raise InvalidArgumentError(f"image {image_size} and grads {grads.shape} are incompatible: their depth differs")
    if _check_boxes(boxes, box_ind, image_size[0]) != len(grads):
        raise InvalidArgumentError("boxes and grads have incompatible shape")


@crop_and_resize_grad_image.kernel
def crop_and_resize_grad_image_kernel(
    grads: Array,
    boxes: Array,
    box_ind: Array,
    image_size: Array,
    *,
    method: bytes,
    T: DType,  # noqa: N803
) -> Array:
    if np.shape(image_size) != (4,):
        raise InvalidArgumentError(f"image_size must be 1-D and have 4 elements, got shape {np.shape(image_size)}")
    sizes = tuple(int(size) for size in image_size)
    _check_crop_grads(grads, boxes, box_ind, sizes)
    wide = np.float64 if T.name == "float64" else np.float32
    check_allocation(sizes, wide, copies=2)
    total = np.zeros(sizes, wide)
    for box, which, grad in zip(boxes, box_ind, grads, strict=True):
        inside = _Crop(box, (sizes[1], sizes[2]), grad.shape[:2])
        kept = grad[inside.place]
        if method == b"nearest":
            np.add.at(total[which], inside.nearest, kept)
            continue
        above, beside = inside.shares
        for ys, y_weight in ((np.floor(inside.ys), 1 - above), (np.ceil(inside.ys), above)):
            row = y_weight * kept
            for xs, x_weight in ((np.floor(inside.xs), 1 - beside), (np.ceil(inside.xs), beside)):
                np.add.at(total[which], np.ix_(ys.astype(np.int64), xs.astype(np.int64)), x_weight * row)
    return total.astype(T.array_dtype)


@crop_and_resize_grad_boxes.kernel
def crop_and_resize_grad_boxes_kernel(grads: Array, image: Array, boxes: Array, box_ind: Array) -> Array:
    if np.ndim(image) != 4:
        raise InvalidArgumentError(f"input image must be 4-D, got shape {list(np.shape(image))}")
    _check_crop_grads(grads, boxes, box_ind, image.shape)
    total = np.zeros((len(grads), 4), np.float32)
    height, width = image.shape[1:3]
    for box, which, grad, result in zip(boxes, box_ind, grads, total, strict=True):
        inside = _Crop(box, (height, width), grad.shape[:2])
        if not inside.rows.size or not inside.columns.size:
            continue
        above, beside = inside.shares
        top_left, top_right, bottom_left, bottom_right = inside.corners(image[which])
        kept = grad[inside.place]
        down = ((1 - beside) * (bottom_left - top_left) + beside * (bottom_right - top_right)) * kept
        across = ((1 - above) * (top_right - top_left) + above * (bottom_right - bottom_left)) * kept
        result[[0, 2]] = _edge_grads(down.sum((1, 2)), inside.rows, height, grad.shape[0])
        result[[1, 3]] = _edge_grads(across.sum((0, 2)), inside.columns, width, grad.shape[1])
    return total


def _edge_grads(slopes: Array, places: Array, old: int, new: int) -> list[Any]:
    """What moving the first and the last edge of a crop does, from the slopes at its rows or columns."""
    if new == 1:
        return [slopes.sum() * 0.5 * (old - 1)] * 2
    offsets = places.astype(np.float32) * np.float32(np.float32(old - 1) / np.float32(new - 1))
    return [(slopes * (np.float32(old - 1) - offsets)).sum(), (slopes * offsets).sum()]


@crop_and_resize.gradient
def crop_and_resize_gradient(op: Operation, dy: Tensor) -> Gradients:
    image, boxes, box_ind, _ = op.inputs
    dims = image.static_shape.dims
    sizes: Any = list(dims) if dims is not None and None not in dims else shape_of(image)
    dy = dense(dy)
    of_image = None
    if image.dtype.name in ("float16", "float32", "float64"):
        of_image = crop_and_resize_grad_image(dy, boxes, box_ind, sizes, T=op.attr("T"), method=op.attr("method"))
    return [of_image, crop_and_resize_grad_boxes(dy, image, boxes, box_ind), None, None]


# -------------------------------------------------------------------------------------------- Scale and translate

_KERNEL: Final = ("kernel_type: string = 'lanczos3'", "antialias: bool = true")
scale_and_translate = op(
    "ScaleAndTranslate(images: T, size: int32, scale: float, translation: float) -> resized_images: float",
    "T: {int8, uint8, int16, uint16, int32, int64, bfloat16, half, float, double}",
    *_KERNEL,
)
scale_and_translate_grad = op(
    "ScaleAndTranslateGrad(grads: T, original_image: T, scale: float, translation: float) -> output: T",
    "T: {float}",
    *_KERNEL,
)
scale_and_translate.shape(resized_shape)
scale_and_translate_grad.shape(second_shape)


def _pair(name: str, values: Array) -> tuple[np.float32, np.float32]:
    if np.shape(values) != (2,):
        raise InvalidArgumentError(f"{name} must be 1-dimensional and have two elements, got shape {np.shape(values)}")
    return np.float32(values[0]), np.float32(values[1])


def _check_kernel(kernel_type: bytes) -> None:
    if kernel_type not in SAMPLING_KERNELS:
        known = ", ".join(name.decode() for name in SAMPLING_KERNELS)
        raise InvalidArgumentError(f"Unrecognized kernel type: {kernel_type.decode(errors='replace')}; known: {known}")


def _checked_scale(scale: Array) -> tuple[np.float32, np.float32]:
    down, across = _pair("scale", scale)
    if not (down > 0 and across > 0):
        raise InvalidArgumentError("Scale must be greater than zero.")
    return down, across


@scale_and_translate.kernel
def scale_and_translate_kernel(
    images: Array, size: Array, scale: Array, translation: Array, *, kernel_type: bytes, antialias: bool
) -> Array:
    _check_kernel(kernel_type)
    height, width = checked_sizes(images, size)
    if not images.shape[3]:
        raise InvalidArgumentError("image must have at least one channel")
    scales, moves = _checked_scale(scale), _pair("translation", translation)
    down = span_taps(kernel_type, height, images.shape[1], scales[0], moves[0], antialias)
    across = span_taps(kernel_type, width, images.shape[2], scales[1], moves[1], antialias)
    return across.gather(down.gather(images.astype(np.float32), 1), 2)


@scale_and_translate_grad.kernel
def scale_and_translate_grad_kernel(
    grads: Array, original_image: Array, scale: Array, translation: Array, *, kernel_type: bytes, antialias: bool
) -> Array:
    _check_kernel(kernel_type)
    if np.ndim(grads) != 4 or np.ndim(original_image) != 4:
        raise InvalidArgumentError("input_grad and original_image must be 4-dimensional")
    scales, moves = _checked_scale(scale), _pair("translation", translation)
    _, rows, columns, _ = original_image.shape
    if not rows or not columns:
        raise InvalidArgumentError("original_image must have pixels")
    down = span_taps(kernel_type, grads.shape[1], rows, scales[0], moves[0], antialias)
    across = span_taps(kernel_type, grads.shape[2], columns, scales[1], moves[1], antialias)
    return across.scatter(down.scatter(grads, rows, 1), columns, 2)


@scale_and_translate.gradient
def scale_and_translate_gradient(op: Operation, dy: Tensor) -> Gradients:
    attrs = {name: op.attr(name) for name in ("kernel_type", "antialias")}
    image, _, scale, translation = op.inputs
    return [scale_and_translate_grad(dense(dy), image, scale, translation, **attrs), None, None, None]


# ------------------------------------------------------------------------------------------------------ Projections

_PROJECTED: Final = (
    "dtype: {uint8, int32, int64, half, bfloat16, float, double}",
    "interpolation: string",
    "fill_mode: string = 'CONSTANT'",
)
image_projective_transform_v2 = op(
    "ImageProjectiveTransformV2(images: dtype, transforms: float, output_shape: int32) -> transformed_images: dtype",
    *_PROJECTED,
)
image_projective_transform_v3 = op(
    "ImageProjectiveTransformV3(images: dtype, transforms: float, output_shape: int32, fill_value: float)"
    " -> transformed_images: dtype",
    *_PROJECTED,
)


def _projected_shape(images: Tensor, transforms: Tensor, output_shape: Tensor, *_: Tensor) -> Shape:
    return resized_shape(images, output_shape)


image_projective_transform_v2.shape(_projected_shape)
image_projective_transform_v3.shape(_projected_shape)


def _unchanged_places(places: Singles, size: int) -> Singles:
    return places


def _clamped_places(places: Singles, size: int) -> Singles:
    return np.clip(places, np.float32(0), np.float32(size - 1))


def _reflected_places(places: Singles, size: int) -> Singles:
    """Places along an axis of `size` pixels, those outside moved inside as if [abcd] were [dcba|abcd|dcba]."""
    if size <= 1:
        return _clamped_places(np.where((places < 0) | (places > size - 1), np.float32(0), places), size)
    period = np.float32(2 * size)
    low = period * np.trunc(-places / period) + places
    low = np.where(low < -size, low + period, -low - 1)
    high = places - period * np.trunc(places / period)
    high = np.where(high >= size, period - high - 1, high)
    return _clamped_places(np.where(places < 0, low, np.where(places > size - 1, high, places)), size)


def _wrapped_places(places: Singles, size: int) -> Singles:
    """Places along an axis of `size` pixels, those outside moved inside as if [abcd] were [abcd|abcd|abcd]."""
    if size <= 1:
        return _clamped_places(np.where((places < 0) | (places > size - 1), np.float32(0), places), size)
    period, edge = np.float32(size), np.float32(size - 1)
    low = places + period * (np.trunc(-places / edge) + 1)
    high = places - period * np.trunc(places / edge)
    return _clamped_places(np.where(places < 0, low, np.where(places > size - 1, high, places)), size)


_FILL_MODES: Final[dict[bytes, Callable[[Singles, int], Singles]]] = {
    b"REFLECT": _reflected_places,
    b"WRAP": _wrapped_places,
    b"CONSTANT": _unchanged_places,
    b"NEAREST": _clamped_places,
}


_FAR: Final = np.float32(2**31)  # beyond any image, and still a whole number of 64 bits


def _check_projection(images: Array, transforms: Array, output_shape: Array) -> tuple[int, int]:
    if np.ndim(images) != 4:
        raise InvalidArgumentError(f"Input images must have rank 4, got shape {list(np.shape(images))}")
    if np.ndim(transforms) != 2 or transforms.shape[0] not in (1, images.shape[0]) or transforms.shape[1] != 8:
        raise InvalidArgumentError(
            f"Input transform should be num_images x 8 or 1 x 8, got shape {list(np.shape(transforms))}"
        )
    if np.shape(output_shape) != (2,):
        raise InvalidArgumentError(f"output shape must have two elements, got shape {np.shape(output_shape)}")
    height, width = (int(size) for size in output_shape)
    if height <= 0 or width <= 0:
        raise InvalidArgumentError(f"output dimensions must be positive, got {height} and {width}")
    check_allocation((images.shape[0], height, width, images.shape[3]), np.float64, copies=4)
    return height, width


def _project(
    images: Array, transforms: Array, output_shape: Array, fill: Any, interpolation: bytes, fill_mode: bytes
) -> Array:
    height, width = _check_projection(images, transforms, output_shape)
    if interpolation not in (b"NEAREST", b"BILINEAR") or fill_mode not in _FILL_MODES:
        raise InvalidArgumentError(
            f"Invalid interpolation {interpolation!r} or fill mode {fill_mode!r}: "
            "interpolations are NEAREST, BILINEAR; modes REFLECT, WRAP, CONSTANT, NEAREST"
        )
    result = np.full((images.shape[0], height, width, images.shape[3]), fill, images.dtype)
    xs, ys = np.arange(width, dtype=np.float32)[None, :], np.arange(height, dtype=np.float32)[:, None]
    for number, image in enumerate(images):
        t = transforms[0 if len(transforms) == 1 else number]
        depth = t[6] * xs + t[7] * ys + np.float32(1)
        with np.errstate(all="ignore"):
            x = _FILL_MODES[fill_mode]((t[0] * xs + t[1] * ys + t[2]) / depth, image.shape[1])
            y = _FILL_MODES[fill_mode]((t[3] * xs + t[4] * ys + t[5]) / depth, image.shape[0])
        inside = (depth != 0) & (np.abs(x) < _FAR) & (np.abs(y) < _FAR)
        read = _nearest if interpolation == b"NEAREST" else _between
        result[number][inside] = read(image, y[inside], x[inside], fill)
    return result


def _nearest(image: Array, y: Singles, x: Singles, fill: Any) -> Array:
    return _pixels(image, round_half_away(y), round_half_away(x), fill)


def _between(image: Array, y: Singles, x: Singles, fill: Any) -> Array:
    top, left = np.floor(y), np.floor(x)
    bottom, right = top + np.float32(1), left + np.float32(1)

    def row(line: Singles) -> Singles:
        before, after = (_pixels(image, line, column, fill).astype(np.float32) for column in (left, right))
        result: Singles = (right - x)[:, None] * before + (x - left)[:, None] * after
        return result

    return ((bottom - y)[:, None] * row(top) + (y - top)[:, None] * row(bottom)).astype(image.dtype)


def _pixels(image: Array, y: Singles, x: Singles, fill: Any) -> Array:
    """The pixels at places, all channels; beyond the image the fill value."""
    rows, columns = y.astype(np.int64), x.astype(np.int64)
    inside = (rows >= 0) & (rows < image.shape[0]) & (columns >= 0) & (columns < image.shape[1])
    found = image[np.where(inside, rows, 0), np.where(inside, columns, 0)]
    return np.where(inside[:, None], found, fill).astype(image.dtype)


@image_projective_transform_v2.kernel
def image_projective_transform_v2_kernel(
    images: Array, transforms: Array, output_shape: Array, *, interpolation: bytes, fill_mode: bytes
) -> Array:
    return _project(images, transforms, output_shape, images.dtype.type(0), interpolation, fill_mode)


@image_projective_transform_v3.kernel
def image_projective_transform_v3_kernel(
    images: Array, transforms: Array, output_shape: Array, fill_value: Array, *, interpolation: bytes, fill_mode: bytes
) -> Array:
    if np.ndim(fill_value):
        raise InvalidArgumentError(f"fill_value must be a scalar, got shape {list(np.shape(fill_value))}")
    fill = np.float32(fill_value).astype(images.dtype)
    return _project(images, transforms, output_shape, fill, interpolation, fill_mode)


def _inverse_transforms(images: Tensor, transforms: Tensor) -> Tensor:
    """The transforms that undo these, each as eight numbers."""
    if images.dtype.name == "bfloat16":
        raise WrongTypeError(f"Invalid dtype {images.dtype}.")
    rank = transforms.static_shape.rank
    if rank not in (1, 2):
        raise WrongTypeError("Transforms should have rank 1 or 2.")
    with name_scope("flat_transforms_to_matrices", transforms.graph):
        rows = reshape(transforms, constant(np.array([-1, 8], np.int32), INT32))
        count = item(shape_of(rows), 0)
        whole = concat([rows, ones([count, 1], FLOAT32)], 1)
        matrices = reshape(whole, constant(np.array([-1, 3, 3], np.int32), INT32))
    inverse = emit("MatrixInverse", matrices, adjoint=False)
    with name_scope("matrices_to_flat_transforms", transforms.graph):
        flat = reshape(inverse, constant(np.array([-1, 9], np.int32), INT32))
        scaled = over(flat, item(flat, (slice(None), slice(8, 9))))
        return item(scaled, (slice(None), slice(None, 8)))


@image_projective_transform_v2.gradient
def image_projective_transform_v2_gradient(op: Operation, dy: Tensor) -> Gradients:
    inverse = _inverse_transforms(*op.inputs[:2])
    sizes = item(shape_of(op.inputs[0]), slice(1, 3))
    attrs = {name: op.attr(name) for name in ("interpolation", "fill_mode")}
    return [image_projective_transform_v2(dense(dy), inverse, sizes, **attrs), None, None]


@image_projective_transform_v3.gradient
def image_projective_transform_v3_gradient(op: Operation, dy: Tensor) -> Gradients:
    inverse = _inverse_transforms(*op.inputs[:2])
    sizes = item(shape_of(op.inputs[0]), slice(1, 3))
    attrs = {name: op.attr(name) for name in ("interpolation", "fill_mode")}
    return [image_projective_transform_v3(dense(dy), inverse, sizes, 0.0, **attrs), None, None, None]
