"""Convolutions and their gradients, next to loops that add one product after the other."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import Any

import ml_dtypes
import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tensorkeep.arrays import Array
from tensorkeep.errors import InvalidArgumentError, UnimplementedError
from tensorkeep.ops.nn import convolution_kernels
from tensorkeep.ops.nn.convolution_kernels import (
    conv2d_backprop_filter_kernel,
    conv2d_backprop_input_kernel,
    conv2d_kernel,
    conv3d_backprop_filter_kernel,
    conv3d_backprop_filter_v2_kernel,
    conv3d_backprop_input_kernel,
    conv3d_backprop_input_v2_kernel,
    conv3d_kernel,
    depthwise_conv2d_native_backprop_filter_kernel,
    depthwise_conv2d_native_backprop_input_kernel,
    depthwise_conv2d_native_kernel,
    dilation2d_backprop_filter_kernel,
    dilation2d_backprop_input_kernel,
    dilation2d_kernel,
)
from tests.ops.nn.test_windows import slow_windows
from tests.support.depth import examples

Ints = tuple[int, ...]

# Small whole numbers, of which every type here knows all sums and products exactly.
NUMBERS = np.random.default_rng(7).integers(-3, 4, 1 << 14)


def numbers(shape: Ints, dtype: npt.DTypeLike = np.float64, start: int = 0) -> Array:
    return NUMBERS[start : start + int(np.prod(shape))].reshape(shape).astype(dtype)


@dataclass(frozen=True)
class Case:
    """Windows over images, all with channels last."""

    images: Ints
    window: Ints
    strides: Ints
    dilations: Ints
    padding: bytes
    pairs: tuple[tuple[int, int], ...] = ()

    @cached_property
    def axes(self) -> list[list[list[int | None]]]:
        paddings = self.pairs or (self.padding,) * len(self.window)
        axes = zip(self.images[1:-1], self.window, self.strides, self.dilations, paddings, strict=True)
        return [slow_windows(*axis) for axis in axes]

    @cached_property
    def space(self) -> Ints:
        return tuple(map(len, self.axes))

    def meetings(self) -> Iterator[tuple[Ints, Ints, Ints]]:
        """Each output, tap, and element that meet."""
        for output in product(*map(range, self.space)):
            for tap in product(*map(range, self.window)):
                place = tuple(axis[o][t] for axis, o, t in zip(self.axes, output, tap, strict=True))
                if None not in place:
                    yield output, tap, place

    def attributes(self, channels_first: bool = False) -> dict[str, Any]:
        def per_axis(values: tuple[Any, ...], other: Any) -> tuple[Any, ...]:
            return (other, other, *values) if channels_first else (other, *values, other)

        explicit = per_axis(self.pairs, (0, 0)) if self.pairs else ()
        return {
            "strides": per_axis(self.strides, 1),
            "padding": self.padding,
            "explicit_paddings": tuple(amount for pair in explicit for amount in pair),
            "data_format": b"CHANNELS_FIRST" if channels_first else b"CHANNELS_LAST",
            "dilations": per_axis(self.dilations, 1),
        }


def slow_convolution(case: Case, images: Array, filters: Array) -> Array:
    depth, outputs = filters.shape[-2:]
    groups = images.shape[-1] // depth
    result = np.zeros((images.shape[0], *case.space, outputs), images.dtype)
    for output, tap, place in case.meetings():
        for group in range(groups):
            seen = images[(slice(None), *place, slice(group * depth, (group + 1) * depth))]
            target = slice(group * outputs // groups, (group + 1) * outputs // groups)
            result[(slice(None), *output, target)] += seen @ filters[tap][:, target]
    return result


def slow_gradients(case: Case, images: Array, filters: Array, gradient: Array) -> tuple[Array, Array]:
    depth, outputs = filters.shape[-2:]
    groups = images.shape[-1] // depth
    image_gradient, filter_gradient = np.zeros_like(images), np.zeros_like(filters)
    for output, tap, place in case.meetings():
        for group in range(groups):
            source = (slice(None), *place, slice(group * depth, (group + 1) * depth))
            target = slice(group * outputs // groups, (group + 1) * outputs // groups)
            returned = gradient[(slice(None), *output, target)]
            image_gradient[source] += returned @ filters[tap][:, target].T
            filter_gradient[tap][:, target] += images[source].T @ returned
    return image_gradient, filter_gradient


def first(array: Array) -> Array:
    """The channels of images put before space."""
    return np.ascontiguousarray(np.moveaxis(array, -1, 1))


@st.composite
def cases(draw: st.DrawFn, dimensions: int = 2, depth: st.SearchStrategy[int] = st.integers(1, 6)) -> Case:
    def each(low: int, high: int) -> Ints:
        return tuple(draw(st.integers(low, high)) for _ in range(dimensions))

    largest = {1: 9, 2: 7, 3: 4}[dimensions]
    window, dilations = each(1, 3), each(1, 2)
    reaches = [(size - 1) * dilation + 1 for size, dilation in zip(window, dilations, strict=True)]
    space = tuple(max(size, reach) for size, reach in zip(each(1, largest), reaches, strict=True))
    images = (draw(st.integers(1, 3)), *space, draw(depth))
    padding = draw(st.sampled_from([b"SAME", b"VALID", b"EXPLICIT"]))
    pairs = tuple((draw(st.integers(0, 3)), draw(st.integers(0, 3))) for _ in space) if padding == b"EXPLICIT" else ()
    return Case(images, window, each(1, 3), dilations, padding, pairs)


CUTS: dict[str, dict[str, int]] = {
    "whole": {},
    "in pieces and parts": {"_PIECE_BYTES": 1000, "_PART": 200, "_FEWEST_ROWS": 2},
    "in large pieces": {"_LARGE_PIECE_BYTES": 1000, "_LARGEST_IN_PARTS": 0},
}


@pytest.fixture(params=CUTS)
def _pieces(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Small convolutions as they are, and cut as only larger ones are."""
    for name, value in CUTS[request.param].items():
        monkeypatch.setattr(convolution_kernels, name, value)
    convolution_kernels._plan.cache_clear()
    yield
    convolution_kernels._plan.cache_clear()


