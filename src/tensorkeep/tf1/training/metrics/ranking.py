"""Metrics of the best k predictions: precision, recall and average precision, for one class or all of them.

Labels are class numbers, [..., labels of an example], dense or sparse.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from tensorkeep.dtypes import FLOAT64, INT64
from tensorkeep.errors import InvalidArgumentError
from tensorkeep.graph.arguments import TensorLike
from tensorkeep.graph.building import control_dependencies
from tensorkeep.graph.composites import SparseTensor
from tensorkeep.graph.graph import Tensor
from tensorkeep.ops.shared.expressions import stitched_shape
from tensorkeep.runtime.composite_values import SparseTensorValue
from tensorkeep.tf1.functions.arrays.shapes import (
    concat,
    expand_dims,
    fill,
    ones_like,
    reshape,
    scope_of,
    shape,
    size,
    tile,
    where_v2,
    zeros_like,
)
from tensorkeep.tf1.functions.arrays.slicing import slice as cut
from tensorkeep.tf1.functions.control.control_flow import cond
from tensorkeep.tf1.functions.nn.activations import top_k
from tensorkeep.tf1.functions.nn.losses import assert_broadcastable, broadcast_weights
from tensorkeep.tf1.functions.numbers.elementwise import (
    add,
    cast,
    cumsum,
    div_no_nan,
    divide,
    equal,
    greater_equal,
    minimum,
    multiply,
)
from tensorkeep.tf1.functions.numbers.reductions import reduce_max, reduce_sum
from tensorkeep.tf1.functions.numbers.sets import set_difference, set_intersection, set_size
from tensorkeep.tf1.functions.sparse.tensors import sparse_concat, sparse_reshape, sparse_retain
from tensorkeep.tf1.training.metrics.metric_variables import (
    Collections,
    Counted,
    Labels,
    Metric,
    MetricOptions,
    expanded_labels,
    metric_variable,
    sparse_or_tensor,
)
from tensorkeep.tf1.variables.assignments import assign_add
from tensorkeep.tf1.variables.variable import Variable


def _at_k(name: str, k: int | None = None, class_id: int | None = None) -> str:
    name = f"{name}_at_k" if k is None else f"{name}_at_{k}"
    return name if class_id is None else f"{name}_class{class_id}"


def _ids_of_class(ids: Labels, class_id: int) -> SparseTensor:
    """The ids that are the given class."""
    tensor = sparse_or_tensor(ids)
    if isinstance(tensor, SparseTensor):
        return sparse_retain(tensor, equal(tensor.values, class_id))
    sizes = shape(tensor, out_type=INT64)
    last = size(sizes) - 1
    filled = fill(stitched_shape(sizes, reshape(last, [1])), cast(class_id, INT64))
    found = set_intersection(filled, tensor)
    return SparseTensor(found.indices, found.values, sizes)


def _class_only(labels: Labels, predictions_idx: Labels, class_id: int | None) -> tuple[Labels, Labels]:
    if class_id is None:
        return labels, predictions_idx
    return _ids_of_class(labels, class_id), _ids_of_class(predictions_idx, class_id)


Combine = Callable[[Labels, Labels], SparseTensor]


def _amount(
    combine: Combine,
    default_name: str,
    labels: Labels,
    predictions_idx: Labels,
    class_id: int | None,
    weights: TensorLike | None,
    name: str | None,
) -> Tensor:
    """How many elements a combination of the sets of predictions and labels has."""
    with scope_of(name, default_name, predictions_idx, labels, weights):
        labels, predictions_idx = _class_only(labels, predictions_idx, class_id)
        found: Tensor = cast(set_size(combine(predictions_idx, labels)), FLOAT64)
        if weights is not None:
            with control_dependencies((assert_broadcastable(weights, found),)):
                found = multiply(found, cast(weights, FLOAT64))
        return found


_COMBINATIONS: dict[str, Combine] = {
    "true_positive": set_intersection,
    "false_negative": lambda predictions, labels: set_difference(predictions, labels, aminusb=False),
    "false_positive": lambda predictions, labels: set_difference(predictions, labels, aminusb=True),
}


def _streaming(
    kind: str, labels: Labels, predictions_idx: Tensor, k: int | None, class_id: int | None, weights: TensorLike | None
) -> tuple[Variable, Counted]:
    with scope_of(None, _at_k(kind, k, class_id), predictions_idx, labels, weights) as scope:
        found = _amount(_COMBINATIONS[kind], f"{kind}s", labels, predictions_idx, class_id, weights, None)
        total = cast(reduce_sum(found), FLOAT64)
        variable = metric_variable([], FLOAT64, name=scope)
        return variable, assign_add(variable, total, name="update")


def _part_at_top_k(
    default_name: str,
    misses_kind: str,
    labels: Labels,
    predictions_idx: Tensor,
    k: int | None,
    class_id: int | None,
    weights: TensorLike | None,
    options: MetricOptions,
) -> Metric:
    with scope_of(options.name, _at_k(default_name, k, class_id), predictions_idx, labels, weights) as scope:
        labels = expanded_labels(labels, predictions_idx)
        best = cast(predictions_idx, INT64)
        hits, new_hits = _streaming("true_positive", labels, best, k, class_id, weights)
        misses, new_misses = _streaming(misses_kind, labels, best, k, class_id, weights)
        value = options.record_value(divide(hits, add(hits, misses), name=scope))
        return value, options.record_update(divide(new_hits, add(new_hits, new_misses), name="update"))


def recall_at_top_k(
    labels: Labels,
    predictions_idx: Tensor,
    k: int | None = None,
    class_id: int | None = None,
    weights: TensorLike | None = None,
    metrics_collections: Collections = None,
    updates_collections: Collections = None,
    name: str | None = None,
) -> Metric:
    """Which part of the labels is among the predicted classes."""
    options = MetricOptions(metrics_collections, updates_collections, name)
    return _part_at_top_k("recall", "false_negative", labels, predictions_idx, k, class_id, weights, options)


def precision_at_top_k(
    labels: Labels,
    predictions_idx: Tensor,
    k: int | None = None,
    class_id: int | None = None,
    weights: TensorLike | None = None,
    metrics_collections: Collections = None,
    updates_collections: Collections = None,
    name: str | None = None,
) -> Metric:
    """Which part of the predicted classes is among the labels."""
    options = MetricOptions(metrics_collections, updates_collections, name)
    return _part_at_top_k("precision", "false_positive", labels, predictions_idx, k, class_id, weights, options)


def _part_at_k(
    default_name: str,
    misses_kind: str,
    labels: Labels,
    predictions: TensorLike,
    k: int,
    class_id: int | None,
    weights: TensorLike | None,
    options: MetricOptions,
) -> Metric:
    with scope_of(options.name, _at_k(default_name, k, class_id), predictions, labels, weights) as scope:
        _, best = top_k(predictions, k)
        named = replace(options, name=scope)
        return _part_at_top_k(default_name, misses_kind, labels, best, k, class_id, weights, named)


def recall_at_k(
    labels: Labels,
    predictions: TensorLike,
    k: int,
    class_id: int | None = None,
    weights: TensorLike | None = None,
    metrics_collections: Collections = None,
    updates_collections: Collections = None,
    name: str | None = None,
) -> Metric:
    """Which part of the labels is among the k classes of the greatest scores."""
    options = MetricOptions(metrics_collections, updates_collections, name)
    return _part_at_k("recall", "false_negative", labels, predictions, k, class_id, weights, options)


def precision_at_k(
    labels: Labels,
    predictions: TensorLike,
    k: int,
    class_id: int | None = None,
    weights: TensorLike | None = None,
    metrics_collections: Collections = None,
    updates_collections: Collections = None,
    name: str | None = None,
) -> Metric:
    """Which part of the k classes of the greatest scores is among the labels."""
    options = MetricOptions(metrics_collections, updates_collections, name)
    return _part_at_k("precision", "false_positive", labels, predictions, k, class_id, weights, options)


def sparse_precision_at_k(
    labels: Labels,
    predictions: TensorLike,
    k: int,
    class_id: int | None = None,
    weights: TensorLike | None = None,
    metrics_collections: Collections = None,
    updates_collections: Collections = None,
    name: str | None = None,
) -> Metric:
    """`precision_at_k`, whose name this was."""
    return precision_at_k(labels, predictions, k, class_id, weights, metrics_collections, updates_collections, name)


# ---------------------------------------------------------------------------------------------------- Average precision


def _repeat_before_last(tensor: Labels, multiple: int, name: str) -> Tensor | SparseTensor:
    """The tensor so many times along a new axis before the last."""
    with scope_of(name, name, tensor) as scope:
        given = sparse_or_tensor(tensor)
        if isinstance(given, SparseTensor):
            before = reshape(size(given.dense_shape) + -1, [1])
            parts = (cut(given.dense_shape, [0], before), [1], cut(given.dense_shape, before, [-1]))
            sparse = sparse_reshape(given, shape=concat(parts, 0, name="expanded_shape"), name="expand")
            return sparse if multiple == 1 else sparse_concat(-2, [sparse] * multiple, name=scope)
        expanded = expand_dims(given, -2, name="expand")
        if multiple == 1:
            return expanded
        ones = ones_like(shape(given))
        multiples = concat((ones[:-1], (multiple,), ones[-1:]), 0, name="multiples")
        return tile(expanded, multiples, name=scope)


def _relevant_count(labels: Labels, k: int) -> Tensor:
    """How many labels each example has, k at most."""
    with scope_of(None, "num_relevant", labels) as scope:
        given = sparse_or_tensor(labels)
        if isinstance(given, SparseTensor):
            return minimum(set_size(given), k, name=scope)
        is_label = where_v2(greater_equal(given, 0), ones_like(given), zeros_like(given))
        return minimum(reduce_sum(is_label, axis=-1), k, name=scope)


def _average_precision(labels: Labels, predictions_idx: Tensor) -> Tensor:
    with scope_of(None, "average_precision", predictions_idx, labels) as scope:
        best = cast(predictions_idx, INT64, name="predictions_idx")
        if best.static_shape.rank == 0:
            raise InvalidArgumentError("The rank of `predictions_idx` must be at least 1.")
        k = None if best.static_shape.rank is None else best.static_shape[-1]
        if k is None:
            raise InvalidArgumentError("The last dimension of predictions_idx must be set. Currently, it is None.")
        labels = expanded_labels(labels, best)
        each = expand_dims(best, -1, name="predictions_idx_per_k")
        labels_of_each = _repeat_before_last(labels, k, "labels_per_k")
        hits = _amount(set_intersection, "true_positives", labels_of_each, each, None, None, "relevant_per_k")
        so_far = cumsum(hits, axis=-1, name="tp_per_k")
        retrieved = cumsum(ones_like(hits), axis=-1, name="retrieved_per_k")
        precisions = divide(cast(so_far, FLOAT64), cast(retrieved, FLOAT64), name="precision_per_k")
        relevant = multiply(precisions, cast(hits, FLOAT64), name="relevant_precision_per_k")
        total = reduce_sum(relevant, axis=(-1,), name="precision_sum")
        return divide(total, cast(_relevant_count(labels, k), FLOAT64), name=scope)


def _without_strangers(labels: Labels | SparseTensorValue, classes: Tensor) -> Labels:
    """Labels of which those that are no class are -1."""

    def cleaned_values(values: TensorLike) -> Tensor:
        return where_v2(greater_equal(values, classes), -1 * ones_like(values), values)

    def cleaned() -> Labels | SparseTensorValue:
        if isinstance(labels, SparseTensor | SparseTensorValue):
            return type(labels)(labels.indices, cleaned_values(labels.values), labels.dense_shape)
        return cleaned_values(labels)

    greatest = reduce_max(labels.values if isinstance(labels, SparseTensor | SparseTensorValue) else labels)
    known: Labels = cond(greater_equal(greatest, classes), cleaned, lambda: labels)
    return known


def average_precision_at_k(
    labels: Labels,
    predictions: TensorLike,
    k: int,
    weights: TensorLike | None = None,
    metrics_collections: Collections = None,
    updates_collections: Collections = None,
    name: str | None = None,
) -> Metric:
    """The mean over examples of the average precision of the k classes of the greatest scores."""
    if k < 1:
        raise InvalidArgumentError(f"Invalid k={k}. `k` should be >= 1.")
    with scope_of(name, _at_k("average_precision", k), predictions, labels, weights) as outer:
        _, best = top_k(predictions, k)
        labels = _without_strangers(labels, cast(shape(predictions)[-1], INT64))
        return average_precision_at_top_k(labels, best, weights, metrics_collections, updates_collections, outer)


def average_precision_at_top_k(
    labels: Labels,
    predictions_idx: Tensor,
    weights: TensorLike | None = None,
    metrics_collections: Collections = None,
    updates_collections: Collections = None,
    name: str | None = None,
) -> Metric:
    """The mean over examples of the average precision of predicted classes, the best of them first."""
    with scope_of(name, "average_precision_at_top_k", predictions_idx, labels, weights) as scope:
        found = _average_precision(labels, predictions_idx)
        if weights is not None:
            weights = broadcast_weights(cast(weights, FLOAT64), found)
            found = multiply(found, weights)
        most, new_most = _most(found, weights)
        with scope_of(None, "total", found) as total_scope:
            total = metric_variable([], FLOAT64, name=total_scope)
            new_total = assign_add(total, reduce_sum(found, name="batch_total"), name="update")
        options = MetricOptions(metrics_collections, updates_collections)
        value = options.record_value(div_no_nan(total, most, name="mean"))
        return value, options.record_update(div_no_nan(new_total, new_most, name=scope))


def _most(found: Tensor, weights: TensorLike | None) -> tuple[Variable, Counted]:
    """The total that perfect predictions would reach."""
    with scope_of(None, "max", found) as scope:
        variable = metric_variable([], FLOAT64, name=scope)
        if weights is None:
            of_batch = cast(size(found, name="batch_max"), FLOAT64)
        else:
            of_batch = reduce_sum(weights, name="batch_max")
        return variable, assign_add(variable, of_batch, name="update")


def sparse_average_precision_at_k(
    labels: Labels,
    predictions: TensorLike,
    k: int,
    weights: TensorLike | None = None,
    metrics_collections: Collections = None,
    updates_collections: Collections = None,
    name: str | None = None,
) -> Metric:
    """`average_precision_at_k`, whose name this was."""
    return average_precision_at_k(labels, predictions, k, weights, metrics_collections, updates_collections, name)
