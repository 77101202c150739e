"""Branches and loops of TensorFlow 1, and arrays of tensors, exported: If and Loop, and what loops fill or read."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tensorkeep.v1 as tf
from tensorkeep.onnx.graphs import CannotTranslateError
from tests.onnx.whole_graphs import assert_exports, exported

X = np.array([[0.5, -1.0, 2.0], [1.5, 0.25, -0.75]], np.float32)


@pytest.fixture
def x() -> Any:
    return tf.placeholder(tf.float32, [None, 3], name="x")


@pytest.fixture
def number() -> Any:
    return tf.placeholder(tf.int32, [], name="number")


@pytest.fixture(autouse=True)
def graph() -> Any:
    with tf.Graph().as_default() as made:
        yield made


# ----------------------------------------------------------------------------------------------------- branches


def test_a_cond_becomes_an_if(x: Any) -> None:
    flag = tf.placeholder(tf.bool, [], name="flag")
    y, z = tf.cond(flag, lambda: (x + 1.0, x * 2.0), lambda: (tf.exp(x), x))
    found = assert_exports([y, z], [{x: X, flag: truth} for truth in (True, False)])
    assert found.ops["If"] == 1


def test_a_predicate_that_is_known_chooses_at_once(x: Any) -> None:
    y = tf.cond(tf.constant(3) > 2, lambda: x + 1.0, lambda: tf.exp(x))
    found = assert_exports([y], [{x: X}])
    assert set(found.ops) == {"Add"}


def test_conds_in_each_other(x: Any, number: Any) -> None:
    y = tf.cond(
        number > 0, lambda: tf.cond(number > 5, lambda: x * 3.0, lambda: x + 3.0), lambda: tf.cond(
            number < -5, lambda: tf.exp(x), lambda: -x
        )
    )  # fmt: skip
    found = assert_exports([y], [{x: X, number: value} for value in (9, 2, -2, -9)])
    assert found.ops["If"] == 3


def test_a_case_of_several_predicates(x: Any, number: Any) -> None:
    cases = [(tf.equal(number, value), lambda value=value: x * float(value)) for value in range(3)]
    y = tf.case(cases, default=lambda: x - 1.0)
    assert_exports([y], [{x: X, number: value} for value in (0, 1, 2, 3)])


def test_branches_that_give_the_same_value_need_no_choice(x: Any, number: Any) -> None:
    y, z = tf.cond(number > 0, lambda: (x + 1.0, tf.identity(x)), lambda: (x - 1.0, tf.identity(x)))
    found = assert_exports([y, z], [{x: X, number: value} for value in (1, -1)])
    assert found.ops["If"] == 1


# -------------------------------------------------------------------------------------------------------- loops


def test_a_loop_whose_limit_is_known_counts_without_a_condition(x: Any) -> None:
    i, y = tf.while_loop(lambda i, y: i < 5, lambda i, y: (i + 1, y * 0.5 + x), [0, x])
    found = assert_exports([i, y], [{x: X}])
    assert found.ops["Loop"] == 1
    assert "Less" not in found.ops


def test_a_loop_whose_limit_is_computed(x: Any, number: Any) -> None:
    i, y = tf.while_loop(lambda i, y: i < number, lambda i, y: (i + 1, y + 1.0), [2, x])
    assert_exports([i, y], [{x: X, number: value} for value in (5, 2, 0)])


def test_a_loop_that_values_decide(x: Any) -> None:
    y = tf.while_loop(lambda y: tf.reduce_sum(y) < 50.0, lambda y: y * 1.5 + 1.0, [x])
    assert_exports([y], [{x: X}, {x: X * 100}])


def test_a_loop_with_two_conditions(x: Any) -> None:
    i, y = tf.while_loop(
        lambda i, y: tf.reduce_sum(y) < 50.0, lambda i, y: (i + 1, y + 1.0), (0, x), maximum_iterations=4
    )
    assert_exports([i, y], [{x: X}, {x: X + 5.0}, {x: X + 50.0}])


def test_a_variable_whose_shape_changes(x: Any) -> None:
    _, y = tf.while_loop(
        lambda i, y: i < 3, lambda i, y: (i + 1, tf.concat([y, x], 0)), [0, x],
        shape_invariants=[tf.TensorShape([]), tf.TensorShape([None, 3])],
    )  # fmt: skip
    assert_exports([y], [{x: X}])


def test_variables_that_change_places(x: Any) -> None:
    _, y, z = tf.while_loop(lambda i, y, z: i < 3, lambda i, y, z: (i + 1, z, y), [0, x, x * 2.0])
    assert_exports([y, z], [{x: X}])


def test_loops_in_each_other(x: Any, number: Any) -> None:
    def outer(i: Any, y: Any) -> Any:
        _, inner = tf.while_loop(lambda j, z: j < i, lambda j, z: (j + 1, z + y), [0, x])
        return i + 1, inner * 0.5

    _, y = tf.while_loop(lambda i, y: i < number, outer, [0, x])
    assert_exports([y], [{x: X, number: value} for value in (0, 4)])


def test_a_branch_in_a_loop_and_a_loop_in_a_branch(x: Any, number: Any) -> None:
    def step(i: Any, y: Any) -> Any:
        return i + 1, tf.cond(tf.equal(i, number), lambda: y * 2.0, lambda: y + 1.0)

    y = tf.cond(number > 0, lambda: tf.while_loop(lambda i, y: i < 4, step, [0, x])[1], lambda: x)
    assert_exports([y], [{x: X, number: value} for value in (-1, 0, 2)])


def test_a_loop_that_never_runs_is_left_out(x: Any) -> None:
    _, y = tf.while_loop(lambda i, y: i < 0, lambda i, y: (i + 1, y + 1.0), [0, x])
    found = assert_exports([y + 1.0], [{x: X}])
    assert "Loop" not in found.ops


# ----------------------------------------------------------------------------------------------- arrays of tensors


def test_an_array_that_a_loop_fills_is_a_scan_output(x: Any) -> None:
    array = tf.TensorArray(tf.float32, size=4)
    _, _, filled = tf.while_loop(lambda i, y, a: i < 4, lambda i, y, a: (i + 1, y + 1.0, a.write(i, y)), [0, x, array])
    found = assert_exports([filled.stack()], [{x: X}])
    assert not found.ops.keys() & {"ScatterND", "SequenceInsert", "Concat"}


def test_an_array_that_a_loop_does_not_fill_ends_in_zeros(x: Any, number: Any) -> None:
    array = tf.TensorArray(tf.float32, size=5, element_shape=[2, 3])
    _, filled = tf.while_loop(lambda i, a: i < number, lambda i, a: (i + 1, a.write(i, x)), [0, array])
    assert_exports([filled.stack(), filled.size()], [{x: X, number: value} for value in (5, 2)])


def test_an_array_that_is_written_from_the_end(x: Any) -> None:
    array = tf.TensorArray(tf.float32, size=4, element_shape=[2, 3])
    _, _, filled = tf.while_loop(
        lambda i, y, a: i < 4, lambda i, y, a: (i + 1, y + 1.0, a.write(3 - i, y)), [0, x, array]
    )
    assert_exports([filled.stack()], [{x: X}])


def test_an_array_that_is_read_and_written_in_one_loop(x: Any) -> None:
    array = tf.TensorArray(tf.float32, size=5, element_shape=[2, 3], clear_after_read=False).write(0, x)
    _, filled = tf.while_loop(lambda i, a: i < 5, lambda i, a: (i + 1, a.write(i, a.read(i - 1) * 2.0)), [1, array])
    assert_exports([filled.stack(), filled.read(2), filled.gather([3, 1])], [{x: X}])


@pytest.mark.parametrize("shape", [[2, 3], None])
def test_an_array_that_a_branch_writes_to(x: Any, shape: Any) -> None:
    array = tf.TensorArray(tf.float32, size=4, element_shape=shape, infer_shape=False)

    def step(i: Any, a: Any) -> Any:
        return i + 1, tf.cond(i % 2 > 0, lambda: a.write(i, x), lambda: a.write(i, x * 2.0))

    _, filled = tf.while_loop(lambda i, a: i < 4, step, [0, array])
    assert_exports([tf.reshape(filled.stack(), [4, 2, 3])], [{x: X}], opsets=(18, 24))


def test_rows_that_a_loop_reads(x: Any) -> None:
    array = tf.TensorArray(tf.float32, size=tf.shape(x)[0]).unstack(x)
    _, y = tf.while_loop(lambda i, y: i < tf.shape(x)[0], lambda i, y: (i + 1, y + array.read(i)), [0, tf.zeros([3])])
    found = assert_exports([y], [{x: X}, {x: X[:1]}])
    assert found.ops["Gather"] >= 1


@pytest.mark.parametrize("kind", ["map_fn", "scan", "foldl", "foldr"])
def test_functions_over_rows(x: Any, kind: str) -> None:
    functions: dict[str, Callable[[], Any]] = {
        "map_fn": lambda: tf.map_fn(lambda row: row * 2.0 + 1.0, x),
        "scan": lambda: tf.scan(lambda total, row: total + row, x),
        "foldl": lambda: tf.foldl(lambda total, row: total * 0.5 + row, x),
        "foldr": lambda: tf.foldr(lambda total, row: total * 0.5 + row, x),
    }
    assert_exports([functions[kind]()], [{x: X}, {x: np.concatenate([X, X * 3])}])


def test_elements_one_after_the_other(x: Any) -> None:
    array = tf.TensorArray(tf.float32, size=3, infer_shape=False)
    _, filled = tf.while_loop(lambda i, a: i < 3, lambda i, a: (i + 1, a.write(i, x)), [0, array])
    assert_exports([filled.concat()], [{x: X}])


def test_parts_of_a_tensor_of_different_lengths(x: Any) -> None:
    lengths = tf.placeholder(tf.int64, [3], name="lengths")
    array = tf.TensorArray(tf.float32, size=3, infer_shape=False, clear_after_read=False).split(x, lengths)
    feeds = {x: np.arange(15, dtype=np.float32).reshape(5, 3), lengths: np.array([1, 3, 1])}
    assert_exports([array.read(1), array.concat(), array.size()], [feeds], opsets=(18, 24))


def test_an_array_that_grows(x: Any, number: Any) -> None:
    array = tf.TensorArray(tf.float32, size=0, dynamic_size=True)
    _, filled = tf.while_loop(lambda i, a: i < number, lambda i, a: (i + 1, a.write(i, x)), [0, array])
    assert_exports([filled.stack(), filled.size()], [{x: X, number: 3}])


def test_the_engine_takes_no_index_that_may_be_negative(x: Any, number: Any) -> None:
    array = tf.TensorArray(tf.float32, size=tf.shape(x)[0]).unstack(x)
    with pytest.raises(CannotTranslateError, match="negative"):
        exported([array.read(number)], [x, number], is_for_engine=True)
    _, y = tf.while_loop(lambda i, y: i < tf.shape(x)[0], lambda i, y: (i + 1, y + array.read(i)), [0, tf.zeros([3])])
    assert exported([y], [x], is_for_engine=True).ops["Loop"] == 1


def test_what_has_no_rule_in_a_branch_is_listed(x: Any, number: Any) -> None:
    y = tf.cond(number > 0, lambda: tf.py_func(lambda a: a, [x], tf.float32), lambda: x)
    with pytest.raises(CannotTranslateError, match="PyFunc"):
        exported([y], [x, number])
