"""Sliding windows: how many fit along a dimension, where they stand, and what each of their taps meets.

    effective = (size - 1) * dilation + 1
    VALID       output = (input - effective + stride) / stride                      no padding
    EXPLICIT    output = (before + input + after - effective + stride) / stride     padding as given
    SAME        output = (input + stride - 1) / stride
                padding = max(0, (output - 1) * stride + effective - input), its odd element after

Divisions cut toward zero, as C does it: a window that does not fit leaves no output if it lacks less than a stride,
and is refused if it lacks more. So do TensorFlow's kernels; its shape rules refuse both.

A dimension that is not known yet is None, and so is what depends on it; so these functions serve shape rules as well
as kernels. Kernels place windows over arrays, where every size is known, and cache what they find out.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from itertools import product
from typing import Any, Final, NamedTuple, TypedDict

import ml_dtypes
import numpy as np

from tensorkeep.errors import InvalidArgumentError, UnimplementedError
from tensorkeep.ops.shared.kernel_types import Array

Dimension = int | None
Ints = tuple[int, ...]
Pair = tuple[int, int]
Padding = bytes | Pair
"""How one dimension is padded: b"SAME", b"VALID", or by so many elements before and after."""
Index = tuple[slice, ...]

CACHED_PLANS: Final = 1024  # of each kind: one per combination of shapes and attributes that a kernel has met

_EVERYTHING: Final = slice(None)
_LARGEST_WINDOW: Final = 1 << 20  # beyond the size of what it slides over: its elements are gone through one by one
_CHANNELS_FIRST: Final = {b"NCHW": 4, b"NCDHW": 5, b"CHANNELS_FIRST": None}
_CHANNELS_LAST: Final = {b"NHWC": 4, b"NDHWC": 5, b"CHANNELS_LAST": None}


class Layout(NamedTuple):
    """Which axis is what. The batch is always the first."""

    channel: int
    spatial: Ints

    @property
    def is_channels_first(self) -> bool:
        return self.channel == 1

    def with_space(self, shape: Sequence[int], sizes: Sequence[int], channels: int | None = None) -> Ints:
        """The shape with these sizes along its spatial axes, and with that many channels if a number is given."""
        changed = list(shape)
        for axis, size in zip(self.spatial, sizes, strict=True):
            changed[axis] = size
        if channels is not None:
            changed[self.channel] = channels
        return tuple(changed)


@lru_cache
def layout_of(data_format: bytes, rank: int) -> Layout:
    """The layout that a data format names, for arrays of this rank."""
    for formats, channel in ((_CHANNELS_LAST, rank - 1), (_CHANNELS_FIRST, 1)):
        if data_format in formats:
            if rank < 3 or formats[data_format] not in (None, rank):
                raise InvalidArgumentError(f"a tensor of rank {rank} cannot have the data format {data_format!r}")
            return Layout(channel, tuple(axis for axis in range(1, rank) if axis != channel))
    raise InvalidArgumentError(
        f"unknown data format {data_format!r}: expected one of {sorted({**_CHANNELS_LAST, **_CHANNELS_FIRST})}"
    )


def paddings_of(padding: bytes, explicit_paddings: Sequence[int], rank: int) -> tuple[Padding, ...]:
    """How each of `rank` axes is padded, according to the two attributes of that name."""
    if padding != b"EXPLICIT":
        if explicit_paddings:
            raise InvalidArgumentError(f"explicit_paddings {list(explicit_paddings)} with the padding {padding!r}")
        return (padding,) * rank
    if len(explicit_paddings) != 2 * rank or min(explicit_paddings) < 0:
        raise InvalidArgumentError(
            f"explicit_paddings {list(explicit_paddings)}: expected {2 * rank} values, none of them negative"
        )
    return tuple(zip(explicit_paddings[::2], explicit_paddings[1::2], strict=True))


def output_size(
    size: Dimension, window: Dimension, stride: int = 1, dilation: int = 1, padding: Padding = b"VALID"
) -> Dimension:
    """How many windows fit along a dimension of that size."""
    if stride < 1 or dilation < 1 or (window is not None and window < 1):
        raise InvalidArgumentError(f"window {window}, stride {stride}, dilation {dilation}: expected 1 or more of each")
    if size is None:
        return None
    if padding == b"SAME":
        return (size + stride - 1) // stride
    if window is None:
        return None
    before, after = _given_padding(padding)
    reach = (window - 1) * dilation + 1
    room = size + before + after - reach + stride
    if room <= -stride:
        raise InvalidArgumentError(
            f"a window of {reach} elements does not fit into {size} (padding {before} and {after}, stride {stride})"
        )
    return max(room, 0) // stride


def padding_size(
    size: Dimension, window: Dimension, stride: int = 1, dilation: int = 1, padding: Padding = b"VALID"
) -> Pair | None:
    """How many elements are added before and after a dimension."""
    if padding != b"SAME":
        return _given_padding(padding)
    output = output_size(size, window, stride, dilation, padding)
    if size is None or window is None or output is None:
        return None
    total = max((output - 1) * stride + (window - 1) * dilation + 1 - size, 0)
    return total // 2, total - total // 2


def _given_padding(padding: Padding) -> Pair:
    if isinstance(padding, bytes):
        if padding != b"VALID":
            raise InvalidArgumentError(f"unknown padding {padding!r}: expected SAME, VALID or EXPLICIT")
        return 0, 0
    return padding


class Placement(NamedTuple):
    """Windows placed along one dimension: what was asked for, and what follows from it."""

    input: int
    window: int
    stride: int
    dilation: int
    output: int
    before: int
    after: int

    @property
    def effective(self) -> int:
        return (self.window - 1) * self.dilation + 1

    @property
    def padded(self) -> int:
        return self.before + self.input + self.after

    @property
    def is_padded(self) -> bool:
        return self.before > 0 or self.after > 0

    @property
    def is_trivial(self) -> bool:
        """Whether each window is one element, and each element a window."""
        return self.window == self.stride == 1 and not self.is_padded

    def taps(self) -> tuple[tuple[slice, slice], ...]:
        """For each tap of the window, in order: the outputs at which it meets an element, and these elements."""
        return tuple(self._meeting(tap * self.dilation - self.before) for tap in range(self.window))

    def _meeting(self, offset: int) -> tuple[slice, slice]:
        first = max(0, -(offset // self.stride))  # the least at which `offset + first * stride` is not negative
        last = min(self.output, (self.input - 1 - offset) // self.stride + 1)
        if last <= first:
            return slice(0, 0), slice(0, 0)
        start = offset + first * self.stride
        return slice(first, last), slice(start, start + (last - first - 1) * self.stride + 1, self.stride)


def place(size: int, window: int, stride: int = 1, dilation: int = 1, padding: Padding = b"VALID") -> Placement:
    """Places windows along a dimension of known size."""
    if window > max(size, _LARGEST_WINDOW):
        raise InvalidArgumentError(f"a window of {window} over {size} elements is larger than {_LARGEST_WINDOW}")
    output = output_size(size, window, stride, dilation, padding)
    added = padding_size(size, window, stride, dilation, padding)
    assert output is not None
    assert added is not None
    return Placement(size, window, stride, dilation, output, *added)


class Sliding(NamedTuple):
    """How windows slide over an array, as the attributes of an op say it: one stride and dilation for each axis."""

    strides: Ints
    padding: bytes
    explicit_paddings: Ints = ()
    data_format: bytes = b"CHANNELS_LAST"  # for any number of spatial axes
    dilations: Ints = ()  # all 1 if empty


class PaddingAttributes(TypedDict, total=False):
    """What `Sliding` is made of besides strides, which some ops have as an input."""

    padding: bytes
    explicit_paddings: Ints
    data_format: bytes
    dilations: Ints


class SlidingAttributes(PaddingAttributes, total=False):
    """What `Sliding` is made of, as kernels are handed it: those attributes that their op has."""

    strides: Ints


@lru_cache(CACHED_PLANS)
def place_windows(shape: Ints, window: Ints, sliding: Sliding) -> tuple[Placement, ...]:
    """Places windows, with a size for each axis, along all axes of an array."""
    rank = len(shape)
    dilations = sliding.dilations or (1,) * rank
    if not len(window) == len(sliding.strides) == len(dilations) == rank:
        raise InvalidArgumentError(
            f"window {list(window)}, strides {list(sliding.strides)} and dilations {list(dilations)} "
            f"for a tensor of shape {list(shape)}: expected one of each per axis"
        )
    paddings = paddings_of(sliding.padding, sliding.explicit_paddings, rank)
    return tuple(map(place, shape, window, sliding.strides, dilations, paddings))


@lru_cache(CACHED_PLANS)
def place_over_space(shape: Ints, window: Ints, sliding: Sliding) -> tuple[Layout, tuple[Placement, ...]]:
    """Places windows along the spatial axes of an array; the others stay as they are."""
    layout = layout_of(sliding.data_format, len(shape))
    if len(window) != len(layout.spatial):
        raise InvalidArgumentError(
            f"windows with {len(window)} spatial dimensions over a tensor of shape {list(shape)}, which has "
            f"{len(layout.spatial)}"
        )
    everywhere = place_windows(shape, layout.with_space((1,) * len(shape), window), sliding)
    for axis in (0, layout.channel):
        if not everywhere[axis].is_trivial or (sliding.dilations and sliding.dilations[axis] != 1):
            raise UnimplementedError(f"{sliding} moves along the batch or channels: only spatial axes are supported")
    return layout, tuple(everywhere[axis] for axis in layout.spatial)


def centered_part(array: Array, window: Ints, sliding: Sliding) -> Array:
    """As much of an array as TensorFlow's three-dimensional convolution and pools look at, on CPUs.

    Where windows are smaller than their strides, SAME leaves elements over behind the last one. These kernels leave
    half of them over before the first; their own gradients, and all other kernels, do not. The window has a size for
    each spatial axis.
    """
    if sliding.padding != b"SAME":
        return array
    layout, placed = place_over_space(array.shape, window, sliding)
    index = [_EVERYTHING] * array.ndim
    for at, axis in zip(layout.spatial, placed, strict=True):
        reach = (axis.output - 1) * axis.stride + axis.effective
        start = max(0, axis.input - reach) // 2
        index[at] = slice(start, start + reach)
    return array[tuple(index)]


@lru_cache(CACHED_PLANS)
def tap_indices(placements: tuple[Placement, ...]) -> tuple[tuple[Index, Index], ...]:
    """For each tap of windows over all axes, in row-major order: indices of the outputs, and of the elements it meets.

    An axis with nothing to slide along is taken whole. Taps that meet nothing are among them, so that the number of a
    tap tells its place in the window.
    """
    axes = [((_EVERYTHING, _EVERYTHING),) if axis.is_trivial else axis.taps() for axis in placements]
    return tuple((tuple(pair[0] for pair in tap), tuple(pair[1] for pair in tap)) for tap in product(*axes))


def is_half(dtype: np.dtype[Any]) -> bool:
    """Whether it is a floating-point type of two bytes, which is computed with in float32 and rounded once."""
    return dtype.itemsize == 2 and dtype.kind not in "iu"


def widen_array(array: Array) -> Array:
    """The array in the type that it is computed with."""
    return array.astype(np.float32) if is_half(array.dtype) else array


def narrow_array(array: Array, dtype: np.dtype[Any]) -> Array:
    """A result in the type that it is returned in."""
    return array if array.dtype == dtype else array.astype(dtype)


@lru_cache
def lowest(dtype: np.dtype[Any]) -> int | np.floating[Any]:
    """The least number of a type, which is finite: where TensorFlow begins to look for a maximum."""
    return np.iinfo(dtype).min if dtype.kind in "iu" else ml_dtypes.finfo(dtype).min  # type: ignore[no-untyped-call]
