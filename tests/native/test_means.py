"""Means by the compiled library have the bits that those by NumPy have."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays_of

from tensorkeep.arrays import Array
from tensorkeep.edit.averaging import Mean
from tensorkeep.native.means import fused_mean
from tests.native.implementations import implementation

pytestmark = pytest.mark.usefixtures("native")


@st.composite
def samples(draw: st.DrawFn) -> tuple[list[Array], list[float]]:
    number, size = draw(st.integers(1, 6)), draw(st.sampled_from([0, 1, 3, 511, 512, 513, 40_000]))
    dtype = draw(st.sampled_from([np.float32, np.float64]))
    few = draw(st.lists(arrays_of.from_dtype(np.dtype(dtype)), min_size=1, max_size=9))
    random = np.random.default_rng(draw(st.integers(0, 9)))
    arrays = [
        np.where(random.random(size) < 0.2, random.choice(few, size), random.standard_normal(size))
        for _ in range(number)
    ]
    shares = draw(st.just([1 / number] * number) | st.lists(st.floats(-2, 2), min_size=number, max_size=number))
    return [array.astype(dtype) for array in arrays], shares


@given(samples())
def test_both_implementations_give_the_same_bits(sample: tuple[list[Array], list[float]]) -> None:
    arrays, shares = sample
    mean = Mean(arrays[0].dtype, shares)
    with np.errstate(all="ignore"):
        with implementation("NumPy"):
            expected = mean.of(arrays)
        with implementation("native"):
            actual = mean.of(arrays)
    bits = np.dtype(f"u{actual.itemsize}")
    is_number = ~np.isnan(expected)
    np.testing.assert_array_equal(actual[is_number].view(bits), expected[is_number].view(bits))
    assert np.isnan(actual[~is_number]).all()


@pytest.mark.parametrize("dtype", [np.float16, ml_dtypes.bfloat16, np.complex64, np.dtype(">f4")])
def test_other_types_are_left_to_numpy(dtype: npt.DTypeLike) -> None:
    out = np.zeros(3, dtype)
    with implementation("native"):
        assert not fused_mean([np.ones(3, dtype)], None, out)
        assert not fused_mean([np.ones(3, np.float32), np.ones(3, np.float64)], None, np.zeros(3, np.float32))
    assert not out.any()


def test_arrays_that_are_not_aligned_are_left_to_numpy() -> None:
    crooked = np.zeros(13, np.uint8)[1:].view(np.float32)
    out = np.empty(3, np.float32)
    with implementation("native"):
        assert not fused_mean([crooked], None, out)
        assert not fused_mean([out], None, crooked)
        assert Mean(out.dtype, [0.5, 0.5]).of([np.ones(3, np.float32), crooked]).tolist() == [0.5] * 3
