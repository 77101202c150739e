"""Floating-point operations beside those that TensorFlow's profiler counts."""

from __future__ import annotations

from collections import Counter

import tensorflow as tensorflow
from tensorflow.python.framework import ops
from tensorflow.python.profiler.internal import flops_registry  # noqa: F401 - registers what is counted

from tensorkeep.inspect.costs import graph_cost
from tensorkeep.proto.messages import GraphDef

tf = tensorflow.compat.v1


def build() -> None:
    x = tf.placeholder(tf.float32, [2, 8, 8, 3])
    kernel = tf.placeholder(tf.float32, [3, 3, 3, 4])
    y = tf.nn.bias_add(tf.nn.conv2d(x, kernel, [1, 1, 1, 1], "SAME"), tf.placeholder(tf.float32, [4]))
    tf.nn.conv2d(x, kernel, [1, 2, 2, 1], "VALID")
    tf.nn.depthwise_conv2d(x, tf.placeholder(tf.float32, [3, 3, 3, 2]), [1, 1, 1, 1], "SAME")
    tf.nn.conv2d_transpose(y, kernel, [2, 16, 16, 3], [1, 2, 2, 1], "SAME")
    tf.nn.conv3d(
        tf.placeholder(tf.float32, [1, 4, 4, 4, 2]), tf.placeholder(tf.float32, [2, 2, 2, 2, 3]), [1] * 5, "SAME"
    )
    for pool in (tf.nn.max_pool, tf.nn.avg_pool):
        pool(y, [1, 2, 2, 1], [1, 2, 2, 1], "SAME")
    a, b = tf.placeholder(tf.float32, [5, 7]), tf.placeholder(tf.float32, [7, 3])
    product = tf.matmul(a, b)
    tf.matmul(a, tf.placeholder(tf.float32, [5, 3]), transpose_a=True)
    for op in (tf.add, tf.subtract, tf.multiply, tf.divide, tf.maximum, tf.minimum, tf.pow, tf.less, tf.equal):
        op(product, tf.placeholder(tf.float32, [3]))
    for op in (tf.square, tf.math.rsqrt, tf.math.log, tf.negative, tf.math.reciprocal, tf.nn.softmax, tf.nn.l2_loss):
        op(product)
    tf.math.squared_difference(product, product)
    tf.reduce_sum(product, axis=1)
    tf.reduce_mean(product, axis=0)
    tf.argmax(product, 1)
    tf.add_n([product] * 3)


def test_the_numbers_are_those_of_the_profiler() -> None:
    with tf.Graph().as_default() as graph:
        build()
        theirs: Counter[str] = Counter()
        for op in graph.get_operations():
            counted = ops.get_stats_for_node_def(graph, op.node_def, "flops").value
            if counted:
                theirs[op.type] += int(counted)
    ours = graph_cost(GraphDef.FromString(graph.as_graph_def().SerializeToString()))
    assert len(theirs) > 20
    assert dict(ours.by_op) == dict(theirs)
    assert ours.unknown == {}
