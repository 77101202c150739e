"""Metrics that are means over everything seen so far: of values, of errors, of hits, and of classes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tensorkeep.dtypes import FLOAT32, FLOAT64, INT64
from tensorkeep.graph.building import control_dependencies
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
    Metric,
    collected,
    expect_compatible,
    made_of,
    matched,
    metric_variable,
)
from tensorkeep.tf1.variables.assignments import assign_add, scatter_add
from tensorkeep.tf1.variables.scopes import variable_scope


def _quotient(total: Any, count: Any, name: str | None) -> Any:
    return div_no_nan(total, maximum(count, 0), name=name)


def _running_mean(variables: Sequence[Any], values: Any, total: Any, count: Any, collections: Sequence[Any]) -> Metric:
    """The mean by variables for a total and a count, to which those of the values are added."""
    new_total = assign_add(variables[0], total)
    with control_dependencies([values]):
        new_count = assign_add(variables[1], count)
    return made_of(variables, (new_total, new_count), lambda of, name: _quotient(of[0], of[1], name), *collections)


def mean(
    values: Any,
    weights: Any = None,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> Metric:
    """The weighted mean of all values."""
    with variable_scope(name, "mean", (values, weights)):
        values = cast(values, FLOAT32)
        variables = [metric_variable([], FLOAT32, name=what) for what in ("total", "count")]
        if weights is None:
            amount = cast(size(values), FLOAT32)
        else:
            values, _, weights = matched(values, None, weights)
            weights = broadcast_weights(cast(weights, FLOAT32), values)
            values = multiply(values, weights)
            amount = reduce_sum(weights)
        collections = (metrics_collections, updates_collections)
        return _running_mean(variables, values, reduce_sum(values), amount, collections)


def mean_tensor(
    values: Any,
    weights: Any = None,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> Metric:
    """The weighted mean of each element of a tensor."""
    with variable_scope(name, "mean", (values, weights)):
        values = cast(values, FLOAT32)
        variables = [metric_variable(values.shape, FLOAT32, name=what) for what in ("total_tensor", "count_tensor")]
        amounts = ones_like(values)
        if weights is not None:
            values, _, weights = matched(values, None, weights)
            weights = broadcast_weights(cast(weights, FLOAT32), values)
            values, amounts = multiply(values, weights), multiply(amounts, weights)
        return _running_mean(variables, values, values, amounts, (metrics_collections, updates_collections))


def accuracy(
    labels: Any,
    predictions: Any,
    weights: Any = None,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> Metric:
    """How often predictions equal labels."""
    predictions, labels, weights = matched(predictions, labels, weights)
    expect_compatible(predictions, labels)
    if labels.dtype != predictions.dtype:
        predictions = cast(predictions, labels.dtype)
    is_correct = cast(equal(predictions, labels), FLOAT32)
    return mean(is_correct, weights, metrics_collections, updates_collections, name or "accuracy")


def percentage_below(
    values: Any,
    threshold: Any,
    weights: Any = None,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> Metric:
    """Which part of the values is below a threshold."""
    is_below = cast(less(values, threshold), FLOAT32)
    return mean(is_below, weights, metrics_collections, updates_collections, name or "percentage_below_threshold")


# ---------------------------------------------------------------------------------------------------- Errors


def mean_absolute_error(
    labels: Any,
    predictions: Any,
    weights: Any = None,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> Metric:
    """The mean of `abs(predictions - labels)`."""
    predictions, labels, weights = matched(predictions, labels, weights)
    errors = absolute(predictions - labels)
    return mean(errors, weights, metrics_collections, updates_collections, name or "mean_absolute_error")


def mean_squared_error(
    labels: Any,
    predictions: Any,
    weights: Any = None,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> Metric:
    """The mean of the squares of `predictions - labels`."""
    predictions, labels, weights = matched(predictions, labels, weights)
    errors = squared_difference(labels, predictions)
    return mean(errors, weights, metrics_collections, updates_collections, name or "mean_squared_error")


def root_mean_squared_error(
    labels: Any,
    predictions: Any,
    weights: Any = None,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> Metric:
    """The square root of `mean_squared_error`."""
    predictions, labels, weights = matched(predictions, labels, weights)
    value, update = mean_squared_error(labels, predictions, weights, None, None, name or "root_mean_squared_error")
    root = collected(sqrt(value), metrics_collections)
    return root, collected(sqrt(update), updates_collections)


def mean_relative_error(
    labels: Any,
    predictions: Any,
    normalizer: Any,
    weights: Any = None,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> Metric:
    """The mean of `abs(predictions - labels) / normalizer`, 0 where the normalizer is 0."""
    predictions, labels, weights = matched(predictions, labels, weights)
    predictions, normalizer = remove_squeezable_dimensions(predictions, normalizer)
    expect_compatible(predictions, normalizer)
    errors = where(equal(normalizer, 0.0), zeros_like(labels), divide(absolute(labels - predictions), normalizer))
    return mean(errors, weights, metrics_collections, updates_collections, name or "mean_relative_error")


def mean_cosine_distance(
    labels: Any,
    predictions: Any,
    dim: int,
    weights: Any = None,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> Metric:
    """One less the mean product of unit vectors."""
    predictions, labels, weights = matched(predictions, labels, weights)
    products = reduce_sum(multiply(predictions, labels), axis=[dim], keepdims=True)
    value, update = mean(products, weights, None, None, name or "mean_cosine_distance")
    value, update = subtract(1.0, value), subtract(1.0, update)
    return collected(value, metrics_collections), collected(update, updates_collections)


# ---------------------------------------------------------------------------------------------------- Classes


def _flat(tensor: Any) -> Any:
    rank = tensor.static_shape.rank
    return reshape(tensor, [-1]) if rank is not None and rank > 1 else tensor


def mean_per_class_accuracy(
    labels: Any,
    predictions: Any,
    num_classes: int,
    weights: Any = None,
    metrics_collections: Any = None,
    updates_collections: Any = None,
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
        value = reduce_mean(_quotient(count, total, None), name="mean_accuracy")
        collected(value, metrics_collections)
        return value, collected(_quotient(new_count, new_total, "update_op"), updates_collections)


def mean_iou(
    labels: Any,
    predictions: Any,
    num_classes: int,
    weights: Any = None,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> Metric:
    """The mean over the classes of intersection over union; the update gives the matrix of confusions."""
    with variable_scope(name, "mean_iou", (predictions, labels, weights)):
        expect_compatible(predictions, labels)
        total = metric_variable([num_classes, num_classes], FLOAT64, name="total_confusion_matrix")
        predictions, labels = cast(predictions, INT64), cast(labels, INT64)
        classes = cast(num_classes, INT64)
        predictions, labels = _flat(predictions), _flat(labels)
        if weights is not None:
            weights = _flat(weights)
        current = confusion_matrix(labels, predictions, classes, weights=weights, dtype=FLOAT64)
        update = assign_add(total, current)
        value = collected(_mean_iou(total), metrics_collections)
        return value, collected(update, updates_collections)


def _mean_iou(confusions: Any) -> Any:
    by_row = cast(reduce_sum(confusions, 0), FLOAT32)
    by_column = cast(reduce_sum(confusions, 1), FLOAT32)
    hits = cast(diag_part(confusions), FLOAT32)
    union = by_row + by_column - hits
    valid = reduce_sum(cast(not_equal(union, 0), dtype=FLOAT32))
    union = where(greater(union, 0), union, ones_like(union))
    parts = divide(hits, union)
    return where(greater(valid, 0), reduce_sum(parts, name="mean_iou") / valid, 0)


__all__ = [
    "accuracy",
    "mean",
    "mean_absolute_error",
    "mean_cosine_distance",
    "mean_iou",
    "mean_per_class_accuracy",
    "mean_relative_error",
    "mean_squared_error",
    "mean_tensor",
    "percentage_below",
    "root_mean_squared_error",
]
