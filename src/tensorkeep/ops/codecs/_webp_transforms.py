"""What is done to the pixels of a lossless WebP image before they are coded, undone.

prediction   each pixel is less than a guess from its neighbours, by one of 14 rules a block
colors       red and blue are less parts of green, and blue of red, by three factors a block
green        red and blue are less green
palette      pixels are numbers of colors, several to a word where there are 16 colors or fewer
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
import numpy.typing as npt

Words = npt.NDArray[np.uint32]
Planes = npt.NDArray[np.uint8]
Pixel = list[int]

PREDICTION, COLORS, GREEN, PALETTE = range(4)
_SHIFTS: Final = np.array([0, 8, 16, 24], np.uint32)  # blue, green, red, alpha


@dataclass(frozen=True)
class Transform:
    """A transform: the width of the image before it and after it, and what it needs."""

    kind: int
    width: int
    packed_width: int
    shift: int = 0
    blocks: Words = field(default_factory=lambda: np.zeros((1, 1), np.uint32))


def pixels_before(pixels: Words, transform: Transform) -> Words:
    """The pixels before a transform."""
    if transform.kind == PREDICTION:
        return _undo_prediction(pixels, transform)
    if transform.kind == COLORS:
        return _undo_color_transform(pixels, transform)
    if transform.kind == GREEN:
        planes = _planes(pixels)
        planes[..., ::2] += planes[..., 1:2]
        return _words(planes)
    return _undo_palette(pixels, transform)


def _planes(pixels: Words) -> Planes:
    """Blue, green, red and alpha."""
    return (pixels[..., None] >> _SHIFTS).astype(np.uint8)


def _words(planes: Planes) -> Words:
    words: Words = np.bitwise_or.reduce(planes.astype(np.uint32) << _SHIFTS, axis=-1)
    return words


def _spread_blocks(blocks: Words, shape: tuple[int, ...], shift: int) -> Words:
    """For each pixel, the word of the block that it is in."""
    rows, columns = (np.arange(size) >> shift for size in shape)
    spread: Words = blocks[np.ix_(rows, columns)]
    return spread


def _undo_color_transform(pixels: Words, transform: Transform) -> Words:
    """The pixels before the color transform, which took a share of green from red, and of both from blue."""
    factors = _planes(_spread_blocks(transform.blocks, pixels.shape, transform.shift)).view(np.int8).astype(np.int32)
    planes = _planes(pixels)

    def part(factor: Any, plane: Any) -> Any:
        return (factor * plane.view(np.int8).astype(np.int32) >> 5).astype(np.uint8)

    green = np.ascontiguousarray(planes[..., 1])
    planes[..., 2] += part(factors[..., 0], green)
    planes[..., 0] += part(factors[..., 1], green)
    planes[..., 0] += part(factors[..., 2], np.ascontiguousarray(planes[..., 2]))
    return _words(planes)


def _undo_palette(pixels: Words, transform: Transform) -> Words:
    """The colors of a palette, whose entries are stored as differences."""
    table = np.cumsum(_planes(transform.blocks)[0], axis=0, dtype=np.uint8)
    colors = np.zeros(256, np.uint32)
    colors[: len(table)] = _words(table)
    numbers = pixels >> 8 & 0xFF
    if transform.shift:
        width = 8 >> transform.shift  # bits of a number
        starts = np.arange(0, 8, width, dtype=np.uint32)
        numbers = (numbers[..., None] >> starts & ((1 << width) - 1)).reshape(len(pixels), -1)
    found: Words = colors[numbers[:, : transform.width]]
    return found


# ---------------------------------------------------------------------------------------------------- Prediction


def _undo_prediction(pixels: Words, transform: Transform) -> Words:
    """The pixels before the predictor transform, which kept only the differences from what neighbours predict."""
    modes = (transform.blocks >> 8 & 15).astype(np.intp)
    planes = _planes(pixels)
    height, width = pixels.shape
    planes[0, 0] += np.array([0, 0, 0, 255], np.uint8)
    planes[0] = np.cumsum(planes[0], axis=0, dtype=np.uint8)
    size = 1 << transform.shift
    for y in range(1, height):
        above = np.concatenate([planes[y - 1], planes[y, :1]])
        planes[y, 0] += above[0]
        above[width] = planes[y, 0]  # the neighbour above and to the right of the last pixel is this row's first
        row = modes[y >> transform.shift]
        for start in range(0, width, size):
            first, last = max(start, 1), min(start + size, width)
            if first < last:
                _predict(int(row[start >> transform.shift]), planes[y], above, first, last)
    return _words(planes)


def _predict(mode: int, row: Planes, above: Planes, first: int, last: int) -> None:
    """Adds the guesses to the pixels of a row from `first` to `last`."""
    here = row[first:last]
    top, top_left, top_right = above[first:last], above[first - 1 : last - 1], above[first + 1 : last + 1]
    if mode in (0, 14, 15):
        here += np.array([0, 0, 0, 255], np.uint8)
    elif mode == 1:
        row[first - 1 : last] = np.cumsum(row[first - 1 : last], axis=0, dtype=np.uint8)
    elif mode in _FROM_ABOVE:
        here += {2: top, 3: top_right, 4: top_left}[mode]
    elif mode == 8:
        here += _mean(top_left, top)
    elif mode == 9:
        here += _mean(top, top_right)
    else:
        guess = _GUESSES[mode]
        left: Pixel = row[first - 1].tolist()
        found = []
        for rest, t, tl, tr in zip(here.tolist(), top.tolist(), top_left.tolist(), top_right.tolist(), strict=True):
            left = [(a + b) & 255 for a, b in zip(rest, guess(left, t, tl, tr), strict=True)]
            found.append(left)
        row[first:last] = found


_FROM_ABOVE: Final = (2, 3, 4)


def _mean(first: Planes, second: Planes) -> Planes:
    return ((first.astype(np.uint16) + second) >> 1).astype(np.uint8)


def _average(first: Pixel, second: Pixel) -> Pixel:
    return [(a + b) >> 1 for a, b in zip(first, second, strict=True)]


def _clamped_byte(value: int) -> int:
    return min(max(value, 0), 255)


def _nearer(left: Pixel, top: Pixel, top_left: Pixel) -> Pixel:
    """Of two neighbours, the one that is nearer to their sum less the corner."""
    to_left = sum(abs(t - c) for t, c in zip(top, top_left, strict=True))
    to_top = sum(abs(a - c) for a, c in zip(left, top_left, strict=True))
    return left if to_left < to_top else top


def _full(left: Pixel, top: Pixel, top_left: Pixel) -> Pixel:
    return [_clamped_byte(a + t - c) for a, t, c in zip(left, top, top_left, strict=True)]


def _half(left: Pixel, top: Pixel, top_left: Pixel) -> Pixel:
    return [_clamped_byte(m + int((m - c) / 2)) for m, c in zip(_average(left, top), top_left, strict=True)]


_GUESSES: Final[dict[int, Any]] = {  # of the pixels to the left, above, above to the left, above to the right
    5: lambda left, top, corner, right: _average(_average(left, right), top),
    6: lambda left, top, corner, right: _average(left, corner),
    7: lambda left, top, corner, right: _average(left, top),
    10: lambda left, top, corner, right: _average(_average(left, corner), _average(top, right)),
    11: lambda left, top, corner, right: _nearer(left, top, corner),
    12: lambda left, top, corner, right: _full(left, top, corner),
    13: lambda left, top, corner, right: _half(left, top, corner),
}