pieces = pytest.mark.usefixtures("_pieces")
SIXTY = examples(60)


def convolution(images: Array, filters: Array, **attributes: Any) -> Array:
    """Along any number of dimensions."""
    return convolution_kernels._forward(images, filters, convolution_kernels.Sliding(**attributes))


def check_convolution(case: Case, groups: int, outputs: int, channels_first: bool) -> None:
    images = numbers((*case.images[:-1], case.images[-1] * groups))
    filters = numbers((*case.window, case.images[-1], outputs * groups), start=3)
    expected = slow_convolution(case, images, filters)
    attributes = case.attributes(channels_first)
    actual = convolution(first(images) if channels_first else images, filters, **attributes)
    np.testing.assert_array_equal(actual, first(expected) if channels_first else expected)
    assert actual.flags.c_contiguous


@pieces
def test_a_convolution_adds_what_its_taps_meet() -> None:
    @SIXTY
    @given(cases(), st.integers(1, 3), st.integers(1, 3), st.booleans())
    def check(case: Case, groups: int, outputs: int, channels_first: bool) -> None:
        check_convolution(case, groups, outputs, channels_first)

    check()


@pieces
@pytest.mark.parametrize("dimensions", [1, 3])
def test_a_convolution_slides_over_any_number_of_dimensions(dimensions: int) -> None:
    @SIXTY
    @given(cases(dimensions), st.booleans())
    def check(case: Case, channels_first: bool) -> None:
        far = any(stride > window + 1 for stride, window in zip(case.strides, case.window, strict=True))
        if dimensions < 3 or case.padding != b"SAME" or not far:
            check_convolution(case, 1, 2, channels_first)

    check()


