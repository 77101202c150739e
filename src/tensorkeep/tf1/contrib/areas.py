"""Areas under curves of all that was seen: every prediction a threshold, with confidence, and by histograms."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import NormalDist
from typing import NamedTuple

from tensorkeep.dtypes import BOOL, FLOAT32, FLOAT64, INT32, INT64, DType
from tensorkeep.errors import InvalidArgumentError
from tensorkeep.graph.arguments import TensorLike
from tensorkeep.graph.building import control_dependencies, name_scope
from tensorkeep.graph.collections import GraphKeys, add_to_collections
from tensorkeep.graph.conversion import convert
from tensorkeep.graph.graph import Operation, Tensor
from tensorkeep.tf1.contrib.agreement import streaming_concat
from tensorkeep.tf1.functions.arrays.counting import histogram_fixed_width
from tensorkeep.tf1.functions.arrays.shapes import (
    ones_like,
    pad,
    rank,
    reshape,
    reverse,
    shape,
    size,
    unique,
    unique_with_counts,
    where,
    zeros_like,
)
from tensorkeep.tf1.functions.arrays.slicing import boolean_mask, gather
from tensorkeep.tf1.functions.constants import constant
from tensorkeep.tf1.functions.control.assertions import assert_greater_equal, assert_less_equal
from tensorkeep.tf1.functions.control.control_flow import Assert, cond
from tensorkeep.tf1.functions.control.grouping import group, no_op
from tensorkeep.tf1.functions.nn.activations import top_k
from tensorkeep.tf1.functions.nn.losses import broadcast_weights, remove_squeezable_dimensions
from tensorkeep.tf1.functions.numbers.elementwise import abs as absolute
from tensorkeep.tf1.functions.numbers.elementwise import (
    cast,
    cumsum,
    equal,
    exp,
    greater_equal,
    log,
    logical_and,
    logical_not,
    logical_or,
    sqrt,
    square,
)
from tensorkeep.tf1.functions.numbers.reductions import reduce_max, reduce_min, reduce_sum
from tensorkeep.tf1.functions.numbers.segments import segment_sum
from tensorkeep.tf1.training.metrics.metric_variables import Collections, expect_compatible, match_ranks
from tensorkeep.tf1.variables.initializers import Zeros
from tensorkeep.tf1.variables.partitioned import PartitionedVariable
from tensorkeep.tf1.variables.scopes import get_variable, variable_scope
from tensorkeep.tf1.variables.variable import Variable

_TINY = 1e-7


class AucData(NamedTuple):
    """An area, and the ends of the interval that it is in with so much confidence."""

    auc: Tensor
    lower: Tensor
    upper: Tensor


# ---------------------------------------------------------------------------------------------------- All thresholds


def streaming_dynamic_auc(
    labels: TensorLike,
    predictions: TensorLike,
    curve: str = "ROC",
    metrics_collections: Collections = (),
    updates_collections: Collections = (),
    name: str | None = None,
    weights: TensorLike | None = None,
) -> tuple[Tensor, Operation]:
    """The area under a curve with every prediction as a threshold; 0 if all labels are the same."""
    if curve not in ("PR", "ROC"):
        raise InvalidArgumentError(f"curve must be either ROC or PR, {curve} unknown")
    with variable_scope(name, "dynamic_auc"):
        scores, truth = convert(predictions), convert(labels)
        expect_compatible(truth, scores)
        scores, truth = _flat(scores, FLOAT64), _flat(truth, INT64)
        given = [(scores, "concat_preds"), (truth, "concat_labels")]
        if weights is not None:
            given.append((_flat(weights, FLOAT64), "concat_weights"))
        with control_dependencies(_label_checks(truth)):
            kept = [streaming_concat(item, name=word) for item, word in given]
            update = group(*(update for _, update in kept))
            seen, found = kept[0][0], kept[1][0]
            share = kept[2][0] if weights is not None else ones_like(found, dtype=FLOAT64)
            area = _area_of_all(seen, found, share, curve)
        _record(area, metrics_collections)
        _record(update, updates_collections)
        return area, update


def _flat(values: TensorLike, dtype: DType) -> Tensor:
    return reshape(cast(values, dtype), [-1])


def _record(value: Tensor | Operation, collections: Collections) -> None:
    if collections:
        add_to_collections(value.graph, collections, value)


def _label_checks(labels: Tensor) -> list[Operation]:
    return [
        assert_greater_equal(labels, zeros_like(labels), message="labels must be 0 or 1, at least one is <0"),
        assert_less_equal(labels, ones_like(labels), message="labels must be 0 or 1, at least one is >1"),
    ]


def _area_of_all(scores: Tensor, labels: Tensor, weights: Tensor, curve: str) -> Tensor:
    """The area under the curve through one point for each different score, by trapezoids."""
    of_true = weights * cast(labels, FLOAT64)
    positive, total = reduce_sum(of_true), reduce_sum(weights)

    def area() -> Tensor:
        ordered, order = top_k(scores, size(scores))
        counts = unique_with_counts(ordered).count
        ends = cast(pad(cumsum(counts), [[1, 0]]), INT32)

        def up_to_each(values: Tensor) -> Tensor:
            return gather(pad(cumsum(gather(values, order)), [[1, 0]]), ends)

        hits = up_to_each(of_true)
        recall = hits / positive
        if curve == "ROC":
            x, y = up_to_each(weights - of_true) / (total - positive), recall
        else:
            x, y = recall, where(ends > 0, hits / up_to_each(weights), ones_like(hits))
        return reduce_sum((y[1:] + y[:-1]) / 2.0 * absolute(x[1:] - x[:-1]))

    alike = logical_or(equal(positive, 0.0), equal(positive, total))
    found: Tensor = cond(alike, lambda: constant(0.0, FLOAT64), area)
    return found


# ---------------------------------------------------------------------------------------------------- Confidence


def auc_with_confidence_intervals(
    labels: TensorLike,
    predictions: TensorLike,
    weights: TensorLike | None = None,
    alpha: float = 0.95,
    logit_transformation: bool = True,
    metrics_collections: Collections = (),
    updates_collections: Collections = (),
    name: str | None = None,
) -> tuple[AucData, Operation]:
    """The area under ROC, and the interval that it is in with confidence `alpha`: by placement values, after DeLong.

    Zeros are given while a batch has labels of one kind only, or weighs less than 1; such a light one is not counted.
    """
    if not 0 < alpha < 1:
        raise InvalidArgumentError(f"alpha must be between 0 and 1; currently {alpha:.02f}")
    with variable_scope(name, "auc_with_confidence_intervals", (labels, predictions, weights)):
        given = convert(predictions)
        share = ones_like(given) if weights is None else convert(weights)
        given, truth, share = match_ranks(given, labels, share)  # type: ignore[assignment]
        weight = reduce_sum(share)
        share = reshape(broadcast_weights(share, given), [-1])
        given, truth = _flat(given, FLOAT64), _flat(truth, INT64)
        with control_dependencies(_label_checks(truth)):
            kept = [
                streaming_concat(item, name=word)
                for item, word in ((given, "concat_preds"), (truth, "concat_labels"), (share, "concat_weights"))
            ]
            heavy = greater_equal(weight, cast(1.0, weight.dtype))
            both = logical_and(equal(reduce_min(truth), 0), equal(reduce_max(truth), 1))
            update: Operation = cond(heavy, lambda: group(*(update for _, update in kept)), no_op)
            data = _placed_area(kept[1][0], kept[0][0], kept[2][0], alpha, logit_transformation)
            zero = constant(0.0, data[0].dtype)
            area = AucData(*cond(logical_and(both, heavy), lambda: list(data), lambda: [zero] * 3))
        if metrics_collections:
            add_to_collections(area.auc.graph, metrics_collections, area)
        _record(update, updates_collections)
        return area, update


def _placed_area(labels: Tensor, scores: Tensor, weights: Tensor, alpha: float, logit: bool) -> tuple[Tensor, ...]:
    """The area and the ends of its interval."""
    places, truth, share = _placements(labels, scores, weights)
    totals, areas, variances = [], [], []
    for of_class, part in ((1.0 - truth, 1.0 - places), (truth, places)):
        used = share * of_class
        total = reduce_sum(used)
        area = reduce_sum(used * part) / (total + _TINY)
        variance = reduce_sum(used * square(part - area)) / (total - 1.0 + _TINY)
        totals.append(total)
        areas.append(area)
        variances.append(variance / (total + _TINY))
    area = where(totals[0] < totals[1], areas[1], areas[0])
    ends = _interval(area, sqrt(variances[0] + variances[1]), alpha, logit)
    certain = logical_or(equal(area, ones_like(area)), equal(area, zeros_like(area)))
    return (area, *(where(certain, area, end) for end in ends))


def _placements(labels: Tensor, scores: Tensor, weights: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Which weight of the other class each score is above, as a part of all of it; labels and weights in that order."""
    ordered, order = top_k(scores, size(scores))
    ordered, order = reverse(ordered, [0]), reverse(order, [0])
    truth, share = cast(gather(labels, order), weights.dtype), gather(weights, order)
    groups = unique(ordered).idx

    def below(of_other: Tensor) -> Tensor:
        sums = segment_sum(share * of_other, groups)
        part = (cumsum(sums, exclusive=True) + sums / 2.0) / (reduce_sum(sums) + _TINY)
        return gather(part, groups)

    places = below(1.0 - truth) * truth + below(truth) * (1.0 - truth)
    return places, truth, share


