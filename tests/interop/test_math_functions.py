"""Mathematics beside TensorFlow's: the same program gives the same nodes and the same numbers, gradients included."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tensorkeep.tf1.functions import operators
from tensorkeep.tf1.functions.gradients import reverse_walk
from tensorkeep.tf1.functions.numbers import elementwise
from tests.interop.programs import build, our_names, v1

assert operators  # importing it installs what operators do

OURS = our_names(
    elementwise,
    gradients=reverse_walk.gradients,
)
NAMES = {
    name: getattr(v1.math, name)
    for name in (
        "multiply_no_nan",
        "reciprocal_no_nan",
        "xdivy",
        "xlog1py",
        "xlogy",
        "polyval",
        "nextafter",
        "cumulative_logsumexp",
    )
} | {
    "bitwise_and": v1.bitwise.bitwise_and,
    "bitwise_or": v1.bitwise.bitwise_or,
    "bitwise_xor": v1.bitwise.bitwise_xor,
    "bitwise_invert": v1.bitwise.invert,
    "left_shift": v1.bitwise.left_shift,
    "right_shift": v1.bitwise.right_shift,
}


class Theirs:
    """compat.v1, with the functions of its submodules under our names."""

    def __getattr__(self, name: str) -> Any:
        return NAMES.get(name) or getattr(v1, name)


THEIRS = Theirs()
Program = Callable[[Any], Any]

X = np.array([[0.5, 1.25, 2.0], [0.75, 3.0, 1.5]], np.float32)
Y = np.array([[2.0, 0.5, 1.5], [1.0, 0.25, 3.0]], np.float32)


def check(program: Program, tolerance: float = 2e-5, feeds: dict[str, Any] | None = None) -> None:
    build(program, OURS, THEIRS).expect_same_values(feeds=feeds, tolerance=tolerance, absolute=tolerance)


OPERATORS: dict[str, Program] = {
    "with tensors": lambda tf: [
        f(tf.constant(X), tf.constant(Y))
        for f in (
            lambda x, y: x + y,
            lambda x, y: x - y,
            lambda x, y: x * y,
            lambda x, y: x / y,
            lambda x, y: x // y,
            lambda x, y: x % y,
            lambda x, y: x**y,
            lambda x, y: x < y,
            lambda x, y: x <= y,
            lambda x, y: x > y,
            lambda x, y: x >= y,
            lambda x, y: -x + abs(y),
        )
    ],
    "with numbers": lambda tf: [
        f(tf.constant(X, name="x"))
        for f in (
            lambda x: x + 1,
            lambda x: 1 + x,
            lambda x: x - 2.5,
            lambda x: 2.5 - x,
            lambda x: x * 3,
            lambda x: 3 * x,
            lambda x: x / 2,
            lambda x: 2 / x,
            lambda x: x // 2,
            lambda x: 2 // x,
            lambda x: x % 2,
            lambda x: 2 % x,
            lambda x: x**2,
            lambda x: 2**x,
            lambda x: x > 1,
            lambda x: x <= 1,
        )
    ],
    "with arrays and lists": lambda tf: [tf.constant(X) + Y, Y - tf.constant(X), tf.constant(X) * [1.0, 2.0, 3.0]],
    "of whole numbers": lambda tf: [
        f(tf.constant([7, -7, 5]), tf.constant([2, 2, -3]))
        for f in (
            lambda x, y: x / y,
            lambda x, y: x // y,
            lambda x, y: x % y,
            lambda x, y: 1 / x,
            lambda x, y: x & y,
            lambda x, y: x | y,
            lambda x, y: x ^ y,
            lambda x, y: ~x,
            lambda x, y: x & 1,
            lambda x, y: 3 | y,
        )
    ],
    "of other types": lambda tf: [
        tf.constant([1.0, 2.0], tf.float64) * 2,
        2 + tf.constant([1.0, 2.0], tf.float16),
        tf.constant([1, 2], tf.int64) - 1,
        tf.constant([1, 2], tf.uint8) / tf.constant([2, 2], tf.uint8),
        abs(tf.constant([3 + 4j])),
    ],
    "of truth values": lambda tf: [
        f(tf.constant([True, True, False]), tf.constant([True, False, False]))
        for f in (
            lambda x, y: x & y,
            lambda x, y: x | y,
            lambda x, y: x ^ y,
            lambda x, y: ~x,
            lambda x, y: x * y,
            lambda x, y: x & True,
            lambda x, y: False ^ y,
        )
    ],
    "matrix product": lambda tf: [
        tf.constant(X) @ tf.constant(Y.T),
        X @ tf.constant(Y.T),
        tf.constant(X[None]) @ Y.T[None],
    ],
    "in scopes": lambda tf: [_scoped(tf)],
    "often": lambda tf: [sum([tf.constant(1.0) + i for i in range(4)])],
}


def _scoped(tf: Any) -> Any:
    x = tf.constant(X, name="x")
    with tf.name_scope("outer"):
        y = x * 2 + 1
        with tf.name_scope("inner"):
            return (y - x) / 3.0


@pytest.mark.parametrize("what", OPERATORS)
def test_operators_are_tensorflows(what: str) -> None:
    check(OPERATORS[what])


UNARY = [
    "abs",
    "sign",
    "negative",
    "square",
    "sqrt",
    "rsqrt",
    "reciprocal",
    "exp",
    "expm1",
    "log",
    "log1p",
    "sin",
    "cos",
    "tan",
    "asin",
    "acos",
    "atan",
    "sinh",
    "cosh",
    "tanh",
    "asinh",
    "acosh",
    "atanh",
    "floor",
    "ceil",
    "rint",
    "round",
    "sigmoid",
    "log_sigmoid",
    "is_nan",
    "is_inf",
    "is_finite",
    "reciprocal_no_nan",
    "conj",
    "real",
    "imag",
    "angle",
]


@pytest.mark.parametrize("name", UNARY)
def test_functions_of_one_number_are_tensorflows(name: str) -> None:
    values = X + 1 if name == "acosh" else X / 4

    def program(tf: Any) -> Any:
        function = getattr(tf, name)
        x = tf.placeholder(tf.float32, [2, 3], name="x")
        y = tf.placeholder(tf.float32, name="y")
        results = [function(x), function(y, name="named"), function(values.tolist())]
        if name.startswith("is_") or name in ("floor", "ceil", "rint", "round", "imag", "angle"):
            return results
        found = tf.gradients(results[0], [x]) + tf.gradients(results[1], [y])
        return results + found

    check(program, feeds={"x:0": values, "y:0": values})


@pytest.mark.parametrize("name", ["abs", "sign", "real", "imag", "angle", "conj", "square", "exp", "tanh"])
def test_functions_of_complex_numbers_are_tensorflows(name: str) -> None:
    def program(tf: Any) -> Any:
        x = tf.constant(np.array([1 + 2j, -0.5 + 0.25j], np.complex64), name="x")
        y = getattr(tf, name)(x)
        return [y, *tf.gradients(y, [x], tf.constant(np.ones(2), y.dtype.base_dtype))]

    check(program)


BINARY = [
    "add",
    "subtract",
    "multiply",
    "divide",
    "truediv",
    "realdiv",
    "floordiv",
    "floor_div",
    "truncatediv",
    "floormod",
    "mod",
    "truncatemod",
    "pow",
    "maximum",
    "minimum",
    "squared_difference",
    "atan2",
    "equal",
    "not_equal",
    "less",
    "less_equal",
    "greater",
    "greater_equal",
    "div",
    "div_no_nan",
    "multiply_no_nan",
    "xdivy",
    "xlogy",
    "xlog1py",
    "nextafter",
]
WITHOUT_GRADIENT = "equal not_equal less less_equal greater greater_equal floordiv floor_div truncatediv truncatemod"


@pytest.mark.parametrize("name", BINARY)
@pytest.mark.parametrize("shapes", [([2, 3], [2, 3]), ([2, 3], [3]), ([2, 3], None), ([None, 3], [1, 3])], ids=str)
def test_functions_of_two_numbers_are_tensorflows(name: str, shapes: tuple[Any, Any]) -> None:
    def program(tf: Any) -> Any:
        function = getattr(tf, name)
        x = tf.placeholder(tf.float32, shapes[0], name="x")
        y = tf.placeholder(tf.float32, shapes[1], name="y")
        z = function(x, y)
        if name in WITHOUT_GRADIENT.split():
            return [z, function(x, 2.0, name="named")]
        return [z, function(x, 2.0, name="named"), *tf.gradients(z, [x, y])]

    second = Y[0] if shapes[1] in ([3], None) else Y[:1] if shapes[1] == [1, 3] else Y
    check(program, feeds={"x:0": X, "y:0": second})


OTHERS: dict[str, Program] = {
    "logic": lambda tf: [
        tf.logical_and([True, False], True),
        tf.logical_or([True, False], False),
        tf.logical_not([True]),
        tf.logical_xor([True, False], [True, True]),
        tf.logical_xor([True, False], [True, True], name="x"),
    ],
    "bits": lambda tf: [
        tf.bitwise_and([3, 5], [1, 4]),
        tf.bitwise_or([3, 5], [1, 4]),
        tf.bitwise_xor([3, 5], [1, 4]),
        tf.bitwise_invert([3]),
        tf.left_shift([3], [2]),
        tf.right_shift([8], [1]),
    ],
    "divisions of whole numbers": lambda tf: [
        tf.divide([7, 2], [2, 3]),
        tf.divide(tf.constant([7, 2]), 2, name="named"),
        tf.divide(7, tf.constant([7, 2])),
        tf.truediv([7, 2], [2, 3]),
        tf.div([7, -2], [2, 3]),
        tf.floordiv([7, -2], 3),
        tf.mod([7, -2], 3),
        tf.div_no_nan([7, 2], [0, 3]),
        tf.div_no_nan(3.0, tf.constant([0.0, 2.0])),
    ],
    "strings": lambda tf: [tf.add(["a", "b"], "c"), tf.constant(["a"]) + "b"],
    "sums of several": lambda tf: [
        tf.add_n([tf.constant(X), tf.constant(Y), X]),
        tf.add_n([tf.constant(X)]),
        tf.add_n([tf.constant(X)], name="one"),
        tf.add_n((1, 2, 3), name="three"),
        tf.accumulate_n([tf.constant(X), tf.constant(Y)], shape=[2, 3]),
        tf.accumulate_n([tf.constant(X)], name="only"),
    ],
    "scalar_mul": lambda tf: [
        tf.scalar_mul(2.0, tf.constant(X)),
        tf.scalar_mul(3, tf.constant([1.0], tf.float64), "n"),
    ],
    "polyval": lambda tf: [tf.polyval([1.0, 2.0, 3.0], tf.constant(X)), tf.polyval([tf.constant(2.0)], 3.0)],
    "casts": lambda tf: [
        tf.cast(tf.constant(X), tf.int32),
        tf.cast(X, tf.float64),
        tf.cast(tf.constant([1, 2]), tf.bool),
        tf.cast(3, tf.float32, name="three"),
        tf.cast(tf.constant([1.5]), "int64"),
        tf.to_float([1, 2]),
        tf.to_double([1.0]),
        tf.to_int32([1.5]),
        tf.to_int64(tf.constant([2])),
        tf.to_bfloat16([1.5]),
        tf.to_complex64([1.5]),
        tf.to_complex128(tf.constant([1.5], tf.float64)),
    ],
    "gradients of casts": lambda tf: [
        grad
        for x in [tf.constant(X)]
        for grad in tf.gradients(tf.cast(tf.cast(x * 2.0, tf.float64) * 3.0, tf.float16), [x])
    ],
    "saturating casts": lambda tf: [
        tf.saturate_cast(tf.constant([-5.0, 300.0, 7.5]), tf.uint8),
        tf.saturate_cast(tf.constant([-5, 300, 70000]), tf.int16),
        tf.saturate_cast(tf.constant([1e10, -1e10, 5.0]), tf.int32),
        tf.saturate_cast(tf.constant([1e300, -1e300, 5.0], tf.float64), tf.float32),
        tf.saturate_cast([1, 2], tf.float32, name="named"),
        tf.saturate_cast(tf.constant([1e6, 5.0]), tf.float16),
        tf.saturate_cast(tf.constant([3, 250], tf.uint8), tf.int8),
    ],
    "complex": lambda tf: [tf.complex(X, Y), tf.complex(tf.constant(1.0, tf.float64), tf.constant(2.0, tf.float64))],
    "ranges": lambda tf: [
        tf.range(5),
        tf.range(2, 8),
        tf.range(0, 1, 0.25),
        tf.range(3.0, name="named"),
        tf.range(tf.constant(4)),
        tf.range(0, tf.constant(4, tf.int64)),
        tf.range(0, 10, 3, dtype=tf.float32),
        tf.range(tf.constant(2), 10.0, 2),
        tf.constant([1, 2, 3]) + range(3),
    ],
    "linspace": lambda tf: [
        tf.linspace(0.0, 1.0, 5),
        tf.linspace(0.0, 10.0, tf.constant(3), name="named"),
        tf.lin_space([0.0, 1.0], [1.0, 5.0], 4),
        tf.linspace([0.0, 1.0], [1.0, 5.0], 4, axis=-1),
    ],
    "running totals": lambda tf: [
        tf.cumsum(X),
        tf.cumsum(X, 1, exclusive=True),
        tf.cumsum(X, reverse=True, name="named"),
        tf.cumprod(X, axis=-1),
        tf.cumulative_logsumexp(X, axis=1),
    ],
    "gradients of running totals": lambda tf: [
        grad
        for function in (tf.cumsum, tf.cumprod, tf.cumulative_logsumexp)
        for x in [tf.constant(X)]
        for grad in tf.gradients(function(x, axis=1, reverse=True), [x])
    ],
    "cross": lambda tf: [
        grad for x in [tf.constant(X)] for y in [tf.constant(Y)] for grad in tf.gradients(tf.cross(x, y), [x, y])
    ],
    "second derivatives": lambda tf: [
        tf.gradients(tf.gradients(function(x), [x])[0], [x])[0]
        for function in (tf.tanh, tf.sigmoid, tf.sqrt, tf.rsqrt, tf.reciprocal, tf.exp, tf.square, tf.log, tf.sin)
        for x in [tf.constant(X)]
    ],
    "an expression": lambda tf: _expression(tf),
}


def _expression(tf: Any) -> Any:
    x = tf.constant(X, name="x")
    y = tf.constant(Y, name="y")
    z = tf.maximum(x, y) ** 2 / (1.0 + tf.exp(-x)) - tf.minimum(tf.sqrt(y), 0.5) * tf.log(x + 2)
    return [z, *tf.gradients(z, [x, y]), *tf.gradients(z * 2 + x, [y, x], name="more")]


@pytest.mark.parametrize("what", OTHERS)
def test_other_functions_are_tensorflows(what: str) -> None:
    check(OTHERS[what])
