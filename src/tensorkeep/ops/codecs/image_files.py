"""Images as files: JPEG, PNG, GIF, BMP and WebP, decoded and encoded."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from tensorkeep.dtypes import DType
from tensorkeep.errors import InternalError, InvalidArgumentError
from tensorkeep.graph.graph import Tensor
from tensorkeep.graph.registry.opspec import op
from tensorkeep.ops.codecs import _bmp, _gif, _jpeg, _webp, png
from tensorkeep.ops.codecs._jpeg import decode_jpeg as jpeg_pixels
from tensorkeep.ops.codecs._jpeg_encoding import JpegFormat
from tensorkeep.ops.codecs._jpeg_encoding import encode_jpeg as jpeg_file
from tensorkeep.ops.codecs._jpeg_sampling import JpegOptions
from tensorkeep.ops.shared.dimensions import at_least, of_rank
from tensorkeep.ops.shared.kernel_types import Array
from tensorkeep.ops.shared.shape_rules import SCALAR, with_rank
from tensorkeep.shapes import UNKNOWN_SHAPE, Shape

# ---------------------------------------------------------------------------------------------------- Decoding

_JPEG_ATTRS: Final = (
    "channels: int = 0",
    "ratio: int = 1",
    "fancy_upscaling: bool = true",
    "try_recover_truncated: bool = false",
    "acceptable_fraction: float = 1.0",
    "dct_method: string = ''",
)
decode_jpeg = op("DecodeJpeg(contents: string) -> image: uint8", *_JPEG_ATTRS)
decode_and_crop_jpeg = op("DecodeAndCropJpeg(contents: string, crop_window: int32) -> image: uint8", *_JPEG_ATTRS)
decode_png = op("DecodePng(contents: string) -> image: dtype", "channels: int = 0", "dtype: {uint8, uint16} = uint8")
decode_gif = op("DecodeGif(contents: string) -> image: uint8")
decode_bmp = op("DecodeBmp(contents: string) -> image: uint8", "channels: int = 0")
decode_image = op(
    "DecodeImage(contents: string) -> image: dtype",
    "channels: int = 0",
    "dtype: {uint8, uint16, float} = uint8",
    "expand_animations: bool = true",
)
decode_webp = op("DecodeWebP(contents: string) -> image: dtype", "channels: int = 0", "dtype: {uint8} = uint8")
extract_jpeg_shape = op(
    "ExtractJpegShape(contents: string) -> image_shape: output_type", "output_type: {int32, int64} = int32"
)


@decode_jpeg.shape
@decode_png.shape
@decode_bmp.shape
def decoded_shape(contents: Tensor, *, channels: int) -> Shape:
    with_rank(contents, 0)
    if channels < 0:
        raise InvalidArgumentError(f"channels must be non-negative, got {channels}")
    return Shape((None, None, channels or None))


@decode_webp.shape
def decode_webp_shape(contents: Tensor, *, channels: int) -> Shape:
    return Shape((None, *decoded_shape(contents, channels=channels)))


@decode_and_crop_jpeg.shape
def decode_and_crop_jpeg_shape(contents: Tensor, crop_window: Tensor, *, channels: int) -> Shape:
    return decoded_shape(contents, channels=channels)


@decode_gif.shape
def decode_gif_shape(contents: Tensor) -> Shape:
    with_rank(contents, 0)
    return Shape((None, None, None, 3))


@decode_image.shape
def decode_image_shape(contents: Tensor, *, channels: int, expand_animations: bool) -> Shape:
    return UNKNOWN_SHAPE if expand_animations else Shape((None, None, channels or None))


@extract_jpeg_shape.shape
def extract_jpeg_shape_shape(contents: Tensor) -> Shape:
    with_rank(contents, 0)
    return Shape((3,))


def _file(contents: Any) -> bytes:
    if np.ndim(contents):
        raise InvalidArgumentError(f"`contents` must be scalar but got shape {list(np.shape(contents))}")
    data = contents.item() if isinstance(contents, np.ndarray) else contents
    if not data:
        raise InvalidArgumentError("Input is empty.")
    return bytes(data)


def _check_channels(channels: int) -> None:
    if channels not in (0, 1, 3, 4):
        raise InvalidArgumentError(f"`channels` must be 0, 1, 3 or 4 but got {channels}")


def _kind(data: bytes) -> str:
    for signature, kind in (
        (_jpeg.SIGNATURE, "JPEG"),
        (png.SIGNATURE, "PNG"),
        (_gif.SIGNATURE, "GIF"),
        (_bmp.SIGNATURE, "BMP"),
    ):
        if data.startswith(signature):
            return kind
    if _webp.is_webp(data):
        return "WebP"
    raise InvalidArgumentError("Unknown image file format. One of JPEG, PNG, GIF, BMP, WebP required.")


def _decode_file(
    op_name: str, data: bytes, options: JpegOptions, is_wide: bool = False, first_only: bool = False
) -> Array:
    """The pixels of a file of any kind that the op takes; of a GIF all frames."""
    kind, channels = _kind(data), options.channels
    if op_name == "DecodeBmp" and kind != "BMP":
        raise InvalidArgumentError(f"Trying to decode {kind} format using DecodeBmp op. Use `decode_image` instead.")
    if op_name == "DecodeAndCropJpeg" and kind != "JPEG":
        raise InvalidArgumentError(f"DecodeAndCropJpeg operation can run on JPEG only, but detected {kind}.")
    if kind == "JPEG":
        if channels == 4:
            raise InvalidArgumentError("JPEG does not support 4 channels")
        return jpeg_pixels(data, options)
    if kind == "PNG":
        return png.decode_png(data, channels, is_wide)
    if kind == "GIF":
        if channels not in (0, 3):
            raise InvalidArgumentError(f"channels must be 0 or 3 for GIF, got {channels}")
        return _gif.decode_gif(data, first_only)
    if kind == "WebP":
        if channels == 1:
            raise InvalidArgumentError("WebP only supports 3 or 4 channels")
        if is_wide:
            raise InvalidArgumentError("WebP only supports uint8 for dtype")
        return _webp.decode_webp(data, channels)
    if op_name not in ("DecodeBmp", "DecodeImage"):
        raise InvalidArgumentError(
            f"Trying to decode BMP format using a wrong op. Use `decode_bmp` or `decode_image` instead. Op: {op_name}"
        )
    return _bmp.decode_bmp(data, channels)


def _one_frame(image: Array) -> Array:
    if image.ndim == 3:
        return image
    if len(image) != 1:
        raise InvalidArgumentError(
            f"Got {len(image)} frames, but animated gifs can only be decoded by tf.io.decode_gif or tf.io.decode_image"
        )
    found: Array = image[0]
    return found


def _jpeg_options(
    channels: int, ratio: int, smooth: bool, recovers: bool, acceptable: float, dct_method: bytes
) -> JpegOptions:
    _check_channels(channels)
    if ratio not in (1, 2, 4, 8):
        raise InvalidArgumentError(f"ratio must be 1, 2, 4, or 8, got {ratio}")
    if dct_method not in (b"", b"INTEGER_FAST", b"INTEGER_ACCURATE"):
        raise InvalidArgumentError("dct_method must be one of {'', 'INTEGER_FAST', 'INTEGER_ACCURATE'}")
    return JpegOptions(channels, ratio, smooth, dct_method == b"INTEGER_ACCURATE", recovers, acceptable)


@decode_jpeg.kernel
def decode_jpeg_kernel(
    contents: Array,
    *,
    channels: int,
    ratio: int,
    fancy_upscaling: bool,
    try_recover_truncated: bool,
    acceptable_fraction: float,
    dct_method: bytes,
) -> Array:
    options = _jpeg_options(channels, ratio, fancy_upscaling, try_recover_truncated, acceptable_fraction, dct_method)
    return _one_frame(_decode_file("DecodeJpeg", _file(contents), options))


@decode_and_crop_jpeg.kernel
def decode_and_crop_jpeg_kernel(
    contents: Array,
    crop_window: Array,
    *,
    channels: int,
    ratio: int,
    fancy_upscaling: bool,
    try_recover_truncated: bool,
    acceptable_fraction: float,
    dct_method: bytes,
) -> Array:
    options = _jpeg_options(channels, ratio, fancy_upscaling, try_recover_truncated, acceptable_fraction, dct_method)
    if np.shape(crop_window) != (4,):
        raise InvalidArgumentError(f"crop_size must have four elements, got shape {list(np.shape(crop_window))}")
    top, left, height, width = (int(number) for number in crop_window)
    cropped = JpegOptions(
        options.channels,
        options.ratio,
        options.is_smooth,
        options.is_accurate,
        options.recovers,
        options.acceptable,
        (top, left, height, width),
    )
    return _decode_file("DecodeAndCropJpeg", _file(contents), cropped)


@decode_png.kernel
def decode_png_kernel(contents: Array, *, channels: int, dtype: DType) -> Array:
    _check_channels(channels)
    is_wide = dtype.name == "uint16"
    found = _one_frame(_decode_file("DecodePng", _file(contents), JpegOptions(channels), is_wide))
    return _as_type(found, dtype)


@decode_gif.kernel
def decode_gif_kernel(contents: Array) -> Array:
    found = _decode_file("DecodeGif", _file(contents), JpegOptions(3))
    return found if found.ndim == 4 else found[None]


@decode_bmp.kernel
def decode_bmp_kernel(contents: Array, *, channels: int) -> Array:
    _check_channels(channels)
    return _decode_file("DecodeBmp", _file(contents), JpegOptions(channels))


@decode_webp.kernel
def decode_webp_kernel(contents: Array, *, channels: int) -> Array:
    _check_channels(channels)
    return _decode_file("DecodeWebP", _file(contents), JpegOptions(channels))


@decode_image.kernel
def decode_image_kernel(contents: Array, *, channels: int, dtype: DType, expand_animations: bool) -> Array:
    _check_channels(channels)
    data = _file(contents)
    found = _decode_file("DecodeImage", data, JpegOptions(channels), dtype.name != "uint8", not expand_animations)
    if found.ndim == 4 and not expand_animations:
        found = found[0]
    return _as_type(found, dtype)


def _as_type(image: Array, dtype: DType) -> Array:
    """Pixels of 8 or 16 bits as another type: 16 bits by a shift, numbers with a fraction by a share of the largest."""
    if image.dtype == dtype.array_dtype:
        return image
    if dtype.name == "uint16":
        return image.astype(np.uint16) * np.uint16(256)
    scale = np.float32(1.0 / np.iinfo(image.dtype).max)
    return image.astype(np.float32) * scale


@extract_jpeg_shape.kernel
def extract_jpeg_shape_kernel(contents: Array, *, output_type: DType) -> Array:
    return np.array(_jpeg.jpeg_shape(_file(contents)), output_type.array_dtype)


# ---------------------------------------------------------------------------------------------------- Encoding

encode_png = op("EncodePng(image: T) -> contents: string", "compression: int = -1", "T: {uint8, uint16} = uint8")
encode_jpeg = op(
    "EncodeJpeg(image: uint8) -> contents: string",
    "format: {'', 'grayscale', 'rgb'} = ''",
    "quality: int = 95",
    "progressive: bool = false",
    "optimize_size: bool = false",
    "chroma_downsampling: bool = true",
    "density_unit: {'in', 'cm'} = 'in'",
    "x_density: int = 300",
    "y_density: int = 300",
    "xmp_metadata: string = ''",
)
encode_jpeg_variable_quality = op("EncodeJpegVariableQuality(images: uint8, quality: int32) -> contents: string")


@encode_png.shape
def encode_png_shape(image: Tensor) -> Shape:
    shape = image.static_shape
    at_least(shape, 3)
    return UNKNOWN_SHAPE if shape.dims is None else Shape(shape.dims[:-3])


@encode_jpeg.shape
def encode_jpeg_shape(image: Tensor) -> Shape:
    of_rank(image.static_shape, 3)
    return SCALAR


@encode_jpeg_variable_quality.shape
def encode_jpeg_variable_quality_shape(images: Tensor, quality: Tensor) -> Shape:
    of_rank(images.static_shape, 3)
    with_rank(quality, 0)
    return SCALAR


@encode_png.kernel
def encode_png_kernel(image: Array, *, compression: int) -> Array:
    if np.ndim(image) < 3:
        raise InvalidArgumentError(f"images must be at least rank 3, got shape {list(np.shape(image))}")
    if not -1 <= compression <= 9:
        raise InvalidArgumentError(f"compression should be in [-1,9], got {compression}")
    *batch, height, width, channels = image.shape
    if not 1 <= channels <= 4:
        raise InvalidArgumentError(f"image must have 1, 2, 3, or 4 channels, got {channels}")
    if not height or not width or height * width >= 2**29:
        raise InternalError(f"images of {height} by {width} pixels cannot be PNG files")
    files = np.empty(batch, object)
    for place in np.ndindex(*batch):
        files[place] = png.encode_png(image[place], compression)
    return files


def _checked_pixels(image: Array) -> Array:
    if np.ndim(image) != 3:
        raise InvalidArgumentError(f"image must be 3-dimensional, got shape {list(np.shape(image))}")
    height, width, _ = image.shape
    if not height or not width or height > 65500 or width > 65500 or height * width >= 2**29:
        raise InternalError(f"JPEG encoding failed: an image of {height} by {width} pixels")
    return image


@encode_jpeg.kernel
def encode_jpeg_kernel(
    image: Array,
    *,
    format: bytes,
    quality: int,
    progressive: bool,
    optimize_size: bool,
    chroma_downsampling: bool,
    density_unit: bytes,
    x_density: int,
    y_density: int,
    xmp_metadata: bytes,
) -> Array:
    channels = _checked_pixels(image).shape[2]
    wanted = {b"": channels, b"grayscale": 1, b"rgb": 3}[format]
    if channels not in (1, 3) or wanted != channels:
        raise InvalidArgumentError(f"image must have 1 or 3 channels, {format!r} has {wanted}, got {channels}")
    if not 0 <= quality <= 100:
        raise InvalidArgumentError(f"quality must be in [0,100], got {quality}")
    unit = 2 if density_unit == b"cm" else 1
    options = JpegFormat(
        quality, progressive, optimize_size, chroma_downsampling, (unit, x_density, y_density), xmp_metadata
    )
    return np.array(jpeg_file(image, options), object)


@encode_jpeg_variable_quality.kernel
def encode_jpeg_variable_quality_kernel(images: Array, quality: Array) -> Array:
    channels = _checked_pixels(images).shape[2]
    if channels not in (1, 3):
        raise InvalidArgumentError(f"image must have 1 or 3 channels, got {channels}")
    if np.ndim(quality) or not 0 <= int(quality) <= 100:
        raise InvalidArgumentError(f"quality must be a number in [0,100], got {quality}")
    return np.array(jpeg_file(images, JpegFormat(int(quality))), object)
