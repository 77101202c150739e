"""Programs of branches and loops made at random: the same graph and the same results as TensorFlow's, gradients too."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

import numpy as np
import pytest

from tests.interop.test_control_flow_functions import check

VECTOR = np.array([0.5, -0.25, 0.75], np.float32)


class Program:
    """A program of nested branches and loops over a few vectors, chosen by a seed. It can be run for any `tf`."""

    def __init__(self, seed: int) -> None:
        self._seed = seed

    def __call__(self, tf: Any) -> Any:
        random = Random(self._seed)
        shape = random.choice([[3], [None], [3]])
        x = tf.placeholder(tf.float32, shape, name="x")
        y = tf.placeholder(tf.float32, shape, name="y")
        n = tf.placeholder(tf.int32, [], name="n")
        p = tf.placeholder(tf.bool, [], name="p")
        self._tf, self._n, self._p = tf, n, p
        result = self._value(random, [x, y], 3)
        sources = [x, y] if random.random() < 0.7 else [y]
        found = [gradient for gradient in tf.gradients(result, sources) if gradient is not None]
        return [result, *found]

    def _value(self, random: Random, known: list[Any], depth: int) -> Any:
        """A vector made of the known ones."""
        makers: list[Callable[..., Any]] = [self._pointwise]
        if depth:
            makers += [self._branch, self._branch, self._loop, self._loop, self._array]
        return random.choice(makers)(random, known, depth - 1)

    def _pointwise(self, random: Random, known: list[Any], depth: int) -> Any:
        tf = self._tf
        a, b = random.choice(known), random.choice(known)
        kind = random.randrange(5)
        if kind == 0:
            return tf.Tanh(x=a)
        if kind == 1:
            return a * b
        if kind == 2:
            return a + tf.constant(0.5)
        if kind == 3:
            with tf.control_dependencies([b]):
                return tf.identity(a)
        return a - b

    def _branch(self, random: Random, known: list[Any], depth: int) -> Any:
        seeds = random.random(), random.random()

        def side(i: int) -> Any:
            inner = Random(seeds[i])
            return inner.choice(known) if inner.random() < 0.2 else self._value(inner, known, depth)

        pred = self._p if random.random() < 0.5 else self._n < random.randrange(4)
        both = self._tf.cond(pred, lambda: side(0), lambda: side(1))
        return both * random.choice(known) if random.random() < 0.5 else both

    def _loop(self, random: Random, known: list[Any], depth: int) -> Any:
        tf, seed = self._tf, random.random()
        rounds = random.choice([2, self._n])
        options: dict[str, Any] = random.choice([{}, {}, {"parallel_iterations": 1}, {"maximum_iterations": 2}])
        start = (0, random.choice(known), random.choice(known))

        def body(i: Any, a: Any, b: Any) -> Any:
            inner = Random(seed)
            if inner.random() < 0.3:
                a, b = b, a
            following = self._value(inner, [a, b, *known], depth)
            if inner.random() < 0.3:
                following = tf.cond(i < 1, lambda: following * a, lambda: b)
            return i + 1, following, b if inner.random() < 0.5 else b * a

        results = tf.while_loop(lambda i, a, b: i < rounds, body, start, **options)
        return results[1] if random.random() < 0.5 else results[1] + results[2]

    def _array(self, random: Random, known: list[Any], depth: int) -> Any:
        tf, seed = self._tf, random.random()
        array = tf.TensorArray(tf.float32, 3)
        start = random.choice(known)

        def body(i: Any, a: Any, array: Any) -> Any:
            following = self._value(Random(seed), [a, *known], min(depth, 1))
            return i + 1, following, array.write(i, following)

        filled = tf.while_loop(lambda i, a, array: i < 3, body, (0, start, array))[2]
        rows = filled.stack()
        return tf.reduce_sum(rows, 0)


@pytest.mark.parametrize("seed", range(40))
def test_a_program_made_at_random(seed: int) -> None:
    feeds = [{"x": VECTOR, "y": VECTOR[::-1].copy(), "n": n, "p": p} for n, p in ((0, True), (1, False), (3, True))]
    check(Program(seed), *feeds)
