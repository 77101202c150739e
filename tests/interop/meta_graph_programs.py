"""Programs whose meta graphs cross over between TensorFlow and us.

Each builds a model with a placeholder in the collection "input", a loss in "loss", an operation that trains in "step",
and gives its variables their first values by an operation named `init`. What to feed is `FEED`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np
from google.protobuf import any_pb2, wrappers_pb2

FEED: Final = np.linspace(-1, 1, 12, dtype=np.float32).reshape(3, 4)
_WEIGHTS: Final = np.sin(np.arange(64, dtype=np.float32)).reshape(16, 4)


def _input(tf: Any) -> Any:
    x = tf.placeholder(tf.float32, [None, 4], name="x")
    tf.add_to_collection("input", x)
    return x


def _weights(tf: Any, name: str, shape: list[int], **options: Any) -> Any:
    values = np.resize(_WEIGHTS, shape)
    return tf.get_variable(name, initializer=tf.constant(values), **options)


def _finish(tf: Any, loss: Any, optimizer: Any, **options: Any) -> None:
    step = tf.train.get_or_create_global_step()
    tf.add_to_collection("loss", tf.identity(loss, name="loss"))
    tf.add_to_collection("step", optimizer.minimize(loss, global_step=step, **options))
    tf.global_variables_initializer()


def _mlp(tf: Any) -> Any:
    x = _input(tf)
    with tf.variable_scope("hidden"):
        hidden = tf.nn.relu(tf.matmul(x, _weights(tf, "w", [4, 5])) + _weights(tf, "b", [5]))
    with tf.variable_scope("out"):
        return tf.matmul(hidden, _weights(tf, "w", [5, 2]))


def mlp_with_adam(tf: Any) -> None:
    _finish(tf, tf.reduce_mean(tf.square(_mlp(tf) - 1.0)), tf.train.AdamOptimizer(0.05))


def mlp_with_adam_of_resource_variables(tf: Any) -> None:
    with tf.variable_scope("model", use_resource=True):
        result = _mlp(tf)
    _finish(tf, tf.reduce_mean(tf.square(result - 1.0)), tf.train.AdamOptimizer(0.05))


def convolution(tf: Any) -> None:
    image = tf.reshape(_input(tf), [-1, 2, 2, 1])
    kernel = _weights(tf, "kernel", [2, 2, 1, 3])
    features = tf.nn.relu(tf.nn.conv2d(image, kernel, [1, 1, 1, 1], "SAME"))
    pooled = tf.nn.max_pool(features, [1, 2, 2, 1], [1, 2, 2, 1], "VALID")
    logits = tf.matmul(tf.reshape(pooled, [-1, 3]), _weights(tf, "dense", [3, 2]))
    loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=[0, 1, 0], logits=logits))
    _finish(tf, loss, tf.train.AdagradOptimizer(0.1))


def partitioned(tf: Any) -> None:
    with tf.variable_scope("parts", partitioner=tf.fixed_size_partitioner(2)):
        table = tf.get_variable("table", [4, 3], initializer=tf.ones_initializer())
    loss = tf.reduce_mean(tf.square(tf.matmul(_input(tf), table) - 1.0))
    _finish(tf, loss, tf.train.MomentumOptimizer(0.05, 0.9))


def branches_and_loops(tf: Any) -> None:
    """Gradients go through them; and again through those of the imported graph, whose contexts must be known."""
    x = _input(tf)
    w = _weights(tf, "w", [4, 4])

    def body(i: Any, h: Any) -> Any:
        inner = tf.cond(tf.less(i, 2), lambda: tf.matmul(h, w), lambda: h * 0.5)
        return i + 1, tf.tanh(inner)

    _, h = tf.while_loop(lambda i, h: i < 4, body, [tf.constant(0), x], name="loop")
    h = tf.cond(tf.reduce_sum(h) > 0.0, lambda: h * w[0], lambda: h - w[1], name="choice")
    _finish(tf, tf.reduce_mean(tf.square(h)), tf.train.GradientDescentOptimizer(0.1))


def collections_of_all_kinds(tf: Any) -> None:
    mlp_with_adam(tf)
    packed = any_pb2.Any()
    packed.Pack(wrappers_pb2.StringValue(value="in a message"))
    graph = tf.get_default_graph()
    for key, items in {
        "ints": [1, -5, 1 << 40],
        "floats": [0.5, 1e-3],
        "texts": ["hello", b"you", "äöü"],
        "messages": [packed],
        "tensors": [graph.get_tensor_by_name("loss:0"), graph.get_tensor_by_name("x:0")],
        "operations": [graph.get_operation_by_name("init")],
        "my_variables": tf.global_variables()[:2],
        "mixed": [1, "a"],
        "nothing": [None],
    }.items():
        for item in items:
            tf.add_to_collection(key, item)


def devices_and_scopes(tf: Any) -> None:
    with tf.device("/job:worker/task:1"), tf.name_scope("outer"):
        with tf.device("/cpu:0"):
            v = tf.Variable(np.float32(2), name="v")
        with tf.name_scope("inner"):
            y = tf.reduce_mean(tf.square(_input(tf) * v), name="y")
    with tf.control_dependencies([y]):
        z = tf.identity(y, name="z")
    _finish(tf, z, tf.train.RMSPropOptimizer(0.01))


PROGRAMS: Final[dict[str, Callable[[Any], None]]] = {
    program.__name__: program
    for program in (
        mlp_with_adam,
        mlp_with_adam_of_resource_variables,
        convolution,
        partitioned,
        branches_and_loops,
        collections_of_all_kinds,
        devices_and_scopes,
    )
}
TRAINABLE_HERE: Final = [name for name in PROGRAMS if name != "devices_and_scopes"]  # which asks for other machines