@pieces
def test_the_gradients_of_a_convolution_return_what_it_added() -> None:
    @SIXTY
    @given(cases(), st.integers(1, 3), st.integers(1, 3), st.booleans())
    def check(case: Case, groups: int, outputs: int, channels_first: bool) -> None:
        images = numbers((*case.images[:-1], case.images[-1] * groups))
        filters = numbers((*case.window, case.images[-1], outputs * groups), start=3)
        gradient = numbers((case.images[0], *case.space, outputs * groups), start=5)
        expected, expected_filters = slow_gradients(case, images, filters, gradient)
        if channels_first:
            images, gradient, expected = first(images), first(gradient), first(expected)
        attributes = case.attributes(channels_first)
        actual = conv2d_backprop_input_kernel(np.array(images.shape, np.int32), filters, gradient, **attributes)
        np.testing.assert_array_equal(actual, expected)
        assert actual.flags.c_contiguous
        sizes = np.array(filters.shape, np.int32)
        actual = conv2d_backprop_filter_kernel(images, sizes, gradient, **attributes)
        np.testing.assert_array_equal(actual, expected_filters)

    check()


@pieces
def test_the_gradients_of_a_volume_return_what_it_added() -> None:
    @SIXTY
    @given(cases(3), st.integers(1, 3), st.booleans())
    def check(case: Case, outputs: int, channels_first: bool) -> None:
        images, filters = numbers(case.images), numbers((*case.window, case.images[-1], outputs), start=3)
        gradient = numbers((case.images[0], *case.space, outputs), start=5)
        expected, expected_filters = slow_gradients(case, images, filters, gradient)
        if channels_first:
            images, gradient, expected = first(images), first(gradient), first(expected)
        attributes = case.attributes(channels_first)
        actual = conv3d_backprop_input_v2_kernel(np.array(images.shape), filters, gradient, **attributes)
        np.testing.assert_array_equal(actual, expected)
        actual = conv3d_backprop_filter_v2_kernel(images, np.array(filters.shape), gradient, **attributes)
        np.testing.assert_array_equal(actual, expected_filters)

    check()


def test_the_copies_of_large_convolutions_are_small() -> None:
    images, filters = (8, 60, 60, 16), (5, 5, 16, 8)
    for data_format in (b"CHANNELS_LAST", b"CHANNELS_FIRST"):
        sliding = convolution_kernels.Sliding((1, 1, 1, 1), b"SAME", (), data_format)
        shape = images if data_format == b"CHANNELS_LAST" else (8, 16, 60, 60)
        plan = convolution_kernels._plan(shape, filters, sliding, 4)
        assert len(plan.pieces) > 8
        assert all(np.prod(piece.shape) * 4 <= convolution_kernels._PIECE_BYTES for piece in plan.pieces)


def test_pointwise_convolutions_are_not_cut_up() -> None:
    sliding = convolution_kernels.Sliding((1, 1, 1, 1), b"SAME")
    assert len(convolution_kernels._plan((64, 60, 60, 64), (1, 1, 64, 64), sliding, 4).pieces) == 1


SLIDING: dict[str, Any] = {"strides": (1, 1, 1, 1), "padding": b"SAME"}
SLIDING_3D: dict[str, Any] = {"strides": (1, 1, 1, 1, 1), "padding": b"SAME"}


def test_a_convolution_may_be_told_about_gpus_and_its_data_format() -> None:
    images, filters = numbers((2, 5, 6, 3)), numbers((3, 2, 3, 4))
    plain = conv2d_kernel(images, filters, **SLIDING)
    told = conv2d_kernel(
        images,
        filters,
        use_cudnn_on_gpu=False,
        explicit_paddings=(),
        data_format=b"NHWC",
        dilations=(1, 1, 1, 1),
        **SLIDING,
    )
    np.testing.assert_array_equal(plain, told)
    turned = conv2d_kernel(first(images), filters, data_format=b"NCHW", **SLIDING)
    np.testing.assert_array_equal(turned, first(plain))


