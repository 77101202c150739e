"""Reductions beside TensorFlow's: the same program gives the same nodes and the same numbers, gradients included."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tensorkeep.tf1.functions import operators
from tensorkeep.tf1.functions.gradients import reverse_walk
from tensorkeep.tf1.functions.numbers import elementwise, reductions, segments
from tests.interop.programs import build, our_names, v1

assert operators  # importing it installs what operators do

OURS = our_names(elementwise, reductions, segments, gradients=reverse_walk.gradients)
NAMES = {name: getattr(v1.math, name) for name in ("reduce_euclidean_norm", "reduce_variance", "reduce_std")}


class Theirs:
    """compat.v1, with the functions of its submodules under our names."""

    def __getattr__(self, name: str) -> Any:
        return NAMES.get(name) or getattr(v1, name)


THEIRS = Theirs()
Program = Callable[[Any], Any]

CUBE = np.array([[[1.0, 2.0, 0.5], [3.0, 1.5, 2.5]], [[0.25, 4.0, 1.0], [2.0, 0.75, 3.5]]], np.float32)
ROWS = np.array([[1.0, 2.0], [3.0, 0.5], [1.5, 4.0], [2.0, 2.5]], np.float32)


def check(program: Program, feeds: dict[str, Any] | None = None) -> None:
    build(program, OURS, THEIRS).expect_same_values(feeds=feeds, tolerance=2e-5, absolute=2e-5)


REDUCTIONS = [
    "reduce_sum",
    "reduce_mean",
    "reduce_prod",
    "reduce_max",
    "reduce_min",
    "reduce_logsumexp",
    "reduce_euclidean_norm",
    "reduce_variance",
    "reduce_std",
]


@pytest.mark.parametrize("name", REDUCTIONS)
@pytest.mark.parametrize("shape", [[2, 2, 3], [None, 2, 3], None], ids=str)
@pytest.mark.parametrize("axis", [None, 0, [-1], [0, 2], "fed"], ids=str)
def test_reductions_and_their_gradients_are_tensorflows(name: str, shape: Any, axis: Any) -> None:
    def program(tf: Any) -> Any:
        x = tf.placeholder(tf.float32, shape, name="x")
        along = tf.placeholder(tf.int32, [1], name="axis") if axis == "fed" else axis
        function = getattr(tf, name)
        plain, kept = function(x, along), function(x, axis=along, keepdims=True, name="kept")
        return [plain, kept, *tf.gradients(plain, [x]), *tf.gradients(kept * 2.0, [x])]

    check(program, {"x:0": CUBE, **({"axis:0": [1]} if axis == "fed" else {})})


OTHERS: dict[str, Program] = {
    "older names of arguments": lambda tf: [
        tf.reduce_sum(CUBE, reduction_indices=[1]),
        tf.reduce_mean(CUBE, reduction_indices=0, keep_dims=True),
        tf.reduce_max(tf.constant(CUBE), keep_dims=True),
        tf.argmax(CUBE, dimension=1),
        tf.count_nonzero(CUBE, reduction_indices=[0], keep_dims=True),
        tf.count_nonzero(input=CUBE),
    ],
    "of lists": lambda tf: [tf.reduce_sum([1.0, 2.0]), tf.reduce_mean([[1, 2], [3, 4]]), tf.reduce_max(3.0)],
    "of truth values": lambda tf: [
        tf.reduce_any([[True, False], [False, False]], 1),
        tf.reduce_all(tf.constant([[True, False], [True, True]]), axis=1, keepdims=True),
        tf.reduce_any(tf.constant(True)),
    ],
    "of a scalar": lambda tf: [tf.reduce_sum(tf.constant(3.0)), *_of_scalar(tf)],
    "positions": lambda tf: [
        tf.argmax(CUBE),
        tf.argmax(tf.constant(CUBE), 2, name="named", output_type=tf.int32),
        tf.argmin(CUBE, axis=-1),
        tf.arg_max(CUBE, 1),
        tf.arg_min(CUBE, 1),
        tf.argmax(CUBE, tf.constant(1, tf.int64)),
    ],
    "counts": lambda tf: [
        tf.count_nonzero([[0, 1], [2, 0]]),
        tf.count_nonzero([[0.0, 1.5], [2.0, 0.0]], 1, dtype=tf.int32, name="named"),
        tf.count_nonzero([True, False]),
        tf.count_nonzero(["", "a"]),
    ],
    "several gradients of sums": lambda tf: _several(tf),
    "of picked rows": lambda tf: [
        result
        for function in (tf.sparse_segment_sum, tf.sparse_segment_mean, tf.sparse_segment_sqrt_n)
        for x in [tf.constant(ROWS)]
        for y in [function(x, [3, 0, 0], [0, 0, 1])]
        for result in (
            y,
            *tf.gradients(y, [x]),
            function(x, [1, 2], [0, 2], num_segments=4, name="named"),
            tf.gradients(function(x, [1, 1, 2], [0, 0, 2], sparse_gradient=True), [x])[0].values,
        )
    ],
}


def _of_scalar(tf: Any) -> Any:
    x = tf.constant(2.0)
    return tf.gradients(tf.reduce_sum(x * x), [x])


def _several(tf: Any) -> Any:
    x = tf.constant(CUBE)
    total = tf.reduce_sum(x * 2.0, [0, 1]) + tf.reduce_sum(x, [0, 1]) + tf.reduce_mean(x)
    return tf.gradients(total, [x])


@pytest.mark.parametrize("what", OTHERS)
def test_other_reductions_are_tensorflows(what: str) -> None:
    check(OTHERS[what])


@pytest.mark.parametrize("name", ["segment_sum", "segment_mean", "segment_prod", "segment_min", "segment_max"])
@pytest.mark.parametrize("shape", [[4, 2], [None, 2], None], ids=str)
def test_reductions_of_sorted_segments_are_tensorflows(name: str, shape: Any) -> None:
    def program(tf: Any) -> Any:
        function = getattr(tf, name)
        x = tf.placeholder(tf.float32, shape, name="x")
        y = function(x, [0, 0, 2, 2])
        return [y, *tf.gradients(y, [x]), function(x, tf.constant([0, 1, 1, 2]), name="named")]

    check(program, {"x:0": ROWS})


UNSORTED = ["sum", "prod", "min", "max", "mean", "sqrt_n"]


@pytest.mark.parametrize("name", UNSORTED)
@pytest.mark.parametrize("shape", [[4, 2], [None, 2], None], ids=str)
def test_reductions_of_unsorted_segments_are_tensorflows(name: str, shape: Any) -> None:
    def program(tf: Any) -> Any:
        function = getattr(tf, f"unsorted_segment_{name}")
        x = tf.placeholder(tf.float32, shape, name="x")
        y = function(x, [1, 0, 1, -1], 2)
        return [y, *tf.gradients(y, [x]), function(x, tf.constant([0, 1, 1, 2]), tf.constant(3), name="named")]

    check(program, {"x:0": ROWS})
