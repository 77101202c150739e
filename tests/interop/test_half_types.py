"""Where TensorFlow rounds numbers of 16 bits, we do: to the last bit."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest
import tensorflow as tf

import tensorkeep.v1 as ours
from tensorkeep.arrays import Array

HALVES = [np.float16, ml_dtypes.bfloat16]
TYPES = pytest.mark.parametrize("dtype", HALVES, ids=["float16", "bfloat16"])


def every_number(dtype: Any) -> Array:
    numbers = np.arange(1 << 16, dtype=np.uint16).view(dtype)
    return np.asarray(numbers[np.isfinite(numbers.astype(np.float32))])


def normal(dtype: Any, *shape: int) -> Array:
    return np.random.default_rng(shape).normal(size=shape).astype(dtype)


def answer(compute: Any, *arrays: Array) -> Any:
    """What our session computes."""
    with ours.Graph().as_default(), ours.Session() as session:
        return session.run(compute(*map(ours.constant, arrays)))


def unequal(one: Any, other: Any) -> int:
    return int((np.asarray(one).view(np.uint16) != np.asarray(other).view(np.uint16)).sum())


@TYPES
def test_the_logistic_function_rounds_every_step(dtype: Any) -> None:
    x = every_number(dtype)
    wanted = tf.sigmoid(tf.constant(x)).numpy()
    # Of bfloat16, TensorFlow's own exponential is off by a unit for a dozen of all numbers.
    assert unequal(answer(ours.sigmoid, x), wanted) <= (0 if dtype is np.float16 else 12)


@pytest.mark.parametrize("sizes", [(1, 4, 1), (1, 300, 7), (33, 64, 65), (3, 1000, 2)])
@TYPES
def test_products_are_rounded_once_and_of_bfloat16_towards_zero(dtype: Any, sizes: tuple[int, int, int]) -> None:
    rows, depth, columns = sizes
    a, b = normal(dtype, rows, depth), normal(dtype, depth, columns)
    wanted = tf.matmul(tf.constant(a), tf.constant(b)).numpy()
    batched = tf.matmul(tf.constant(a[None]), tf.constant(b[None])).numpy()
    # The float32 sums, added up in another order, may lie on two sides of what is rounded.
    assert unequal(answer(ours.matmul, a, b), wanted) <= 1 + wanted.size // 500
    assert unequal(answer(ours.matmul, a[None], b[None]), batched) <= 1 + wanted.size // 500


def test_products_of_bfloat16_keep_infinities_and_nan() -> None:
    a = np.array([[np.inf, 1.0], [np.nan, 1.0], [-3.4e38, -3.4e38]], ml_dtypes.bfloat16)
    b = np.array([[1.0], [1.0]], ml_dtypes.bfloat16)
    wanted = tf.matmul(tf.constant(a), tf.constant(b)).numpy()
    np.testing.assert_array_equal(answer(ours.matmul, a, b).astype(np.float32), wanted.astype(np.float32))


@pytest.mark.parametrize("classes", [1, 7, 8, 45, 1000, 3000])
@TYPES
def test_softmax_rounds_every_step(dtype: Any, classes: int) -> None:
    x = normal(dtype, 20, classes)
    assert unequal(answer(ours.nn.softmax, x), tf.nn.softmax(tf.constant(x)).numpy()) == 0
    assert unequal(answer(ours.nn.log_softmax, x), tf.nn.log_softmax(tf.constant(x)).numpy()) == 0


@pytest.mark.parametrize("classes", [7, 45, 1000])
@TYPES
def test_cross_entropies_round_every_step(dtype: Any, classes: int) -> None:
    x, labels = normal(dtype, 20, classes), np.arange(20, dtype=np.int64) % classes
    targets = np.eye(classes, dtype=dtype)[labels]
    dense = tf.raw_ops.SoftmaxCrossEntropyWithLogits(features=x, labels=targets)
    sparse = tf.raw_ops.SparseSoftmaxCrossEntropyWithLogits(features=x, labels=labels)
    ops = ours.raw_ops
    for place in range(2):
        mine = answer(lambda a, b, i=place: ops.SoftmaxCrossEntropyWithLogits(features=a, labels=b)[i], x, targets)
        assert unequal(mine, dense[place].numpy()) == 0
        mine = answer(lambda a, b, i=place: ops.SparseSoftmaxCrossEntropyWithLogits(features=a, labels=b)[i], x, labels)
        assert unequal(mine, sparse[place].numpy()) == 0


@pytest.mark.parametrize("shape", [(1, 5), (50, 3), (50, 9), (20, 100), (4, 5, 24), (3, 5000)])
@pytest.mark.parametrize("name", ["reduce_sum", "reduce_mean"])
def test_sums_and_means_of_float16_along_rows_round_where_tensorflow_does(name: str, shape: tuple[int, ...]) -> None:
    x, axes = normal(np.float16, *shape), list(range(1, len(shape)))
    for keep in (False, True):
        wanted = getattr(tf, name)(tf.constant(x), axes, keepdims=keep).numpy()
        mine = answer(lambda y, k=keep: getattr(ours, name)(y, axes, keepdims=k), x)
        assert (mine.shape, unequal(mine, wanted)) == (wanted.shape, 0)
