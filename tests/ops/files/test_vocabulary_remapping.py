"""Rows and columns of a stored matrix, found by the words of vocabularies. Beside TensorFlow: test_initializing.py."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tensorkeep import MemoryFileSystem, save_checkpoint
from tensorkeep.errors import (
    FailedPreconditionError,
    InternalError,
    InvalidArgumentError,
    NotFoundError,
    OutOfRangeError,
    UnimplementedError,
)
from tensorkeep.graph.building import building
from tensorkeep.graph.graph import Graph
from tensorkeep.ops.files.vocabulary_remapping import generate_vocab_remapping, load_and_remap_matrix
from tensorkeep.runtime.session import Session
from tests.checkpoint.crafting import put

MATRIX = np.arange(12, dtype=np.float32).reshape(4, 3)


def store(new: str = "", old: str = "") -> MemoryFileSystem:
    fs = MemoryFileSystem()
    put(fs, "new", new.encode())
    put(fs, "old", old.encode())
    save_checkpoint("m", {"w": MATRIX, "v": MATRIX[0], "d": MATRIX.astype(float)}, fs=fs)
    return fs


def remapped(new: str, old: str, offset: int = 0, count: int | None = None, size: int = -1) -> tuple[list[int], int]:
    number = len(new.split()) - offset if count is None else count
    with building(Graph()) as graph:
        made = generate_vocab_remapping(
            "new", "old", new_vocab_offset=offset, num_new_vocab=number, old_vocab_size=size
        )
    rows, present = Session(graph, filesystem=store(new, old)).run(list(made))
    return rows.tolist(), int(present)


def loaded(rows: list[int], columns: list[int] = [], values: Any = (), **attrs: Any) -> Any:  # noqa: B006
    name = attrs.pop("name", "w")
    with building(Graph()) as graph:
        made = load_and_remap_matrix(
            "m",
            name,
            np.array(rows, np.int64),
            np.array(columns, np.int64),
            np.array(values, np.float32),
            num_rows=attrs.get("num_rows", len(rows)),
            num_cols=attrs.get("num_cols", len(columns) or 3),
        )
        assert made.shape.as_list() == [attrs.get("num_rows", len(rows)), attrs.get("num_cols", len(columns) or 3)]
    return Session(graph, filesystem=store()).run(made).tolist()


def test_words_are_found_where_they_were() -> None:
    assert remapped("c\nx\na", "a\nb\nc\n") == ([2, -1, 0], 2)


def test_part_of_a_vocabulary() -> None:
    assert remapped("c\nx\na\nb\n", "a\nb\nc\n", offset=1, count=2) == ([-1, 0], 1)
    assert remapped("a\nb\n", "a\nb\nc\n", count=0) == ([], 0)


def test_only_the_first_old_words_count() -> None:
    assert remapped("a\nb\nc\n", "a\nb\nc\n", size=2) == ([0, 1, -1], 2)


@pytest.mark.parametrize(
    ("new", "old", "options", "error"),
    [
        ("a\n", "a\n", {"count": 2}, InvalidArgumentError),
        ("a\n", "a\n", {"size": 2}, InvalidArgumentError),
        ("a\n", "a\nb\na\n", {}, FailedPreconditionError),
        ("a\n", "", {}, OutOfRangeError),
        ("a\n", "a\n\nb\n", {}, InvalidArgumentError),
    ],
)
def test_vocabularies_that_make_no_sense_are_refused(new: str, old: str, options: Any, error: type) -> None:
    with pytest.raises(error):
        remapped(new, old, **options)


def test_rows_and_columns_are_put_where_they_belong_and_the_rest_is_filled_in_order() -> None:
    assert loaded([2, -1], values=[7, 8, 9]) == [[6, 7, 8], [7, 8, 9]]
    assert loaded([1, -1], [2, -1, 0], [5, 6, 7, 8]) == [[5, 5, 3], [6, 7, 8]]


@given(st.permutations(range(4)), st.permutations(range(3)), st.sets(st.integers(0, 3)), st.sets(st.integers(0, 2)))
def test_any_arrangement(rows: list[int], columns: list[int], new_rows: set[int], new_columns: set[int]) -> None:
    row_numbers = [-1 if at in new_rows else row for at, row in enumerate(rows)]
    column_numbers = [-1 if at in new_columns else column for at, column in enumerate(columns)]
    there = np.outer(np.array(row_numbers) >= 0, np.array(column_numbers) >= 0)
    values = -1 - np.arange(there.size - there.sum(), dtype=np.float32)
    wanted = np.where(there, MATRIX[np.ix_(row_numbers, column_numbers)], 0)
    wanted[~there] = values
    assert loaded(row_numbers, column_numbers, values) == wanted.tolist()


@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        ({"rows": [0], "values": [1]}, InvalidArgumentError, "only 0 elements were used"),
        ({"rows": [-1], "values": [1]}, InvalidArgumentError, "more missing values remain"),
        ({"rows": [1, 1]}, UnimplementedError, "Old ID 1 is mapped to both new ID 0 and 1"),
        ({"rows": [4]}, InternalError, "row 4 of tensor w"),
        ({"rows": [0], "columns": [3]}, InternalError, "column 3 of tensor w"),
        ({"rows": [0], "num_rows": 2}, InvalidArgumentError, "Size of row_remapping is 1"),
        ({"rows": [0], "columns": [0], "num_cols": 2}, InvalidArgumentError, "its size is 1"),
        ({"rows": [0], "num_cols": 2}, InvalidArgumentError, "2nd dimension is 3"),
        ({"rows": [0], "name": "v"}, InvalidArgumentError, "invalid rank 1"),
        ({"rows": [0], "name": "d"}, InvalidArgumentError, "invalid type double"),
        ({"rows": [0], "name": "z"}, NotFoundError, "Key z not found"),
    ],
)
def test_what_cannot_be_is_refused(given: Any, error: type, message: str) -> None:
    with pytest.raises(error, match=message):
        loaded(**given)
