"""Batch and local response normalization, next to loops over channels, and to finite differences."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tensorkeep.arrays import Array
from tensorkeep.errors import InvalidArgumentError
from tensorkeep.ops.nn import _normalization_kernels
from tensorkeep.ops.nn._normalization_kernels import (
    fused_batch_norm_grad_kernel,
    fused_batch_norm_grad_v3_kernel,
    fused_batch_norm_kernel,
    fused_batch_norm_v3_kernel,
    lrn_grad_kernel,
    lrn_kernel,
)

Ints = tuple[int, ...]

RANDOM = np.random.default_rng(3).standard_normal(1 << 15)
NOTHING = np.zeros(0, np.float32)
formats = st.sampled_from([b"NHWC", b"NCHW", b"NDHWC", b"NCDHW"])


def random(shape: Ints, dtype: npt.DTypeLike = np.float32, start: int = 0) -> Array:
    return RANDOM[start : start + int(np.prod(shape))].reshape(shape).astype(dtype)


def vectors(channels: int) -> tuple[Array, Array, Array, Array]:
    """A scale, an offset, a mean and a variance."""
    scale, offset, mean, variance = (random((channels,), start=100 * at) for at in range(4))
    return scale, offset, mean, np.abs(variance)


def shape_of(data_format: bytes, channels: int, space: Ints) -> Ints:
    space = space[: len(data_format) - 2]
    return (2, channels, *space) if data_format.startswith(b"NC") else (2, *space, channels)


def each_channel(array: Array, data_format: bytes) -> Array:
    """The array as (channels, elements)."""
    axis = 1 if data_format.startswith(b"NC") else array.ndim - 1
    return np.moveaxis(array, axis, 0).reshape(array.shape[axis], -1).astype(np.float64)


def as_shape(channels: Array, shape: Ints, data_format: bytes) -> Array:
    axis = 1 if data_format.startswith(b"NC") else len(shape) - 1
    others = [size for at, size in enumerate(shape) if at != axis]
    return np.moveaxis(channels.reshape(shape[axis], *others), 0, axis)


@pytest.fixture(params=["as it is", "with repeated channels"])
def _repetition(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Once with small arrays computed as such, and once as if they were large."""
    if request.param == "with repeated channels":
        monkeypatch.setattr(_normalization_kernels, "_LARGE", 1)


@pytest.mark.usefixtures("_repetition")
def test_training_normalizes_each_channel() -> None:
    @given(formats, st.integers(1, 4), st.tuples(*[st.integers(1, 4)] * 3), st.sampled_from([1.0, 0.25]))
    def check(data_format: bytes, channels: int, space: Ints, factor: float) -> None:
        x = random(shape_of(data_format, channels, space))
        scale, offset, old_mean, old_variance = vectors(channels)
        seen = each_channel(x, data_format)
        mean, variance = seen.mean(axis=1), seen.var(axis=1)
        unbiased = variance * seen.shape[1] / max(1, seen.shape[1] - 1)
        expected = scale[:, None] * (seen - mean[:, None]) / np.sqrt(variance + 1e-3)[:, None] + offset[:, None]
        attributes = {"epsilon": 1e-3, "exponential_avg_factor": factor, "data_format": data_format}
        y, *statistics, reserved = fused_batch_norm_v3_kernel(
            x, scale, offset, old_mean, old_variance, is_training=True, **attributes
        )
        np.testing.assert_allclose(y, as_shape(expected, x.shape, data_format), rtol=1e-4, atol=1e-4)
        new_mean = factor * mean + (1 - factor) * old_mean
        new_variance = factor * unbiased + (1 - factor) * old_variance
        for actual, wanted in zip(statistics, (new_mean, new_variance, mean, variance), strict=True):
            np.testing.assert_allclose(actual, wanted, rtol=1e-4, atol=1e-5)
        assert (y.dtype, reserved.shape, reserved.dtype, float(reserved)) == (np.float32, (), np.float32, 0)

    check()


@pytest.mark.usefixtures("_repetition")
def test_inference_normalizes_with_what_is_given() -> None:
    @given(formats, st.integers(1, 4), st.tuples(*[st.integers(1, 4)] * 3))
    def check(data_format: bytes, channels: int, space: Ints) -> None:
        x = random(shape_of(data_format, channels, space))
        scale, offset, mean, variance = vectors(channels)
        seen = each_channel(x, data_format) - mean[:, None]
        expected = scale[:, None] * seen / np.sqrt(variance + 1e-3)[:, None] + offset[:, None]
        y, *statistics = fused_batch_norm_kernel(
            x, scale, offset, mean, variance, epsilon=1e-3, data_format=data_format, is_training=False
        )
        np.testing.assert_allclose(y, as_shape(expected, x.shape, data_format), rtol=1e-4, atol=1e-4)
        for actual, wanted in zip(statistics, (mean, variance, mean, variance), strict=True):
            np.testing.assert_array_equal(actual, wanted)
            assert not np.shares_memory(actual, wanted)

    check()


