"""Metrics that are means over everything seen so far: of values, of errors, of hits, and of classes."""

from __future__ import annotations

from collections.abc import Sequence

from tensorkeep.dtypes import FLOAT32, FLOAT64, INT64
from tensorkeep.graph.arguments import TensorLike
from tensorkeep.graph.building import control_dependencies
from tensorkeep.graph.graph import Tensor
from tensorkeep.tf1.functions.arrays.counting import confusion_matrix
from tensorkeep.tf1.functions.arrays.shapes import ones, ones_like, reshape, size, where, zeros_like
from tensorkeep.tf1.functions.linear_algebra.matrices import diag_part
from tensorkeep.tf1.functions.nn.losses import broadcast_weights, remove_squeezable_dimensions
from tensorkeep.tf1.functions.numbers.elementwise import abs as absolute
from tensorkeep.tf1.functions.numbers.elementwise import (
    cast,
    div_no_nan,
    divide,
    equal,
    greater,
    less,
    maximum,
    multiply,
    not_equal,
    sqrt,
    squared_difference,
    subtract,
)
from tensorkeep.tf1.functions.numbers.reductions import reduce_mean, reduce_sum
from tensorkeep.tf1.training.metrics.metric_variables import (
    Collections,
    Counted,
    Metric,
    MetricOptions,
    expect_compatible,
    label_metric,
    match_ranks,
    match_weights,
    metric_variable,
)
from tensorkeep.tf1.variables.assignments import assign_add, scatter_add
from tensorkeep.tf1.variables.scopes import variable_scope
from tensorkeep.tf1.variables.variable import Variable


def safe_quotient(total: Counted, count: Counted, name: str | None) -> Tensor:
    return div_no_nan(total, maximum(count, 0), name=name)


def _running_mean(
    variables: Sequence[Counted], values: Tensor, total: Tensor, count: Tensor, options: MetricOptions
) -> Metric:
    """The mean by variables for a total and a count, to which those of the values are added."""
    new_total = assign_add(variables[0], total)
    with control_dependencies([values]):
        new_count = assign_add(variables[1], count)
    return options.record(variables, (new_total, new_count), lambda of, name: safe_quotient(of[0], of[1], name))


def _mean(values: TensorLike, weights: TensorLike | None, options: MetricOptions) -> Metric:
    with variable_scope(options.name, "mean", (values, weights)):
        terms: Tensor = cast(values, FLOAT32)
        variables = [metric_variable([], FLOAT32, name=what) for what in ("total", "count")]
        if weights is None:
            amount = cast(size(terms), FLOAT32)
        else:
            weights = broadcast_weights(cast(match_weights(terms, weights), FLOAT32), terms)
            terms = multiply(terms, weights)
            amount = reduce_sum(weights)
        return _running_mean(variables, terms, reduce_sum(terms), amount, options)


def mean(
    values: TensorLike,
    weights: TensorLike | None = None,
    metrics_collections: Collections = None,
    updates_collections: Collections = None,
    name: str | None = None,
) -> Metric:
    """The weighted mean of all values."""
    return _mean(values, weights, MetricOptions(metrics_collections, updates_collections, name))


def mean_tensor(
    values: TensorLike,
    weights: TensorLike | None = None,
    metrics_collections: Collections = None,
    updates_collections: Collections = None,
    name: str | None = None,
) -> Metric:
    """The weighted mean of each element of a tensor."""
    with variable_scope(name, "mean", (values, weights)):
        terms: Tensor = cast(values, FLOAT32)
        variables = [metric_variable(terms.shape, FLOAT32, name=what) for what in ("total_tensor", "count_tensor")]
        amounts = ones_like(terms)
        if weights is not None:
            weights = broadcast_weights(cast(match_weights(terms, weights), FLOAT32), terms)
            terms, amounts = multiply(terms, weights), multiply(amounts, weights)
        options = MetricOptions(metrics_collections, updates_collections, name)
        return _running_mean(variables, terms, terms, amounts, options)


@label_metric
def accuracy(labels: TensorLike, predictions: TensorLike, weights: TensorLike | None, options: MetricOptions) -> Metric:
    """How often predictions equal labels."""
    predictions, labels, weights = match_ranks(predictions, labels, weights)
    expect_compatible(predictions, labels)
    if labels.dtype != predictions.dtype:
        predictions = cast(predictions, labels.dtype)
    return _mean(cast(equal(predictions, labels), FLOAT32), weights, options.with_name("accuracy"))


def percentage_below(
    values: TensorLike,
    threshold: TensorLike,
    weights: TensorLike | None = None,
    metrics_collections: Collections = None,
    updates_collections: Collections = None,
    name: str | None = None,
) -> Metric:
    """Which part of the values is below a threshold."""
    options = MetricOptions(metrics_collections, updates_collections, name)
    return _mean(cast(less(values, threshold), FLOAT32), weights, options.with_name("percentage_below_threshold"))


# ---------------------------------------------------------------------------------------------------- Errors


@label_metric
def mean_absolute_error(
    labels: TensorLike, predictions: TensorLike, weights: TensorLike | None, options: MetricOptions
) -> Metric:
    """The mean of `abs(predictions - labels)`."""
    predictions, labels, weights = match_ranks(predictions, labels, weights)
    return _mean(absolute(predictions - labels), weights, options.with_name("mean_absolute_error"))


def _mean_squared_error(
    labels: TensorLike, predictions: TensorLike, weights: TensorLike | None, options: MetricOptions
) -> Metric:
    """The mean of the squares of `predictions - labels`."""
    predictions, labels, weights = match_ranks(predictions, labels, weights)
    return _mean(squared_difference(labels, predictions), weights, options.with_name("mean_squared_error"))


