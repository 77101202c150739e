"""An empty name: functions that have a scope then leave all scopes, as in TensorFlow; ops have their own names."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
import tensorflow

import tensorkeep.v1 as ours
from tests.interop.programs import tensorflow_1

theirs = tensorflow.compat.v1

CALLS: dict[str, Callable[[Any], Any]] = {
    "while_loop": lambda tf: tf.while_loop(lambda i: i < 3, lambda i: i + 1, [tf.constant(0)], name=""),
    "cond": lambda tf: tf.cond(tf.constant(True), lambda: tf.constant(1), lambda: tf.constant(2), name=""),
    "case": lambda tf: tf.case([(tf.constant(True), lambda: tf.constant(1))], lambda: tf.constant(2), name=""),
    "Assert": lambda tf: tf.Assert(tf.placeholder(tf.bool, []), ["wrong"], name=""),
    "group": lambda tf: tf.group(tf.no_op("a"), tf.no_op("b"), name=""),
    "tuple": lambda tf: tf.tuple([tf.constant(1), tf.constant(2)], name=""),
    "gradients": lambda tf: _gradient(tf),
    "clip_by_value": lambda tf: tf.clip_by_value(tf.constant([1.0]), 0.0, 2.0, name=""),
    "clip_by_norm": lambda tf: tf.clip_by_norm(tf.constant([1.0]), 2.0, name=""),
    "random_uniform": lambda tf: tf.random_uniform([2], name=""),
    "random_normal": lambda tf: tf.random_normal([2], name=""),
    "truncated_normal": lambda tf: tf.truncated_normal([2], name=""),
    "random_gamma": lambda tf: tf.random_gamma([2], 1.0, name=""),
    "multinomial": lambda tf: tf.multinomial([[0.5, 0.5]], 2, name=""),
    "assert_equal": lambda tf: tf.assert_equal(tf.placeholder(tf.int32), 2, name=""),
    "assert_less": lambda tf: tf.assert_less(tf.placeholder(tf.int32), 2, name=""),
    "assert_rank": lambda tf: tf.assert_rank(tf.placeholder(tf.int32), 2, name=""),
    "assert_positive": lambda tf: tf.assert_positive(tf.placeholder(tf.int32), name=""),
    "map_fn": lambda tf: tf.map_fn(lambda x: x + 1, tf.constant([1, 2]), name=""),
    "foldl": lambda tf: tf.foldl(lambda a, x: a + x, tf.constant([1, 2]), name=""),
    "TensorArray": lambda tf: tf.TensorArray(tf.float32, 2, name="").write(0, 1.0, name="").stack(name=""),
    "exponential_decay": lambda tf: tf.train.exponential_decay(0.1, tf.constant(3), 2, 0.5, name=""),
    "piecewise_constant": lambda tf: tf.train.piecewise_constant(tf.constant(3), [2], [0.1, 0.2], name=""),
    "matmul": lambda tf: tf.matmul(tf.zeros([2, 2]), tf.zeros([2, 2]), name=""),
    "eye": lambda tf: tf.eye(2, name=""),
    "zeros": lambda tf: tf.zeros([2], name=""),
    "one_hot": lambda tf: tf.one_hot([1], 2, name=""),
    "reduce_mean": lambda tf: tf.reduce_mean(tf.zeros([2]), name=""),
    "sort": lambda tf: tf.sort(tf.constant([1.0]), name=""),
    "string_split": lambda tf: tf.string_split(["a b"]),
    "verify_tensor_all_finite": lambda tf: tf.verify_tensor_all_finite(tf.constant([1.0]), "wrong", name=""),
    "dropout": lambda tf: tf.nn.dropout(tf.ones([2]), 0.5, name=""),
    "moments": lambda tf: tf.nn.moments(tf.ones([2, 2]), [0], name=""),
    "l2_normalize": lambda tf: tf.nn.l2_normalize(tf.ones([2, 2]), 0, name=""),
    "summary.merge": lambda tf: tf.summary.merge([tf.summary.scalar("s", 1.0)], name=""),
    "hann_window": lambda tf: tf.signal.hann_window(4, name=""),
    "table": lambda tf: _table(tf),
    "batch": lambda tf: tf.train.batch([tf.constant(1)], 2, name=""),
    "Saver": lambda tf: _saver(tf),
}


@pytest.fixture(autouse=True)
def first_version() -> Iterator[None]:
    with tensorflow_1():
        yield


def _gradient(tf: Any) -> Any:
    x = tf.constant(1.0)
    return tf.gradients(x * x, x, name="")


def _table(tf: Any) -> Any:
    table = tf.lookup.experimental.DenseHashTable(tf.int64, tf.int64, -1, 0, -2, name="t")
    return table.size(name=""), table.lookup(tf.constant([1], tf.int64), name="")


def _saver(tf: Any) -> Any:
    tf.get_variable("v", [2])
    return tf.train.Saver(name="")


def names(tf: Any, call: Callable[[Any], Any]) -> list[str]:
    with tf.Graph().as_default() as graph, tf.name_scope("around"):
        call(tf)
    return sorted(op.name for op in graph.get_operations())


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_an_empty_name_names_nodes_as_in_tensorflow(call: Callable[[Any], Any]) -> None:
    assert names(ours, call) == names(theirs, call)
