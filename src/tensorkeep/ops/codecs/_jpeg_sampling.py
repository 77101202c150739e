"""How a JPEG file is read, and how its samples lie in the image: sizes, windows, chroma with fewer rows and columns."""

from __future__ import annotations

from dataclasses import dataclass

from tensorkeep.errors import InvalidArgumentError
from tensorkeep.native.jpeg import Enlarging
from tensorkeep.ops.codecs import _jpeg_transforms as transforms
from tensorkeep.ops.codecs._jpeg_segments import Frame, JpegContents, bad_jpeg
from tensorkeep.ops.shared.kernel_types import Array


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


def scaled_size(frame: Frame, options: JpegOptions) -> tuple[int, int]:
    """The height and the width of the whole image, as small as it is asked for."""
    return -(-frame.height // options.ratio), -(-frame.width // options.ratio)


def crop_columns(frame: Frame, width: int, options: JpegOptions) -> tuple[tuple[int, int], int]:
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


@dataclass(frozen=True, slots=True)
class Sampling:
    """How the samples of a component become those of the image."""

    size: int  # samples along one side of a decoded block
    down: int  # how many rows, and columns, of the image there are for one of samples
    across: int
    line: int  # samples of a whole line of the file
    is_smoothed: bool  # across, if that is asked for

    def enlarging(self, columns: int, options: JpegOptions) -> Enlarging:
        """How a part of so many columns is enlarged: smoothly across only if a line has enough samples."""
        # What a crop leaves of a line does not count, unless it is a single sample.
        width = self.line if columns > 1 else columns
        if not options.is_smooth or options.ratio == 8:
            return Enlarging.REPEATED
        smooth = {(2, 1): Enlarging.HEIGHTENED}
        if width > 2:
            smooth |= {(1, 2): Enlarging.WIDENED, (2, 2): Enlarging.DOUBLED}
        return smooth.get((self.down, self.across), Enlarging.REPEATED)

    def enlarged(self, part: Array, options: JpegOptions) -> Array:
        """Some rows of samples with as many rows and columns as the image has there."""
        enlarging = self.enlarging(part.shape[1], options)
        if enlarging is Enlarging.WIDENED:
            return transforms.widened_smoothly(part)
        if enlarging is Enlarging.DOUBLED:
            return transforms.doubled_smoothly(part)
        if enlarging is Enlarging.HEIGHTENED:
            return transforms.heightened_smoothly(part)
        if (self.down, self.across) == (1, 1):
            return part
        return transforms.repeat_samples(part, self.down, self.across)


def samplings(frame: Frame, options: JpegOptions) -> list[Sampling]:
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
        found.append(Sampling(own, *factors, line, size > 1 and factors in ((1, 2), (2, 2))))
    return found


def is_ycc(state: JpegContents, frame: Frame) -> bool:
    """Whether the first three components are brightness and two differences."""
    if len(frame.components) == 4:
        return state.adobe is not None and state.adobe != 0
    if state.is_jfif:
        return True
    if state.adobe is not None:
        return state.adobe != 0
    return [component.number for component in frame.components] != [82, 71, 66]
