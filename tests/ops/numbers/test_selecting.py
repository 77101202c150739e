"""Large selections between an array and one number, which go without branches: NumPy's bits."""

from __future__ import annotations

import numpy as np
import pytest

from tensorkeep.ops.numbers.comparisons import select_v2_kernel

SHAPE = (600, 1001)


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8", "i1", "u2", "i4", "i8", "?"])
@pytest.mark.parametrize("other", [0, 1.5, -0.0, -3])
def test_a_large_selection_is_numpys(dtype: str, other: float) -> None:
    random = np.random.RandomState(0)
    condition = random.rand(*SHAPE) > 0.5
    values = (random.randn(*SHAPE) * 50).astype(dtype)
    if dtype[0] == "f":
        values[0, :5] = [np.nan, np.inf, -np.inf, -0.0, 0]
    one = np.asarray(other).astype(dtype)
    found, expected = select_v2_kernel(condition, values, one), np.where(condition, values, one)
    assert found.dtype == expected.dtype
    assert found.tobytes() == expected.tobytes()


def test_large_selections_of_other_forms_are_numpys() -> None:
    random = np.random.RandomState(0)
    condition, values = random.rand(*SHAPE) > 0.5, random.randn(*SHAPE)
    text = np.full(SHAPE, b"a", object)
    for t, e in ((values, values + 1), (values, values[0]), (np.float64(1), values), (text, np.array(b"b", object))):
        t, e = np.asarray(t), np.asarray(e)
        assert np.array_equal(select_v2_kernel(condition, t, e), np.where(condition, t, e))
    assert np.array_equal(select_v2_kernel(condition.T, values.T, np.float64(0)), np.where(condition, values, 0).T)
