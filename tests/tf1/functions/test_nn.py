"""`tf.nn` without TensorFlow: what the functions compute, and what they refuse."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tensorkeep.errors import InvalidArgumentError, TensorKeepError
from tensorkeep.graph.building import building
from tensorkeep.graph.graph import Graph
from tensorkeep.runtime.session import Session
from tensorkeep.tf1.functions.arrays.shapes import placeholder
from tensorkeep.tf1.functions.constants import constant
from tensorkeep.tf1.functions.gradients.reverse_walk import gradients
from tensorkeep.tf1.functions.nn import activations, convolution, cross_entropies, losses, normalization, pooling
from tensorkeep.tf1.functions.numbers import elementwise
from tests.ops.walking import import_all_ops

import_all_ops()
MATRIX = np.array([[1.0, -2.0, 3.0], [0.5, 0.0, -0.25]], np.float32)
IMAGES = np.arange(1 * 4 * 4 * 2, dtype=np.float32).reshape(1, 4, 4, 2)


def computed(program: Callable[[], Any]) -> Any:
    """What a program's tensors are."""
    graph = Graph()
    graph.seed = 5
    with building(graph):
        fetches = program()
    return Session(graph).run(fetches)


def test_activations() -> None:
    x = MATRIX.astype(np.float64)
    found = computed(
        lambda: [
            activations.relu(MATRIX),
            activations.leaky_relu(MATRIX),
            activations.elu(MATRIX),
            activations.softplus(MATRIX),
        ]
    )
    wanted = [np.maximum(x, 0), np.where(x > 0, x, 0.2 * x), np.where(x > 0, x, np.expm1(x)), np.log1p(np.exp(x))]
    for mine, right in zip(found, wanted, strict=True):
        np.testing.assert_allclose(mine, right, rtol=1e-6)


def test_transposed_convolutions_have_the_batch_of_their_output_shape() -> None:
    """As in TensorFlow 1: programs reshape their results to it, with batches that are not known before."""
    filters = np.ones([5, 5, 3, 2], np.float32)
    with building(Graph()):
        small = placeholder("float32", [None, 4, 4, 2])
        assert convolution.conv2d_transpose(small, filters, [2, 8, 8, 3], [1, 2, 2, 1]).shape.as_list() == [2, 8, 8, 3]
        with pytest.raises(ValueError, match="Dimensions must be equal, but are 2 and 1"):
            convolution.conv2d_transpose(IMAGES, filters, [2, 8, 8, 3], [1, 2, 2, 1])


@pytest.mark.parametrize(
    "function",
    [
        cross_entropies.softmax_cross_entropy_with_logits,
        cross_entropies.sparse_softmax_cross_entropy_with_logits,
        cross_entropies.sigmoid_cross_entropy_with_logits,
    ],
)
def test_labels_and_logits_have_to_be_named(function: Callable[..., Any]) -> None:
    """Programs for TensorFlow 0.x give the logits first: their loss would be another one, without a word."""
    with building(Graph()), pytest.raises(ValueError, match=r"with named arguments \(labels=..., logits=..., ...\)"):
        function(MATRIX, MATRIX)


def test_moments_and_products_take_arrays() -> None:
    mean, variance = computed(lambda: normalization.moments(IMAGES, [0, 1, 2]))
    np.testing.assert_allclose(mean, IMAGES.mean((0, 1, 2)))
    np.testing.assert_allclose(variance, IMAGES.var((0, 1, 2)))
    np.testing.assert_array_equal(computed(lambda: elementwise.scalar_mul(2.0, IMAGES)), 2 * IMAGES)


def test_softmax_sums_to_one_along_its_axis() -> None:
    cube = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
    found = computed(lambda: [activations.softmax(cube, axis) for axis in range(-3, 3)])
    for axis, probabilities in zip(range(-3, 3), found, strict=True):
        np.testing.assert_allclose(probabilities.sum(axis), 1, rtol=1e-6)


def test_softmax_along_an_axis_that_is_not_there_is_refused() -> None:
    with pytest.raises(InvalidArgumentError, match="must be in the range"):
        computed(lambda: activations.softmax(MATRIX, 2))


def test_the_gradient_of_a_cross_entropy_is_the_softmax_less_the_labels() -> None:
    labels = np.array([2, 0])

    def program() -> Any:
        logits = constant(MATRIX)
        loss = cross_entropies.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits)
        return gradients(loss, logits)[0], activations.softmax(logits)

    gradient, probabilities = computed(program)
    np.testing.assert_allclose(gradient, probabilities - np.eye(3)[labels], atol=1e-6)


def test_labels_and_logits_must_both_be_given() -> None:
    with pytest.raises(InvalidArgumentError, match="Both `labels` and `logits` must be provided"):
        computed(lambda: cross_entropies.sigmoid_cross_entropy_with_logits(logits=MATRIX))


