"""Losses by the compiled library agree with those by NumPy."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays_of

from tensorkeep.arrays import Array
from tensorkeep.errors import InvalidArgumentError
from tensorkeep.native.losses import fused_sparse_cross_entropy
from tensorkeep.ops.nn.softmax import sparse_softmax_cross_entropy_with_logits_kernel as kernel
from tests.native.implementations import IMPLEMENTATIONS, implementation

pytestmark = pytest.mark.usefixtures("native")


@st.composite
def batches(draw: st.DrawFn) -> tuple[Array, Array]:
    rows, classes = draw(st.integers(0, 9)), draw(st.integers(1, 9))
    dtype = draw(st.sampled_from(["float32", "float64"]))
    elements = st.floats(-80, 80, width=32) | st.sampled_from([np.nan, np.inf, -np.inf])
    logits = draw(arrays_of.arrays(dtype, (rows, classes), elements=elements))
    label = draw(st.sampled_from(["int32", "int64"]))
    return logits, draw(arrays_of.arrays(label, rows, elements=st.integers(0, classes - 1)))


@given(batches(), st.booleans())
def test_both_implementations_agree(batch: tuple[Array, Array], is_turned: bool) -> None:
    logits, labels = batch
    given_logits = np.asfortranarray(logits) if is_turned else logits
    with np.errstate(all="ignore"):
        with implementation("NumPy"):
            assert fused_sparse_cross_entropy(given_logits, labels) is None
            expected = kernel(given_logits, labels)
        with implementation("native"):
            assert fused_sparse_cross_entropy(given_logits, labels) is not None
            actual = kernel(given_logits, labels)
    tolerance = 5e-6 if logits.dtype == np.float32 else 1e-13
    for mine, other in zip(actual, expected, strict=True):
        assert mine.dtype == other.dtype == logits.dtype
        assert mine.shape == other.shape
        np.testing.assert_allclose(mine, other, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("name", IMPLEMENTATIONS)
@pytest.mark.parametrize("label", [-1, 4, -(2**31)])
@pytest.mark.parametrize("dtype", ["int32", "int64"])
def test_a_label_outside_the_classes_is_an_error(name: str, label: int, dtype: str) -> None:
    with implementation(name), pytest.raises(InvalidArgumentError, match=f"label value of {label} which is outside"):
        kernel(np.zeros((3, 4), np.float32), np.array([0, label, 3], dtype))


def test_large_batches_and_half_types_are_left_to_numpy() -> None:
    with implementation("native"):
        assert fused_sparse_cross_entropy(np.zeros((300, 10), np.float32), np.zeros(300, np.int32)) is None
        assert fused_sparse_cross_entropy(np.zeros((3, 10), np.float16), np.zeros(3, np.int32)) is None
