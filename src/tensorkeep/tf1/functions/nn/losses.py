"""Losses of a whole batch, under the names of TensorFlow 1's `tf.losses`.

A loss is one number, by default the weighted mean over the elements whose weight is not zero. It is added to a
collection of the graph, from which `get_total_loss` takes what a training step minimizes.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

from tensorkeep.dtypes import FLOAT32, DType
from tensorkeep.errors import InvalidArgumentError
from tensorkeep.graph.arguments import TensorLike, emit_operation, emit_tensors
from tensorkeep.graph.building import chosen_name, control_dependencies, current_graph, graph_of, name_scope
from tensorkeep.graph.collections import GraphKeys, add_to_collection, get_collection
from tensorkeep.graph.conversion import convert
from tensorkeep.graph.graph import Operation, Tensor
from tensorkeep.graph.tensor_shape import plain_shape
from tensorkeep.tf1.functions.arrays.shapes import (
    concat,
    either,
    expand_dims,
    ones_like,
    rank,
    scope_of,
    shape,
    size,
    squeeze,
    stop_gradient,
    where,
    zeros_like,
)
from tensorkeep.tf1.functions.constants import constant
from tensorkeep.tf1.functions.control.control_flow import Assert, cond
from tensorkeep.tf1.functions.nn.activations import relu
from tensorkeep.tf1.functions.nn.cross_entropies import (
    sigmoid_cross_entropy_with_logits,
    softmax_cross_entropy_with_logits_v2,
    sparse_softmax_cross_entropy_with_logits,
)
from tensorkeep.tf1.functions.numbers.elementwise import abs as absolute
from tensorkeep.tf1.functions.numbers.elementwise import (
    add,
    add_n,
    cast,
    div_no_nan,
    equal,
    log,
    maximum,
    minimum,
    multiply,
    square,
    squared_difference,
    subtract,
)
from tensorkeep.tf1.functions.numbers.elementwise import range as number_range
from tensorkeep.tf1.functions.numbers.reductions import reduce_sum


class Reduction:
    """How the losses of the elements become one."""

    NONE: Final = "none"
    SUM: Final = "weighted_sum"
    SUM_OVER_BATCH_SIZE: Final = "weighted_sum_over_batch_size"
    MEAN: Final = "weighted_mean"
    SUM_BY_NONZERO_WEIGHTS: Final = "weighted_sum_by_nonzero_weights"
    SUM_OVER_NONZERO_WEIGHTS: Final = SUM_BY_NONZERO_WEIGHTS

    @classmethod
    def all(cls) -> tuple[str, ...]:
        return (
            cls.NONE,
            cls.SUM,
            cls.MEAN,
            cls.SUM_OVER_BATCH_SIZE,
            cls.SUM_OVER_NONZERO_WEIGHTS,
            cls.SUM_BY_NONZERO_WEIGHTS,
        )

    @classmethod
    def validate(cls, key: str) -> None:
        if key not in cls.all():
            raise InvalidArgumentError(f"Invalid Reduction Key {key}. Key should be one of {cls.all()}.")


# ---------------------------------------------------------------------------------------------------- Collections


def add_loss(loss: Tensor, loss_collection: str | None = GraphKeys.LOSSES) -> None:
    """Adds a loss to a collection of its graph."""
    if loss_collection:
        add_to_collection(loss.graph, loss_collection, loss)


def get_losses(scope: str | None = None, loss_collection: str = GraphKeys.LOSSES) -> list[Tensor]:
    """The losses of the graph being built; with `scope`, only those whose names begin with it."""
    return get_collection(current_graph(), loss_collection, scope)


def get_regularization_losses(scope: str | None = None) -> list[Tensor]:
    """The losses that regularizers of variables have added."""
    return get_collection(current_graph(), GraphKeys.REGULARIZATION_LOSSES, scope)


def get_regularization_loss(scope: str | None = None, name: str = "total_regularization_loss") -> Tensor:
    """The sum of the losses that regularizers have added."""
    losses = get_regularization_losses(scope)
    return add_n(losses, name=name) if losses else constant(0.0)


def get_total_loss(
    add_regularization_losses: bool = True, name: str = "total_loss", scope: str | None = None
) -> Tensor:
    """The sum of all losses."""
    losses = get_losses(scope=scope)
    if add_regularization_losses:
        losses += get_regularization_losses(scope=scope)
    return add_n(losses, name=name)


# ---------------------------------------------------------------------------------------------------- Weights

_CANNOT_BROADCAST: Final = "weights can not be broadcast to values."


@contextmanager
def _loss_scope(scope: str | None, default: str, *values: Any) -> Iterator[str]:
    with name_scope(chosen_name(scope, default), graph_of(values)) as entered:
        yield entered


def assert_broadcastable(weights: TensorLike, values: TensorLike) -> Operation:
    """An operation that fails unless weights can be broadcast to values: of the same rank, each size 1 or the same."""
    with scope_of(None, "assert_broadcastable", weights, values) as scope:
        with name_scope("weights") as weights_scope:
            weights = convert(weights, name=weights_scope)
            weights_shape, weights_rank = shape(weights, name="shape"), rank(weights, name="rank")
        with name_scope("values") as values_scope:
            values = convert(values, name=values_scope)
            values_shape, values_rank = shape(values, name="shape"), rank(values, name="rank")
        found = _static_check(weights, values)
        if found is not None:
            return found
        is_scalar = equal(0, weights_rank, name="is_scalar")
        told = (weights.name, weights_shape, "values.shape=", values.name, values_shape, "is_scalar=", is_scalar)
        is_valid = cond(
            is_scalar,
            lambda: is_scalar,
            lambda: _has_valid_shape(weights_rank, weights_shape, values_rank, values_shape),
            name="is_valid_shape",
        )
        checked: Operation = Assert(is_valid, (_CANNOT_BROADCAST, "weights.shape=", *told), name=scope)
        return checked


def _static_check(weights: Tensor, values: Tensor) -> Operation | None:
    """What is known before running: an operation that does nothing, an error, or None if it is not known yet."""
    mine, theirs = weights.static_shape, values.static_shape
    if mine.rank is None or theirs.rank is None:
        return None
    if mine.rank == 0:
        nothing: Operation = emit_operation("NoOp", name="static_scalar_check_success")
        return nothing
    if mine.rank != theirs.rank:
        raise InvalidArgumentError(
            f"{_CANNOT_BROADCAST} values.rank={theirs.rank}. weights.rank={mine.rank}. values.shape={theirs}. "
            f"weights.shape={mine}. Received weights={weights}, values={values}"
        )
    if not (mine.is_fully_known and theirs.is_fully_known):
        return None
    for axis, (size_of_weights, size_of_values) in enumerate(zip(mine, theirs, strict=True)):
        if size_of_weights not in (1, size_of_values):
            raise InvalidArgumentError(
                f"{_CANNOT_BROADCAST} Mismatch at dim {axis}. values.shape={theirs}, weights.shape={mine}. "
                f"Received weights={weights}, values={values}"
            )
    fine: Operation = emit_operation("NoOp", name="static_dims_check_success")
    return fine


def _has_valid_shape(weights_rank: Any, weights_shape: Any, values_rank: Any, values_shape: Any) -> Any:
    with scope_of(None, "has_valid_nonscalar_shape", weights_rank, weights_shape, values_rank, values_shape) as scope:
        is_same_rank = equal(values_rank, weights_rank, name="is_same_rank")
        return cond(
            is_same_rank,
            lambda: _has_valid_dims(weights_shape, values_shape),
            lambda: is_same_rank,
            name=scope,
        )


def _has_valid_dims(weights_shape: Any, values_shape: Any) -> Tensor:
    """Whether each size of the weights is 1 or that of the values, by subtracting sets."""
    with scope_of(None, "has_invalid_dims", weights_shape, values_shape) as scope:
        wanted = expand_dims(values_shape, -1)
        valid = concat((wanted, ones_like(wanted)), axis=1)
        found = expand_dims(weights_shape, -1)
        invalid = emit_tensors(
            "DenseToDenseSetOperation",
            found,
            valid,
            set_operation="a-b",
            validate_indices=True,
            name="DenseToDenseSetOperation",
        )
        count = size(invalid[1], name="num_invalid_dims")
        return equal(0, count, name=scope)


def broadcast_weights(weights: TensorLike, values: TensorLike) -> Tensor:
    """The weights, one for each of the values."""
    with scope_of(None, "broadcast_weights", weights, values) as scope:
        values = convert(values, name="values")
        weights = convert(weights, values.dtype.base_dtype, "weights")
        mine, theirs = weights.static_shape, values.static_shape
        if mine.is_fully_known and theirs.is_fully_known and mine.is_compatible(theirs):
            return weights
        with control_dependencies((assert_broadcastable(weights, values),)):
            return multiply(weights, ones_like(values), name=scope)


def _num_present(losses: Tensor, weights: Any, per_batch: bool = False) -> Tensor:
    """How many losses have a weight that is not zero."""
    if isinstance(weights, float) and weights != 0.0:
        return _num_elements(losses)
    with scope_of(None, "num_present", losses, weights) as scope:
        weights = cast(weights, FLOAT32)
        present = where(equal(weights, 0.0), zeros_like(weights), ones_like(weights))
        present = broadcast_weights(present, losses)
        if per_batch:
            return reduce_sum(present, axis=number_range(1, rank(present)), keepdims=True, name=scope)
        return reduce_sum(present, name=scope)


def _num_elements(losses: Tensor) -> Tensor:
    with scope_of(None, "num_elements", losses) as scope:
        return cast(size(losses, name=scope), losses.dtype)


def _safe_mean(losses: Tensor, count: Tensor) -> Tensor:
    return div_no_nan(reduce_sum(losses), count, name="value")


def compute_weighted_loss(
    losses: TensorLike,
    weights: TensorLike = 1.0,
    scope: str | None = None,
    loss_collection: str | None = GraphKeys.LOSSES,
    reduction: str = Reduction.SUM_BY_NONZERO_WEIGHTS,
) -> Tensor:
    """The losses of elements, weighted and reduced to one, which is added to the collection."""
    Reduction.validate(reduction)
    with (
        _loss_scope(scope, "weighted_loss", losses, weights),
        control_dependencies((assert_broadcastable(weights, losses),), graph_of([losses, weights])),
    ):
        losses = convert(losses)
        dtype = losses.dtype
        losses = cast(losses, FLOAT32)
        weights = cast(weights, FLOAT32)
        weighted = multiply(losses, weights)
        loss = cast(_reduced(losses, weights, weighted, reduction), dtype)
        add_loss(loss, loss_collection)
        return loss


def _reduced(losses: Tensor, weights: Tensor, weighted: Tensor, reduction: str) -> Tensor:
    if reduction == Reduction.NONE:
        return weighted
    total = reduce_sum(weighted)
    if reduction == Reduction.MEAN:
        return _safe_mean(total, reduce_sum(ones_like(losses) * weights))
    if reduction == Reduction.SUM_BY_NONZERO_WEIGHTS:
        return _safe_mean(total, _num_present(losses, weights))
    if reduction == Reduction.SUM_OVER_BATCH_SIZE:
        return _safe_mean(total, _num_elements(losses))
    return total


# ---------------------------------------------------------------------------------------------------- Losses


def _expect(**arguments: Any) -> None:
    for name, value in arguments.items():
        if value is None:
            raise InvalidArgumentError(f"Argument `{name}` must not be None.")


def _both(predictions: Any, labels: Any, dtype: DType = FLOAT32) -> tuple[Tensor, Tensor]:
    """Both as numbers with a fraction, of shapes that go together."""
    predictions, labels = cast(predictions, dtype), cast(labels, dtype)
    _expect_compatible(predictions, labels)
    return predictions, labels


def _expect_compatible(first: Tensor, second: Tensor) -> None:
    if not plain_shape(first.shape).is_compatible(plain_shape(second.shape)):
        raise InvalidArgumentError(f"Shapes {first.shape} and {second.shape} are incompatible")


def absolute_difference(
    labels: TensorLike,
    predictions: TensorLike,
    weights: TensorLike = 1.0,
    scope: str | None = None,
    loss_collection: str | None = GraphKeys.LOSSES,
    reduction: str = Reduction.SUM_BY_NONZERO_WEIGHTS,
) -> Tensor:
    """`abs(predictions - labels)`."""
    _expect(labels=labels, predictions=predictions)
    with _loss_scope(scope, "absolute_difference", predictions, labels, weights) as entered:
        predictions, labels = _both(predictions, labels)
        losses = absolute(subtract(predictions, labels))
        return compute_weighted_loss(losses, weights, entered, loss_collection, reduction=reduction)


def cosine_distance(
    labels: TensorLike,
    predictions: TensorLike,
    axis: int | None = None,
    weights: TensorLike = 1.0,
    scope: str | None = None,
    loss_collection: str | None = GraphKeys.LOSSES,
    reduction: str = Reduction.SUM_BY_NONZERO_WEIGHTS,
    dim: int | None = None,
) -> Tensor:
    """One less the product of unit vectors."""
    axis = either("axis", axis, "dim", dim)
    if axis is None:
        raise InvalidArgumentError("You must specify argument `axis`.")
    _expect(labels=labels, predictions=predictions)
    with _loss_scope(scope, "cosine_distance_loss", predictions, labels, weights) as entered:
        predictions, labels = _both(predictions, labels)
        products = multiply(predictions, labels)
        losses = 1 - reduce_sum(products, axis=(axis,), keepdims=True)
        return compute_weighted_loss(losses, weights, entered, loss_collection, reduction=reduction)


def hinge_loss(
    labels: TensorLike,
    logits: TensorLike,
    weights: TensorLike = 1.0,
    scope: str | None = None,
    loss_collection: str | None = GraphKeys.LOSSES,
    reduction: str = Reduction.SUM_BY_NONZERO_WEIGHTS,
) -> Tensor:
    """`max(0, 1 - label * logit)`, with labels of 0 and 1 taken as -1 and 1."""
    _expect(labels=labels, logits=logits)
    with _loss_scope(scope, "hinge_loss", logits, labels, weights) as entered:
        logits, labels = _both(logits, labels)
        ones = ones_like(labels)
        labels = subtract(2 * labels, ones)
        losses = relu(subtract(ones, multiply(labels, logits)))
        return compute_weighted_loss(losses, weights, entered, loss_collection, reduction=reduction)


def huber_loss(
    labels: TensorLike,
    predictions: TensorLike,
    weights: TensorLike = 1.0,
    delta: TensorLike = 1.0,
    scope: str | None = None,
    loss_collection: str | None = GraphKeys.LOSSES,
    reduction: str = Reduction.SUM_BY_NONZERO_WEIGHTS,
) -> Tensor:
    """Half the square of an error up to `delta`, and beyond it a line."""
    _expect(labels=labels, predictions=predictions)
    with _loss_scope(scope, "huber_loss", predictions, labels, weights) as entered:
        predictions, labels = _both(predictions, labels)
        error = absolute(subtract(predictions, labels))
        quadratic = minimum(error, delta)
        linear = subtract(error, quadratic)
        half = convert(0.5, quadratic.dtype)
        squares = multiply(half, multiply(quadratic, quadratic))
        losses = add(squares, multiply(delta, linear))
        return compute_weighted_loss(losses, weights, entered, loss_collection, reduction=reduction)


def log_loss(
    labels: TensorLike,
    predictions: TensorLike,
    weights: TensorLike = 1.0,
    epsilon: float = 1e-07,
    scope: str | None = None,
    loss_collection: str | None = GraphKeys.LOSSES,
    reduction: str = Reduction.SUM_BY_NONZERO_WEIGHTS,
) -> Tensor:
    """The cross entropy between labels and predicted probabilities."""
    _expect(labels=labels, predictions=predictions)
    with _loss_scope(scope, "log_loss", predictions, labels, weights) as entered:
        predictions, labels = _both(predictions, labels)
        positive = -multiply(labels, log(predictions + epsilon))
        losses = positive - multiply((1 - labels), log(1 - predictions + epsilon))
        return compute_weighted_loss(losses, weights, entered, loss_collection, reduction=reduction)


def mean_pairwise_squared_error(
    labels: TensorLike,
    predictions: TensorLike,
    weights: TensorLike = 1.0,
    scope: str | None = None,
    loss_collection: str | None = GraphKeys.LOSSES,
) -> Tensor:
    """The mean square of the differences between the errors of all pairs within an example."""
    _expect(labels=labels, predictions=predictions)
    with _loss_scope(scope, "mean_pairwise_squared_error", predictions, labels, weights):
        weights = cast(weights, FLOAT32)
        labels = cast(labels, FLOAT32)
        with control_dependencies((assert_broadcastable(weights, labels),)):
            predictions = cast(predictions, FLOAT32)
            _expect_compatible(predictions, labels)
            loss = _pairwise(subtract(predictions, labels), weights)
            add_loss(loss, loss_collection)
            return loss


def _pairwise(errors: Tensor, weights: Tensor) -> Tensor:
    axes = number_range(1, rank(errors))
    squares = reduce_sum(square(errors), axis=axes, keepdims=True)
    count = _num_present(errors, weights, per_batch=True)
    first = 2.0 * div_no_nan(squares, maximum(count - 1, 0), name="value")
    total = reduce_sum(errors, axis=axes, keepdims=True)
    second = 2.0 * div_no_nan(square(total), maximum(multiply(count, count - 1), 0), name="value")
    weighted = multiply(first - second, weights)
    loss = reduce_sum(weighted)
    return where(reduce_sum(count) > 0, loss, zeros_like(loss), name="value")


def mean_squared_error(
    labels: TensorLike,
    predictions: TensorLike,
    weights: TensorLike = 1.0,
    scope: str | None = None,
    loss_collection: str | None = GraphKeys.LOSSES,
    reduction: str = Reduction.SUM_BY_NONZERO_WEIGHTS,
) -> Tensor:
    """The square of `predictions - labels`."""
    _expect(labels=labels, predictions=predictions)
    with _loss_scope(scope, "mean_squared_error", predictions, labels, weights) as entered:
        predictions, labels = _both(predictions, labels)
        losses = squared_difference(predictions, labels)
        return compute_weighted_loss(losses, weights, entered, loss_collection, reduction=reduction)


def sigmoid_cross_entropy(
    multi_class_labels: TensorLike,
    logits: TensorLike,
    weights: TensorLike = 1.0,
    label_smoothing: float = 0,
    scope: str | None = None,
    loss_collection: str | None = GraphKeys.LOSSES,
    reduction: str = Reduction.SUM_BY_NONZERO_WEIGHTS,
) -> Tensor:
    """The cross entropy between labels and the sigmoids of logits; smoothing draws labels towards 1/2."""
    _expect(multi_class_labels=multi_class_labels, logits=logits)
    with _loss_scope(scope, "sigmoid_cross_entropy_loss", logits, multi_class_labels, weights) as entered:
        logits = convert(logits)
        labels = cast(multi_class_labels, logits.dtype)
        _expect_compatible(logits, labels)
        if label_smoothing > 0:
            labels = labels * (1 - label_smoothing) + 0.5 * label_smoothing
        losses = sigmoid_cross_entropy_with_logits(labels=labels, logits=logits, name="xentropy")
        return compute_weighted_loss(losses, weights, entered, loss_collection, reduction=reduction)


def softmax_cross_entropy(
    onehot_labels: TensorLike,
    logits: TensorLike,
    weights: TensorLike = 1.0,
    label_smoothing: float = 0,
    scope: str | None = None,
    loss_collection: str | None = GraphKeys.LOSSES,
    reduction: str = Reduction.SUM_BY_NONZERO_WEIGHTS,
) -> Tensor:
    """The cross entropy between labels and the softmax of logits; smoothing draws labels towards an even spread."""
    _expect(onehot_labels=onehot_labels, logits=logits)
    with _loss_scope(scope, "softmax_cross_entropy_loss", logits, onehot_labels, weights) as entered:
        logits = convert(logits)
        labels = cast(onehot_labels, logits.dtype)
        _expect_compatible(logits, labels)
        if label_smoothing > 0:
            classes = cast(shape(labels)[-1], logits.dtype)
            spread = label_smoothing / classes
            labels = labels * (1.0 - label_smoothing) + spread
        labels = stop_gradient(labels, name="labels_stop_gradient")
        losses = softmax_cross_entropy_with_logits_v2(labels=labels, logits=logits, name="xentropy")
        return compute_weighted_loss(losses, weights, entered, loss_collection, reduction=reduction)


def sparse_softmax_cross_entropy(
    labels: TensorLike,
    logits: TensorLike,
    weights: TensorLike = 1.0,
    scope: str | None = None,
    loss_collection: str | None = GraphKeys.LOSSES,
    reduction: str = Reduction.SUM_BY_NONZERO_WEIGHTS,
) -> Tensor:
    """The cross entropy between classes given by number and the softmax of logits."""
    _expect(labels=labels, logits=logits)
    with _loss_scope(scope, "sparse_softmax_cross_entropy_loss", logits, labels, weights) as entered:
        labels, logits = remove_squeezable_dimensions(labels, logits, expected_rank_diff=1)
        weights = _squeezed_weights(weights, labels)
        losses = sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits, name="xentropy")
        return compute_weighted_loss(losses, weights, entered, loss_collection, reduction=reduction)


def remove_squeezable_dimensions(
    labels: TensorLike, predictions: TensorLike, expected_rank_diff: int = 0, name: str | None = None
) -> tuple[Tensor, Tensor]:
    """Both without a last dimension of size 1, where the ranks differ by one from what they should."""
    with scope_of(name, "remove_squeezable_dimensions", labels, predictions):
        predictions, labels = convert(predictions), convert(labels)
        mine, theirs = labels.static_shape, predictions.static_shape
        if mine.rank is not None and theirs.rank is not None:
            difference = theirs.rank - mine.rank
            if difference == expected_rank_diff + 1 and theirs[-1] in (None, 1):
                predictions = squeeze(predictions, [-1])
            elif difference == expected_rank_diff - 1 and mine[-1] in (None, 1):
                labels = squeeze(labels, [-1])
            return labels, predictions
        gap = rank(predictions) - rank(labels)
        if theirs.rank is None or theirs[-1] in (None, 1):
            predictions = _squeezed_if(predictions, equal(expected_rank_diff + 1, gap))
        if mine.rank is None or mine[-1] in (None, 1):
            labels = _squeezed_if(labels, equal(expected_rank_diff - 1, gap))
        return labels, predictions


def _squeezed_if(x: Tensor, condition: Tensor) -> Tensor:
    return convert(cond(condition, lambda: squeeze(x, [-1]), lambda: x))


def _squeezed_weights(weights: Any, labels: Tensor) -> Any:
    """The weights without a last dimension, if they have one more than the labels."""
    weights = convert(weights)
    mine, theirs = weights.static_shape, labels.static_shape
    if mine.rank is not None and theirs.rank is not None:
        return squeeze(weights, [-1]) if mine.rank - theirs.rank == 1 else weights
    gap = rank(weights) - rank(labels)
    if mine.rank is None or (mine.rank > 0 and mine[-1] in (None, 1)):
        return _squeezed_if(weights, equal(1, gap))
    return weights


__all__ = [
    "Reduction",
    "absolute_difference",
    "add_loss",
    "compute_weighted_loss",
    "cosine_distance",
    "get_losses",
    "get_regularization_loss",
    "get_regularization_losses",
    "get_total_loss",
    "hinge_loss",
    "huber_loss",
    "log_loss",
    "mean_pairwise_squared_error",
    "mean_squared_error",
    "sigmoid_cross_entropy",
    "softmax_cross_entropy",
    "sparse_softmax_cross_entropy",
]
