"""`tf.layers` without TensorFlow: scopes, reuse, collections, and what is refused."""

from __future__ import annotations

from collections.abc import Iterator
from copy import deepcopy
from typing import Any

import numpy as np
import pytest

from tensorkeep.dtypes import BOOL, FLOAT32, INT32
from tensorkeep.errors import InvalidArgumentError, TensorKeepError
from tensorkeep.graph.building import building
from tensorkeep.graph.collections import GraphKeys
from tensorkeep.graph.graph import Graph
from tensorkeep.runtime.session import Session
from tensorkeep.tf1 import layers
from tensorkeep.tf1.functions.arrays.shapes import placeholder
from tensorkeep.tf1.functions.constants import constant
from tensorkeep.tf1.functions.numbers.elementwise import square
from tensorkeep.tf1.functions.numbers.reductions import reduce_sum
from tensorkeep.tf1.variables.initializers import RandomNormal
from tensorkeep.tf1.variables.listing import global_variables_initializer
from tensorkeep.tf1.variables.modes import AUTO_REUSE
from tensorkeep.tf1.variables.scopes import variable_scope


@pytest.fixture(autouse=True)
def graph() -> Iterator[Graph]:
    made = Graph()
    with building(made):
        yield made


def x(*shape: int | None, dtype: Any = FLOAT32) -> Any:
    return placeholder(dtype, shape)


def names(graph: Graph, key: str) -> list[str]:
    return [item.name for item in graph.collections.get(key, [])]


def run(graph: Graph, fetches: Any, feeds: Any = None) -> Any:
    with Session(graph=graph) as session:
        session.run(global_variables_initializer())
        return session.run(fetches, feeds)


def test_layers_of_the_same_kind_get_scopes_of_their_own(graph: Graph) -> None:
    y = layers.dense(layers.dense(x(None, 3), 2), 2)
    assert names(graph, GraphKeys.TRAINABLE_VARIABLES) == [
        "dense/kernel:0",
        "dense/bias:0",
        "dense_1/kernel:0",
        "dense_1/bias:0",
    ]
    assert y.name == "dense_1/BiasAdd:0"


def test_a_layer_that_is_called_again_uses_its_variables_again(graph: Graph) -> None:
    layer = layers.Dense(3, name="shared")
    y = layer(layer(x(None, 3)))
    assert len(names(graph, GraphKeys.GLOBAL_VARIABLES)) == 2
    assert y.name == "shared/BiasAdd_1:0"
    assert layer.scope_name == "shared"
    assert layer.count_params() == 12


def test_a_copy_of_a_layer_shares_its_variables_and_nothing_else(graph: Graph) -> None:
    layer = layers.Dense(3, name="shared", use_bias=True)
    layer(x(None, 3))
    copied = deepcopy(layer)
    assert [v is w for v, w in zip(copied.weights, layer.weights, strict=True)] == [True, True]
    assert copied(x(None, 3)).graph is graph
    assert len(names(graph, GraphKeys.GLOBAL_VARIABLES)) == 2
    copied.trainable_weights.clear()
    copied.trainable = False
    assert len(layer.trainable_weights) == 2


def test_a_name_may_be_used_again_only_if_reuse_is_said() -> None:
    layers.dense(x(None, 3), 3, name="shared")
    with pytest.raises(ValueError, match=r"shared/kernel already exists"):
        layers.dense(x(None, 3), 3, name="shared")
    layers.dense(x(None, 3), 3, name="shared", reuse=True)


