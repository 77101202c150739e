"""Metrics by name and configuration; "accuracy" and "crossentropy" by the shape of the output and by the loss."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, TypeAlias, overload

from tensorkeep.graph.graph import Tensor
from tensorkeep.tf1.keras import losses
from tensorkeep.tf1.keras.losses import LossLike
from tensorkeep.tf1.keras.metrics import accuracies, base, confusion, errors
from tensorkeep.tf1.keras.metrics.accuracies import binary_accuracy, categorical_accuracy, sparse_categorical_accuracy
from tensorkeep.tf1.keras.metrics.base import Metric
from tensorkeep.tf1.keras.named_objects import by_name_or_config, deserialize_keras_object, serialize_keras_object

_FROM_LOSSES: Final = """
    KLD MAE MAPE MSE MSLE binary_crossentropy categorical_crossentropy categorical_hinge hinge kld
    kullback_leibler_divergence logcosh mae mape mean_absolute_error mean_absolute_percentage_error mean_squared_error
    mean_squared_logarithmic_error mse msle poisson sparse_categorical_crossentropy squared_hinge
"""
_METRICS: Final[dict[str, Any]] = {
    **{name: getattr(losses, name) for name in _FROM_LOSSES.split()},
    **{
        name: value
        for module in (base, accuracies, confusion, errors)
        for name, value in vars(module).items()
        if not name.startswith("_") and callable(value) and getattr(value, "__module__", None) == module.__name__
    },
    "acc": accuracies.accuracy,
    "cosine": errors.cosine_proximity,
    "cosine_similarity": errors.cosine_proximity,
}

MetricLike: TypeAlias = "Callable[..., Any] | Mapping[str, Any] | str"
"""A metric or a function of labels and predictions, its name and arguments, or its name."""


def serialize(metric: Metric | Callable[..., Tensor] | None) -> dict[str, Any] | str | None:
    """A metric as its name, or its name and arguments."""
    told: dict[str, Any] | str | None = serialize_keras_object(metric)
    return told


def deserialize(
    config: MetricLike | None, custom_objects: Mapping[str, Any] | None = None
) -> Callable[..., Any] | None:
    """The metric that a name, or a name with arguments, stands for."""
    found: Callable[..., Any] | None = deserialize_keras_object(config, _METRICS, custom_objects, "metric function")
    return found


@overload
def get(identifier: None) -> None: ...
@overload
def get(identifier: MetricLike) -> Callable[..., Any]: ...
def get(identifier: MetricLike | None) -> Callable[..., Any] | None:
    """A metric by its name, by name and arguments, or as itself."""
    found: Callable[..., Any] | None = by_name_or_config(
        identifier, deserialize, "metric function", calls_classes=False
    )
    return found


def metric_for_output(
    metric: MetricLike, output_shape: Sequence[int | None] | None = None, loss: LossLike | None = None
) -> Callable[..., Any]:
    """A metric of an output; "accuracy" and "crossentropy" are those that suit its shape and its loss."""
    if metric not in ("accuracy", "acc", "crossentropy", "ce"):
        return get(metric)
    is_binary = _is_loss(loss, losses.BinaryCrossentropy, losses.binary_crossentropy)
    is_sparse = _is_loss(loss, losses.SparseCategoricalCrossentropy, losses.sparse_categorical_crossentropy)
    is_single = output_shape is not None and len(output_shape) > 0 and output_shape[-1] == 1
    if metric in ("accuracy", "acc"):
        if is_single or is_binary:
            return binary_accuracy
        return sparse_categorical_accuracy if is_sparse else categorical_accuracy
    if is_single or is_binary:
        return losses.binary_crossentropy
    return losses.sparse_categorical_crossentropy if is_sparse else losses.categorical_crossentropy


def _is_loss(loss: Any, kind: type, function: Any) -> bool:
    if isinstance(loss, losses.LossFunctionWrapper):
        return isinstance(loss, kind) or loss.fn is function
    return loss is function or loss == function.__name__
