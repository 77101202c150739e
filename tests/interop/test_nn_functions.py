"""`tf.nn`: the same program text builds TensorFlow's nodes, and gives its values."""

from __future__ import annotations

import inspect
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

import tensorkeep.v1 as tk
from tensorkeep.errors import TensorKeepError
from tensorkeep.graph.composites import SparseTensor
from tensorkeep.tf1.functions.arrays.shapes import placeholder_with_default
from tests.interop import graph_comparison
from tests.interop.nn_programs import NN, OURS, expect_close, same
from tests.interop.programs import build

MATRIX = np.array([[1.0, -2.0, 3.0], [0.5, 0.0, -0.25]], np.float32)
CUBE = np.arange(24, dtype=np.float32).reshape(2, 3, 4) / 5
IMAGES = (np.arange(2 * 5 * 6 * 2, dtype=np.float32).reshape(2, 5, 6, 2) % 7 - 3) / 2
FILTERS = (np.arange(3 * 2 * 2 * 4, dtype=np.float32).reshape(3, 2, 2, 4) % 5 - 2) / 2
ROWS = IMAGES[:, 0]
SPACE = (np.arange(1 * 3 * 4 * 4 * 2, dtype=np.float32).reshape(1, 3, 4, 4, 2) % 7 - 3) / 2
SPACE_FILTERS = (np.arange(2 * 2 * 2 * 2 * 3, dtype=np.float32).reshape(2, 2, 2, 2, 3) % 5 - 2) / 2


@pytest.mark.parametrize("name", sorted(vars(NN)))
def test_signatures_are_those_of_compat_v1(name: str) -> None:
    if not hasattr(tf.compat.v1.nn, name):
        assert hasattr(tf.compat.v1, name) or hasattr(tf.nn, name)
        return
    ours, theirs = inspect.signature(getattr(NN, name)), inspect.signature(getattr(tf.compat.v1.nn, name))
    # TensorFlow 1 has a first argument that is never given, so that what follows has to be named; 2 has dropped it
    names = [name for name in ours.parameters if name != "_sentinel"]
    assert names[: len(theirs.parameters)] == list(theirs.parameters)
    for parameter in theirs.parameters:
        wanted, found = theirs.parameters[parameter].default, ours.parameters[parameter].default
        if isinstance(wanted, list):
            wanted = tuple(wanted)
        assert found == wanted or str(getattr(wanted, "name", wanted)) == str(found), parameter


ACTIVATIONS = ["relu", "relu6", "leaky_relu", "crelu", "elu", "selu", "softplus", "softsign", "softmax", "log_softmax"]


@pytest.mark.parametrize("name", [*ACTIVATIONS, "l2_normalize", "l2_loss"])
def test_functions_of_one_tensor(name: str) -> None:
    def program(tf: Any) -> Any:
        x = tf.constant(MATRIX)
        function = getattr(tf.nn, name)
        return [function(x), function(x, name="named"), tf.gradients(function(x), x)]

    same(program)
    same(lambda tf: getattr(tf.nn, name)(MATRIX))
    same(lambda tf: getattr(tf.nn, name)(tf.placeholder(tf.float32, [None, 3], name="x")), runs=False)


def test_activations_with_arguments() -> None:
    def program(tf: Any) -> Any:
        x = tf.constant(MATRIX)
        whole = tf.constant([[1, -2]])
        return [
            tf.nn.leaky_relu(x, 0.3),
            tf.nn.leaky_relu(x, alpha=np.array(0.1)),
            tf.nn.leaky_relu(whole),
            tf.nn.crelu(x, axis=0),
            tf.nn.l2_normalize(x, 1, name="unit"),
            tf.nn.l2_normalize(x, dim=[0, 1], epsilon=1e-3),
            tf.nn.l2_normalize(tf.constant([1 + 2j, 3j]), 0),
        ]

    same(program)


def test_swish_brings_its_own_gradient() -> None:
    def program(tf: Any) -> Any:
        x, beta = tf.constant(MATRIX), tf.constant(2.0)
        y = tf.nn.swish(x, beta)
        return [tf.nn.swish(x), y, tf.gradients(y, [x, beta])]

    built = _without_gradient_names(program)
    expect_close(built)