mean_squared_error = label_metric(_mean_squared_error, "mean_squared_error")


@label_metric
def root_mean_squared_error(
    labels: TensorLike, predictions: TensorLike, weights: TensorLike | None, options: MetricOptions
) -> Metric:
    """The square root of `mean_squared_error`."""
    predictions, labels, weights = match_ranks(predictions, labels, weights)
    squares = options.for_inner("root_mean_squared_error")
    value, update = _mean_squared_error(labels, predictions, weights, squares)
    root = options.record_value(sqrt(value))
    return root, options.record_update(sqrt(update))


def mean_relative_error(
    labels: TensorLike,
    predictions: TensorLike,
    normalizer: TensorLike,
    weights: TensorLike | None = None,
    metrics_collections: Collections = None,
    updates_collections: Collections = None,
    name: str | None = None,
) -> Metric:
    """The mean of `abs(predictions - labels) / normalizer`, 0 where the normalizer is 0."""
    predictions, labels, weights = match_ranks(predictions, labels, weights)
    predictions, normalizer = remove_squeezable_dimensions(predictions, normalizer)
    expect_compatible(predictions, normalizer)
    errors = where(equal(normalizer, 0.0), zeros_like(labels), divide(absolute(labels - predictions), normalizer))
    options = MetricOptions(metrics_collections, updates_collections, name)
    return _mean(errors, weights, options.with_name("mean_relative_error"))


def mean_cosine_distance(
    labels: TensorLike,
    predictions: TensorLike,
    dim: int,
    weights: TensorLike | None = None,
    metrics_collections: Collections = None,
    updates_collections: Collections = None,
    name: str | None = None,
) -> Metric:
    """One less the mean product of unit vectors."""
    options = MetricOptions(metrics_collections, updates_collections, name)
    predictions, labels, weights = match_ranks(predictions, labels, weights)
    products = reduce_sum(multiply(predictions, labels), axis=[dim], keepdims=True)
    value, update = _mean(products, weights, options.for_inner("mean_cosine_distance"))
    value, update = subtract(1.0, value), subtract(1.0, update)
    return options.record_value(value), options.record_update(update)


# ---------------------------------------------------------------------------------------------------- Classes


def _flat(tensor: Tensor) -> Tensor:
    rank = tensor.static_shape.rank
    return reshape(tensor, [-1]) if rank is not None and rank > 1 else tensor


def mean_per_class_accuracy(
    labels: Tensor,
    predictions: Tensor,
    num_classes: int,
    weights: Tensor | None = None,
    metrics_collections: Collections = None,
    updates_collections: Collections = None,
    name: str | None = None,
) -> Metric:
    """The mean over the classes of how often each is predicted rightly; the update gives that of every class."""
    with variable_scope(name, "mean_accuracy", (predictions, labels, weights)):
        labels = _flat(cast(labels, INT64))
        predictions = _flat(predictions)
        expect_compatible(predictions, labels)
        total = metric_variable([num_classes], FLOAT32, name="total")
        count = metric_variable([num_classes], FLOAT32, name="count")
        amounts = ones([size(labels)], FLOAT32)
        if labels.dtype != predictions.dtype:
            predictions = cast(predictions, labels.dtype)
        is_correct = cast(equal(predictions, labels), FLOAT32)
        if weights is not None:
            weights = cast(_flat(weights), FLOAT32)
            is_correct *= weights
            amounts *= weights
        new_total = scatter_add(total, labels, amounts)
        new_count = scatter_add(count, labels, is_correct)
        options = MetricOptions(metrics_collections, updates_collections, name)
        value = options.record_value(reduce_mean(safe_quotient(count, total, None), name="mean_accuracy"))
        return value, options.record_update(safe_quotient(new_count, new_total, "update_op"))


def mean_iou(
    labels: Tensor,
    predictions: Tensor,
    num_classes: int,
    weights: Tensor | None = None,
    metrics_collections: Collections = None,
    updates_collections: Collections = None,
    name: str | None = None,
) -> Metric:
    """The mean over the classes of intersection over union; the update gives the matrix of confusions."""
    with variable_scope(name, "mean_iou", (predictions, labels, weights)):
        expect_compatible(predictions, labels)
        total, update = streaming_confusion_matrix(labels, predictions, num_classes, weights)
        options = MetricOptions(metrics_collections, updates_collections, name)
        return options.record_value(_mean_iou(total)), options.record_update(update)


def streaming_confusion_matrix(
    labels: Tensor, predictions: Tensor, num_classes: int, weights: Tensor | None = None
) -> tuple[Variable, Variable | Tensor]:
    """How often each class was taken for each, by label and prediction: so far, and the update."""
    total = metric_variable([num_classes, num_classes], FLOAT64, name="total_confusion_matrix")
    predictions, labels = cast(predictions, INT64), cast(labels, INT64)
    classes = cast(num_classes, INT64)
    predictions, labels = _flat(predictions), _flat(labels)
    if weights is not None:
        weights = _flat(weights)
    current = confusion_matrix(labels, predictions, classes, weights=weights, dtype=FLOAT64)
    return total, assign_add(total, current)


def _mean_iou(confusions: Variable) -> Tensor:
    by_row = cast(reduce_sum(confusions, 0), FLOAT32)
    by_column = cast(reduce_sum(confusions, 1), FLOAT32)
    hits = cast(diag_part(confusions), FLOAT32)
    union = by_row + by_column - hits
    valid = reduce_sum(cast(not_equal(union, 0), dtype=FLOAT32))
    union = where(greater(union, 0), union, ones_like(union))
    parts = divide(hits, union)
    return where(greater(valid, 0), reduce_sum(parts, name="mean_iou") / valid, 0)
