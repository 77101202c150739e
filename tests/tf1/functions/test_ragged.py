"""Ragged tensors, without TensorFlow beside them."""

from __future__ import annotations

from typing import Any, get_type_hints

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tensorkeep.arrays import Array
from tensorkeep.errors import InvalidArgumentError, WrongTypeError
from tensorkeep.graph.building import building
from tensorkeep.graph.graph import Graph
from tensorkeep.runtime.composite_values import RaggedTensorValue
from tensorkeep.runtime.session import Session
from tensorkeep.tf1.functions.ragged import dispatch as functions
from tensorkeep.tf1.functions.ragged import factories, ragged_strings
from tensorkeep.tf1.functions.ragged.ragged_tensor import RaggedTensor
from tests.support.depth import examples

ROWS = st.lists(st.lists(st.integers(-100, 100), max_size=4), min_size=1, max_size=4)


def run(build: Any) -> Any:
    graph = Graph()
    with building(graph):
        made = build()
        return Session(graph).run(made)


@examples(25, deadline=None)
@given(ROWS)
def test_a_ragged_constant_comes_back_as_its_lists(rows: list[list[int]]) -> None:
    value = run(lambda: factories.constant(rows, dtype=np.int32))
    assert isinstance(value, RaggedTensorValue)
    assert value.to_list() == rows


@examples(25, deadline=None)
@given(ROWS)
def test_sums_of_rows_are_the_sums_of_the_lists(rows: list[list[int]]) -> None:
    sums = run(lambda: functions.reduce_sum(factories.constant(rows, dtype=np.int32), axis=1))
    assert sums.tolist() == [sum(row) for row in rows]


@examples(25, deadline=None)
@given(ROWS)
def test_a_dense_tensor_and_back_keeps_the_rows(rows: list[list[int]]) -> None:
    def there_and_back() -> Any:
        ragged = factories.constant(rows, dtype=np.int32)
        return RaggedTensor.from_tensor(ragged.to_tensor(), lengths=ragged.row_lengths())

    assert run(there_and_back).to_list() == rows


def test_the_values_of_a_fetched_tensor_are_an_array_as_its_type_says() -> None:
    value = RaggedTensorValue(RaggedTensorValue(np.arange(3), np.array([0, 2, 3])), np.array([0, 2]))
    assert value.flat_values.tolist() == [0, 1, 2]
    assert get_type_hints(vars(RaggedTensorValue)["flat_values"].fget) == {"return": Array}


def test_columns_of_rows_are_cut_from_either_end() -> None:
    def parts() -> Any:
        ragged = factories.constant([[1, 2, 3], [], [4]])
        return [ragged[:, 1:], ragged[:, -1:], ragged[::2], ragged[0]]

    first, last, every_other, row = run(parts)
    assert first.to_list() == [[2, 3], [], []]
    assert last.to_list() == [[3], [], [4]]
    assert every_other.to_list() == [[1, 2, 3], [4]]
    assert row.tolist() == [1, 2, 3]


def test_text_is_split_into_characters_and_joined_again() -> None:
    def characters() -> Any:
        split = ragged_strings.unicode_split(["äb", "", "c"], "UTF-8")
        return [split, functions.reduce_join(split, axis=1)]

    split, joined = run(characters)
    assert split.to_list() == [["ä".encode(), b"b"], [], [b"c"]]
    assert joined.tolist() == ["äb".encode(), b"", b"c"]


def test_a_ragged_tensor_is_fed_a_ragged_value_and_nothing_else() -> None:
    graph = Graph()
    with building(graph):
        fed = factories.placeholder(np.int32, 1)
    value = factories.constant_value([[1], [2, 3]], dtype=np.int32)
    assert Session(graph).run(fed, {fed: value}).to_list() == [[1], [2, 3]]
    with pytest.raises(WrongTypeError, match="constant_value"):
        Session(graph).run(fed, {fed: [[1], [2, 3]]})


def test_splits_that_do_not_fit_the_values_are_refused_when_run() -> None:
    with pytest.raises(InvalidArgumentError, match="do not form a valid RaggedTensor"):
        run(lambda: RaggedTensor.from_row_splits([1, 2, 3], [0, 2]))


def test_ragged_tensors_of_different_rows_cannot_be_added() -> None:
    with pytest.raises(InvalidArgumentError, match="identical ragged splits"):
        run(lambda: factories.constant([[1], [2, 3]]) + factories.constant([[1, 2], [3]]))
