"""Libraries that decode and encode images faster than we do, where they are installed (the extra `images`).

simplejpeg decodes JPEG: libjpeg-turbo, with the choice of transform and smoothing that TensorFlow makes. Pillow
undoes the filters of PNG, unpacks GIF, decodes WebP and writes JPEG. They are given what they do exactly as TensorFlow
does, after our own code has read the headers and checked sizes against the memory that there is. Each function returns
None for what is left to our own code: if the library is absent, and whatever it refuses, warns of or cannot do.
"""

from __future__ import annotations

import zlib
from functools import cache
from typing import Any, Final

import numpy as np

from tensorkeep.io.files.memory import bytes_written_by, file_of
from tensorkeep.ops.shared.kernel_types import Array

_COLORS: Final = {1: "GRAY", 3: "RGB", 4: "CMYK"}
_MODES: Final = {1: "L", 2: "LA", 3: "RGB", 4: "RGBA"}  # Pillow's, by the bytes of a pixel


@cache
def simplejpeg() -> Any | None:
    """The package simplejpeg; None if it is not installed."""
    try:
        import simplejpeg
    except ImportError:
        return None
    return simplejpeg


@cache
def pillow() -> Any | None:
    """The module `PIL.Image`; None if it is not installed."""
    try:
        import PIL.Image
    except ImportError:
        return None
    return PIL.Image


@cache
def pillow_jpeg() -> Any | None:
    """`PIL.Image` if it writes JPEG by libjpeg-turbo as TensorFlow does; MozJPEG and others write other bytes."""
    library = pillow()
    if library is None:
        return None
    import PIL.features
    import PIL.JpegImagePlugin

    is_turbo = getattr(library.core, "HAVE_LIBJPEGTURBO", False) and not getattr(library.core, "HAVE_MOZJPEG", False)
    return library if PIL.features.check("jpg") and is_turbo else None


@cache
def pillow_webp() -> Any | None:
    """The module of Pillow that reads WebP; None if it is not installed, or was compiled without libwebp."""
    if pillow() is None:
        return None
    import PIL.WebPImagePlugin

    return PIL.WebPImagePlugin if PIL.WebPImagePlugin.SUPPORTED else None


def jpeg_pixels(contents: bytes, shape: tuple[int, int, int], *, is_fast: bool, is_smooth: bool) -> Array | None:
    """The pixels of a sound JPEG file, of this height, width and number of channels: gray, RGB, or CMYK.

    A shape smaller than the image asks for the scale that gives it.
    """
    library = simplejpeg()
    if library is None:
        return None
    height, width, channels = shape
    try:
        pixels: Array = library.decode_jpeg(
            contents,
            _COLORS[channels],
            fastdct=is_fast,
            fastupsample=not is_smooth,
            min_height=height,
            min_width=width,
            strict=True,
        )
    except (ValueError, MemoryError):
        return None
    return pixels if pixels.shape == shape else None


def jpeg_file(
    image: Array, quality: int, *, is_progressive: bool, optimizes: bool, halves_chroma: bool
) -> bytes | None:
    """A JPEG file from its tables on, without the JFIF segment that Pillow puts before them."""
    library = pillow_jpeg()
    if library is None:
        return None
    is_gray = image.shape[2] == 1
    sampling = {} if is_gray else {"subsampling": 2 if halves_chroma else 0}
    picture = library.fromarray(np.ascontiguousarray(image[..., 0] if is_gray else image))
    options = {"quality": max(1, quality), "progressive": is_progressive, "optimize": optimizes, **sampling}
    try:
        file = bytes_written_by(lambda target: picture.save(target, "JPEG", **options))
    except (OSError, ValueError, MemoryError):
        return None
    return file[20:]  # after two bytes of the first marker, and eighteen of JFIF


def png_lines(lines: Array, step: int) -> Array | None:
    """The bytes of lines of a PNG file, [rows, bytes], without the filter that stands before each.

    `step` is how many bytes a pixel has. Pillow takes four at most: of six or eight, the even ones are one image and
    the odd ones another, for a filter looks at the same byte of the pixels around.
    """
    library = pillow()
    if library is None:
        return None
    count = 1 if step <= 4 else 2
    rows, mode = len(lines), _MODES[step // count]
    result = np.empty((rows, lines.shape[1] - 1), np.uint8)
    for number in range(count):
        target = result[:, number::count]
        part = lines if count == 1 else np.concatenate([lines[:, :1], lines[:, 1 + number :: count]], 1)
        size = (target.shape[1] * count // step, rows)
        # It takes compressed lines only; compressing nothing is a copy. It would accept streams that end too early.
        stream = zlib.compress(np.ascontiguousarray(part).data, 0)
        try:
            image = library.frombytes(mode, size, stream, "zip", mode, 0)
        except (ValueError, OSError, MemoryError):
            return None
        target[...] = np.asarray(image).reshape(rows, -1)
    return result


def gif_pixels(blocks: bytes, width: int, height: int, bits: int, *, is_interlaced: bool) -> Array | None:
    """The places in the palette of one frame of a GIF file, [height, width], from its data with their lengths."""
    library = pillow()
    if library is None or not width or not height:
        return None
    try:
        image = library.frombytes("P", (width, height), blocks, "gif", bits, int(is_interlaced), -1)
    except (ValueError, OSError, MemoryError):
        return None
    return np.asarray(image)


def webp_pixels(contents: bytes, height: int, width: int) -> Array | None:
    """The pixels of a WebP file of one frame, [height, width, 3 or 4]."""
    library = pillow_webp()
    if library is None:
        return None
    try:
        pixels = np.array(library.WebPImageFile(file_of(contents)))
    except (ValueError, OSError, SyntaxError, MemoryError, EOFError):
        return None
    return pixels if pixels.shape[:2] == (height, width) else None
