"""Programs that build a model, the same text for TensorFlow 1 and for us.

Each gives the names of the nodes to freeze it for, and values to feed. Variables begin with the same values in both.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

Model = tuple[list[str], dict[str, Any]]

FEATURES = np.linspace(-1, 1, 12, dtype=np.float32).reshape(3, 4)


def values(*shape: int) -> Any:
    count = int(np.prod(shape))
    return (np.arange(count, dtype=np.float32).reshape(shape) - count / 3) / 10


def _variable(tf: Any, name: str, shape: tuple[int, ...], **options: Any) -> Any:
    return tf.get_variable(name, initializer=tf.constant(values(*shape)), **options)


def _perceptron(tf: Any, use_resource: bool) -> Model:
    x = tf.placeholder(tf.float32, [None, 4], name="x")
    with tf.variable_scope("layer", use_resource=use_resource), tf.device("/cpu:0"):
        kernel, bias = _variable(tf, "kernel", (4, 5)), _variable(tf, "bias", (5,))
        scale = _variable(tf, "scale", ())
        one = _variable(tf, "one", (1,))
        hidden = tf.nn.relu(tf.matmul(x, kernel) + bias)
    with tf.control_dependencies([hidden]):
        tf.identity(hidden * scale + one, name="output")
    unused = tf.get_variable("unused", shape=[2], use_resource=use_resource)
    tf.identity(unused, name="unused_output")
    return ["output"], {"x:0": FEATURES}


def perceptron(tf: Any) -> Model:
    return _perceptron(tf, False)


def perceptron_of_resources(tf: Any) -> Model:
    return _perceptron(tf, True)


def types(tf: Any) -> Model:
    made = [tf.placeholder(tf.float32, [2], name="x")]
    for name in ("float16", "float64", "int8", "uint8", "int16", "uint16", "int32", "int64", "bool", "complex64"):
        for shape in ((), (1,), (2, 3), (0, 2)):
            value = np.arange(int(np.prod(shape))).reshape(shape).astype(name)
            label = f"{name}_{'x'.join(map(str, shape)) or 'scalar'}"
            variable = tf.get_variable(label, initializer=tf.constant(value), use_resource=len(shape) == 2)
            made.append(tf.identity(variable, name=f"{label}_out"))
    words = tf.get_variable("words", initializer=tf.constant([["a", "bc"], ["", "\x00d"]]), use_resource=False)
    made.append(tf.identity(words, name="words_out"))
    return [tensor.op.name for tensor in made], {"x:0": [1.0, 2.0]}


def convolutions(tf: Any) -> Model:
    x = tf.placeholder(tf.float32, [None, 6, 6, 1], name="x")
    kernel = _variable(tf, "kernel", (3, 3, 1, 2))
    mean, variance = _variable(tf, "mean", (2,)), tf.get_variable("variance", initializer=tf.constant([1.0, 2.0]))
    convolved = tf.nn.conv2d(x, kernel, strides=[1, 1, 1, 1], padding="SAME")
    normal = tf.nn.batch_normalization(convolved, mean, variance, None, None, 1e-3)
    tf.nn.max_pool(normal, [1, 2, 2, 1], [1, 2, 2, 1], "VALID", name="output")
    return ["output"], {"x:0": np.linspace(0, 1, 72, dtype=np.float32).reshape(2, 6, 6, 1)}


def _embeddings(tf: Any, use_resource: bool) -> Model:
    ids = tf.placeholder(tf.int32, [None], name="ids")
    with tf.variable_scope("embeddings", use_resource=use_resource):
        table = _variable(tf, "table", (6, 3))
        other = _variable(tf, "other", (4, 2))
    found = tf.nn.embedding_lookup(table, ids)
    tf.identity(found, name="output")
    tf.gather_nd(other, tf.constant([[0, 1], [3, 0]]), name="picked")
    tf.gather(other, tf.constant([1, 1], tf.int64), name="rows")
    return ["output", "picked", "rows"], {"ids:0": [5, 0, 2]}


def embeddings(tf: Any) -> Model:
    return _embeddings(tf, False)


def embeddings_of_resources(tf: Any) -> Model:
    return _embeddings(tf, True)


def _partitioned(tf: Any, use_resource: bool) -> Model:
    x = tf.placeholder(tf.float32, [None, 5], name="x")
    ids = tf.constant([0, 4, 3])
    with tf.variable_scope("wide", partitioner=tf.fixed_size_partitioner(3), use_resource=use_resource):
        kernel = tf.get_variable("kernel", [5, 2], initializer=tf.ones_initializer())
        table = tf.get_variable("table", [7, 2], initializer=tf.zeros_initializer())
    tf.matmul(x, kernel, name="output")
    tf.identity(tf.nn.embedding_lookup(table, ids), name="rows")
    return ["output", "rows"], {"x:0": np.ones((2, 5), np.float32)}


def partitioned(tf: Any) -> Model:
    return _partitioned(tf, False)


def partitioned_resources(tf: Any) -> Model:
    return _partitioned(tf, True)


def _flow(tf: Any, use_resource: bool) -> Model:
    x = tf.placeholder(tf.float32, [2], name="x")
    with tf.variable_scope("flow", use_resource=use_resource):
        step, grown = _variable(tf, "step", (2,)), _variable(tf, "grown", (2,))
        turned = _variable(tf, "turned", (2, 2))
    chosen = tf.cond(tf.reduce_sum(x) > 0, lambda: x + step, lambda: tf.matmul([x], turned)[0])

    def body(i: Any, total: Any, carried: Any) -> Any:
        return i + 1, total + step * carried, carried

    _, total, _ = tf.while_loop(lambda i, *_: i < 3, body, [tf.constant(0), chosen, grown + 0.0])
    tf.identity(total, name="output")
    return ["output"], {"x:0": [1.0, 2.0]}


def branches_and_loops(tf: Any) -> Model:
    return _flow(tf, False)


def branches_and_loops_of_resources(tf: Any) -> Model:
    return _flow(tf, True)


PROGRAMS: dict[str, Callable[[Any], Model]] = {
    program.__name__: program
    for program in (
        perceptron,
        perceptron_of_resources,
        types,
        convolutions,
        embeddings,
        embeddings_of_resources,
        partitioned,
        partitioned_resources,
        branches_and_loops,
        branches_and_loops_of_resources,
    )
}