def test_arrays_need_not_be_contiguous() -> None:
    images, filters = numbers((2, 10, 9, 8)), numbers((6, 3, 4, 4))
    expected = conv2d_kernel(images[:, ::2, 1:, ::2].copy(), filters[::2].copy(), **SLIDING)
    np.testing.assert_array_equal(conv2d_kernel(images[:, ::2, 1:, ::2], filters[::2], **SLIDING), expected)
    pointwise = conv2d_kernel(images[:, ::2], filters[:1, :1].repeat(2, axis=2), **SLIDING)
    np.testing.assert_array_equal(pointwise, images[:, ::2] @ filters[0, 0].repeat(2, axis=0))


def test_kernels_leave_their_arguments_alone() -> None:
    images, filters, gradient = numbers((2, 5, 6, 4)), numbers((3, 2, 4, 4)), numbers((2, 5, 6, 4), start=9)
    before = [array.copy() for array in (images, filters, gradient)]
    for array in (images, filters, gradient):
        array.flags.writeable = False
    conv2d_kernel(images, filters, **SLIDING)
    conv2d_backprop_input_kernel(np.array(images.shape), filters, gradient, **SLIDING)
    conv2d_backprop_filter_kernel(images, np.array(filters.shape), gradient, **SLIDING)
    for array, copy in zip((images, filters, gradient), before, strict=True):
        np.testing.assert_array_equal(array, copy)


def test_sizes_may_be_those_of_space_alone() -> None:
    filters, gradient = numbers((3, 2, 4, 3)), numbers((2, 5, 6, 3))
    whole = conv2d_backprop_input_kernel(np.array([2, 5, 6, 4]), filters, gradient, **SLIDING)
    np.testing.assert_array_equal(conv2d_backprop_input_kernel(np.array([5, 6]), filters, gradient, **SLIDING), whole)
    turned = conv2d_backprop_input_kernel(np.array([5, 6]), filters, first(gradient), data_format=b"NCHW", **SLIDING)
    np.testing.assert_array_equal(turned, first(whole))


def test_gradients_may_take_shapes_from_arrays() -> None:
    images, filters, gradient = numbers((2, 3, 4, 5, 2)), numbers((2, 3, 2, 2, 3)), numbers((2, 3, 4, 5, 3))
    sizes, filter_sizes = np.array(images.shape), np.array(filters.shape)
    np.testing.assert_array_equal(
        conv3d_backprop_input_kernel(images, filters, gradient, **SLIDING_3D),
        conv3d_backprop_input_v2_kernel(sizes, filters, gradient, **SLIDING_3D),
    )
    np.testing.assert_array_equal(
        conv3d_backprop_filter_kernel(images, filters, gradient, **SLIDING_3D),
        conv3d_backprop_filter_v2_kernel(images, filter_sizes, gradient, **SLIDING_3D),
    )


def test_volumes_are_centered_under_windows_that_stand_far_apart() -> None:
    images = np.arange(6.0).reshape(1, 6, 1, 1, 1)
    far = {"strides": (1, 3, 1, 1, 1), "padding": b"SAME"}
    assert conv3d_kernel(images, np.ones((1, 1, 1, 1, 1)), **far).ravel().tolist() == [1, 4]


@pytest.mark.parametrize("dtype", [np.float16, ml_dtypes.bfloat16, np.float32, np.float64, np.int32])
def test_the_type_of_the_result_is_that_of_the_images(dtype: npt.DTypeLike) -> None:
    images, filters, gradient = numbers((2, 4, 4, 3), dtype), numbers((2, 2, 3, 2), dtype), numbers((2, 4, 4, 2), dtype)
    output = conv2d_kernel(images, filters, **SLIDING)
    assert output.dtype == dtype
    wide = conv2d_kernel(images.astype(np.float64), filters.astype(np.float64), **SLIDING)
    np.testing.assert_array_equal(output.astype(np.float64), wide)
    assert conv2d_backprop_input_kernel(np.array(images.shape), filters, gradient, **SLIDING).dtype == dtype
    assert conv2d_backprop_filter_kernel(images, np.array(filters.shape), gradient, **SLIDING).dtype == dtype
    if dtype != np.int32:
        deep = numbers((2, 2, 3, 1), dtype)
        assert depthwise_conv2d_native_kernel(images, deep, **SLIDING).dtype == dtype


