"""Tensors that a session keeps between runs: what is wrong with a handle, and what a closed session keeps."""

from __future__ import annotations

import numpy as np
import pytest

import tensorkeep.v1 as tf
from tensorkeep.v1.programs.finding import module_at


def test_a_handle_of_the_second_kind_is_fetched_as_one() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        handle = session.run(tf.raw_ops.GetSessionHandleV2(value=tf.constant([1, 2])))
        assert isinstance(handle, module_at("python.ops.session_ops").TensorHandle)  # type: ignore[union-attr]
        holder, found = tf.get_session_tensor(handle.handle, tf.int32)
        assert session.run(found, {holder: handle.handle}).tolist() == [1, 2]


def test_what_is_kept_does_not_change_with_what_was_fed_or_is_given() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.placeholder(tf.float32, [2])
        fed = np.array([1.0, 2.0], np.float32)
        handle = session.run(tf.get_session_handle(x), {x: fed})
        fed[0] = 9.0
        holder, found = tf.get_session_tensor(handle, tf.float32)
        for value in (handle.eval(), session.run(found, {holder: handle.handle})):
            value[1] = 8.0
        assert handle.eval().tolist() == [1.0, 2.0]


def test_types_and_handles_that_do_not_fit_are_told() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        handle = session.run(tf.get_session_handle(tf.constant([1.0, 2.0])))
        holder, found = tf.get_session_tensor(handle.handle, tf.int32)
        with pytest.raises(tf.errors.InvalidArgumentError, match="has the type float32, and is asked for as int32"):
            session.run(found, {holder: handle.handle})
        with pytest.raises(tf.errors.InvalidArgumentError, match="of float32, and is fed to one of string: to a plac"):
            session.run(found, {holder: handle})
        with pytest.raises(tf.errors.InvalidArgumentError, match=r"Cannot feed value of shape \(2,\)"):
            session.run("x:0", {tf.placeholder(tf.float32, [3], name="x"): handle})
        with pytest.raises(tf.errors.InvalidArgumentError, match="'nothing' is no handle of a kept tensor"):
            tf.get_session_tensor("nothing", tf.float32)


def test_a_closed_session_keeps_nothing() -> None:
    with tf.Graph().as_default():
        with tf.Session() as session:
            handle = session.run(tf.get_session_handle(tf.constant(1.0)))
        with pytest.raises(tf.errors.InvalidArgumentError, match="is not in the session store"):
            handle.eval()
