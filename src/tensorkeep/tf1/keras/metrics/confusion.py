"""Positives and negatives that are true or false, at one threshold or many, and what is made of their counts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Final

from tensorkeep.dtypes import BOOL, FLOAT64
from tensorkeep.errors import InvalidArgumentError
from tensorkeep.graph.arguments import DTypeLike, TensorLike
from tensorkeep.graph.building import control_dependencies
from tensorkeep.graph.graph import Tensor
from tensorkeep.tf1.functions.arrays.counting import confusion_matrix
from tensorkeep.tf1.functions.arrays.shapes import identity, one_hot, ones_like, reshape, where
from tensorkeep.tf1.functions.constants import constant
from tensorkeep.tf1.functions.control.assertions import assert_greater_equal, assert_less_equal
from tensorkeep.tf1.functions.control.grouping import group
from tensorkeep.tf1.functions.linear_algebra.matrices import diag_part
from tensorkeep.tf1.functions.nn.activations import top_k
from tensorkeep.tf1.functions.nn.losses import broadcast_weights
from tensorkeep.tf1.functions.numbers.elementwise import abs as absolute
from tensorkeep.tf1.functions.numbers.elementwise import (
    cast,
    div_no_nan,
    log,
    logical_and,
    logical_not,
    maximum,
    minimum,
    multiply,
    not_equal,
)
from tensorkeep.tf1.functions.numbers.reductions import argmin, reduce_sum
from tensorkeep.tf1.keras.backend.settings import epsilon
from tensorkeep.tf1.keras.metrics.base import Change, Metric, as_value
from tensorkeep.tf1.keras.weighting import match_ranks, match_weights

_LOWEST: Final = -1e10  # the threshold that all of the highest predictions are above


def _thresholds(told: Any, default: float) -> list[float]:
    """Thresholds as a list, each from zero to one."""
    found = [default if told is None else told] if not isinstance(told, list | tuple) else list(told)
    wrong = [] if told is None else [item for item in found if item is None or not 0 <= item <= 1]
    if wrong:
        raise InvalidArgumentError(f"Threshold values must be in [0, 1]. Invalid values: {wrong}")
    return found


def _even_thresholds(count: int) -> list[float]:
    """So many thresholds between zero and one, without these."""
    return [(at + 1) * 1.0 / (count - 1) for at in range(count - 2)]


def _keep_highest(predictions: Tensor, k: int) -> Tensor:
    """The `k` highest predictions of each row, and a very low number in the place of the others."""
    highest = reduce_sum(one_hot(top_k(predictions, k, sorted=False)[1], predictions.get_shape()[-1]), axis=-2)
    return predictions * highest + _LOWEST * (1 - highest)


class _Counting(Metric):
    """A metric with a variable for some of: true_positives, true_negatives, false_positives, false_negatives."""

    _counted: ClassVar[tuple[str, ...]] = ()
    init_thresholds: Any
    thresholds: list[float]
    true_positives: Any
    true_negatives: Any
    false_positives: Any
    false_negatives: Any

    def _make_counts(self, size: int) -> None:
        for name in self._counted:
            setattr(self, name, self.add_weight(name, shape=(size,), initializer="zeros"))

    def _count(
        self,
        variables: Mapping[str, Any],
        y_true: TensorLike,
        y_pred: TensorLike,
        thresholds: Sequence[float],
        sample_weight: TensorLike | None,
        top: int | None = None,
        class_id: int | None = None,
    ) -> Change:
        """Adds a batch: each prediction beside each threshold."""
        labels, predictions = as_value(y_true, self), as_value(y_pred, self)
        checks = [
            assert_greater_equal(predictions, cast(0.0, self._dtype), message="predictions must be >= 0"),
            assert_less_equal(predictions, cast(1.0, self._dtype), message="predictions must be <= 1"),
        ]
        with control_dependencies(checks):
            predictions, labels = match_ranks(identity(predictions), labels)
        if top is not None:
            predictions = _keep_highest(predictions, top)
        if class_id is not None:
            labels, predictions = labels[..., class_id], predictions[..., class_id]
        limits = reshape(constant(list(thresholds), self._dtype), [-1, 1])
        positive = reshape(predictions, [1, -1]) > limits
        is_label = reshape(cast(labels, BOOL), [1, -1]) & (ones_like(limits) > 0)
        flat = None
        if sample_weight is not None:
            weights = match_weights(predictions, as_value(sample_weight, self))
            flat = reshape(broadcast_weights(weights, predictions), [1, -1])
        chosen = {
            "true_positives": lambda: logical_and(is_label, positive),
            "false_negatives": lambda: logical_and(is_label, logical_not(positive)),
            "false_positives": lambda: logical_and(logical_not(is_label), positive),
            "true_negatives": lambda: logical_and(logical_not(is_label), logical_not(positive)),
        }
        updates = []
        for name, variable in variables.items():
            hits = cast(chosen[name](), self._dtype)
            updates.append(variable.assign_add(reduce_sum(hits if flat is None else multiply(hits, flat), 1)))
        return group(*[update.op for update in updates])

    def _variables(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self._counted}


class _OneCount(_Counting):
    """How many of one kind there are."""

    _kind: ClassVar[str]

    def __init__(self, thresholds: Any = None, name: str | None = None, dtype: DTypeLike | None = None) -> None:
        super().__init__(name=name, dtype=dtype)
        vars(self)["init_thresholds"] = thresholds
        vars(self)["thresholds"] = _thresholds(thresholds, 0.5)
        self.accumulator = self.add_weight("accumulator", shape=(len(self.thresholds),), initializer="zeros")

    def update_state(self, y_true: TensorLike, y_pred: TensorLike, sample_weight: TensorLike | None = None) -> Change:
        return self._count({self._kind: self.accumulator}, y_true, y_pred, self.thresholds, sample_weight)

    def result(self) -> Any:
        return self.accumulator[0] if len(self.thresholds) == 1 else self.accumulator

    def get_config(self) -> dict[str, Any]:
        return {**super().get_config(), "thresholds": self.init_thresholds}


class FalsePositives(_OneCount):
    """How many negatives are predicted to be positive."""

    _kind = "false_positives"


class FalseNegatives(_OneCount):
    """How many positives are predicted to be negative."""

    _kind = "false_negatives"


class TrueNegatives(_OneCount):
    """How many negatives are predicted to be so."""

    _kind = "true_negatives"


class TruePositives(_OneCount):
    """How many positives are predicted to be so."""

    _kind = "true_positives"


class _Ratio(_Counting):
    """True positives over all that are, or are predicted to be, positive."""

    def __init__(
        self,
        thresholds: Any = None,
        top_k: int | None = None,
        class_id: int | None = None,
        name: str | None = None,
        dtype: DTypeLike | None = None,
    ) -> None:
        super().__init__(name=name, dtype=dtype)
        vars(self)["init_thresholds"] = thresholds
        vars(self)["thresholds"] = _thresholds(thresholds, 0.5 if top_k is None else _LOWEST)
        self.top_k = top_k
        self.class_id = class_id
        self._make_counts(len(self.thresholds))

    def update_state(self, y_true: TensorLike, y_pred: TensorLike, sample_weight: TensorLike | None = None) -> Change:
        return self._count(
            self._variables(), y_true, y_pred, self.thresholds, sample_weight, top=self.top_k, class_id=self.class_id
        )

    def result(self) -> Any:
        first, second = (getattr(self, name) for name in self._counted)
        ratio = div_no_nan(first, first + second)
        return ratio[0] if len(self.thresholds) == 1 else ratio

    def get_config(self) -> dict[str, Any]:
        config = super().get_config()
        return {**config, "thresholds": self.init_thresholds, "top_k": self.top_k, "class_id": self.class_id}


class Precision(_Ratio):
    """How many of those predicted to be positive are."""

    _counted = ("true_positives", "false_positives")


class Recall(_Ratio):
    """How many positives are predicted to be so."""

    _counted = ("true_positives", "false_negatives")


class _All(_Counting):
    """A metric of all four counts at many thresholds."""

    _counted = ("true_positives", "true_negatives", "false_positives", "false_negatives")

    def update_state(self, y_true: TensorLike, y_pred: TensorLike, sample_weight: TensorLike | None = None) -> Change:
        return self._count(self._variables(), y_true, y_pred, self.thresholds, sample_weight)


class _AtValue(_All):
    def __init__(self, value: float, what: str, num_thresholds: int, name: str | None, dtype: DTypeLike | None) -> None:
        if value < 0 or value > 1:
            raise InvalidArgumentError(f"`{what}` must be in the range [0, 1]. Got {value}")
        if num_thresholds <= 0:
            raise InvalidArgumentError(f"`num_thresholds` must be > 0. Got {num_thresholds}")
        super().__init__(name=name, dtype=dtype)
        self.value = value
        self.num_thresholds = num_thresholds
        vars(self)["thresholds"] = [0.5] if num_thresholds == 1 else [0.0, *_even_thresholds(num_thresholds), 1.0]
        self._make_counts(num_thresholds)

    def _at_nearest(self, reached: Tensor, wanted: tuple[Any, Any]) -> Tensor:
        """The one ratio, at the threshold where the other is nearest to the value that was asked for."""
        at = argmin(absolute(reached - self.value), axis=0)
        return div_no_nan(wanted[0][at], wanted[0][at] + wanted[1][at])


class SensitivityAtSpecificity(_AtValue):
    """The sensitivity (recall) at the threshold where the specificity is nearest to the given one."""

    def __init__(
        self, specificity: float, num_thresholds: int = 200, name: str | None = None, dtype: DTypeLike | None = None
    ) -> None:
        super().__init__(specificity, "specificity", num_thresholds, name, dtype)
        self.specificity = specificity

    def result(self) -> Tensor:
        reached = div_no_nan(self.true_negatives, self.true_negatives + self.false_positives)
        return self._at_nearest(reached, (self.true_positives, self.false_negatives))

    def get_config(self) -> dict[str, Any]:
        config = super().get_config()
        return {**config, "num_thresholds": self.num_thresholds, "specificity": self.specificity}


class SpecificityAtSensitivity(_AtValue):
    """The specificity at the threshold where the sensitivity (recall) is nearest to the given one."""

    def __init__(
        self, sensitivity: float, num_thresholds: int = 200, name: str | None = None, dtype: DTypeLike | None = None
    ) -> None:
        super().__init__(sensitivity, "sensitivity", num_thresholds, name, dtype)
        self.sensitivity = sensitivity

    def result(self) -> Tensor:
        reached = div_no_nan(self.true_positives, self.true_positives + self.false_negatives)
        return self._at_nearest(reached, (self.true_negatives, self.false_positives))

    def get_config(self) -> dict[str, Any]:
        config = super().get_config()
        return {**config, "num_thresholds": self.num_thresholds, "sensitivity": self.sensitivity}


class AUC(_All):
    """The area under the curve of one ratio over another, as thresholds go from one to zero."""

    def __init__(
        self,
        num_thresholds: int = 200,
        curve: str = "ROC",
        summation_method: str = "interpolation",
        name: str | None = None,
        dtype: DTypeLike | None = None,
        thresholds: Sequence[float] | None = None,
    ) -> None:
        if curve not in ("ROC", "PR"):
            raise InvalidArgumentError(f'Invalid curve: "{curve}". Valid options are: "ROC", "PR"')
        if summation_method not in ("interpolation", "minoring", "majoring"):
            raise InvalidArgumentError(
                f'Invalid summation_method: "{summation_method}". Valid options are: "interpolation", "minoring", '
                '"majoring"'
            )
        super().__init__(name=name, dtype=dtype)
        self.curve = curve
        self.summation_method = summation_method
        if thresholds is not None:
            inner = sorted(_thresholds(list(thresholds), 0.5))
        elif num_thresholds <= 1:
            raise InvalidArgumentError(f"`num_thresholds` must be > 1. Got {num_thresholds}")
        else:
            inner = _even_thresholds(num_thresholds)
        self.num_thresholds = len(inner) + 2
        vars(self)["thresholds"] = [0.0 - epsilon(), *inner, 1.0 + epsilon()]
        self._make_counts(self.num_thresholds)

    def result(self) -> Tensor:
        if self.curve == "PR" and self.summation_method == "interpolation":
            return self._interpolated_precision()
        recall = div_no_nan(self.true_positives, self.true_positives + self.false_negatives)
        if self.curve == "ROC":
            x, y = div_no_nan(self.false_positives, self.false_positives + self.true_negatives), recall
        else:
            x, y = recall, div_no_nan(self.true_positives, self.true_positives + self.false_positives)
        before, after = y[:-1], y[1:]
        heights = {
            "interpolation": lambda: (before + after) / 2.0,
            "minoring": lambda: minimum(before, after),
            "majoring": lambda: maximum(before, after),
        }[self.summation_method]()
        return reduce_sum(multiply(x[:-1] - x[1:], heights), name=self.name)

    def _interpolated_precision(self) -> Tensor:
        """The area under precision over recall, where counts, not ratios, are lines between thresholds."""
        hits, positive = self.true_positives, self.true_positives + self.false_positives
        gained, grown = hits[:-1] - hits[1:], positive[:-1] - positive[1:]
        slope = div_no_nan(gained, maximum(grown, 0), name="prec_slope")
        intercept = hits[1:] - multiply(slope, positive[1:])
        ratio = where(
            logical_and(positive[:-1] > 0, positive[1:] > 0),
            div_no_nan(positive[:-1], maximum(positive[1:], 0), name="recall_relative_ratio"),
            ones_like(positive[1:]),
        )
        areas = div_no_nan(
            slope * (gained + intercept * log(ratio)),
            maximum(hits[1:] + self.false_negatives[1:], 0),
            name="pr_auc_increment",
        )
        return reduce_sum(areas, name="interpolate_pr_auc")

    def get_config(self) -> dict[str, Any]:
        return {
            **super().get_config(),
            "num_thresholds": self.num_thresholds,
            "curve": self.curve,
            "summation_method": self.summation_method,
            "thresholds": self.thresholds[1:-1],
        }


class MeanIoU(Metric):
    """The mean over classes of intersection over union: items of a class in labels and predictions, over those in
    either.
    """

    def __init__(self, num_classes: int, name: str | None = None, dtype: DTypeLike | None = None) -> None:
        super().__init__(name=name, dtype=dtype)
        self.num_classes = num_classes
        self.total_cm = self.add_weight(
            "total_confusion_matrix", shape=(num_classes, num_classes), initializer="zeros", dtype=FLOAT64
        )

    def update_state(self, y_true: TensorLike, y_pred: TensorLike, sample_weight: TensorLike | None = None) -> Change:
        labels, predictions = (reshape(as_value(item, self), [-1]) for item in (y_true, y_pred))
        weights = None if sample_weight is None else reshape(as_value(sample_weight, self), [-1])
        seen = confusion_matrix(labels, predictions, self.num_classes, weights=weights, dtype=FLOAT64)
        return self.total_cm.assign_add(seen)

    def result(self) -> Tensor:
        matrix = self.total_cm
        rows, columns = (cast(reduce_sum(matrix, axis=axis), self._dtype) for axis in (0, 1))
        shared = cast(diag_part(matrix), self._dtype)
        either = rows + columns - shared
        there = reduce_sum(cast(not_equal(either, 0), self._dtype))
        return div_no_nan(reduce_sum(div_no_nan(shared, either), name="mean_iou"), there)

    def get_config(self) -> dict[str, Any]:
        return {**super().get_config(), "num_classes": self.num_classes}