@pytest.mark.usefixtures("_repetition")
@pytest.mark.parametrize("is_training", [True, False])
@pytest.mark.parametrize("data_format", [b"NHWC", b"NCHW", b"NDHWC", b"NCDHW"])
def test_the_gradients_of_batch_normalization_are_its_slopes(data_format: bytes, is_training: bool) -> None:
    x = random(shape_of(data_format, 3, (3, 2, 2)), np.float64)
    scale, offset, mean, variance = (vector.astype(np.float64) for vector in vectors(3))
    weights = random(x.shape, np.float64, start=500)
    if is_training:
        seen = each_channel(x, data_format)
        mean, variance = seen.mean(axis=1), seen.var(axis=1)

    def loss(x: Array, scale: Array, offset: Array) -> float:
        seen = each_channel(x, data_format)
        center, spread = (seen.mean(axis=1), seen.var(axis=1)) if is_training else (mean, variance)
        y = scale[:, None] * (seen - center[:, None]) / np.sqrt(spread + 1e-3)[:, None] + offset[:, None]
        return float((as_shape(y, x.shape, data_format) * weights).sum())

    actual = fused_batch_norm_grad_v3_kernel(
        *(array.astype(np.float32) for array in (weights, x, scale, mean, variance, NOTHING)),
        epsilon=1e-3,
        data_format=data_format,
        is_training=is_training,
    )
    for at, argument in enumerate((x, scale, offset)):
        slopes = np.zeros(argument.shape)
        for place in np.ndindex(argument.shape):
            ahead, behind = ([x.copy(), scale.copy(), offset.copy()] for _ in range(2))
            ahead[at][place] += 1e-5
            behind[at][place] -= 1e-5
            slopes[place] = (loss(*ahead) - loss(*behind)) / 2e-5
        np.testing.assert_allclose(actual[at], slopes, rtol=1e-3, atol=1e-4)
    assert [array.shape for array in actual[3:]] == [(0,), (0,)]


@pytest.mark.parametrize("dtype", [np.float16, ml_dtypes.bfloat16])
def test_half_types_have_float32_statistics(dtype: npt.DTypeLike) -> None:
    x, scale, offset = random((2, 3, 4, 5), dtype), *vectors(5)[:2]
    y, *statistics = fused_batch_norm_kernel(x, scale, offset, NOTHING, NOTHING)
    wide, *same = fused_batch_norm_kernel(x.astype(np.float32), scale, offset, NOTHING, NOTHING)
    np.testing.assert_array_equal(y, wide.astype(dtype))
    for actual, wanted in zip(statistics, same, strict=True):
        np.testing.assert_array_equal(actual, wanted)
    returned = fused_batch_norm_grad_kernel(y, x, scale, *statistics[2:])
    assert [array.dtype for array in returned] == [dtype, *[np.float32] * 4]


def test_a_single_element_has_no_variance() -> None:
    scale, offset, *_ = vectors(3)
    y, mean, variance, *_ = fused_batch_norm_kernel(np.ones((1, 1, 1, 3), np.float32), scale, offset, NOTHING, NOTHING)
    np.testing.assert_array_equal(y.ravel(), offset)
    assert (mean.tolist(), variance.tolist()) == ([1, 1, 1], [0, 0, 0])


@pytest.mark.parametrize("is_training", [True, False])
def test_an_empty_batch_has_no_statistics_and_no_gradient(is_training: bool) -> None:
    x, (scale, offset, mean, variance) = np.zeros((0, 2, 2, 3), np.float32), vectors(3)
    y, *statistics = fused_batch_norm_kernel(x, scale, offset, mean, variance, is_training=is_training)
    assert y.shape == x.shape
    assert [np.isnan(vector).all() for vector in statistics] == [True, True, False, False]
    returned = fused_batch_norm_grad_kernel(x, x, scale, mean, variance, is_training=is_training)
    assert [array.shape for array in returned] == [x.shape, (3,), (3,), (0,), (0,)]
    assert not returned[1].any()
    assert not returned[2].any()


