"""`tf.graph_util` as programs use it."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest

import tensorkeep.v1 as tf


def add() -> tf.Graph:
    graph = tf.Graph()
    with graph.as_default():
        first = tf.Variable(tf.constant([1.0]), name="v1")
        second = tf.get_variable("v2", initializer=tf.constant([2.0]), use_resource=True)
        tf.add(first, second, name="add")
        tf.global_variables_initializer()
    return graph


def test_a_model_becomes_one_file_and_the_messages_count_the_variables(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    graph = add()
    with tf.Session(graph=graph) as session, caplog.at_level(logging.INFO, "tensorkeep"):
        session.run("init")
        frozen = tf.graph_util.convert_variables_to_constants(session, graph.as_graph_def(), ["add"])
    assert [record.message for record in caplog.records] == [
        "Froze 2 variables.",
        "Converted 2 variables to const ops.",
    ]
    path = tf.train.write_graph(frozen, str(tmp_path), "frozen.pb", as_text=False)
    loaded = tf.GraphDef()
    loaded.ParseFromString(Path(path).read_bytes())
    with tf.Graph().as_default():
        (result,) = tf.graph_util.import_graph_def(loaded, return_elements=["add:0"])
        with tf.Session() as session:
            assert session.run(result).tolist() == [3.0]


def test_variables_that_have_no_value_are_an_error() -> None:
    graph = add()
    with tf.Session(graph=graph) as session, pytest.raises(tf.errors.FailedPreconditionError, match="v1, v2"):
        tf.graph_util.convert_variables_to_constants(session, graph.as_graph_def(), ["add"])


def test_names_and_shapes() -> None:
    graph = add()
    assert tf.graph_util.tensor_shape_from_node_def_name(graph, "add").as_list() == [1]
    assert tf.graph_util.tensor_shape_from_node_def_name(graph, "v1:0").as_list() == [1]
    assert tf.graph_util.must_run_on_cpu(graph.get_operation_by_name("v1"), pin_variables_on_cpu=True)
    part = tf.graph_util.extract_sub_graph(graph.as_graph_def(), ["v1/read"])
    assert [node.name for node in part.node] == ["v1", "v1/read"]
    assert [node.name for node in tf.graph_util.remove_training_nodes(part).node] == ["v1"]
