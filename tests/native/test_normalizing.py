"""Batch normalization by the compiled library gives what it gives by NumPy, but for the last bits."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tensorkeep.arrays import Array
from tensorkeep.native.normalizing import channel_moments, gradient_sums
from tensorkeep.ops.nn._normalization_kernels import fused_batch_norm_grad_kernel, fused_batch_norm_kernel
from tests.native.implementations import implementation

pytestmark = pytest.mark.usefixtures("native")


@st.composite
def batches(draw: st.DrawFn) -> tuple[Array, Array, Array, Array]:
    """Pictures, as many gradients, a scale and an offset; some elements are no finite numbers."""
    channels = draw(st.sampled_from([1, 3, 8, 15, 16, 17, 33, 64, 70]))
    shape = (draw(st.integers(1, 3)), draw(st.integers(1, 40)), draw(st.integers(1, 40)), channels)
    random = np.random.default_rng(draw(st.integers(0, 99)))
    x = (random.standard_normal(shape) * 3 + random.standard_normal(channels) * 10).astype(np.float32)
    gradient = random.standard_normal(shape).astype(np.float32)
    if draw(st.booleans()):
        x.flat[draw(st.integers(0, x.size - 1))] = draw(st.sampled_from([np.nan, np.inf, -np.inf]))
    scale, offset = random.standard_normal((2, channels)).astype(np.float32)
    return x, gradient, scale, offset


def _assert_agree(kernel: Any, *arrays: Array, **attributes: Any) -> None:
    with implementation("native"):
        actual = kernel(*arrays, **attributes)
    with implementation("NumPy"):
        expected = kernel(*arrays, **attributes)
    for one, other in zip(actual, expected, strict=True):
        assert one.dtype == other.dtype
        largest = np.abs(other[np.isfinite(other)]).max(initial=1.0)
        np.testing.assert_allclose(one, other, rtol=1e-4, atol=2e-5 * largest)


@given(batches(), st.sampled_from([1.0, 0.25]))
def test_batches_are_normalized_alike(batch: tuple[Array, Array, Array, Array], part: float) -> None:
    x, _, scale, offset = batch
    old = np.zeros_like(scale), np.ones_like(scale)
    _assert_agree(fused_batch_norm_kernel, x, scale, offset, *old, epsilon=1e-3, exponential_avg_factor=part)


@given(batches(), st.booleans())
def test_gradients_agree(batch: tuple[Array, Array, Array, Array], is_training: bool) -> None:
    x, gradient, scale, _ = batch
    with np.errstate(all="ignore"):
        mean, variance = x.mean(axis=(0, 1, 2)), x.var(axis=(0, 1, 2))
    _assert_agree(
        fused_batch_norm_grad_kernel, gradient, x, scale, mean, variance, epsilon=1e-3, is_training=is_training
    )


def test_sums_are_the_same_bits_by_any_number_of_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    random = np.random.default_rng(1)
    x, gradient = random.standard_normal((2, 64, 64, 64, 33)).astype(np.float32)
    found = []
    for threads in ("1", "3"):
        monkeypatch.setenv("TENSORKEEP_THREADS", threads)
        moments = channel_moments(x)
        assert moments is not None
        sums = gradient_sums(gradient, x, moments[0])
        assert sums is not None
        found.append(np.stack([*moments, *sums]))
    np.testing.assert_array_equal(*found)


def test_what_the_library_cannot_read_is_left_to_numpy() -> None:
    x = np.ones((4, 32, 32, 16), np.float32)
    assert channel_moments(x.astype(np.float64)) is None
    assert channel_moments(x.transpose(0, 2, 1, 3)[:, :, ::2]) is None
    assert channel_moments(x[:1, :2]) is None
    assert gradient_sums(x, x, np.zeros(15, np.float32)) is None