@pytest.mark.parametrize(("dtype", "large"), [(np.float16, 2048), (ml_dtypes.bfloat16, 256)])
def test_half_types_are_rounded_once(dtype: npt.DTypeLike, large: int) -> None:
    images = np.ones((1, 4, 4, 1), dtype)
    images[0, 0, 0, 0] = large  # to which adding 1 changes nothing
    filters = np.ones((4, 4, 1, 1), dtype)
    valid: dict[str, Any] = {"strides": (1, 1, 1, 1), "padding": b"VALID"}
    once = np.array([large + 15]).astype(dtype)
    np.testing.assert_array_equal(conv2d_kernel(images, filters, **valid).ravel(), once)
    np.testing.assert_array_equal(depthwise_conv2d_native_kernel(images, filters, **valid).ravel(), once)
    np.testing.assert_array_equal(
        conv2d_backprop_filter_kernel(np.ones_like(images), np.array([1, 1, 1, 1]), images, **valid).ravel(), once
    )


def test_nothing_is_said_about_overflow_and_nan() -> None:
    images = np.full((1, 4, 4, 4), 60000, np.float16)
    images[0, 0, 0, 0] = np.nan
    filters = np.full((2, 2, 4, 4), 60000, np.float16)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        output = conv2d_kernel(images, filters, **SLIDING)
    assert np.isnan(output[0, 0, 0]).all()
    assert np.isposinf(output[0, 1:]).all()


@pytest.mark.parametrize("data_format", [b"NHWC", b"NCHW"])
def test_an_empty_batch_gives_an_empty_output_and_no_gradient(data_format: bytes) -> None:
    def turned(shape: Ints) -> Ints:
        return shape if data_format == b"NHWC" else (shape[0], shape[3], shape[1], shape[2])

    images, gradient = np.zeros(turned((0, 5, 6, 2))), np.zeros(turned((0, 5, 6, 4)))
    sliding: dict[str, Any] = {**SLIDING, "data_format": data_format}
    filters, deep = numbers((3, 3, 2, 4)), numbers((3, 3, 2, 2))
    sizes, filter_sizes, deep_sizes = (np.array(array.shape) for array in (images, filters, deep))
    assert conv2d_kernel(images, filters, **sliding).shape == gradient.shape
    assert conv2d_backprop_input_kernel(sizes, filters, gradient, **sliding).shape == images.shape
    assert not conv2d_backprop_filter_kernel(images, filter_sizes, gradient, **sliding).any()
    assert depthwise_conv2d_native_kernel(images, deep, **sliding).shape == gradient.shape
    assert depthwise_conv2d_native_backprop_input_kernel(sizes, deep, gradient, **sliding).shape == images.shape
    assert not depthwise_conv2d_native_backprop_filter_kernel(images, deep_sizes, gradient, **sliding).any()


def test_an_output_without_elements_returns_no_gradient() -> None:
    images, filters, gradient = numbers((2, 2, 5, 3)), numbers((4, 2, 3, 2)), np.zeros((2, 0, 2, 2))
    sliding: dict[str, Any] = {"strides": (1, 3, 3, 1), "padding": b"VALID"}
    assert conv2d_kernel(images, filters, **sliding).shape == gradient.shape
    assert not conv2d_backprop_input_kernel(np.array(images.shape), filters, gradient, **sliding).any()
    assert not conv2d_backprop_filter_kernel(images, np.array(filters.shape), gradient, **sliding).any()


def test_padding_alone_gives_zeros() -> None:
    padded = {"strides": (1, 1, 1, 1), "padding": b"EXPLICIT", "explicit_paddings": (0, 0, 2, 2, 1, 1, 0, 0)}
    output = conv2d_kernel(np.zeros((1, 0, 4, 1)), numbers((3, 3, 1, 2)), **padded)
    assert output.shape == (1, 2, 4, 2)
    assert not output.any()


