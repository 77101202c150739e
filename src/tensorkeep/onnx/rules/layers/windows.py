"""Windows that slide over images: the order of axes, strides, dilations and paddings, as ONNX says them.

ONNX has channels as the second axis, TensorFlow mostly as the last. Rules of images transpose to ONNX's order and back;
a pass over the whole model takes away what cancels out.

    rows = windows_of(to, images, kernel=(3, 3), sliding=Sliding(strides, padding, ...))
    x = to_channels_first(to, images, data_format)
    to.node("Conv", rows.padded(to, x), filters, attrs=rows.attrs())
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tensorkeep.dtypes import BFLOAT16, FLOAT32, INT64
from tensorkeep.onnx.graphs import AttrValue, OnnxGraph
from tensorkeep.onnx.terms import Dims, Term, shape_in_file
from tensorkeep.ops.nn.windows import Pair, Sliding, output_size, padding_size, paddings_of


def has_channels_first(data_format: bytes) -> bool:
    return data_format.startswith((b"NC", b"CHANNELS_FIRST"))


def to_channels_first(to: OnnxGraph, images: Term, data_format: bytes) -> Term:
    """Images in ONNX's order of axes."""
    return images if has_channels_first(data_format) else to.channels_first(images)


def from_channels_first(to: OnnxGraph, images: Term, data_format: bytes, rank: int) -> Term:
    """What ONNX gives, in the order of axes that the operation has."""
    if images.dims is None and to.operation is not None:
        known = to.operation.outputs[0].static_shape.dims
        if known is not None and len(known) == rank:
            order = range(rank) if has_channels_first(data_format) else [0, rank - 1, *range(1, rank - 1)]
            images.dims = tuple(known[axis] for axis in order)
            if images.value is not None:
                images.value.shape = shape_in_file(images)
    return images if has_channels_first(data_format) else to.channels_last(images, rank)


def spatial_axes(rank: int, data_format: bytes) -> range:
    """The axes of an operation's images that are neither batch nor channels."""
    return range(2, rank) if has_channels_first(data_format) else range(1, rank - 1)


def channel_axis(rank: int, data_format: bytes) -> int:
    return 1 if has_channels_first(data_format) else rank - 1


def widened_value(to: OnnxGraph, term: Term) -> Term:
    """A value of bfloat16, with which ONNX Runtime does not compute, as float32; any other as it is."""
    return to.cast(term, FLOAT32) if term.dtype is BFLOAT16 else term


@dataclass(frozen=True)
class Windows:
    """Windows over the spatial axes of images."""

    kernel: Dims
    strides: tuple[int, ...]
    dilations: tuple[int, ...]
    pads: tuple[Pair | None, ...]
    """What is added before and after each axis; None where that depends on a size that is not known."""
    outputs: Dims
    """How many windows there are along each axis."""

    @property
    def are_padded_by_name(self) -> bool:
        """Whether ONNX's own word for TensorFlow's SAME says how much is added.

        ONNX Runtime takes it with neither dilation nor windows that are smaller than their strides.
        """
        plain = zip(self.kernel, self.strides, self.dilations, strict=True)
        return None in self.pads and all(
            dilation == 1 and (stride == 1 or (size is not None and size >= stride)) for size, stride, dilation in plain
        )

    def attrs(self) -> dict[str, AttrValue | None]:
        """ONNX's attributes of Conv and pools."""
        found: dict[str, AttrValue | None] = {"strides": list(self.strides)}
        sizes = [size for size in self.kernel if size is not None]
        if len(sizes) == len(self.kernel):
            found["kernel_shape"] = sizes
        if any(rate != 1 for rate in self.dilations):
            found["dilations"] = list(self.dilations)
        if self.are_padded_by_name:
            found["auto_pad"] = "SAME_UPPER"
        elif any(pair is not None and any(pair) for pair in self.pads) and None not in self.pads:
            found["pads"] = [pair[end] for end in (0, 1) for pair in self.pads if pair is not None]
        return found

    def padded(self, to: OnnxGraph, images: Term) -> Term:
        """Images (channels first) with zeros around them where no attribute can say how many."""
        if None not in self.pads or self.are_padded_by_name:
            return images
        if None in self.kernel:
            to.refuse("it pads to the same size by windows of a size that is not known before the model runs")
        reach = [(size - 1) * rate + 1 for size, rate in zip(self.kernel, self.dilations, strict=True) if size]
        steps, one = self._vector(to, self.strides), self._vector(to, [1] * len(self.strides))
        sizes = to.shape(images, 2)
        last = to.node("Mul", to.node("Div", to.node("Sub", sizes, one), steps), steps)
        lacking = to.node("Sub", to.node("Add", last, self._vector(to, reach)), sizes)
        total = to.node("Max", lacking, self._vector(to, [0] * len(reach)))
        before = to.node("Div", total, self._vector(to, [2] * len(reach)))
        none = self._vector(to, [0, 0])
        return to.node("Pad", images, to.concat([none, before, none, to.node("Sub", total, before)], 0))

    @staticmethod
    def _vector(to: OnnxGraph, values: Sequence[int]) -> Term:
        return to.constant(np.array(values, np.int64), INT64)


