"""Images of another size, boxes cut out of them, and their colors."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from tensorkeep.arrays import Array
from tensorkeep.jax.registry import lowering, own_derivative
from tensorkeep.jax.values import sizes
from tensorkeep.ops.images.resampling import Taps, bicubic_taps, bilinear_taps, nearest_places


def _resample_images(images: Any, rows: Taps, columns: Taps) -> Any:
    """Images whose pixels are weighted sums of others, line by line."""
    wide = images if images.dtype == jnp.float64 else images.astype(jnp.float32)
    for axis, taps in ((1, rows), (2, columns)):
        total: Any = 0
        for tap in range(taps.places.shape[1]):
            shape = [-1 if at == axis else 1 for at in range(4)]
            total = total + jnp.take(wide, taps.places[:, tap], axis) * taps.weights[:, tap].reshape(shape)
        wide = total
    return wide


@lowering("ResizeNearestNeighbor", known=("size",))
def resize_nearest(images: jax.Array, size: Array, *, align_corners: bool, half_pixel_centers: bool) -> jax.Array:
    height, width = sizes(size)
    rows = nearest_places(images.shape[1], height, align_corners, half_pixel_centers)
    columns = nearest_places(images.shape[2], width, align_corners, half_pixel_centers)
    return images[:, rows[:, None], columns]


@lowering("ResizeBilinear", known=("size",))
def resize_bilinear(images: jax.Array, size: Array, *, align_corners: bool, half_pixel_centers: bool) -> jax.Array:
    height, width = sizes(size)
    rows = bilinear_taps(images.shape[1], height, align_corners, half_pixel_centers)
    return _resample_images(images, rows, bilinear_taps(images.shape[2], width, align_corners, half_pixel_centers))


@lowering("ResizeBicubic", known=("size",))
def resize_bicubic(images: jax.Array, size: Array, *, align_corners: bool, half_pixel_centers: bool) -> jax.Array:
    height, width = sizes(size)
    rows = bicubic_taps(images.shape[1], height, align_corners, half_pixel_centers)
    return _resample_images(images, rows, bicubic_taps(images.shape[2], width, align_corners, half_pixel_centers))


@lowering("ResizeNearestNeighborGrad", known=("size",))
def resize_nearest_grad(grads: jax.Array, size: Array, *, align_corners: bool, half_pixel_centers: bool) -> jax.Array:
    shape = (grads.shape[0], *sizes(size), grads.shape[3])

    def forward(images: Any) -> Any:
        return resize_nearest(
            images, np.array(grads.shape[1:3]), align_corners=align_corners, half_pixel_centers=half_pixel_centers
        )

    return jax.linear_transpose(forward, jax.ShapeDtypeStruct(shape, grads.dtype))(grads)[0]


@lowering("ResizeBilinearGrad")
def resize_bilinear_grad(
    grads: jax.Array, original_image: jax.Array, *, align_corners: bool, half_pixel_centers: bool
) -> jax.Array:
    def forward(images: Any) -> Any:
        return resize_bilinear(
            images, np.array(grads.shape[1:3]), align_corners=align_corners, half_pixel_centers=half_pixel_centers
        )

    wide = jnp.promote_types(original_image.dtype, jnp.float32)
    shape = jax.ShapeDtypeStruct(original_image.shape, wide)
    return jax.linear_transpose(forward, shape)(grads.astype(wide))[0]


@lowering("RGBToHSV")
def rgb_to_hsv(images: jax.Array) -> jax.Array:
    red, green, blue = (images[..., at] for at in range(3))
    value = jnp.max(images, -1)
    span = value - jnp.min(images, -1)
    saturation = jnp.where(value > 0, span / jnp.where(value > 0, value, 1), 0)
    norm = 1 / (6 * jnp.where(span > 0, span, 1))
    hue = jnp.where(red == value, norm * (green - blue),
                    jnp.where(green == value, norm * (blue - red) + 2 / 6, norm * (red - green) + 4 / 6))  # fmt: skip
    hue = jnp.where(span > 0, hue, 0)
    return jnp.stack([jnp.where(hue < 0, hue + 1, hue), saturation, value], -1)


@lowering("HSVToRGB")
def hsv_to_rgb(images: jax.Array) -> jax.Array:
    hue, saturation, value = (images[..., at] for at in range(3))
    turn = hue * 6
    red = jnp.clip(jnp.abs(turn - 3) - 1, 0, 1)
    green = jnp.clip(2 - jnp.abs(turn - 2), 0, 1)
    blue = jnp.clip(2 - jnp.abs(turn - 4), 0, 1)
    parts = jnp.stack([red, green, blue], -1)
    return ((1 - saturation)[..., None] + saturation[..., None] * parts) * value[..., None]


@lowering("AdjustContrastv2")
def adjust_contrast(images: jax.Array, contrast_factor: jax.Array) -> jax.Array:
    wide = images.astype(jnp.float32)
    mean = jnp.mean(wide, (-3, -2), keepdims=True)
    return ((wide - mean) * contrast_factor + mean).astype(images.dtype)


@lowering("CropAndResize", known=("crop_size",))
def crop_and_resize(
    image: jax.Array,
    boxes: jax.Array,
    box_ind: jax.Array,
    crop_size: Array,
    *,
    method: bytes,
    extrapolation_value: float,
) -> jax.Array:
    def crops(image: Any, boxes: Any, method: bytes) -> Any:
        return _crops(image, boxes, box_ind, sizes(crop_size), method, extrapolation_value)

    @own_derivative
    def nearest(image: Any, boxes: Any) -> Any:
        return crops(image, boxes, b"nearest")

    @nearest.defjvp
    def derived(given: tuple[Any, Any], moved: tuple[Any, Any]) -> tuple[Any, Any]:
        """The gradient of boxes is that of the other method, which TensorFlow has for both."""
        image, boxes = given
        found, of_image = jax.jvp(lambda image: crops(image, boxes, b"nearest"), (image,), moved[:1])
        of_boxes = jax.jvp(lambda boxes: crops(image, boxes, b"bilinear"), (boxes,), moved[1:])[1]
        return found, of_image + of_boxes

    return nearest(image, boxes) if method == b"nearest" else crops(image, boxes, method)


def _crops(
    image: Any, boxes: Any, box_ind: Any, size: tuple[int, ...], method: bytes, extrapolation_value: float
) -> Any:
    height, width = size

    def places(first: Any, last: Any, size: int, count: int) -> Any:
        scale = (last - first) * (size - 1) / (count - 1) if count > 1 else jnp.zeros_like(first)
        start = first * (size - 1) if count > 1 else 0.5 * (first + last) * (size - 1)
        return start + jnp.arange(count, dtype=jnp.float32) * scale

    def one(box: Any, number: Any) -> Any:
        own = image[number].astype(jnp.float32)
        rows = places(box[0], box[2], own.shape[0], height)
        columns = places(box[1], box[3], own.shape[1], width)
        is_inside = ((rows >= 0) & (rows <= own.shape[0] - 1))[:, None] & (
            (columns >= 0) & (columns <= own.shape[1] - 1)
        )
        if method == b"nearest":
            found = own[_at(_nearest(rows), own.shape[0])][:, _at(_nearest(columns), own.shape[1])]
        else:
            found = _between(_between(own, rows, 0), columns, 1)
        return jnp.where(is_inside[..., None], found, jnp.float32(extrapolation_value))

    return jax.vmap(one)(boxes, box_ind)


def _nearest(places: Any) -> Any:
    return jnp.where(places - jnp.floor(places) >= 0.5, jnp.floor(places) + 1, jnp.floor(places))


def _at(places: Any, size: int) -> Any:
    return jnp.clip(places, 0, size - 1).astype(jnp.int32)


def _between(image: Any, places: Any, axis: int) -> Any:
    """Pixels at places between others, along an axis of an image."""
    low = jnp.floor(places)
    shape = [-1 if at == axis else 1 for at in range(3)]
    part = (places - low).reshape(shape)
    first = jnp.take(image, _at(low, image.shape[axis]), axis)
    second = jnp.take(image, _at(jnp.ceil(places), image.shape[axis]), axis)
    return first + (second - first) * part