def _without_gradient_names(program: Any) -> Any:
    """Compares graphs but for the numbers of custom gradients, which count what the process has made so far."""
    described = graph_comparison.described

    def without(node: Any) -> str:
        node.attr.pop("_gradient_op_type", None)
        return described(node)

    graph_comparison.described = without
    try:
        return build(program, OURS)
    finally:
        graph_comparison.described = described


@pytest.mark.parametrize("axis", [-1, 2, 0, 1, -2, -3])
@pytest.mark.parametrize("name", ["softmax", "log_softmax"])
def test_softmax_along_any_axis(name: str, axis: int) -> None:
    def program(tf: Any) -> Any:
        x = tf.constant(CUBE)
        return [getattr(tf.nn, name)(x, axis), getattr(tf.nn, name)(x, dim=axis, name="named")]

    same(program)


def test_softmax_along_an_axis_that_is_not_there() -> None:
    def program(tf: Any) -> Any:
        return tf.nn.softmax(tf.constant(CUBE), axis=3)

    with pytest.raises(TensorKeepError):
        build(program, OURS)


def test_biases_and_dense_layers() -> None:
    def program(tf: Any) -> Any:
        x, weights, biases = tf.constant(MATRIX), tf.constant(CUBE[0]), tf.constant([1.0, 2, 3, 4])
        return [
            tf.nn.bias_add(x, [1, 2, 3]),
            tf.nn.bias_add(CUBE, tf.constant([1.0, 2, 3]), data_format="NCW", name="first"),
            tf.nn.bias_add(CUBE, [1, 2, 3, 4], "NWC"),
            tf.nn.xw_plus_b(x, weights, biases),
            tf.nn.relu_layer(x, weights, biases, name="layer"),
            tf.gradients(tf.nn.bias_add(x, [1, 2, 3]), x),
        ]

    same(program)


def test_ranking() -> None:
    def program(tf: Any) -> Any:
        x = tf.constant(MATRIX)
        values, indices = tf.nn.top_k(x, 2)
        return [
            values,
            indices,
            tf.nn.top_k(x, k=tf.constant(1), sorted=False, name="best"),
            tf.nn.in_top_k(x, [0, 1], 2),
            tf.nn.in_top_k(x, [0, 1], k=1, name="hit"),
            tf.gradients(values, x),
        ]

    same(program)


def test_zero_fraction() -> None:
    same(lambda tf: tf.nn.zero_fraction(tf.constant(MATRIX)))


# ---------------------------------------------------------------------------------------------------- Dropout


def test_dropout_draws_tensorflows_numbers() -> None:
    def program(tf: Any) -> Any:
        x = tf.constant(np.ones((4, 5), np.float32))
        return [
            tf.nn.dropout(x, 0.5),
            tf.nn.dropout(x, keep_prob=0.3, seed=7),
            tf.nn.dropout(x, rate=0.25, noise_shape=[4, 1], name="rows"),
            tf.nn.dropout(x, rate=0.25, noise_shape=[None, 1]),
            tf.nn.dropout(x, keep_prob=tf.constant(0.5)),
            tf.nn.dropout(x, rate=tf.constant(0.75)),
            tf.nn.dropout(x, rate=0),
            tf.gradients(tf.nn.dropout(x, rate=0.5), x),
        ]

    same(program, seed=3)


def test_dropout_of_a_shape_that_is_not_known() -> None:
    def program(tf: Any) -> Any:
        return tf.nn.dropout(tf.placeholder(tf.float32, [None, 3], name="x"), rate=0.5, seed=1)

    expect_close(build(program, OURS, seed=1), {"x:0": np.ones((5, 3), np.float32)})


@pytest.mark.parametrize("arguments", [{}, {"rate": 1.0}, {"rate": -0.1}, {"rate": 0.1, "keep_prob": 0.9}])
def test_dropout_refuses_rates_that_make_no_sense(arguments: dict[str, Any]) -> None:
    def program(tf: Any) -> Any:
        return tf.nn.dropout(tf.constant(MATRIX), **arguments)

    with pytest.raises(TensorKeepError):
        build(program, OURS)