def windows_of(to: OnnxGraph, images: Term, kernel: Dims, sliding: Sliding) -> Windows:
    """Windows of some size over images; refuses those that move along the batch or channels, and those that fit none.

    `sliding` has a stride and dilation for each axis, in the order that its data format says.
    """
    rank = to.known_rank(images)
    assert images.dims is not None
    space = spatial_axes(rank, sliding.data_format)
    dilations = sliding.dilations or (1,) * rank
    others = {0, channel_axis(rank, sliding.data_format)}
    if any(sliding.strides[axis] != 1 or dilations[axis] != 1 for axis in others):
        to.refuse("its windows move along the batch or the channels")
    paddings = paddings_of(sliding.padding, sliding.explicit_paddings, rank)
    pads: list[Pair | None] = []
    outputs: list[int | None] = []
    for axis, size in zip(space, kernel, strict=True):
        given = images.dims[axis], size, sliding.strides[axis], dilations[axis], paddings[axis]
        outputs.append(output_size(*given))
        if outputs[-1] == 0 and images.dims[axis] != 0:
            to.refuse("its windows do not fit into the images")
        found = padding_size(*given)
        if found is None and size is not None and (size == 1 or given[2] == 1):
            reach = (size - 1) * dilations[axis]  # as much as that for images of any size
            found = reach // 2, reach - reach // 2
        pads.append(found)
    steps, rates = (tuple(item[axis] for axis in space) for item in (sliding.strides, dilations))
    return Windows(kernel, steps, rates, tuple(pads), tuple(outputs))


def centered_images(to: OnnxGraph, images: Term, windows: Windows, sliding: Sliding) -> Term:
    """As much of three-dimensional images as TensorFlow looks at where SAME leaves elements over: the middle."""
    axes, starts, ends = [], [], []
    if sliding.padding != b"SAME":
        return images
    assert images.dims is not None
    space = spatial_axes(len(images.dims), sliding.data_format)
    for axis, kernel, stride, rate in zip(space, windows.kernel, windows.strides, windows.dilations, strict=True):
        if kernel is not None and (kernel - 1) * rate + 1 >= stride:
            continue
        size = images.dims[axis]
        if size is None or kernel is None:
            to.refuse("its windows are smaller than their strides, over images whose size is not known")
        reach = ((size + stride - 1) // stride - 1) * stride + (kernel - 1) * rate + 1
        if size > reach:
            axes.append(axis)
            starts.append((size - reach) // 2)
            ends.append((size - reach) // 2 + reach)
    if not axes:
        return images
    cut = to.slice(images, starts, ends, axes)
    cut.dims = tuple(
        ends[axes.index(axis)] - starts[axes.index(axis)] if axis in axes else size
        for axis, size in enumerate(images.dims)
    )
    return cut
