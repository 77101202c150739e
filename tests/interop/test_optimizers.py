"""Optimizers beside TensorFlow's: the same graph, and after some steps the same variables and slots."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tensorkeep.v1 as ours
from tests.interop.programs import Built, build, tensorflow_1, v1

OPTIMIZERS: dict[str, Callable[[Any, Any], Any]] = {
    "GradientDescent": lambda tf, step: tf.train.GradientDescentOptimizer(0.1),
    "Momentum": lambda tf, step: tf.train.MomentumOptimizer(0.1, 0.9),
    "Nesterov": lambda tf, step: tf.train.MomentumOptimizer(0.1, 0.9, use_nesterov=True),
    "Adagrad": lambda tf, step: tf.train.AdagradOptimizer(0.1),
    "AdagradDA": lambda tf, step: tf.train.AdagradDAOptimizer(0.1, step, l1_regularization_strength=0.01),
    "Adam": lambda tf, step: tf.train.AdamOptimizer(0.05),
    "RMSProp": lambda tf, step: tf.train.RMSPropOptimizer(0.05, momentum=0.5),
    "RMSProp centered": lambda tf, step: tf.train.RMSPropOptimizer(0.05, centered=True),
    "Adadelta": lambda tf, step: tf.train.AdadeltaOptimizer(1.0),
    "Ftrl": lambda tf, step: tf.train.FtrlOptimizer(0.1, l1_regularization_strength=0.01),
    "Ftrl with shrinkage": lambda tf, step: tf.train.FtrlOptimizer(
        0.1, l2_regularization_strength=0.01, l2_shrinkage_regularization_strength=0.02, beta=0.1
    ),
    "ProximalGradientDescent": lambda tf, step: tf.train.ProximalGradientDescentOptimizer(0.1, 0.01, 0.02),
    "ProximalAdagrad": lambda tf, step: tf.train.ProximalAdagradOptimizer(0.1, 0.1, 0.01, 0.02),
    "Adam by a schedule": lambda tf, step: tf.train.AdamOptimizer(tf.train.exponential_decay(0.1, step, 2, 0.9)),
}


def dense_model(tf: Any, make: Callable[[Any, Any], Any], use_resource: bool) -> list[Any]:
    x = tf.placeholder(tf.float32, [None, 3], name="x")
    y = tf.placeholder(tf.int64, [None], name="y")
    with tf.variable_scope("dense", use_resource=use_resource):
        w = tf.get_variable("w", [3, 4], initializer=tf.random_normal_initializer(stddev=0.5, seed=3))
        b = tf.get_variable("b", [4], initializer=tf.zeros_initializer())
    logits = tf.nn.relu(tf.matmul(x, w) + b)
    loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=logits))
    step = tf.train.get_or_create_global_step()
    train = make(tf, step).minimize(loss, global_step=step)
    return [train, loss, tf.global_variables_initializer()]


def embedding_model(tf: Any, make: Callable[[Any, Any], Any], use_resource: bool) -> list[Any]:
    ids = tf.placeholder(tf.int32, [None], name="x")
    y = tf.placeholder(tf.float32, [None], name="y")
    with tf.variable_scope("embedding", use_resource=use_resource):
        table = tf.get_variable("table", [7, 2], initializer=tf.random_normal_initializer(seed=3))
    rows = tf.nn.embedding_lookup(table, ids)
    loss = tf.reduce_sum(tf.square(tf.reduce_sum(rows, axis=1) - y))
    step = tf.train.get_or_create_global_step()
    train = make(tf, step).minimize(loss, global_step=step)
    return [train, loss, tf.global_variables_initializer()]


FEEDS: dict[str, list[dict[str, Any]]] = {
    "dense_model": [
        {"x:0": np.random.default_rng(i).normal(size=(5, 3)).astype(np.float32), "y:0": np.arange(5) % 4}
        for i in range(4)
    ],
    "embedding_model": [
        {"x:0": np.array([1, 4, 1, 6, i]), "y:0": np.linspace(-1, 1, 5).astype(np.float32)} for i in range(4)
    ],
}


@pytest.mark.parametrize("use_resource", [False, True], ids=["reference", "resource"])
@pytest.mark.parametrize("model", [dense_model, embedding_model])
@pytest.mark.parametrize("name", OPTIMIZERS)
def test_graph_and_training_equal_tensorflows(name: str, model: Callable[..., Any], use_resource: bool) -> None:
    built = build(lambda tf: model(tf, OPTIMIZERS[name], use_resource), ours, seed=11)
    for mine, other in trained(built, FEEDS[model.__name__]):
        np.testing.assert_allclose(mine, other, rtol=2e-5, atol=2e-6)


def trained(built: Built, feeds: list[dict[str, Any]]) -> list[tuple[Any, Any]]:
    """Losses and at last all variables, ours and theirs, after a step for each feed."""
    with building_ours(built) as session, tensorflow_1(), v1.Session(graph=built.their_graph) as theirs:
        session.run(built.result[2])
        theirs.run(built.their_result[2])
        pairs = []
        for feed in feeds:
            mine = session.run(built.result[:2], feed)
            pairs.append((mine[1], theirs.run(built.their_result[:2], feed)[1]))
        variables = built.graph.collections["variables"]
        with built.their_graph.as_default():
            others = v1.global_variables()
        assert [variable.name for variable in variables] == [variable.name for variable in others]
        pairs.extend(zip(session.run(variables), theirs.run(others), strict=True))
        return pairs


def building_ours(built: Built) -> Any:
    return ours.Session(graph=built.graph)
