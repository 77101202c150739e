"""`tf.keras.losses`: losses as functions of labels and predictions, and as objects with weights and reductions."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import log as natural_log
from typing import Any, Final, TypeAlias, overload

from tensorkeep.dtypes import BOOL
from tensorkeep.graph.arguments import TensorLike
from tensorkeep.graph.building import name_scope
from tensorkeep.graph.conversion import convert
from tensorkeep.graph.graph import Tensor
from tensorkeep.tf1.functions.arrays.shapes import shape as shape_of
from tensorkeep.tf1.functions.control.control_flow import cond
from tensorkeep.tf1.functions.nn.activations import softplus
from tensorkeep.tf1.functions.nn.normalization import l2_normalize
from tensorkeep.tf1.functions.numbers.clipping import clip_by_value
from tensorkeep.tf1.functions.numbers.elementwise import abs as absolute
from tensorkeep.tf1.functions.numbers.elementwise import (
    cast,
    equal,
    log,
    logical_or,
    maximum,
    minimum,
    square,
    squared_difference,
)
from tensorkeep.tf1.functions.numbers.reductions import reduce_all, reduce_max, reduce_mean, reduce_sum
from tensorkeep.tf1.keras.backend import cross_entropies
from tensorkeep.tf1.keras.backend.settings import chosen_dtype, epsilon
from tensorkeep.tf1.keras.named_objects import by_name_or_config, deserialize_keras_object, serialize_keras_object
from tensorkeep.tf1.keras.weighting import Reduction, compute_weighted_loss, match_ranks

LossLike: TypeAlias = "Callable[..., Tensor] | Mapping[str, Any] | str"
"""A loss or a function of labels and predictions, its name and arguments, or its name."""

# ---------------------------------------------------------------------------------------------------- Functions


def _both(y_true: TensorLike, y_pred: TensorLike) -> tuple[Tensor, Tensor]:
    """Labels, in the type of the predictions, and predictions."""
    predictions = convert(y_pred)
    return cast(y_true, predictions.dtype), predictions


def mean_squared_error(y_true: TensorLike, y_pred: TensorLike) -> Tensor:
    """The mean of squared differences."""
    labels, predictions = _both(y_true, y_pred)
    return reduce_mean(squared_difference(predictions, labels), axis=-1)


def mean_absolute_error(y_true: TensorLike, y_pred: TensorLike) -> Tensor:
    """The mean of absolute differences."""
    labels, predictions = _both(y_true, y_pred)
    return reduce_mean(absolute(predictions - labels), axis=-1)


def mean_absolute_percentage_error(y_true: TensorLike, y_pred: TensorLike) -> Tensor:
    """The mean of absolute differences, in hundredths of the labels."""
    labels, predictions = _both(y_true, y_pred)
    differences = absolute((labels - predictions) / maximum(absolute(labels), epsilon()))
    return 100.0 * reduce_mean(differences, axis=-1)


def mean_squared_logarithmic_error(y_true: TensorLike, y_pred: TensorLike) -> Tensor:
    """The mean of squared differences of logarithms."""
    labels, predictions = _both(y_true, y_pred)
    first, second = (log(maximum(values, epsilon()) + 1.0) for values in (predictions, labels))
    return reduce_mean(squared_difference(first, second), axis=-1)


def _signs(labels: Tensor) -> Tensor:
    """Labels of -1 and 1, which are given as they are or as 0 and 1."""
    is_binary = reduce_all(logical_or(equal(labels, 0), equal(labels, 1)))
    return convert(cond(is_binary, lambda: 2.0 * labels - 1.0, lambda: labels))


def hinge(y_true: TensorLike, y_pred: TensorLike) -> Tensor:
    """The mean of `max(0, 1 - label * prediction)`, with labels of 0 and 1 taken as -1 and 1."""
    labels, predictions = _both(y_true, y_pred)
    return reduce_mean(maximum(1.0 - _signs(labels) * predictions, 0.0), axis=-1)


def squared_hinge(y_true: TensorLike, y_pred: TensorLike) -> Tensor:
    """The mean of the squares of what `hinge` takes the mean of."""
    labels, predictions = _both(y_true, y_pred)
    return reduce_mean(square(maximum(1.0 - _signs(labels) * predictions, 0.0)), axis=-1)


def categorical_hinge(y_true: TensorLike, y_pred: TensorLike) -> Tensor:
    """`max(0, 1 + w - r)`: w is the highest prediction of a wrong class, r that of the right one."""
    labels, predictions = _both(y_true, y_pred)
    right = reduce_sum(labels * predictions, axis=-1)
    wrong = reduce_max((1.0 - labels) * predictions, axis=-1)
    return maximum(0.0, wrong - right + 1.0)


def huber_loss(y_true: TensorLike, y_pred: TensorLike, delta: float = 1.0) -> Tensor:
    """Half the squared difference up to `delta`, and a line beyond; for each element."""
    labels, predictions = cast(y_true, chosen_dtype(None)), cast(y_pred, chosen_dtype(None))
    size = absolute(predictions - labels)
    near = minimum(size, delta)
    return 0.5 * (near * near) + delta * (size - near)


def logcosh(y_true: TensorLike, y_pred: TensorLike) -> Tensor:
    """The mean of the logarithms of hyperbolic cosines of differences."""
    labels, predictions = _both(y_true, y_pred)
    gap = predictions - labels
    return reduce_mean(gap + softplus(-2.0 * gap) - convert(natural_log(2.0), gap.dtype), axis=-1)


def _smoothed_labels(labels: Tensor, amount: float | Tensor, share: Callable[[], Any]) -> Tensor:
    """Labels that are less sure; `share` gives what a class has if nothing is known."""
    if not isinstance(amount, Tensor):
        return labels * (1.0 - amount) + share() * amount if amount else labels
    smoothing = cast(amount, labels.dtype)
    is_wanted = cast(smoothing, BOOL)
    return convert(cond(is_wanted, lambda: labels * (1.0 - smoothing) + share() * smoothing, lambda: labels))


def categorical_crossentropy(
    y_true: TensorLike, y_pred: TensorLike, from_logits: bool = False, label_smoothing: float | Tensor = 0
) -> Tensor:
    """The cross entropy of the probabilities of classes."""
    labels, predictions = _both(y_true, y_pred)
    labels = _smoothed_labels(labels, label_smoothing, lambda: 1.0 / cast(shape_of(labels)[-1], predictions.dtype))
    return cross_entropies.categorical_crossentropy(labels, predictions, from_logits=from_logits)


def sparse_categorical_crossentropy(
    y_true: TensorLike, y_pred: TensorLike, from_logits: bool = False, axis: int = -1
) -> Tensor:
    """`categorical_crossentropy` of labels that are the numbers of classes."""
    return cross_entropies.sparse_categorical_crossentropy(y_true, y_pred, from_logits=from_logits, axis=axis)


def binary_crossentropy(
    y_true: TensorLike, y_pred: TensorLike, from_logits: bool = False, label_smoothing: float | Tensor = 0
) -> Tensor:
    """The mean of the cross entropies of each probability by itself."""
    labels, predictions = _both(y_true, y_pred)
    labels = _smoothed_labels(labels, label_smoothing, lambda: 0.5)
    return reduce_mean(cross_entropies.binary_crossentropy(labels, predictions, from_logits=from_logits), axis=-1)


def kullback_leibler_divergence(y_true: TensorLike, y_pred: TensorLike) -> Tensor:
    """How far predicted probabilities are from those of the labels."""
    labels, predictions = (clip_by_value(values, epsilon(), 1.0) for values in _both(y_true, y_pred))
    return reduce_sum(labels * log(labels / predictions), axis=-1)


def poisson(y_true: TensorLike, y_pred: TensorLike) -> Tensor:
    """The mean of `y_pred - y_true * log(y_pred)`."""
    labels, predictions = _both(y_true, y_pred)
    return reduce_mean(predictions - labels * log(predictions + epsilon()), axis=-1)


def cosine_similarity(y_true: TensorLike, y_pred: TensorLike, axis: int = -1) -> Tensor:
    """The cosine of the angle between vectors, negated: it is the smaller the better they agree."""
    return -reduce_sum(l2_normalize(y_true, axis=axis) * l2_normalize(y_pred, axis=axis), axis=axis)


# ---------------------------------------------------------------------------------------------------- Objects


class Loss:
    """A loss of a batch, with weights and a reduction. Override `call`, which gives the losses of its examples."""

    def __init__(self, reduction: str = Reduction.AUTO, name: str | None = None) -> None:
        Reduction.validate(reduction)
        self.reduction = reduction
        self.name = name

    def __call__(self, y_true: TensorLike, y_pred: TensorLike, sample_weight: TensorLike | None = None) -> Tensor:
        """The loss of a batch."""
        name = type(self).__name__ if self.name is None else self.name
        with name_scope("lambda" if name == "<lambda>" else name.strip("_")):
            return compute_weighted_loss(self.call(y_true, y_pred), sample_weight, self._get_reduction())

    def call(self, y_true: TensorLike, y_pred: TensorLike) -> Tensor:
        """The losses of the examples of a batch."""
        raise NotImplementedError(f"{type(self).__name__} has no method call")

    def _get_reduction(self) -> str:
        return Reduction.SUM_OVER_BATCH_SIZE if self.reduction == Reduction.AUTO else self.reduction

    def get_config(self) -> dict[str, Any]:
        return {"reduction": self.reduction, "name": self.name}

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> Loss:
        return cls(**config)


class LossFunctionWrapper(Loss):
    """A loss made of a function of labels and predictions, and of further arguments for it."""

    def __init__(
        self, fn: Callable[..., Any], reduction: str = Reduction.AUTO, name: str | None = None, **kwargs: object
    ) -> None:
        super().__init__(reduction, name)
        self.fn = fn
        self._fn_kwargs: dict[str, Any] = kwargs

    def call(self, y_true: TensorLike, y_pred: TensorLike) -> Tensor:
        if isinstance(y_true, Tensor) and isinstance(y_pred, Tensor):
            y_pred, y_true = match_ranks(y_pred, y_true)
        losses: Tensor = self.fn(y_true, y_pred, **self._fn_kwargs)
        return losses

    def get_config(self) -> dict[str, Any]:
        return {**super().get_config(), **self._fn_kwargs}


def _plain(function: Callable[..., Any], name: str, shown: str) -> type[LossFunctionWrapper]:
    """The class of losses that a function without further arguments makes."""

    class Wrapper(LossFunctionWrapper):
        def __init__(self, reduction: str = Reduction.AUTO, name: str | None = shown) -> None:
            super().__init__(function, reduction, name)

    Wrapper.__name__ = Wrapper.__qualname__ = name
    Wrapper.__doc__ = function.__doc__
    Wrapper.__module__ = __name__
    return Wrapper


MeanSquaredError = _plain(mean_squared_error, "MeanSquaredError", "mean_squared_error")
MeanAbsoluteError = _plain(mean_absolute_error, "MeanAbsoluteError", "mean_absolute_error")
MeanAbsolutePercentageError = _plain(
    mean_absolute_percentage_error, "MeanAbsolutePercentageError", "mean_absolute_percentage_error"
)
MeanSquaredLogarithmicError = _plain(
    mean_squared_logarithmic_error, "MeanSquaredLogarithmicError", "mean_squared_logarithmic_error"
)
Hinge = _plain(hinge, "Hinge", "hinge")
SquaredHinge = _plain(squared_hinge, "SquaredHinge", "squared_hinge")
CategoricalHinge = _plain(categorical_hinge, "CategoricalHinge", "categorical_hinge")
Poisson = _plain(poisson, "Poisson", "poisson")
LogCosh = _plain(logcosh, "LogCosh", "logcosh")
KLDivergence = _plain(kullback_leibler_divergence, "KLDivergence", "kullback_leibler_divergence")


class BinaryCrossentropy(LossFunctionWrapper):
    """The mean of the cross entropies of each probability by itself."""

    def __init__(
        self,
        from_logits: bool = False,
        label_smoothing: float = 0,
        reduction: str = Reduction.AUTO,
        name: str | None = "binary_crossentropy",
    ) -> None:
        super().__init__(binary_crossentropy, reduction, name, from_logits=from_logits, label_smoothing=label_smoothing)
        self.from_logits = from_logits


class CategoricalCrossentropy(LossFunctionWrapper):
    """The cross entropy of the probabilities of classes."""

    def __init__(
        self,
        from_logits: bool = False,
        label_smoothing: float = 0,
        reduction: str = Reduction.AUTO,
        name: str | None = "categorical_crossentropy",
    ) -> None:
        super().__init__(
            categorical_crossentropy, reduction, name, from_logits=from_logits, label_smoothing=label_smoothing
        )


class SparseCategoricalCrossentropy(LossFunctionWrapper):
    """The cross entropy of the probabilities of classes, with classes given by their numbers."""

    def __init__(
        self,
        from_logits: bool = False,
        reduction: str = Reduction.AUTO,
        name: str | None = "sparse_categorical_crossentropy",
    ) -> None:
        super().__init__(sparse_categorical_crossentropy, reduction, name, from_logits=from_logits)


class CosineSimilarity(LossFunctionWrapper):
    """The cosine of the angle between vectors, negated."""

    def __init__(self, axis: int = -1, reduction: str = Reduction.AUTO, name: str | None = "cosine_similarity") -> None:
        super().__init__(cosine_similarity, reduction, name, axis=axis)


class Huber(LossFunctionWrapper):
    """Half the squared difference up to `delta`, and a line beyond."""

    def __init__(self, delta: float = 1.0, reduction: str = Reduction.AUTO, name: str | None = "huber_loss") -> None:
        super().__init__(huber_loss, reduction, name, delta=delta)


# ---------------------------------------------------------------------------------------------------- By name

bce = BCE = binary_crossentropy
mse = MSE = mean_squared_error
mae = MAE = mean_absolute_error
mape = MAPE = mean_absolute_percentage_error
msle = MSLE = mean_squared_logarithmic_error
kld = KLD = kl_divergence = kullback_leibler_divergence
cosine = cosine_proximity = cosine_similarity
log_cosh = logcosh
huber = huber_loss

_LOSSES: Final[dict[str, Any]] = {
    name: value
    for name, value in list(globals().items())
    if not name.startswith("_") and callable(value) and getattr(value, "__module__", None) == __name__
}
"""By name, functions and classes; several names for some."""


def serialize(loss: Callable[..., Tensor] | None) -> dict[str, Any] | str | None:
    """A loss as its name, or its name and arguments."""
    told: dict[str, Any] | str | None = serialize_keras_object(loss)
    return told


def deserialize(name: LossLike | None, custom_objects: Mapping[str, Any] | None = None) -> Callable[..., Tensor] | None:
    """The loss that a name, or a name with arguments, stands for."""
    found: Callable[..., Tensor] | None = deserialize_keras_object(name, _LOSSES, custom_objects, "loss function")
    return found


@overload
def get(identifier: None) -> None: ...
@overload
def get(identifier: LossLike) -> Callable[..., Tensor]: ...
def get(identifier: LossLike | None) -> Callable[..., Tensor] | None:
    """A loss by its name, by name and arguments, or as itself."""
    found: Callable[..., Tensor] | None = by_name_or_config(
        identifier, deserialize, "loss function", calls_classes=False
    )
    return found


def is_categorical_crossentropy(loss: object) -> bool:
    """Whether a loss is the cross entropy of the probabilities of classes."""
    return (
        isinstance(loss, CategoricalCrossentropy)
        or (isinstance(loss, LossFunctionWrapper) and loss.fn is categorical_crossentropy)
        or getattr(loss, "__name__", loss) == "categorical_crossentropy"
    )
