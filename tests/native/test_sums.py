"""Sums of rows and columns by the compiled library: close to the truth, and the same with any number of threads."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tensorkeep.native.sums import fused_sum
from tests.native.implementations import implementation

pytestmark = pytest.mark.usefixtures("native")

_CASES = [
    ((300, 400), (1,)),
    ((300, 400), (0,)),
    ((1, 300, 400), (1,)),
    ((1, 300, 400), (2,)),
    ((20, 30, 400), (0, 1)),
    ((20, 30, 400), (2,)),
    ((20, 1, 30, 400), (0, 1, 2)),
    ((5000, 17), (0,)),
    ((17, 5000), (1,)),
]


@pytest.mark.parametrize(("shape", "axes"), _CASES, ids=str)
@given(seed=st.integers(0, 9), level=st.sampled_from([0.0, 1e3]))
def test_sums_are_those_in_double_precision_but_for_the_last_bits(
    shape: tuple[int, ...], axes: tuple[int, ...], seed: int, level: float
) -> None:
    x = (np.random.default_rng(seed).standard_normal(shape) + level).astype(np.float32)
    with implementation("native"):
        found = fused_sum(x, axes)
    assert found is not None
    expected = x.sum(axis=axes, dtype=np.float64)
    assert (found.shape, found.dtype) == (expected.shape, np.float32)
    np.testing.assert_allclose(found, expected, rtol=2e-6, atol=2e-4)


def test_threads_do_not_change_a_bit(monkeypatch: pytest.MonkeyPatch) -> None:
    x = np.random.default_rng(0).standard_normal((6000, 1100)).astype(np.float32)
    found = []
    for threads in ("1", "3"):
        monkeypatch.setenv("TENSORKEEP_THREADS", threads)
        with implementation("native"):
            found.append([fused_sum(x, (0,)), fused_sum(x, (1,))])
    np.testing.assert_array_equal(found[0][0], found[1][0])
    np.testing.assert_array_equal(found[0][1], found[1][1])


def test_what_is_no_number_stays_so() -> None:
    x = np.ones((300, 400), np.float32)
    x[7, 9] = np.nan
    x[8, 9] = np.inf
    with implementation("native"):
        rows, columns = fused_sum(x, (1,)), fused_sum(x, (0,))
    assert rows is not None
    assert columns is not None
    assert np.isnan(rows[7])
    assert np.isinf(rows[8])
    assert np.isnan(columns[9])
    assert np.isfinite(np.delete(columns, 9)).all()


@pytest.mark.parametrize(
    ("x", "axes"),
    [
        (np.ones((30, 40), np.float32), (1,)),
        (np.ones((300, 400), np.float64), (1,)),
        (np.ones((300, 400), np.float32).T, (1,)),
        (np.ones((300, 400), np.float32), (0, 1)),
        (np.ones((300, 400), np.float32), ()),
        (np.ones((30, 40, 100), np.float32), (1,)),
        (np.ones((1, 120_000), np.float32), (1,)),
        (np.ones((0, 400), np.float32), (1,)),
    ],
    ids=["small", "doubles", "Fortran", "all", "none", "between", "one row", "empty"],
)
def test_others_are_left_to_numpy(x: np.ndarray, axes: tuple[int, ...]) -> None:
    with implementation("native"):
        assert fused_sum(x, axes) is None


def test_without_the_library_all_is_left_to_numpy() -> None:
    with implementation("NumPy"):
        assert fused_sum(np.ones((300, 400), np.float32), (1,)) is None
