"""How often predictions are right, as functions of labels and predictions and as metrics."""

from __future__ import annotations

from tensorkeep.dtypes import INT64
from tensorkeep.graph.arguments import DTypeLike, TensorLike
from tensorkeep.graph.conversion import convert
from tensorkeep.graph.graph import Tensor
from tensorkeep.tf1.functions.arrays.shapes import reshape, squeeze
from tensorkeep.tf1.functions.nn.activations import in_top_k
from tensorkeep.tf1.functions.numbers.elementwise import cast, equal
from tensorkeep.tf1.functions.numbers.reductions import argmax, reduce_mean
from tensorkeep.tf1.keras.backend.settings import chosen_dtype
from tensorkeep.tf1.keras.metrics.base import MeanMetricWrapper


def accuracy(y_true: TensorLike, y_pred: TensorLike) -> Tensor:
    """Whether predictions are their labels."""
    labels, predictions = convert(y_true), convert(y_pred)
    if labels.dtype != predictions.dtype:
        predictions = cast(predictions, labels.dtype)
    return cast(equal(labels, predictions), chosen_dtype(None))


def binary_accuracy(y_true: TensorLike, y_pred: TensorLike, threshold: float = 0.5) -> Tensor:
    """The part of predictions that are on their side of a threshold."""
    predictions = convert(y_pred)
    positive = cast(predictions > convert(threshold, predictions.dtype), predictions.dtype)
    return reduce_mean(cast(equal(cast(y_true, predictions.dtype), positive), chosen_dtype(None)), axis=-1)


def categorical_accuracy(y_true: TensorLike, y_pred: TensorLike) -> Tensor:
    """Whether the highest prediction is that of the right class."""
    return cast(equal(argmax(y_true, axis=-1), argmax(y_pred, axis=-1)), chosen_dtype(None))


def sparse_categorical_accuracy(y_true: TensorLike, y_pred: TensorLike) -> Tensor:
    """`categorical_accuracy` of labels that are the numbers of classes."""
    labels, predictions = convert(y_true), convert(y_pred)
    rank = labels.static_shape.rank
    if rank is not None and rank == predictions.static_shape.rank:
        labels = squeeze(labels, [-1])
    return cast(equal(labels, cast(argmax(predictions, axis=-1), labels.dtype)), chosen_dtype(None))


def top_k_categorical_accuracy(y_true: TensorLike, y_pred: TensorLike, k: int = 5) -> Tensor:
    """Whether the right class is among the `k` highest predictions."""
    return cast(in_top_k(y_pred, argmax(y_true, axis=-1), k), chosen_dtype(None))


def sparse_top_k_categorical_accuracy(y_true: TensorLike, y_pred: TensorLike, k: int = 5) -> Tensor:
    """`top_k_categorical_accuracy` of labels that are the numbers of classes."""
    labels, predictions = convert(y_true), convert(y_pred)
    if labels.static_shape.rank not in (None, 1):
        labels = reshape(labels, [-1])
    return cast(in_top_k(predictions, cast(labels, INT64), k), chosen_dtype(None))


class Accuracy(MeanMetricWrapper):
    """How often predictions are their labels."""

    def __init__(self, name: str | None = "accuracy", dtype: DTypeLike | None = None) -> None:
        super().__init__(accuracy, name, dtype)


class BinaryAccuracy(MeanMetricWrapper):
    """How often predictions are on their side of a threshold."""

    def __init__(
        self, name: str | None = "binary_accuracy", dtype: DTypeLike | None = None, threshold: float = 0.5
    ) -> None:
        super().__init__(binary_accuracy, name, dtype, threshold=threshold)


class CategoricalAccuracy(MeanMetricWrapper):
    """How often the highest prediction is that of the right class."""

    def __init__(self, name: str | None = "categorical_accuracy", dtype: DTypeLike | None = None) -> None:
        super().__init__(categorical_accuracy, name, dtype)


class SparseCategoricalAccuracy(MeanMetricWrapper):
    """`CategoricalAccuracy` of labels that are the numbers of classes."""

    def __init__(self, name: str | None = "sparse_categorical_accuracy", dtype: DTypeLike | None = None) -> None:
        super().__init__(sparse_categorical_accuracy, name, dtype)


class TopKCategoricalAccuracy(MeanMetricWrapper):
    """How often the right class is among the `k` highest predictions."""

    def __init__(
        self, k: int = 5, name: str | None = "top_k_categorical_accuracy", dtype: DTypeLike | None = None
    ) -> None:
        super().__init__(top_k_categorical_accuracy, name, dtype, k=k)


class SparseTopKCategoricalAccuracy(MeanMetricWrapper):
    """`TopKCategoricalAccuracy` of labels that are the numbers of classes."""

    def __init__(
        self, k: int = 5, name: str | None = "sparse_top_k_categorical_accuracy", dtype: DTypeLike | None = None
    ) -> None:
        super().__init__(sparse_top_k_categorical_accuracy, name, dtype, k=k)
