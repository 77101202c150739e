"""Copies of graphs: told shapes, cut, with calls of functions written out."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tensorkeep as tk
import tensorkeep.v1 as tf
from tensorkeep.graph.flattening import copied_graph
from tensorkeep.graph.graph import Graph
from tensorkeep.runtime.resources import VariableResource
from tensorkeep.runtime.session import Session
from tensorkeep.shapes import Shape
from tests.support.golden import golden


def _graph() -> Graph:
    graph = tf.Graph()
    with graph.as_default():
        x = tf.placeholder(tf.float32, [None, 3], name="x")
        tf.tanh(tf.add(x, tf.constant(1.0), name="sum"), name="y")
    return graph


def test_a_copy_is_told_the_shape_of_a_placeholder() -> None:
    graph = _graph()
    copy = copied_graph(graph, {graph.tensor("x:0"): Shape((2, None))})
    assert copy.tensor(graph.tensor("y:0")).static_shape == Shape((2, 3))
    assert graph.tensor("y:0").static_shape == Shape((None, 3))


def test_a_tensor_in_the_middle_becomes_a_placeholder() -> None:
    graph = _graph()
    copy = copied_graph(graph, {graph.tensor("sum:0"): Shape((5, 3))})
    given = copy.tensor(graph.tensor("sum:0"))
    assert given.op.type == "Placeholder"
    found = Session(copy.graph).run(copy.tensor(graph.tensor("y:0")), {given: np.zeros((5, 3), np.float32)})
    np.testing.assert_array_equal(found, np.zeros((5, 3)))


def test_a_shape_that_contradicts_is_an_error() -> None:
    graph = _graph()
    with pytest.raises(tk.InvalidArgumentError, match=r'"x:0" has the shape \[\?,3\], and \[2,4\] is another'):
        copied_graph(graph, {graph.tensor("x:0"): Shape((2, 4))})


def test_a_copy_may_have_some_operations_only() -> None:
    graph = _graph()
    given = graph.tensor("sum:0")
    copy = copied_graph(graph, {given: given.static_shape}, only=[graph.operation("y")])
    assert sorted(op.name for op in copy.graph.operations) == ["sum__0", "y"]


def test_calls_are_written_out_under_the_names_of_their_operations() -> None:
    with tk.load_saved_model(golden("g29_keras_dense") / "model") as model:
        part = model.signature_part("serving_default")
        copy = copied_graph(part.session.graph, flat=True)
        names = {op.name for op in copy.graph.operations}
        assert "StatefulPartitionedCall/functional_1/h_1/MatMul" in names
        assert not {op.type for op in copy.graph.operations} & {"StatefulPartitionedCall", "PartitionedCall"}
        values: dict[str, Any] = {"a": np.ones((2, 4), np.float32), "b": np.ones((2, 2), np.float32)}
        expected = model.signatures["serving_default"](**values)
        feeds: dict[Any, Any] = {copy.tensor(part.inputs[name]): array for name, array in values.items()}
        feeds |= {copy.tensor(tensor): item for tensor, item in part.captured.items()}
        session = part.session.beside(copy.graph)
        for name, tensor in part.outputs.items():
            np.testing.assert_array_equal(session.run(copy.tensor(tensor), feeds), expected[name])


def test_a_session_gives_the_resource_of_a_variable_and_of_nothing_else() -> None:
    with tf.Graph().as_default() as graph, tf.Session() as session:
        tf.get_variable("v", initializer=np.float32(3), use_resource=True)
        x = tf.placeholder(tf.float32, [], name="x")
        session.run(tf.global_variables_initializer())
        held = session.core.lasting_resource(graph.get_operation_by_name("v"))
        assert isinstance(held, VariableResource)
        assert held.read() == 3
        assert session.core.lasting_resource(x.op) is None
