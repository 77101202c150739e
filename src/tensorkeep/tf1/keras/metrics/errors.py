"""Losses as metrics: means over an epoch."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tensorkeep.graph.arguments import DTypeLike, TensorLike
from tensorkeep.graph.graph import Tensor
from tensorkeep.tf1.functions.nn.losses import remove_squeezable_dimensions
from tensorkeep.tf1.functions.numbers.elementwise import abs as absolute
from tensorkeep.tf1.functions.numbers.elementwise import cast, div_no_nan, sqrt, squared_difference
from tensorkeep.tf1.keras import losses
from tensorkeep.tf1.keras.engine.session_values import batch_get_value
from tensorkeep.tf1.keras.metrics.base import Change, Mean, MeanMetricWrapper
from tensorkeep.tf1.keras.weighting import match_ranks


def _plain(function: Callable[..., Any], name: str, shown: str) -> type[MeanMetricWrapper]:
    """The class of metrics that a loss without further arguments makes."""

    class Wrapper(MeanMetricWrapper):
        def __init__(self, name: str | None = shown, dtype: DTypeLike | None = None) -> None:
            super().__init__(function, name, dtype)

    Wrapper.__name__ = Wrapper.__qualname__ = name
    Wrapper.__doc__ = function.__doc__
    Wrapper.__module__ = __name__
    return Wrapper


MeanAbsoluteError = _plain(losses.mean_absolute_error, "MeanAbsoluteError", "mean_absolute_error")
MeanAbsolutePercentageError = _plain(
    losses.mean_absolute_percentage_error, "MeanAbsolutePercentageError", "mean_absolute_percentage_error"
)
MeanSquaredError = _plain(losses.mean_squared_error, "MeanSquaredError", "mean_squared_error")
MeanSquaredLogarithmicError = _plain(
    losses.mean_squared_logarithmic_error, "MeanSquaredLogarithmicError", "mean_squared_logarithmic_error"
)
Hinge = _plain(losses.hinge, "Hinge", "hinge")
SquaredHinge = _plain(losses.squared_hinge, "SquaredHinge", "squared_hinge")
CategoricalHinge = _plain(losses.categorical_hinge, "CategoricalHinge", "categorical_hinge")
LogCoshError = _plain(losses.logcosh, "LogCoshError", "logcosh")
Poisson = _plain(losses.poisson, "Poisson", "poisson")
KLDivergence = _plain(losses.kullback_leibler_divergence, "KLDivergence", "kullback_leibler_divergence")


def cosine_proximity(y_true: TensorLike, y_pred: TensorLike, axis: int = -1) -> Tensor:
    """The cosine of the angle between vectors."""
    return -losses.cosine_similarity(y_true, y_pred, axis=axis)


class CosineSimilarity(MeanMetricWrapper):
    """The mean cosine of the angle between vectors."""

    def __init__(self, name: str | None = "cosine_similarity", dtype: DTypeLike | None = None, axis: int = -1) -> None:
        super().__init__(cosine_proximity, name, dtype, axis=axis)


class BinaryCrossentropy(MeanMetricWrapper):
    """The mean of the cross entropies of each probability by itself."""

    def __init__(
        self,
        name: str | None = "binary_crossentropy",
        dtype: DTypeLike | None = None,
        from_logits: bool = False,
        label_smoothing: float = 0,
    ) -> None:
        super().__init__(
            losses.binary_crossentropy, name, dtype, from_logits=from_logits, label_smoothing=label_smoothing
        )


class CategoricalCrossentropy(MeanMetricWrapper):
    """The mean of the cross entropies of the probabilities of classes."""

    def __init__(
        self,
        name: str | None = "categorical_crossentropy",
        dtype: DTypeLike | None = None,
        from_logits: bool = False,
        label_smoothing: float = 0,
    ) -> None:
        super().__init__(
            losses.categorical_crossentropy, name, dtype, from_logits=from_logits, label_smoothing=label_smoothing
        )


class SparseCategoricalCrossentropy(MeanMetricWrapper):
    """`CategoricalCrossentropy` of labels that are the numbers of classes."""

    def __init__(
        self,
        name: str | None = "sparse_categorical_crossentropy",
        dtype: DTypeLike | None = None,
        from_logits: bool = False,
        axis: int = -1,
    ) -> None:
        super().__init__(losses.sparse_categorical_crossentropy, name, dtype, from_logits=from_logits, axis=axis)


class RootMeanSquaredError(Mean):
    """The root of the mean of squared differences."""

    def __init__(self, name: str | None = "root_mean_squared_error", dtype: DTypeLike | None = None) -> None:
        super().__init__(name, dtype)

    def update_state(  # type: ignore[override]
        self, y_true: TensorLike, y_pred: TensorLike, sample_weight: TensorLike | None = None
    ) -> Change:
        predictions, labels = match_ranks(cast(y_pred, self._dtype), cast(y_true, self._dtype))
        return super().update_state(squared_difference(predictions, labels), sample_weight)

    def result(self) -> Tensor:
        return sqrt(div_no_nan(self.total, self.count))


class MeanRelativeError(Mean):
    """The mean of absolute differences, each divided by its element of `normalizer`."""

    def __init__(self, normalizer: TensorLike, name: str | None = None, dtype: DTypeLike | None = None) -> None:
        super().__init__(name, dtype)
        self.normalizer = cast(normalizer, self._dtype)

    def update_state(  # type: ignore[override]
        self, y_true: TensorLike, y_pred: TensorLike, sample_weight: TensorLike | None = None
    ) -> Change:
        predictions, labels = match_ranks(cast(y_pred, self._dtype), cast(y_true, self._dtype))
        predictions, normalizer = remove_squeezable_dimensions(predictions, self.normalizer)
        return super().update_state(div_no_nan(absolute(labels - predictions), normalizer), sample_weight)

    def get_config(self) -> dict[str, Any]:
        return {**super().get_config(), "normalizer": batch_get_value([self.normalizer])[0]}
