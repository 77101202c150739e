"""Colors and types of images, under the names of TensorFlow 1's `tf.image`."""

from __future__ import annotations

from typing import Any, Final

from tensorkeep.dtypes import FLOAT16, FLOAT32, INT32, UINT8, DType
from tensorkeep.errors import InvalidArgumentError
from tensorkeep.graph.arguments import DTypeLike, TensorLike, emit
from tensorkeep.graph.conversion import convert
from tensorkeep.graph.graph import Tensor
from tensorkeep.ops.images import colors
from tensorkeep.tf1.functions.arrays.shapes import concat, expand_dims, identity, ones, rank, scope_of, tile
from tensorkeep.tf1.functions.control.grouping import with_dependencies
from tensorkeep.tf1.functions.images.checks import checked_grayscale, checks_that, is_tensor
from tensorkeep.tf1.functions.linear_algebra.products import tensordot
from tensorkeep.tf1.functions.numbers.elementwise import add, cast, floordiv, limits, multiply, saturate_cast
from tensorkeep.tf1.functions.random.numbers import random_uniform

# ---------------------------------------------------------------------------------------------------- Types


def convert_image_dtype(image: TensorLike, dtype: DTypeLike, saturate: bool = False, name: str | None = None) -> Tensor:
    """The image in another type: numbers with a fraction are of [0, 1], whole ones up to the largest of their type."""
    image = convert(image, name="image")
    target = DType.of(dtype)
    for what, found in (("dtype", target), ("image dtype", image.dtype)):
        if not found.is_floating and not found.is_integer:
            raise InvalidArgumentError(f"{what} must be either floating point or integer, got {found}")
    if target is image.dtype:
        return identity(image, name=name)
    with scope_of(name, "convert_image", image) as scope:
        if image.dtype.is_floating and target.is_floating:
            return cast(image, target, scope)
        if target.is_floating:
            return multiply(cast(image, target), 1.0 / limits(image.dtype)[1], name=scope)
        if image.dtype.is_floating:
            scaled = multiply(image, limits(target)[1] + 0.5)
            return saturate_cast(scaled, target, scope) if saturate else cast(scaled, target, scope)
        return _whole_to_whole(image, target, saturate, scope)


