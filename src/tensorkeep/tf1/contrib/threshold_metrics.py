"""Measures over a stream at many thresholds: curves, rates, the best F1, and one rate where another is so much."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, NamedTuple

from tensorkeep.dtypes import BOOL, FLOAT64, INT32
from tensorkeep.errors import InvalidArgumentError
from tensorkeep.graph.arguments import TensorLike
from tensorkeep.graph.building import control_dependencies, name_scope
from tensorkeep.graph.collections import add_to_collections
from tensorkeep.graph.conversion import convert
from tensorkeep.graph.graph import Operation, Tensor
from tensorkeep.tf1.functions.arrays.shapes import ones_like, reshape, stack, where, zeros_like
from tensorkeep.tf1.functions.control.assertions import assert_greater_equal, assert_less_equal, assert_type
from tensorkeep.tf1.functions.control.grouping import group
from tensorkeep.tf1.functions.numbers.elementwise import abs as absolute
from tensorkeep.tf1.functions.numbers.elementwise import (
    cast,
    cumsum,
    divide,
    floor,
    greater_equal,
    linspace,
    maximum,
)
from tensorkeep.tf1.functions.numbers.reductions import argmin, reduce_max
from tensorkeep.tf1.training.metrics.confusion import Counts, confusion_at_thresholds, spread_thresholds
from tensorkeep.tf1.training.metrics.metric_variables import (
    Collections,
    Metric,
    MetricOptions,
    Typed,
    expect_compatible,
    match_ranks,
    metric_variable,
)
from tensorkeep.tf1.variables.assignments import scatter_add
from tensorkeep.tf1.variables.scopes import variable_scope

_TINY: Final = 1e-7
_SMALL: Final = 1e-6


# ---------------------------------------------------------------------------------------------------- one number


def f1_score(
    labels: TensorLike,
    predictions: Typed,
    weights: TensorLike | None = None,
    num_thresholds: int = 200,
    metrics_collections: Collections = None,
    updates_collections: Collections = None,
    name: str | None = None,
) -> Metric:
    """The greatest harmonic mean of precision and recall that a threshold gives."""
    options = MetricOptions(metrics_collections, updates_collections, name)
    with variable_scope(name, "f1", (labels, predictions, weights)):
        limits = spread_thresholds(num_thresholds)
        values, updates = confusion_at_thresholds(labels, predictions, limits, weights, ("tp", "fp", "fn"))

        def best(of: Counts, last: str) -> Tensor:
            precision = divide(of["tp"], _TINY + of["tp"] + of["fp"], name=f"precision_{last}")
            recall = divide(of["tp"], _TINY + of["tp"] + of["fn"], name=f"recall_{last}")
            return reduce_max(2.0 * precision * recall / (precision + recall + _TINY))

        return options.record(values, updates, best)


def precision_at_recall(
    labels: TensorLike,
    predictions: Typed,
    target_recall: float,
    weights: TensorLike | None = None,
    num_thresholds: int = 200,
    metrics_collections: Collections = None,
    updates_collections: Collections = None,
    name: str | None = None,
) -> Metric:
    """Precision at the threshold whose recall is nearest to `target_recall`."""
    _expect_share("target_recall", target_recall)
    options = MetricOptions(metrics_collections, updates_collections, name)
    with variable_scope(name, "precision_at_recall", (predictions, labels, weights)):
        limits = spread_thresholds(num_thresholds)
        values, updates = confusion_at_thresholds(labels, predictions, limits, weights)

        def precision(of: Counts, last: str) -> Tensor:
            recall = divide(of["tp"], of["tp"] + of["fn"] + _TINY)
            at = cast(argmin(absolute(recall - target_recall), 0), INT32)
            return divide(of["tp"][at], of["tp"][at] + of["fp"][at] + _TINY, last)

        return options.record(values, updates, precision)


def recall_at_precision(
    labels: TensorLike,
    predictions: Typed,
    precision: float,
    weights: TensorLike | None = None,
    num_thresholds: int = 200,
    metrics_collections: Collections = None,
    updates_collections: Collections = None,
    name: str | None = None,
    strict_mode: bool = False,
) -> Metric:
    """Recall at the threshold whose precision is nearest to `precision`.

    In strict mode the precision may not be less than that: the least that is not counts, and 0 is given if none is.
    """
    _expect_share("precision", precision)
    options = MetricOptions(metrics_collections, updates_collections, name)
    with variable_scope(name, "recall_at_precision", (predictions, labels, weights)):
        limits = spread_thresholds(num_thresholds)
        values, updates = confusion_at_thresholds(labels, predictions, limits, weights)

        def recall(of: Counts, last: str) -> Tensor:
            beyond = divide(of["tp"], of["tp"] + of["fp"] + _TINY) - precision
            far = where(greater_equal(beyond, 0.0), beyond, ones_like(beyond) * float("inf"))
            at = cast(argmin(far if strict_mode else absolute(beyond), 0), INT32)
            if not strict_mode:
                return divide(of["tp"][at], of["tp"][at] + of["fn"][at] + _TINY, last)
            found = divide(of["tp"][at], of["tp"][at] + of["fn"][at] + _TINY)
            return where(greater_equal(beyond[at], 0.0), found, zeros_like(found), name=last)

        return options.record(values, updates, recall)


def _expect_share(word: str, share: float) -> None:
    if not 0 <= share <= 1:
        raise InvalidArgumentError(f"{word} must be in the range [0, 1], got {share}")


# ---------------------------------------------------------------------------------------------------- many numbers


def streaming_curve_points(
    labels: TensorLike | None = None,
    predictions: Typed | None = None,
    weights: TensorLike | None = None,
    num_thresholds: int = 200,
    metrics_collections: Collections = None,
    updates_collections: Collections = None,
    curve: str = "ROC",
    name: str | None = None,
) -> tuple[Tensor, Operation]:
    """Points [thresholds, 2] of a curve: of recall over false positives ("ROC"), or of precision over recall ("PR")."""
    if labels is None or predictions is None:
        raise InvalidArgumentError("streaming_curve_points needs labels and predictions")
    if curve not in ("ROC", "PR"):
        raise InvalidArgumentError(f"curve must be either ROC or PR, {curve} unknown")
    options = MetricOptions(metrics_collections, updates_collections, name)
    with variable_scope(name, "curve_points", (labels, predictions, weights)):
        of, updates = confusion_at_thresholds(labels, predictions, spread_thresholds(num_thresholds), weights)
        recall = divide(of["tp"] + _SMALL, of["tp"] + of["fn"] + _SMALL)
        if curve == "ROC":
            x, y = divide(of["fp"], of["fp"] + of["tn"] + _SMALL), recall
        else:
            x, y = recall, divide(of["tp"] + _SMALL, of["tp"] + of["fp"] + _SMALL)
        points = options.record_value(stack([x, y], axis=1))
        update = group(*updates.values())
        if updates_collections:
            add_to_collections(update.graph, updates_collections, update)
        return points, update


RateAtThresholds = Callable[..., Metric]


def _rate_at_thresholds(wrong: str, right: str, default: str, word: str, about: str) -> RateAtThresholds:
    """The measure that has, for each threshold, wrong / (wrong + right)."""

    def rate(
        predictions: Typed,
        labels: TensorLike,
        thresholds: Sequence[float],
        weights: TensorLike | None = None,
        metrics_collections: Collections = None,
        updates_collections: Collections = None,
        name: str | None = None,
    ) -> Metric:
        options = MetricOptions(metrics_collections, updates_collections, name)
        with variable_scope(name, f"{default}_at_thresholds", (predictions, labels, weights)):
            values, updates = confusion_at_thresholds(labels, predictions, thresholds, weights, (wrong, right))

            def part(of: Counts, last: str) -> Tensor:
                return divide(of[wrong], _TINY + of[wrong] + of[right], name=f"{word}_{last}")

            return options.record(values, updates, part)

    rate.__name__ = rate.__qualname__ = f"streaming_{default}_at_thresholds"
    rate.__doc__ = about
    return rate


streaming_false_positive_rate_at_thresholds = _rate_at_thresholds(
    "fp", "tn", "false_positive_rate", "fpr", "How many of what is not there was predicted, by threshold."
)
streaming_false_negative_rate_at_thresholds = _rate_at_thresholds(
    "fn", "tp", "false_negative_rate", "fnr", "How many of what is there was not predicted, by threshold."
)


class PrecisionRecallData(NamedTuple):
    """Counts and rates, one for each of the thresholds."""

    tp: Tensor
    fp: Tensor
    tn: Tensor
    fn: Tensor
    precision: Tensor
    recall: Tensor
    thresholds: Tensor


def precision_recall_at_equal_thresholds(
    labels: Tensor,
    predictions: Tensor,
    weights: TensorLike | None = None,
    num_thresholds: int | None = None,
    use_locking: bool | None = None,
    name: str | None = None,
) -> tuple[PrecisionRecallData, Operation]:
    """Counts and rates at 201 thresholds, or another number, from 0 to 1, and the update.

    Predictions are put into bins between thresholds, so that many of them take no more memory than they do themselves.
    A prediction that equals a threshold is above it.
    """
    assert_type(labels, BOOL)
    count = 201 if num_thresholds is None else num_thresholds
    with variable_scope(name, "precision_recall_at_equal_thresholds", (labels, predictions, weights)):
        given = convert(predictions)
        with control_dependencies(_range_checks(given)):
            given, truth, share = match_ranks(given, labels, weights)
        expect_compatible(given, truth)
        yes, weight = cast(truth, FLOAT64), cast(1.0 if share is None else share, FLOAT64)
        bins = cast(floor(reshape(given, [-1]) * (count - 1)), INT32)
        with name_scope("variables"):
            counted = [metric_variable([count], FLOAT64, name=f"{word}_buckets") for word in ("tp", "fp")]
        with name_scope("update_op"):
            parts = (yes * weight, (1.0 - yes) * weight)
            updates = [
                scatter_add(variable, bins, reshape(part, [-1]), use_locking is not False)
                for variable, part in zip(counted, parts, strict=True)
            ]
        tp, fp = (cumsum(item, reverse=True, name=word) for item, word in zip(counted, ("tp", "fp"), strict=True))
        return _rates_of_bins(tp, fp, count, given), group(*updates)


def _range_checks(predictions: Tensor) -> list[Operation]:
    return [
        check(predictions, cast(limit, dtype=predictions.dtype), message="predictions must be in [0, 1]")
        for check, limit in ((assert_greater_equal, 0.0), (assert_less_equal, 1.0))
    ]


def _rates_of_bins(tp: Tensor, fp: Tensor, count: int, like: Tensor) -> PrecisionRecallData:
    """What follows from hits and false alarms at each threshold, in the data type of predictions."""
    fn, tn = tp[0] - tp, fp[0] - fp
    rates = (tp / maximum(tp + fp, _TINY), tp / maximum(tp + fn, _TINY), linspace(0.0, 1.0, count))
    return PrecisionRecallData(*(cast(item, like.dtype) for item in (tp, fp, tn, fn, *rates)))
