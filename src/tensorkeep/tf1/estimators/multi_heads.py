"""Several heads of one model: their logits lie side by side, their losses are added."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from tensorkeep.errors import InvalidArgumentError
from tensorkeep.graph.arguments import TensorLike
from tensorkeep.graph.building import name_scope
from tensorkeep.graph.graph import Tensor
from tensorkeep.saved_model.files.constants import DEFAULT_SERVING_SIGNATURE_DEF_KEY
from tensorkeep.tf1.estimators.export_outputs import ExportOutput, PredictOutput
from tensorkeep.tf1.estimators.heads import Head, LabelsLike, training_step
from tensorkeep.tf1.estimators.keys import MetricKeys, ModeKeys
from tensorkeep.tf1.estimators.model_specs import EstimatorSpec
from tensorkeep.tf1.functions.arrays.shapes import split
from tensorkeep.tf1.functions.control.grouping import no_op
from tensorkeep.tf1.functions.data.summaries import scalar
from tensorkeep.tf1.functions.numbers.elementwise import add_n, multiply
from tensorkeep.tf1.training.metrics.means import mean

if TYPE_CHECKING:
    from tensorkeep.tf1.training.optimizers.base import Optimizer


class MultiHead(Head):
    """Heads that each have a name; labels are by these names. Losses count as much as `head_weights` say."""

    def __init__(self, heads: Sequence[Head], head_weights: Sequence[float] | None = None) -> None:
        super().__init__()
        if not heads:
            raise InvalidArgumentError(f"Must specify heads. Given: {heads}")
        if head_weights and len(head_weights) != len(heads):
            raise InvalidArgumentError(
                "heads and head_weights must have the same size. Given len(heads): "
                f"{len(heads)}. Given len(head_weights): {len(head_weights)}."
            )
        for head in heads:
            if head.name is None:
                raise InvalidArgumentError(f"All given heads must have name specified. Given: {head}")
        self._heads = tuple(heads)
        self._weights = tuple(head_weights or ())
        self._name = "_".join(str(head.name) for head in heads)

    @property
    def logits_dimension(self) -> int:
        return sum(head.logits_dimension for head in self._heads)

    def _split(self, logits: Any) -> dict[str, Tensor]:
        if isinstance(logits, Mapping):
            missing = [head.name for head in self._heads if head.name not in logits]
            if missing:
                raise InvalidArgumentError(f"logits has missing values for head(s): {missing}")
            return dict(logits)
        sizes = [head.logits_dimension for head in self._heads]
        dims = logits.static_shape.dims
        if dims is not None and dims[-1] not in (None, sum(sizes)):
            raise InvalidArgumentError(
                f"Could not split logits of shape {list(dims)} among the heads with individual logits dimensions: "
                f"{sizes}. The last dimension of the logits tensor should equal {sum(sizes)} but is {dims[-1]}."
            )
        with name_scope("split_logits"):
            parts = split(logits, sizes, axis=-1)
        return {str(head.name): part for head, part in zip(self._heads, parts, strict=True)}

    def predictions(self, logits: TensorLike, keys: Sequence[str] | None = None) -> dict[Any, Tensor]:
        """Predictions by the name of the head and their own."""
        own = self._split(logits)
        return {
            (head.name, key): value
            for head in self._heads
            for key, value in head.predictions(own[str(head.name)], keys).items()
        }

    def loss(
        self,
        labels: TensorLike,
        logits: TensorLike,
        features: Mapping[str, Any] | None = None,
        mode: str | None = None,
        regularization_losses: Sequence[Tensor] | None = None,
    ) -> Tensor:
        own = self._split(logits)
        losses = [head.loss(self._labels_of(head, labels), own[str(head.name)], features, mode) for head in self._heads]
        return self._merged(losses, regularization_losses)

    @staticmethod
    def _labels_of(head: Head, labels: Any) -> Any:
        if not isinstance(labels, Mapping):
            raise InvalidArgumentError(f"labels must be a dict. Given: {labels}")
        if head.name not in labels:
            raise InvalidArgumentError(f"labels has missing values for head(s): {[head.name]}")
        return labels[head.name]

    def _merged(self, losses: Sequence[Tensor], regularization: Sequence[Tensor] | None) -> Tensor:
        with name_scope("merge_losses"):
            weighted = list(losses)
            if self._weights:
                weighted = [multiply(loss, weight) for loss, weight in zip(losses, self._weights, strict=True)]
            return add_n([*weighted, *(regularization or ())])

    def create_estimator_spec(
        self,
        features: Mapping[str, Any],
        mode: str,
        logits: TensorLike | Mapping[str, Tensor],
        labels: LabelsLike = None,
        optimizer: Optimizer | None = None,
        trainable_variables: Sequence[Any] | None = None,
        train_op_fn: Callable[[Tensor], Any] | None = None,
        update_ops: Sequence[Any] | None = None,
        regularization_losses: Sequence[Tensor] | None = None,
    ) -> EstimatorSpec:
        with name_scope("multi_head"):
            own = self._split(logits)
            specs = [
                head.create_estimator_spec(
                    features,
                    mode,
                    own[str(head.name)],
                    None if mode == ModeKeys.PREDICT else self._labels_of(head, labels),
                    train_op_fn=lambda loss: no_op(),
                    update_ops=(),
                )
                for head in self._heads
            ]
            predictions = {
                (head.name, key): value
                for head, spec in zip(self._heads, specs, strict=True)
                for key, value in spec.predictions.items()
            }
            if mode == ModeKeys.PREDICT:
                return EstimatorSpec(mode, predictions=predictions, export_outputs=self._merged_outputs(specs))
            losses = [spec.loss for spec in specs if spec.loss is not None]
            loss = self._merged(losses, regularization_losses)
            if mode == ModeKeys.EVAL:
                return EstimatorSpec(
                    mode, predictions=predictions, loss=loss, eval_metric_ops=self._merged_metrics(specs, losses)
                )
            train_op = training_step(loss, optimizer, train_op_fn, trainable_variables, update_ops)
        with name_scope(""):
            scalar(MetricKeys.LOSS, loss)
        return EstimatorSpec(mode, predictions=predictions, loss=loss, train_op=train_op)

    def _merged_metrics(self, specs: Sequence[EstimatorSpec], losses: Sequence[Tensor]) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for head, spec, loss in zip(self._heads, specs, losses, strict=True):
            found[f"{MetricKeys.LOSS}/{head.name}"] = mean(loss, name=f"{MetricKeys.LOSS}_{head.name}")
            found.update(spec.eval_metric_ops)
        return found

    def _merged_outputs(self, specs: Sequence[EstimatorSpec]) -> dict[str, ExportOutput]:
        """The first head's as what is served; of each head, by its name; and all predictions together."""
        outputs: dict[str, ExportOutput] = {}
        merged: dict[str, Any] = {}
        for head, spec in zip(self._heads, specs, strict=True):
            for key, output in (spec.export_outputs or {}).items():
                outputs[str(head.name) if key == DEFAULT_SERVING_SIGNATURE_DEF_KEY else f"{head.name}/{key}"] = output
                if key == "predict" and isinstance(output, PredictOutput):
                    merged.update({f"{head.name}/{name}": value for name, value in output.outputs.items()})
        first = specs[0].export_outputs or {}
        return {
            DEFAULT_SERVING_SIGNATURE_DEF_KEY: first[DEFAULT_SERVING_SIGNATURE_DEF_KEY],
            **outputs,
            "predict": PredictOutput(merged),
        }
