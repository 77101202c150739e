"""`switch_case` beside TensorFlow: one node that calls one of several functions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

import tensorkeep.v1 as ours
from tests.interop.programs import tensorflow_1

theirs = tf.compat.v1
X = np.array([1.5, -2.0], np.float32)


def several(tf: Any, i: Any, x: Any) -> Any:
    return tf.switch_case(i, [lambda: x, lambda: x + 1.0, lambda: tf.exp(x) * 2.0])


def with_default(tf: Any, i: Any, x: Any) -> Any:
    return tf.switch_case(i, {0: lambda: x, 1: lambda: x + 1.0}, default=lambda: x * 3.0, name="sw")


def structures(tf: Any, i: Any, x: Any) -> Any:
    return tf.switch_case(i, [lambda: {"a": x, "b": (i, 2)}, lambda: {"a": x + 1.0, "b": (i + 1, i * 3)}])


def other_shapes(tf: Any, i: Any, x: Any) -> Any:
    return tf.switch_case(i, [lambda: tf.zeros([3]), lambda: tf.ones([2]), lambda: x])


def in_each_other(tf: Any, i: Any, x: Any) -> Any:
    inner = lambda: tf.switch_case(i - 1, [lambda: x * x, lambda: x - 1.0]) + 1.0  # noqa: E731
    return tf.switch_case(i, [lambda: x, inner, inner])


def in_a_branch(tf: Any, i: Any, x: Any) -> Any:
    return tf.cond(i > 0, lambda: several(tf, i, x * 2.0), lambda: x)


def variables(tf: Any, i: Any, x: Any) -> Any:
    w = tf.get_variable("w", [2], initializer=tf.ones_initializer(), use_resource=True)
    return tf.switch_case(i, [lambda: x * w, lambda: w + 1.0])


def built(tf: Any, program: Callable[..., Any]) -> tuple[Any, Any, Any]:
    graph = tf.Graph()
    with graph.as_default():
        i, x = tf.placeholder(tf.int32, [], name="i"), tf.placeholder(tf.float32, [2], name="x")
        y = program(tf, i, x)
        first = y["a"] if isinstance(y, dict) else y
        tf.global_variables_initializer()
        return graph.as_graph_def(), y, tf.gradients(first, [x])


def described(graph_def: Any) -> list[Any]:
    """The nodes without the names of functions, which TensorFlow counts in a process."""
    nodes = []
    for node in graph_def.node:
        attrs = {name: str(value) for name, value in node.attr.items() if name not in ("branches", "value")}
        nodes.append((node.name, node.op, list(node.input), attrs))
    return nodes


@pytest.mark.parametrize(
    "program", [several, with_default, structures, other_shapes, in_each_other, in_a_branch, variables]
)
def test_switch_case_builds_tensorflows_nodes_and_gives_its_values(program: Callable[..., Any]) -> None:
    our_nodes, our_y, our_grad = built(ours, program)
    with tensorflow_1():
        their_nodes, their_y, their_grad = built(theirs, program)
        with theirs.Session(graph=their_grad[0].graph) as session:
            session.run("init")
            wanted = [session.run([their_y, their_grad], {"i:0": i, "x:0": X}) for i in (-1, 0, 1, 2, 5)]
    assert described(our_nodes) == described(their_nodes)
    session = ours.Session(graph=our_grad[0].graph)
    session.run("init")
    for i, expected in zip((-1, 0, 1, 2, 5), wanted, strict=True):
        found = session.run([our_y, our_grad], {"i:0": i, "x:0": X})
        for one, two in zip(tf.nest.flatten(found), tf.nest.flatten(expected), strict=True):
            np.testing.assert_allclose(one, two, rtol=1e-6)


@pytest.mark.parametrize(
    "program",
    [
        lambda tf, i, x: tf.switch_case(i, [lambda: 1, lambda: 2.0]),
        lambda tf, i, x: tf.switch_case(tf.cast(i, tf.int64), [lambda: 1, lambda: 2]),
        lambda tf, i, x: tf.switch_case(1, [lambda: 1]),
    ],
    ids=["other types", "another index", "no tensor"],
)
def test_both_refuse_what_makes_no_sense(program: Callable[..., Any]) -> None:
    for tf_module in (ours, theirs):
        with pytest.raises(TypeError), tensorflow_1():
            built(tf_module, program)


def test_the_static_shapes_are_what_all_branches_share() -> None:
    graph_def, y, _ = built(ours, other_shapes)
    assert y.shape.as_list() == [None]
    assert graph_def.versions.min_consumer == 12
