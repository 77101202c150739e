"""Functions of tensors that take ragged tensors too, beside TensorFlow's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

import tensorkeep.v1 as ours
from tensorkeep.errors import TensorKeepError
from tests.interop.programs import build, tensorflow_1

Program = Callable[[Any], Any]

ROWS = [[1, 2], [], [3, 4, 5]]
DEEP = [[[1, 2], [3]], [], [[], [4, 5, 6]]]
TABLE = np.arange(14, dtype=np.float32).reshape(7, 2)
RANDOM = np.random.default_rng(2)


def matrices(tf: Any, *sizes: tuple[int, int]) -> Any:
    """Matrices of several sizes, as one ragged tensor of two ragged dimensions."""
    values = [np.arange(a * b, dtype=np.float32).reshape(a, b).tolist() for a, b in sizes]
    return tf.ragged.constant(values, dtype=tf.float32, ragged_rank=2)


def rows_of(tf: Any, width: int) -> Any:
    """Matrices of one width."""
    values = RANDOM_ROWS[:, :width]
    return tf.RaggedTensor.from_row_splits(tf.constant(values), tf.constant([0, 2, 2, 6], tf.int64))


RANDOM_ROWS = RANDOM.standard_normal((6, 4)).astype(np.float32)
SQUARES = RANDOM.standard_normal((3, 4, 5)).astype(np.float32)

SAME_NODES: dict[str, Program] = {
    "gather_nd": lambda tf: [
        tf.gather_nd(tf.ragged.constant(ROWS), [[0], [2]]),
        tf.gather_nd(tf.ragged.constant(ROWS), [[0, 1], [2, 2]]),
        tf.gather_nd(tf.ragged.constant(DEEP), [[0, 0, 1], [2, 1, 2]]),
        tf.gather_nd(tf.ragged.constant(DEEP), [[2, 1]]),
        tf.gather_nd(tf.ragged.constant(ROWS), [[[0, 1]], [[2, 0]]]),
        tf.gather_nd(rows_of(tf, 4), [[0, 1, 2], [2, 3, 0]]),
        tf.gather_nd(tf.constant(TABLE), tf.ragged.constant([[[0, 1], [2, 0]], [[1, 1]]], ragged_rank=1)),
        tf.gather_nd(tf.ragged.constant(ROWS), np.zeros([2, 0], np.int32)),
    ],
    "one_hot": lambda tf: [
        tf.one_hot(tf.ragged.constant(ROWS), 6),
        tf.one_hot(tf.ragged.constant(DEEP), 4, 9, -1, axis=-1, name="named"),
        tf.one_hot(tf.ragged.constant(ROWS), 3, dtype=tf.int64, axis=2),
    ],
    "reverse": lambda tf: [
        tf.reverse(tf.ragged.constant(ROWS), [0]),
        tf.reverse(tf.ragged.constant(DEEP), [1, -1]),
        tf.reverse(tf.ragged.constant(DEEP), [0, 2], name="named"),
        tf.reverse(tf.ragged.constant(ROWS), []),
    ],
    "dynamic_partition": lambda tf: [
        *tf.dynamic_partition(tf.ragged.constant(ROWS), [1, 0, 1], 2),
        *tf.dynamic_partition(tf.ragged.constant(ROWS), tf.ragged.constant([[0, 1], [], [1, 1, 0]]), 2, name="named"),
    ],
    "bitcast": lambda tf: tf.bitcast(tf.ragged.constant(ROWS, dtype=tf.int32), tf.float32),
    "squeeze": lambda tf: [
        tf.squeeze(tf.ragged.constant([[[1, 2], [3]]]), [0]),
        tf.squeeze(tf.ragged.constant([[[1], [2]], [[3]]]), [2]),
        tf.squeeze(tf.ragged.constant([[[[1], [2]]], [[[3]]]], ragged_rank=2), [3, 1], name="named"),
    ],
    "matmul": lambda tf: [
        tf.matmul(rows_of(tf, 4), tf.constant(SQUARES)),
        tf.matmul(rows_of(tf, 4), tf.constant(SQUARES.swapaxes(1, 2)), transpose_b=True, name="named"),
        tf.matmul(tf.ragged.constant([[1.0, 2.0], [3.0, 4.0]]), tf.constant(TABLE[:2])),
    ],
    "embedding_lookup": lambda tf: [
        tf.nn.embedding_lookup(tf.constant(TABLE), tf.ragged.constant(ROWS)),
        tf.nn.embedding_lookup(tf.constant(TABLE), tf.ragged.constant(DEEP), max_norm=2.0),
    ],
    "segments": lambda tf: [
        tf.math.unsorted_segment_mean(tf.ragged.constant([[1.0, 2.0], [3.0], [4.0, 5.0]]), [0, 1, 0], 2),
        tf.math.unsorted_segment_sqrt_n(tf.ragged.constant([[1.0, 2.0], [3.0], [4.0, 5.0]]), [0, 1, 0], 2),
    ],
    "element-wise": lambda tf: [
        tf.bitwise.invert(tf.ragged.constant(ROWS)),
        tf.math.special.dawsn(tf.ragged.constant([[0.5], [1.0, 2.0]])),
        tf.image.convert_image_dtype(tf.ragged.constant([[1, 2], [255]], dtype=tf.uint8), tf.float32),
        tf.image.adjust_brightness(tf.ragged.constant([[0.5], [1.0, 0.25]]), 0.1),
    ],
    "types": lambda tf: tf.assert_type(tf.ragged.constant(ROWS), tf.int32),
}


@pytest.mark.parametrize("name", SAME_NODES)
def test_the_nodes_and_the_values_are_tensorflows(name: str) -> None:
    built = build(SAME_NODES[name], ours)
    for mine, other in built.run():
        expect_equal(mine, other)


def expect_equal(mine: Any, other: Any) -> None:
    if isinstance(other, list | tuple) and not hasattr(other, "row_splits"):
        for a, b in zip(mine, other, strict=True):
            expect_equal(a, b)
    elif hasattr(other, "row_splits"):
        assert type(mine).__name__ == type(other).__name__
        np.testing.assert_array_equal(mine.row_splits, other.row_splits)
        expect_equal(mine.values, other.values)
    elif other is not None:
        assert (np.asarray(mine).dtype, np.shape(mine)) == (np.asarray(other).dtype, np.shape(other))
        np.testing.assert_allclose(mine, other, rtol=1e-5, atol=1e-6)


SAME_VALUES: dict[str, Program] = {
    "batch_gather": lambda tf: tf.batch_gather(tf.ragged.constant(ROWS), tf.ragged.constant([[1], [], [2, 0]])),
    "split": lambda tf: [
        *tf.split(tf.ragged.constant([[1, 2], [], [3], [4, 5, 6]]), 2),
        *tf.split(tf.ragged.constant([[1, 2], [], [3], [4, 5, 6]]), [1, 3], name="named"),
        *tf.split(rows_of(tf, 4), 2, axis=2),
        *tf.split(tf.ragged.constant(ROWS), 1),
    ],
    "products of matrices of several sizes": lambda tf: [
        tf.matmul(matrices(tf, (2, 3), (1, 4), (3, 1)), matrices(tf, (3, 2), (4, 1), (1, 2))),
        tf.matmul(rows_of(tf, 4), rows_of(tf, 4), transpose_b=True),
        tf.matmul(rows_of(tf, 4), rows_of(tf, 3), transpose_a=True),
        tf.matmul(tf.constant(SQUARES), tf.ragged.constant([[[1.0]] * 5] * 3, ragged_rank=1)),
    ],
    "lookups that combine": lambda tf: [
        tf.nn.embedding_lookup_sparse(tf.constant(TABLE), tf.ragged.constant([[1, 2], [0], [3, 4, 5]]), None),
        tf.nn.embedding_lookup_sparse(
            tf.constant(TABLE),
            tf.ragged.constant([[1, 2], [0]]),
            tf.ragged.constant([[1.0, 0.5], [2.0]]),
            combiner="sqrtn",
        ),
        tf.nn.safe_embedding_lookup_sparse(
            tf.constant(TABLE), tf.ragged.constant([[1, -2], [], [3, 4]], dtype=tf.int64)
        ),
    ],
}


@pytest.mark.parametrize("name", SAME_VALUES)
def test_the_values_are_tensorflows(name: str) -> None:
    with ours.Graph().as_default(), ours.Session() as session:
        mine = session.run(SAME_VALUES[name](ours))
    v1 = tf.compat.v1
    with tensorflow_1(), tf.Graph().as_default(), v1.Session() as session:
        other = session.run(SAME_VALUES[name](v1))
    expect_equal(mine, other)


REFUSED: dict[str, Program] = {
    "a ragged axis": lambda tf: tf.split(tf.ragged.constant(DEEP), 2, axis=1),
    "an axis inside the rows": lambda tf: tf.one_hot(tf.ragged.constant(ROWS), 3, axis=0),
    "no axis to squeeze": lambda tf: tf.squeeze(tf.ragged.constant(ROWS)),
    "an axis that is no number": lambda tf: tf.reverse(tf.ragged.constant(ROWS), ["a"]),
    "ragged coordinates": lambda tf: tf.gather_nd(tf.ragged.constant(ROWS), tf.ragged.constant([[0], [1, 1]])),
    "a shape of noise": lambda tf: tf.nn.dropout(tf.ragged.constant([[1.0]]), noise_shape=[1], rate=0.5),
    "ids with a fraction": lambda tf: tf.nn.embedding_lookup(tf.constant(TABLE), tf.ragged.constant([[1.0]])),
    "types that differ": lambda tf: tf.matmul(tf.ragged.constant([[1.0]]), tf.constant([[1]])),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_tensorflow_refuses_is_refused(name: str) -> None:
    with ours.Graph().as_default(), pytest.raises(TensorKeepError):
        REFUSED[name](ours)
    with tensorflow_1(), tf.Graph().as_default(), pytest.raises((ValueError, TypeError)):
        REFUSED[name](tf.compat.v1)


def test_dropout_of_ragged_values() -> None:
    def program(tf: Any) -> Any:
        return tf.nn.dropout(tf.ragged.constant([[1.0, 2.0], [3.0]]), rate=0.5, seed=3)

    for mine, other in build(program, ours, seed=5).run(times=2):
        expect_equal(mine, other)
