"""How boxes within a tensor fit together: whether they overlap, and whether they leave a gap."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tensorkeep.checkpoint.slices.tensor_slice import Box, TensorSlice, box_shape
from tensorkeep.dtypes import DType
from tensorkeep.errors import DataLossError, InvalidArgumentError
from tensorkeep.shapes import element_count


def intersection(first: Box, second: Box) -> Box | None:
    """What two boxes share, or None."""
    shared = tuple((max(a, c), min(b, d)) for (a, b), (c, d) in zip(first, second, strict=True))
    return shared if all(start < stop for start, stop in shared) else None


def copies_for(wanted: Box, stored: Sequence[Box]) -> list[tuple[int, Box]]:
    """Which part of which stored box to copy to fill `wanted`: (position in `stored`, what they share).

    DataLossError if the stored boxes leave a gap in it, or overlap there: of two versions of a value, which is right?
    """
    copies = [(at, shared) for at, box in enumerate(stored) if (shared := intersection(wanted, box)) is not None]
    check_disjoint([shared for _, shared in copies])
    have = sum(element_count(box_shape(shared)) for _, shared in copies)
    want = element_count(box_shape(wanted))
    if have != want:
        raise DataLossError(f"the stored slices hold {have} of the {want} elements of {_box_text(wanted)}")
    return copies


def check_disjoint(boxes: Sequence[Box]) -> None:
    """DataLossError if any two overlap.

    A sweep along the axis that separates the boxes best: only neighbours there are compared in full.
    """
    if len(boxes) < 2 or not boxes[0]:
        if len(boxes) > 1:
            raise DataLossError("a scalar is stored in more than one slice")
        return
    axis = max(range(len(boxes[0])), key=lambda at: len({box[at][0] for box in boxes}))
    boxes = sorted(boxes, key=lambda box: box[axis])
    starts, stops = np.array(boxes, np.int64).transpose(2, 0, 1)
    ends = np.searchsorted(starts[:, axis], stops[:, axis]).tolist()  # beyond these, boxes start where one has ended
    for at, end in enumerate(ends):
        rivals = slice(at + 1, end)
        overlap = np.all((starts[rivals] < stops[at]) & (stops[rivals] > starts[at]), axis=1)
        if overlap.any():
            other = boxes[at + 1 + int(overlap.argmax())]
            raise DataLossError(f"stored slices {_box_text(boxes[at])} and {_box_text(other)} overlap")


class SlicedTensor:
    """A tensor of which slices are being added to files, one after the other."""

    def __init__(self, name: str, dtype: DType, shape: tuple[int, ...]) -> None:
        self.name = name
        self.dtype = dtype
        self.shape = shape
        self.parts: dict[TensorSlice, int] = {}  # with the numbers of the files they are in

    def add(self, part: TensorSlice, dtype: DType, shape: tuple[int, ...], file: int = 0) -> None:
        """Adds a slice; refuses one that was added before, or whose type or full shape is another than that of the
        slices before. Overlaps are found by `check_disjoint`.
        """
        if (self.dtype, self.shape) != (dtype, shape):
            raise InvalidArgumentError(
                f'slice {part} belongs to "{self.name}" {dtype} {list(shape)}; earlier slices belong to '
                f"{self.dtype} {list(self.shape)}"
            )
        if part in self.parts:
            raise InvalidArgumentError(f'slice {part} of "{self.name}" was added before')
        self.parts[part] = file

    def check_disjoint(self) -> None:
        """To be called once, when all slices are there: InvalidArgumentError if any two overlap."""
        try:
            check_disjoint([part.box(self.shape) for part in self.parts])
        except DataLossError as error:
            raise InvalidArgumentError(f'tensor "{self.name}": {error}') from None


def _box_text(box: Box) -> str:
    return "[" + ", ".join(f"{start}:{stop}" for start, stop in box) + "]"