def test_another_size_of_the_last_axis_is_refused_once_the_layer_is_built() -> None:
    layer = layers.Dense(3)
    layer(x(None, 3))
    with pytest.raises(InvalidArgumentError, match=r"expected axis -1 of input shape to have value 3"):
        layer(x(None, 4))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: layers.dense(x(3), 2), "expected min_ndim=2, found ndim=1"),
        (lambda: layers.dense(x(None, None), 2), "The last dimension of the inputs to a Dense layer should be defined"),
        (lambda: layers.dense(x(2, 2, dtype=INT32), 2), "can only be built with a floating-point dtype"),
        (lambda: layers.dense(x(2, 2), -1), "expected a positive integer"),
        (lambda: layers.dense(x(2, 2), 2, activation="fancy"), "Unknown activation function: 'fancy'"),
        (lambda: layers.Dense(2, colour="red"), "Keyword argument not understood"),
        (lambda: layers.dropout(x(2, 2), 1.5), "expected a value between 0 and 1"),
        (lambda: layers.conv2d(x(2, 5, 5, None), 2, 3), "The channel dimension of the inputs should be defined"),
        (lambda: layers.conv2d(x(2, 5, 5), 2, 3), "expected min_ndim=4, found ndim=3"),
        (lambda: layers.conv2d(x(2, 5, 5, 1), 2, (3, 3, 3)), "`kernel_size` argument must be a tuple of 2 integers"),
        (lambda: layers.conv2d(x(2, 5, 5, 1), 0, 3), "Expected a strictly positive value"),
        (lambda: layers.conv2d(x(2, 5, 5, 1), 2, 3, padding="causal"), "Causal padding is only supported"),
        (lambda: layers.conv2d(x(2, 5, 5, 1), 2, 3, padding="odd"), "`padding` argument must be"),
        (lambda: layers.conv2d(x(2, 5, 5, 1), 2, 3, data_format="NHWC"), "`data_format` argument must be one of"),
        (lambda: layers.conv2d(x(2, 5, 5, 1), 2, 3, strides=2, dilation_rate=2), "not supported in conjunction"),
        (lambda: layers.conv2d(x(2, 2, 2, 1), 2, 5), "the output is <= 0|Negative dimension size"),
        (lambda: layers.conv2d_transpose(x(2, 2, 2), 2, 5), "rank 4|ndim=3"),
        (lambda: layers.max_pooling2d(x(2, 4, 4, 1), 2, None), "`strides` must not be None"),
        (lambda: layers.max_pooling2d(x(2, 4, 4), 2, 2), "expected ndim=4, found ndim=3"),
        (lambda: layers.batch_normalization(x(2, None)), "Input has undefined `axis` dimension"),
        (lambda: layers.batch_normalization(x(2, 3), axis=2), "Expected 0 <= axis < inputs.rank"),
        (lambda: layers.batch_normalization(x(2, 3), axis=[1, -1]), "Duplicate axis"),
        (lambda: layers.batch_normalization(x(2, 3), axis="1"), "Expected an int or a list/tuple of ints"),
        (lambda: layers.batch_normalization(x(2, 3), renorm=True, renorm_clipping={"r": 1}), "invalid keys"),
        (lambda: layers.batch_normalization(x(4, 3), virtual_batch_size=2, axis=0), "axis cannot include 0"),
    ],
)
def test_what_makes_no_sense_is_refused(call: Any, message: str) -> None:
    with pytest.raises(TensorKeepError, match=message):
        call()


def test_losses_of_weights_are_collected_once_for_each_variable(graph: Graph) -> None:
    def regularizer(weights: Any) -> Any:
        return 0.5 * reduce_sum(square(weights))

    layers.dense(x(None, 3), 3, name="shared", kernel_regularizer=regularizer)
    layers.dense(x(None, 3), 3, name="shared", reuse=True, kernel_regularizer=regularizer)
    assert names(graph, GraphKeys.REGULARIZATION_LOSSES) == ["shared/kernel/Regularizer/mul:0"]


def test_batch_normalization_moves_its_averages_only_while_training(graph: Graph) -> None:
    values = np.arange(12, dtype=np.float32).reshape(4, 3)
    training = placeholder(BOOL, [])
    layer = layers.BatchNormalization(momentum=0.5)
    y = layer(constant(values), training=training)
    updates = graph.collections[GraphKeys.UPDATE_OPS]
    with Session(graph=graph) as session:
        session.run(global_variables_initializer())
        session.run(updates, {training: False})
        np.testing.assert_array_equal(session.run(layer.moving_mean), np.zeros(3))
        session.run(updates, {training: True})
        np.testing.assert_allclose(session.run(layer.moving_mean), values.mean(axis=0) / 2)
        np.testing.assert_allclose(session.run(layer.moving_variance), 0.5 + values.var(axis=0) / 2)
        normalized = (values - values.mean(axis=0)) / np.sqrt(values.var(axis=0) + 1e-3)
        np.testing.assert_allclose(session.run(y, {training: True}), normalized, rtol=1e-5)


def test_updates_of_a_layer_that_is_not_trained_are_not_collected(graph: Graph) -> None:
    layers.batch_normalization(x(4, 3), training=True, trainable=False)
    assert names(graph, GraphKeys.UPDATE_OPS) == []
    assert names(graph, GraphKeys.TRAINABLE_VARIABLES) == []


