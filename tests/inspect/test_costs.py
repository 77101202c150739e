"""How much a graph computes."""

from __future__ import annotations

import numpy as np
import pytest

import tensorkeep.v1 as tf
from tensorkeep.errors import TensorKeepError
from tensorkeep.inspect.costs import Cost, NodeCost, graph_cost, node_costs
from tests.inspect.models import graph_of
from tests.support.hostile_graphs import doubling_functions


def cost_of(graph: tf.Graph) -> Cost:
    return graph_cost(graph.as_graph_def())


def test_a_product_of_matrices_takes_two_operations_for_each_pair() -> None:
    with tf.Graph().as_default() as graph:
        tf.matmul(tf.zeros([2, 3]), tf.zeros([3, 5]))
        tf.matmul(tf.zeros([3, 2]), tf.zeros([3, 5]), transpose_a=True)
        tf.matmul(tf.zeros([7, 2, 3]), tf.zeros([7, 3, 5]))
    assert cost_of(graph).by_op == {"BatchMatMulV2": 2 * 7 * 2 * 3 * 5, "MatMul": 2 * (2 * 2 * 3 * 5)}


@pytest.mark.parametrize(("padding", "size"), [("SAME", 8), ("VALID", 6)])
def test_a_convolution_takes_a_product_for_each_place(padding: str, size: int) -> None:
    with tf.Graph().as_default() as graph:
        tf.nn.conv2d(tf.zeros([1, 8, 8, 3]), tf.zeros([3, 3, 3, 4]), [1, 1, 1, 1], padding)
        tf.nn.depthwise_conv2d(tf.zeros([1, 8, 8, 3]), tf.zeros([3, 3, 3, 2]), [1, 1, 1, 1], padding)
    found = cost_of(graph).by_op
    assert found["Conv2D"] == 2 * size * size * 4 * 3 * 3 * 3
    assert found["DepthwiseConv2dNative"] == 2 * size * size * 6 * 3 * 3


def test_a_dimension_that_is_not_known_counts_as_one() -> None:
    with tf.Graph().as_default() as graph:
        x = tf.placeholder(tf.float32, [None, 4])
        tf.nn.relu(tf.matmul(x, tf.zeros([4, 2])))
        tf.nn.relu(tf.placeholder(tf.float32))
    found = cost_of(graph)
    assert (found.by_op, found.unknown, found.total) == ({"MatMul": 16, "Relu": 2}, {"Relu": 1}, 18)


def test_what_functions_compute_counts_where_they_are_called() -> None:
    with tf.Graph().as_default() as graph:
        x = tf.zeros([2, 3])
        tf.cond(tf.constant(True), lambda: tf.matmul(x, np.zeros((3, 4), np.float32)), lambda: tf.zeros([2, 4]))
        tf.add(x, x)
    assert cost_of(graph).by_op["MatMul"] == 2 * 2 * 3 * 4


def test_what_only_moves_data_is_free() -> None:
    with tf.Graph().as_default() as graph:
        tf.reshape(tf.transpose(tf.zeros([2, 3])), [6])
    assert cost_of(graph) == Cost({}, {})


def test_reductions_take_up_every_element_once() -> None:
    with tf.Graph().as_default() as graph:
        tf.reduce_sum(tf.zeros([4, 5]), axis=1)
        tf.reduce_mean(tf.zeros([4, 5]), axis=1)
        tf.add_n([tf.zeros([3])] * 4)
    assert cost_of(graph).by_op == {"Mean": 20, "Sum": 16, "AddN": 9}


def test_a_graph_that_is_not_sound_is_an_error_like_others() -> None:
    with pytest.raises(TensorKeepError):
        graph_cost(graph_of({"y": ("Relu", ("nowhere",))}))


def test_functions_that_call_others_without_number_are_counted_once_each() -> None:
    graph_def = doubling_functions(40)
    graph_def.node[0].attr["shape"].shape.SetInParent()
    assert graph_cost(graph_def).by_op == {"Neg": 2**40}


def test_each_node_is_told_with_the_type_and_shape_of_what_it_gives() -> None:
    with tf.Graph().as_default() as graph:
        x = tf.placeholder(tf.float32, [None, 4], name="x")
        tf.nn.relu(tf.matmul(x, tf.zeros([4, 2]), name="product"), name="active")
    found = node_costs(graph.as_graph_def())
    assert found["", "product"] == NodeCost(16, ("float32 [?,2]",))
    assert found["", "active"] == NodeCost(2, ("float32 [?,2]",))
    assert found["", "x"] == NodeCost(0, ("float32 [?,4]",))
