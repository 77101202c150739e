"""Images and sounds as files, under the names of TensorFlow 1's `tf.image` and `tf.audio`."""

from __future__ import annotations

from collections.abc import Sequence

from tensorkeep.dtypes import FLOAT32, INT32, UINT8, UINT16, DType
from tensorkeep.graph.arguments import DTypeLike, TensorLike, emit, emit_tensors
from tensorkeep.graph.conversion import convert
from tensorkeep.graph.graph import Tensor
from tensorkeep.ops.codecs import audio, image_files
from tensorkeep.tf1.functions.arrays.shapes import scope_of
from tensorkeep.tf1.functions.images.colors import convert_image_dtype
from tensorkeep.tf1.functions.numbers.elementwise import equal
from tensorkeep.tf1.functions.parsing.strings import substr


def is_jpeg(contents: TensorLike, name: str | None = None) -> Tensor:
    """Whether a file begins as JPEG files do."""
    with scope_of(name, "is_jpeg"):
        return equal(substr(contents, 0, 3), b"\xff\xd8\xff", name=name)


def decode_jpeg(
    contents: TensorLike,
    channels: int = 0,
    ratio: int = 1,
    fancy_upscaling: bool = True,
    try_recover_truncated: bool = False,
    acceptable_fraction: float = 1,
    dct_method: str = "",
    name: str | None = None,
) -> Tensor:
    """The pixels of a JPEG file."""
    return emit(
        image_files.decode_jpeg,
        contents,
        channels=channels,
        ratio=ratio,
        fancy_upscaling=fancy_upscaling,
        try_recover_truncated=try_recover_truncated,
        acceptable_fraction=acceptable_fraction,
        dct_method=dct_method,
        name=name,
    )


def decode_and_crop_jpeg(
    contents: TensorLike,
    crop_window: TensorLike,
    channels: int = 0,
    ratio: int = 1,
    fancy_upscaling: bool = True,
    try_recover_truncated: bool = False,
    acceptable_fraction: float = 1,
    dct_method: str = "",
    name: str | None = None,
) -> Tensor:
    """The pixels of a part of a JPEG file: top, left, height, width."""
    return emit(
        image_files.decode_and_crop_jpeg,
        contents,
        crop_window,
        channels=channels,
        ratio=ratio,
        fancy_upscaling=fancy_upscaling,
        try_recover_truncated=try_recover_truncated,
        acceptable_fraction=acceptable_fraction,
        dct_method=dct_method,
        name=name,
    )


def decode_png(contents: TensorLike, channels: int = 0, dtype: DTypeLike = UINT8, name: str | None = None) -> Tensor:
    """The pixels of a PNG file."""
    return emit(image_files.decode_png, contents, channels=channels, dtype=dtype, name=name)


def decode_gif(contents: TensorLike, name: str | None = None) -> Tensor:
    """The frames of a GIF file."""
    return emit(image_files.decode_gif, contents, name=name)


def decode_bmp(contents: TensorLike, channels: int = 0, name: str | None = None) -> Tensor:
    """The pixels of a BMP file."""
    return emit(image_files.decode_bmp, contents, channels=channels, name=name)


def decode_webp(contents: TensorLike, channels: int = 0, dtype: DTypeLike = UINT8, name: str | None = None) -> Tensor:
    """The frames of a WebP file."""
    return emit(image_files.decode_webp, contents, channels=channels, dtype=dtype, name=name)


def decode_image(
    contents: TensorLike,
    channels: int | None = None,
    dtype: DTypeLike = UINT8,
    name: str | None = None,
    expand_animations: bool = True,
) -> Tensor:
    """The pixels of a file of any kind; of a GIF all frames, or the first one."""
    with scope_of(name, "decode_image"):
        count = 0 if channels is None else channels
        target = DType.of(dtype)
        decoded = target if target in (FLOAT32, UINT8, UINT16) else UINT16
        image = emit(
            image_files.decode_image, contents, channels=count, expand_animations=expand_animations, dtype=decoded
        )
        if decoded is not target:
            image = convert_image_dtype(image, target)
        if not expand_animations:
            image.set_shape([None, None, count or None])
        return image


def encode_png(image: TensorLike, compression: int = -1, name: str | None = None) -> Tensor:
    """A PNG file of an image."""
    return emit(image_files.encode_png, convert(image), compression=compression, name=name)


def encode_jpeg(
    image: TensorLike,
    format: str = "",
    quality: int = 95,
    progressive: bool = False,
    optimize_size: bool = False,
    chroma_downsampling: bool = True,
    density_unit: str = "in",
    x_density: int = 300,
    y_density: int = 300,
    xmp_metadata: str = "",
    name: str | None = None,
) -> Tensor:
    """A JPEG file of an image."""
    return emit(
        image_files.encode_jpeg,
        image,
        format=format,
        quality=quality,
        progressive=progressive,
        optimize_size=optimize_size,
        chroma_downsampling=chroma_downsampling,
        density_unit=density_unit,
        x_density=x_density,
        y_density=y_density,
        xmp_metadata=xmp_metadata,
        name=name,
    )


def extract_jpeg_shape(contents: TensorLike, output_type: DTypeLike = INT32, name: str | None = None) -> Tensor:
    """The height, width and channels of a JPEG file."""
    return emit(image_files.extract_jpeg_shape, contents, output_type=output_type, name=name)


def decode_wav(
    contents: TensorLike, desired_channels: int = -1, desired_samples: int = -1, name: str | None = None
) -> Sequence[Tensor]:
    """The samples of a WAV file of 16 bits, between -1 and 1, and how many there are in a second."""
    return emit_tensors(
        audio.decode_wav, contents, desired_channels=desired_channels, desired_samples=desired_samples, name=name
    )


def encode_wav(audio: TensorLike, sample_rate: TensorLike, name: str | None = None) -> Tensor:
    """A WAV file of 16 bits of samples between -1 and 1."""
    return emit(_encode_wav, audio, sample_rate, name=name)


_encode_wav = audio.encode_wav
