"""Heads of classes: one of two, one of several, several at once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tensorkeep.dtypes import BOOL, FLOAT32, INT32, INT64, STRING
from tensorkeep.errors import InvalidArgumentError
from tensorkeep.graph.building import name_scope
from tensorkeep.graph.composites import SparseTensor
from tensorkeep.graph.conversion import convert
from tensorkeep.graph.graph import Tensor
from tensorkeep.saved_model.files.constants import DEFAULT_SERVING_SIGNATURE_DEF_KEY
from tensorkeep.tf1.estimators.export_outputs import (
    ClassificationOutput,
    ExportOutput,
    PredictOutput,
    RegressionOutput,
)
from tensorkeep.tf1.estimators.heads import (
    Head,
    LossFunction,
    LossSpec,
    WeightColumn,
    checked_labels,
    checked_range,
    checked_vocabulary,
    label_ids,
)
from tensorkeep.tf1.estimators.keys import MetricKeys, PredictionKeys
from tensorkeep.tf1.functions.arrays.shapes import concat, expand_dims, squeeze, tile, zeros_like
from tensorkeep.tf1.functions.arrays.shapes import shape as shape_of
from tensorkeep.tf1.functions.constants import constant
from tensorkeep.tf1.functions.data.lookup_tables import index_table_from_tensor, index_to_string_table_from_tensor
from tensorkeep.tf1.functions.nn.activations import softmax
from tensorkeep.tf1.functions.nn.cross_entropies import sigmoid_cross_entropy_with_logits
from tensorkeep.tf1.functions.nn.losses import Reduction, sigmoid_cross_entropy, sparse_softmax_cross_entropy
from tensorkeep.tf1.functions.numbers.elementwise import cast, greater_equal, maximum, sigmoid
from tensorkeep.tf1.functions.numbers.elementwise import range as span
from tensorkeep.tf1.functions.numbers.reductions import argmax, reduce_mean
from tensorkeep.tf1.functions.parsing.strings import as_string
from tensorkeep.tf1.functions.sparse.tensors import sparse_to_indicator
from tensorkeep.tf1.training.metrics.confusion import (
    auc,
    precision,
    precision_at_thresholds,
    recall,
    recall_at_thresholds,
)
from tensorkeep.tf1.training.metrics.means import accuracy, mean


def _all_ids(logits: Tensor, n_classes: int) -> Tensor:
    return tile(expand_dims(span(n_classes), 0), [shape_of(logits)[0], 1])


def _all_classes(logits: Tensor, n_classes: int, vocabulary: Sequence[str] | None) -> Tensor:
    """The names of all classes, for each example."""
    names = constant(list(vocabulary), STRING) if vocabulary else as_string(span(n_classes))
    return tile(expand_dims(names, 0), [shape_of(logits)[0], 1])


def _predicted_classes(logits: Tensor, n_classes: int, vocabulary: Sequence[str] | None) -> dict[str, Tensor]:
    """The likeliest class of each example, by number and by name; and all classes."""
    ids = expand_dims(argmax(logits, axis=-1, name=PredictionKeys.CLASS_IDS), axis=-1)
    classes: Any = (
        index_to_string_table_from_tensor(list(vocabulary), name="class_string_lookup").lookup(ids)
        if vocabulary
        else as_string(ids, name="str_classes")
    )
    return {
        PredictionKeys.CLASS_IDS: ids,
        PredictionKeys.CLASSES: classes,
        PredictionKeys.ALL_CLASS_IDS: _all_ids(logits, n_classes),
        PredictionKeys.ALL_CLASSES: _all_classes(logits, n_classes, vocabulary),
    }


def _classification_outputs(
    predictions: Mapping[str, Tensor], scores: Tensor, classes: Tensor
) -> dict[str, ExportOutput]:
    output = ClassificationOutput(scores, classes)
    return {
        DEFAULT_SERVING_SIGNATURE_DEF_KEY: output,
        "classification": output,
        "predict": PredictOutput(dict(predictions)),
    }


def checked_thresholds(thresholds: Sequence[float] | None) -> tuple[float, ...]:
    """Thresholds as a tuple; all are between 0 and 1."""
    found = tuple(thresholds or ())
    if any(not 0.0 < threshold < 1.0 for threshold in found):
        raise InvalidArgumentError(f"thresholds not in (0, 1): {found}.")
    return found


def _threshold_metrics(labels: Tensor, scores: Tensor, weights: Any, thresholds: Sequence[float]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for threshold in thresholds:
        with name_scope(f"at_threshold_{threshold:g}"):
            chosen = cast(greater_equal(scores, threshold), FLOAT32)
            found[f"accuracy/positive_threshold_{threshold:g}"] = accuracy(labels, chosen, weights)
            values = precision_at_thresholds(labels, scores, [threshold], weights)
            found[f"precision/positive_threshold_{threshold:g}"] = (squeeze(values[0]), squeeze(values[1]))
            values = recall_at_thresholds(labels, scores, [threshold], weights)
            found[f"recall/positive_threshold_{threshold:g}"] = (squeeze(values[0]), squeeze(values[1]))
    return found


class MultiClassHead(Head):
    """One class of several: softmax cross entropy."""

    def __init__(
        self,
        n_classes: int,
        weight_column: WeightColumn = None,
        label_vocabulary: Sequence[str] | None = None,
        loss_reduction: str = Reduction.SUM_OVER_BATCH_SIZE,
        loss_fn: LossFunction | None = None,
        name: str | None = None,
    ) -> None:
        super().__init__(weight_column, loss_reduction, loss_fn, name)
        if n_classes is None or n_classes <= 2:
            raise InvalidArgumentError(f"n_classes must be > 2: {n_classes}.")
        self._n_classes = n_classes
        self._vocabulary = checked_vocabulary(label_vocabulary)

    @property
    def logits_dimension(self) -> int:
        return self._n_classes

    def _predictions(self, logits: Tensor) -> dict[str, Tensor]:
        with name_scope("predictions"):
            return {
                PredictionKeys.LOGITS: logits,
                PredictionKeys.PROBABILITIES: softmax(logits, name=PredictionKeys.PROBABILITIES),
                **_predicted_classes(logits, self._n_classes, self._vocabulary),
            }

    def _labels(self, labels: Any, logits: Tensor) -> Tensor:
        return checked_range(label_ids(checked_labels(labels, logits, 1), self._vocabulary), self._n_classes)

    def _losses(self, labels: Tensor, logits: Tensor) -> Tensor:
        return expand_dims(sparse_softmax_cross_entropy(labels, logits, reduction=Reduction.NONE), axis=-1)

    def _metrics(self, spec: LossSpec, predictions: Mapping[str, Tensor]) -> dict[str, Any]:
        ids = predictions[PredictionKeys.CLASS_IDS]
        return {
            MetricKeys.ACCURACY: accuracy(spec.processed_labels, ids, spec.weights, name=MetricKeys.ACCURACY),
        }

    def _outputs(self, predictions: Mapping[str, Tensor]) -> dict[str, ExportOutput]:
        classes = predictions[PredictionKeys.ALL_CLASSES]
        return _classification_outputs(predictions, predictions[PredictionKeys.PROBABILITIES], classes)


class BinaryClassHead(Head):
    """One class of two: the sigmoid of one number is the probability of the second."""

    def __init__(
        self,
        weight_column: WeightColumn = None,
        thresholds: Sequence[float] | None = None,
        label_vocabulary: Sequence[str] | None = None,
        loss_reduction: str = Reduction.SUM_OVER_BATCH_SIZE,
        loss_fn: LossFunction | None = None,
        name: str | None = None,
    ) -> None:
        super().__init__(weight_column, loss_reduction, loss_fn, name)
        self._thresholds = checked_thresholds(thresholds)
        self._vocabulary = checked_vocabulary(label_vocabulary)

    @property
    def logits_dimension(self) -> int:
        return 1

    def _predictions(self, logits: Tensor) -> dict[str, Tensor]:
        with name_scope("predictions"):
            both = concat((zeros_like(logits), logits), axis=-1, name="two_class_logits")
            return {
                PredictionKeys.LOGITS: logits,
                PredictionKeys.LOGISTIC: sigmoid(logits, name=PredictionKeys.LOGISTIC),
                PredictionKeys.PROBABILITIES: softmax(both, name=PredictionKeys.PROBABILITIES),
                **_predicted_classes(both, 2, self._vocabulary),
            }

    def _labels(self, labels: Any, logits: Tensor) -> Tensor:
        found = checked_labels(labels, logits, 1)
        if self._vocabulary is not None:
            found = label_ids(found, self._vocabulary)
        return checked_range(cast(found, FLOAT32), 2)

    def _losses(self, labels: Tensor, logits: Tensor) -> Tensor:
        return sigmoid_cross_entropy_with_logits(labels=labels, logits=logits)

    def _metrics(self, spec: LossSpec, predictions: Mapping[str, Tensor]) -> dict[str, Any]:
        labels, weights, keys = spec.processed_labels, spec.weights, MetricKeys
        ids, logistic = predictions[PredictionKeys.CLASS_IDS], predictions[PredictionKeys.LOGISTIC]
        share = mean(labels, weights, name=keys.LABEL_MEAN)
        with name_scope("accuracy_baseline"):
            baseline = tuple(maximum(part, 1.0 - part) for part in share)
        return {
            keys.ACCURACY: accuracy(labels, ids, weights, name=keys.ACCURACY),
            keys.PRECISION: precision(labels, ids, weights, name=keys.PRECISION),
            keys.RECALL: recall(labels, ids, weights, name=keys.RECALL),
            keys.PREDICTION_MEAN: mean(logistic, weights, name=keys.PREDICTION_MEAN),
            keys.LABEL_MEAN: share,
            keys.ACCURACY_BASELINE: baseline,
            keys.AUC: auc(labels, logistic, weights, name=keys.AUC),
            keys.AUC_PR: auc(labels, logistic, weights, curve="PR", name=keys.AUC_PR),
            **_threshold_metrics(labels, logistic, weights, self._thresholds),
        }

    def _outputs(self, predictions: Mapping[str, Tensor]) -> dict[str, ExportOutput]:
        classes = predictions[PredictionKeys.ALL_CLASSES]
        outputs = _classification_outputs(predictions, predictions[PredictionKeys.PROBABILITIES], classes)
        return {**outputs, "regression": RegressionOutput(predictions[PredictionKeys.LOGISTIC])}


class MultiLabelHead(Head):
    """Any of several classes at once: a sigmoid for each.

    Labels are ones and zeros, [batch, n_classes], or sparse ids or words of a vocabulary.
    """

    def __init__(
        self,
        n_classes: int,
        weight_column: WeightColumn = None,
        thresholds: Sequence[float] | None = None,
        label_vocabulary: Sequence[str] | None = None,
        loss_reduction: str = Reduction.SUM_OVER_BATCH_SIZE,
        loss_fn: LossFunction | None = None,
        name: str | None = None,
    ) -> None:
        super().__init__(weight_column, loss_reduction, loss_fn, name)
        if n_classes is None or n_classes < 2:
            raise InvalidArgumentError(f"n_classes must be > 1 for multi-label classification. Given: {n_classes}")
        self._n_classes = n_classes
        self._thresholds = checked_thresholds(thresholds)
        self._vocabulary = checked_vocabulary(label_vocabulary)
        if self._vocabulary is not None and len(self._vocabulary) != n_classes:
            raise InvalidArgumentError(
                f"Length of label_vocabulary must be n_classes ({n_classes}). Given: {len(self._vocabulary)}"
            )

    @property
    def logits_dimension(self) -> int:
        return self._n_classes

    def _predictions(self, logits: Tensor) -> dict[str, Tensor]:
        with name_scope("predictions"):
            return {
                PredictionKeys.LOGITS: logits,
                PredictionKeys.PROBABILITIES: sigmoid(logits, name=PredictionKeys.PROBABILITIES),
            }

    def _labels(self, labels: Any, logits: Tensor) -> Tensor:
        if labels is None:
            raise InvalidArgumentError("You must provide a labels Tensor. Given: None.")
        if isinstance(labels, SparseTensor):
            ids: Any = labels
            if labels.dtype.base_dtype is STRING:
                if self._vocabulary is None:
                    raise InvalidArgumentError("labels are words, and there is no label_vocabulary")
                ids = index_table_from_tensor(self._vocabulary, name="class_id_lookup").lookup(labels)
            checked = checked_range(cast(ids.values, INT64), self._n_classes)
            return cast(sparse_to_indicator(ids.with_values(checked), self._n_classes), INT64)
        found = convert(labels)
        if found.dtype.base_dtype is BOOL:
            found = cast(found, INT32)
        return checked_range(checked_labels(found, logits, self._n_classes), 2)

    def _losses(self, labels: Tensor, logits: Tensor) -> Tensor:
        each = sigmoid_cross_entropy(labels, logits, reduction=Reduction.NONE)
        return reduce_mean(each, axis=-1, keepdims=True)

    def _metrics(self, spec: LossSpec, predictions: Mapping[str, Tensor]) -> dict[str, Any]:
        labels, weights = spec.processed_labels, spec.weights
        scores = predictions[PredictionKeys.PROBABILITIES]
        return {
            MetricKeys.AUC: auc(labels, scores, weights, name=MetricKeys.AUC),
            MetricKeys.AUC_PR: auc(labels, scores, weights, curve="PR", name=MetricKeys.AUC_PR),
            **_threshold_metrics(labels, scores, weights, self._thresholds),
        }

    def _outputs(self, predictions: Mapping[str, Tensor]) -> dict[str, ExportOutput]:
        scores = predictions[PredictionKeys.PROBABILITIES]
        return _classification_outputs(predictions, scores, _all_classes(scores, self._n_classes, self._vocabulary))


def binary_or_multi_class_head(
    n_classes: int, weight_column: WeightColumn, label_vocabulary: Sequence[str] | None, loss_reduction: str
) -> Head:
    """The head of a classifier: of two classes, or of more."""
    if n_classes == 2:
        return BinaryClassHead(weight_column, label_vocabulary=label_vocabulary, loss_reduction=loss_reduction)
    return MultiClassHead(n_classes, weight_column, label_vocabulary, loss_reduction)
