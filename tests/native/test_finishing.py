"""Chains that go over products while these are computed give what they give afterwards."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tensorkeep.arrays import Array
from tensorkeep.native import layers
from tensorkeep.native.chains import Chain, Instruction, Operation
from tensorkeep.native.finishing import Finish
from tensorkeep.ops.linear_algebra.products import finished_product, multiply
from tensorkeep.ops.nn.convolution_kernels import (
    conv2d_backprop_input_kernel,
    conv2d_kernel,
    depthwise_conv2d_native_kernel,
    finished_conv2d,
    finished_conv2d_backprop_input,
    finished_depthwise_conv2d,
)
from tests.native.implementations import implementation
from tests.native.test_layers import convolutions

pytestmark = [
    pytest.mark.usefixtures("native"),
    pytest.mark.skipif(layers.functions() is None, reason="no compiled code for this processor"),
]

SCALED = (  # relu(product * scale + bias + other)
    Instruction(Operation.MULTIPLY, (0, 1)),
    Instruction(Operation.ADD, (4, 2)),
    Instruction(Operation.ADD, (5, 3)),
    Instruction(Operation.RELU, (6,)),
)


def _same(product: Array) -> Array:
    return product


def _finish(others: list[Array], seen: Callable[[Array], Array] = _same) -> Finish:
    return Finish(Chain(4, SCALED), 0, others, seen)


def _expected(product: Array, others: list[Array]) -> Array:
    scale, bias, other = others
    return np.maximum(product * scale + bias + other, 0)


def _others(shape: tuple[int, ...], random: np.random.Generator) -> list[Array]:
    sizes = (shape[-1:], shape[-1:], shape)
    return [random.standard_normal(size).astype(np.float32) for size in sizes]


@given(st.integers(1, 600), st.integers(0, 130), st.sampled_from([1, 2, 5, 16, 31, 33, 64, 257]), st.integers(0, 9))
def test_products_agree(rows: int, depth: int, columns: int, seed: int) -> None:
    random = np.random.default_rng(seed)
    left = random.standard_normal((rows, depth)).astype(np.float32)
    right = random.standard_normal((columns, depth)).astype(np.float32).T  # not in C order
    others = _others((rows, columns), random)
    found = finished_product(left, right, _finish(others))
    if found is None:
        assert rows <= 168 or not depth or columns == 1 or rows * columns < 4096
        return
    np.testing.assert_allclose(found, _expected(left @ right, others), rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("threads", ["1", "3"])
@pytest.mark.parametrize("rows", [8, 32, 168, 169, 1000])
@pytest.mark.parametrize("is_turned", [False, True])
def test_plain_products_agree(rows: int, is_turned: bool, threads: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TENSORKEEP_THREADS", threads)
    random = np.random.default_rng(rows)
    left = random.standard_normal((rows, 1030)).astype(np.float32)
    right = random.standard_normal((1030, 515)).astype(np.float32)
    right = np.asfortranarray(right) if is_turned else right
    expected = left.astype(np.float64) @ right.astype(np.float64)
    np.testing.assert_allclose(multiply(left, right), expected, atol=1e-3)
    out = np.empty((rows, 515), np.float32)
    assert multiply(left, right, out) is out
    np.testing.assert_allclose(out, expected, atol=1e-3)


def test_what_is_no_number_stays_none_in_products_of_few_rows() -> None:
    left, right = np.ones((32, 512), np.float32), np.ones((512, 300), np.float32)
    left[3, 7], right[11, 200] = np.nan, np.inf
    found = multiply(left, right)
    assert np.isnan(found[3]).all()
    assert np.isinf(found[:3, 200]).all()
    assert np.all(found[4:, :200] == 512)


@given(convolutions())
def test_convolutions_agree(sample: tuple[Array, Array, dict[str, Any]]) -> None:
    images, filters, sliding = sample
    with implementation("NumPy"):
        plain = conv2d_kernel(images, filters, **sliding)
    _assert_finished(lambda finish: finished_conv2d(images, filters, finish=finish, **sliding), plain)


@given(convolutions())
def test_depthwise_convolutions_agree(sample: tuple[Array, Array, dict[str, Any]]) -> None:
    images, filters, sliding = sample
    filters = filters[..., :1]
    with implementation("NumPy"):
        plain = depthwise_conv2d_native_kernel(images, filters, **sliding)
    _assert_finished(lambda finish: finished_depthwise_conv2d(images, filters, finish=finish, **sliding), plain)


@given(convolutions())
def test_gradients_of_images_agree(sample: tuple[Array, Array, dict[str, Any]]) -> None:
    images, filters, sliding = sample
    gradient = conv2d_kernel(np.nan_to_num(images, posinf=1.0), filters, **sliding)
    sizes = np.array(images.shape, np.int32)
    with implementation("NumPy"):
        plain = conv2d_backprop_input_kernel(sizes, filters, gradient, **sliding)
    _assert_finished(
        lambda finish: finished_conv2d_backprop_input(sizes, filters, gradient, finish=finish, **sliding), plain
    )


@pytest.mark.parametrize("threads", ["1", "3"])
@pytest.mark.parametrize(("window", "stride"), [(2, 2), (3, 2), (2, 3)])
@pytest.mark.parametrize("batch", [1, 5])
def test_large_gradients_of_images_are_finished(
    window: int, stride: int, batch: int, threads: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TENSORKEEP_THREADS", threads)
    random = np.random.default_rng(1)
    sizes = np.array((60, 61), np.int32)  # of space alone
    gradient = random.standard_normal((batch, -(-60 // stride), -(-61 // stride), 32)).astype(np.float32)
    filters = random.standard_normal((window, window, 96, 32)).astype(np.float32)
    sliding: Any = {"strides": (1, stride, stride, 1), "padding": b"SAME", "data_format": b"NHWC"}
    with implementation("NumPy"):
        plain = conv2d_backprop_input_kernel(sizes, filters, gradient, **sliding)
    others = _others(plain.shape, random)
    found = finished_conv2d_backprop_input(sizes, filters, gradient, finish=_finish(others), **sliding)
    assert found is not None
    np.testing.assert_allclose(found, _expected(plain, others), rtol=1e-3, atol=1e-3)


def _assert_finished(compute: Callable[[Finish], Array | None], plain: Array) -> None:
    others = _others(plain.shape, np.random.default_rng(1))
    found = compute(_finish(others))
    if found is None:
        return  # so few elements, or positions, that it is not worth it: others say what is then
    with np.errstate(all="ignore"):
        expected = _expected(plain, others)
    scale = np.abs(expected[np.isfinite(expected)]).max(initial=1.0)
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-4 * scale)


@pytest.mark.parametrize("threads", ["1", "3"])
@pytest.mark.parametrize("window", [1, 3])
@pytest.mark.parametrize("batch", [1, 5])
def test_large_convolutions_are_finished(
    window: int, batch: int, threads: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TENSORKEEP_THREADS", threads)
    random = np.random.default_rng(1)
    images = random.standard_normal((batch, 40, 41, 32)).astype(np.float32)
    filters = random.standard_normal((window, window, 32, 96)).astype(np.float32)
    sliding: Any = {"strides": (1, 1, 1, 1), "padding": b"SAME", "data_format": b"NHWC"}
    with implementation("NumPy"):
        plain = conv2d_kernel(images, filters, **sliding)
    others = _others(plain.shape, random)
    others[2] = random.standard_normal((batch, 1, 1, 96)).astype(np.float32)  # one for each image and channel
    found = finished_conv2d(images, filters, finish=_finish(others), **sliding)
    assert found is not None
    np.testing.assert_allclose(found, _expected(plain, others), rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize("window", [1, 3])
@pytest.mark.parametrize("depths", [(16, 16), (5, 32, 3), (1, 20)])
def test_channels_may_come_from_several_arrays(window: int, depths: tuple[int, ...]) -> None:
    random = np.random.default_rng(1)
    sources = tuple(random.standard_normal((2, 60, 61, depth)).astype(np.float32) for depth in depths)
    filters = random.standard_normal((window, window, sum(depths), 32)).astype(np.float32)
    sliding: Any = {"strides": (1, 1, 1, 1), "padding": b"SAME", "data_format": b"NHWC"}
    with implementation("NumPy"):
        plain = conv2d_kernel(np.concatenate(sources, axis=3), filters, **sliding)
    others = _others(plain.shape, random)
    found = finished_conv2d(sources, filters, finish=_finish(others), **sliding)
    assert found is not None
    np.testing.assert_allclose(found, _expected(plain, others), rtol=1e-3, atol=1e-3)
    assert finished_conv2d((sources[0], sources[1][:, 1:]), filters, finish=_finish(others), **sliding) is None


def test_the_product_may_be_seen_with_other_axes() -> None:
    random = np.random.default_rng(1)
    left, right = (random.standard_normal((512, 64)).astype(np.float32) for _ in range(2))
    right = right[:64]
    others = [random.standard_normal((4, 16)).astype(np.float32) for _ in range(2)]
    others.append(np.float32(0.5))  # type: ignore[arg-type]
    found = finished_product(left, right, _finish(others, lambda product: product.reshape(8, 64, 4, 16)))
    assert found is not None
    np.testing.assert_allclose(found, _expected((left @ right).reshape(8, 64, 4, 16), others), rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize(
    ("others", "seen"),
    [
        ([np.ones(64), np.ones(64, np.float32), np.float32(1)], _same),  # float64
        ([np.ones(63, np.float32), np.ones(64, np.float32), np.float32(1)], _same),  # another length
        ([np.ones((2, 1, 1), np.float32), np.ones(64, np.float32), np.float32(1)], _same),  # a larger result
        ([np.float32(1)] * 3, np.copy),  # no view
        ([np.ones((512, 2, 1), np.float32), np.float32(1), np.float32(1)], lambda x: x.reshape(512, 2, 32)),
    ],
    ids=["type", "length", "larger", "copy", "inside rows"],
)
def test_what_does_not_fit_is_left_to_others(others: list[Any], seen: Callable[[Array], Array]) -> None:
    left, right = np.ones((512, 64), np.float32), np.ones((64, 64), np.float32)
    assert finished_product(left, right, _finish(others, seen)) is None


def test_without_the_library_there_is_nothing_of_it() -> None:
    with implementation("NumPy"):
        assert finished_product(np.ones((512, 64), np.float32), np.ones((64, 64), np.float32), _finish([])) is None