def _interval(area: Tensor, deviation: Tensor, alpha: float, logit: bool) -> tuple[Tensor, Tensor]:
    """The ends of the interval, as of a normal distribution; of the log-odds of the area if told so."""
    z = NormalDist().inv_cdf((1.0 - alpha) / 2.0)
    if not logit:
        return area + z * deviation, area - z * deviation
    odds, spread = log(area / (1.0 - area + _TINY)), deviation / (area * (1.0 - area + _TINY))
    first, last = (1.0 / (1.0 + exp(-end) + _TINY) for end in (odds + z * spread, odds - z * spread))
    return first, last


# ---------------------------------------------------------------------------------------------------- Histograms


def auc_using_histogram(
    boolean_labels: TensorLike,
    scores: TensorLike,
    score_range: TensorLike,
    nbins: int = 100,
    collections: Sequence[str] | None = None,
    check_shape: bool = True,
    name: str | None = None,
) -> tuple[Tensor, Operation]:
    """The area under ROC, of histograms of the scores of what is true and of what is not."""
    with variable_scope(name, "auc_using_histogram", (boolean_labels, scores, score_range)):
        found, truth = convert(scores), convert(boolean_labels)
        if truth.dtype is not BOOL:
            raise InvalidArgumentError(f"Argument boolean_labels should have dtype bool.  Found: {truth.dtype.name}")
        truth, found = remove_squeezable_dimensions(truth, found)
        checks = [_assert_vector(item, word) for item, word in ((truth, "boolean_labels"), (found, "scores"))]
        with control_dependencies(checks if check_shape else []):
            limits = convert(score_range, found.dtype)
            parts = [
                histogram_fixed_width(boolean_mask(found, chosen), limits, nbins, INT64)
                for chosen in (truth, logical_not(truth))
            ]
        counted = _counted_histograms(nbins, collections)
        updates = [variable.assign_add(part) for variable, part in zip(counted, parts, strict=True)]
        return _area_of_histograms(*counted), group(*updates, name="update_op")


def _assert_vector(value: Tensor, word: str) -> Operation:
    said = [f"Argument {word} should have rank 1.  Found: ", value.name, shape(value)]
    checked: Operation = Assert(equal(rank(value), 1), said)
    return checked


def _counted_histograms(
    nbins: int, collections: Sequence[str] | None
) -> tuple[Variable | PartitionedVariable, Variable | PartitionedVariable]:
    where_to = [GraphKeys.LOCAL_VARIABLES] if collections is None else list(collections)
    with variable_scope(None, "hist_accumulate"):
        yes, no = (
            get_variable(f"hist_{word}_acc", [nbins], INT64, initializer=Zeros(), collections=where_to, trainable=False)
            for word in ("true", "false")
        )
    return yes, no


def _area_of_histograms(of_true: Variable | PartitionedVariable, of_false: Variable | PartitionedVariable) -> Tensor:
    """The area by trapezoids, from the highest scores to the lowest."""
    with name_scope("area"):
        parts = [cast(convert(item), FLOAT64) for item in (of_true, of_false)]
        rise, run = (cast(reverse(part / reduce_sum(part), [0]), FLOAT32) for part in parts)
        height = cumsum(rise)
        return reduce_sum(run * (height - rise / 2.0), name="auc")
