"""Pools and their gradients, next to loops that look into one window after the other."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass
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
from tensorkeep.ops.nn import pooling_kernels
from tensorkeep.ops.nn.pooling_kernels import (
    avg_pool3d_grad_kernel,
    avg_pool3d_kernel,
    avg_pool_grad_kernel,
    avg_pool_kernel,
    max_pool3d_grad_grad_kernel,
    max_pool3d_grad_kernel,
    max_pool3d_kernel,
    max_pool_grad_grad_kernel,
    max_pool_grad_grad_v2_kernel,
    max_pool_grad_kernel,
    max_pool_grad_v2_kernel,
    max_pool_grad_with_argmax_kernel,
    max_pool_kernel,
    max_pool_v2_kernel,
    max_pool_with_argmax_kernel,
)
from tests.ops.nn.test_windows import slow_windows

Ints = tuple[int, ...]

NAN, INFINITY = np.nan, np.inf
LOWEST = float(np.finfo(np.float32).min)
# Few different numbers, so that there are ties.
NUMBERS = np.random.default_rng(7).integers(-2, 3, 1 << 13)
SPECIAL = np.random.default_rng(8).choice([NAN, -INFINITY, INFINITY, 0, 1], 1 << 13)


@dataclass(frozen=True)
class Case:
    """A pool over images, with channels last."""

    shape: Ints
    window: Ints
    strides: Ints
    padding: bytes
    pairs: tuple[tuple[int, int], ...] = ()

    def windows(self) -> Iterator[tuple[Ints, list[Ints]]]:
        """Each output, and the places of the elements in its window, in order."""
        paddings = self.pairs or (self.padding,) * len(self.window)
        axes = [
            slow_windows(size, window, stride, 1, padding)
            for size, window, stride, padding in zip(self.shape[1:-1], self.window, self.strides, paddings, strict=True)
        ]
        for output in product(*(range(len(axis)) for axis in axes)):
            met = product(*(axis[at] for axis, at in zip(axes, output, strict=True)))
            places = [place for place in met if None not in place]
            for image, channel in np.ndindex(self.shape[0], self.shape[-1]):
                yield (image, *output, channel), [(image, *place, channel) for place in places]

    @property
    def output_shape(self) -> Ints:
        outputs = [output for output, _ in self.windows()]
        return tuple(max(axis) + 1 for axis in zip(*outputs, strict=True))

    def attributes(self, channels_first: bool = False) -> dict[str, Any]:
        def per_axis(values: tuple[Any, ...], other: Any) -> tuple[Any, ...]:
            return (other, other, *values) if channels_first else (other, *values, other)

        explicit = per_axis(self.pairs, (0, 0)) if self.pairs else ()
        return {
            "ksize": per_axis(self.window, 1),
            "strides": per_axis(self.strides, 1),
            "padding": self.padding,
            "explicit_paddings": tuple(amount for pair in explicit for amount in pair),
            "data_format": b"CHANNELS_FIRST" if channels_first else b"CHANNELS_LAST",
        }

    def numbers(self, shape: Ints | None = None, dtype: npt.DTypeLike = np.float32, start: int = 0) -> Array:
        shape = shape or self.shape
        return NUMBERS[start : start + int(np.prod(shape))].reshape(shape).astype(dtype)


@st.composite
def cases(draw: st.DrawFn, dimensions: int = 2, explicit: bool = True, close: bool = False) -> Case:
    def each(low: int, high: int) -> Ints:
        return tuple(draw(st.integers(low, high)) for _ in range(dimensions))

    window, strides = each(1, 3), each(1, 3)
    if close:
        strides = tuple(map(min, strides, window))
    space = tuple(map(max, window, each(1, {2: 7, 3: 4}[dimensions])))
    padding = draw(st.sampled_from([b"SAME", b"VALID"] + [b"EXPLICIT"] * explicit))
    pairs = ()
    if padding == b"EXPLICIT":
        pairs = tuple((draw(st.integers(0, size - 1)), draw(st.integers(0, size - 1))) for size in window)
    return Case((draw(st.integers(1, 3)), *space, draw(st.integers(1, 3))), window, strides, padding, pairs)


def first(array: Array) -> Array:
    """The channels of images put before space."""
    return np.ascontiguousarray(np.moveaxis(array, -1, 1))


def first_maximum(images: Array, places: list[Ints]) -> Ints:
    best = places[0]
    for place in places:
        if images[place] > images[best]:
            best = place
    return best


@given(cases(), st.sampled_from([np.float32, np.float64, np.int32, np.uint8, np.float16, ml_dtypes.bfloat16]))
def test_the_maximum_of_each_window_is_taken(case: Case, dtype: npt.DTypeLike) -> None:
    images = case.numbers(start=9, dtype=np.int64).astype(np.int8).astype(dtype)
    expected = np.zeros(case.output_shape, dtype)
    for output, places in case.windows():
        expected[output] = max(images[place] for place in places)
    actual = max_pool_kernel(images, **case.attributes())
    assert actual.dtype == dtype
    np.testing.assert_array_equal(actual, expected)
    turned = max_pool_kernel(first(images), **case.attributes(channels_first=True))
    np.testing.assert_array_equal(turned, first(expected))


@given(cases())
def test_nan_is_ignored_and_infinity_alone_gives_the_lowest_number(case: Case) -> None:
    images = SPECIAL[: int(np.prod(case.shape))].reshape(case.shape).astype(np.float32)
    expected = np.zeros(case.output_shape, np.float32)
    for output, places in case.windows():
        expected[output] = max([LOWEST, *(images[place] for place in places if not np.isnan(images[place]))])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        np.testing.assert_array_equal(max_pool_kernel(images, **case.attributes()), expected)


@given(cases(3, explicit=False, close=True))
def test_volumes_with_nothing_but_nan_and_infinity_give_infinity(case: Case) -> None:
    images = SPECIAL[: int(np.prod(case.shape))].reshape(case.shape).astype(np.float32)
    expected = np.zeros(case.output_shape, np.float32)
    for output, places in case.windows():
        expected[output] = max([-INFINITY, *(images[place] for place in places if not np.isnan(images[place]))])
    np.testing.assert_array_equal(max_pool3d_kernel(images, **case.attributes()), expected)
    turned = max_pool3d_kernel(first(images), **case.attributes(channels_first=True))
    np.testing.assert_array_equal(turned, first(expected))


@pytest.mark.parametrize(("dtype", "least"), [(np.float16, -65504), (ml_dtypes.bfloat16, -3.3895313892515355e38)])
def test_the_lowest_number_is_that_of_the_type(dtype: npt.DTypeLike, least: float) -> None:
    images = np.full((1, 2, 2, 3), -np.inf).astype(dtype)
    pooled = max_pool_kernel(images, ksize=(1, 2, 2, 1), strides=(1, 2, 2, 1), padding=b"VALID")
    assert pooled.astype(np.float64).ravel().tolist() == [least] * 3


@pytest.mark.parametrize(
    ("values", "maximum"),
    [
        ([1, 3, 2], 3),
        ([NAN, 3, 2], NAN),
        ([1, NAN, 2], 2),
        ([3, 2, NAN], 3),
        ([-INFINITY, -INFINITY, -INFINITY], -INFINITY),
    ],
)
def test_a_pool_over_channels_keeps_what_comes_first(values: list[float], maximum: float) -> None:
    images = np.array([[[[*values, 5, 4, 6]]]], np.float32)
    pooled = max_pool_kernel(images, ksize=(1, 1, 1, 3), strides=(1, 1, 1, 3), padding=b"SAME")
    np.testing.assert_array_equal(pooled, np.array([[[[maximum, 6]]]], np.float32))
    turned = max_pool_kernel(
        first(images), ksize=(1, 3, 1, 1), strides=(1, 3, 1, 1), padding=b"SAME", data_format=b"NCHW"
    )
    np.testing.assert_array_equal(turned, first(pooled))


@pytest.mark.parametrize(
    ("ksize", "strides"),
    [
        ((2, 1, 1, 1), (1, 1, 1, 1)),
        ((1, 1, 1, 1), (2, 1, 1, 1)),
        ((1, 1, 1, 3), (1, 1, 1, 1)),
        ((1, 1, 1, 4), (1, 1, 1, 4)),
        ((1, 2, 1, 3), (1, 1, 1, 3)),
    ],
)
def test_pools_over_the_batch_and_mixed_pools_are_refused(ksize: Ints, strides: Ints) -> None:
    with pytest.raises(UnimplementedError, match="pool over"):
        max_pool_kernel(np.zeros((2, 4, 4, 6)), ksize=ksize, strides=strides, padding=b"SAME")


def test_only_maxima_are_taken_over_channels() -> None:
    with pytest.raises(UnimplementedError, match="pool over 6 channels"):
        avg_pool_kernel(np.zeros((2, 4, 4, 6)), ksize=(1, 1, 1, 3), strides=(1, 1, 1, 3), padding=b"SAME")


def test_more_padding_than_window_is_refused() -> None:
    padded = {"padding": b"EXPLICIT", "explicit_paddings": (0, 0, 0, 2, 0, 0, 0, 0)}
    with pytest.raises(InvalidArgumentError, match="expected less than the windows"):
        max_pool_kernel(np.zeros((2, 4, 4, 6)), ksize=(1, 2, 2, 1), strides=(1, 1, 1, 1), **padded)


def test_windows_may_be_inputs() -> None:
    images = np.arange(2 * 5 * 6 * 2, dtype=np.float32).reshape(2, 5, 6, 2)
    ksize, strides = (1, 2, 3, 1), (1, 2, 2, 1)
    arrays = np.array(ksize, np.int32), np.array(strides, np.int32)
    fixed: dict[str, Any] = {"ksize": ksize, "strides": strides, "padding": b"SAME"}
    output = max_pool_kernel(images, **fixed)
    np.testing.assert_array_equal(max_pool_v2_kernel(images, *arrays, padding=b"SAME", data_format=b"NHWC"), output)
    np.testing.assert_array_equal(
        max_pool_grad_v2_kernel(images, output, output, *arrays, padding=b"SAME"),
        max_pool_grad_kernel(images, output, output, **fixed),
    )
    np.testing.assert_array_equal(
        max_pool_grad_grad_v2_kernel(images, output, images, *arrays, padding=b"SAME"),
        max_pool_grad_grad_kernel(images, output, images, **fixed),
    )


@given(cases(), st.booleans(), st.booleans())
def test_the_gradient_goes_to_the_first_maximum(case: Case, special: bool, channels_first: bool) -> None:
    images = case.numbers()
    if special:
        images = SPECIAL[: images.size].reshape(images.shape).astype(np.float32)
    gradient = case.numbers(case.output_shape, start=5)
    expected = np.zeros_like(images)
    for output, places in case.windows():
        expected[first_maximum(images, places)] += gradient[output]
    if channels_first:
        images, gradient, expected = first(images), first(gradient), first(expected)
    ignored = np.full_like(gradient, 9)
    actual = max_pool_grad_kernel(images, ignored, gradient, **case.attributes(channels_first))
    np.testing.assert_array_equal(actual, expected)


def test_the_gradient_is_the_same_for_many_images_and_for_each(monkeypatch: pytest.MonkeyPatch) -> None:
    case = Case((7, 5, 6, 3), (3, 2), (2, 1), b"SAME")
    images, gradient = case.numbers(), case.numbers(case.output_shape, start=5)
    whole = max_pool_grad_kernel(images, gradient, gradient, **case.attributes())
    for limit in (1, 2 * images[0].nbytes):
        monkeypatch.setattr(pooling_kernels, "_PIECE_BYTES", limit)
        np.testing.assert_array_equal(max_pool_grad_kernel(images, gradient, gradient, **case.attributes()), whole)


def test_infinite_gradients_reach_the_maximum_only() -> None:
    images = np.arange(4, dtype=np.float32).reshape(1, 2, 2, 1)
    gradient = np.full((1, 1, 1, 1), INFINITY, np.float32)
    pool: dict[str, Any] = {"ksize": (1, 2, 2, 1), "strides": (1, 2, 2, 1), "padding": b"VALID"}
    assert max_pool_grad_kernel(images, gradient, gradient, **pool).ravel().tolist() == [0, 0, 0, INFINITY]


@given(cases(explicit=False), st.booleans())
def test_the_gradient_of_the_gradient_is_that_at_the_first_element_equal_to_the_output(
    case: Case, channels_first: bool
) -> None:
    images, gradient = case.numbers(), case.numbers(start=5)
    given_output = case.numbers(case.output_shape, start=3)  # a maximum here and there, by chance
    expected = np.zeros_like(given_output)
    for output, places in case.windows():
        equal = [place for place in places if images[place] == given_output[output]]
        expected[output] = gradient[equal[0]] if equal else 0
    if channels_first:
        images, gradient, given_output, expected = map(first, (images, gradient, given_output, expected))
    actual = max_pool_grad_grad_kernel(images, given_output, gradient, **case.attributes(channels_first))
    np.testing.assert_array_equal(actual, expected)


@given(cases(3, explicit=False), st.booleans())
def test_in_volumes_every_element_near_the_output_gets_the_gradient(case: Case, channels_first: bool) -> None:
    images = case.numbers()
    images += np.random.default_rng(1).choice(np.float32([0, 0, 5e-6, 5e-5]), images.shape)
    gradient = case.numbers(case.output_shape, start=5)
    given_output = np.zeros_like(gradient)
    expected = np.zeros_like(images)
    for output, places in case.windows():
        given_output[output] = max(images[place] for place in places)
        for place in places:
            if abs(images[place] - given_output[output]) < np.float32(1e-5):
                expected[place] += gradient[output]
    if channels_first:
        images, gradient, given_output, expected = map(first, (images, gradient, given_output, expected))
    attributes = case.attributes(channels_first)
    np.testing.assert_array_equal(max_pool3d_grad_kernel(images, given_output, gradient, **attributes), expected)
    twice = max_pool3d_grad_grad_kernel(images, given_output, images, **attributes)
    np.testing.assert_array_equal(twice, given_output)


@given(cases(explicit=False), st.booleans(), st.sampled_from([np.int32, np.int64]))
def test_argmax_is_the_place_of_the_first_maximum(case: Case, with_batch: bool, dtype: npt.DTypeLike) -> None:
    images = case.numbers()
    maxima, places_of_maxima = np.zeros(case.output_shape, np.float32), np.zeros(case.output_shape, dtype)
    for output, places in case.windows():
        place = first_maximum(images, places)
        maxima[output] = images[place]
        flat = np.ravel_multi_index(place, images.shape)
        places_of_maxima[output] = flat if with_batch else flat % images[0].size
    attributes = {**case.attributes(), "include_batch_in_index": with_batch}
    attributes.pop("explicit_paddings")
    attributes.pop("data_format")
    actual, argmax = max_pool_with_argmax_kernel(images, Targmax=dtype, **attributes)
    np.testing.assert_array_equal(actual, maxima)
    np.testing.assert_array_equal(argmax, places_of_maxima)
    assert argmax.dtype == dtype

    gradient = case.numbers(case.output_shape, start=5)
    returned = max_pool_grad_with_argmax_kernel(images, gradient, argmax, **attributes)
    np.testing.assert_array_equal(returned, max_pool_grad_kernel(images, maxima, gradient, **case.attributes()))


@pytest.mark.parametrize("place", [-1, 4])
def test_argmax_outside_of_the_image_is_refused(place: int) -> None:
    images, gradient = np.zeros((2, 2, 2, 1)), np.zeros((2, 1, 1, 1))
    with pytest.raises(InvalidArgumentError, match="expected 0 to 3"):
        max_pool_grad_with_argmax_kernel(images, gradient, np.full((2, 1, 1, 1), place))


@given(cases(explicit=False), st.booleans())
def test_an_average_leaves_padding_out(case: Case, channels_first: bool) -> None:
    images, gradient = case.numbers(dtype=np.float64), case.numbers(case.output_shape, np.float64, 5)
    expected, returned = np.zeros(case.output_shape), np.zeros(case.shape)
    for output, places in case.windows():
        expected[output] = np.mean([images[place] for place in places])
        for place in places:
            returned[place] += gradient[output] / len(places)
    if channels_first:
        images, gradient, expected, returned = map(first, (images, gradient, expected, returned))
    attributes = case.attributes(channels_first)
    np.testing.assert_allclose(avg_pool_kernel(images, **attributes), expected, atol=1e-12)
    actual = avg_pool_grad_kernel(np.array(images.shape, np.int32), gradient, **attributes)
    np.testing.assert_allclose(actual, returned, atol=1e-12)


@given(cases(3, explicit=False, close=True), st.booleans())
def test_an_average_is_taken_of_volumes_too(case: Case, channels_first: bool) -> None:
    images, gradient = case.numbers(dtype=np.float64), case.numbers(case.output_shape, np.float64, 5)
    expected, returned = np.zeros(case.output_shape), np.zeros(case.shape)
    for output, places in case.windows():
        expected[output] = np.mean([images[place] for place in places])
        for place in places:
            returned[place] += gradient[output] / len(places)
    if channels_first:
        images, gradient, expected, returned = map(first, (images, gradient, expected, returned))
    attributes = case.attributes(channels_first)
    np.testing.assert_allclose(avg_pool3d_kernel(images, **attributes), expected, atol=1e-12)
    actual = avg_pool3d_grad_kernel(np.array(images.shape, np.int32), gradient, **attributes)
    np.testing.assert_allclose(actual, returned, atol=1e-12)


def test_volumes_are_centered_under_windows_that_stand_far_apart() -> None:
    images = np.arange(6.0).reshape(1, 6, 1, 1, 1)
    far: dict[str, Any] = {"ksize": (1, 1, 1, 1, 1), "strides": (1, 3, 1, 1, 1), "padding": b"SAME"}
    assert max_pool3d_kernel(images, **far).ravel().tolist() == [1, 4]
    assert avg_pool3d_kernel(images, **far).ravel().tolist() == [1, 4]
    turned = {name: (1, *value[-1:], *value[1:-1]) if name != "padding" else value for name, value in far.items()}
    assert max_pool3d_kernel(first(images), data_format=b"NCDHW", **turned).ravel().tolist() == [1, 4]


def test_half_types_are_rounded_once() -> None:
    images = np.ones((1, 4, 4, 1), np.float16)
    images[0, 0, 0, 0] = 2048  # to which adding 1 changes nothing
    pool: dict[str, Any] = {"ksize": (1, 4, 4, 1), "strides": (1, 1, 1, 1), "padding": b"VALID"}
    assert avg_pool_kernel(images, **pool).ravel() == np.float16(2063 / 16)


def test_an_empty_batch_gives_an_empty_pool() -> None:
    images, output = np.zeros((0, 4, 4, 3), np.float32), np.zeros((0, 2, 2, 3), np.float32)
    pool: dict[str, Any] = {"ksize": (1, 2, 2, 1), "strides": (1, 2, 2, 1), "padding": b"VALID"}
    assert max_pool_kernel(images, **pool).shape == output.shape
    assert avg_pool_kernel(images, **pool).shape == output.shape
    assert max_pool_grad_kernel(images, output, output, **pool).shape == images.shape
    assert avg_pool_grad_kernel(np.array(images.shape), output, **pool).shape == images.shape
    assert [array.shape for array in max_pool_with_argmax_kernel(images, **pool)] == [output.shape] * 2


def test_a_pool_of_single_elements_is_a_copy() -> None:
    images = np.arange(8).reshape(1, 2, 2, 2)
    pool: dict[str, Any] = {"ksize": (1, 1, 1, 1), "strides": (1, 1, 1, 1), "padding": b"VALID"}
    for array in (images, images.astype(np.float32)):
        for pooled in (max_pool_kernel(array, **pool), max_pool_with_argmax_kernel(array, **pool)[0]):
            np.testing.assert_array_equal(pooled, array)
            assert not np.shares_memory(pooled, array)


def test_arrays_of_other_shapes_than_the_pool_are_refused() -> None:
    images, output, other = np.zeros((1, 4, 4, 3)), np.zeros((1, 2, 2, 3)), np.zeros((1, 3, 2, 3))
    pool: dict[str, Any] = {"ksize": (1, 2, 2, 1), "strides": (1, 2, 2, 1), "padding": b"VALID"}
    for kernel, arrays, name in (
        (max_pool_grad_kernel, (images, output, other), "gradient"),
        (max_pool_grad_kernel, (images, other, output), "output"),
        (max_pool_grad_grad_kernel, (images, other, images), "output"),
        (max_pool_grad_grad_kernel, (images, output, other), "gradient"),
        (avg_pool_grad_kernel, (np.array(images.shape), other), "gradient"),
    ):
        with pytest.raises(InvalidArgumentError, match=rf"{name} \[1, 3, 2, 3\]"):
            kernel(*arrays, **pool)
