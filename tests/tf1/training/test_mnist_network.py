"""The network of the first tutorial: its variables and names, its loss, a step of training, how many are right."""

from __future__ import annotations

import numpy as np

import tensorkeep.v1 as tf
from tensorkeep.tf1.training import mnist_network


def test_the_network_has_the_variables_and_names_of_the_tutorial() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        images = tf.placeholder(tf.float32, [4, mnist_network.IMAGE_PIXELS])
        logits = mnist_network.inference(images, 6, 5)
        loss = mnist_network.loss(logits, tf.constant([0, 1, 2, 3]))
        step = mnist_network.training(loss, 0.1)
        assert {item.op.name: item.shape.as_list() for item in tf.global_variables()} == {
            "hidden1/weights": [784, 6], "hidden1/biases": [6], "hidden2/weights": [6, 5], "hidden2/biases": [5],
            "softmax_linear/weights": [5, 10], "softmax_linear/biases": [10], "global_step": [],
        }  # fmt: skip
        assert logits.op.name == "softmax_linear/add"
        assert [item.op.name for item in tf.get_collection(tf.GraphKeys.SUMMARIES)] == ["loss"]
        assert [item.op.name for item in tf.trainable_variables() if "global" in item.op.name] == []
        session.run(tf.global_variables_initializer())
        feed = {images: np.random.RandomState(0).rand(4, 784)}
        values = session.run(logits, feed)
        logs = values - np.log(np.exp(values).sum(1, keepdims=True))
        first = session.run(loss, feed)
        np.testing.assert_allclose(first, -logs[range(4), range(4)].mean(), rtol=1e-5)
        for _ in range(3):
            session.run(step, feed)
        assert session.run("global_step:0") == 3
        assert session.run(loss, feed) < first


def test_those_are_right_whose_largest_logit_is_the_label() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        logits = tf.constant([[0.0, 2.0, 1.0], [3.0, 0.0, 1.0], [0.0, 1.0, 2.0]])
        assert session.run(mnist_network.evaluation(logits, tf.constant([1, 1, 2]))) == 2
