"""Losses of predictions, as slim had them before `tf.losses`: predictions first, and weights that may be of lower rank.

A loss is the mean over the elements whose weights are not zero. It goes to the collection of losses.
"""

from __future__ import annotations

from tensorkeep.dtypes import FLOAT32
from tensorkeep.errors import InvalidArgumentError
from tensorkeep.graph.arguments import TensorLike
from tensorkeep.graph.building import name_scope
from tensorkeep.graph.conversion import convert
from tensorkeep.graph.graph import Tensor
from tensorkeep.tf1.functions.arrays.shapes import concat, reshape, squeeze
from tensorkeep.tf1.functions.arrays.shapes import shape as shape_of
from tensorkeep.tf1.functions.nn.activations import relu
from tensorkeep.tf1.functions.nn.losses import absolute_difference as absolute
from tensorkeep.tf1.functions.nn.losses import compute_weighted_loss as weighted
from tensorkeep.tf1.functions.nn.losses import cosine_distance as by_cosine
from tensorkeep.tf1.functions.nn.losses import get_total_loss as total_loss
from tensorkeep.tf1.functions.nn.losses import log_loss as logarithmic
from tensorkeep.tf1.functions.nn.losses import mean_pairwise_squared_error as pairwise
from tensorkeep.tf1.functions.nn.losses import mean_squared_error as squared
from tensorkeep.tf1.functions.nn.losses import sigmoid_cross_entropy as by_sigmoid
from tensorkeep.tf1.functions.nn.losses import softmax_cross_entropy as by_softmax
from tensorkeep.tf1.functions.nn.losses import sparse_softmax_cross_entropy as by_number
from tensorkeep.tf1.functions.numbers.elementwise import cast


def _expanded_weights(weights: TensorLike, rank: int | None) -> Tensor:
    """Weights with as many dimensions as losses have: those of whole examples are for all their elements."""
    found = convert(weights)
    own = found.static_shape.rank
    if own is None or rank is None:
        raise InvalidArgumentError("the ranks of losses and weights must be known")
    if own > 1 and found.get_shape()[-1].value == 1:
        found, own = squeeze(found, [-1]), own - 1
    if not own or own >= rank:
        return found
    return reshape(found, concat([shape_of(found), [1] * (rank - own)], 0))


def compute_weighted_loss(losses: TensorLike, weights: TensorLike = 1.0, scope: str | None = None) -> Tensor:
    """The mean of losses, weighted."""
    found = convert(losses)
    return weighted(found, _expanded_weights(weights, found.static_shape.rank), scope=scope)


def get_total_loss(add_regularization_losses: bool = True, name: str = "total_loss") -> Tensor:
    """The sum of all losses, those of regularizers too unless it is told otherwise."""
    return total_loss(add_regularization_losses, name=name)


def _checked_pair(predictions: Tensor, labels: TensorLike | None) -> tuple[Tensor, Tensor]:
    if labels is None:
        raise InvalidArgumentError("labels must not be None")
    first, second = convert(predictions), convert(labels)
    first.get_shape().assert_is_compatible_with(second.get_shape())
    return first, second


def absolute_difference(
    predictions: Tensor, labels: TensorLike | None = None, weights: TensorLike = 1.0, scope: str | None = None
) -> Tensor:
    """How far predictions are away."""
    first, second = _checked_pair(predictions, labels)
    return absolute(second, first, _expanded_weights(weights, first.static_shape.rank), scope=scope)


def mean_squared_error(
    predictions: Tensor, labels: TensorLike | None = None, weights: TensorLike = 1.0, scope: str | None = None
) -> Tensor:
    """The squares of how far predictions are away."""
    first, second = _checked_pair(predictions, labels)
    return squared(second, first, _expanded_weights(weights, first.static_shape.rank), scope=scope)


def mean_pairwise_squared_error(
    predictions: Tensor, labels: TensorLike | None = None, weights: TensorLike = 1.0, scope: str | None = None
) -> Tensor:
    """The squares of how far the differences within an example are away."""
    first, second = _checked_pair(predictions, labels)
    return pairwise(second, first, weights, scope=scope)


def log_loss(
    predictions: Tensor,
    labels: TensorLike | None = None,
    weights: TensorLike = 1.0,
    epsilon: float = 1e-7,
    scope: str | None = None,
) -> Tensor:
    """The mean logarithmic loss of probabilities, with labels of 0 and 1."""
    first, second = _checked_pair(predictions, labels)
    return logarithmic(second, first, _expanded_weights(weights, first.static_shape.rank), epsilon, scope=scope)


def hinge_loss(logits: Tensor, labels: TensorLike | None = None, scope: str | None = None) -> Tensor:
    """How far logits are from being on the right side, for each element; it is not collected."""
    first, second = _checked_pair(logits, labels)
    with name_scope(scope or "hinge_loss"):
        signs = 2 * cast(second, FLOAT32) - 1
        return relu(1 - signs * first)


def sigmoid_cross_entropy(
    logits: Tensor,
    multi_class_labels: TensorLike,
    weights: TensorLike = 1.0,
    label_smoothing: float = 0,
    scope: str | None = None,
) -> Tensor:
    """The cross entropy of labels that do not exclude each other."""
    rank = convert(logits).static_shape.rank
    return by_sigmoid(multi_class_labels, logits, _expanded_weights(weights, rank), label_smoothing, scope=scope)


def softmax_cross_entropy(
    logits: Tensor,
    onehot_labels: TensorLike,
    weights: TensorLike = 1.0,
    label_smoothing: float = 0,
    scope: str | None = None,
) -> Tensor:
    """The cross entropy of labels of which one is right."""
    rank = (convert(logits).static_shape.rank or 1) - 1
    return by_softmax(onehot_labels, logits, _expanded_weights(weights, rank), label_smoothing, scope=scope)


def sparse_softmax_cross_entropy(
    logits: Tensor, labels: TensorLike, weights: TensorLike = 1.0, scope: str | None = None
) -> Tensor:
    """The cross entropy of labels that are numbers of classes."""
    found = convert(labels)
    rank = convert(logits).static_shape.rank or 1
    if found.static_shape.rank == rank and found.get_shape()[-1].value == 1:
        found = squeeze(found, [-1])
    return by_number(found, logits, _expanded_weights(weights, rank - 1), scope=scope)


def cosine_distance(
    predictions: Tensor,
    labels: TensorLike | None = None,
    axis: int | None = None,
    weights: TensorLike = 1.0,
    scope: str | None = None,
    dim: int | None = None,
) -> Tensor:
    """One less the cosine between predictions and labels, which must have length one."""
    first, second = _checked_pair(predictions, labels)
    along = dim if axis is None else axis
    if along is None:
        raise InvalidArgumentError("You must specify 'axis'.")
    return by_cosine(second, first, along, _expanded_weights(weights, first.static_shape.rank), scope=scope)
