"""Copies by the compiled library put every element where NumPy puts it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tensorkeep.arrays import Array
from tensorkeep.native import moves
from tests.native.implementations import IMPLEMENTATIONS, implementation

pytestmark = pytest.mark.usefixtures("native")

TYPES = [np.float32, np.float64, np.uint8, np.int16, np.complex128, np.bool_]


@st.composite
def views(draw: st.DrawFn) -> Array:
    """Arrays of up to five axes, in any order, some turned around, some with gaps between their elements."""
    shape = draw(st.lists(st.integers(0, 9), min_size=0, max_size=5))
    steps = [draw(st.sampled_from([1, 1, 2, -1])) for _ in shape]
    dtype = np.dtype(draw(st.sampled_from(TYPES)))
    whole = np.arange(int(np.prod([2 * size for size in shape])) * dtype.itemsize % 251 or 1, dtype=np.uint8)
    whole = np.resize(whole, [*(2 * size for size in shape), dtype.itemsize])
    if dtype == np.bool_:
        whole &= 1
    whole = np.ascontiguousarray(whole).view(dtype).reshape([2 * size for size in shape])
    view = whole[tuple(slice(None, None, step) for step in steps)] if shape else whole
    found: Array = view[tuple(slice(size) for size in shape)].transpose(draw(st.permutations(range(len(shape)))))
    return found


@pytest.mark.parametrize("name", IMPLEMENTATIONS)
@given(source=views(), wide=st.booleans())
def test_all_elements_arrive_and_no_others_change(name: str, source: Array, wide: bool) -> None:
    room = np.zeros([size + 2 for size in source.shape], source.dtype)
    target = room[(..., *(slice(1, 1 + size) for size in source.shape))]
    expected = room.copy()
    expected[tuple(slice(1, 1 + size) for size in source.shape)] = source
    with implementation(name), pytest.MonkeyPatch.context() as patch:
        patch.setattr(moves, "_SMALLEST", 0)
        if wide:  # as many threads as there are
            patch.setattr(moves, "_COST_OF_BYTE", 1 << 40)
        moves.copy_into(target, source)
    assert room.tobytes() == expected.tobytes()


@pytest.mark.parametrize("name", IMPLEMENTATIONS)
@given(source=views(), data=st.data())
def test_padding_lies_around_the_elements(name: str, source: Array, data: st.DataObject) -> None:
    amounts = [data.draw(st.tuples(st.integers(0, 3), st.integers(0, 3))) for _ in source.shape]
    value = np.ones((), source.dtype)[()]
    expected = np.pad(source, amounts, constant_values=value) if source.ndim else source
    with implementation(name), pytest.MonkeyPatch.context() as patch:
        patch.setattr(moves, "_SMALLEST", 0)
        found = moves.padded_array(source, amounts, value)
    assert found.dtype == source.dtype
    np.testing.assert_array_equal(found, expected)


def test_objects_are_copied_by_numpy() -> None:
    source: Any = np.array([[b"a", b"b"]] * 40_000, object)
    target = np.empty_like(source)
    moves.copy_into(target, source)
    np.testing.assert_array_equal(target, source)
