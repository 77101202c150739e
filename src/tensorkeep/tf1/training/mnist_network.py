"""The network of two hidden layers that TensorFlow's first tutorial trains on MNIST's digits.

`tensorflow.examples.tutorials.mnist.mnist`. Its variables are hidden1/weights, hidden1/biases, and so on for hidden2
and softmax_linear, with global_step beside them; summaries have the loss.
"""

from __future__ import annotations

import math

from tensorkeep.dtypes import INT32, INT64
from tensorkeep.graph.arguments import TensorLike
from tensorkeep.graph.building import name_scope
from tensorkeep.graph.graph import Operation, Tensor
from tensorkeep.tf1.functions.arrays.shapes import zeros
from tensorkeep.tf1.functions.data.summaries import scalar
from tensorkeep.tf1.functions.linear_algebra.products import matmul
from tensorkeep.tf1.functions.nn.activations import in_top_k, relu
from tensorkeep.tf1.functions.nn.losses import sparse_softmax_cross_entropy
from tensorkeep.tf1.functions.numbers.elementwise import cast
from tensorkeep.tf1.functions.numbers.reductions import reduce_sum
from tensorkeep.tf1.functions.random.numbers import truncated_normal
from tensorkeep.tf1.training.optimizers.standard import GradientDescentOptimizer
from tensorkeep.tf1.variables.variable import Variable

NUM_CLASSES = 10
IMAGE_SIZE = 28
IMAGE_PIXELS = IMAGE_SIZE * IMAGE_SIZE


def inference(images: TensorLike, hidden1_units: int, hidden2_units: int) -> Tensor:
    """The logits of the ten digits for each row of pixels."""
    with name_scope("hidden1"):
        hidden1 = relu(_linear_map(images, IMAGE_PIXELS, hidden1_units))
    with name_scope("hidden2"):
        hidden2 = relu(_linear_map(hidden1, hidden1_units, hidden2_units))
    with name_scope("softmax_linear"):
        return _linear_map(hidden2, hidden2_units, NUM_CLASSES)


def _linear_map(inputs: TensorLike, width: int, units: int) -> Tensor:
    weights = Variable(truncated_normal([width, units], stddev=1.0 / math.sqrt(width)), name="weights")
    biases = Variable(zeros([units]), name="biases")
    return matmul(inputs, weights) + biases


def loss(logits: Tensor, labels: TensorLike) -> Tensor:
    """The mean cross entropy with the digits that labels number."""
    return sparse_softmax_cross_entropy(labels=cast(labels, INT64), logits=logits)


def training(loss: Tensor, learning_rate: float) -> Operation:
    """A step of gradient descent, which counts itself; the loss becomes a summary."""
    scalar("loss", loss)
    optimizer = GradientDescentOptimizer(learning_rate)
    global_step = Variable(0, name="global_step", trainable=False)
    return optimizer.minimize(loss, global_step=global_step)


def evaluation(logits: Tensor, labels: TensorLike) -> Tensor:
    """How many rows have their largest logit where the label says."""
    correct = in_top_k(logits, labels, 1)
    return reduce_sum(cast(correct, INT32))