@pytest.mark.parametrize("filters", [(2, 2, 2, 4), (2, 2, 3, 5), (2, 2, 0, 4), (2, 2, 7, 2)])
def test_channels_that_do_not_divide_into_groups_are_refused(filters: Ints) -> None:
    with pytest.raises(InvalidArgumentError, match=r"images of 6 channels|images of 7 channels|images of 3 channels"):
        conv2d_kernel(np.zeros((1, 4, 4, 3 if filters[2] == 2 else 6)), np.zeros(filters), **SLIDING)


def test_filters_without_elements_are_refused() -> None:
    with pytest.raises(InvalidArgumentError, match="expected 1 or more of each"):
        conv2d_kernel(np.zeros((1, 4, 4, 3)), np.zeros((0, 2, 3, 4)), **SLIDING)


def test_a_gradient_of_another_shape_than_the_output_is_refused() -> None:
    images, filters, gradient = np.zeros((1, 4, 4, 3)), np.zeros((2, 2, 3, 4)), np.zeros((1, 3, 4, 4))
    said = r"\[1, 3, 4, 4\], and the output \[1, 4, 4, 4\]"
    with pytest.raises(InvalidArgumentError, match=said):
        conv2d_backprop_input_kernel(np.array(images.shape), filters, gradient, **SLIDING)
    with pytest.raises(InvalidArgumentError, match=said):
        conv2d_backprop_filter_kernel(images, np.array(filters.shape), gradient, **SLIDING)


def test_strides_over_images_or_channels_are_refused() -> None:
    for strides in ((2, 1, 1, 1), (1, 1, 1, 3)):
        with pytest.raises(UnimplementedError, match="only spatial axes"):
            conv2d_kernel(np.zeros((1, 4, 4, 3)), np.zeros((2, 2, 3, 4)), strides=strides, padding=b"SAME")


def slow_depthwise(case: Case, images: Array, filters: Array, gradient: Array) -> tuple[Array, Array, Array]:
    output, image_gradient, filter_gradient = np.zeros_like(gradient), np.zeros_like(images), np.zeros_like(filters)
    shape = (images.shape[0], *filters.shape[2:])
    for (row, column), tap, (y, x) in case.meetings():
        seen, returned = images[:, y, x, :, None], gradient[:, row, column].reshape(shape)
        output[:, row, column] += (seen * filters[tap]).reshape(images.shape[0], -1)
        image_gradient[:, y, x] += (returned * filters[tap]).sum(axis=2)
        filter_gradient[tap] += (seen * returned).sum(axis=0)
    return output, image_gradient, filter_gradient


@SIXTY
@given(cases(), st.integers(1, 3), st.booleans())
def test_a_depthwise_convolution_keeps_channels_apart(case: Case, multiplier: int, channels_first: bool) -> None:
    depth = case.images[-1]
    images, filters = numbers(case.images), numbers((*case.window, depth, multiplier), start=3)
    gradient = numbers((case.images[0], *case.space, depth * multiplier), start=5)
    output, image_gradient, filter_gradient = slow_depthwise(case, images, filters, gradient)
    if channels_first:
        images, gradient, output, image_gradient = map(first, (images, gradient, output, image_gradient))
    attributes = case.attributes(channels_first)
    actual = depthwise_conv2d_native_kernel(images, filters, **attributes)
    np.testing.assert_array_equal(actual, output)
    sizes, filter_sizes = np.array(images.shape), np.array(filters.shape)
    actual = depthwise_conv2d_native_backprop_input_kernel(sizes, filters, gradient, **attributes)
    np.testing.assert_array_equal(actual, image_gradient)
    actual = depthwise_conv2d_native_backprop_filter_kernel(images, filter_sizes, gradient, **attributes)
    np.testing.assert_array_equal(actual, filter_gradient)


def test_depthwise_filters_have_the_channels_of_the_images() -> None:
    with pytest.raises(InvalidArgumentError, match="other channels"):
        depthwise_conv2d_native_kernel(np.zeros((1, 4, 4, 3)), np.zeros((2, 2, 4, 1)), **SLIDING)