# ---------------------------------------------------------------------------------------------------- Losses


def test_cross_entropies_of_softmax() -> None:
    def program(tf: Any) -> Any:
        logits, labels = tf.constant(MATRIX), tf.constant([[0.0, 1.0, 0.0], [0.2, 0.3, 0.5]])
        cube, cube_labels = tf.constant(CUBE), tf.constant(np.full((2, 3, 4), 0.25, np.float32))
        v1, v2 = tf.nn.softmax_cross_entropy_with_logits, tf.nn.softmax_cross_entropy_with_logits_v2
        return [
            v1(labels=labels, logits=logits),
            v2(labels=labels, logits=logits, name="loss"),
            v2(labels=cube_labels, logits=cube, axis=1),
            v1(labels=cube_labels, logits=cube, dim=0),
            v2(labels=[[1, 0, 0], [0, 1, 0]], logits=tf.cast(logits, tf.float16)),
            tf.gradients(v1(labels=labels, logits=logits), [logits, labels])[0],
            tf.gradients(v2(labels=labels, logits=logits), [logits, labels]),
        ]

    same(program)


def test_cross_entropies_of_classes() -> None:
    def program(tf: Any) -> Any:
        logits, loss = tf.constant(MATRIX), tf.nn.sparse_softmax_cross_entropy_with_logits
        return [
            loss(labels=[0, 2], logits=logits),
            loss(labels=tf.constant([0, 2]), logits=logits, name="loss"),
            loss(labels=[[0, 1, 2], [3, 2, 1]], logits=tf.constant(CUBE)),
            loss(labels=[0, 2], logits=tf.cast(logits, tf.float16)),
            tf.gradients(loss(labels=[0, 2], logits=logits), logits),
        ]

    same(program)


def test_cross_entropies_of_shapes_that_are_not_known() -> None:
    def program(tf: Any) -> Any:
        logits = tf.placeholder(tf.float32, [None, None, 4], name="logits")
        labels = tf.placeholder(tf.int32, [None, None], name="labels")
        dense = tf.placeholder(tf.float32, [None, None, 4], name="dense")
        return [
            tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits),
            tf.nn.softmax_cross_entropy_with_logits_v2(labels=dense, logits=logits),
            tf.nn.sigmoid_cross_entropy_with_logits(labels=dense, logits=logits),
        ]

    labels = np.array([[0, 1, 2], [3, 2, 1]], np.int32)
    feeds = {"logits:0": CUBE, "labels:0": labels, "dense:0": np.full((2, 3, 4), 0.25, np.float32)}
    expect_close(build(program, OURS), feeds)


def test_losses_element_by_element() -> None:
    def program(tf: Any) -> Any:
        logits, labels = tf.constant(MATRIX), tf.constant([[0.0, 1.0, 0.0], [0.2, 3.0, 0.5]])
        sigmoid = tf.nn.sigmoid_cross_entropy_with_logits
        return [
            sigmoid(labels=labels, logits=logits),
            sigmoid(labels=labels, logits=logits, name="loss"),
            tf.gradients(sigmoid(labels=labels, logits=logits), [logits, labels]),
            tf.nn.weighted_cross_entropy_with_logits(labels, logits, 2.0),
            tf.nn.weighted_cross_entropy_with_logits(targets=labels, logits=logits, pos_weight=tf.constant(0.5)),
            tf.nn.log_poisson_loss(labels, logits),
            tf.nn.log_poisson_loss(labels, logits, compute_full_loss=True, name="full"),
        ]

    same(program)


# ---------------------------------------------------------------------------------------------------- Normalization


