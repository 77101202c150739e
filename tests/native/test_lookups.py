"""Rows of several tables side by side."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tensorkeep.arrays import Array
from tensorkeep.native.lookups import Column, joined_rows
from tests.native.implementations import implementation

pytestmark = pytest.mark.usefixtures("native")


@st.composite
def columns(draw: st.DrawFn) -> list[Column]:
    rows = draw(st.integers(0, 5))
    random = np.random.default_rng(draw(st.integers(0, 99)))
    dtype = draw(st.sampled_from([np.float32, np.float64, np.int16]))
    found = []
    for _ in range(draw(st.integers(1, 4))):
        size, width = draw(st.integers(1, 6)), draw(st.integers(0, 5))
        if draw(st.booleans()):
            found.append(Column((random.standard_normal((rows, width)) * 9).astype(dtype)))
            continue
        wraps = draw(st.booleans())
        indices = random.integers(-size if wraps else 0, size, (rows, 3)).astype(
            draw(st.sampled_from([np.int32, np.int64]))
        )
        chosen = draw(
            st.sampled_from([indices[:, 1], indices[:, :1], indices[::-1, 2], np.ascontiguousarray(indices[:, 0])])
        )
        found.append(Column((random.standard_normal((size, width)) * 9).astype(dtype), chosen, wraps))
    return found


def _by_numpy(parts: list[Column]) -> Array:
    taken = [part.table if part.indices is None else part.table[part.indices.reshape(-1)] for part in parts]
    return np.concatenate(taken, 1)


@given(columns())
def test_they_are_what_numpy_gathers(parts: list[Column]) -> None:
    found = joined_rows(parts)
    assert found is not None
    np.testing.assert_array_equal(found, _by_numpy(parts))


@pytest.mark.parametrize("index", [3, -1, -4, 2**31 - 1, -(2**31)])
@pytest.mark.parametrize("wraps", [False, True])
def test_an_index_of_no_row_is_left_to_others(index: int, wraps: bool) -> None:
    table = np.ones((3, 2), np.float32)
    found = joined_rows([Column(table, np.array([0, index], np.int32), wraps)])
    assert (found is not None) == (wraps and index == -1)


@pytest.mark.parametrize(
    "column",
    [
        Column(np.ones((3, 2), np.float64), np.zeros(2, np.int32)),
        Column(np.ones((3, 4), np.float32)[:, ::2], np.zeros(2, np.int32)),
        Column(np.ones((3, 2, 1), np.float32), np.zeros(2, np.int32)),
        Column(np.ones((3, 2), np.float32), np.zeros(3, np.int32)),
        Column(np.ones((3, 2), np.float32), np.zeros((1, 2), np.int32)),
        Column(np.ones((3, 2), np.float32), np.zeros(2, np.float32)),
        Column(np.ones((3, 2), np.float32)),
        Column(3.0),
    ],
)
def test_what_does_not_fit_is_left_to_others(column: Column) -> None:
    assert joined_rows([Column(np.ones((3, 2), np.float32), np.zeros(2, np.int32)), column]) is None


def test_without_the_library_numpy_does_it() -> None:
    with implementation("NumPy"):
        assert joined_rows([Column(np.ones((3, 2), np.float32), np.zeros(2, np.int32))]) is None
