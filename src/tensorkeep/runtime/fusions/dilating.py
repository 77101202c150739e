"""Convolutions by filters with gaps, which TensorFlow writes as convolutions of what SpaceToBatchND cuts: as one call.

    BatchToSpaceND(Conv2D(SpaceToBatchND(x, block, paddings), filters), block, crops)          two axes
    BatchToSpaceND(Squeeze(Conv2D(ExpandDims(SpaceToBatchND(x, …)), filters)), …)              one axis

Both are a convolution of the padded `x` whose taps lie `block` apart, cropped: nothing is moved.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from tensorkeep.dtypes import FLOAT32
from tensorkeep.errors import InvalidArgumentError
from tensorkeep.graph.constants import constant_value
from tensorkeep.graph.graph import Operation, Tensor
from tensorkeep.native.finishing import Finish
from tensorkeep.native.moves import padded_array
from tensorkeep.runtime.plans.blocks import Block
from tensorkeep.runtime.plans.makers import Makers
from tensorkeep.runtime.plans.names import Names

Pairs = tuple[tuple[int, int], ...]


@dataclass(frozen=True, eq=False)
class Dilation:
    """The operations in their order; how far taps lie apart along each axis of space, what is added and cropped."""

    ops: tuple[Operation, ...]
    convolution: Operation
    blocks: tuple[int, ...]
    paddings: Pairs
    crops: Pairs

    def applied(self, kernel: Callable[..., Any]) -> Callable[[Any, Any], Any]:
        """What computes it of the images and filters by the kernel of Conv2D; None if the operations have to."""

        def dilated(x: Any, filters: Any) -> Any:
            images = self._padded(x, filters)
            if images is None:
                return None
            try:
                found = kernel(images, filters, **self._attributes)
            except InvalidArgumentError:
                return None
            found = found[:, 0] if len(self.blocks) == 1 else found
            sizes = found.shape[1:-1]
            if any(before + after > size for size, (before, after) in zip(sizes, self._crops, strict=True)):
                return None
            kept = [slice(before, size - after) for size, (before, after) in zip(sizes, self._crops, strict=True)]
            return found[(slice(None), *kept)]

        return dilated

    def finished(self, kernel: Callable[..., Any]) -> Callable[..., Any]:
        """The same by what also takes a `finish`; None where something has to be cropped."""

        def dilated(x: Any, filters: Any, *, finish: Finish) -> Any:
            images = None if any(map(any, self._crops)) else self._padded(x, filters)
            if images is None:
                return None
            if len(self.blocks) == 1:
                finish = finish.after(lambda product: product[:, 0])
            return kernel(images, filters, finish=finish, **self._attributes)

        return dilated

    @property
    def _attributes(self) -> dict[str, Any]:
        lacking = 2 - len(self.blocks)
        return {
            "strides": (1, 1, 1, 1),
            "padding": b"VALID",
            "explicit_paddings": (),
            "data_format": b"NHWC",
            "dilations": (1, *[1] * lacking, *self.blocks, 1),
        }

    @cached_property
    def _spared(self) -> tuple[int, ...]:
        """What is both added behind the images and cropped from the result: it need not be there."""
        pairs = zip(self.paddings, self.crops, strict=True)
        return tuple(min(padding[1], crop[1]) for padding, crop in pairs)

    @cached_property
    def _crops(self) -> Pairs:
        crops = zip(self.crops, self._spared, strict=True)
        return tuple((before, after - spared) for (before, after), spared in crops)

    def _padded(self, x: Any, filters: Any) -> Any:
        """The images with what is added to them and needed; None if the operations have to be run."""
        if type(x) is not np.ndarray or x.ndim != 2 + len(self.blocks) or not x.size or np.ndim(filters) != 4:
            return None
        space = [size + sum(pair) for size, pair in zip(x.shape[1:-1], self.paddings, strict=True)]
        if any(size % block for size, block in zip(space, self.blocks, strict=True)):
            return None
        paddings = [
            (before, after - spared) for (before, after), spared in zip(self.paddings, self._spared, strict=True)
        ]
        if len(self.blocks) == 1:  # an axis that the images have not
            x, paddings = x[:, None], [(0, 0), *paddings]
        return padded_array(x, [(0, 0), *paddings, (0, 0)]) if any(map(any, paddings)) else x


def find_dilations(block: Block, names: Names) -> list[tuple[Dilation, int]]:
    """The dilated convolutions of a block itself, each with the number of the convolution's item."""
    makers = Makers(block, names)
    found = (_dilation(op, makers, names) for op in makers.all("BatchToSpaceND"))
    return [(each, makers.places[each.convolution]) for each in found if each is not None]


def _dilation(root: Operation, makers: Makers, names: Names) -> Dilation | None:
    blocks, crops = _integers(root.inputs[1]), _integers(root.inputs[2])
    between: list[Operation] = []
    squeeze = makers.sole(root.inputs[0], "Squeeze")
    convolution = makers.sole(root.inputs[0] if squeeze is None else squeeze.inputs[0], "Conv2D")
    if convolution is None or blocks is None or crops is None or not _is_plain(convolution):
        return None
    source = convolution.inputs[0]
    if squeeze is not None:
        widened = makers.sole(source, "ExpandDims")
        if widened is None or tuple(squeeze.attr("squeeze_dims") or ()) not in ((1,), (-3,)):
            return None
        if _integers(widened.inputs[1]) not in (1, [1], -3, [-3]):
            return None
        between, source = [widened], widened.inputs[0]
    cut = makers.sole(source, "SpaceToBatchND")
    if cut is None or _integers(cut.inputs[1]) != blocks or len(blocks) != (2 if squeeze is None else 1):
        return None
    paddings, x = _integers(cut.inputs[2]), cut.inputs[0]
    if paddings is None or x.dtype is not FLOAT32 or names.values[x] in names.deferred:
        return None
    if min(np.min(paddings), np.min(crops), np.min(blocks) - 1) < 0:
        return None
    ops = [cut, *between, convolution, *([] if squeeze is None else [squeeze]), root]
    return Dilation(tuple(ops), convolution, tuple(blocks), _pairs(paddings), _pairs(crops))


def _is_plain(convolution: Operation) -> bool:
    """Whether windows stand everywhere in the images, side by side."""
    ones = all(size == 1 for name in ("strides", "dilations") for size in convolution.attr(name))
    return ones and convolution.attr("padding") == b"VALID" and convolution.attr("data_format") == b"NHWC"


def _integers(tensor: Tensor) -> Any:
    """The value of a constant as Python has it."""
    value = constant_value(tensor)
    return None if value is None else value.tolist()


def _pairs(rows: list[list[int]]) -> Pairs:
    return tuple((before, after) for before, after in rows)
