"""Functions whose gradients compute again, or back from the results: the same numbers, and the same gradients."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tensorkeep.v1 as tf
from tests.tf1.contrib.running import values

layers = tf.contrib.layers
X = np.random.default_rng(9).normal(size=(4, 3)).astype(np.float32)


def dense(x: Any, name: str = "dense") -> Any:
    weights = tf.get_variable(name, [3, 3], use_resource=True, initializer=tf.random_normal_initializer(seed=1))
    return tf.tanh(tf.matmul(x, weights))


def gradients(outputs: Any, inputs: Any) -> Any:
    targets = [*inputs, *tf.trainable_variables()]
    return [*outputs, *tf.gradients(tf.add_n([tf.reduce_sum(tf.square(item)) for item in outputs]), targets)]


def test_gradients_compute_again_what_a_function_did() -> None:
    told: list[bool] = []

    def twice(x: Any, y: Any, is_recomputing: bool) -> Any:
        told.append(is_recomputing)
        return dense(x) * y, dense(y, "other")

    def build(decorated: bool) -> Any:
        x, y = tf.constant(X), tf.constant(X + 1)
        function = layers.recompute_grad(twice) if decorated else lambda *args: twice(*args, is_recomputing=False)
        found = gradients(list(function(dense(x, "before"), y)), [x, y])
        return found, tf.constant(len([op for op in tf.get_default_graph().get_operations() if op.type == "Tanh"]))

    (again, count), _ = values(lambda: build(True))
    assert told == [False, True]
    assert count == 5
    (plain, count), _ = values(lambda: build(False))
    assert count == 3
    for mine, other in zip(again, plain, strict=True):
        np.testing.assert_allclose(mine, other, rtol=1e-5)


def test_a_decorator_with_arguments_and_without_variables() -> None:
    @layers.recompute_grad(tupleize_grads=True)  # type: ignore[untyped-decorator]
    def squared(x: Any, y: Any) -> Any:
        return tf.square(x) * y

    def build() -> Any:
        x, y = tf.constant(2.0), tf.constant(3.0)
        return tf.gradients(squared(x, y), [x, y])

    assert values(build)[0] == [12.0, 4.0]
    with tf.Graph().as_default(), pytest.raises(ValueError, match="must be Tensors"):
        squared(2.0, tf.constant(1.0))


@pytest.mark.parametrize("has_sides", [False, True])
def test_reversible_layers_find_their_inputs_back(has_sides: bool) -> None:
    def f(x: Any, sides: Any = ()) -> Any:
        return dense(x) + tf.add_n([0.0 * x, *sides])

    def build(is_training: bool) -> Any:
        x1, x2, side = tf.constant(X), tf.constant(X - 1), tf.constant(X * 0.5)
        sides = [side] if has_sides else None
        first, second = layers.rev_block(
            tf.identity(x1), x2, f, [f, lambda x, *_: 2 * dense(x)], num_layers=2, is_training=is_training,
            f_side_input=sides, g_side_input=sides,
        )  # fmt: skip
        names = [item.op.name for item in tf.trainable_variables()]
        expected = [f"revblock/revlayer_{number}/{word}/dense" for number in (0, 1) for word in "fg"]
        assert names == expected
        return gradients([first, second], [x1, x2, *([side] if has_sides else [])])

    efficient, plain = values(lambda: build(True))[0], values(lambda: build(False))[0]
    assert len(efficient) == 8 + has_sides
    for mine, other in zip(efficient, plain, strict=True):
        np.testing.assert_allclose(mine, other, rtol=1e-4, atol=1e-5)
    with tf.Graph().as_default(), pytest.raises(TypeError, match="1 functions f were given for 2 layers"):
        layers.rev_block(tf.constant(X), tf.constant(X), [dense], dense, num_layers=2)


def test_a_second_block_has_variables_of_its_own_unless_they_are_used_again() -> None:
    with tf.Graph().as_default():
        with tf.variable_scope("a"):
            for _ in range(2):
                layers.rev_block(tf.constant(X), tf.constant(X), dense, dense)
        with tf.variable_scope("a", reuse=True):
            layers.rev_block(tf.constant(X), tf.constant(X), dense, dense)
        assert sorted(item.op.name for item in tf.trainable_variables()) == [
            "a/revblock/revlayer_0/f/dense", "a/revblock/revlayer_0/g/dense",
            "a/revblock_1/revlayer_0/f/dense", "a/revblock_1/revlayer_0/g/dense",
        ]  # fmt: skip
