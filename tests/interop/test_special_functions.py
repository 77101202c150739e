"""Special functions and counts beside TensorFlow's: the same nodes and the same numbers, gradients included."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tensorkeep.tf1.functions import operators
from tensorkeep.tf1.functions.arrays import counting
from tensorkeep.tf1.functions.gradients import reverse_walk
from tensorkeep.tf1.functions.numbers import elementwise, special
from tests.interop.programs import build, our_names, v1

assert operators  # importing it installs what operators do

OURS = our_names(elementwise, special, counting, gradients=reverse_walk.gradients)
NAMES = {
    name: getattr(module, name)
    for module in (v1.math, v1.math.special)
    for name in special.__all__
    if hasattr(module, name)
}


class Theirs:
    """compat.v1, with the functions of its submodules under our names."""

    def __getattr__(self, name: str) -> Any:
        return NAMES.get(name) or getattr(v1, name)


THEIRS = Theirs()
Program = Callable[[Any], Any]


def check(program: Program, feeds: dict[str, Any] | None = None) -> None:
    build(program, OURS, THEIRS).expect_same_values(feeds=feeds, tolerance=2e-5, absolute=2e-5)


UNARY = [name for name in special.__all__ if name.startswith("bessel") or name in ("dawsn", "expint", "spence")]
UNARY += ["erf", "erfc", "erfinv", "erfcinv", "ndtri", "fresnel_cos", "fresnel_sin", "lgamma", "digamma", "lbeta"]
POINTS = np.array([[0.2, 0.5, 0.9], [0.35, 0.75, 0.05]])


@pytest.mark.parametrize("name", UNARY)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_functions_of_one_number_are_tensorflows(name: str, dtype: str) -> None:
    def program(tf: Any) -> Any:
        function = getattr(tf, name)
        x = tf.placeholder(getattr(tf, dtype), [2, 3], name="x")
        y = function(x)
        return [y, function(x, name="named"), *tf.gradients(y, [x])]

    check(program, {"x:0": POINTS})


@pytest.mark.parametrize("name", ["igamma", "igammac", "polygamma", "zeta"])
@pytest.mark.parametrize("shape", [[2, 3], [3], None], ids=str)
def test_functions_of_two_numbers_are_tensorflows(name: str, shape: Any) -> None:
    def program(tf: Any) -> Any:
        function = getattr(tf, name)
        a = tf.placeholder(tf.float64, [2, 3], name="a")
        x = tf.placeholder(tf.float64, shape, name="x")
        y = function(a, x)
        second = tf.gradients(y, [a, x]) if name.startswith("igamma") else tf.gradients(y, [x])
        return [y, function(a, x, name="named"), *second]

    first = np.array([[2.0, 3.0, 4.0], [5.0, 2.0, 3.0]])
    check(program, {"a:0": first, "x:0": POINTS[0] if shape == [3] else POINTS})


def test_the_incomplete_beta_function_is_tensorflows() -> None:
    def program(tf: Any) -> Any:
        a, b, x = (tf.placeholder(tf.float64, [2, 3], name=name) for name in "abx")
        y = tf.betainc(a, b, x)
        return [y, *tf.gradients(y, [x])]

    check(program, {"a:0": POINTS + 1.0, "b:0": POINTS * 2.0, "x:0": POINTS})


COUNTS: dict[str, Program] = {
    "bincount": lambda tf: [
        tf.bincount([1, 1, 3]),
        tf.bincount(tf.constant([[1, 1], [3, 0]], tf.int64), minlength=6, dtype=tf.float32),
        tf.bincount([1, 1, 3], weights=[0.5, 1.5, 2.0], maxlength=3),
        tf.bincount(tf.constant([1.0, 2.0])),
    ],
    "histograms": lambda tf: [
        tf.histogram_fixed_width([-1.0, 0.0, 1.5, 2.0, 5.0, 15.0], [0.0, 5.0], nbins=5),
        tf.histogram_fixed_width(tf.constant([1, 2, 3]), [0, 5], 3, dtype=tf.int64, name="named"),
        tf.histogram_fixed_width_bins([[-1.0, 0.0, 1.5], [2.0, 5.0, 15.0]], [0.0, 5.0], nbins=5),
    ],
    "confusion": lambda tf: [
        tf.confusion_matrix([1, 2, 4], [2, 2, 4]),
        tf.confusion_matrix(tf.constant([0, 1, 1]), tf.constant([0, 0, 1]), num_classes=3, dtype=tf.float32),
        tf.confusion_matrix([[0], [1]], [0, 1], weights=[0.5, 2.0], dtype=tf.float32, name="named"),
    ],
}


@pytest.mark.parametrize("what", COUNTS)
def test_counts_are_tensorflows(what: str) -> None:
    check(COUNTS[what])
