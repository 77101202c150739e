"""Printing, asserting, telling the time."""

from __future__ import annotations

import logging
import sys
import time
from typing import Any

import numpy as np
import pytest

from tensorkeep.errors import InvalidArgumentError, PermissionDeniedError, WrongTypeError
from tensorkeep.graph.building import building
from tensorkeep.graph.composites import SparseTensor
from tensorkeep.graph.graph import Graph
from tensorkeep.io.files.memory import MemoryFileSystem
from tensorkeep.ops.arrays.constants import placeholder
from tensorkeep.runtime.session import Session
from tensorkeep.tf1.functions.constants import constant
from tensorkeep.tf1.functions.control import assertions
from tensorkeep.tf1.functions.control.control_flow import Assert
from tensorkeep.tf1.functions.control.logging import (
    Print,
    add_check_numerics_ops,
    print_v2,
    timestamp,
    verify_tensor_all_finite,
)


def printed(graph: Graph, *fetches: Any, feeds: Any = None, times: int = 1) -> list[str]:
    """The lines that running something writes."""
    lines: list[str] = []
    session = Session(graph, write_line=lines.append)
    for _ in range(times):
        session.run(list(fetches), feeds)
    return lines


def test_print_shows_its_message_and_the_first_elements() -> None:
    with building(Graph()) as graph:
        value = constant([[1.0, 2.0], [3.0, 4.0]])
        shown = Print(value, [value, constant("a\n"), constant(True)], message="note: ")
    assert printed(graph, shown) == ["note: [[1 2][3...]...][a\\n][1]"]


def test_print_stops_after_the_first_calls() -> None:
    with building(Graph()) as graph:
        shown = Print(constant(1), [constant(2)], first_n=2)
    assert printed(graph, shown, times=5) == ["[2]", "[2]"]


def test_print_v2_shows_structures_with_tensors_in_them() -> None:
    with building(Graph()) as graph:
        numbers = constant(list(range(10)))
        line = print_v2("numbers:", {"a": numbers, "b": [1, "x"]}, constant(0.5), sep=" | ")
    assert printed(graph, line) == ["numbers: | {'a': [0 1 2 ... 7 8 9], 'b': [1, 'x']} | 0.5"]


def test_print_v2_of_one_string_prints_it_as_it_is() -> None:
    with building(Graph()) as graph:
        line = print_v2(constant("just\ttext"), output_stream=sys.stdout, end="")
    assert printed(graph, line) == ["just\ttext"]


def test_print_v2_of_sparse_tensors_shows_their_parts() -> None:
    with building(Graph()) as graph:
        sparse = SparseTensor(constant([[0, 1]], "int64"), constant([7]), constant([2, 2], "int64"))
        line = print_v2(sparse, output_stream=logging.WARNING)
    assert printed(graph, line) == ["'SparseTensor(indices=[[0 1]], values=[7], shape=[2 2])'"]


def test_print_v2_appends_to_files() -> None:
    files = MemoryFileSystem()
    with building(Graph()) as graph:
        line = print_v2("line", constant(1), output_stream="file:///log.txt")
    session = Session(graph, filesystem=files)
    session.run(line)
    session.run(line)
    assert bytes(files.open("/log.txt").read(0, 14)) == b"line 1\nline 1\n"


def test_print_v2_refuses_streams_and_arguments_it_does_not_know() -> None:
    with building(Graph()):
        with pytest.raises(InvalidArgumentError, match="Unsupported output stream"):
            print_v2("x", output_stream="nowhere")
        with pytest.raises(InvalidArgumentError, match="Unrecognized keyword"):
            print_v2("x", colour="red")


def test_a_session_for_strangers_refuses_to_print() -> None:
    with building(Graph()) as graph:
        line = print_v2("x", constant(1))
    with pytest.raises(PermissionDeniedError, match="prints"):
        Session(graph, allow_io=False).run(line)


