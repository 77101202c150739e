"""Windows of JPEG files, decoded in one call: of what lies outside, codes are read and no pixels are computed.

Which files are known stands in jpeg.cpp; whoever calls has something else for all others, and for damaged ones.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import IntEnum
from functools import cache

import numpy as np

from tensorkeep.arrays import Array
from tensorkeep.native.library import address, compiled_function

_MOST_COMPONENTS = 3


class Enlarging(IntEnum):
    """How samples become pixels: each several times, or smoothly, twice as many across, down, or both ways."""

    REPEATED = 0
    WIDENED = 1
    HEIGHTENED = 2
    DOUBLED = 3


class Colors(IntEnum):
    """What pixels are made of samples."""

    GRAY = 0
    GRAY_THRICE = 1
    YCC_TO_RGB = 2
    RGB = 3
    RGB_TO_GRAY = 4


@dataclass(frozen=True, slots=True)
class Enlargement:
    """How a component's samples become pixels: samples along a block, rows and columns for each of them, and how."""

    size: int
    down: int
    across: int
    enlarging: Enlarging


@dataclass(frozen=True, slots=True)
class JpegWindow:
    """What is asked for of a file."""

    height: int  # of the file, as its header says
    width: int
    size: int  # samples along one side of a block where there is one for each pixel: 8, or less for a smaller image
    image_height: int  # of the image as small as it is asked for
    top: int
    rows: int
    first: int  # of the columns that are decoded
    columns: int
    skipped: int  # of these columns, left out then
    colors: Colors
    is_accurate: bool
    components: tuple[Enlargement, ...]

    @property
    def shape(self) -> tuple[int, int, int]:
        """Of the pixels."""
        channels = 1 if self.colors in (Colors.GRAY, Colors.RGB_TO_GRAY) else 3
        return self.rows, self.columns - self.skipped, channels


@cache
def _function() -> Callable[..., int] | None:
    return compiled_function("jpeg_window", "blpp", "i")


def has_jpeg_windows() -> bool:
    """Whether the compiled library is there, and has them."""
    return _function() is not None


def jpeg_window(contents: bytes, window: JpegWindow) -> Array | None:
    """The pixels, [rows, columns, channels]; None if the library is not there, or the file not known or damaged.

    What of a file lies below the window is not looked at. Lets other threads run.
    """
    function = _function()
    if function is None or not 1 <= len(window.components) <= _MOST_COMPONENTS:
        return None
    pixels = np.empty(window.shape, np.uint8)
    plan = _plan(window)
    return pixels if function(contents, len(contents), address(plan), address(pixels)) == 0 else None


def _plan(window: JpegWindow) -> Array:
    """The window as `Plan` of jpeg.cpp."""
    image = (window.height, window.width, len(window.components), window.size, window.image_height)
    place = (window.top, window.rows, window.first, window.columns, window.skipped)
    plan = np.zeros(12 + 4 * _MOST_COMPONENTS, np.int32)
    plan[:12] = (*image, *place, window.colors, window.is_accurate)
    for number, component in enumerate(window.components):
        how = (component.size, component.down, component.across, component.enlarging)
        plan[12 + 4 * number :][:4] = how
    return plan