def test_moments() -> None:
    def program(tf: Any) -> Any:
        x = tf.constant(CUBE)
        unknown = tf.placeholder_with_default(CUBE, [None, None, 4])
        counts, mean, variance, shift = tf.nn.sufficient_statistics(x, [0, 2])
        shifted = tf.nn.sufficient_statistics(x, [1], shift=1.0, keep_dims=True, name="statistics")
        return [
            tf.nn.moments(x, [0, 1]),
            tf.nn.moments(x, axes=[1], keep_dims=True, name="kept"),
            tf.nn.moments(tf.cast(x, tf.float16), [0]),
            tf.nn.weighted_moments(x, [0], tf.constant([[1.0, 2, 3, 4]])),
            tf.nn.weighted_moments(x, [0, 1], 2, keepdims=True),
            [counts, mean, variance],
            tf.nn.normalize_moments(counts, mean, variance, shift),
            tf.nn.normalize_moments(*shifted, name="moments"),
            tf.nn.sufficient_statistics(unknown, [0, 1])[:3],
            tf.gradients(tf.nn.moments(x, [0])[1], x),
        ]

    same(program, ours=_with_default())


def _with_default(**more: Any) -> Any:
    return SimpleNamespace(**vars(OURS), placeholder_with_default=placeholder_with_default, **more)


def test_batch_normalization() -> None:
    def program(tf: Any) -> Any:
        x, vector = tf.constant(IMAGES), tf.constant([1.0, 2.0])
        normalize = tf.nn.batch_normalization
        fused = tf.nn.fused_batch_norm(x, vector, vector)
        return [
            normalize(x, vector, vector, vector, vector, 1e-3),
            normalize(x, vector, vector, None, None, 1e-3, name="plain"),
            normalize(x, vector, vector, vector, None, 1e-3),
            tf.nn.batch_norm_with_global_normalization(x, vector, vector, vector, vector, 1e-3, True),
            fused,
            tf.nn.fused_batch_norm(x, vector, vector, vector, vector, is_training=False, name="inference")[0],
            tf.gradients(fused[0], [x, vector]),
            tf.nn.lrn(x),
            tf.nn.local_response_normalization(x, 2, bias=2, alpha=0.5, beta=0.75, name="local"),
        ]

    same(program)


# ---------------------------------------------------------------------------------------------------- Convolutions


def test_convolutions_of_images() -> None:
    def program(tf: Any) -> Any:
        x, filters = tf.constant(IMAGES), tf.constant(FILTERS)
        y = tf.nn.conv2d(x, filters, [1, 1, 1, 1], "SAME")
        return [
            y,
            tf.nn.conv2d(x, filters, strides=2, padding="VALID", name="strided"),
            tf.nn.conv2d(x, filters=filters, strides=[2, 1], padding=[[0, 0], [1, 1], [0, 2], [0, 0]]),
            tf.nn.conv2d(x, filters, 1, "SAME", dilations=[1, 2, 1, 1]),
            tf.gradients(y, [x, filters]),
            tf.nn.conv2d_transpose(y, filters, [2, 5, 6, 2], [1, 1, 1, 1]),
            tf.nn.conv2d_transpose(y, filters, tf.constant([2, 10, 12, 2]), 2, padding="SAME", name="up"),
            tf.nn.conv2d_backprop_input([2, 5, 6, 2], filters, y, [1, 1, 1, 1], "SAME"),
            tf.nn.conv2d_backprop_filter(x, [3, 2, 2, 4], y, [1, 1, 1, 1], "SAME"),
        ]

    same(program)


def test_convolutions_with_several_batch_dimensions() -> None:
    def program(tf: Any) -> Any:
        return tf.nn.conv2d(tf.constant(IMAGES[None]), tf.constant(FILTERS), 1, "SAME")

    same(program)


def test_convolutions_of_rows() -> None:
    def program(tf: Any) -> Any:
        x, filters = tf.constant(ROWS), tf.constant(FILTERS[:, 0])
        return [
            tf.nn.conv1d(x, filters, 1, "SAME"),
            tf.nn.conv1d(value=x, filters=filters, stride=2, padding="VALID", name="strided"),
            tf.nn.conv1d(x, filters, [1], "SAME", data_format="NWC", dilations=2),
            tf.nn.conv1d_transpose(tf.constant(np.ones((2, 6, 4), np.float32)), filters, [2, 6, 2], 1),
        ]

    same(program)


