"""Sparse tensors beside TensorFlow's: the same nodes, gradients among them, and the same numbers."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from tensorkeep.tf1.functions.gradients import reverse_walk
from tensorkeep.tf1.functions.numbers import elementwise, reductions
from tensorkeep.tf1.functions.sparse import tensors
from tests.interop.programs import build, our_names

OURS = our_names(
    tensors,
    gradients=reverse_walk.gradients,
    reduce_sum=reductions.reduce_sum,
    square=elementwise.square,
    sparse=SimpleNamespace(
        cross=tensors.sparse_cross,
        cross_hashed=tensors.sparse_cross_hashed,
        eye=tensors.sparse_eye,
        expand_dims=tensors.sparse_expand_dims,
        from_dense=tensors.from_dense,
        matmul=tensors.sparse_tensor_dense_matmul,
        to_dense=tensors.sparse_tensor_to_dense,
    ),
)
Program = Callable[[Any], Any]

INDICES = [[0, 0], [0, 2], [1, 1], [2, 3]]
VALUES = [1.0, 2.0, -3.0, 4.0]


def _matrix(tf: Any) -> Any:
    return tf.SparseTensor(INDICES, VALUES, [3, 4])


def _other(tf: Any) -> Any:
    return tf.SparseTensor([[0, 0], [1, 0], [2, 3]], [5.0, 6.0, -4.0], [3, 4])


def _open(tf: Any, name: str = "open") -> Any:
    """A sparse tensor of which nothing is known but its rank."""
    return tf.sparse_placeholder(tf.float32, [None, None], name)


def _value(tf: Any) -> Any:
    return tf.SparseTensorValue(np.array(INDICES, np.int64), np.array(VALUES, np.float32), np.array([3, 4], np.int64))


PROGRAMS: dict[str, Program] = {
    "a sparse tensor": lambda tf: [
        _matrix(tf),
        tf.SparseTensor.from_value(_value(tf)),
        _matrix(tf).with_values(VALUES),
    ],
    "to dense": lambda tf: [
        tf.sparse_tensor_to_dense(_matrix(tf)),
        tf.sparse_tensor_to_dense(_value(tf), default_value=7.0, name="dense"),
        tf.sparse.to_dense(_matrix(tf), validate_indices=False),
        tf.sparse_to_dense([1, 3], [5], [2.0, 4.0]),
        tf.sparse_to_dense(INDICES, [3, 4], 1.0, default_value=-1.0, name="s"),
    ],
    "from dense": lambda tf: tf.sparse.from_dense(np.array([[0.0, 1.0], [2.0, 0.0]], np.float32)),
    "eye": lambda tf: [tf.sparse.eye(3), tf.sparse.eye(2, 3, dtype=tf.int32, name="e")],
    "products": lambda tf: [
        tf.sparse_tensor_dense_matmul(_matrix(tf), np.ones((4, 2), np.float32)),
        tf.sparse_tensor_dense_matmul(_matrix(tf), np.ones((3, 2), np.float32), adjoint_a=True, name="p"),
        tf.sparse.matmul(np.ones((2, 3), np.float32), _matrix(tf)),
    ],
    "sums": lambda tf: [
        tf.sparse_add(_matrix(tf), _other(tf)),
        tf.sparse_add(_matrix(tf), _other(tf), threshold=1.0),
        tf.sparse_add(_matrix(tf), np.ones((3, 4), np.float32)),
        tf.sparse_add(np.ones((3, 4), np.float32), _matrix(tf)),
    ],
    "larger and smaller": lambda tf: [
        tf.sparse_maximum(_matrix(tf), _other(tf)),
        tf.sparse_minimum(_matrix(tf), _other(tf), name="m"),
    ],
    "operators": lambda tf: [_matrix(tf) * np.full((4,), 2.0, np.float32), _matrix(tf) / [[2.0], [4.0], [5.0]]],
    "orders": lambda tf: [
        tf.sparse_reorder(tf.SparseTensor(INDICES[::-1], VALUES, [3, 4])),
        tf.sparse_transpose(_matrix(tf)),
        tf.sparse_transpose(_matrix(tf), [1, 0], name="t"),
        tf.sparse_reshape(_matrix(tf), [4, 3]),
        tf.sparse_reshape(_matrix(tf), [2, -1], name="r"),
        tf.sparse.expand_dims(_matrix(tf), 1),
        tf.sparse.expand_dims(_matrix(tf)),
        tf.sparse_reset_shape(_matrix(tf)),
        tf.sparse_reset_shape(_matrix(tf), [5, 5]),
    ],
    "joins": lambda tf: [
        tf.sparse_concat(1, [_matrix(tf), _other(tf)]),
        tf.sparse_concat(0, [_matrix(tf), tf.SparseTensor([[0, 4]], [9.0], [1, 5])], expand_nonconcat_dim=True),
        tf.sparse_concat(axis=0, sp_inputs=[_matrix(tf)]),
    ],
    "parts": lambda tf: [
        *tf.sparse_split(sp_input=_matrix(tf), num_split=2, axis=1),
        tf.sparse_slice(_matrix(tf), [0, 1], [2, 2]),
        tf.sparse_retain(_matrix(tf), [True, False, True, True]),
        *tf.sparse_fill_empty_rows(tf.SparseTensor(INDICES[:2], VALUES[:2], [4, 4]), 0.5),
    ],
    "reductions": lambda tf: [
        tf.sparse_reduce_sum(_matrix(tf)),
        tf.sparse_reduce_sum(_matrix(tf), axis=1, keepdims=True),
        tf.sparse_reduce_sum(_matrix(tf), reduction_axes=[0]),
        tf.sparse_reduce_max(_matrix(tf), 1),
        tf.sparse_reduce_sum_sparse(_matrix(tf), 0),
        tf.sparse_reduce_max_sparse(_matrix(tf), [1], keep_dims=True),
    ],
    "softmax": lambda tf: tf.sparse_softmax(_matrix(tf)),
    "crosses": lambda tf: [
        tf.sparse.cross_hashed([tf.SparseTensor(INDICES, [3, 1, 0, 2], [3, 4]), tf.constant([["a"], ["b"], ["c"]])]),
        tf.sparse.cross_hashed([tf.SparseTensor(INDICES, ["a", "b", "c", "d"], [3, 4])], 7, hash_key=5, name="h"),
    ],
    "merged": lambda tf: [
        tf.sparse_merge(tf.SparseTensor(INDICES, [3, 1, 0, 2], [3, 4]), _matrix(tf), 5),
        tf.sparse_to_indicator(tf.SparseTensor(INDICES, [3, 1, 0, 2], [3, 4]), 5),
    ],
}

OPEN: dict[str, Program] = {
    "to dense": lambda tf: tf.sparse_tensor_to_dense(_open(tf)),
    "reorder": lambda tf: tf.sparse_reorder(_open(tf)),
    "reshape": lambda tf: tf.sparse_reshape(_open(tf), [-1]),
    "transpose": lambda tf: tf.sparse_transpose(_open(tf)),
    "concat": lambda tf: tf.sparse_concat(0, [_open(tf), _matrix(tf)]),
    "reduce": lambda tf: tf.sparse_reduce_sum(_open(tf)),
    "expand": lambda tf: tf.sparse.expand_dims(_open(tf), -2),
    "add": lambda tf: tf.sparse_add(_open(tf), _matrix(tf)),
    "fill": lambda tf: tf.sparse_fill_empty_rows(_open(tf), 1.0)[0],
    "reset": lambda tf: tf.sparse_reset_shape(_open(tf)),
}


def _same(ours: Any, theirs: Any) -> None:
    if isinstance(ours, list | tuple):
        assert len(ours) == len(theirs)
        for mine, other in zip(ours, theirs, strict=True):
            _same(mine, other)
        return
    assert np.asarray(ours).dtype == np.asarray(theirs).dtype
    np.testing.assert_allclose(ours, theirs, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("name", sorted(PROGRAMS))
def test_functions_are_tensorflows(name: str) -> None:
    _same(*build(PROGRAMS[name], OURS).run()[0])


@pytest.mark.parametrize("name", sorted(OPEN))
def test_functions_of_unknown_shapes_are_tensorflows(name: str) -> None:
    feeds = {"open/indices:0": INDICES, "open/values:0": VALUES, "open/shape:0": [3, 4]}
    _same(*build(OPEN[name], OURS).run(feeds=feeds)[0])


GRADIENTS: dict[str, Program] = {
    "to dense": lambda tf: _gradients(tf, lambda values: tf.sparse_tensor_to_dense(_with(tf, values))),
    "product": lambda tf: _product_gradients(tf, False, False),
    "product, first turned": lambda tf: _product_gradients(tf, True, False),
    "product, second turned": lambda tf: _product_gradients(tf, False, True),
    "product, both turned": lambda tf: _product_gradients(tf, True, True),
    "sum": lambda tf: _gradients(tf, lambda values: tf.sparse_add(_with(tf, values), _other(tf)).values),
    "sum with dense": lambda tf: _gradients(
        tf, lambda values: tf.sparse_add(_with(tf, values), np.ones((3, 4), np.float32))
    ),
    "multiplied": lambda tf: _gradients(tf, lambda values: (_with(tf, values) * [1.0, 2.0, 3.0, 4.0]).values),
    "divided": lambda tf: _gradients(tf, lambda values: (_with(tf, values) / [1.0, 2.0, 3.0, 4.0]).values),
    "reduced": lambda tf: _gradients(tf, lambda values: tf.sparse_reduce_sum(_with(tf, values), 1)),
    "reordered": lambda tf: _gradients(tf, lambda values: tf.sparse_transpose(_with(tf, values)).values),
    "sliced": lambda tf: _gradients(tf, lambda values: tf.sparse_slice(_with(tf, values), [0, 1], [2, 2]).values),
    "softmax": lambda tf: _gradients(tf, lambda values: tf.sparse_softmax(_with(tf, values)).values),
    "filled": lambda tf: _gradients(tf, lambda values: tf.sparse_fill_empty_rows(_with(tf, values), 1.0)[0].values),
}


def _with(tf: Any, values: Any) -> Any:
    return tf.SparseTensor(INDICES, values, [3, 4])


def _gradients(tf: Any, function: Callable[[Any], Any]) -> Any:
    values = tf.constant(VALUES)
    return tf.gradients(tf.square(function(values)), values)


def _product_gradients(tf: Any, adjoint_a: bool, adjoint_b: bool) -> Any:
    values = tf.constant(VALUES)
    size = 3 if adjoint_a else 4
    b = tf.constant(np.arange(2 * size, dtype=np.float32).reshape((2, size) if adjoint_b else (size, 2)))
    product = tf.sparse_tensor_dense_matmul(_with(tf, values), b, adjoint_a=adjoint_a, adjoint_b=adjoint_b)
    return tf.gradients(tf.square(product), [values, b])


@pytest.mark.parametrize("name", sorted(GRADIENTS))
def test_gradients_are_tensorflows_nodes(name: str) -> None:
    _same(*build(GRADIENTS[name], OURS).run()[0])