def test_a_failed_assertion_shows_its_data() -> None:
    with building(Graph()) as graph:
        condition: Any = placeholder(dtype="bool", shape=[])
        check = Assert(condition, ["why", constant([1, 2, 3, 4])], summarize=2)
    session = Session(graph)
    session.run(check, {condition: True})
    with pytest.raises(InvalidArgumentError, match=r"assertion failed: \[why\] \[1 2\.\.\.\]"):
        session.run(check, {condition: False})


def test_comparisons_of_constants_are_checked_at_once() -> None:
    with building(Graph()):
        assertions.assert_less([1, 2], [3, 4])
        with pytest.raises(InvalidArgumentError, match=r"mine\nCondition x == y did not hold"):
            assertions.assert_equal([1, 2], [1, 3], message="mine")


def test_comparisons_of_what_is_fed_are_checked_when_they_run() -> None:
    with building(Graph()) as graph:
        x: Any = placeholder(dtype="float32", shape=[None])
        check = assertions.assert_positive(x, message="must be positive")
    session = Session(graph)
    session.run(check, {x: [1.0, 2.0]})
    with pytest.raises(InvalidArgumentError, match=r"assertion failed: \[must be positive"):
        session.run(check, {x: [1.0, 0.0]})


def test_ranks_and_shapes_are_checked_as_soon_as_they_are_known() -> None:
    with building(Graph()) as graph:
        x: Any = placeholder(dtype="float32", shape=None)
        with pytest.raises(InvalidArgumentError, match=r"must have rank 2.  Received rank 1, shape \(3,\)"):
            assertions.assert_rank(constant([1, 2, 3]), 2)
        with pytest.raises(InvalidArgumentError, match=r"must have size 2"):
            assertions.assert_shapes({constant([1, 2]): ["n"], constant([[1, 2, 3]]): [1, "n"]}.items())
        later = assertions.assert_rank_in(x, [1, 2])
    Session(graph).run(later, {x: [1.0]})
    with pytest.raises(InvalidArgumentError, match="must have rank in"):
        Session(graph).run(later, {x: 1.0})


def test_types_are_always_known() -> None:
    with building(Graph()):
        assertions.assert_integer(constant(1))
        with pytest.raises(WrongTypeError, match='Expected "x" to be integer'):
            assertions.assert_integer(constant(1.0))
        with pytest.raises(TypeError):
            assertions.assert_proper_iterable(constant([1]))
        with pytest.raises(InvalidArgumentError, match="Expected floating point"):
            assertions.assert_same_float_dtype([constant(1)])
        assert assertions.assert_same_float_dtype([constant(1.0)]).name == "float32"


def test_order_is_found_element_by_element() -> None:
    with building(Graph()) as graph:
        x: Any = placeholder(dtype="int32", shape=[None])
        results = [assertions.is_non_decreasing(x), assertions.is_strictly_increasing(x)]
    session = Session(graph)
    for values, expected in (
        ([1, 1, 2], [True, False]),
        ([1, 2], [True, True]),
        ([2, 1], [False] * 2),
        ([], [True] * 2),
    ):
        assert [bool(item) for item in session.run(results, {x: np.array(values, np.int32)})] == expected


def test_numbers_that_are_none_are_found() -> None:
    with building(Graph()) as graph:
        x: Any = placeholder(dtype="float32", shape=[2], name="x")
        finite = verify_tensor_all_finite(x, "not finite")
        everything = add_check_numerics_ops()
    session = Session(graph)
    assert session.run(finite, {x: [1.0, 2.0]}).tolist() == [1.0, 2.0]
    for fetch in (finite, everything):
        with pytest.raises(InvalidArgumentError, match="Tensor had NaN values"):
            session.run(fetch, {x: [1.0, np.nan]})


def test_the_time_is_now() -> None:
    with building(Graph()) as graph:
        now = timestamp()
    before = time.time()
    assert before <= Session(graph).run(now) <= time.time()
