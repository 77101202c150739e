"""Small training programs made at random, in TensorFlow and here: what runs give, and what variables are afterwards.

Networks are recurrent, of layers, of parts that are added, and loops; batches change their size from run to run; there
are optimizers of all kinds, and variables that are read, assigned, branched and looped over in a told order. What was
fed and what was fetched stays as it is.
"""

from __future__ import annotations

import random
import warnings
from collections.abc import Callable
from typing import Any, Final

import numpy as np
import pytest
import tensorflow

import tensorkeep.v1 as ours

theirs = tensorflow.compat.v1

_ELEMENTS: Final[tuple[Callable[[Any, Any], Any], ...]] = (
    lambda tf, x: tf.tanh(x),
    lambda tf, x: tf.sigmoid(x),
    lambda tf, x: tf.nn.relu(x),
    lambda tf, x: x * x,
    lambda tf, x: x * 0.5 - 1.0,
    lambda tf, x: tf.nn.elu(x),
    lambda tf, x: tf.nn.softplus(x),
    lambda tf, x: tf.minimum(tf.maximum(x, -1.0), 1.0),
    lambda tf, x: tf.exp(tf.minimum(x, 2.0)),
    lambda tf, x: tf.nn.softmax(x),
    lambda tf, x: x - tf.reduce_mean(x, -1, keepdims=True),
    lambda tf, x: tf.where(x > 0.0, x, x * 0.1),
    lambda tf, x: tf.square(x) * x,
)


