"""Ops whose generator is a variable: the same numbers as TensorFlow's, and the same state after each."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

import tensorkeep.v1 as tk
from tensorkeep.errors import InvalidArgumentError, UnimplementedError
from tests.interop.programs import tensorflow_1

Draw = Callable[[Any, Any], Any]
START = [2**63 - 300, -1, 0x1234_5678_9ABC_DEF0]
COUNTS, CHANCES = [10.0, 200.0, 3.0], [0.5, 0.2, 0.9]


def outcome(tf: Any, draw: Draw, state: Any = START, times: int = 3) -> list[Any]:
    """What is drawn in each of several runs, and the state after each."""
    with tf.Graph().as_default(), tf.Session() as session:
        variable = tf.get_variable("state", initializer=np.asarray(state), use_resource=True)
        drawn = draw(tf, variable.handle)
        session.run(tf.global_variables_initializer())
        return [[session.run(part) for part in (drawn, variable)] for _ in range(times)]


def expect_same(draw: Draw) -> None:
    with tensorflow_1():
        theirs = outcome(tf.compat.v1, draw)
    for mine, other in zip(outcome(tk, draw), theirs, strict=True):
        for found, expected in zip(mine, other, strict=True):
            assert (expected is None) == (found is None)
            if expected is not None:
                assert found.dtype == expected.dtype
                np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("name", ["StatefulUniform", "StatefulStandardNormalV2", "StatefulTruncatedNormal"])
@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
@pytest.mark.parametrize("shape", [[5, 3], [], [0, 2]], ids=str)
def test_numbers_with_a_fraction(name: str, dtype: str, shape: list[int]) -> None:
    def draw(tf: Any, handle: Any) -> Any:
        return getattr(tf.raw_ops, name)(
            resource=handle, algorithm=1, shape=tf.constant(shape, tf.int32), dtype=getattr(tf, dtype)
        )

    expect_same(draw)


@pytest.mark.parametrize("dtype", ["int32", "int64", "uint32", "uint64"])
def test_whole_numbers(dtype: str) -> None:
    def full(tf: Any, handle: Any) -> Any:
        return tf.raw_ops.StatefulUniformFullInt(resource=handle, algorithm=3, shape=[9], dtype=getattr(tf, dtype))

    def between(tf: Any, handle: Any) -> Any:
        low, high = tf.constant(-5, getattr(tf, dtype)), tf.constant(90, getattr(tf, dtype))
        return tf.raw_ops.StatefulUniformInt(resource=handle, algorithm=1, shape=[9], minval=low, maxval=high)

    expect_same(full)
    if dtype in ("int32", "int64"):
        expect_same(between)


@pytest.mark.parametrize("size", [1, 2, 5])
def test_binomial_numbers(size: int) -> None:
    """TensorFlow's op forgets to move a state whose memory somebody shares, so that it is given memory of its own."""

    def draw(tf: Any, handle: Any) -> Any:
        return tf.raw_ops.StatefulRandomBinomial(
            resource=handle, algorithm=1, shape=[size, 3], counts=COUNTS, probs=CHANCES, dtype=tf.int32
        )

    state = tf.Variable(np.asarray(START))
    for found, after in outcome(tk, draw):
        state.assign_add(np.zeros(3, np.int64))
        np.testing.assert_array_equal(found, draw(tf, state.handle))
        np.testing.assert_array_equal(after, state)


@pytest.mark.parametrize("delta", [0, 3, 2**62, 2**64 - 1])
def test_a_state_is_read_and_moved_on(delta: int) -> None:
    expect_same(
        lambda tf, handle: tf.raw_ops.RngReadAndSkip(resource=handle, alg=1, delta=tf.constant(delta, tf.uint64))
    )
    if delta < 2**63:
        expect_same(lambda tf, handle: tf.raw_ops.RngSkip(resource=handle, algorithm=1, delta=delta))


def test_shapes_are_known_as_far_as_they_are() -> None:
    def shapes(tf: Any) -> list[Any]:
        with tf.Graph().as_default():
            handle = tf.get_variable("state", initializer=np.asarray(START), use_resource=True).handle
            some, any_ = tf.placeholder(tf.int32, [2]), tf.placeholder(tf.int32)
            found = [
                tf.raw_ops.StatefulUniform(resource=handle, algorithm=1, shape=shape) for shape in ([2, 3], some, any_)
            ]
            found.append(tf.raw_ops.RngReadAndSkip(resource=handle, alg=1, delta=tf.constant(1, tf.uint64)))
            found.append(tf.raw_ops.NonDeterministicInts(shape=[4]))
            return [tensor.shape.as_list() if tensor.shape.ndims is not None else None for tensor in found]

    with tensorflow_1():
        theirs = shapes(tf.compat.v1)
    assert shapes(tk) == theirs


def test_numbers_that_nobody_determines() -> None:
    with tk.Graph().as_default(), tk.Session() as session:
        numbers = tk.raw_ops.NonDeterministicInts(shape=[100], dtype=tk.int32)
        first, second = session.run(numbers), session.run(numbers)
        assert first.dtype == np.int32
        assert (first != second).any()
        with pytest.raises(InvalidArgumentError):
            session.run(tk.raw_ops.NonDeterministicInts(shape=[1], dtype=tk.float32))


@pytest.mark.parametrize(
    ("state", "algorithm", "error"),
    [
        (START, 2, UnimplementedError),
        (START, 9, InvalidArgumentError),
        ([1, 2], 1, InvalidArgumentError),
        ([[1, 2, 3]], 1, InvalidArgumentError),
        (np.array([1, 2, 3], np.int32), 1, InvalidArgumentError),
    ],
)
def test_what_is_no_state_or_algorithm_is_refused(state: Any, algorithm: int, error: type[Exception]) -> None:
    def draw(tf: Any, handle: Any) -> Any:
        return tf.raw_ops.StatefulUniform(resource=handle, algorithm=algorithm, shape=[3])

    with pytest.raises(error) as found:
        outcome(tk, draw, state)
    with tensorflow_1(), pytest.raises(tf.errors.OpError) as theirs:
        outcome(tf.compat.v1, draw, state)
    assert str(found.value).partition("\n")[0] in theirs.value.message


@pytest.mark.parametrize("bounds", [(5, 5), (6, 5)])
def test_bounds_without_a_number_between_are_refused(bounds: tuple[int, int]) -> None:
    def draw(tf: Any, handle: Any) -> Any:
        low, high = bounds
        return tf.raw_ops.StatefulUniformInt(resource=handle, algorithm=1, shape=[0], minval=low, maxval=high)

    with pytest.raises(InvalidArgumentError, match="Need minval < maxval"):
        outcome(tk, draw)
