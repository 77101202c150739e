"""BMP files, uncompressed.

bmp = "BM" size reserved offset header…       at 10: where pixels begin; 18, 22: width, height; 28: bits of a pixel

Lines are filled up to four bytes; they run from the bottom unless the height is negative. Pixels are blue, green, red.
"""

from __future__ import annotations

import struct

import numpy as np

from tensorkeep.errors import InvalidArgumentError
from tensorkeep.ops.shared.kernel_types import Array
from tensorkeep.runtime.limits import check_allocation

SIGNATURE = b"BM"


def decode_bmp(contents: bytes, channels: int) -> Array:
    """The pixels, [height, width, channels]; 0 channels are those of the file."""
    if channels == 1:
        raise InvalidArgumentError("`channels` must be 0, 3 or 4 for BMP, but got 1")
    if len(contents) < 32:
        raise InvalidArgumentError(f"Incomplete bmp content, requires at least 32 bytes, got {len(contents)} bytes")
    (offset,) = struct.unpack_from("<i", contents, 10)
    width, height = struct.unpack_from("<ii", contents, 18)
    (bits,) = struct.unpack_from("<h", contents, 28)
    found = int(bits / 8)
    if found not in (1, 3, 4):
        raise InvalidArgumentError(f"Number of channels inherent in the image must be 1, 3 or 4, was {found}")
    if width <= 0 or height == 0 or offset < 0:
        raise InvalidArgumentError(f"Width must be positive, height nonzero: {width}, {height}; header of {offset}")
    rows = abs(height)
    if width * rows >= (2**31 - 1) // 8:
        raise InvalidArgumentError("Total possible pixel bytes must be less than 2^30")
    line = (found * width + 3) // 4 * 4
    if len(contents) != offset + line * rows:
        raise InvalidArgumentError(
            "Input size should match (header_size + row_size * abs_height) but they differ by "
            f"{len(contents) - offset - line * rows}"
        )
    check_allocation((rows, width, channels or found), np.uint8)
    lines = np.frombuffer(contents, np.uint8, line * rows, offset).reshape(rows, line)
    pixels = lines[:, : width * found].reshape(rows, width, found)
    return _convert_channels(pixels if height < 0 else pixels[::-1], channels or found)


def _convert_channels(pixels: Array, channels: int) -> Array:
    rows, columns, found = pixels.shape
    result = np.empty((rows, columns, channels), np.uint8)
    for channel in range(min(channels, 3)):
        result[..., channel] = pixels[..., 0 if found == 1 else 2 - channel]
    if channels == 4:
        result[..., 3] = pixels[..., 3] if found == 4 else 255
    return result
