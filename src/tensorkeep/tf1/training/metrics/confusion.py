"""Metrics of yes and no: positives and negatives, true and false, as such and at thresholds, and what follows."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Final, Protocol, TypeAlias

from tensorkeep.dtypes import BOOL, FLOAT32, INT32, INT64
from tensorkeep.errors import InvalidArgumentError
from tensorkeep.graph.arguments import TensorLike
from tensorkeep.graph.building import control_dependencies
from tensorkeep.graph.graph import Tensor
from tensorkeep.tf1.functions.arrays.shapes import (
    expand_dims,
    identity,
    ones_like,
    rank,
    reshape,
    shape,
    stack,
    tile,
    transpose,
    where,
)
from tensorkeep.tf1.functions.constants import constant
from tensorkeep.tf1.functions.control.assertions import (
    assert_greater_equal,
    assert_less_equal,
    assert_rank_in,
    assert_type,
)
from tensorkeep.tf1.functions.nn.losses import broadcast_weights
from tensorkeep.tf1.functions.numbers.elementwise import abs as absolute
from tensorkeep.tf1.functions.numbers.elementwise import (
    cast,
    cumsum,
    div_no_nan,
    divide,
    equal,
    greater,
    log,
    logical_and,
    logical_not,
    maximum,
    minimum,
    multiply,
)
from tensorkeep.tf1.functions.numbers.reductions import argmax, argmin, reduce_min, reduce_sum
from tensorkeep.tf1.training.metrics.metric_variables import (
    Collections,
    Counted,
    LabelMetric,
    Metric,
    MetricOptions,
    Typed,
    expect_compatible,
    label_metric,
    match_ranks,
    metric_variable,
)
from tensorkeep.tf1.variables.assignments import assign_add
from tensorkeep.tf1.variables.scopes import variable_scope

Counts: TypeAlias = Mapping[str, Counted]
"""What is counted, by kind: "tp", "fn", "tn", "fp"."""

_TINY: Final = 1e-7
_KINDS: Final = {  # whether the label is positive, whether the prediction is; the name of the variable
    "tp": (True, True, "true_positives"),
    "fn": (True, False, "false_negatives"),
    "tn": (False, False, "true_negatives"),
    "fp": (False, True, "false_positives"),
}


# ---------------------------------------------------------------------------------------------------- Counts


def _booleans(
    labels: TensorLike, predictions: TensorLike, weights: TensorLike | None
) -> tuple[Tensor, Tensor, Tensor | None]:
    return match_ranks(cast(predictions, dtype=BOOL), cast(labels, dtype=BOOL), weights)


def _count(values: Tensor, weights: TensorLike | None, options: MetricOptions) -> Metric:
    """The sum of the weights of what is true."""
    assert_type(values, BOOL)
    count = metric_variable([], FLOAT32, name="count")
    values = cast(values, FLOAT32)
    if weights is not None:
        with control_dependencies((assert_rank_in(weights, (0, rank(values))),)):
            weights = cast(weights, FLOAT32)
            values = multiply(values, weights)
    value = options.record_value(identity(count))
    return value, options.record_update(assign_add(count, reduce_sum(values)))


def _counting(kind: str, doc: str) -> LabelMetric:
    is_label, is_predicted, default_name = _KINDS[kind]

    def count(
        labels: TensorLike, predictions: TensorLike, weights: TensorLike | None, options: MetricOptions
    ) -> Metric:
        with variable_scope(options.name, default_name, (predictions, labels, weights)):
            predictions, labels, weights = _booleans(labels, predictions, weights)
            found = logical_and(equal(labels, is_label), equal(predictions, is_predicted))
            return _count(found, weights, options)

    count.__doc__ = doc
    return label_metric(count, default_name)


true_positives = _counting("tp", "The weight of what is rightly predicted to be true.")
false_negatives = _counting("fn", "The weight of what is wrongly predicted to be false.")
true_negatives = _counting("tn", "The weight of what is rightly predicted to be false.")
false_positives = _counting("fp", "The weight of what is wrongly predicted to be true.")


def _part(counts: tuple[Counted, Counted], name: str) -> Tensor:
    hits, misses = counts
    return where(greater(hits + misses, 0), divide(hits, hits + misses), 0, name)


def _ratio(default_name: str, misses_of: LabelMetric, doc: str) -> LabelMetric:
    def ratio(
        labels: TensorLike, predictions: TensorLike, weights: TensorLike | None, options: MetricOptions
    ) -> Metric:
        with variable_scope(options.name, default_name, (predictions, labels, weights)):
            predictions, labels, weights = _booleans(labels, predictions, weights)
            hits, new_hits = true_positives(labels, predictions, weights)
            misses, new_misses = misses_of(labels, predictions, weights)
            return options.record((hits, misses), (new_hits, new_misses), _part)

    ratio.__doc__ = doc
    return label_metric(ratio, default_name)


precision = _ratio("precision", false_positives, "Which part of what is predicted to be true is true.")
recall = _ratio("recall", false_negatives, "Which part of what is true is predicted to be true.")


# ---------------------------------------------------------------------------------------------------- Thresholds


def confusion_at_thresholds(
    labels: TensorLike,
    predictions: Typed,
    thresholds: Sequence[float],
    weights: TensorLike | None = None,
    includes: Iterable[str] | None = None,
) -> tuple[Counts, Counts]:
    """Variables with the counts at every threshold, and their updates, by kind."""
    checks = [
        check(predictions, cast(limit, dtype=predictions.dtype), message="predictions must be in [0, 1]")
        for check, limit in ((assert_greater_equal, 0.0), (assert_less_equal, 1.0))
    ]
    with control_dependencies(checks):
        predictions, labels, weights = match_ranks(cast(predictions, FLOAT32), cast(labels, dtype=BOOL), weights)
    rows = len(thresholds)
    column = reshape(predictions, [-1, 1])
    row = reshape(cast(labels, dtype=BOOL), [1, -1])
    known_width = column.static_shape[0]
    width = shape(column)[0] if known_width is None else known_width
    limits = tile(expand_dims(constant(thresholds), [1]), stack([1, width]))
    is_predicted = {True: greater(tile(transpose(column), [rows, 1]), limits)}
    kinds = tuple(_KINDS) if includes is None else tuple(includes)
    wanted = [_KINDS[kind] for kind in kinds]
    if any(not predicted for _, predicted, _ in wanted):
        is_predicted[False] = logical_not(is_predicted[True])
    is_label = {True: tile(row, [rows, 1])}
    if any(not label for label, _, _ in wanted):
        is_label[False] = logical_not(is_label[True])
    if weights is not None:
        weights = broadcast_weights(cast(weights, FLOAT32), predictions)
        weights = tile(reshape(weights, [1, -1]), [rows, 1])
        expect_compatible(limits, weights)
    values: dict[str, Counted] = {}
    updates: dict[str, Counted] = {}
    for kind in kinds:
        label, predicted, name = _KINDS[kind]
        values[kind] = metric_variable([rows], FLOAT32, name=name)
        found = cast(logical_and(is_label[label], is_predicted[predicted]), FLOAT32)
        if weights is not None:
            found *= weights
        updates[kind] = assign_add(values[kind], reduce_sum(found, 1))
    return values, updates


class ThresholdMetric(Protocol):
    """A metric of labels and of predictions that are true where they are above a threshold, for several of those."""

    def __call__(
        self,
        labels: TensorLike,
        predictions: Typed,
        thresholds: Sequence[float],
        weights: TensorLike | None = None,
        metrics_collections: Collections = None,
        updates_collections: Collections = None,
        name: str | None = None,
    ) -> Metric: ...


def _at_thresholds(
    default_name: str, scope: str, kinds: Sequence[str], make: Callable[[Counts, Counts, MetricOptions], Metric]
) -> ThresholdMetric:
    """The metric that `make` makes of the counts of some kinds, so far and after the update."""

    def function(
        labels: TensorLike,
        predictions: Typed,
        thresholds: Sequence[float],
        weights: TensorLike | None = None,
        metrics_collections: Collections = None,
        updates_collections: Collections = None,
        name: str | None = None,
    ) -> Metric:
        with variable_scope(name, scope, (predictions, labels, weights)):
            values, updates = confusion_at_thresholds(labels, predictions, thresholds, weights, kinds)
            return make(values, updates, MetricOptions(metrics_collections, updates_collections, name))

    function.__name__ = function.__qualname__ = f"{default_name}_at_thresholds"
    function.__doc__ = f"`{default_name}` where predictions above a threshold are true."
    return function


def _counts_at_thresholds(kind: str) -> ThresholdMetric:
    def counts(values: Counts, updates: Counts, options: MetricOptions) -> Metric:
        value = options.record_value(identity(values[kind]))
        return value, options.record_update(updates[kind])

    default_name = _KINDS[kind][2]
    return _at_thresholds(default_name, default_name, (kind,), counts)


true_positives_at_thresholds = _counts_at_thresholds("tp")
false_negatives_at_thresholds = _counts_at_thresholds("fn")
true_negatives_at_thresholds = _counts_at_thresholds("tn")
false_positives_at_thresholds = _counts_at_thresholds("fp")


def _ratio_at_thresholds(default_name: str, misses: str) -> ThresholdMetric:
    def ratio(values: Counts, updates: Counts, options: MetricOptions) -> Metric:
        def part(of: Counts, last: str) -> Tensor:
            return divide(of["tp"], _TINY + of["tp"] + of[misses], name=f"{default_name}_{last}")

        return options.record(values, updates, part)

    return _at_thresholds(default_name, f"{default_name}_at_thresholds", ("tp", misses), ratio)


precision_at_thresholds = _ratio_at_thresholds("precision", "fp")
recall_at_thresholds = _ratio_at_thresholds("recall", "fn")


def spread_thresholds(count: int, last: float = 1.0 + _TINY) -> list[float]:
    """So many thresholds from just below 0 to about 1."""
    return [0.0 - _TINY, *((index + 1) * 1.0 / (count - 1) for index in range(count - 2)), last]


# ---------------------------------------------------------------------------------------------------- Curves

_SUMMATIONS: Final = ("trapezoidal", "careful_interpolation", "minoring", "majoring")


def auc(
    labels: TensorLike,
    predictions: Typed,
    weights: TensorLike | None = None,
    num_thresholds: int = 200,
    metrics_collections: Collections = None,
    updates_collections: Collections = None,
    curve: str = "ROC",
    name: str | None = None,
    summation_method: str = "trapezoidal",
    thresholds: Sequence[float] | None = None,
) -> Metric:
    """The area under a curve: of true over false positives ("ROC"), or of precision over recall ("PR")."""
    with variable_scope(name, "auc", (labels, predictions, weights)):
        if curve not in ("ROC", "PR"):
            raise InvalidArgumentError(f"Curve must be either ROC or PR. Curve {curve} is unknown.")
        given = [] if thresholds is None else sorted(thresholds)
        limits = spread_thresholds(num_thresholds) if thresholds is None else [0.0 - _TINY, *given, 1.0 + _TINY]
        values, updates = confusion_at_thresholds(labels, predictions, limits, weights)
        area = partial(_area, len(limits), curve, summation_method)
        return MetricOptions(metrics_collections, updates_collections, name).record(values, updates, area)


def _area(count: int, curve: str, summation: str, of: Counts, name: str) -> Tensor:
    if curve == "PR" and summation == "careful_interpolation":
        return _interpolated_area(of["tp"], of["fp"], of["fn"], count)
    small = 1.0e-6
    hits = of["tp"]
    recalled = divide(hits + small, hits + of["fn"] + small)
    if curve == "ROC":
        x, y = divide(of["fp"], of["fp"] + of["tn"] + small), recalled
    else:
        x, y = recalled, divide(hits + small, hits + of["fp"] + small)
    if summation not in _SUMMATIONS:
        raise InvalidArgumentError(
            f"Invalid summation_method: {summation} summation_method should be 'trapezoidal', 'careful_interpolation', "
            "'minoring', or 'majoring'."
        )
    steps = x[: count - 1] - x[1:]
    if summation == "minoring":
        heights = minimum(y[: count - 1], y[1:])
    elif summation == "majoring":
        heights = maximum(y[: count - 1], y[1:])
    else:
        heights = (y[: count - 1] + y[1:]) / 2.0
    return reduce_sum(multiply(steps, heights), name=name)


def _interpolated_area(tp: Counted, fp: Counted, fn: Counted, count: int) -> Tensor:
    """The area under precision over recall, where between two thresholds hits grow evenly with what is predicted."""
    steps = tp[: count - 1] - tp[1:]
    predicted = tp + fp
    slope = div_no_nan(steps, maximum(predicted[: count - 1] - predicted[1:], 0), name="prec_slope")
    intercept = tp[1:] - multiply(slope, predicted[1:])
    ratio = where(
        logical_and(predicted[: count - 1] > 0, predicted[1:] > 0),
        div_no_nan(predicted[: count - 1], maximum(predicted[1:], 0), name="recall_relative_ratio"),
        ones_like(predicted[1:]),
    )
    areas = div_no_nan(slope * (steps + intercept * log(ratio)), maximum(tp[1:] + fn[1:], 0), name="pr_auc_increment")
    return reduce_sum(areas, name="interpolate_pr_auc")


def sensitivity_at_specificity(
    labels: TensorLike,
    predictions: Typed,
    specificity: float,
    weights: TensorLike | None = None,
    num_thresholds: int = 200,
    metrics_collections: Collections = None,
    updates_collections: Collections = None,
    name: str | None = None,
) -> Metric:
    """Which part of the positives is found at the threshold where about `specificity` of the negatives is."""
    if specificity < 0 or specificity > 1:
        raise InvalidArgumentError(
            f"`specificity` must be in the range [0, 1]. Currently, `specificity` got {specificity}."
        )
    with variable_scope(name, "sensitivity_at_specificity", (predictions, labels, weights)):
        values, updates = confusion_at_thresholds(labels, predictions, spread_thresholds(num_thresholds), weights)

        def sensitivity(of: Counts, last: str) -> Tensor:
            found = divide(of["tn"], of["tn"] + of["fp"] + _TINY)
            at = cast(argmin(absolute(found - specificity), 0), INT32)
            return divide(of["tp"][at], of["tp"][at] + of["fn"][at] + _TINY, last)

        return MetricOptions(metrics_collections, updates_collections, name).record(values, updates, sensitivity)


def specificity_at_sensitivity(
    labels: TensorLike,
    predictions: Typed,
    sensitivity: float,
    weights: TensorLike | None = None,
    num_thresholds: int = 200,
    metrics_collections: Collections = None,
    updates_collections: Collections = None,
    name: str | None = None,
) -> Metric:
    """Which part of the negatives is found at the threshold where about `sensitivity` of the positives is."""
    if sensitivity < 0 or sensitivity > 1:
        raise InvalidArgumentError(
            f"`sensitivity` must be in the range [0, 1]. Currently, `sensitivity` is {sensitivity}."
        )
    with variable_scope(name, "specificity_at_sensitivity", (predictions, labels, weights)):
        limits = spread_thresholds(num_thresholds, 1.0 - _TINY)
        values, updates = confusion_at_thresholds(labels, predictions, limits, weights)

        def specificity(of: Counts, last: str) -> Tensor:
            found = divide(of["tp"], of["tp"] + of["fn"] + _TINY)
            least = reduce_min(absolute(found - sensitivity))
            is_least = cast(equal(absolute(found - sensitivity), least), INT64)
            at = cast(argmax(cumsum(is_least), 0), INT32)
            return divide(of["tn"][at], of["tn"][at] + of["fp"][at] + _TINY, last)

        return MetricOptions(metrics_collections, updates_collections, name).record(values, updates, specificity)
