"""`sort`, `argsort` and `unravel_index` beside TensorFlow: equal graphs, equal results."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import tensorflow as tf

import tensorkeep.v1 as ours
from tests.interop.programs import build

VALUES = np.array([[[3, 1, 2], [0, 5, 5]], [[9, -7, 8], [4, 4, 6]]])


@pytest.mark.parametrize("direction", ["ASCENDING", "DESCENDING"])
@pytest.mark.parametrize("axis", [-1, 0, 1, 2, -2])
@pytest.mark.parametrize("dtype", ["float32", "int32", "uint8", "float64"])
def test_sorting_along_an_axis(dtype: str, axis: int, direction: str) -> None:
    values = np.abs(VALUES).astype(dtype)

    def program(tf: Any) -> Any:
        x = tf.constant(values)
        return tf.sort(x, axis, direction), tf.argsort(x, axis, direction, name="order")

    build(program, ours).expect_same_values()


@pytest.mark.parametrize("axis", [-1, 0, -2])
def test_sorting_what_has_a_rank_that_is_not_known(axis: int) -> None:
    def program(tf: Any) -> Any:
        return tf.sort(tf.placeholder(tf.float32, None, name="x"), axis)

    build(program, ours).expect_same_values(feeds={"x:0": VALUES.astype(np.float32)})


def test_the_extremes_of_whole_numbers_are_sorted() -> None:
    extremes = np.array([0, np.iinfo(np.int64).max, np.iinfo(np.int64).min, -1])
    build(lambda tf: tf.sort(tf.constant(extremes)), ours).expect_same_values()


def test_coordinates_of_numbered_elements() -> None:
    build(lambda tf: tf.unravel_index([2, 5, 7], [3, 3]), ours).expect_same_values()


@pytest.mark.parametrize("arguments", [{"direction": "UP"}, {"axis": [0]}])
def test_both_refuse_what_is_no_direction_and_no_axis(arguments: dict[str, Any]) -> None:
    for module in (ours, tf.compat.v1):
        with module.Graph().as_default(), pytest.raises(ValueError, match="Argument"):
            module.sort([1.0], **arguments)
