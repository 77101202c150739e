"""Runs in several steps: each step of a program has the outcome that it has in TensorFlow."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

import tensorkeep.v1 as ours

v1 = tf.compat.v1

Steps = Callable[[Any, Any], list[Callable[[], Any]]]


def values(tf: Any) -> tuple[Any, ...]:
    a, b, c = (tf.placeholder(tf.float32, [], name=name) for name in "abc")
    total = tf.add(a, b, name="total")
    return a, b, c, total, tf.multiply(total, c, name="product")


def in_order(tf: Any, session: Any) -> list[Callable[[], Any]]:
    a, b, c, total, product = values(tf)
    handle = session.partial_run_setup([total, product], [a, b, c])
    return [
        lambda: session.partial_run(handle, total, {a: 1, b: 2}),
        lambda: session.partial_run(handle, [product], {c: 10}),
        lambda: session.partial_run(handle, product, {c: 10}),
    ]


def by_name(tf: Any, session: Any) -> list[Callable[[], Any]]:
    handle = (values(tf), session.partial_run_setup({"x": ["total:0"], "y": "product:0"}, ["a:0", "b:0", "c:0"]))[1]
    return [
        lambda: session.partial_run(handle, {"q": "total:0"}, {"a:0": 1, "b:0": 2}),
        lambda: session.partial_run(handle, ("product:0",), {"c:0": 10}),
    ]


def refused(tf: Any, session: Any) -> list[Callable[[], Any]]:
    a, b, c, total, product = values(tf)
    handle = session.partial_run_setup([total, product], [a, b, c])
    undeclared = session.partial_run_setup(product, [a, b, c])
    return [
        lambda: session.partial_run(handle, total, {a: 1}),
        lambda: session.partial_run(handle, total, {b: 1}),
        lambda: session.partial_run(handle, total, {a: [1, 2], b: 1}),
        lambda: session.partial_run(handle, total, {a: 1, b: 1}),
        lambda: session.partial_run(handle, product, {a: 1, c: 1}),
        lambda: session.partial_run(handle, [product, total], {c: 1}),
        lambda: session.partial_run(handle, product, {c: 1}),
        lambda: session.partial_run(undeclared, total, {a: 1, b: 1}),
        lambda: session.partial_run(undeclared, product, {a: 1, b: 1, c: 3}),
        lambda: session.partial_run("nothing", product, {}),
        lambda: session.partial_run_setup([], [a]),
        lambda: session.partial_run_setup([total], [a, a, b]),
        lambda: session.partial_run_setup([a, total], [a, b]),
        lambda: session.partial_run_setup(None, [a]),
    ]


def only_fed(tf: Any, session: Any) -> list[Callable[[], Any]]:
    a, b, c, total, product = values(tf)
    handle = session.partial_run_setup([total, product], [a, b, c])
    return [
        *(lambda tensor=tensor: session.partial_run(handle, [], {tensor: 2}) for tensor in (a, b)),
        lambda: session.partial_run(handle, [total, product, total], {c: 3}),
    ]


def of_a_middle_tensor(tf: Any, session: Any) -> list[Callable[[], Any]]:
    _, _, c, total, product = values(tf)
    handle = session.partial_run_setup(product, [total, c])
    return [lambda: session.partial_run(handle, product, {c: 2, total: 4})]


def with_operations(tf: Any, session: Any) -> list[Callable[[], Any]]:
    a, b, c, total, product = values(tf)
    variable = tf.get_variable("v", [], initializer=tf.zeros_initializer(), use_resource=False)
    count = tf.assign_add(variable, total).op
    session.run(variable.initializer)
    handle = session.partial_run_setup([total, count, product], [a, b, c])
    return [
        lambda: session.partial_run(handle, [total, count], {a: 1, b: 2}),
        lambda: session.partial_run(handle, total, {a: 1, b: 2}),
        lambda: session.partial_run(handle, product, {c: 2}),
        lambda: session.run(variable),
    ]


def once(tf: Any, session: Any) -> list[Callable[[], Any]]:
    a = tf.placeholder(tf.float32, [])
    drawn = tf.random_uniform([])
    moved = drawn + a
    handle = session.partial_run_setup([drawn, moved], [a])
    return [lambda: session.partial_run(handle, drawn) == session.partial_run(handle, moved, {a: 0})]


def of_sparse_tensors(tf: Any, session: Any) -> list[Callable[[], Any]]:
    sparse = tf.sparse_placeholder(tf.float32, [3])
    total = tf.sparse_reduce_sum(sparse)
    handle = session.partial_run_setup(total, [sparse])
    fed = tf.SparseTensorValue(np.array([[0], [2]], np.int64), np.array([1, 2], np.float32), np.array([3], np.int64))
    return [lambda: session.partial_run(handle, total, {sparse: fed})]


PROGRAMS: list[Steps] = [
    *(in_order, by_name, refused, only_fed, of_a_middle_tensor, with_operations, once, of_sparse_tensors),
]


def outcomes(tf: Any, program: Steps) -> list[Any]:
    found: list[Any] = []
    with tf.Graph().as_default(), tf.Session() as session:
        for step in program(tf, session):
            try:
                found.append(step())
            except Exception as error:
                found.append(kind_of(error))
    return found


def kind_of(error: Exception) -> type[Exception]:
    """Of which kind it is: ours of arguments are values that are wrong as well."""
    if isinstance(error, v1.errors.InvalidArgumentError):
        return ValueError
    return next(kind for kind in (TypeError, ValueError, RuntimeError) if isinstance(error, kind))


@pytest.mark.parametrize("program", PROGRAMS)
def test_each_step_has_the_outcome_that_it_has_there(program: Steps) -> None:
    assert outcomes(ours, program) == outcomes(v1, program)
