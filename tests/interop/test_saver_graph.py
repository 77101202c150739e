"""The operations that a saver adds, beside TensorFlow's: same nodes, same order, same SaverDef."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import tensorflow as tf

import tensorkeep.v1 as tk
from tests.interop.graph_comparison import assert_same_nodes, our_nodes, their_nodes
from tests.interop.programs import tensorflow_1

Program = Callable[[Any], Any]
theirs = tf.compat.v1


def two_variables(tf: Any) -> Any:
    tf.Variable([1.0, 2.0], name="b")
    tf.Variable(3, name="a")
    return tf.train.Saver()


def resource_variables(tf: Any) -> Any:
    tf.get_variable("w", [2, 3], use_resource=True)
    tf.get_variable("v", [3], use_resource=True)
    return tf.train.Saver()


def both_kinds(tf: Any) -> Any:
    tf.get_variable("w", [2, 3], use_resource=True)
    tf.get_variable("v", [3], use_resource=False)
    return tf.train.Saver(max_to_keep=None, keep_checkpoint_every_n_hours=0.5, name="both")


def by_dict(tf: Any) -> Any:
    a = tf.get_variable("w", [2, 3], use_resource=True)
    b = tf.get_variable("v", [3])
    return tf.train.Saver({"zz": a, "other": b})


def by_tensors(tf: Any) -> Any:
    a = tf.get_variable("w", [2, 3], use_resource=True)
    b = tf.get_variable("v", [3])
    return tf.train.Saver([a.value() if False else b, a])


def nested_list(tf: Any) -> Any:
    a, b, c = (tf.get_variable(name, [2]) for name in "cab")
    return tf.train.Saver([[a], (b, [c])])


def reshaped(tf: Any) -> Any:
    tf.get_variable("w", [2, 3], use_resource=True)
    tf.get_variable("v", [3])
    return tf.train.Saver(reshape=True, filename="start")


def one_by_one(tf: Any) -> Any:
    tf.Variable([1.0], name="a")
    with tf.device("/job:ps/task:1"):
        tf.Variable([1.0], name="b")
    module = "tensorkeep.tf1.training.savers.saver_graph" if tf is tk else "tensorflow.python.training.saver"
    builder = __import__(module, fromlist=["BaseSaverBuilder"]).BaseSaverBuilder()
    return tf.train.Saver(builder=builder)


def partitioned(tf: Any) -> Any:
    tf.get_variable("emb/w", [7, 3], partitioner=tf.fixed_size_partitioner(3))
    tf.get_variable("b", [3])
    return tf.train.Saver()


def partitioned_resource(tf: Any) -> Any:
    tf.get_variable("emb/w", [7, 3], partitioner=tf.fixed_size_partitioner(3), use_resource=True)
    return tf.train.Saver()


def partitioned_by_dict(tf: Any) -> Any:
    w = tf.get_variable("emb/w", [7, 3], partitioner=tf.fixed_size_partitioner(3))
    v = tf.get_variable("emb/v", [4], partitioner=tf.fixed_size_partitioner(2))
    return tf.train.Saver({"whole": w, "parts": list(v)})


def partitioned_in_a_list(tf: Any) -> Any:
    w = tf.get_variable("emb/w", [7, 3], partitioner=tf.fixed_size_partitioner(3))
    return tf.train.Saver([w])


def sharded(tf: Any) -> Any:
    for i in range(3):
        with tf.device(f"/cpu:{2 - i}"):
            tf.get_variable(f"v{i}", [2], use_resource=i == 1)
    tf.get_variable("nowhere", [])
    return tf.train.Saver(sharded=True)


def sharded_over_tasks(tf: Any) -> Any:
    for i in range(4):
        with tf.device(f"/job:ps/replica:0/task:{i % 2}/device:GPU:1"):
            tf.get_variable(f"v{i}", [2])
    return tf.train.Saver(sharded=True)


def parameter_servers(tf: Any) -> Any:
    cluster = tf.train.ClusterSpec({"ps": ["a:1", "b:2"], "worker": ["c:3"]})
    with tf.device(tf.train.replica_device_setter(cluster=cluster, worker_device="/job:worker/task:0/cpu:0")):
        x = tf.placeholder(tf.float32, [None, 3])
        w = tf.get_variable("w", [3, 2])
        b = tf.get_variable("b", [2], use_resource=True)
        with tf.device("/job:ps/task:7"):
            tf.get_variable("here", [])
        loss = tf.reduce_sum(tf.matmul(x, w) + b)
        tf.train.AdamOptimizer().minimize(loss, global_step=tf.train.get_or_create_global_step())
        return tf.train.Saver(sharded=True)


def sharded_in_one_place(tf: Any) -> Any:
    tf.get_variable("a", [2])
    tf.get_variable("b", [2])
    return tf.train.Saver(sharded=True)


def old_format(tf: Any) -> Any:
    tf.get_variable("a", [2])
    tf.get_variable("b", [2], use_resource=True)
    return tf.train.Saver(write_version=tf.train.SaverDef.V1)


def old_format_sharded(tf: Any) -> Any:
    for i in range(3):
        with tf.device(f"/cpu:{i}"):
            tf.get_variable(f"v{i}", [2, 2])
    return tf.train.Saver(write_version=tf.train.SaverDef.V1, sharded=True, max_to_keep=2)


def several_savers(tf: Any) -> Any:
    a = tf.get_variable("a", [2])
    b = tf.get_variable("b", [2])
    tf.train.Saver([a])
    tf.train.Saver({"x": b}, name="other")
    return tf.train.Saver()


def in_a_scope(tf: Any) -> Any:
    a = tf.get_variable("a", [2])
    with tf.name_scope("here"):
        return tf.train.Saver([a])


def deferred(tf: Any) -> Any:
    saver = tf.train.Saver(defer_build=True)
    tf.get_variable("a", [2])
    saver.build()
    saver.build()
    return saver


def empty(tf: Any) -> Any:
    return tf.train.Saver(allow_empty=True)


def unknown_shape(tf: Any) -> Any:
    tf.Variable(tf.placeholder(tf.float32), validate_shape=False, name="any")
    return tf.train.Saver()


def mutable_table(tf: Any) -> Any:
    tf.get_variable("a", [2])
    tf.lookup.experimental.MutableHashTable(tf.string, tf.int64, -1, name="words")
    return tf.train.Saver()


def optimizer(tf: Any) -> Any:
    x = tf.placeholder(tf.float32, [None, 3])
    w = tf.get_variable("w", [3, 2], initializer=tf.zeros_initializer())
    loss = tf.reduce_sum(tf.matmul(x, w))
    tf.train.AdamOptimizer().minimize(loss, global_step=tf.train.get_or_create_global_step())
    return tf.train.Saver()


def in_a_cond(tf: Any) -> Any:
    tf.get_variable("local", [2], collections=[tf.GraphKeys.LOCAL_VARIABLES])
    tf.get_variable("a", [2], collections=[tf.GraphKeys.GLOBAL_VARIABLES, tf.GraphKeys.LOCAL_VARIABLES])
    return tf.train.Saver()


PROGRAMS = [
    two_variables,
    resource_variables,
    both_kinds,
    by_dict,
    by_tensors,
    nested_list,
    reshaped,
    one_by_one,
    partitioned,
    partitioned_resource,
    partitioned_by_dict,
    partitioned_in_a_list,
    sharded,
    sharded_over_tasks,
    parameter_servers,
    sharded_in_one_place,
    old_format,
    old_format_sharded,
    several_savers,
    in_a_scope,
    deferred,
    empty,
    unknown_shape,
    mutable_table,
    optimizer,
    in_a_cond,
]


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_savers_are_built_as_in_tensorflow(program: Program) -> None:
    with tk.Graph().as_default() as graph:
        ours = program(tk)
    with tensorflow_1(), theirs.Graph().as_default() as their_graph:
        saver = program(theirs)
    found, expected = our_nodes(graph), their_nodes(their_graph)
    assert_same_nodes(found, expected)
    assert list(found) == list(expected)
    assert str(ours.saver_def) == str(saver.saver_def)
