"""Tensors that a session keeps between runs: the same values, graphs and refusals as in TensorFlow."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import tensorflow

import tensorkeep.v1 as ours

theirs = tensorflow.compat.v1
BOTH = pytest.mark.parametrize("tf", [ours, theirs], ids=["ours", "theirs"])


@BOTH
def test_a_tensor_is_found_by_its_handle_until_it_is_deleted(tf: Any) -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        product = tf.multiply(tf.constant([10.0, 2.0]), tf.constant(5.0))
        made = tf.get_session_handle(product)
        assert (made.op.name, made.dtype.name, made.shape.as_list()) == ("GetSessionHandle", "string", [])
        handle = session.run(made)
        name, _, device = str(handle).split(";")
        assert (name, device) == ("GetSessionHandle", "/job:localhost/replica:0/task:0/device:CPU:0")
        assert handle.handle == str(handle)
        holder, found = tf.get_session_tensor(handle.handle, tf.float32)
        assert (holder.dtype.name, found.op.type, found.op.device, found.shape.rank) == (
            "string", "GetSessionTensor", device, None,
        )  # fmt: skip
        for _ in range(2):
            np.testing.assert_array_equal(session.run(found * 2, {holder: handle.handle}), [100.0, 20.0])
        np.testing.assert_array_equal(handle.eval(), [50.0, 10.0])
        forgotten, forget = tf.delete_session_tensor(handle.handle)
        session.run(forget, {forgotten: handle.handle})
        gone, failed = (
            "The tensor with handle '{}' is not in the session",
            "Failed to delete a tensor with handle '{}' in",
        )
        for fetch, where, told in ((found, holder, gone), (forget, forgotten, failed)):
            with pytest.raises(tf.errors.InvalidArgumentError, match=told.format(handle)):
                session.run(fetch, {where: handle.handle})


@BOTH
def test_a_handle_is_fed_in_the_place_of_its_tensor(tf: Any) -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.placeholder(tf.int32, [None])
        y = x + 1
        handle = session.run(tf.get_session_handle(y), {x: [1, 2]})
        np.testing.assert_array_equal(session.run(y * 10, {y: handle}), [20, 30])
        other = session.run({"a": [tf.get_session_handle(y * 2)]}, {x: handle})["a"][0]
        np.testing.assert_array_equal(other.eval(), [6, 8])
        text = session.run(tf.get_session_handle(tf.constant(["a", "b"])))
        np.testing.assert_array_equal(text.eval(), [b"a", b"b"])


@BOTH
def test_a_deleted_handle_is_of_no_use(tf: Any) -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        handle = session.run(tf.get_session_handle(tf.constant(3.0)))
        handle.delete()
        for again in (handle.delete, handle.eval):
            with pytest.raises(TypeError, match=r"Persistent tensor .* may have already been deleted\."):
                again()
        with pytest.raises(TypeError, match="`data` must be of type Tensor"):
            tf.get_session_handle(3.0)


@BOTH
def test_tensors_without_handles_are_forgotten_but_for_those_whose_text_was_taken(tf: Any) -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        made = tf.get_session_handle(tf.constant(7.0))
        kept = session.run(made).get_raw_handle()
        lost = str(session.run(made))
        for _ in range(20):
            session.run(made)
        holder, found = tf.get_session_tensor(kept, tf.float32)
        assert session.run(found, {holder: kept}) == 7.0
        with pytest.raises(tf.errors.InvalidArgumentError, match="is not in the session store"):
            session.run(found, {holder: lost})


def test_the_graphs_are_equal() -> None:
    handle = "GetSessionHandle;0;/job:localhost/replica:0/task:0/device:CPU:0"
    nodes = []
    for tf in (ours, theirs):
        with tf.Graph().as_default() as graph:
            tf.get_session_handle(tf.constant(1.0, name="x"), name="kept")
            tf.get_session_tensor(handle, tf.float32)
            tf.delete_session_tensor(handle, name="forget")
        nodes.append(
            {
                node.name: (node.op, node.device, list(node.input), sorted(node.attr), str(node.attr["_class"]))
                for node in graph.as_graph_def().node
            }
        )
    assert nodes[0] == nodes[1]