def test_dropout_keeps_the_mean_and_is_the_same_for_the_same_seed() -> None:
    ones = np.ones((50, 50), np.float32)
    first, second = (computed(lambda: activations.dropout(ones, rate=0.4, seed=1)) for _ in range(2))
    np.testing.assert_array_equal(first, second)
    assert set(np.unique(first)) == {0, np.float32(1 / 0.6)}
    assert abs(first.mean() - 1) < 0.1


def test_top_k_gives_the_first_of_equals_first() -> None:
    values, indices = computed(lambda: tuple(activations.top_k(np.array([1, 3, 3, 2], np.int32), 3)))
    assert values.tolist() == [3, 3, 2]
    assert indices.tolist() == [1, 2, 3]


def test_moments_are_those_of_numpy() -> None:
    mean, variance = computed(lambda: normalization.moments(constant(MATRIX), [0]))
    np.testing.assert_allclose(mean, MATRIX.mean(0))
    np.testing.assert_allclose(variance, MATRIX.var(0))


def test_batch_normalization_makes_means_zero_and_variances_one() -> None:
    ones, zeros = np.ones(2, np.float32), np.zeros(2, np.float32)
    y, mean, _ = computed(lambda: normalization.fused_batch_norm(IMAGES, ones, zeros, epsilon=1e-5))
    np.testing.assert_allclose(mean, IMAGES.mean((0, 1, 2)))
    np.testing.assert_allclose(y.mean((0, 1, 2)), 0, atol=1e-5)
    np.testing.assert_allclose(y.var((0, 1, 2)), 1, rtol=1e-3)


def test_a_convolution_of_single_elements_is_a_matrix_product() -> None:
    weights = np.arange(6, dtype=np.float32).reshape(2, 3)
    found = computed(lambda: convolution.conv2d(constant(IMAGES), weights[None, None], 1, "VALID"))
    np.testing.assert_allclose(found, IMAGES @ weights)


@pytest.mark.parametrize("padding", ["EXPLICIT", [[0, 0], [1, 1]], [[0], [1], [1], [0]]])
def test_paddings_that_say_too_little_are_refused(padding: Any) -> None:
    filters = np.ones((2, 2, 2, 1), np.float32)
    with pytest.raises(InvalidArgumentError, match="padding"):
        computed(lambda: convolution.conv2d(constant(IMAGES), filters, 1, padding))


def test_strides_of_a_wrong_length_are_refused() -> None:
    with pytest.raises(InvalidArgumentError, match="should be of length 1, 2 or 4"):
        computed(lambda: pooling.max_pool(IMAGES, 2, [1, 2, 3], "SAME"))


def test_a_dilated_convolution_may_not_be_strided() -> None:
    filters = np.ones((2, 2, 2, 1), np.float32)
    with pytest.raises(InvalidArgumentError, match="not supported in conjunction"):
        computed(lambda: convolution.convolution(IMAGES, filters, "SAME", strides=[2, 2], dilation_rate=[2, 2]))


def test_pools_are_maxima_and_averages() -> None:
    blocks = IMAGES.reshape(1, 2, 2, 2, 2, 2)
    largest, average = computed(
        lambda: [pooling.max_pool(IMAGES, 2, 2, "VALID"), pooling.avg_pool(IMAGES, 2, 2, "VALID")]
    )
    np.testing.assert_allclose(largest, blocks.max((2, 4)))
    np.testing.assert_allclose(average, blocks.mean((2, 4)))


# ---------------------------------------------------------------------------------------------------- Losses


def test_a_loss_is_the_mean_over_weights_that_are_not_zero() -> None:
    labels, guesses = np.zeros((2, 2), np.float32), np.array([[1.0, 2.0], [3.0, 4.0]], np.float32)
    found = computed(lambda: losses.mean_squared_error(labels, guesses, weights=[[2.0], [0.0]]))
    assert found == (2 * 1 + 2 * 4) / 2


def test_losses_are_collected() -> None:
    def program() -> Any:
        losses.mean_squared_error([1.0], [3.0])
        losses.absolute_difference([1.0], [3.0])
        losses.hinge_loss([1.0], [3.0], loss_collection=None)
        assert len(losses.get_losses()) == 2
        return losses.get_total_loss()

    assert computed(program) == 6


def test_weights_are_checked_when_the_graph_runs() -> None:
    graph = Graph()
    with building(graph):
        weights = placeholder("float32", [None, None])
        loss = losses.mean_squared_error(np.zeros((2, 3), np.float32), np.ones((2, 3), np.float32), weights)
    session = Session(graph)
    assert session.run(loss, {weights: np.ones((2, 1), np.float32)}) == 1
    with pytest.raises(TensorKeepError):
        session.run(loss, {weights: np.ones((2, 2), np.float32)})


def test_an_unknown_reduction_is_refused() -> None:
    with pytest.raises(InvalidArgumentError, match="Invalid Reduction Key"):
        computed(lambda: losses.mean_squared_error([1.0], [2.0], reduction="average"))
