"""Heads of numbers: by squared error, by Poisson's law, and of probabilities."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from tensorkeep.dtypes import FLOAT32
from tensorkeep.errors import InvalidArgumentError
from tensorkeep.graph.graph import Tensor
from tensorkeep.saved_model.files.constants import DEFAULT_SERVING_SIGNATURE_DEF_KEY
from tensorkeep.tf1.estimators.export_outputs import ExportOutput, PredictOutput, RegressionOutput
from tensorkeep.tf1.estimators.heads import Head, LossFunction, LossSpec, WeightColumn, checked_labels
from tensorkeep.tf1.estimators.keys import MetricKeys, PredictionKeys
from tensorkeep.tf1.functions.nn.cross_entropies import log_poisson_loss, sigmoid_cross_entropy_with_logits
from tensorkeep.tf1.functions.nn.losses import Reduction, mean_squared_error
from tensorkeep.tf1.functions.numbers.elementwise import cast, exp, sigmoid
from tensorkeep.tf1.training.metrics.means import mean


class RegressionHead(Head):
    """Numbers, whose loss is the squared error. `inverse_link_fn` makes predictions of logits."""

    _per_logit_weights = True

    def __init__(
        self,
        label_dimension: int = 1,
        weight_column: WeightColumn = None,
        loss_reduction: str = Reduction.SUM_OVER_BATCH_SIZE,
        loss_fn: LossFunction | None = None,
        inverse_link_fn: Callable[[Tensor], Tensor] | None = None,
        name: str | None = None,
    ) -> None:
        super().__init__(weight_column, loss_reduction, loss_fn, name)
        if label_dimension < 1:
            raise InvalidArgumentError(f"Invalid label_dimension {label_dimension}.")
        self._dimension = label_dimension
        self._inverse_link_fn = inverse_link_fn

    @property
    def logits_dimension(self) -> int:
        return self._dimension

    def _predictions(self, logits: Tensor) -> dict[str, Tensor]:
        if self._inverse_link_fn is None:
            return {PredictionKeys.PREDICTIONS: logits}
        return {PredictionKeys.PREDICTIONS: self._inverse_link_fn(logits), PredictionKeys.LOGITS: logits}

    def _labels(self, labels: Any, logits: Tensor) -> Tensor:
        return cast(checked_labels(labels, logits, self._dimension), FLOAT32)

    def _losses(self, labels: Tensor, logits: Tensor) -> Tensor:
        return mean_squared_error(labels, logits, reduction=Reduction.NONE)

    def _metrics(self, spec: LossSpec, predictions: Mapping[str, Tensor]) -> dict[str, Any]:
        predicted = predictions[PredictionKeys.PREDICTIONS]
        return {
            MetricKeys.PREDICTION_MEAN: mean(predicted, spec.weights, name=MetricKeys.PREDICTION_MEAN),
            MetricKeys.LABEL_MEAN: mean(spec.processed_labels, spec.weights, name=MetricKeys.LABEL_MEAN),
        }

    def _outputs(self, predictions: Mapping[str, Tensor]) -> dict[str, ExportOutput]:
        output = RegressionOutput(predictions[PredictionKeys.PREDICTIONS])
        return {
            DEFAULT_SERVING_SIGNATURE_DEF_KEY: output,
            "regression": output,
            "predict": PredictOutput(dict(predictions)),
        }


class PoissonRegressionHead(RegressionHead):
    """Counts: the exponential of a logit is what is expected, and the loss is Poisson's."""

    def __init__(
        self,
        label_dimension: int = 1,
        weight_column: WeightColumn = None,
        loss_reduction: str = Reduction.SUM_OVER_BATCH_SIZE,
        compute_full_loss: bool = True,
        name: str | None = None,
    ) -> None:
        super().__init__(label_dimension, weight_column, loss_reduction, None, exp, name)
        self._compute_full_loss = compute_full_loss

    def _losses(self, labels: Tensor, logits: Tensor) -> Tensor:
        return log_poisson_loss(labels, logits, compute_full_loss=self._compute_full_loss)


class LogisticRegressionHead(RegressionHead):
    """Probabilities: labels are between 0 and 1, and the sigmoid of a logit is predicted."""

    def __init__(
        self,
        weight_column: WeightColumn = None,
        loss_reduction: str = Reduction.SUM_OVER_BATCH_SIZE,
        name: str | None = None,
    ) -> None:
        super().__init__(1, weight_column, loss_reduction, None, sigmoid, name)

    def _losses(self, labels: Tensor, logits: Tensor) -> Tensor:
        return sigmoid_cross_entropy_with_logits(labels=labels, logits=logits)
