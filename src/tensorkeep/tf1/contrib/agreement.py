"""Measures over a stream of how two rows of values go together: covariance, correlation, agreement; and counts."""

from __future__ import annotations

from typing import Any

from tensorkeep.dtypes import FLOAT32, FLOAT64, INT64
from tensorkeep.errors import InvalidArgumentError
from tensorkeep.graph.arguments import TensorLike
from tensorkeep.graph.building import control_dependencies
from tensorkeep.graph.conversion import convert
from tensorkeep.graph.graph import Tensor
from tensorkeep.tf1.functions.arrays.counting import confusion_matrix
from tensorkeep.tf1.functions.arrays.shapes import concat, identity, ones_like, reshape, size, transpose, where
from tensorkeep.tf1.functions.linear_algebra.matrices import diag_part
from tensorkeep.tf1.functions.nn.losses import broadcast_weights
from tensorkeep.tf1.functions.numbers.elementwise import cast, div_no_nan, multiply, sqrt
from tensorkeep.tf1.functions.numbers.reductions import reduce_sum
from tensorkeep.tf1.training.metrics.metric_variables import (
    Collections,
    Metric,
    MetricOptions,
    expect_compatible,
    match_ranks,
    metric_variable,
)
from tensorkeep.tf1.variables.assignments import assign, assign_add
from tensorkeep.tf1.variables.scopes import variable_scope


def count(
    values: TensorLike,
    weights: TensorLike | None = None,
    metrics_collections: Collections = None,
    updates_collections: Collections = None,
    name: str | None = None,
) -> Metric:
    """How many values there were, or what they weigh together."""
    with variable_scope(name, "count", (values, weights)):
        so_far, given = metric_variable([], FLOAT32, name="count"), convert(values)
        if weights is None:
            more = cast(size(given), FLOAT32)
        else:
            more = reduce_sum(broadcast_weights(cast(weights, FLOAT32), given))
        with control_dependencies([given]):
            updated = assign_add(so_far, more)
        options = MetricOptions(metrics_collections, updates_collections, name)
        return options.record_value(convert(so_far)), options.record_update(updated)


def streaming_concat(
    values: TensorLike,
    axis: int = 0,
    max_size: int | None = None,
    metrics_collections: Collections = None,
    updates_collections: Collections = None,
    name: str | None = None,
) -> Metric:
    """All values so far, one batch behind the other along an axis; the first `max_size` of them if that is given."""
    with variable_scope(name, "streaming_concat", (values,)):
        given = convert(values)
        sizes = given.get_shape().as_list()
        axis = axis + len(sizes) if axis < 0 else axis
        if not 0 <= axis < len(sizes):
            raise InvalidArgumentError(f"axis = {axis} not in [0, {len(sizes)})")
        if None in (rest := sizes[:axis] + sizes[axis + 1 :]):
            raise InvalidArgumentError(f"all dimensions of `values` other than {axis} must be known, got {sizes}")
        order = [axis, *(at for at in range(len(sizes)) if at != axis)]
        so_far = metric_variable([0, *rest], given.dtype, validate_shape=False, name="array")
        batch = transpose(given, order) if axis else given
        whole: Any = concat([so_far, batch], 0)
        updated: Any = assign(so_far, whole if max_size is None else whole[:max_size], validate_shape=False)
        back = sorted(range(len(sizes)), key=order.__getitem__)
        found = [convert(so_far), convert(updated)]
        for item in found:
            item.set_shape([None, *rest])
        value, update = (transpose(item, back) if axis else identity(item) for item in found)
        options = MetricOptions(metrics_collections, updates_collections, name)
        return options.record_value(value), options.record_update(update)