def test_a_layer_inside_another_is_told_whether_it_is_trained(graph: Graph) -> None:
    class Outer(layers.Layer):
        def call(self, inputs: Any, training: Any = False) -> Any:
            return layers.Dropout(0.5, seed=1)(inputs)

    ones = np.ones((4, 4), np.float32)
    assert (run(graph, Outer()(ones, training=True)) == 0).any()
    assert (run(graph, Outer()(ones)) == 1).all()


def test_layers_take_channels_first(graph: Graph) -> None:
    last, first = x(2, 6, 5, 3), x(2, 3, 6, 5)
    with variable_scope("net", reuse=AUTO_REUSE, initializer=RandomNormal(seed=1)):
        results = []
        for inputs, data_format in ((last, "channels_last"), (first, "channels_first")):
            y = layers.conv2d(inputs, 4, 2, name="conv", data_format=data_format)
            y = layers.separable_conv2d(y, 4, 2, name="separable", data_format=data_format)
            y = layers.conv2d_transpose(y, 4, 2, name="transposed", data_format=data_format)
            results.append(layers.max_pooling2d(y, 2, 2, data_format=data_format))
    values = np.random.default_rng(0).normal(size=(2, 6, 5, 3)).astype(np.float32)
    ours, other = run(graph, results, {last: values, first: np.transpose(values, (0, 3, 1, 2))})
    np.testing.assert_allclose(np.transpose(other, (0, 2, 3, 1)), ours, rtol=1e-4, atol=1e-5)


def test_layers_are_named_after_their_class_and_counted() -> None:
    assert [layers.Conv2DTranspose(1, 1).name, layers.Dense(1).name, layers.Dense(1).name] == [
        "conv2d_transpose_1",
        "dense_1",
        "dense_2",
    ]
    assert layers.Dense(1, name="mine").name == "mine"


def test_an_input_spec_says_what_it_asks_for() -> None:
    assert repr(layers.InputSpec(ndim=4, axes={-1: 3})) == "InputSpec(ndim=4, axes={-1: 3})"
    assert layers.InputSpec(shape=(None, 3)).ndim == 2
    with pytest.raises(InvalidArgumentError, match="Axis 5 is greater than the maximum allowed value: 1"):
        layers.InputSpec(ndim=2, axes={5: 1})


SHAPED: dict[str, tuple[Any, list[int | None]]] = {
    "dense": (lambda: layers.Dense(3), [None, 4]),
    "conv1d": (lambda: layers.Conv1D(4, 3, padding="same"), [2, 7, 3]),
    "conv2d": (lambda: layers.Conv2D(3, 2, 2, dilation_rate=1), [None, 8, 9, 1]),
    "conv2d_transpose": (lambda: layers.Conv2DTranspose(3, 3, 2, padding="same"), [None, 8, 9, 1]),
    "separable_conv2d": (lambda: layers.SeparableConv2D(3, 2, 2), [None, 8, 9, 1]),
    "max_pooling2d": (lambda: layers.MaxPooling2D(2, 2), [None, 8, 9, 1]),
    "average_pooling1d": (lambda: layers.AveragePooling1D(3, 2, "same"), [2, 7, 3]),
    "flatten": (lambda: layers.Flatten(), [None, 3, 4]),
    "batch_normalization": (lambda: layers.BatchNormalization(), [None, 3]),
    "dropout": (lambda: layers.Dropout(), [1, 2]),
}


@pytest.mark.parametrize("kind", SHAPED)
def test_the_shape_of_outputs_is_known_before_a_layer_is_called(kind: str) -> None:
    make, shape = SHAPED[kind]
    told = make().compute_output_shape(shape)
    assert told.as_list()[1:] == make()(x(*shape)).get_shape().as_list()[1:]
    assert told.as_list()[0] == shape[0]


def test_layers_are_built_for_shapes_as_lists_where_they_are(graph: Graph) -> None:
    with variable_scope("s"):
        dense, normalization = layers.Dense(3), layers.BatchNormalization(name="n", center=False, scale=False)
        dense.build([None, 4])
        normalization.build((None, 4))
    dense(x(None, 4))
    assert names(graph, GraphKeys.GLOBAL_VARIABLES) == [
        "s/dense/kernel:0",
        "s/dense/bias:0",
        "s/n/moving_mean:0",
        "s/n/moving_variance:0",
    ]