def test_convolutions_of_space() -> None:
    def program(tf: Any) -> Any:
        x, filters = tf.constant(SPACE), tf.constant(SPACE_FILTERS)
        y = tf.nn.conv3d(x, filters, [1, 1, 1, 1, 1], "SAME")
        return [
            y,
            tf.nn.conv3d_transpose(y, filters, [1, 3, 4, 4, 2], [1, 1, 1, 1, 1]),
            tf.gradients(y, [x, filters]),
            tf.nn.conv_transpose(y, filters, [1, 3, 4, 4, 2], 1),
        ]

    same(program)


def test_depthwise_and_separable_convolutions() -> None:
    def program(tf: Any) -> Any:
        x, filters = tf.constant(IMAGES), tf.constant(FILTERS)
        pointwise = tf.constant(np.ones((1, 1, 8, 3), np.float32))
        ones = [1, 1, 1, 1]
        y = tf.nn.depthwise_conv2d(x, filters, ones, "SAME")
        return [
            y,
            tf.nn.depthwise_conv2d(x, filters, ones, "VALID", name="valid"),
            tf.nn.depthwise_conv2d(x, filters, ones, "SAME", rate=[2, 2]),
            tf.nn.depthwise_conv2d(x, filters, ones, "VALID", dilations=[1, 2]),
            tf.nn.depthwise_conv2d_native(x, filters, ones, "SAME"),
            tf.nn.separable_conv2d(x, filters, pointwise, ones, "SAME"),
            tf.nn.separable_conv2d(x, filters, pointwise, ones, "VALID", rate=[2, 1], name="apart"),
            tf.gradients(y, [x, filters]),
        ]

    same(program)


def test_convolutions_of_any_kind() -> None:
    def program(tf: Any) -> Any:
        x, filters = tf.constant(IMAGES), tf.constant(FILTERS)
        return [
            tf.nn.convolution(x, filters, "SAME"),
            tf.nn.convolution(x, filters, "VALID", strides=[2, 1], name="strided"),
            tf.nn.convolution(x, filters, "SAME", dilation_rate=[2, 2]),
            tf.nn.convolution(x, FILTERS, "VALID", dilation_rate=[1, 2]),
            tf.nn.convolution(tf.constant(ROWS), tf.constant(FILTERS[:, 0]), "SAME"),
            tf.nn.convolution(tf.constant(ROWS), tf.constant(FILTERS[:, 0]), "SAME", dilation_rate=[2]),
            tf.nn.convolution(tf.constant(SPACE), tf.constant(SPACE_FILTERS), "SAME"),
            tf.nn.atrous_conv2d(x, filters, 2, "SAME"),
            tf.nn.atrous_conv2d(x, filters, rate=1, padding="VALID", name="plain"),
            tf.nn.atrous_conv2d_transpose(x, tf.constant(FILTERS[:, :, :, :2]), [2, 5, 6, 2], 2, "SAME"),
            tf.nn.atrous_conv2d_transpose(x, tf.constant(FILTERS[:, :, :, :2]), [2, 9, 8, 2], 2, "VALID", name="up"),
        ]

    same(program)


def test_dilated_convolutions_of_sizes_that_are_not_known() -> None:
    def program(tf: Any) -> Any:
        x = tf.placeholder(tf.float32, [None, None, None, 2], name="x")
        return [
            tf.nn.atrous_conv2d(x, tf.constant(FILTERS), 2, "SAME"),
            tf.nn.depthwise_conv2d(x, tf.constant(FILTERS), [1, 1, 1, 1], "VALID", rate=[2, 2]),
        ]

    expect_close(build(program, OURS), {"x:0": IMAGES})


def test_morphological_convolutions() -> None:
    def program(tf: Any) -> Any:
        x, kernel, ones = tf.constant(IMAGES), tf.constant(FILTERS[:, :, :, 0]), [1, 1, 1, 1]
        y = tf.nn.dilation2d(x, kernel, ones, ones, "SAME")
        return [y, tf.nn.erosion2d(x, kernel, ones, ones, "SAME"), tf.gradients(y, [x, kernel])]

    same(program)


# ---------------------------------------------------------------------------------------------------- Pools


