"""Expressions: literals and NumPy's harmless functions have values, and nothing else does."""

from __future__ import annotations

import ast
from contextlib import suppress

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tensorkeep.errors import InvalidArgumentError
from tensorkeep.saved_model.show.safe_expressions import evaluate


@pytest.mark.parametrize(
    "text", ["1", "-2.5", "[[1, 2], [3, 4]]", "'abc'", "b'x'", "(1, 'a')", "{'a': [1]}", "None", "True"]
)
def test_literals_are_what_python_says(text):
    assert evaluate(text) == ast.literal_eval(text)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("np.ones((1,6))", np.ones((1, 6))),
        ("np.ones(2)", np.ones(2)),
        ("numpy.zeros((2, 3), dtype=np.int32)", np.zeros((2, 3), np.int32)),
        ("np.arange(6).reshape(2, 3)", np.arange(6).reshape(2, 3)),
        ("np.arange(6, dtype='float32').reshape((2, 3)) / 2", np.arange(6, dtype="float32").reshape(2, 3) / 2),
        ("np.full((2,), 7.0) * 2 - 1", np.full((2,), 13.0)),
        ("np.linspace(0, 1, 5)", np.linspace(0, 1, 5)),
        ("np.array([[1, 2]], np.float32)", np.array([[1, 2]], np.float32)),
        ("np.eye(3)", np.eye(3)),
        ("np.float32(2)", np.float32(2)),
        ("np.array([b'a', b'b'])", np.array([b"a", b"b"])),
        ("[np.pi, 2 ** 3]", [np.pi, 8]),
        ("np.expand_dims(np.ones(3).astype(np.int64), 0)", np.ones((1, 3), np.int64)),
        ("-np.ones(1)", -np.ones(1)),
    ],
)
def test_harmless_functions_of_numpy_have_values(text, value):
    found = evaluate(text)
    assert np.array_equal(found, value)
    assert np.asarray(found).dtype == np.asarray(value).dtype


def test_random_numbers_have_the_shape_that_is_asked_for():
    assert evaluate("np.random.rand(2, 3)").shape == (2, 3)
    assert evaluate("np.random.randint(0, 1000000000, size=(4,))").shape == (4,)


@pytest.mark.parametrize(
    "text",
    [
        "__import__('os').system('true')",
        "np.load('x')",
        "np.fromfile('x')",
        "np.lib.npyio.os",
        "np.ones.__globals__",
        "np.ones(1).tofile('x')",
        "np.ones(1).__class__",
        "np.random.seed(1)",
        "np.array([1], dtype=object)",
        "np.array([1], dtype='O')",
        "open('x')",
        "(lambda: 1)()",
        "[x for x in (1,)]",
        "1 if True else 2",
        "f'{1}'",
        "x",
        "np",
        "np.ones(**{'shape': 2})",
        "np.ones(*[2])",
        "'a' * 1000000000",
        "[1] * 1000000000",
        "9 ** 9 ** 9",
        "2 ** 1000000",
        "np.ones(10 ** 12)",
        "np.ones((100000, 100000))",
        "np.zeros(shape=(100000, 100000))",
        "np.arange(10 ** 12)",
        "np.arange(0, 1, 1e-12)",
        "np.eye(1000000)",
        "np.linspace(0, 1, 10 ** 12)",
        "np.random.rand(100000, 100000)",
        "np.random.uniform(0, 1, (100000, 100000))",
        "np.ones((100000, 1)) * np.ones((1, 100000))",
        "np.ones(3) + np.ones(4)",
        "1 / 0",
        "np.ones(",
        "",
        "(" * 5000,
    ],
)
def test_everything_else_is_refused(text):
    with pytest.raises(InvalidArgumentError, match="is not a valid python literal"):
        evaluate(text)


@given(st.text(alphabet="npones()[]{}.,*+-/ 0123456789'\"=_:", max_size=40))
def test_any_text_has_a_value_or_is_refused(text):
    with suppress(InvalidArgumentError):
        evaluate(text)
