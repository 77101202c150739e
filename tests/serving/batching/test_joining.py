"""Several requests as one, and its answer as theirs."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tensorkeep.errors import FailedPreconditionError, InvalidArgumentError
from tensorkeep.serving.batching.joining import (
    cut_request,
    filled_size,
    join_requests,
    kind_of,
    padded_array,
    paste_answers,
    piece_sizes,
    rows_of,
    split_outputs,
)
from tensorkeep.serving.servables import Array

NAMES = ("x:0",)
SIZES = st.lists(st.integers(0, 5), min_size=1, max_size=6)


def requests_of(sizes: list[int], width: int = 3) -> list[list[Array]]:
    """Requests with so many rows each, of numbers that are all different."""
    numbers = np.arange(sum(sizes) * width, dtype=np.float32).reshape(-1, width)
    ends = np.cumsum([0, *sizes])
    return [[numbers[start:end]] for start, end in pairwise(ends)]


@given(SIZES, st.lists(st.integers(1, 40), max_size=4))
def test_each_request_has_the_answer_that_it_would_have_alone(sizes: list[int], allowed: list[int]) -> None:
    requests = requests_of(sizes)
    batch = join_requests(NAMES, requests, sizes=sorted(allowed))
    answers = split_outputs([np.tanh(batch.arrays[0]).sum(axis=1)], batch)
    for (alone,), (found,) in zip(requests, answers, strict=True):
        np.testing.assert_array_equal(found, np.tanh(alone).sum(axis=1))


@given(SIZES, st.integers(0, 8), st.integers(1, 4))
def test_a_request_that_was_cut_is_put_together_again(sizes: list[int], room: int, most: int) -> None:
    (whole,) = requests_of([sum(sizes)])
    pieces = piece_sizes(sum(sizes), room, most)
    assert sum(pieces) == sum(sizes)
    assert all(size <= most for size in pieces[1:])
    assert pieces[0] <= max(room, most)
    np.testing.assert_array_equal(paste_answers(cut_request(whole, pieces))[0], whole[0])


@given(st.lists(st.tuples(st.integers(1, 3), st.integers(0, 4), st.integers(0, 3)), min_size=1, max_size=5))
def test_padding_keeps_every_element_where_it_was_and_adds_the_first(shapes: list[tuple[int, int, int]]) -> None:
    requests = [[np.random.default_rng(7).normal(size=shape)] for shape in shapes]
    batch = join_requests(NAMES, requests, pads=True)
    longest = tuple(max(shape[axis] for shape in shapes) for axis in (1, 2))
    assert batch.arrays[0].shape == (sum(shape[0] for shape in shapes), *longest)
    for (alone,), (found,) in zip(requests, split_outputs(list(batch.arrays), batch), strict=True):
        inside = tuple(slice(0, length) for length in alone.shape)
        np.testing.assert_array_equal(found[inside], alone)
        added = np.ones(found.shape, bool)
        added[inside] = False
        assert np.all(found[added] == (alone.flat[0] if alone.size else 0.0))


def test_strings_are_padded_with_the_first_string() -> None:
    short, long = np.array([[b"a"]], object), np.array([[b"b", b"c"]], object)
    assert join_requests(NAMES, [[short], [long]], pads=True).arrays[0].tolist() == [[b"a", b"a"], [b"b", b"c"]]
    assert padded_array(np.empty((1, 0), object), (2,)).tolist() == [[b"", b""]]


def test_a_batch_is_filled_up_with_the_first_row_of_the_last_request() -> None:
    batch = join_requests(NAMES, [[np.array([1, 2])], [np.array([3, 4, 5])]], sizes=(4, 8))
    assert batch.arrays[0].tolist() == [1, 2, 3, 4, 5, 3, 3, 3]
    assert (batch.rows, batch.total, batch.extra) == ((2, 3), 8, 3)


def test_a_request_without_rows_gives_none_to_fill_up_with() -> None:
    batch = join_requests(NAMES, [[np.array([1, 2])], [np.array([], int)]], sizes=(4,))
    assert batch.arrays[0].tolist() == [1, 2, 1, 1]
    assert join_requests(NAMES, [[np.array([], int)]], sizes=(4,)).total == 0


def test_a_single_request_is_not_copied() -> None:
    array = np.ones((2, 3))
    assert join_requests(NAMES, [[array]]).arrays[0] is array


@pytest.mark.parametrize(("rows", "size"), [(1, 2), (2, 2), (3, 8), (9, 9)])
def test_the_next_size_is_taken_and_above_the_last_the_rows_themselves(rows: int, size: int) -> None:
    assert filled_size(rows, (2, 8)) == size


def test_requests_of_other_types_or_shapes_are_of_another_kind() -> None:
    floats = [np.ones((2, 3), np.float32)]
    assert kind_of(floats, pads=False) == kind_of([np.ones((5, 3), np.float32)], pads=False)
    assert kind_of(floats, pads=False) != kind_of([np.ones((2, 3), np.float64)], pads=False)
    assert kind_of(floats, pads=False) != kind_of([np.ones((2, 4), np.float32)], pads=False)
    assert kind_of(floats, pads=True) == kind_of([np.ones((2, 4), np.float32)], pads=True)
    assert kind_of(floats, pads=True) != kind_of([np.ones((2, 4, 1), np.float32)], pads=True)


@pytest.mark.parametrize(
    ("arrays", "text"),
    [
        ([], "Batching Run() must have at least one input tensor"),
        ([np.float32(1)], "Batching Run() input tensors must have at least one dimension"),
        ([np.ones(2), np.ones(3)], "Batching Run() input tensors must have equal 0th-dimension size"),
    ],
)
def test_what_is_not_made_of_rows_is_refused(arrays: list[Array], text: str) -> None:
    with pytest.raises(InvalidArgumentError) as caught:
        rows_of([np.asarray(array) for array in arrays])
    assert str(caught.value) == text


def test_different_lengths_without_padding_are_an_error() -> None:
    with pytest.raises(FailedPreconditionError) as caught:
        join_requests(NAMES, [[np.ones((1, 2))], [np.ones((1, 3))]])
    assert str(caught.value) == (
        "Tensors with name 'x:0' from different tasks have different shapes and padding is turned off. Set "
        "pad_variable_length_inputs to true, or ensure that all tensors with the same name have equal dimensions "
        "starting with the first dim."
    )


def test_more_than_six_axes_are_not_padded() -> None:
    deep = (1,) * 6
    with pytest.raises(InvalidArgumentError) as caught:
        join_requests(NAMES, [[np.ones((1, *deep))], [np.ones((1, *deep[1:], 2))]], pads=True)
    assert str(caught.value) == "Only tensors with rank from 1 to 6 can be padded."


def test_outputs_have_the_rows_of_the_batch() -> None:
    batch = join_requests(NAMES, [[np.ones((2, 3))]])
    with pytest.raises(FailedPreconditionError) as caught:
        split_outputs([np.asarray(1.0)], batch)
    assert str(caught.value) == "Batched output tensor has 0 dimensions"
    with pytest.raises(FailedPreconditionError) as caught:
        split_outputs([np.ones(3)], batch)
    assert str(caught.value) == (
        "Batched output tensor's 0th dimension does not equal the sum of the 0th dimension sizes of the input tensors"
    )
