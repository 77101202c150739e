"""Convolutions, plain, grouped, depthwise and morphological, and their gradients, in NumPy.

A convolution is a matrix product: the windows of the images, copied into a matrix, times the filters. The copy goes
piece by piece, each small enough for the cache, in one of two orders:

    by windows   (positions, taps × channels)           channels last, and 4 of them or more in a group
    by taps      (images, taps × channels, positions)   channels first, or fewer channels than 4

so that what is copied is contiguous for long. Where no copy is needed, as for filters of one element, NumPy's reshape
makes none. Products of small and middling size are cut into parts that the linear algebra library computes on one
thread: waking others takes longer than such a part, and much longer where the processors are busy.

The gradient of the images is the convolution of the output's gradient with the mirrored filters if all strides are 1,
and otherwise one product per tap, added where the tap met the images. Depthwise convolutions are sums over taps, along
whole rows of an image at a time.

Of float32, channels last, the compiled library convolves without copying windows (`_compiled_convolution`).

Half types are computed in float32 and rounded once. TensorFlow does that for Conv2D and for the gradient of a
depthwise convolution's images, and rounds each partial sum elsewhere.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import product
from math import prod
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from tensorkeep.errors import InvalidArgumentError
from tensorkeep.io.machine.reused_memory import result_array
from tensorkeep.native.finishing import Finish
from tensorkeep.ops.linear_algebra.products import SMALL, multiply, multiply_in_parts
from tensorkeep.ops.nn._compiled_convolution import (
    convolve_back_into,
    convolve_depthwise_into,
    convolve_into,
    filter_gradient,
)
from tensorkeep.ops.nn.windows import (
    CACHED_PLANS,
    Index,
    Ints,
    Layout,
    Placement,
    Sliding,
    SlidingAttributes,
    centered_part,
    layout_of,
    lowest,
    narrow_array,
    place,
    place_over_space,
    place_windows,
    tap_indices,
    widen_array,
)
from tensorkeep.ops.shared.kernel_types import Array
from tensorkeep.runtime.limits import check_allocation

if TYPE_CHECKING:
    from typing_extensions import Unpack  # in `typing` since Python 3.11

_FLOAT: Final = np.dtype(np.float32)
_PIECE_BYTES: Final = 1 << 20  # of copied windows at a time …
_LARGE_PIECE_BYTES: Final = 1 << 24  # … and if other threads shall help
_FEWEST_CHANNELS_BY_WINDOWS: Final = 4
# In multiplications. OpenBLAS keeps a product on one thread below 2**18 or 2**19 of them, by the processor.
_PART: Final = SMALL
_LARGEST_IN_PARTS: Final = 1 << 28
_NARROW: Final = 16  # output channels up to which images, turned, are multiplied faster than windows are gathered
_MANY_POSITIONS: Final = 168
_FEWEST_ROWS: Final = 14  # in a part; fewer would not make good use of the other matrix


class _Piece(NamedTuple):
    """A part of a convolution that is one matrix product, or one for each of some images."""

    group: int
    source: tuple[Any, ...]  # the index of its windows, in the view of them all
    shape: Ints  # of the matrix that they make
    target: Index  # in the output, as a matrix


@dataclass(frozen=True, eq=False)
class _Plan:
    """What is known about a convolution before any array is seen. Plans are cached, with what they find out."""

    image_shape: Ints
    filter_shape: Ints
    layout: Layout
    windows: tuple[Placement, ...]  # along each spatial axis
    itemsize: int

    def __post_init__(self) -> None:
        depth, (group_depth, output_depth) = self.image_shape[self.layout.channel], self.filter_shape[-2:]
        if group_depth < 1 or depth % group_depth or output_depth % max(1, depth // group_depth):
            raise InvalidArgumentError(
                f"images of {depth} channels cannot be convolved with filters {list(self.filter_shape)}: expected "
                f"groups of {group_depth} channels, as many as divide the {output_depth} output channels"
            )

    @cached_property
    def groups(self) -> int:
        return self.image_shape[self.layout.channel] // self.filter_shape[-2]

    @cached_property
    def output_shape(self) -> Ints:
        return self.layout.with_space(self.image_shape, [axis.output for axis in self.windows], self.filter_shape[-1])

    @cached_property
    def padded_shape(self) -> Ints | None:
        """The shape of the images when padded, or None if they need no padding."""
        padded = self.layout.with_space(self.image_shape, [axis.padded for axis in self.windows])
        return padded if padded != self.image_shape else None

    @cached_property
    def interior(self) -> Index:
        """Where the images lie in what is padded."""
        index = [slice(None)] * len(self.image_shape)
        for at, axis in zip(self.layout.spatial, self.windows, strict=True):
            index[at] = slice(axis.before, axis.before + axis.input)
        return tuple(index)

    @cached_property
    def by_windows(self) -> bool:
        """Whether what one output depends on is copied into one row."""
        is_pointwise = all(axis.window == 1 for axis in self.windows)
        has_channels = self.filter_shape[-2] >= _FEWEST_CHANNELS_BY_WINDOWS
        return not self.layout.is_channels_first and (is_pointwise or has_channels)

    @cached_property
    def is_cut(self) -> bool:
        """Whether products are cut into parts."""
        return self.positions * prod(self.filter_shape) <= _LARGEST_IN_PARTS

    @cached_property
    def is_for_library(self) -> bool:
        """Whether the compiled library may do it. It is no better at plain products of few rows."""
        is_plane = len(self.windows) == 2 and not self.layout.is_channels_first
        is_worth_it = any(axis.window > 1 for axis in self.windows) or self.positions >= _MANY_POSITIONS
        return is_plane and self.groups == 1 and is_worth_it

    @cached_property
    def is_narrow_product(self) -> bool:
        """Whether it is a product of matrices, the images by themselves, and the result has few columns."""
        is_matrix = all(axis.is_trivial for axis in self.windows) and not self.layout.is_channels_first
        return is_matrix and self.groups == 1 and self.filter_shape[-1] <= _NARROW

    @cached_property
    def positions(self) -> int:
        """How many windows there are, of all images."""
        return self.image_shape[0] * prod(axis.output for axis in self.windows)

    @cached_property
    def is_depthwise(self) -> bool:
        """Whether each channel has one filter, and that to itself."""
        is_plane = len(self.windows) == 2 and not self.layout.is_channels_first
        return is_plane and self.filter_shape[-2] == 1 and self.filter_shape[-1] == self.groups

    @cached_property
    def view(self) -> tuple[Ints, Ints]:
        """Shape and strides of all windows, seen in the padded images."""
        shape = self.padded_shape or self.image_shape
        steps = [prod(shape[axis + 1 :]) * self.itemsize for axis in range(len(shape))]
        placed = [(axis, steps[at]) for at, axis in zip(self.layout.spatial, self.windows, strict=True)]
        images, channels = (shape[0], steps[0]), (shape[self.layout.channel], steps[self.layout.channel])
        outputs = [(axis.output, axis.stride * step) for axis, step in placed]
        taps = [(axis.window, axis.dilation * step) for axis, step in placed]
        axes = [images, *outputs, *taps, channels] if self.by_windows else [images, *taps, channels, *outputs]
        return tuple(size for size, _ in axes), tuple(step for _, step in axes)

    def as_matrix(self, output: Array) -> Array:
        """The memory of the output as (positions, channels), for all images or for each."""
        batch, depth, positions = self.image_shape[0], self.filter_shape[-1], prod(axis.output for axis in self.windows)
        if self.by_windows:
            return output.reshape(batch * positions, depth)
        if self.layout.is_channels_first:
            return output.reshape(batch, depth, positions).swapaxes(1, 2)
        return output.reshape(batch, positions, depth)

    @cached_property
    def pieces(self) -> tuple[_Piece, ...]:
        """The parts to compute one by one: of each group some images, or some of the first spatial axis of one."""
        batch, height = self.image_shape[0], self.windows[0].output
        taps, width = prod(self.filter_shape[:-1]), prod(axis.output for axis in self.windows[1:])
        limit = (_PIECE_BYTES if self.is_cut else _LARGE_PIECE_BYTES) // (taps * width * self.itemsize)
        rows, images = max(1, limit), max(1, limit // height)
        if all(axis.is_trivial for axis in self.windows):
            rows, images = height, batch  # nothing will be copied
        elif rows < height:
            images = 1
        return tuple(
            self._piece(group, slice(image, min(image + images, batch)), slice(row, min(row + rows, height)), width)
            for group in range(self.groups)
            for image in range(0, batch, images)
            for row in range(0, height, rows)
        )

    def _piece(self, group: int, images: slice, rows: slice, width: int) -> _Piece:
        depth, output_depth = self.filter_shape[-2], self.filter_shape[-1] // self.groups
        channels = slice(group * depth, (group + 1) * depth)
        outputs = slice(group * output_depth, (group + 1) * output_depth)
        count, positions = images.stop - images.start, (rows.stop - rows.start) * width
        taps = prod(self.filter_shape[:-1])
        if self.by_windows:
            start = (images.start * self.windows[0].output + rows.start) * width
            place = slice(start, start + count * positions)
            return _Piece(group, (images, rows, ..., channels), (count * positions, taps), (place, outputs))
        source = (images, *(slice(None),) * len(self.windows), channels, rows)
        target = (images, slice(rows.start * width, rows.stop * width), outputs)
        return _Piece(group, source, (count, taps, positions), target)

    @cached_property
    def mirrored(self) -> _Plan | None:
        """The plan by which the output's gradient becomes that of the images; None if that is no convolution."""
        if any(axis.stride > 1 or max(axis.before, axis.after) >= axis.effective for axis in self.windows):
            return None
        shape = (*self.filter_shape[:-2], self.filter_shape[-1] // self.groups, self.image_shape[self.layout.channel])
        return _Plan(
            self.output_shape, shape, self.layout, tuple(map(_mirrored_placement, self.windows)), self.itemsize
        )


def _mirrored_placement(axis: Placement) -> Placement:
    reach = axis.effective - 1
    return Placement(axis.output, axis.window, 1, axis.dilation, axis.input, reach - axis.before, reach - axis.after)


@lru_cache(CACHED_PLANS)
def _plan(image_shape: Ints, filter_shape: Ints, sliding: Sliding, itemsize: int) -> _Plan:
    layout, windows = place_over_space(image_shape, filter_shape[:-2], sliding)
    return _Plan(image_shape, filter_shape, layout, windows, itemsize)


def _window_matrices(images: Array, plan: _Plan) -> Iterator[tuple[_Piece, Array]]:
    """Piece by piece, the windows of the images as a matrix (positions, taps × channels), or as one for each image."""
    if plan.padded_shape is None:
        padded = np.ascontiguousarray(images)
    else:
        padded = np.zeros(plan.padded_shape, images.dtype)
        padded[plan.interior] = images
    shape, strides = plan.view
    view: Array = np.ndarray(shape, images.dtype, padded, 0, strides)
    for piece in plan.pieces:
        matrix = view[piece.source].reshape(piece.shape)
        yield piece, matrix if plan.by_windows else matrix.swapaxes(1, 2)


def _convolve(images: Array, filters: Array, plan: _Plan) -> Array:
    output = result_array(plan.output_shape, images.dtype)
    if output.size and not _is_convolved(images, filters, plan, output):
        target = plan.as_matrix(output)
        weights = filters.reshape(-1, plan.groups, plan.filter_shape[-1] // plan.groups)
        for piece, windows in _window_matrices(images, plan):
            _multiply(windows, weights[:, piece.group], target[piece.target], plan.is_cut)
    return output


def _is_convolved(images: Array, filters: Array, plan: _Plan, output: Array) -> bool:
    """Computes a convolution by the compiled library, if that can; says whether it did."""
    if not plan.is_depthwise and not plan.is_for_library:
        return False
    rows, columns = plan.windows
    if plan.is_depthwise:
        return convolve_depthwise_into(images, filters.swapaxes(-1, -2), rows, columns, output)
    return convolve_into(images, filters, rows, columns, output)


def _multiply(left: Array, right: Array, out: Array, is_cut: bool) -> None:
    if is_cut:
        multiply_in_parts(left, right, out, _PART, _FEWEST_ROWS)
    else:
        multiply(left, right, out)


def _filter_gradient(images: Array, gradient: Array, plan: _Plan) -> Array:
    if plan.is_narrow_product and images.size and gradient.size:
        matrix = images.reshape(-1, images.shape[-1])
        return multiply(matrix.T, gradient.reshape(len(matrix), -1)).reshape(plan.filter_shape)
    if plan.is_for_library and images.size and gradient.size:
        rows, columns = plan.windows
        found = filter_gradient(images, gradient, plan.filter_shape, rows, columns)
        if found is not None:
            return found
    depth = plan.filter_shape[-1] // plan.groups
    total = np.zeros((prod(plan.filter_shape[:-1]), plan.groups, depth), images.dtype)
    if images.size and gradient.size:
        matrix = plan.as_matrix(gradient)
        for piece, windows in _window_matrices(images, plan):
            outputs = matrix[piece.target]
            positions = outputs.shape[-2]
            step = max(1, _PART // (_FEWEST_ROWS * depth)) if plan.is_cut else positions
            product = np.empty((*windows.shape[:-2], *total.shape[::2]), images.dtype)
            for start in range(0, positions, step):
                part = windows[..., start : start + step, :].swapaxes(-1, -2)
                _multiply(part, outputs[..., start : start + step, :], product, plan.is_cut)
                total[:, piece.group] += product if plan.by_windows else product.sum(axis=0)
    return total.reshape(plan.filter_shape)


def _image_gradient(filters: Array, gradient: Array, plan: _Plan) -> Array:
    check_allocation(plan.image_shape, gradient.dtype)
    if not gradient.size:
        return np.zeros(plan.image_shape, gradient.dtype)
    if plan.is_for_library and 0 not in plan.image_shape:
        found = result_array(plan.image_shape, gradient.dtype)
        rows, columns = plan.windows
        if convolve_back_into(gradient, filters, rows, columns, found):
            return found
    grouped = filters.reshape(*plan.filter_shape[:-1], plan.groups, plan.filter_shape[-1] // plan.groups)
    if plan.mirrored is None:
        return _scatter_gradient(grouped, gradient, plan)
    turned = np.flip(grouped, tuple(range(len(plan.windows)))).swapaxes(-1, -3)
    return _convolve(gradient, turned.reshape(plan.mirrored.filter_shape), plan.mirrored)


def _scatter_gradient(filters: Array, gradient: Array, plan: _Plan) -> Array:
    """Adds what each tap of the filters, given as (..., channels, groups, outputs), returns to the images."""
    layout, batch = plan.layout, plan.image_shape[0]
    gradient = np.moveaxis(gradient, layout.channel, -1)
    shape = (batch, *(axis.input for axis in plan.windows), plan.image_shape[layout.channel])
    result = np.zeros(shape, gradient.dtype)
    images = max(1, _PIECE_BYTES // (prod(gradient.shape[1:]) * plan.itemsize))
    taps = tap_indices((place(batch, 1), *plan.windows, place(shape[-1], 1)))
    for start in range(0, batch, images):
        part = gradient[start : start + images]
        rows = part.reshape(-1, plan.groups, filters.shape[-1]).swapaxes(0, 1)
        returned = np.empty((rows.shape[1], plan.groups, filters.shape[-3]), gradient.dtype)
        seen = returned.reshape(*part.shape[:-1], shape[-1])
        for tap, (outputs, inputs) in zip(product(*map(range, filters.shape[:-3])), taps, strict=True):
            _multiply(rows, filters[tap].transpose(1, 2, 0), returned.swapaxes(0, 1), plan.is_cut)
            result[start : start + images][inputs] += seen[outputs]
    return np.ascontiguousarray(np.moveaxis(result, -1, layout.channel))


# The attributes of the kernels below are those that `Sliding` names.


def conv2d_kernel(
    images: Array, filters: Array, *, use_cudnn_on_gpu: bool = True, **attributes: Unpack[SlidingAttributes]
) -> Array:
    return _forward(images, filters, Sliding(**attributes))


def conv2d_backprop_input_kernel(
    input_sizes: Array,
    filters: Array,
    gradient: Array,
    *,
    use_cudnn_on_gpu: bool = True,
    **attributes: Unpack[SlidingAttributes],
) -> Array:
    """`input_sizes` may be the two spatial sizes alone; the others then are the gradient's and the filters'."""
    sliding = Sliding(**attributes)
    return _backward_to_images(_image_shape(input_sizes, filters, gradient, sliding), filters, gradient, sliding)


def _image_shape(input_sizes: Array, filters: Array, gradient: Array, sliding: Sliding) -> Ints:
    shape: Ints = tuple(input_sizes.tolist())
    if len(shape) == 2:
        shape = layout_of(sliding.data_format, 4).with_space(gradient.shape, shape, filters.shape[2])
    return shape


def conv2d_backprop_filter_kernel(
    images: Array,
    filter_sizes: Array,
    gradient: Array,
    *,
    use_cudnn_on_gpu: bool = True,
    **attributes: Unpack[SlidingAttributes],
) -> Array:
    return _backward_to_filters(images, tuple(filter_sizes.tolist()), gradient, Sliding(**attributes))


@np.errstate(all="ignore")
def finished_conv2d(
    images: Array | tuple[Array, ...],
    filters: Array,
    *,
    finish: Finish,
    use_cudnn_on_gpu: bool = True,
    **attributes: Unpack[SlidingAttributes],
) -> Array | None:
    """The channels of images may come from several arrays, one behind the other."""
    sources = images if isinstance(images, tuple) else (images,)
    if any(array.dtype != _FLOAT for array in (*sources, filters)):
        return None
    shape = _shape_of_joined(sources)
    if shape is None:
        return None
    plan = _plan(shape, filters.shape, Sliding(**attributes), filters.itemsize)
    is_depthwise = plan.is_depthwise and len(sources) == 1
    if not (is_depthwise or plan.is_for_library) or 0 in plan.output_shape:
        return None
    output = result_array(plan.output_shape, _FLOAT)
    bound = finish.bound(output, plan.filter_shape[-1])
    rows, columns = plan.windows
    if bound is None:
        return None
    if is_depthwise:
        is_done = convolve_depthwise_into(sources[0], filters.swapaxes(-1, -2), rows, columns, output, bound)
    else:
        is_done = convolve_into(sources, filters, rows, columns, output, bound)
    return bound.result if is_done else None


def _shape_of_joined(images: tuple[Array, ...]) -> Ints | None:
    """The shape of images whose channels are those of several arrays; None if these do not fit."""
    first = images[0].shape
    if len(images) == 1:
        return first
    if len(first) != 4 or any(array.shape[:-1] != first[:-1] for array in images):
        return None
    return (*first[:-1], sum(array.shape[-1] for array in images))


@np.errstate(all="ignore")
def finished_depthwise_conv2d(
    images: Array, filters: Array, *, finish: Finish, **attributes: Unpack[SlidingAttributes]
) -> Array | None:
    if images.dtype != _FLOAT or filters.dtype != _FLOAT:
        return None
    plan = _depthwise_plan(images.shape, filters.shape, Sliding(**attributes))
    if plan.layout.is_channels_first or 0 in plan.output_shape:
        return None
    output = result_array(plan.output_shape, _FLOAT)
    bound = finish.bound(output, plan.output_shape[-1])
    if bound is None or not convolve_depthwise_into(images, filters, plan.rows, plan.columns, output, bound):
        return None
    return bound.result


@np.errstate(all="ignore")
def finished_conv2d_backprop_input(
    input_sizes: Array,
    filters: Array,
    gradient: Array,
    *,
    finish: Finish,
    use_cudnn_on_gpu: bool = True,
    **attributes: Unpack[SlidingAttributes],
) -> Array | None:
    if gradient.dtype != _FLOAT or filters.dtype != _FLOAT or gradient.ndim != 4:
        return None
    sliding = Sliding(**attributes)
    shape = _image_shape(input_sizes, filters, gradient, sliding)
    plan = _plan(shape, filters.shape, sliding, gradient.itemsize)
    if not plan.is_for_library or plan.output_shape != gradient.shape or 0 in (*shape, *gradient.shape):
        return None
    check_allocation(shape, gradient.dtype)
    output = result_array(shape, _FLOAT)
    bound = finish.bound(output, shape[3])
    rows, columns = plan.windows
    if bound is None or not convolve_back_into(gradient, filters, rows, columns, output, bound):
        return None
    return bound.result


def conv3d_kernel(images: Array, filters: Array, **attributes: Unpack[SlidingAttributes]) -> Array:
    return _forward(images, filters, Sliding(**attributes))


def conv3d_backprop_input_kernel(
    images: Array, filters: Array, gradient: Array, **attributes: Unpack[SlidingAttributes]
) -> Array:
    return _backward_to_images(images.shape, filters, gradient, Sliding(**attributes))


def conv3d_backprop_input_v2_kernel(
    input_sizes: Array, filters: Array, gradient: Array, **attributes: Unpack[SlidingAttributes]
) -> Array:
    return _backward_to_images(tuple(input_sizes.tolist()), filters, gradient, Sliding(**attributes))


def conv3d_backprop_filter_kernel(
    images: Array, filters: Array, gradient: Array, **attributes: Unpack[SlidingAttributes]
) -> Array:
    return _backward_to_filters(images, filters.shape, gradient, Sliding(**attributes))


def conv3d_backprop_filter_v2_kernel(
    images: Array, filter_sizes: Array, gradient: Array, **attributes: Unpack[SlidingAttributes]
) -> Array:
    return _backward_to_filters(images, tuple(filter_sizes.tolist()), gradient, Sliding(**attributes))


@np.errstate(all="ignore")
def _forward(images: Array, filters: Array, sliding: Sliding) -> Array:
    dtype = images.dtype
    if images.ndim == 5:
        images = centered_part(images, filters.shape[:-2], sliding)
    images, filters = widen_array(images), widen_array(filters)
    plan = _plan(images.shape, filters.shape, sliding, images.itemsize)
    return narrow_array(_convolve(images, filters, plan), dtype)


@np.errstate(all="ignore")
def _backward_to_images(image_shape: Ints, filters: Array, gradient: Array, sliding: Sliding) -> Array:
    dtype = gradient.dtype
    filters, gradient = widen_array(filters), widen_array(gradient)
    plan = _plan(image_shape, filters.shape, sliding, gradient.itemsize)
    _expect_gradient(gradient, plan.output_shape)
    return narrow_array(_image_gradient(filters, gradient, plan), dtype)


@np.errstate(all="ignore")
def _backward_to_filters(images: Array, filter_shape: Ints, gradient: Array, sliding: Sliding) -> Array:
    dtype = gradient.dtype
    images, gradient = widen_array(images), widen_array(gradient)
    plan = _plan(images.shape, filter_shape, sliding, images.itemsize)
    _expect_gradient(gradient, plan.output_shape)
    return narrow_array(_filter_gradient(images, gradient, plan), dtype)


def _expect_gradient(gradient: Array, shape: Ints) -> None:
    if gradient.shape != shape:
        raise InvalidArgumentError(
            f"the gradient has the shape {list(gradient.shape)}, and the output {list(shape)}: expected the same"
        )


def depthwise_conv2d_native_kernel(images: Array, filters: Array, **attributes: Unpack[SlidingAttributes]) -> Array:
    return _depthwise_forward(images, filters, Sliding(**attributes))


def depthwise_conv2d_native_backprop_input_kernel(
    input_sizes: Array, filters: Array, gradient: Array, **attributes: Unpack[SlidingAttributes]
) -> Array:
    return _depthwise_backward_to_images(tuple(input_sizes.tolist()), filters, gradient, Sliding(**attributes))


def depthwise_conv2d_native_backprop_filter_kernel(
    images: Array, filter_sizes: Array, gradient: Array, **attributes: Unpack[SlidingAttributes]
) -> Array:
    return _depthwise_backward_to_filters(images, tuple(filter_sizes.tolist()), gradient, Sliding(**attributes))


class _DepthwisePlan(NamedTuple):
    layout: Layout
    rows: Placement
    columns: Placement
    output_shape: Ints


@lru_cache(CACHED_PLANS)
def _depthwise_plan(image_shape: Ints, filter_shape: Ints, sliding: Sliding) -> _DepthwisePlan:
    layout, (rows, columns) = place_over_space(image_shape, filter_shape[:-2], sliding)
    depth, multiplier = filter_shape[-2:]
    if image_shape[layout.channel] != depth:
        raise InvalidArgumentError(f"images {list(image_shape)} have other channels than filters {list(filter_shape)}")
    shape = layout.with_space(image_shape, (rows.output, columns.output), depth * multiplier)
    return _DepthwisePlan(layout, rows, columns, shape)


@np.errstate(all="ignore")
def _depthwise_forward(images: Array, filters: Array, sliding: Sliding) -> Array:
    plan = _depthwise_plan(images.shape, filters.shape, sliding)
    if not plan.layout.is_channels_first and 0 not in plan.output_shape:
        found = result_array(plan.output_shape, _FLOAT)
        if convolve_depthwise_into(widen_array(images), widen_array(filters), plan.rows, plan.columns, found):
            return narrow_array(found, images.dtype)
    windows = _row_windows(_repeat_channels(images, plan.layout, filters.shape[3]), plan.rows, plan.columns)
    output = _sum_over_taps(windows, widen_array(filters), plan.columns.output)
    return narrow_array(_restore_layout(output, plan.layout), images.dtype)


@np.errstate(all="ignore")
def _depthwise_backward_to_filters(images: Array, filter_shape: Ints, gradient: Array, sliding: Sliding) -> Array:
    plan = _depthwise_plan(images.shape, filter_shape, sliding)
    _expect_gradient(gradient, plan.output_shape)
    windows = _row_windows(_repeat_channels(images, plan.layout, filter_shape[3]), plan.rows, plan.columns)
    seen = _repeat_channels(gradient, plan.layout, 1).reshape(*windows.shape[:2], windows.shape[4])
    total = np.einsum("nhijx,nhx->ijx", windows, seen)
    total = total.reshape(*filter_shape[:2], plan.columns.output, filter_shape[2] * filter_shape[3]).sum(axis=2)
    return narrow_array(total.reshape(filter_shape), gradient.dtype)


@np.errstate(all="ignore")
def _depthwise_backward_to_images(image_shape: Ints, filters: Array, gradient: Array, sliding: Sliding) -> Array:
    """A depthwise convolution with the mirrored filters, of a gradient spread as far apart as the windows stood."""
    plan = _depthwise_plan(image_shape, filters.shape, sliding)
    _expect_gradient(gradient, plan.output_shape)
    seen = _repeat_channels(gradient, plan.layout, 1)
    rows, columns = _over_spread(plan.rows), _over_spread(plan.columns)
    (row_outputs, row_places), (column_outputs, column_places) = _places(plan.rows), _places(plan.columns)
    spread = np.zeros((seen.shape[0], rows.input, columns.input, seen.shape[3]), seen.dtype)
    spread[:, row_places, column_places] = seen[:, row_outputs, column_outputs]
    returned = _sum_over_taps(_row_windows(spread, rows, columns), widen_array(filters)[::-1, ::-1], columns.output)
    returned = returned.reshape(*returned.shape[:3], *filters.shape[2:]).sum(axis=4)
    return narrow_array(_restore_layout(returned, plan.layout), gradient.dtype)


def _over_spread(axis: Placement) -> Placement:
    """How mirrored windows slide over a gradient that is spread out: one for each element that had a gradient."""
    return Placement(axis.input + axis.effective - 1, axis.window, 1, axis.dilation, axis.input, 0, 0)


def _places(axis: Placement) -> tuple[slice, slice]:
    """Which outputs of windows along an axis lie within the gradient that `_over_spread` slides over, and where there:
    each a stride after the one before.
    """
    reach = axis.effective - 1
    return Placement(axis.input + reach, 1, axis.stride, 1, axis.output, axis.before - reach, 0).taps()[0]


def _repeat_channels(images: Array, layout: Layout, times: int) -> Array:
    """The images in the type that is computed with, channels last, and each channel so many times in a row."""
    images = widen_array(np.moveaxis(images, layout.channel, -1) if layout.is_channels_first else images)
    return images if times == 1 else np.repeat(images, times, axis=3)


def _restore_layout(images: Array, layout: Layout) -> Array:
    return np.ascontiguousarray(np.moveaxis(images, -1, 1)) if layout.is_channels_first else images


def _row_windows(images: Array, rows: Placement, columns: Placement) -> Array:
    """Windows over images whose channels come last: (images, rows, row taps, column taps, columns × channels)."""
    batch, _, _, depth = images.shape
    if rows.is_padded or columns.is_padded:
        padded = np.zeros((batch, rows.padded, columns.padded, depth), images.dtype)
        padded[:, rows.before : rows.before + rows.input, columns.before : columns.before + columns.input] = images
        images = padded
    if columns.stride > 1:  # each tap gets a row of its own, so that what it meets is contiguous
        taps = columns.dilation * np.arange(columns.window)[:, np.newaxis]
        images = np.take(images, taps + columns.stride * np.arange(columns.output), axis=2)
        tap_step = columns.output * depth
    else:
        images = np.ascontiguousarray(images)
        tap_step = columns.dilation * depth
    row_step = prod(images.shape[2:])
    steps = (rows.padded * row_step, rows.stride * row_step, rows.dilation * row_step, tap_step, 1)
    shape = (batch, rows.output, rows.window, columns.window, columns.output * depth)
    if not prod(shape):
        return np.zeros(shape, images.dtype)
    windows: Array = np.ndarray(shape, images.dtype, images, 0, tuple(step * images.itemsize for step in steps))
    return windows


def _sum_over_taps(windows: Array, filters: Array, width: int) -> Array:
    batch, height, row_taps, column_taps, row = windows.shape
    depth = filters.shape[2] * filters.shape[3]
    weights = np.broadcast_to(filters.reshape(row_taps, column_taps, 1, depth), (row_taps, column_taps, width, depth))
    output: Array = np.einsum("nhijx,ijx->nhx", windows, weights.reshape(row_taps, column_taps, row))
    return output.reshape(batch, height, width, depth)


def dilation2d_kernel(images: Array, filters: Array, *, strides: Ints, rates: Ints, padding: bytes) -> Array:
    return _dilate(images, filters, _dilation_windows(images, filters, strides, rates, padding))[0]


def dilation2d_backprop_input_kernel(
    images: Array, filters: Array, gradient: Array, *, strides: Ints, rates: Ints, padding: bytes
) -> Array:
    """The gradient of each output goes to the first element that made it the maximum.

    Where nothing was above the lowest number it goes to the first element under the window, as TensorFlow has it.
    """
    windows = _dilation_windows(images, filters, strides, rates, padding)
    output, winners = _dilate(images, filters, windows)
    _expect_gradient(gradient, output.shape)
    batch, channel = np.arange(images.shape[0])[:, None, None, None], np.arange(images.shape[3])
    taps = np.unravel_index(np.maximum(winners, 0), filters.shape[:2])
    starts = np.ix_(*(np.arange(axis.output) * axis.stride - axis.before for axis in windows[1:3]))
    row, column = (
        np.where(winners < 0, np.maximum(start[..., None], 0), start[..., None] + tap * axis.dilation)
        for start, tap, axis in zip(starts, taps, windows[1:3], strict=True)
    )
    result = np.zeros(images.shape, images.dtype)
    inside = (row < images.shape[1]) & (column < images.shape[2])
    index = np.broadcast_arrays(batch, row, column, channel)
    np.add.at(result, tuple(axis[inside] for axis in index), gradient[inside])
    return result


def dilation2d_backprop_filter_kernel(
    images: Array, filters: Array, gradient: Array, *, strides: Ints, rates: Ints, padding: bytes
) -> Array:
    output, winners = _dilate(images, filters, _dilation_windows(images, filters, strides, rates, padding))
    _expect_gradient(gradient, output.shape)
    result = np.zeros((prod(filters.shape[:2]), filters.shape[2]), filters.dtype)
    np.add.at(result, (np.maximum(winners, 0), np.arange(filters.shape[2])), gradient)
    return result.reshape(filters.shape)


def _dilation_windows(
    images: Array, filters: Array, strides: Ints, rates: Ints, padding: bytes
) -> tuple[Placement, ...]:
    if images.ndim != 4 or filters.ndim != 3 or images.shape[3] != filters.shape[2]:
        raise InvalidArgumentError(
            f"images {list(images.shape)} and filters {list(filters.shape)}: expected [batch, rows, columns, channels] "
            f"and [rows, columns, channels]"
        )
    return place_windows(images.shape, (1, *filters.shape[:2], 1), Sliding(strides, padding, dilations=rates))


@np.errstate(all="ignore")
def _dilate(images: Array, filters: Array, windows: tuple[Placement, ...]) -> tuple[Array, Array]:
    """The maxima of images plus filters, and which tap was the first to reach each; -1 where none was above the lowest.

    Computed in the images' own type, which decides what is equal.
    """
    shape = tuple(axis.output for axis in windows)
    maxima = np.full(shape, lowest(images.dtype), images.dtype)
    winners = np.full(shape, -1)
    for tap, (outputs, inputs) in enumerate(tap_indices(windows)):
        sums = images[inputs] + filters[divmod(tap, filters.shape[1])]
        wins = sums > maxima[outputs]
        np.copyto(maxima[outputs], sums, where=wins)
        np.copyto(winners[outputs], tap, where=wins)
    return maxima, winners
