"""`tf.contrib.metrics`: measures over a stream of batches, with predictions first; and maps of them by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from inspect import Parameter, signature
from typing import Any

from tensorkeep.dtypes import FLOAT32
from tensorkeep.errors import InvalidArgumentError
from tensorkeep.graph.arguments import TensorLike
from tensorkeep.graph.building import name_scope
from tensorkeep.graph.conversion import convert
from tensorkeep.graph.graph import Tensor
from tensorkeep.tf1.functions.arrays.shapes import ones_like
from tensorkeep.tf1.functions.nn.activations import in_top_k
from tensorkeep.tf1.functions.numbers.elementwise import cast, div_no_nan, equal
from tensorkeep.tf1.functions.numbers.reductions import reduce_mean, reduce_sum
from tensorkeep.tf1.training.metrics.confusion import (
    auc,
    false_negatives,
    false_negatives_at_thresholds,
    false_positives,
    false_positives_at_thresholds,
    precision,
    precision_at_thresholds,
    recall,
    recall_at_thresholds,
    sensitivity_at_specificity,
    specificity_at_sensitivity,
    true_negatives,
    true_negatives_at_thresholds,
    true_positives,
    true_positives_at_thresholds,
)
from tensorkeep.tf1.training.metrics.means import accuracy as accuracy_metric
from tensorkeep.tf1.training.metrics.means import (
    mean,
    mean_absolute_error,
    mean_cosine_distance,
    mean_iou,
    mean_relative_error,
    mean_squared_error,
    root_mean_squared_error,
)
from tensorkeep.tf1.training.metrics.metric_variables import Collections, Labels, Metric, MetricOptions
from tensorkeep.tf1.training.metrics.ranking import (
    average_precision_at_k,
    average_precision_at_top_k,
    precision_at_k,
    precision_at_top_k,
    recall_at_k,
    recall_at_top_k,
)
from tensorkeep.tf1.variables.scopes import variable_scope


def _streaming(metric: Callable[..., Any], about: str, *others: str, name: str | None = None) -> Any:
    """A measure of `tf.metrics` whose arguments are predictions, labels, and those of its own."""
    shown = signature(metric)
    first = [Parameter(word, Parameter.POSITIONAL_OR_KEYWORD) for word in ("predictions", "labels", *others)]
    taken = {"predictions", "labels", *others}
    rest = [item for item in shown.parameters.values() if item.name not in taken]
    rest = [item.replace(kind=Parameter.POSITIONAL_OR_KEYWORD) for item in rest]

    def function(*args: Any, **kwargs: Any) -> Any:
        return metric(**function.__signature__.bind(*args, **kwargs).arguments)  # type: ignore[attr-defined]

    function.__signature__ = shown.replace(parameters=[*first, *rest])  # type: ignore[attr-defined]
    called = name or f"streaming_{getattr(metric, '__name__', 'metric')}"
    function.__name__ = function.__qualname__ = called
    function.__doc__ = about
    return function


streaming_accuracy = _streaming(accuracy_metric, "How many predictions are right.", name="streaming_accuracy")
streaming_precision = _streaming(precision, "How many of what was predicted is there.", name="streaming_precision")
streaming_recall = _streaming(recall, "How many of what is there was predicted.", name="streaming_recall")
streaming_auc = _streaming(auc, "The area under a curve.", name="streaming_auc")
streaming_true_positives = _streaming(
    true_positives, "How many are right to be there.", name="streaming_true_positives"
)
streaming_true_negatives = _streaming(
    true_negatives, "How many are right not to be there.", name="streaming_true_negatives"
)
streaming_false_positives = _streaming(
    false_positives, "How many are wrong to be there.", name="streaming_false_positives"
)
streaming_false_negatives = _streaming(
    false_negatives, "How many are wrong not to be there.", name="streaming_false_negatives"
)
streaming_mean_absolute_error = _streaming(
    mean_absolute_error, "How far predictions are away.", name="streaming_mean_absolute_error"
)
streaming_mean_squared_error = _streaming(
    mean_squared_error, "The squares of how far they are away.", name="streaming_mean_squared_error"
)
streaming_root_mean_squared_error = _streaming(
    root_mean_squared_error, "The root of the mean of the squares.", name="streaming_root_mean_squared_error"
)
streaming_mean_relative_error = _streaming(
    mean_relative_error, "How far away, of a norm.", "normalizer", name="streaming_mean_relative_error"
)
streaming_mean_cosine_distance = _streaming(
    mean_cosine_distance, "One less the cosine.", "dim", name="streaming_mean_cosine_distance"
)
streaming_mean_iou = _streaming(mean_iou, "The mean of overlaps of classes.", "num_classes", name="streaming_mean_iou")
streaming_precision_at_thresholds = _streaming(
    precision_at_thresholds, "Precision at thresholds.", "thresholds", name="streaming_precision_at_thresholds"
)
streaming_recall_at_thresholds = _streaming(
    recall_at_thresholds, "Recall at thresholds.", "thresholds", name="streaming_recall_at_thresholds"
)
streaming_true_positives_at_thresholds = _streaming(
    true_positives_at_thresholds, "How many are right to be there, by threshold.", "thresholds",
    name="streaming_true_positives_at_thresholds",
)  # fmt: skip
streaming_true_negatives_at_thresholds = _streaming(
    true_negatives_at_thresholds, "How many are right not to be there, by threshold.", "thresholds",
    name="streaming_true_negatives_at_thresholds",
)  # fmt: skip
streaming_false_positives_at_thresholds = _streaming(
    false_positives_at_thresholds, "How many are wrong to be there, by threshold.", "thresholds",
    name="streaming_false_positives_at_thresholds",
)  # fmt: skip
streaming_false_negatives_at_thresholds = _streaming(
    false_negatives_at_thresholds, "How many are wrong not to be there, by threshold.", "thresholds",
    name="streaming_false_negatives_at_thresholds",
)  # fmt: skip
streaming_specificity_at_sensitivity = _streaming(
    specificity_at_sensitivity, "Specificity where sensitivity is so much.", "sensitivity",
    name="streaming_specificity_at_sensitivity",
)  # fmt: skip
streaming_sensitivity_at_specificity = _streaming(
    sensitivity_at_specificity, "Sensitivity where specificity is so much.", "specificity",
    name="streaming_sensitivity_at_specificity",
)  # fmt: skip
streaming_sparse_precision_at_k = _streaming(
    precision_at_k, "Precision of the best k.", "k", name="streaming_sparse_precision_at_k"
)
streaming_sparse_recall_at_k = _streaming(
    recall_at_k, "Recall of the best k.", "k", name="streaming_sparse_recall_at_k"
)
streaming_sparse_average_precision_at_k = _streaming(
    average_precision_at_k, "Average precision of the best k.", "k", name="streaming_sparse_average_precision_at_k"
)


def _rate(wrong: Callable[..., Any], right: Callable[..., Any], default: str, about: str) -> Any:
    """How many of those that are, or are not, there are taken for the other: wrong / (wrong + right)."""

    def function(
        predictions: TensorLike,
        labels: TensorLike,
        weights: TensorLike | None = None,
        metrics_collections: Any = None,
        updates_collections: Any = None,
        name: str | None = None,
    ) -> Any:
        with variable_scope(name, default, (predictions, labels, weights)):
            counts = [count(labels, predictions, weights) for count in (wrong, right)]
            options = MetricOptions(metrics_collections, updates_collections, name)

            def part(of: Any, word: str) -> Tensor:
                first, second = (convert(item) for item in of)
                return div_no_nan(first, first + second, name=word)

            return options.record([value for value, _ in counts], [update for _, update in counts], part)

    function.__name__ = function.__qualname__ = f"streaming_{default}"
    function.__doc__ = about
    return function


streaming_false_positive_rate = _rate(
    false_positives, true_negatives, "false_positive_rate", "How many of what is not there was predicted."
)
streaming_false_negative_rate = _rate(
    false_negatives, true_positives, "false_negative_rate", "How many of what is there was not predicted."
)


def accuracy(predictions: Tensor, labels: Tensor, weights: TensorLike | None = None, name: str | None = None) -> Tensor:
    """How many predictions of a batch are right."""
    if labels.dtype is not predictions.dtype:
        raise InvalidArgumentError(
            f"dtypes of labels and predictions differ: {labels.dtype.name}, {predictions.dtype.name}"
        )
    with name_scope(name or "accuracy"):
        right = cast(equal(predictions, labels), FLOAT32)
        if weights is None:
            return reduce_mean(right)
        counted = cast(weights, FLOAT32) * ones_like(right)
        return div_no_nan(reduce_sum(right * counted), reduce_sum(counted))


def streaming_recall_at_k(
    predictions: TensorLike,
    labels: TensorLike,
    k: int,
    weights: TensorLike | None = None,
    metrics_collections: Collections | None = None,
    updates_collections: Collections | None = None,
    name: str | None = None,
) -> Metric:
    """How often the label is among the k most likely classes."""
    found = cast(in_top_k(predictions, labels, k), FLOAT32)
    called = name or f"recall_at_{k}"
    return mean(found, weights, metrics_collections, updates_collections, called)


def sparse_recall_at_top_k(
    labels: Labels,
    top_k_predictions: Tensor,
    class_id: int | None = None,
    weights: TensorLike | None = None,
    metrics_collections: Collections = None,
    updates_collections: Collections = None,
    name: str | None = None,
) -> Metric:
    """Which part of the labels is among the predicted classes."""
    collections = (metrics_collections, updates_collections)
    return recall_at_top_k(labels, top_k_predictions, None, class_id, weights, *collections, name)


def streaming_sparse_precision_at_top_k(
    top_k_predictions: Tensor,
    labels: Labels,
    class_id: int | None = None,
    weights: TensorLike | None = None,
    metrics_collections: Collections = None,
    updates_collections: Collections = None,
    name: str | None = None,
) -> Metric:
    """Which part of the predicted classes is among the labels."""
    collections = (metrics_collections, updates_collections)
    return precision_at_top_k(labels, top_k_predictions, None, class_id, weights, *collections, name)


def streaming_sparse_average_precision_at_top_k(
    top_k_predictions: Tensor,
    labels: Labels,
    weights: TensorLike | None = None,
    metrics_collections: Collections = None,
    updates_collections: Collections = None,
    name: str | None = None,
) -> Metric:
    """The mean over examples of the average precision of predicted classes, the best of them first."""
    return average_precision_at_top_k(
        labels, top_k_predictions, weights, metrics_collections, updates_collections, name
    )


def aggregate_metrics(*value_update_tuples: tuple[Any, Any]) -> tuple[list[Any], list[Any]]:
    """A list of the values and one of the updates, of several pairs of a value and its update."""
    if not value_update_tuples:
        raise InvalidArgumentError("Expected at least one value_tensor/update_op pair")
    values, updates = zip(*value_update_tuples, strict=True)
    return list(values), list(updates)


def aggregate_metric_map(names_to_tuples: Mapping[str, tuple[Any, Any]]) -> tuple[dict[str, Any], dict[str, Any]]:
    """A dictionary of the values and one of the updates, of pairs of a value and its update by name."""
    values = {name: value for name, (value, _) in names_to_tuples.items()}
    return values, {name: update for name, (_, update) in names_to_tuples.items()}