def test_each_channel_needs_its_numbers() -> None:
    x, (scale, offset, mean, variance) = random((1, 2, 2, 3)), vectors(3)
    calls: list[tuple[str, Callable[[], object]]] = [
        ("scale", lambda: fused_batch_norm_kernel(x, scale[:2], offset, mean, variance)),
        ("offset", lambda: fused_batch_norm_kernel(x, scale, NOTHING, mean, variance)),
        ("mean", lambda: fused_batch_norm_kernel(x, scale, offset, NOTHING, variance, is_training=False)),
        ("variance", lambda: fused_batch_norm_kernel(x, scale, offset, mean, NOTHING, exponential_avg_factor=0.5)),
        ("variance", lambda: fused_batch_norm_grad_kernel(x, x, scale, mean, NOTHING)),
    ]
    for name, call in calls:
        with pytest.raises(InvalidArgumentError, match=f"{name} has the shape .* each of 3 channels"):
            call()
    with pytest.raises(InvalidArgumentError, match="expected the same shape"):
        fused_batch_norm_grad_kernel(x[:, :1], x, scale, mean, variance)


def test_sums_over_many_elements_are_precise() -> None:
    x = np.random.default_rng(0).standard_normal((16, 64, 64, 3)).astype(np.float32) + np.float32(3)
    _, mean, _, _, variance = fused_batch_norm_kernel(x, *vectors(3)[:2], NOTHING, NOTHING)
    np.testing.assert_allclose(mean, x.astype(np.float64).mean(axis=(0, 1, 2)), rtol=1e-6)
    np.testing.assert_allclose(variance, x.astype(np.float64).var(axis=(0, 1, 2)), rtol=1e-5)


def slow_norms(images: Array, radius: int, bias: float, alpha: float) -> Array:
    norms = np.full(images.shape, bias)
    for channel in range(images.shape[-1]):
        near = images[..., max(0, channel - radius) : channel + radius + 1].astype(np.float64)
        norms[..., channel] += alpha * (near**2).sum(axis=-1)
    return norms


@given(st.integers(1, 9), st.integers(0, 6), st.sampled_from([0.5, 1, 0.75, 2]))
def test_a_response_is_divided_by_that_of_its_neighbors(channels: int, radius: int, beta: float) -> None:
    images = random((2, 2, 3, channels))
    expected = images / slow_norms(images, radius, 1.5, 0.3) ** beta
    actual = lrn_kernel(images, depth_radius=radius, bias=1.5, alpha=0.3, beta=beta)
    np.testing.assert_allclose(actual, expected, rtol=1e-5, atol=1e-6)
    for half in (np.float16, ml_dtypes.bfloat16):
        actual = lrn_kernel(images.astype(half), depth_radius=radius, bias=1.5, alpha=0.3, beta=beta)
        assert actual.dtype == half
        np.testing.assert_allclose(actual.astype(np.float32), expected, rtol=0.05, atol=0.02)


@given(st.integers(1, 5), st.integers(0, 3), st.sampled_from([0.5, 1, 0.75]))
def test_the_gradient_of_a_response_is_its_slope(channels: int, radius: int, beta: float) -> None:
    images, weights = random((1, 1, 2, channels), np.float64), random((1, 1, 2, channels), np.float64, 50)

    def loss(images: Array) -> float:
        return float((weights * images / slow_norms(images, radius, 1.5, 0.3) ** beta).sum())

    slopes = np.zeros(images.shape)
    for place in np.ndindex(images.shape):
        step = np.zeros(images.shape)
        step[place] = 1e-5
        slopes[place] = (loss(images + step) - loss(images - step)) / 2e-5
    attributes: dict[str, Any] = {"depth_radius": radius, "bias": 1.5, "alpha": 0.3, "beta": beta}
    narrow = images.astype(np.float32)
    output = lrn_kernel(narrow, **attributes)
    actual = lrn_grad_kernel(weights.astype(np.float32), narrow, output, **attributes)
    np.testing.assert_allclose(actual, slopes, rtol=1e-3, atol=1e-4)


def test_where_there_is_no_gradient_none_is_returned() -> None:
    images = np.array([[[[0, 1]]]], np.float32)
    gradient = np.array([[[[0, 1]]]], np.float32)
    attributes: dict[str, Any] = {"depth_radius": 0, "bias": 0.0}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        output = lrn_kernel(images, **attributes)
        returned = lrn_grad_kernel(gradient, images, np.nan_to_num(output), **attributes)
    assert np.isnan(output.ravel()[0])
    np.testing.assert_allclose(returned.ravel(), [0, 0], atol=1e-6)


def test_an_empty_batch_has_no_response() -> None:
    images = np.zeros((0, 2, 2, 3), np.float32)
    assert lrn_kernel(images).shape == images.shape
    assert lrn_grad_kernel(images, images, images).shape == images.shape


def test_gradient_images_and_output_have_the_same_shape() -> None:
    images = np.zeros((1, 2, 2, 3), np.float32)
    with pytest.raises(InvalidArgumentError, match="expected the same"):
        lrn_grad_kernel(images, images, images[..., :2])
