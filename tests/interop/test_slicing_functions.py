"""Indexing, gathering and scattering beside TensorFlow's: the same program gives the same nodes, shapes and values."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

from tensorkeep.dtypes import DType
from tensorkeep.graph.building import building
from tensorkeep.graph.graph import Graph
from tensorkeep.graph.registry.opspec import get_op
from tensorkeep.runtime.session import Session
from tests.interop.test_array_functions import CUBE, X, check, matrix


def cube(tf: Any, shape: Any = (2, 3, 4)) -> Any:
    return tf.placeholder(tf.float32, shape, name="x")


KEYS: dict[str, Callable[[Any, Any], Any]] = {
    "int": lambda tf, x: x[1],
    "negative": lambda tf, x: x[-1],
    "slice": lambda tf, x: x[1:],
    "stop": lambda tf, x: x[:-1, 1:3],
    "step": lambda tf, x: x[::2, ::-1],
    "ellipsis": lambda tf, x: x[..., 0],
    "middle": lambda tf, x: x[0, ..., 1:],
    "newaxis": lambda tf, x: x[:, None],
    "tf.newaxis": lambda tf, x: x[tf.newaxis, ..., tf.newaxis],
    "all": lambda tf, x: x[:],
    "mixed": lambda tf, x: x[None, 1, ..., ::-2],
    "tensor": lambda tf, x: x[tf.constant(1)],
    "long tensor": lambda tf, x: x[tf.constant(1, tf.int64)],
    "tensor slice": lambda tf, x: x[tf.constant(0) : tf.constant(2), 1],
    "long slice": lambda tf, x: x[tf.constant(0, tf.int64) :, 1],
    "fed": lambda tf, x: x[tf.placeholder_with_default(1, [], name="i") :, :2],
    "numpy": lambda tf, x: x[np.int64(1), np.int32(0) : 2],
    "tuple": lambda tf, x: x[(1, 2)],
    "list": lambda tf, x: x[[0, 1]],
    "shape": lambda tf, x: tf.shape(x)[1:],
    "size": lambda tf, x: tf.zeros([tf.shape(x)[0], 2]),
    "mask": lambda tf, x: x[x[:, 0, 0] > 3],
    "array mask": lambda tf, x: x[np.array([True, False])],
    "chained": lambda tf, x: x[1][2][3],
}


@pytest.mark.parametrize("shape", [(2, 3, 4), (None, 3, None), (None, None, None)])
@pytest.mark.parametrize("key", sorted(KEYS))
def test_indexing_equals_tensorflows(key: str, shape: Any) -> None:
    check(lambda tf: KEYS[key](tf, cube(tf, shape)), {"x:0": CUBE})


def test_indices_that_are_none_are_refused() -> None:
    keys: list[Any] = ["a", 1.5, [1.5], {}]
    for key in keys:
        with pytest.raises(TypeError):
            check(lambda tf, key=key: matrix(tf)[key], X)  # type: ignore[misc]


FUNCTIONS: dict[str, Callable[[Any, Any], Any]] = {
    "slice": lambda tf, x: [tf.slice(x, [0, 1], [1, 2]), tf.slice(x, [0, 1], [-1, -1], name="s")],
    "strided_slice": lambda tf, x: [
        tf.strided_slice(x, [0, 1], [2, 3], [1, 1], name="s"),
        tf.strided_slice(x, [0, 1], [2, 3], begin_mask=2),
    ],
    "gather": lambda tf, x: [
        tf.gather(x, [1, 0]),
        tf.gather(x, [1, 0], axis=1, name="g"),
        tf.gather(x, [[1], [0]], axis=-1, batch_dims=1),
        tf.gather(x, 1, axis=tf.constant(1)),
    ],
    "gather_nd": lambda tf, x: [tf.gather_nd(x, [[0, 1]]), tf.gather_nd(x, [[0, 1]], name="g")],
    "boolean_mask": lambda tf, x: [
        tf.boolean_mask(x, [True, False]),
        tf.boolean_mask(x, x > 2),
        tf.boolean_mask(x, [True, False, True], axis=1, name="m"),
    ],
    "scatter": lambda tf, x: [
        tf.scatter_nd([[1], [0]], x, [4, 3]),
        tf.tensor_scatter_update(x, [[0, 0]], [5.0]),
        tf.tensor_scatter_add(x, [[0, 0]], [5.0]),
        tf.tensor_scatter_sub(x, [[0, 0]], [5.0], name="t"),
        tf.tensor_scatter_nd_max(x, [[0, 0]], [5.0]),
        tf.tensor_scatter_nd_min(x, [[0, 0]], [-5.0]),
    ],
    "repeat": lambda tf, x: [tf.repeat(x, 2, axis=0), tf.repeat(x, [1, 2], axis=0), tf.repeat(x, [1, 0, 2], axis=1)],
    "repeat flat": lambda tf, x: tf.repeat(x, 3),
}


@pytest.mark.parametrize("shape", [(2, 3), (None, 3), (None, None)])
@pytest.mark.parametrize("name", sorted(FUNCTIONS))
def test_functions_of_parts_equal_tensorflows(name: str, shape: Any) -> None:
    check(lambda tf: FUNCTIONS[name](tf, matrix(tf, shape)), X)


@pytest.mark.parametrize("shape", [(2, 3, 4), (None, 3, None)])
def test_gathers_in_batches_equal_tensorflows(shape: Any) -> None:
    def program(tf: Any) -> Any:
        x = cube(tf, shape)
        return [tf.batch_gather(x, [[0, 2], [1, 1]]), tf.gather_nd(x, [[[0]], [[2]]], batch_dims=1, name="g")]

    check(program, {"x:0": CUBE})


def test_sequence_masks_equal_tensorflows() -> None:
    def program(tf: Any) -> Any:
        lengths = tf.placeholder(tf.int32, [None], name="lengths")
        return [
            tf.sequence_mask([1, 3, 2]),
            tf.sequence_mask([1, 3, 2], 5, tf.float32),
            tf.sequence_mask(lengths),
            tf.sequence_mask(lengths, tf.constant(4), name="m"),
            tf.sequence_mask([[1], [2]], maxlen=3, dtype=tf.int64),
        ]

    check(program, {"lengths:0": [2, 0]})


def test_searches_in_sorted_rows_equal_tensorflows() -> None:
    def program(tf: Any) -> Any:
        rows = tf.placeholder(tf.float32, [None, 3], name="rows")
        return [
            tf.searchsorted(rows, [[0.5], [2.0]]),
            tf.searchsorted([1, 3, 5], [3, 4], side="right", out_type=tf.int64, name="s"),
        ]

    check(program, {"rows:0": [[1, 2, 3], [2, 2, 4]]})


def _assign(kind: str, value: Any, expected: Any) -> None:
    graph = Graph()
    attrs = {"begin_mask": 1, "end_mask": 0}
    with building(graph):
        if kind == "ref":
            variable = get_op("VariableV2")(shape=[2, 3], dtype=DType.of("float32"), name="v")
            fill = get_op("Assign")(variable, np.zeros((2, 3), np.float32))
            change = get_op("StridedSliceAssign")(variable, [0, 1], [2, 3], [1, 1], value, name="change", **attrs)
            read, before = get_op("Identity")(change), get_op("Identity")(variable)
        else:
            variable = get_op("VarHandleOp")(shape=[2, 3], dtype=DType.of("float32"), name="v")
            fill = get_op("AssignVariableOp")(variable, np.zeros((2, 3), np.float32))
            change = get_op("ResourceStridedSliceAssign")(
                variable, [0, 1], [2, 3], [1, 1], value, name="change", **attrs
            )
            read = before = get_op("ReadVariableOp")(variable, dtype=DType.of("float32"))
    session = Session(graph)
    session.run(fill.op if hasattr(fill, "op") else fill)
    old = session.run(before)
    session.run(graph.operation("change"))
    assert session.run(before if kind == "resource" else read).tolist() == expected.tolist()
    assert not old.any()


EXPECTED = np.array([[0, 1, 2], [0, 3, 4]], np.float32)


def _tensorflows(value: Any) -> Any:
    variable = tf.Variable(np.zeros((2, 3), np.float32))
    variable[:2, 1:3].assign(value)
    return variable.numpy()


def test_parts_of_a_ref_variable_are_assigned() -> None:
    for value in (EXPECTED[:, 1:], np.float32(7), np.array([[1], [2]], np.float32)):
        _assign("ref", value, _tensorflows(value))


def test_parts_of_a_resource_are_assigned() -> None:
    for value in (EXPECTED[:, 1:], np.float32(7), np.array([[1], [2]], np.float32)):
        _assign("resource", value, _tensorflows(value))
