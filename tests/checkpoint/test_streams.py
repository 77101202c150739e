"""Tensors gone through together."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tensorkeep.checkpoint.streams import in_step


def _chunks(array: np.ndarray, sizes: list[int]) -> list[np.ndarray]:
    ends = np.cumsum(sizes)
    return [chunk for chunk in np.split(array, ends[ends < array.size]) if chunk.size]


@given(st.integers(0, 50), st.lists(st.lists(st.integers(1, 20), max_size=10), min_size=1, max_size=4))
def test_chunks_begin_and_end_together_and_nothing_is_lost(size: int, cuts: list[list[int]]) -> None:
    arrays = [np.arange(size) + 100 * at for at in range(len(cuts))]
    rounds = list(in_step([iter(_chunks(array, sizes)) for array, sizes in zip(arrays, cuts, strict=True)]))
    for chunks in rounds:
        assert len({chunk.size for chunk in chunks}) == 1
    for at, array in enumerate(arrays):
        found = np.concatenate([chunks[at] for chunks in rounds]) if rounds else np.zeros(0, int)
        np.testing.assert_array_equal(found, array)
