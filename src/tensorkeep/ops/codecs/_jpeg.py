"""JPEG files as pixels: windows by compiled code of ours, whole images by simplejpeg if it is there, all else by NumPy.
Pixels are those of libjpeg-turbo, which TensorFlow asks for them.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from tensorkeep.errors import InvalidArgumentError
from tensorkeep.native.jpeg import Colors, Enlargement, JpegWindow, has_jpeg_windows, jpeg_window
from tensorkeep.ops.codecs import _jpeg_transforms as transforms
from tensorkeep.ops.codecs import _libraries as libraries
from tensorkeep.ops.codecs._jpeg_sampling import (
    JpegOptions,
    Sampling,
    crop_columns,
    is_ycc,
    samplings,
    scaled_size,
)
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
from tensorkeep.runtime.limits import check_allocation

SIGNATURE: Final = b"\xff\xd8\xff"
_MOST_SCANS: Final = 64  # of a progressive file that a library decodes, which writes every block in each; usual are ten
_BAND: Final = 64  # rows of a window that are smoothed together: few enough for their planes to stay in a cache
_SMALLEST_SCALED: Final = 8  # by how many pixels an eighth more of a scale shows: below, several scales have one size


def jpeg_shape(contents: bytes) -> tuple[int, int, int]:
    """The height, the width and the channels that a file says it has."""
    frame = read_jpeg(contents, header_only=True).frame
    assert frame is not None
    return frame.height, frame.width, len(frame.components)


def decode_jpeg(contents: bytes, options: JpegOptions) -> Array:
    """The pixels, [height, width, channels]."""
    file = read_header(contents)
    pixels = _by_compiled_code(contents, file, options)
    if pixels is None:
        pixels = _by_library(contents, file, options)
    return _by_ourselves(contents, options) if pixels is None else pixels


def _by_compiled_code(contents: bytes, file: JpegContents, options: JpegOptions) -> Array | None:
    """The pixels of a window, or of all where there is no library, by compiled code; None for what that leaves."""
    frame = file.frame
    if not has_jpeg_windows() or (options.crop is None and libraries.simplejpeg() is not None):
        return None
    if frame is None or frame.is_progressive or len(frame.components) not in (1, 3):
        return None
    height, width = scaled_size(frame, options)
    (first, columns), skipped = crop_columns(frame, width, options)
    top, rows = (0, height) if options.crop is None else (options.crop[0], options.crop[2])
    try:
        sampled = samplings(frame, options)
    except InvalidArgumentError:  # in fractions of each other
        return None
    components = tuple(
        Enlargement(
            sampling.size,
            sampling.down,
            sampling.across,
            sampling.enlarging(-(-(first + columns) // sampling.across) - first // sampling.across, options),
        )
        for sampling in sampled
    )
    image = (frame.height, frame.width, 8 // options.ratio, height)
    colors = _colors(file, frame, options)
    window = JpegWindow(*image, top, rows, first, columns, skipped, colors, options.is_accurate, components)
    check_allocation(window.shape, np.uint8, copies=2)
    return jpeg_window(contents, window)


def _colors(file: JpegContents, frame: Frame, options: JpegOptions) -> Colors:
    count = options.channels or len(frame.components)
    if len(frame.components) == 1:
        return Colors.GRAY if count == 1 else Colors.GRAY_THRICE
    if is_ycc(file, frame):
        return Colors.GRAY if count == 1 else Colors.YCC_TO_RGB
    return Colors.RGB_TO_GRAY if count == 1 else Colors.RGB


def _by_library(contents: bytes, file: JpegContents, options: JpegOptions) -> Array | None:
    """The pixels by a library; None for what is left to us, because the library may do it otherwise, or cannot.

    Left are reduced images below eight pixels, of which the library is asked for a size and may choose another scale,
    and files of many scans, which cost much and say little.
    """
    if libraries.simplejpeg() is None:
        return None
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
    width = scaled_size(frame, options)[1]
    _, skipped = crop_columns(frame, width, options)
    if wide < width and _is_smoothed_across(file, frame, options):
        window = _window_of_samples(contents, file, frame, options)
        return None if window is None else window[:, skipped:]
    pixels = _whole_by_library(contents, file, frame, options)
    return None if pixels is None else pixels[top : top + rows, left : left + wide].copy()


def _whole_by_library(contents: bytes, file: JpegContents, frame: Frame, options: JpegOptions) -> Array | None:
    """All pixels by a library."""
    channels = 4 if len(frame.components) == 4 else options.channels or len(frame.components)
    shape = (*scaled_size(frame, options), channels)
    pixels = libraries.jpeg_pixels(contents, shape, is_fast=not options.is_accurate, is_smooth=options.is_smooth)
    if pixels is None or channels != 4:
        return pixels
    return _rgb_of_cmyk(pixels, file.adobe is not None)


def _is_smoothed_across(file: JpegContents, frame: Frame, options: JpegOptions) -> bool:
    """Whether pixels depend on those to their left and right, so that those at the borders of a window are others."""
    is_luma_alone = options.channels == 1 and is_ycc(file, frame)
    found = samplings(frame, options)[: 1 if is_luma_alone else None]
    return options.is_smooth and any(sampling.is_smoothed for sampling in found)


def _window_of_samples(contents: bytes, file: JpegContents, frame: Frame, options: JpegOptions) -> Array | None:
    """The pixels of the rows of a window, and of its columns from the last border of units before it on.

    TensorFlow (`jpeg_crop_scanline` of libjpeg-turbo) smooths chroma within these columns, as if there were nothing
    beside. So the library is told that the file is RGB, and to repeat samples: it then gives those of the file, and
    what is left, smoothing and colors, is done by us, for the window alone.
    """
    if len(frame.components) != 3:
        return None
    shape = (*scaled_size(frame, options), 3)
    samples = libraries.jpeg_pixels(as_if_rgb(contents), shape, is_fast=not options.is_accurate, is_smooth=False)
    if samples is None:
        return None
    assert options.crop is not None
    top, _, rows, _ = options.crop
    columns, _ = crop_columns(frame, shape[1], options)
    bands = [(at, min(_BAND, top + rows - at)) for at in range(top, top + rows, _BAND)]
    planes = (_window_planes(samples, samplings(frame, options), band, columns, options) for band in bands)
    return np.concatenate([_pixels_of_planes(file, frame, part, options.channels or 3) for part in planes])


def _window_planes(
    samples: Array,
    sampled: list[Sampling],
    band: tuple[int, int],
    columns: tuple[int, int],
    options: JpegOptions,
) -> list[Array]:
    """The samples of some rows and columns, first and count of each, smoothed within these columns alone."""
    (top, rows), (first, wide) = band, columns
    planes = []
    for index, sampling in enumerate(sampled):
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
    height, width = scaled_size(frame, options)
    check_allocation((height, width, len(frame.components)), np.int64, copies=4)
    kept = _kept_rows(state, height, options)
    columns, skipped = crop_columns(frame, width, options)
    planes = _planes(frame, options, height, columns)
    pixels = _pixels_of_planes(state, frame, planes, count)[:, skipped:]
    if kept is not None:
        pixels[kept:] = 0
    if options.crop is None:
        return pixels
    top, _, rows, _ = options.crop
    return pixels[top : top + rows]


def _kept_rows(state: JpegContents, height: int, options: JpegOptions) -> int | None:
    """How many rows of a file that breaks off are shown; None if all are. Those of the window have to be enough."""
    if not state.is_cut or options.recovers:
        return None
    assert state.frame is not None
    kept = min(height, state.whole_rows // options.ratio)
    if options.is_smooth and len(state.frame.components) > 1 and state.frame.down > 1 and 8 // options.ratio > 1:
        kept = max(0, kept - state.frame.down)  # the last rows wait for those below them
    top, rows = (0, height) if options.crop is None else (options.crop[0], options.crop[2])
    shown = min(max(kept - top, 0), rows)
    if np.float32(shown / rows) < min(np.float32(1), np.float32(options.acceptable)):
        raise bad_jpeg(f"it breaks off after {kept} of {height} rows, {shown} of {rows} that are asked for")
    return kept


def _planes(frame: Frame, options: JpegOptions, height: int, columns: tuple[int, int]) -> list[Array]:
    """The samples of every component, all of the same size."""
    first, wide = columns
    found = []
    for component, sampling in zip(frame.components, samplings(frame, options), strict=True):
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


def _pixels_of_planes(state: JpegContents, frame: Frame, planes: list[Array], count: int) -> Array:
    """Gray or RGB of what the components are."""
    has_brightness = is_ycc(state, frame)
    if len(planes) == 1:
        return np.repeat(planes[0][..., None], count, 2)
    if len(planes) == 2:
        raise InvalidArgumentError("JPEG of two components is not supported")
    if len(planes) == 4:
        if count == 1:
            raise InvalidArgumentError("JPEG of four components cannot be decoded as gray")
        inks = 255 - transforms.rgb_of_ycc(*planes[:3]) if has_brightness else np.stack(planes[:3], -1)
        return _rgb_of_cmyk(np.concatenate([inks, planes[3][..., None]], -1), state.adobe is not None)
    if count == 1:
        return (planes[0] if has_brightness else transforms.gray_of_rgb(*planes))[..., None].copy()
    return transforms.rgb_of_ycc(*planes) if has_brightness else np.stack(planes, -1)


def _rgb_of_cmyk(inks: Array, is_inverted: bool) -> Array:
    colors, black = inks[..., :3].astype(np.int32), inks[..., 3:].astype(np.int32)
    mixed = black * colors // 255 if is_inverted else (255 - black) * (255 - colors) // 255
    return mixed.astype(np.uint8)
