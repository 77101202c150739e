"""Graphs changed where they are: operations chosen, copied and led elsewhere, as by `tf.contrib.graph_editor`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import tensorkeep.v1 as tf
from tensorkeep.errors import InvalidArgumentError, WrongTypeError
from tensorkeep.tf1.functions.gradients import graph_edits as ge
from tensorkeep.tf1.functions.gradients.graph_walks import get_backward_walk_ops


@pytest.fixture(autouse=True)
def graph() -> Iterator[Any]:
    with tf.Graph().as_default() as made:
        yield made


def run(fetches: Any) -> Any:
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        return session.run(fetches)


def chain() -> tuple[Any, Any, Any]:
    x = tf.constant(3.0, name="x")
    with tf.name_scope("inner"):
        y = tf.square(x, name="y")
        z = tf.multiply(y, 2.0, name="z")
    return x, y, z


def test_operations_and_tensors_are_chosen_by_patterns_and_functions(graph: Any) -> None:
    _, y, z = chain()
    assert [op.name for op in ge.select_ops("inner/.$", graph=graph)] == ["inner/y", "inner/z"]
    assert ge.select_ops(y.op, re.compile("z$")) == [y.op, z.op]
    assert ge.select_ts("(?#ts)inner/z:", z) == [z]
    assert ge.select_ops_and_ts("^x$", "(?#ts)z:0") == ([graph.get_operation_by_name("x")], [z])
    assert ge.filter_ts([y.op, z.op], positive_filter=True) == [y, z]
    assert ge.filter_ts_from_regex([y.op, z.op], "/z") == [z]
    assert ge.select_ops(y.op, z.op, positive_filter=True) == [y.op, z.op]
    assert ge.select_ops("^inner/", graph=graph, positive_filter=False) == []
    assert ge.select_ts(y, z, positive_filter=lambda tensor: tensor is z) == [z]
    assert ge.filter_ops_from_regex(graph, "inner/y$") == [y.op]
    with pytest.raises(WrongTypeError, match="expected operations"):
        ge.select_ops(z)


def test_a_view_knows_what_comes_in_and_what_goes_out(graph: Any) -> None:
    x, y, z = chain()
    view = ge.make_view(y.op, z.op)
    assert (view.inputs[0], view.outputs) == (x, [z])
    assert view.remap_inputs([x]).inputs == [x]
    assert ge.make_view(y.op).consumers() == [z.op]
    assert [op.name for op in ge.make_view_from_scope("inner", graph).ops] == ["inner/y", "inner/z/y", "inner/z"]


def test_operations_are_copied_with_other_tensors_in_the_place_of_some() -> None:
    x, y, z = chain()
    other = tf.constant(5.0)
    made, info = ge.copy_with_input_replacements([y.op, z.op], {x: other}, dst_scope="again", src_scope="inner")
    assert [op.name for op in made.ops] == ["again/y", "again/z"]
    assert info.transformed([z, x]) == [made.outputs[0], None]
    assert info.original(made.outputs[0]) is z
    assert run([z, made.outputs[0]]) == [18.0, 50.0]
    _, twice = ge.copy([y.op, z.op], dst_scope="again", src_scope="inner")
    assert twice.transformed(z).name == "again_1/z:0"
    with pytest.raises(InvalidArgumentError, match=r'"inner/y" is not in the scope "elsewhere/"'):
        ge.copy([y.op], src_scope="elsewhere")
    with pytest.raises(InvalidArgumentError, match="the view is empty"):
        ge.copy([])
    with tf.Graph().as_default() as another, pytest.raises(InvalidArgumentError, match="is of another graph"):
        ge.copy([y.op], dst_graph=another)


def test_a_copy_waits_for_the_copies_of_what_is_waited_for(graph: Any) -> None:
    first, outside = tf.constant(1.0), tf.no_op()
    with tf.control_dependencies([first, outside]):
        second = tf.constant(2.0)
    _, info = ge.copy([first.op, second.op])
    assert info.transformed(second.op).control_inputs == [info.transformed(first.op), outside]


def test_targets_are_computed_as_if_other_tensors_were_there() -> None:
    x, y, z = chain()
    weight = tf.get_variable("w", initializer=4.0)
    total = z + weight
    replaced = ge.graph_replace([total, y], {x: tf.constant(1.0)})
    assert run([total, *replaced]) == [22.0, 6.0, 1.0]
    with pytest.raises(InvalidArgumentError, match="not connected"):
        ge.graph_replace(x, {z: tf.constant(1.0)})


def test_what_takes_one_tensor_takes_another() -> None:
    x, y, z = chain()
    other = tf.constant(10.0)
    free, fixed = tf.negative(y), tf.negative(y)
    assert ge.reroute_ts([other], [y], cannot_modify=[fixed.op]) == 2
    assert run([z, free, fixed]) == [20.0, -10.0, -9.0]
    assert ge.swap_ts([x], [other], can_modify=[y.op, z.op]) == 2
    assert run([y, z]) == [100.0, 6.0]
    with pytest.raises(InvalidArgumentError, match="cannot take the place of"):
        ge.reroute_ts([tf.constant(1)], [x])
    with pytest.raises(InvalidArgumentError, match="as many tensors"):
        ge.reroute_ts([x, y], [x])


def test_operations_wait_for_others() -> None:
    x, y, _ = chain()
    late = tf.no_op()
    ge.add_control_inputs(y.op, [late])
    assert y.op.control_inputs == [late]
    with pytest.raises(InvalidArgumentError, match="already a control_input"):
        ge.add_control_inputs(y.op, late)
    ge.remove_control_inputs(y.op, [late])
    assert y.op.control_inputs == []
    with pytest.raises(InvalidArgumentError, match="is not a control_input"):
        ge.remove_control_inputs(y.op, [x.op])


def test_gradients_with_activations_computed_again_are_the_same() -> None:
    inputs = tf.constant(np.linspace(-1, 1, 12).reshape(3, 4), tf.float32)
    kernels = [tf.get_variable(f"w{n}", [4, 4], initializer=tf.random_normal_initializer(seed=n)) for n in range(3)]
    middle = tf.tanh(tf.matmul(tf.tanh(tf.matmul(inputs, kernels[0])), kernels[1]))
    loss = tf.reduce_sum(tf.tanh(tf.matmul(middle, kernels[2])))
    plain = tf.gradients(loss, kernels)
    kept = tf.stop_gradient(middle)
    above = get_backward_walk_ops([loss.op], stop_at_ts=[middle])
    copied, info = ge.copy_with_input_replacements([op for op in above if "/read" not in op.name and op.inputs], {})
    assert ge.reroute_ts([kept], [middle], can_modify=copied.ops) == 1
    of_middle, last = tf.gradients(info.transformed(loss), [kept, kernels[2]])
    first, second = tf.gradients(middle, kernels[:2], grad_ys=[of_middle])
    for ours, wanted in zip(*run([[first, second, last], plain]), strict=True):
        np.testing.assert_allclose(ours, wanted, rtol=1e-5)


def test_operations_of_a_loop_are_not_copied() -> None:
    loop = tf.while_loop(lambda i: i < 3, lambda i: i + 1, [tf.constant(0)])
    with pytest.raises(InvalidArgumentError, match=r"inside of a tf\.cond or a tf\.while_loop"):
        ge.copy(get_backward_walk_ops([loop.op]))
