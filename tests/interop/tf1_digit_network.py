"""The network of TensorFlow's first tutorial in TensorFlow's own functions, for TensorFlow 2, which has no examples.

It stands in the place of `tensorflow.examples.tutorials.mnist.mnist` where programs run under TensorFlow.
"""

from __future__ import annotations

from typing import Any

import tensorflow.compat.v1 as tf

NUM_CLASSES, IMAGE_SIZE, IMAGE_PIXELS = 10, 28, 784


def inference(images: Any, hidden1_units: int, hidden2_units: int) -> Any:
    sizes = {"hidden1": (IMAGE_PIXELS, hidden1_units), "hidden2": (hidden1_units, hidden2_units)}
    for name, size in {**sizes, "softmax_linear": (hidden2_units, NUM_CLASSES)}.items():
        with tf.name_scope(name):
            weights = tf.Variable(tf.truncated_normal(size, stddev=float(size[0]) ** -0.5), name="weights")
            images = tf.matmul(images, weights) + tf.Variable(tf.zeros(size[1:]), name="biases")
            if name in sizes:
                images = tf.nn.relu(images)
    return images


def loss(logits: Any, labels: Any) -> Any:
    return tf.losses.sparse_softmax_cross_entropy(labels=tf.to_int64(labels), logits=logits)


def training(loss: Any, learning_rate: float) -> Any:
    tf.summary.scalar("loss", loss)
    optimizer = tf.train.GradientDescentOptimizer(learning_rate)
    return optimizer.minimize(loss, global_step=tf.Variable(0, name="global_step", trainable=False))


def evaluation(logits: Any, labels: Any) -> Any:
    return tf.reduce_sum(tf.cast(tf.nn.in_top_k(logits, labels, 1), tf.int32))
