"""Random words and products of sparse matrices in compiled code: what NumPy gives, bit by bit."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tensorkeep.native import streams
from tensorkeep.native.streams import philox_mask, philox_words, ring_draw, sparse_product
from tensorkeep.ops.random.philox import PhiloxGenerator
from tests.native.implementations import implementation

needs_library = pytest.mark.usefixtures("native")
counters = st.one_of(st.integers(0, 2**128 - 1), st.integers(2**64 - 40, 2**64 + 40), st.just(2**128 - 1))


@needs_library
@given(key=st.integers(0, 2**64 - 1), counter=counters, count=st.integers(1, 40), first=st.integers(0, 2**40))
def test_words_are_those_of_the_generator_in_numpy(key: int, counter: int, count: int, first: int) -> None:
    found = np.zeros((count, 4), np.uint32)
    assert philox_words(key, counter, first, found)
    expected = PhiloxGenerator(key, counter)._scramble(np.arange(first, first + count, dtype=np.uint64))
    assert np.array_equal(found, expected)


@needs_library
@given(
    counter=counters,
    count=st.integers(1, 3000),
    first=st.integers(0, 2**40),
    comparison=st.sampled_from([np.greater, np.greater_equal, np.less, np.less_equal]),
    number=st.sampled_from([0.0, 0.1, 0.5, 1.0, -1.0, float("nan"), float("inf")]),
)
def test_comparisons_are_those_of_the_numbers_in_numpy(
    counter: int, count: int, first: int, comparison: np.ufunc, number: float
) -> None:
    generator = PhiloxGenerator(7, counter)
    found, expected = np.zeros((2, count), bool)
    generator.compare_into(found, first, comparison, number)
    with implementation("NumPy"):
        generator.compare_into(expected, first, comparison, number)
    assert np.array_equal(found, expected)


@needs_library
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("flipped", [False, True])
def test_products_add_up_in_the_order_of_the_elements(dtype: type, flipped: bool) -> None:
    random = np.random.RandomState(0)
    places = np.stack([random.randint(0, 5, 60), random.randint(0, 7, 60)], 1)
    values, right = random.randn(60).astype(dtype), random.randn(5 if flipped else 7, 3).astype(dtype)
    expected = np.zeros((7 if flipped else 5, 3), dtype)
    for (row, column), value in zip(places[:, ::-1] if flipped else places, values, strict=True):
        expected[row] += value * right[column]
    found = sparse_product(places, values, len(expected), right, flipped=flipped)
    assert found is not None
    assert np.array_equal(found, expected)
    transposed = sparse_product(places, values, len(expected), np.asfortranarray(right), flipped=flipped)
    assert np.array_equal(transposed, expected)


@needs_library
@pytest.mark.parametrize("place", [(5, 0), (-1, 0), (0, 7), (0, -1)])
def test_a_place_outside_is_left_to_numpy_which_says_so(place: tuple[int, int]) -> None:
    places, values = np.array([(0, 0), place]), np.ones(2, np.float32)
    assert sparse_product(places, values, 5, np.ones((7, 2), np.float32), flipped=False) is None


@needs_library
@given(size=st.integers(1, 9), start=st.integers(0, 30), data=st.data())
def test_draws_from_a_ring_are_those_of_python(size: int, start: int, data: st.DataObject) -> None:
    held = data.draw(st.integers(1, size))
    first = data.draw(st.integers(1, held))  # of the pass that is drawn from; the others follow it
    came = data.draw(st.integers(0, 12)) if held == size else 0
    count = data.draw(st.integers(1, first + (came if first == held else 0)))
    words = np.array(data.draw(st.lists(st.integers(0, 2**32 - 1), min_size=count, max_size=count)), np.uint32)
    incoming = np.arange(100, 100 + min(came, count))
    places = (start, start + first, start + held)
    rings = [np.arange(size), np.arange(size)]
    found = ring_draw(rings[0], size, places, incoming, words)
    expected = np.zeros(count, np.int64)
    streams._draw_in_python(rings[1], size, places, (incoming.tolist(), words.tolist()), expected)
    assert np.array_equal(found, expected)
    assert np.array_equal(*rings)


def test_other_types_are_left_to_numpy() -> None:
    places = np.array([(0, 0)])
    for dtype in (np.int32, np.float16, np.complex64):
        assert sparse_product(places, np.ones(1, dtype), 1, np.ones((1, 1), dtype), flipped=False) is None
    small = places.astype(np.int32)
    assert sparse_product(small, np.ones(1, np.float32), 1, np.ones((1, 1), np.float32), flipped=False) is None


def test_without_the_library_numpy_does_the_work() -> None:
    with implementation("NumPy"):
        assert not philox_words(1, 2, 0, np.zeros((1, 4), np.uint32))
        assert not philox_mask(1, 2, 0, np.less, 0.5, np.zeros(4, bool))
        assert sparse_product(np.zeros((1, 2), np.int64), np.ones(1), 1, np.ones((1, 1)), flipped=False) is None
        slow = PhiloxGenerator(1, 2).words(9)
    assert np.array_equal(PhiloxGenerator(1, 2).words(9), slow)
