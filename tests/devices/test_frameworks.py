"""Cutting boxes into pieces, and finding them among the bytes of their tensor."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tensorkeep.devices.frameworks import bytes_before, pieces_of
from tests.support.depth import examples

SHAPES = st.lists(st.integers(0, 5), max_size=4).map(tuple)


@examples(100)
@given(shape=SHAPES, itemsize=st.sampled_from([1, 4]), limit=st.integers(1, 200))
def test_pieces_follow_each_other_and_are_boxes_of_the_array(shape: tuple[int, ...], itemsize: int, limit: int) -> None:
    array = np.arange(np.prod(shape, dtype=np.int64)).reshape(shape)
    seen: list[int] = []
    for piece in pieces_of(shape, itemsize, limit):
        assert piece.size <= max(limit, itemsize)
        assert piece.at == len(seen) * itemsize
        box = tuple(slice(start, start + size) for start, size in zip(piece.starts, piece.shape, strict=True))
        assert array[box].size * itemsize == piece.size
        seen += array[box].reshape(-1).tolist()
    assert seen == list(range(array.size))


@examples(200)
@given(shape=st.lists(st.integers(1, 4), max_size=4).map(tuple), data=st.data())
def test_a_box_has_a_place_among_the_bytes_if_its_elements_are_consecutive(
    shape: tuple[int, ...], data: st.DataObject
) -> None:
    starts = [data.draw(st.integers(0, size - 1)) for size in shape]
    box = tuple((start, data.draw(st.integers(start + 1, size))) for start, size in zip(starts, shape, strict=True))
    array = np.arange(np.prod(shape, dtype=np.int64)).reshape(shape)
    inside = array[tuple(slice(*extent) for extent in box)].reshape(-1)
    consecutive = inside.tolist() == list(range(int(inside[0]), int(inside[0]) + inside.size))
    assert bytes_before(box, shape, 4) == (4 * int(inside[0]) if consecutive else None)