def streaming_covariance(
    predictions: TensorLike,
    labels: TensorLike,
    weights: TensorLike | None = None,
    metrics_collections: Collections = None,
    updates_collections: Collections = None,
    name: str | None = None,
) -> Metric:
    """The covariance of predictions and labels, over one less than their number: not a number before there are two.

    Batches are joined by C = C_A + C_B + (x_A - x_B) (y_A - y_B) n_A n_B / n, with the means of each.
    """
    with variable_scope(name, "covariance", (predictions, labels, weights)):
        x, y, given = match_ranks(convert(predictions), convert(labels), weights)
        expect_compatible(x, y)
        x, y = cast(x, FLOAT32), cast(y, FLOAT32)
        number, mean_x, mean_y, moment = (
            metric_variable([], FLOAT32, name=word) for word in ("count", "mean_prediction", "mean_label", "comoment")
        )
        share: Any = ones_like(y) if given is None else broadcast_weights(cast(given, FLOAT32), y)
        more = reduce_sum(share)
        old = convert(number)
        total = old + more
        of_x, of_y = (div_no_nan(reduce_sum(multiply(part, share)), more) for part in (x, y))
        from_x, from_y = of_x - convert(mean_x), of_y - convert(mean_y)
        inner = reduce_sum((x - of_x) * (y - of_y) * share)
        change = inner + from_x * from_y * div_no_nan(old * more, total)
        with control_dependencies([change, from_x, from_y, total]):
            steps = [
                assign_add(mean_x, from_x * div_no_nan(more, total)),
                assign_add(mean_y, from_y * div_no_nan(more, total)),
            ]
            new_moment, new_number = assign_add(moment, change), assign(number, total)
        with control_dependencies(steps):
            updated = _over_less_one(convert(new_moment), convert(new_number), "update_op")
        options = MetricOptions(metrics_collections, updates_collections, name)
        value = _over_less_one(convert(moment), convert(number), "covariance")
        return options.record_value(value), options.record_update(updated)


def _over_less_one(moment: Tensor, number: Tensor, name: str) -> Tensor:
    return where(number > 1.0, moment / (number - 1.0), ones_like(moment) * float("nan"), name=name)


def streaming_pearson_correlation(
    predictions: TensorLike,
    labels: TensorLike,
    weights: TensorLike | None = None,
    metrics_collections: Collections = None,
    updates_collections: Collections = None,
    name: str | None = None,
) -> Metric:
    """The correlation of predictions and labels."""
    with variable_scope(name, "pearson_r", (predictions, labels, weights)):
        x, y, given = match_ranks(convert(predictions), convert(labels), weights)
        expect_compatible(x, y)
        if given is not None:
            given = broadcast_weights(given, y)
        pairs = [
            streaming_covariance(first, second, given, name=word)
            for first, second, word in (
                (x, y, "covariance"),
                (x, x, "variance_predictions"),
                (y, y, "variance_labels"),
            )
        ]
        options = MetricOptions(metrics_collections, updates_collections, name)

        def correlation(of: Any, word: str) -> Tensor:
            both, of_x, of_y = (convert(item) for item in of)
            return div_no_nan(both, sqrt(of_x) * sqrt(of_y), name=word)

        return options.record([value for value, _ in pairs], [update for _, update in pairs], correlation)


def cohen_kappa(
    labels: TensorLike,
    predictions_idx: TensorLike,
    num_classes: int,
    weights: TensorLike | None = None,
    metrics_collections: Collections = None,
    updates_collections: Collections = None,
    name: str | None = None,
) -> Metric:
    """How much labels and predictions agree beyond chance: (agreed - expected) / (all - expected)."""
    if num_classes <= 1:
        raise InvalidArgumentError(f"`num_classes` must be >= 2. Found: {num_classes}")
    with variable_scope(name, "cohen_kappa", (labels, predictions_idx, weights)):
        wanted, found = reshape(labels, [-1]), reshape(predictions_idx, [-1])
        kind = INT64 if weights is None else FLOAT32
        counted = [metric_variable([num_classes], kind, name=word) for word in ("po", "pe_row", "pe_col")]
        table = confusion_matrix(
            wanted, found, num_classes, dtype=kind, weights=None if weights is None else reshape(weights, [-1])
        )
        parts = (diag_part(table), reduce_sum(table, 0), reduce_sum(table, 1))
        updated = [assign_add(item, part) for item, part in zip(counted, parts, strict=True)]
        options = MetricOptions(metrics_collections, updates_collections, name)
        return options.record(list(counted), updated, _kappa)


def _kappa(of: Any, name: str) -> Tensor:
    agreed, by_row, by_column = (cast(convert(item), FLOAT64) for item in of)
    total = reduce_sum(by_row)
    expected = reduce_sum(div_no_nan(by_row * by_column, total))
    return div_no_nan(reduce_sum(agreed) - expected, total - expected, name=name)
