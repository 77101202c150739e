"""Steps of networks by the compiled library give what they give by NumPy, or step by step, but for the last bits."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays_of

from tensorkeep.arrays import Array
from tensorkeep.errors import InvalidArgumentError
from tensorkeep.native import layers
from tensorkeep.native.networks import attend, fused_sparse_cross_entropy
from tensorkeep.ops.nn.softmax import sparse_softmax_cross_entropy_with_logits_kernel as kernel
from tests.native.implementations import IMPLEMENTATIONS, implementation

pytestmark = pytest.mark.usefixtures("native")
COMPILED = pytest.mark.skipif(layers.functions() is None, reason="no compiled code for this processor")


def _by_numpy(queries: Array, keys: Array, values: Array, scale: float, bias: Array | None) -> Array:
    scores = queries @ keys.swapaxes(-1, -2) * np.float32(scale)
    scores = scores if bias is None else scores + bias
    with np.errstate(all="ignore"):
        shares = np.exp(scores - scores.max(-1, keepdims=True))
        found: Array = (shares / shares.sum(-1, keepdims=True)) @ values
    return found


@COMPILED
@given(
    st.tuples(st.integers(1, 3), st.integers(1, 3), st.integers(8, 130), st.integers(1, 70)),
    st.sampled_from([1, 3, 16, 33, 64]),
    st.sampled_from([1, 4, 17, 64]),
    st.sampled_from([None, (1, 1, 1, 1), (0, 1, 0, 0), (0, 0, 1, 0), (0, 0, 0, 0)]),
    st.booleans(),
)
def test_all_shapes_agree(
    sizes: tuple[int, int, int, int], depth: int, columns: int, stretched: tuple[int, ...] | None, is_turned: bool
) -> None:
    batch, heads, count, number = sizes
    random = np.random.default_rng(depth)

    def made(*shape: int) -> Array:
        if is_turned:  # heads behind rows, as Keras has them
            first, second, third, fourth = shape
            return random.standard_normal((first, third, second, fourth)).astype(np.float32).swapaxes(1, 2)
        return random.standard_normal(shape).astype(np.float32)

    queries, keys = made(batch, heads, count, depth), made(batch, heads, number, depth)
    values = made(batch, heads, number, columns)
    full = (batch, heads, count, number)
    bias = None
    if stretched is not None:
        shape = [1 if is_one else size for size, is_one in zip(full, stretched, strict=True)]
        bias = (random.standard_normal(shape) * 3).astype(np.float32)
    out = made(batch, heads, count, columns)
    assert attend(queries, keys, values, out, scale=0.3, bias=bias)
    np.testing.assert_allclose(out, _by_numpy(queries, keys, values, 0.3, bias), rtol=1e-4, atol=1e-5)


@COMPILED
def test_keys_that_a_mask_hides_have_no_share() -> None:
    random = np.random.default_rng(1)
    queries, keys, values = (random.standard_normal((2, 2, 20, 16)).astype(np.float32) for _ in range(3))
    mask = np.where(np.arange(20) < 7, 0, -np.inf).astype(np.float32)
    values[:, :, 7:] = 1e30
    out = np.empty((2, 2, 20, 16), np.float32)
    assert attend(queries, keys, values, out, bias=mask)
    expected = _by_numpy(queries, keys[:, :, :7], values[:, :, :7], 1.0, None)
    np.testing.assert_allclose(out, expected, rtol=1e-4, atol=1e-5)


@COMPILED
def test_what_is_no_number_spoils_its_own_row_alone() -> None:
    queries, keys, values = (np.ones((1, 2, 9, 4), np.float32) for _ in range(3))
    queries[0, 1, 3, 2] = np.nan
    out = np.zeros((1, 2, 9, 4), np.float32)
    assert attend(queries, keys, values, out)
    spoiled = np.zeros((1, 2, 9, 4), bool)
    spoiled[0, 1, 3] = True
    np.testing.assert_array_equal(np.isnan(out), spoiled)


@COMPILED
def test_threads_share_the_heads(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TENSORKEEP_THREADS", "3")
    random = np.random.default_rng(1)
    queries, keys, values = (random.standard_normal((2, 8, 200, 64)).astype(np.float32) for _ in range(3))
    out = np.empty_like(queries)
    assert attend(queries, keys, values, out, scale=0.125)
    np.testing.assert_allclose(out, _by_numpy(queries, keys, values, 0.125, None), rtol=1e-4, atol=1e-5)


@COMPILED
def test_what_does_not_fit_is_left_to_others() -> None:
    one = np.ones((1, 2, 9, 4), np.float32)
    assert not attend(one, one, one, one.astype(np.float64))
    assert not attend(one[:, :, :3], one, one, one[:, :, :3].copy())  # few queries
    assert not attend(one, one[..., :3], one, one.copy())
    assert not attend(one, one, one, one.copy(), bias=np.ones((1, 2, 9, 8), np.float32))
    assert not attend(one, one[:, :, :0], one[:, :, :0], one.copy())
    assert not attend(one, one, one, np.ones((1, 2, 9, 8), np.float32)[..., ::2])
    with implementation("NumPy"):
        assert not attend(one, one, one, one.copy())


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