def slow_dilation(case: Case, images: Array, filters: Array, gradient: Array) -> tuple[Array, Array, Array]:
    """In the images' own type, the first maximum of each window, and both gradients."""
    output = np.full(gradient.shape, np.finfo(np.float32).min, images.dtype)
    image_gradient, filter_gradient = np.zeros_like(images), np.zeros_like(filters)
    winners: dict[Ints, tuple[Ints, Ints]] = {}
    for position, tap, place in case.meetings():
        for image, channel in np.ndindex(images.shape[0], images.shape[3]):
            value = images[(image, *place, channel)] + filters[(*tap, channel)]
            at = (image, *position, channel)
            if value > output[at]:
                output[at], winners[at] = value, (place, tap)
    for at, (place, tap) in winners.items():
        image_gradient[(at[0], *place, at[3])] += gradient[at]
        filter_gradient[(*tap, at[3])] += gradient[at]
    return output, image_gradient, filter_gradient


@SIXTY
@given(cases(depth=st.integers(1, 2)).filter(lambda case: not case.pairs))
def test_a_dilation_returns_the_gradient_to_the_first_maximum(case: Case) -> None:
    images, filters = numbers(case.images, np.float32), numbers((*case.window, case.images[-1]), np.float32, 3)
    gradient = numbers((case.images[0], *case.space, case.images[-1]), np.float32, 5)
    sliding = {"strides": (1, *case.strides, 1), "rates": (1, *case.dilations, 1), "padding": case.padding}
    output, image_gradient, filter_gradient = slow_dilation(case, images, filters, gradient)
    np.testing.assert_array_equal(dilation2d_kernel(images, filters, **sliding), output)
    np.testing.assert_array_equal(
        dilation2d_backprop_input_kernel(images, filters, gradient, **sliding), image_gradient
    )
    np.testing.assert_array_equal(
        dilation2d_backprop_filter_kernel(images, filters, gradient, **sliding), filter_gradient
    )


def test_a_dilation_of_nothing_but_nan_is_the_lowest_number() -> None:
    images, filters = np.full((1, 2, 2, 1), np.nan, np.float32), np.zeros((2, 2, 1), np.float32)
    sliding: dict[str, Any] = {"strides": (1, 1, 1, 1), "rates": (1, 1, 1, 1), "padding": b"VALID"}
    assert dilation2d_kernel(images, filters, **sliding).ravel() == np.finfo(np.float32).min
    gradient = np.ones((1, 1, 1, 1), np.float32)
    returned = dilation2d_backprop_input_kernel(images, filters, gradient, **sliding)
    assert returned.ravel().tolist() == [1, 0, 0, 0]
    returned = dilation2d_backprop_filter_kernel(images, filters, gradient, **sliding)
    assert returned.ravel().tolist() == [1, 0, 0, 0]


@pytest.mark.parametrize("dtype", [np.uint8, np.int16, np.uint64, np.float16, ml_dtypes.bfloat16])
def test_a_dilation_computes_in_its_own_type(dtype: npt.DTypeLike) -> None:
    images = np.array([1, 2, 250, 3]).reshape(1, 1, 4, 1).astype(dtype)
    filters = np.array([7, 0]).reshape(1, 2, 1).astype(dtype)
    sliding: dict[str, Any] = {"strides": (1, 1, 1, 1), "rates": (1, 1, 1, 1), "padding": b"SAME"}
    with np.errstate(over="ignore"):
        sums = images.ravel() + filters.ravel()[:1]
    expected = np.maximum(sums.astype(np.float64), [2, 250, 3, 0])
    actual = dilation2d_kernel(images, filters, **sliding)
    assert actual.dtype == dtype
    np.testing.assert_array_equal(actual.ravel().astype(np.float64), expected)


def test_a_dilation_takes_images_and_filters_of_the_same_channels() -> None:
    sliding: dict[str, Any] = {"strides": (1, 1, 1, 1), "rates": (1, 1, 1, 1), "padding": b"SAME"}
    with pytest.raises(InvalidArgumentError, match=r"expected \[batch, rows, columns, channels\]"):
        dilation2d_kernel(np.zeros((1, 4, 4, 3)), np.zeros((2, 2, 2)), **sliding)