def test_pools_of_images() -> None:
    def program(tf: Any) -> Any:
        x, window, strides = tf.constant(IMAGES), [1, 2, 2, 1], [1, 2, 2, 1]
        y, z = tf.nn.max_pool(x, window, strides, "SAME"), tf.nn.avg_pool(x, window, strides, "VALID")
        return [
            y,
            z,
            tf.nn.max_pool(x, 3, 2, [[0, 0], [1, 1], [0, 1], [0, 0]], name="explicit"),
            tf.nn.max_pool2d(x, 2, 1, "VALID"),
            tf.nn.avg_pool2d(x, [2, 3], [1, 1], "SAME", name="average"),
            tf.nn.max_pool_with_argmax(x, window, strides, "SAME"),
            tf.nn.max_pool_v2(x, 2, 2, "SAME"),
            tf.nn.avg_pool_v2(x, 2, 2, "SAME"),
            tf.gradients([y, z], x),
        ]

    same(program)


def test_pools_of_rows_and_space() -> None:
    def program(tf: Any) -> Any:
        rows, space = tf.constant(ROWS), tf.constant(SPACE)
        return [
            tf.nn.max_pool1d(rows, 2, 2, "SAME"),
            tf.nn.avg_pool1d(rows, 2, 1, "VALID", name="average"),
            tf.nn.max_pool3d(space, 2, 2, "SAME"),
            tf.nn.avg_pool3d(space, [1, 2, 2, 2, 1], [1, 1, 2, 1, 1], "VALID"),
            tf.nn.max_pool_v2(rows, 2, 2, "SAME"),
            tf.nn.avg_pool_v2(space, 2, 2, "SAME"),
        ]

    same(program)


def test_pools_of_any_kind() -> None:
    def program(tf: Any) -> Any:
        x = tf.constant(IMAGES)
        return [
            tf.nn.pool(x, [2, 2], "MAX", "SAME"),
            tf.nn.pool(x, [2, 2], "AVG", "VALID", strides=[2, 1], name="average"),
            tf.nn.pool(x, [2, 2], "MAX", "VALID", dilation_rate=[2, 1]),
            tf.nn.pool(tf.constant(ROWS), [2], "MAX", "VALID"),
            tf.nn.pool(tf.constant(ROWS), [3], "AVG", "SAME", strides=[2]),
            tf.nn.pool(tf.constant(SPACE), [2, 2, 2], "AVG", "SAME"),
        ]

    same(program)


# ---------------------------------------------------------------------------------------------------- Sequences


def test_connectionist_temporal_classification() -> None:
    logits = (np.arange(6 * 2 * 4, dtype=np.float32).reshape(6, 2, 4) % 7) / 3

    def program(tf: Any) -> Any:
        inputs, lengths = tf.constant(logits), tf.constant([6, 4])
        labels = tf.SparseTensor(
            tf.constant([[0, 0], [0, 1], [1, 0]], tf.int64), tf.constant([1, 0, 2]), tf.constant([2, 2], tf.int64)
        )
        loss = tf.nn.ctc_loss(labels, inputs, lengths)
        (decoded,), scores = tf.nn.ctc_greedy_decoder(inputs, lengths)
        return [
            loss,
            tf.nn.ctc_loss(labels, logits=np.moveaxis(logits, 0, 1), sequence_length=lengths, time_major=False),
            tf.nn.ctc_loss(labels, tf.cast(inputs, tf.float16), lengths),
            [decoded.indices, decoded.values, decoded.dense_shape, scores],
            tf.gradients(loss, inputs),
        ]

    same(program, ours=_with_default(SparseTensor=_sparse))


def _sparse(indices: Any, values: Any, dense_shape: Any) -> SparseTensor:
    return SparseTensor(indices, values, dense_shape)


@pytest.mark.parametrize("approximate", [False, True])
def test_gelu_is_that_of_tensorflow_2_with_its_gradient(approximate: bool) -> None:
    values = np.linspace(-5, 5, 41, dtype=np.float32)
    found = []
    for library, gelu in ((tf.compat.v1, tf.nn.gelu), (tk, tk.nn.gelu)):
        with library.Graph().as_default(), library.Session() as session:
            x = library.constant(values)
            y = gelu(x, approximate)
            found.append(session.run([y, library.gradients(y, x)[0]]))
    np.testing.assert_allclose(found[1], found[0], rtol=1e-5, atol=1e-5)
