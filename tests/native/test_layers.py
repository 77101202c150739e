"""Layers by the compiled library give what they give by NumPy, but for the last bits."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tensorkeep.arrays import Array
from tensorkeep.native.layers import functions, moments, multiply_few_rows, packed_matrix
from tensorkeep.ops.nn.convolution_kernels import (
    conv2d_backprop_filter_kernel,
    conv2d_backprop_input_kernel,
    conv2d_kernel,
    depthwise_conv2d_native_kernel,
)
from tensorkeep.ops.nn.pooling_kernels import max_pool_kernel
from tensorkeep.ops.nn.softmax import softmax_kernel, sparse_softmax_cross_entropy_with_logits_kernel
from tests.native.implementations import implementation

pytestmark = pytest.mark.usefixtures("native")


@st.composite
def convolutions(draw: st.DrawFn) -> tuple[Array, Array, dict[str, Any]]:
    """Images, filters, and how these slide; some elements are no finite numbers."""
    window = draw(st.tuples(st.integers(1, 5), st.integers(1, 5)))
    dilations = draw(st.tuples(st.integers(1, 2), st.integers(1, 3)))
    strides = draw(st.tuples(st.integers(1, 3), st.integers(1, 4))) if dilations == (1, 1) else (1, 1)
    space = [
        size + draw(st.integers(0, 12)) for size in (1 + (w - 1) * d for w, d in zip(window, dilations, strict=True))
    ]
    batch, channels = draw(st.integers(1, 3)), draw(st.sampled_from([1, 3, 7, 8, 16, 17, 33, 64]))
    depth = draw(st.sampled_from([1, 3, 8, 15, 16, 17, 32, 33, 70]))
    random = np.random.default_rng(draw(st.integers(0, 99)))
    images = random.standard_normal((batch, *space, channels)).astype(np.float32)
    if draw(st.booleans()):
        images.flat[draw(st.integers(0, images.size - 1))] = draw(st.sampled_from([np.nan, np.inf]))
    filters = random.standard_normal((*window, channels, depth)).astype(np.float32)
    sliding = {
        "strides": (1, *strides, 1),
        "dilations": (1, *dilations, 1),
        "padding": draw(st.sampled_from([b"SAME", b"VALID"])),
        "data_format": b"NHWC",
    }
    return images, filters, sliding


def _assert_close(actual: Array, expected: Array) -> None:
    scale = np.abs(expected[np.isfinite(expected)]).max(initial=1.0)
    np.testing.assert_allclose(actual, expected, rtol=1e-4, atol=1e-5 * scale)


def _by_both(kernel: Any, *arrays: Array, **attributes: Any) -> tuple[Array, Array]:
    with implementation("native"):
        actual = kernel(*arrays, **attributes)
    with implementation("NumPy"):
        return actual, kernel(*arrays, **attributes)


@given(convolutions())
def test_convolutions_agree(sample: tuple[Array, Array, dict[str, Any]]) -> None:
    images, filters, sliding = sample
    _assert_close(*_by_both(conv2d_kernel, images, filters, **sliding))


@given(convolutions())
def test_depthwise_convolutions_agree(sample: tuple[Array, Array, dict[str, Any]]) -> None:
    images, filters, sliding = sample
    _assert_close(*_by_both(depthwise_conv2d_native_kernel, images, filters[..., :1], **sliding))


@given(convolutions())
def test_convolutions_with_a_group_for_each_channel_agree(sample: tuple[Array, Array, dict[str, Any]]) -> None:
    images, filters, sliding = sample
    _assert_close(*_by_both(conv2d_kernel, images, filters[..., :1].swapaxes(2, 3), **sliding))


@given(st.integers(8, 45), st.integers(1, 200), st.integers(1, 90), st.booleans(), st.integers(0, 9))
def test_products_of_few_rows_agree(rows: int, depth: int, columns: int, is_turned: bool, seed: int) -> None:
    """The right matrix lies row after row, or column after column."""
    random = np.random.default_rng(seed)
    left = random.standard_normal((rows, depth)).astype(np.float32)
    right = random.standard_normal((columns, depth) if is_turned else (depth, columns)).astype(np.float32)
    right = right.T if is_turned else right
    compiled, out = functions(), np.full((rows, columns), np.nan, np.float32)
    assert compiled is not None
    multiply_few_rows(compiled, left, right, out)
    _assert_close(out, left @ right)


@given(st.lists(st.integers(1, 40), min_size=1, max_size=3), st.integers(1, 70), st.integers(0, 9))
def test_softmax_agrees(batch: list[int], classes: int, seed: int) -> None:
    random = np.random.default_rng(seed)
    logits = (random.standard_normal((*batch, classes)) * 20).astype(np.float32)
    logits[random.random(logits.shape) < 0.01] = random.choice([np.nan, np.inf, -np.inf])
    with np.errstate(all="ignore"):
        actual, expected = _by_both(softmax_kernel, logits)
    np.testing.assert_allclose(actual, expected, rtol=1e-5, atol=1e-37)


@given(convolutions())
def test_gradients_of_images_agree(sample: tuple[Array, Array, dict[str, Any]]) -> None:
    images, filters, sliding = sample
    images = np.nan_to_num(images, posinf=1.0)
    gradient = conv2d_kernel(images, filters, **sliding)
    sizes = np.array(images.shape, np.int32)
    _assert_close(*_by_both(conv2d_backprop_input_kernel, sizes, filters, gradient, **sliding))


@given(convolutions())
def test_gradients_of_filters_agree(sample: tuple[Array, Array, dict[str, Any]]) -> None:
    images, filters, sliding = sample
    gradient = conv2d_kernel(np.nan_to_num(images, posinf=1.0), filters, **sliding)
    sizes = np.array(filters.shape, np.int32)
    _assert_close(*_by_both(conv2d_backprop_filter_kernel, images, sizes, gradient, **sliding))


def test_gradients_of_filters_are_the_same_bits_by_any_number_of_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    random = np.random.default_rng(2)
    images = random.standard_normal((40, 20, 20, 40)).astype(np.float32)
    gradient = random.standard_normal((40, 10, 10, 70)).astype(np.float32)
    sliding = {"strides": (1, 2, 2, 1), "padding": b"SAME", "data_format": b"NHWC"}
    found = []
    for threads in ("1", "3"):
        monkeypatch.setenv("TENSORKEEP_THREADS", threads)
        sizes = np.array((3, 3, 40, 70), np.int32)
        found.append(conv2d_backprop_filter_kernel(images, sizes, gradient, **sliding))
    np.testing.assert_array_equal(*found)


def test_many_images_are_convolved_by_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TENSORKEEP_THREADS", "3")
    random = np.random.default_rng(1)
    images = random.standard_normal((5, 40, 40, 32)).astype(np.float32)
    filters = random.standard_normal((3, 3, 32, 64)).astype(np.float32)
    sliding = {"strides": (1, 1, 1, 1), "padding": b"SAME", "data_format": b"NHWC"}
    _assert_close(*_by_both(conv2d_kernel, images, filters, **sliding))
    _assert_close(*_by_both(conv2d_kernel, np.ascontiguousarray(images[:1].repeat(4, axis=1)), filters, **sliding))


@given(convolutions())
def test_maxima_agree(sample: tuple[Array, Array, dict[str, Any]]) -> None:
    images, filters, sliding = sample
    images[0, 0, 0, 0] = -np.inf
    sliding.pop("dilations")
    actual, expected = _by_both(max_pool_kernel, images, ksize=(1, *filters.shape[:2], 1), **sliding)
    np.testing.assert_array_equal(actual, expected)


def test_windows_without_a_number_have_the_lowest() -> None:
    images = np.full((2, 8, 8, 17), np.nan, np.float32)
    images[1] = -np.inf
    sliding: dict[str, Any] = {"strides": (1, 2, 2, 1), "padding": b"SAME", "data_format": b"NHWC"}
    for found in _by_both(max_pool_kernel, images, ksize=(1, 3, 3, 1), **sliding):
        np.testing.assert_array_equal(found, np.full((2, 4, 4, 17), np.finfo(np.float32).min))


LARGE: dict[str, tuple[tuple[int, ...], tuple[int, ...], int, bytes]] = {
    "some lines at a time": ((2, 130, 90, 16), (3, 3), 1, b"SAME"),
    "no padding": ((2, 130, 90, 16), (5, 3), 1, b"VALID"),
    "a line at a time": ((1, 9, 2100, 16), (3, 3), 1, b"SAME"),
    "some images at a time": ((9, 11, 12, 32), (3, 3), 1, b"SAME"),
    "strides": ((2, 131, 90, 16), (3, 3), 2, b"SAME"),
    "strides over what windows leave out": ((2, 131, 91, 16), (2, 2), 3, b"VALID"),
    "outputs side by side": ((3, 120, 100, 16), (2, 2), 2, b"SAME"),
    "a window of one line": ((3, 120, 100, 16), (1, 4), 2, b"SAME"),
}


@pytest.mark.parametrize("name", LARGE)
@pytest.mark.parametrize("depth", [3, 16, 40])
@pytest.mark.parametrize("threads", ["1", "3"])
def test_large_images_are_convolved_in_strips(
    name: str, depth: int, threads: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TENSORKEEP_THREADS", threads)
    shape, window, stride, padding = LARGE[name]
    random = np.random.default_rng(1)
    images = random.standard_normal(shape).astype(np.float32)
    filters = random.standard_normal((*window, shape[3], depth)).astype(np.float32)
    sliding = {"strides": (1, stride, stride, 1), "padding": padding, "data_format": b"NHWC"}
    actual, expected = _by_both(conv2d_kernel, images, filters, **sliding)
    _assert_close(actual, expected)
    sizes = np.array(shape, np.int32)
    _assert_close(*_by_both(conv2d_backprop_input_kernel, sizes, filters, expected, **sliding))


@given(st.lists(st.integers(0, 30), max_size=3), st.integers(0, 200), st.integers(0, 9), st.booleans())
def test_moments_agree(batch: list[int], columns: int, seed: int, is_turned: bool) -> None:
    random = np.random.default_rng(seed)
    values = (random.standard_normal((*batch, columns)) * 3 + 7).astype(np.float32)
    values[random.random(values.shape) < 0.001] = random.choice([np.nan, np.inf, 1e30])
    if is_turned:
        values = values[..., ::-1]
    means, variances = moments(values)
    if means is None or variances is None:
        assert values.size < 512
        return
    assert means.shape == variances.shape == (*batch, 1)
    with np.errstate(all="ignore"):
        expected = values.mean(-1, keepdims=True)
        np.testing.assert_allclose(means, expected, rtol=1e-5, atol=1e-5)
        np.testing.assert_allclose(
            variances, np.square(values - expected).mean(-1, keepdims=True), rtol=1e-4, atol=1e-5
        )


def test_moments_of_others_are_left_to_numpy() -> None:
    for value in (np.ones((40, 40)), np.float32(1), np.ones(3, np.float32), np.ones((40, 40), np.float16)):
        assert moments(value) == (None, None)


@pytest.mark.parametrize("shape", [(300, 8229), (600_000, 36)])
def test_a_matrix_is_packed_the_same_by_any_number_of_threads(
    shape: tuple[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    compiled = functions()
    if compiled is None:
        pytest.skip("no compiled library")
    matrix = np.random.default_rng(0).random(shape, np.float32)
    packed = []
    for threads in ("1", "3"):
        monkeypatch.setenv("TENSORKEEP_THREADS", threads)
        packed.append(packed_matrix(compiled, matrix).copy())
    np.testing.assert_array_equal(*packed)


def test_losses_of_many_classes_are_the_same_bits_by_any_number_of_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    generator = np.random.default_rng(0)
    logits = generator.normal(size=(37, 70_000)).astype(np.float32)
    logits[3, 5] = np.inf  # of which nobody warns
    labels = generator.integers(0, 70_000, 37)
    found = []
    for threads in ("1", "3"):
        monkeypatch.setenv("TENSORKEEP_THREADS", threads)
        found.append(sparse_softmax_cross_entropy_with_logits_kernel(logits, labels))
    np.testing.assert_array_equal(found[0][0], found[1][0])
    np.testing.assert_array_equal(found[0][1], found[1][1])
    rows = np.delete(np.arange(37), 3)
    exact = logits[rows].astype(np.float64)
    sums = np.log(np.exp(exact).sum(axis=1))
    np.testing.assert_allclose(found[0][0][rows], sums - exact[np.arange(36), labels[rows]], rtol=1e-5)
    gradient = np.exp(exact - sums[:, None])
    gradient[np.arange(36), labels[rows]] -= 1
    np.testing.assert_allclose(found[0][1][rows], gradient, rtol=1e-4, atol=1e-7)