class Program:
    """A program that a number tells."""

    def __init__(self, tf: Any, number: int) -> None:
        self.tf = tf
        self.draw = random.Random(number)
        self.numbers = np.random.RandomState(number)
        self.is_resource = self.draw.random() < 0.7
        self.width, self.depth = self.draw.choice([1, 3, 8]), self.draw.choice([2, 3])
        self.rows = self.draw.choice([1, 2, 5])
        self.is_fixed = self.draw.random() < 0.4
        self.found: list[np.ndarray[Any, Any]] = []

    def variable(self, name: str, *shape: int) -> Any:
        initial = (self.numbers.standard_normal(shape) * 0.5).astype("f")
        return self.tf.get_variable(name, initializer=initial, use_resource=self.is_resource)

    def elements(self, x: Any) -> Any:
        for _ in range(self.draw.choice([0, 1, 2, 3])):
            x = self.draw.choice(_ELEMENTS)(self.tf, x)
        return x

    def recurrent(self, x: Any) -> Any:
        tf, width = self.tf, self.width
        kernel, bias = self.variable("kernel", self.depth + width, 4 * width), self.variable("bias", 4 * width)
        output = memory = tf.zeros([self.rows if self.is_fixed else tf.shape(x)[0], width])
        outputs = []
        for _ in range(self.draw.choice([1, 2, 5])):
            gates = tf.nn.bias_add(tf.matmul(tf.concat([x, output], 1), kernel), bias)
            i, j, f, o = tf.split(gates, 4, 1)
            memory = memory * tf.sigmoid(f + 1.0) + tf.sigmoid(i) * tf.tanh(j)
            output = tf.tanh(memory) * tf.sigmoid(o)
            outputs.append(output)
        return self.draw.choice([lambda: output, lambda: tf.add_n(outputs), lambda: tf.concat(outputs, 1)])()

    def layers(self, x: Any) -> Any:
        size = self.depth
        for number in range(self.draw.choice([1, 2, 4])):
            x = self.tf.matmul(x, self.variable(f"kernel{number}", size, self.width)) + self.variable(
                f"bias{number}", self.width
            )
            x, size = self.elements(x), self.width
        return x

    def parts(self, x: Any) -> Any:
        first, second = self.variable("first", self.depth, self.width), self.variable("second", self.width, self.width)
        found = [self.elements(self.tf.matmul(x, first)) for _ in range(self.draw.choice([1, 3, 4]))]
        found = [self.elements(self.tf.matmul(part, second) + part) for part in found]
        return self.tf.add_n(found)

    def loop(self, x: Any) -> Any:
        tf, state = self.tf, self.draw.getstate()
        first, again = self.variable("first", self.depth, self.width), self.variable("again", self.width, self.width)
        bias, rounds = self.variable("bias", self.width), self.draw.choice([0, 1, 3, 7])

        def body(number: Any, inner: Any, total: Any) -> Any:
            self.draw.setstate(state)  # TensorFlow may call it more than once
            inner = self.elements(tf.tanh(tf.matmul(inner, again) + bias))
            return number + 1, inner, total + tf.reduce_sum(inner)

        begin = [tf.constant(0), tf.matmul(x, first), tf.constant(0.0)]
        _, result, total = tf.while_loop(lambda number, *_: number < rounds, body, begin)
        self.draw.setstate(state)
        return result + total * 0.01

    def loss(self, x: Any) -> Any:
        tf = self.tf
        kind = self.draw.randrange(4)
        if kind == 0:
            return tf.reduce_mean(tf.square(x))
        if kind == 1:
            return tf.reduce_sum(tf.square(x - 0.5)) * 0.1
        if kind == 2:
            labels = tf.zeros([tf.shape(x)[0]], tf.int32)
            return tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=x))
        return tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(labels=tf.ones_like(x) * 0.3, logits=x))

    def optimizer(self) -> Any:
        train, rate = self.tf.train, self.draw.choice([0.1, 0.01])
        return self.draw.choice(
            [
                lambda: train.GradientDescentOptimizer(rate),
                lambda: train.MomentumOptimizer(rate, 0.9, use_nesterov=True),
                lambda: train.AdamOptimizer(rate),
                lambda: train.AdagradOptimizer(rate),
                lambda: train.RMSPropOptimizer(rate, momentum=0.5, centered=True),
                lambda: train.AdadeltaOptimizer(rate * 10),
                lambda: train.FtrlOptimizer(rate, l1_regularization_strength=0.01),
                lambda: train.ProximalGradientDescentOptimizer(rate, l1_regularization_strength=0.01),
            ]
        )()

    def effects(self, first: Any) -> tuple[list[Any], Any]:
        """Reads in a told order among what changes variables, and the last of it all."""
        tf = self.tf
        self.is_resource = True  # branches of TensorFlow 2 take no others
        count, values = self.variable("count"), self.variable("values", 4)
        reads, last = [], first
        for _ in range(self.draw.choice([0, 2, 4])):
            with tf.control_dependencies([last]):
                which = self.draw.randrange(5)
                if which == 0:
                    last = tf.assign_add(values, tf.ones([4]) * 0.25).op
                elif which == 1:
                    last = tf.assign(count, count.read_value() * 0.5 + 1.0).op
                elif which == 2:
                    last = tf.scatter_add(values, [1, 1, 3], [1.0, 2.0, 3.0]).op
                else:
                    reads.append(self._branch(count, values) if which == 3 else self._rounds(values))
                    last = reads[-1].op
        return reads, last

    def _branch(self, count: Any, values: Any) -> Any:
        tf = self.tf

        def grow() -> Any:
            with tf.control_dependencies([tf.assign_add(count, 1.0)]):
                return count.read_value()

        def shrink() -> Any:
            with tf.control_dependencies([tf.assign_sub(values, tf.ones([4]))]):
                return tf.reduce_sum(values.read_value())

        return tf.cond(count.read_value() < self.draw.choice([0.0, 1.5]), grow, shrink)

    def _rounds(self, values: Any) -> Any:
        tf = self.tf

        def body(number: Any, total: Any) -> Any:
            with tf.control_dependencies([tf.assign_add(values, tf.ones([4]) * 0.5)]):
                return number + 1, total + tf.reduce_sum(values.read_value())

        begin = [tf.constant(0), tf.constant(0.0)]
        return tf.while_loop(lambda number, _: number < 3, body, begin, parallel_iterations=1)[1]

    def run(self) -> list[np.ndarray[Any, Any]]:
        tf = self.tf
        with tf.Graph().as_default():
            x = tf.placeholder(tf.float32, [self.rows if self.is_fixed else None, self.depth])
            y = self.draw.choice([self.recurrent, self.layers, self.parts, self.loop])(x)
            loss = self.loss(y)
            pairs = self.optimizer().compute_gradients(loss)
            if self.draw.random() < 0.3:
                clipped, _ = tf.clip_by_global_norm([gradient for gradient, _ in pairs], 1.0)
                pairs = list(zip(clipped, [variable for _, variable in pairs], strict=True))
            train = tf.train.AdamOptimizer().apply_gradients(pairs) if self.draw.random() < 0.2 else None
            train = self.optimizer().apply_gradients(pairs) if train is None else train
            reads, last = self.effects(train)
            wanted = [[train], [loss, y], [loss, reads, last], [gradient for gradient, _ in pairs]]
            with tf.Session() as session:
                session.run(tf.global_variables_initializer())
                self._steps(session, x, wanted)
        return self.found

    def _steps(self, session: Any, x: Any, wanted: list[Any]) -> None:
        kept = []
        variables = self.tf.global_variables()
        for _ in range(4):
            rows = self.rows if self.is_fixed else self.draw.choice([1, 2, 5, 200])
            given = self.numbers.standard_normal((rows, self.depth)).astype("f")
            before = given.copy()
            fetches = self.draw.choice(wanted)
            results = self.tf.nest.flatten(session.run(fetches, {x: given}))
            arrays = [np.asarray(each) for each in results if each is not None]
            arrays += [np.asarray(each) for each in session.run(variables)]
            np.testing.assert_array_equal(given, before)
            kept.append((arrays, [each.copy() for each in arrays]))
        for arrays, copies in kept:
            for array, copy in zip(arrays, copies, strict=True):
                np.testing.assert_array_equal(array, copy)
            self.found += copies


@pytest.mark.parametrize("number", [*range(12), *(pytest.param(at, marks=pytest.mark.deep) for at in range(12, 200))])
def test_a_program_made_at_random_trains_as_in_tensorflow(number: int) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found, expected = Program(ours, number).run(), Program(theirs, number).run()
    assert len(found) == len(expected)
    for array, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(array, other, rtol=5e-4, atol=5e-4)
