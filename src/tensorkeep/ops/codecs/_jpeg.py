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
from tensorkeep.ops.codecs._jpeg_segments import (
    Component,
    Frame,
    JpegContents,
    as_if_rgb,
    bad_jpeg,
    read_header,
    read_jpeg,
)
from tensorkeep.ops.shared.kernel_types import Array
from tensorkeep.runtime.allocation import check_allocation

SIGNATURE: Final = b"\xff\xd8\xff"
_MOST_SCANS: Final = 64  # of a progressive file that a library decodes, which writes every block in each; usual are ten
_BAND: Final = 64  # rows of a window that are smoothed together: few enough for their planes to stay in a cache
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

    Left are reduced images below eight pixels, of which the library is asked for a size and may choose another scale,
    and files of many scans, which cost much and say little.
    """
    if libraries.simplejpeg() is None:
        return None
    file = read_header(contents)
    frame = file.frame
    if frame is None or len(frame.components) == 2 or (len(frame.components) == 4 and options.channels == 1):
        return None
    if options.ratio != 1 and max(frame.height, frame.width) < _SMALLEST_SCALED:
        return None
    if frame.is_progressive and contents.count(b"\xff\xda") > _MOST_SCANS:
        return None
    # Coefficients of two bytes, all of them if the image is progressive, and the pixels.
    check_allocation((frame.height, frame.width, len(frame.components)), np.uint8, copies=5)
    if options.crop is None:
        return _whole_by_library(contents, file, frame, options)
    return _window_by_library(contents, file, frame, options)


def _window_by_library(contents: bytes, file: JpegContents, frame: Frame, options: JpegOptions) -> Array | None:
    """The pixels of a window by a library: cut out of all of them, unless those at its borders are others."""
    assert options.crop is not None
    top, left, rows, wide = options.crop
    width = _scaled_size(frame, options)[1]
    _, skipped = _crop_columns(frame, width, options)
    if wide < width and _is_smoothed_across(file, frame, options):
        window = _window_of_samples(contents, file, frame, options)
        return None if window is None else window[:, skipped:]
    pixels = _whole_by_library(contents, file, frame, options)
    return None if pixels is None else pixels[top : top + rows, left : left + wide].copy()


def _whole_by_library(contents: bytes, file: JpegContents, frame: Frame, options: JpegOptions) -> Array | None:
    """All pixels by a library."""
    channels = 4 if len(frame.components) == 4 else options.channels or len(frame.components)
    shape = (*_scaled_size(frame, options), channels)
    pixels = libraries.jpeg_pixels(contents, shape, is_fast=not options.is_accurate, is_smooth=options.is_smooth)
    if pixels is None or channels != 4:
        return pixels
    return _rgb_of_cmyk(pixels, file.adobe is not None)


def _is_smoothed_across(file: JpegContents, frame: Frame, options: JpegOptions) -> bool:
    """Whether pixels depend on those to their left and right, so that those at the borders of a window are others."""
    is_luma_alone = options.channels == 1 and _is_ycc(file, frame)
    samplings = _samplings(frame, options)
    return options.is_smooth and any(sampling.is_smoothed for sampling in samplings[: 1 if is_luma_alone else None])


def _window_of_samples(contents: bytes, file: JpegContents, frame: Frame, options: JpegOptions) -> Array | None:
    """The pixels of the rows of a window, and of its columns from the last border of units before it on.

    TensorFlow (`jpeg_crop_scanline` of libjpeg-turbo) smooths chroma within these columns, as if there were nothing
    beside. So the library is told that the file is RGB, and to repeat samples: it then gives those of the file, and
    what is left, smoothing and colors, is done by us, for the window alone.
    """
    if len(frame.components) != 3:
        return None
    shape = (*_scaled_size(frame, options), 3)
    samples = libraries.jpeg_pixels(as_if_rgb(contents), shape, is_fast=not options.is_accurate, is_smooth=False)
    if samples is None:
        return None
    assert options.crop is not None
    top, _, rows, _ = options.crop
    columns, _ = _crop_columns(frame, shape[1], options)
    bands = [(at, min(_BAND, top + rows - at)) for at in range(top, top + rows, _BAND)]
    planes = (_window_planes(samples, _samplings(frame, options), band, columns, options) for band in bands)
    return np.concatenate([_colored(file, frame, part, options.channels or 3) for part in planes])


def _window_planes(
    samples: Array,
    samplings: list[_Sampling],
    band: tuple[int, int],
    columns: tuple[int, int],
    options: JpegOptions,
) -> list[Array]:
    """The samples of some rows and columns, first and count of each, smoothed within these columns alone."""
    (top, rows), (first, wide) = band, columns
    planes = []
    for index, sampling in enumerate(samplings):
        begin = max(0, top // sampling.down - 1) * sampling.down  # a row above, and one below, for smoothing
        end = (-(-(top + rows) // sampling.down) + 1) * sampling.down
        part = samples[begin : end : sampling.down, first : first + wide : sampling.across, index]
        planes.append(sampling.enlarged(part, options)[top - begin :][:rows, :wide])
    return planes


def _by_ourselves(contents: bytes, options: JpegOptions) -> Array:
    state = read_jpeg(contents)
    frame = state.frame
    assert frame is not None
    count = options.channels or min(len(frame.components), 3)
    if count == 2:
        raise InvalidArgumentError("JPEG of two components is not supported")
    height, width = _scaled_size(frame, options)
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


def _scaled_size(frame: Frame, options: JpegOptions) -> tuple[int, int]:
    """The height and the width of the whole image, as small as it is asked for."""
    return -(-frame.height // options.ratio), -(-frame.width // options.ratio)


@dataclass(frozen=True, slots=True)
class _Sampling:
    """How the samples of a component become those of the image."""

    size: int  # samples along one side of a decoded block
    down: int  # how many rows, and columns, of the image there are for one of samples
    across: int
    line: int  # samples of a whole line of the file
    is_smoothed: bool  # across, if that is asked for

    def enlarged(self, part: Array, options: JpegOptions) -> Array:
        """Some rows of samples with as many rows and columns as the image has there."""
        # What a crop leaves of a line does not count, unless it is a single sample.
        width = self.line if part.shape[1] > 1 else part.shape[1]
        return _enlarged(part, (self.down, self.across), options.is_smooth and options.ratio < 8, width)


def _samplings(frame: Frame, options: JpegOptions) -> list[_Sampling]:
    """How each component is sampled: chroma is made less small than brightness, where it has fewer samples."""
    size = 8 // options.ratio
    is_single = len(frame.components) == 1
    across, down = (1, 1) if is_single else (frame.across, frame.down)
    found = []
    for component in frame.components:
        own_across, own_down = (1, 1) if is_single else (component.across, component.down)
        own = size
        while own < 8 and (across * size) % (own_across * own * 2) == 0 and (down * size) % (own_down * own * 2) == 0:
            own *= 2
        if (down * size) % (own_down * own) or (across * size) % (own_across * own):
            raise InvalidArgumentError("JPEG with components sampled in fractions of each other is not supported")
        factors = (down * size // (own_down * own), across * size // (own_across * own))
        line = -(-frame.width * own_across * own // (across * 8))
        found.append(_Sampling(own, *factors, line, size > 1 and factors in ((1, 2), (2, 2))))
    return found


def _planes(frame: Frame, options: JpegOptions, height: int, columns: tuple[int, int]) -> list[Array]:
    """The samples of every component, all of the same size."""
    first, wide = columns
    found = []
    for component, sampling in zip(frame.components, _samplings(frame, options), strict=True):
        plane = _samples(component, sampling.size, options.is_accurate)
        begin, end = first // sampling.across, -(-(first + wide) // sampling.across)
        part = plane[: -(-height // sampling.down), begin:end]
        found.append(sampling.enlarged(part, options)[:height, :wide])
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