def _whole_to_whole(image: Tensor, target: DType, saturate: bool, scope: str) -> Tensor:
    most_in, most_out = limits(image.dtype)[1], limits(target)[1]
    if most_in > most_out:
        scaled = floordiv(image, (most_in + 1) // (most_out + 1))
        return saturate_cast(scaled, target, scope) if saturate else cast(scaled, target, scope)
    same = saturate_cast(image, target) if saturate else cast(image, target)
    return multiply(same, (most_out + 1) // (most_in + 1), name=scope)


def _with_fractions(image: Tensor) -> Tensor:
    return image if image.dtype in (FLOAT16, FLOAT32) else convert_image_dtype(image, FLOAT32)


# ---------------------------------------------------------------------------------------------------- Adjusted


def adjust_brightness(image: TensorLike, delta: TensorLike) -> Tensor:
    """The image with `delta` added to every pixel."""
    with scope_of(None, "adjust_brightness", image, delta) as scope:
        image = convert(image, name="image")
        values = _with_fractions(image)
        adjusted = add(values, cast(delta, values.dtype), name=scope)
        return convert_image_dtype(adjusted, image.dtype, saturate=True)


def adjust_contrast(images: TensorLike, contrast_factor: TensorLike) -> Tensor:
    """The images with the distance of every pixel from the mean of its channel times a factor."""
    with scope_of(None, "adjust_contrast", images, contrast_factor) as scope:
        images = convert(images, name="images")
        adjusted = colors.adjust_contrast_v2(_with_fractions(images), contrast_factor, name=scope)
        return convert_image_dtype(adjusted, images.dtype, saturate=True)


def adjust_gamma(image: TensorLike, gamma: Tensor | float = 1, gain: Tensor | float = 1) -> Tensor:
    """Every pixel to a power, times a gain."""
    with scope_of(None, "adjust_gamma", image, gamma, gain):
        image = convert(image, name="image")
        values = _with_fractions(image)
        checks = checks_that(gamma >= 0, "Gamma should be a non-negative real number.")
        if checks:
            gamma = with_dependencies(checks, gamma)
        return convert_image_dtype(gain * values**gamma, image.dtype, saturate=True)


def adjust_hue(image: TensorLike, delta: TensorLike, name: str | None = None) -> Tensor:
    """The image with the hue of every pixel turned by a part of the circle."""
    with scope_of(name, "adjust_hue", image):
        image = convert(image, name="image")
        return convert_image_dtype(colors.adjust_hue(_with_fractions(image), delta), image.dtype)


def adjust_saturation(image: TensorLike, saturation_factor: TensorLike, name: str | None = None) -> Tensor:
    """The image with the saturation of every pixel times a factor."""
    with scope_of(name, "adjust_saturation", image):
        image = convert(image, name="image")
        return convert_image_dtype(colors.adjust_saturation(_with_fractions(image), saturation_factor), image.dtype)


def adjust_jpeg_quality(
    image: TensorLike, jpeg_quality: TensorLike, dct_method: str = "", name: str | None = None
) -> Tensor:
    """The image as it is after having been a JPEG file of some quality."""
    with scope_of(name, "adjust_jpeg_quality", image):
        image = convert(image, name="image")
        channels = image.static_shape.dims[-1] if image.static_shape.dims else None
        pixels = convert_image_dtype(image, UINT8, saturate=True)
        if not is_tensor(jpeg_quality):
            jpeg_quality = convert(jpeg_quality, INT32)
        contents = emit("EncodeJpegVariableQuality", pixels, jpeg_quality)
        decoded = emit("DecodeJpeg", contents, channels=channels, dct_method=dct_method)
        return convert_image_dtype(decoded, image.dtype, saturate=True)


# ------------------------------------------------------------------------------------------------- At random


def random_brightness(image: TensorLike, max_delta: float, seed: int | None = None) -> Tensor:
    """The image with a random number between `-max_delta` and `max_delta` added to every pixel."""
    if max_delta < 0:
        raise InvalidArgumentError("max_delta must be non-negative.")
    return adjust_brightness(image, random_uniform([], -max_delta, max_delta, seed=seed))


def _check_range(lower: Any, upper: Any) -> None:
    if upper <= lower:
        raise InvalidArgumentError("upper must be > lower.")
    if lower < 0:
        raise InvalidArgumentError("lower must be non-negative.")


def random_contrast(image: TensorLike, lower: float, upper: float, seed: int | None = None) -> Tensor:
    """The image with its contrast times a factor between two."""
    _check_range(lower, upper)
    return adjust_contrast(image, random_uniform([], lower, upper, seed=seed))


def random_saturation(image: TensorLike, lower: float, upper: float, seed: int | None = None) -> Tensor:
    """The image with its saturation times a factor between two."""
    _check_range(lower, upper)
    return adjust_saturation(image, random_uniform([], lower, upper, seed=seed))


def random_hue(image: TensorLike, max_delta: float, seed: int | None = None) -> Tensor:
    """The image with its hue turned by at most that part of the circle."""
    if max_delta > 0.5:
        raise InvalidArgumentError("max_delta must be <= 0.5.")
    if max_delta < 0:
        raise InvalidArgumentError("max_delta must be non-negative.")
    return adjust_hue(image, random_uniform([], -max_delta, max_delta, seed=seed))


def random_jpeg_quality(
    image: TensorLike, min_jpeg_quality: int, max_jpeg_quality: int, seed: int | None = None
) -> Tensor:
    """The image as it is after having been a JPEG file of a quality between two."""
    if min_jpeg_quality < 0 or max_jpeg_quality < 0 or min_jpeg_quality > 100 or max_jpeg_quality > 100:
        raise InvalidArgumentError("jpeg encoding range must be between 0 and 100.")
    if min_jpeg_quality >= max_jpeg_quality:
        raise InvalidArgumentError("`min_jpeg_quality` must be less than `max_jpeg_quality`.")
    quality = random_uniform([], min_jpeg_quality, max_jpeg_quality, seed=seed, dtype=INT32)
    return adjust_jpeg_quality(image, quality)


# ------------------------------------------------------------------------------------------- Ways to write colors


def rgb_to_grayscale(images: TensorLike, name: str | None = None) -> Tensor:
    """The brightness of every pixel, as the only channel."""
    with scope_of(name, "rgb_to_grayscale", images) as scope:
        images = convert(images, name="images")
        values = convert_image_dtype(images, FLOAT32)
        gray = tensordot(values, [0.2989, 0.587, 0.114], [-1, -1])
        return convert_image_dtype(expand_dims(gray, -1), images.dtype, name=scope)


def grayscale_to_rgb(images: Tensor, name: str | None = None) -> Tensor:
    """The only channel three times."""
    with scope_of(name, "grayscale_to_rgb", images) as scope:
        images = convert(checked_grayscale(images), name="images")
        leading = expand_dims(rank(images) - 1, 0)
        multiples = concat([ones(leading, dtype=INT32), expand_dims(3, 0)], 0)
        colored = tile(images, multiples, name=scope)
        dims = images.static_shape.dims
        colored.set_shape(None if dims is None else [*dims[:-1], 3])
        return colored


def rgb_to_hsv(images: TensorLike, name: str | None = None) -> Tensor:
    """Colors as hue, saturation and value."""
    return emit(colors.rgb_to_hsv, images, name=name)


def hsv_to_rgb(images: TensorLike, name: str | None = None) -> Tensor:
    """Colors as red, green and blue."""
    return emit(colors.hsv_to_rgb, images, name=name)


_RGB_TO_YIQ: Final = [
    [0.299, 0.59590059, 0.2115],
    [0.587, -0.27455667, -0.52273617],
    [0.114, -0.32134392, 0.31119955],
]
_YIQ_TO_RGB: Final = [
    [1, 1, 1],
    [0.95598634, -0.27201283, -1.10674021],
    [0.6208248, -0.64720424, 1.70423049],
]
_RGB_TO_YUV: Final = [
    [0.299, -0.14714119, 0.61497538],
    [0.587, -0.28886916, -0.51496512],
    [0.114, 0.43601035, -0.10001026],
]
_YUV_TO_RGB: Final = [[1, 1, 1], [0, -0.394642334, 2.03206185], [1.13988303, -0.58062185, 0]]


def _mix_channels(images: Any, matrix: Any) -> Tensor:
    """Every pixel times a matrix."""
    images = convert(images, name="images")
    kernel = convert(matrix, images.dtype.base_dtype, "kernel")
    count = images.static_shape.rank
    return tensordot(images, kernel, axes=[[count - 1], [0]])


def rgb_to_yiq(images: TensorLike) -> Tensor:
    """Colors as brightness and two differences of colors, as American television has them."""
    return _mix_channels(images, _RGB_TO_YIQ)


def yiq_to_rgb(images: TensorLike) -> Tensor:
    """The opposite of `rgb_to_yiq`."""
    return _mix_channels(images, _YIQ_TO_RGB)


def rgb_to_yuv(images: TensorLike) -> Tensor:
    """Colors as brightness and two differences of colors, as European television has them."""
    return _mix_channels(images, _RGB_TO_YUV)


def yuv_to_rgb(images: TensorLike) -> Tensor:
    """The opposite of `rgb_to_yuv`."""
    return _mix_channels(images, _YUV_TO_RGB)
