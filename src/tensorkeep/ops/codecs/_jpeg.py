"""JPEG files as pixels: by simplejpeg if it is there, else by our own code. Pixels are those of libjpeg-turbo, which
TensorFlow asks for them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from tensorkeep.errors import InvalidArgumentError
from tensorkeep.ops.codecs import _jpeg_transforms as transforms
from tensorkeep.ops.codecs import _libraries as libraries
from tensorkeep.ops.codecs._jpeg_segments import Component, Frame, JpegContents, bad_jpeg, read_header, read_jpeg
from tensorkeep.ops.shared.kernel_types import Array
from tensorkeep.runtime.allocation import check_allocation

SIGNATURE: Final = b"\xff\xd8\xff"
_MOST_SCANS: Final = 64  # of a progressive file that a library decodes, which writes every block in each; usual are ten
_SMALLEST_SCALED: Final = 8  # by how many pixels an eighth more of a scale shows: below, several scales have one size


@dataclass(frozen=True, slots=True)
class JpegOptions:
    """How a file is read: how many channels (0: its own), how much smaller, how exactly."""

    channels: int = 0
    ratio: int = 1
    is_smooth: bool = True
    is_accurate: bool = False
    recovers: bool = False
    acceptable: float = 1.0
    crop: tuple[int, int, int, int] | None = None  # top, left, height, width


def jpeg_shape(contents: bytes) -> tuple[int, int, int]:
    """The height, the width and the channels that a file says it has."""
    frame = read_jpeg(contents, header_only=True).frame
    assert frame is not None
    return frame.height, frame.width, len(frame.components)


def decode_jpeg(contents: bytes, options: JpegOptions) -> Array:
    """The pixels, [height, width, channels]."""
    pixels = _by_library(contents, options)
    return _by_ourselves(contents, options) if pixels is None else pixels


def _by_library(contents: bytes, options: JpegOptions) -> Array | None:
    """The pixels by a library; None for what is left to us, because the library may do it otherwise, or cannot.

    Windows are left: TensorFlow smooths within them, as if there were nothing beside. So are reduced images below eight
    pixels, of which the library is asked for a size and may choose another scale, and files of many scans, which cost
    much and say little.
    """
    if options.crop is not None or libraries.simplejpeg() is None:
        return None
    state = read_header(contents)
    frame = state.frame
    if frame is None or len(frame.components) == 2 or (len(frame.components) == 4 and options.channels == 1):
        return None
    if options.ratio != 1 and max(frame.height, frame.width) < _SMALLEST_SCALED:
        return None
    if frame.is_progressive and contents.count(b"\xff\xda") > _MOST_SCANS:
        return None
    # Coefficients of two bytes, all of them if the image is progressive, and the pixels.
    check_allocation((frame.height, frame.width, len(frame.components)), np.uint8, copies=5)
    channels = 4 if len(frame.components) == 4 else options.channels or len(frame.components)
    shape = (-(-frame.height // options.ratio), -(-frame.width // options.ratio), channels)
    pixels = libraries.jpeg_pixels(contents, shape, is_fast=not options.is_accurate, is_smooth=options.is_smooth)
    if pixels is None or channels != 4:
        return pixels
    return _rgb_of_cmyk(pixels, state.adobe is not None)


def _by_ourselves(contents: bytes, options: JpegOptions) -> Array:
    state = read_jpeg(contents)
    frame = state.frame
    assert frame is not None
    count = options.channels or min(len(frame.components), 3)
    if count == 2:
        raise InvalidArgumentError("JPEG of two components is not supported")
    height, width = -(-frame.height // options.ratio), -(-frame.width // options.ratio)
    check_allocation((height, width, len(frame.components)), np.int64, copies=4)
    kept = _kept_rows(state, height, options)
    columns, skipped = _crop_columns(frame, width, options)
    planes = _planes(frame, options, height, columns)
    pixels = _colored(state, frame, planes, count)[:, skipped:]
    if kept is not None:
        pixels[kept:] = 0
    if options.crop is None:
        return pixels
    top, _, rows, _ = options.crop
    return pixels[top : top + rows]


def _kept_rows(state: JpegContents, height: int, options: JpegOptions) -> int | None:
    """How many rows of a file that breaks off are shown; None if all are."""
    if not state.is_cut or options.recovers:
        return None
    assert state.frame is not None
    kept = min(height, state.whole_rows // options.ratio)
    if options.is_smooth and len(state.frame.components) > 1 and state.frame.down > 1 and 8 // options.ratio > 1:
        kept = max(0, kept - state.frame.down)  # the last rows wait for those below them
    if np.float32(kept / height) < min(np.float32(1), np.float32(options.acceptable)):
        raise bad_jpeg(f"it breaks off after {kept} of {height} rows")
    return kept


def _crop_columns(frame: Frame, width: int, options: JpegOptions) -> tuple[tuple[int, int], int]:
    """Which columns are decoded, first and count, and how many of them are then left out."""
    if options.crop is None:
        return (0, width), 0
    top, left, rows, columns = options.crop
    height = -(-frame.height // options.ratio)
    if columns <= 0 or rows <= 0 or left < 0 or top < 0 or top + rows > height or left + columns > width:
        raise bad_jpeg(f"no window of {rows} by {columns} at {top}, {left} in {height} by {width}")
    size = 8 // options.ratio
    align = size if len(frame.components) == 1 else size * frame.across
    first = left // align * align
    return (first, columns + left - first), left - first


def _planes(frame: Frame, options: JpegOptions, height: int, columns: tuple[int, int]) -> list[Array]:
    """The samples of every component, all of the same size."""
    size = 8 // options.ratio
    across = 1 if len(frame.components) == 1 else frame.across
    down = 1 if len(frame.components) == 1 else frame.down
    found = []
    for component in frame.components:
        own_across, own_down = (1, 1) if len(frame.components) == 1 else (component.across, component.down)
        own = size
        while own < 8 and (across * size) % (own_across * own * 2) == 0 and (down * size) % (own_down * own * 2) == 0:
            own *= 2
        plane = _samples(component, own, options.is_accurate)
        first = columns[0] * own_across // (size * across) * own
        wide = -(-columns[1] * own_across * own // (across * size))
        tall = -(-height * own_down * own // (down * size))
        part = plane[:tall, first : first + wide]
        factors = (down * size // (own_down * own), across * size // (own_across * own))
        if (down * size) % (own_down * own) or (across * size) % (own_across * own):
            raise InvalidArgumentError("JPEG with components sampled in fractions of each other is not supported")
        # What a crop leaves of a line does not count, unless it is a single sample.
        whole = -(-frame.width * own_across * own // (across * 8)) if wide > 1 else wide
        is_smooth = options.is_smooth and size > 1
        found.append(_enlarged(part, factors, is_smooth, whole)[:height, : columns[1]])
    return found


def _samples(component: Component, size: int, is_accurate: bool) -> Array:
    plane = component.plane
    if plane is None or component.quantization is None:
        raise bad_jpeg(f"component {component.number} has no coefficients or no quantization")
    blocks = np.frombuffer(plane.values, np.int16).reshape(-1, 8, 8)
    if size < 8:
        samples = transforms.inverse_reduced(blocks, component.quantization, size)
    elif is_accurate:
        samples = transforms.inverse_accurate(blocks, component.quantization)
    else:
        samples = transforms.inverse_fast(blocks, component.quantization)
    grid = samples.reshape(plane.rows, plane.columns, size, size).swapaxes(1, 2)
    return grid.reshape(plane.rows * size, plane.columns * size)


def _enlarged(plane: Array, factors: tuple[int, int], is_smooth: bool, width: int) -> Array:
    """The plane with more rows and columns; smoothly across only if a line has enough samples."""
    if factors == (1, 1):
        return plane
    if is_smooth and factors == (1, 2) and width > 2:
        return transforms.widened_smoothly(plane)
    if is_smooth and factors == (2, 2) and width > 2:
        return transforms.doubled_smoothly(plane)
    if is_smooth and factors == (2, 1):
        return transforms.heightened_smoothly(plane)
    return transforms.repeat_samples(plane, *factors)


def _colored(state: JpegContents, frame: Frame, planes: list[Array], count: int) -> Array:
    """Gray or RGB of what the components are."""
    is_ycc = _is_ycc(state, frame)
    if len(planes) == 1:
        return np.repeat(planes[0][..., None], count, 2)
    if len(planes) == 2:
        raise InvalidArgumentError("JPEG of two components is not supported")
    if len(planes) == 4:
        if count == 1:
            raise InvalidArgumentError("JPEG of four components cannot be decoded as gray")
        inks = 255 - transforms.rgb_of_ycc(*planes[:3]) if is_ycc else np.stack(planes[:3], -1)
        return _rgb_of_cmyk(np.concatenate([inks, planes[3][..., None]], -1), state.adobe is not None)
    if count == 1:
        return (planes[0] if is_ycc else transforms.gray_of_rgb(*planes))[..., None].copy()
    return transforms.rgb_of_ycc(*planes) if is_ycc else np.stack(planes, -1)


def _is_ycc(state: JpegContents, frame: Frame) -> bool:
    """Whether the first three components are brightness and two differences."""
    if len(frame.components) == 4:
        return state.adobe is not None and state.adobe != 0
    if state.is_jfif:
        return True
    if state.adobe is not None:
        return state.adobe != 0
    return [component.number for component in frame.components] != [82, 71, 66]


def _rgb_of_cmyk(inks: Array, is_inverted: bool) -> Array:
    colors, black = inks[..., :3].astype(np.int32), inks[..., 3:].astype(np.int32)
    mixed = black * colors // 255 if is_inverted else (255 - black) * (255 - colors) // 255
    return mixed.astype(np.uint8)
