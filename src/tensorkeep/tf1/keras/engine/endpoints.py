"""The outputs of a model while it is trained: their targets, weights, losses and metrics."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tensorkeep.errors import InvalidArgumentError
from tensorkeep.graph.arguments import TensorLike
from tensorkeep.graph.building import name_scope
from tensorkeep.graph.graph import Tensor
from tensorkeep.tf1.functions.arrays.shapes import placeholder, placeholder_with_default
from tensorkeep.tf1.functions.constants import constant
from tensorkeep.tf1.functions.numbers.elementwise import cast
from tensorkeep.tf1.keras import losses
from tensorkeep.tf1.keras.backend.settings import floatx
from tensorkeep.tf1.keras.engine.tensor_notes import mask_of
from tensorkeep.tf1.keras.metrics import by_name
from tensorkeep.tf1.keras.metrics.base import Mean, MeanMetricWrapper, Metric
from tensorkeep.tf1.keras.weighting import Reduction, compute_weighted_loss, match_weights


class Endpoint:
    """One output, and what it is compared with. Without a loss, it has no target."""

    def __init__(
        self, name: str, output: Tensor, loss: losses.Loss | losses.LossLike | None, loss_weight: float
    ) -> None:
        self.name = name
        self.output: Any = output
        self.loss_fn: Any = loss_of(loss)
        self.loss_weight = loss_weight
        self.target: Any = None
        self.is_fed = False
        self.sample_weight: Any = None
        self.metrics: list[Metric] = []
        self.weighted_metrics: list[Metric] = []
        self.loss_metric: Mean | None = None

    @property
    def has_target(self) -> bool:
        return self.loss_fn is not None

    @property
    def shape(self) -> tuple[Any, ...] | None:
        shape = self.output.get_shape()
        return None if shape.rank is None else tuple(shape.as_list())

    @property
    def target_shape(self) -> tuple[Any, ...] | None:
        """The shape that targets must have; None if any will do."""
        shape = self.shape
        if shape is None:
            return None
        if _is_sparse(self.loss_fn):
            return (*shape[:-1], 1)
        is_known = getattr(losses, getattr(getattr(self.loss_fn, "fn", None), "__name__", ""), None) is not None
        is_plain = isinstance(self.loss_fn, losses.LossFunctionWrapper) and is_known
        return shape if is_plain else None

    def set_target(self, tensor: TensorLike) -> None:
        """The tensor that the output is compared with: that of the program, or a placeholder."""
        if not self.has_target or self.target is not None:
            return
        if tensor is not None:
            self.target = tensor
            return
        self._make_place(self.output.get_shape().rank)

    def take_rank(self, rank: int) -> bool:
        """Makes another place if targets have another rank, which a loss of the program's own may take; whether it did.

        TensorFlow feeds them to the same placeholder, whose static shape is then wrong.
        """
        known = self.target.static_shape.rank if isinstance(self.target, Tensor) else None
        if not self.is_fed or self.target_shape is not None or known in (None, rank):
            return False
        self._make_place(rank)
        return True

    def _make_place(self, rank: int | None) -> None:
        kind = floatx() if not isinstance(self.output, Tensor) else self.output.dtype.base_dtype
        if _is_sparse(self.loss_fn):
            kind = "int32"
        shape = None if rank is None else [None] * rank
        self.target = placeholder(kind, shape=shape, name=f"{self.name}_target")
        self.is_fed = True

    def set_weights(self, mode: str | None) -> None:
        """Makes the place for weights of items, or of steps."""
        if not self.has_target or mode is None:
            self.sample_weight = None
            return
        ones: Any = [[1.0]] if mode == "temporal" else [1.0]
        shape = [None, None] if mode == "temporal" else [None]
        default = constant(ones, dtype=floatx())
        self.sample_weight = placeholder_with_default(default, shape=shape, name=f"{self.name}_sample_weights")

    def loss(self) -> Tensor:
        """The loss of the output: the mean over items, by their weights."""
        with name_scope(f"{self.name}_loss"):
            weights = combined_weights(self.sample_weight, mask_of(self.output), self.output)
            if not hasattr(self.loss_fn, "reduction"):
                found: Tensor = self.loss_fn(self.target, self.output, sample_weight=weights)
                return found
            each = self.loss_fn.call(self.target, self.output)
            reduction = self.loss_fn.reduction
            if reduction == Reduction.AUTO:
                reduction = Reduction.SUM_OVER_BATCH_SIZE
            return compute_weighted_loss(each, weights, reduction=reduction)

    def build_metrics(self) -> None:
        """Builds what updates the metrics with each batch."""
        mask = mask_of(self.output)
        for metrics, sample_weight in ((self.metrics, None), (self.weighted_metrics, self.sample_weight)):
            for metric in metrics:
                with name_scope(metric.name):
                    weights = combined_weights(sample_weight, mask, self.output)
                    metric(self.target, self.output, sample_weight=weights)


def _is_sparse(loss: Any) -> bool:
    """Whether targets are numbers of classes."""
    return getattr(loss, "fn", None) is losses.sparse_categorical_crossentropy


def combined_weights(weights: Tensor | None, mask: Tensor | None, output: Tensor) -> Tensor | None:
    """Weights of items, none for those that are masked."""
    if mask is None:
        return weights
    kept = cast(mask, output.dtype.base_dtype)
    return kept if weights is None else match_weights(kept, weights) * kept


def loss_of(loss: losses.Loss | losses.LossLike | None) -> losses.Loss | Callable[..., Tensor] | None:
    """A loss as an object: given as one, as a function, or by name; None if there is none."""
    if loss is None or isinstance(loss, losses.Loss):
        return loss
    function: Any = losses.get(loss)
    if isinstance(function, losses.Loss) or not hasattr(function, "__name__"):
        found: Callable[..., Tensor] = function
        return found
    return losses.LossFunctionWrapper(function, name=function.__name__)


def losses_by_output(loss: object, names: Sequence[str]) -> list[Any]:
    """The loss of each output: given for all, as a list, or by name."""
    if isinstance(loss, Mapping):
        unknown = sorted(set(loss) - set(names))
        if unknown:
            raise InvalidArgumentError(
                f"Unknown entries in loss dictionary: {unknown}. Only expected following keys: {list(names)}"
            )
        return [loss.get(name) for name in names]
    if isinstance(loss, list | tuple):
        if len(loss) != len(names):
            raise InvalidArgumentError(
                f"When passing a list as loss, it should have one entry per model outputs. The model has {len(names)} "
                f"outputs, but you passed loss={loss}"
            )
        return list(loss)
    return [loss] * len(names)


def loss_weights_by_output(weights: object, names: Sequence[str]) -> list[Any]:
    """How much the loss of each output counts: given as a list, or by name."""
    if weights is None:
        return [1.0] * len(names)
    if isinstance(weights, Mapping):
        unknown = sorted(set(weights) - set(names))
        if unknown:
            raise InvalidArgumentError(f"Unknown entries in loss_weights dictionary: {unknown}. Outputs: {list(names)}")
        return [weights.get(name, 1.0) for name in names]
    if isinstance(weights, list | tuple):
        if len(weights) != len(names):
            raise InvalidArgumentError(
                f"When passing a list as loss_weights, it should have one entry per model output. The model has "
                f"{len(names)} outputs, but you passed loss_weights={weights}"
            )
        return list(weights)
    raise InvalidArgumentError(f"Could not interpret loss_weights argument: {weights} - expected a list of dicts.")


# ---------------------------------------------------------------------------------------------------- Metrics


def set_metrics(endpoints: Sequence[Endpoint], metrics: object, weighted_metrics: object) -> list[Metric]:
    """Gives each output its metrics, under names that differ; all of them in their order."""
    names = [endpoint.name for endpoint in endpoints]
    plain = _metrics_by_output(metrics, names)
    weighted = _metrics_by_output(weighted_metrics, names)
    found: list[Metric] = []
    taken: list[str] = []
    for endpoint, own, own_weighted in zip(endpoints, plain, weighted, strict=True):
        if not endpoint.has_target:
            continue
        for told, kept, is_weighted in (
            (own, endpoint.metrics, False),
            (own_weighted, endpoint.weighted_metrics, True),
        ):
            for metric in told:
                made = _metric_of(metric, endpoint, is_weighted)
                name = f"{endpoint.name}_{made.name}" if len(names) > 1 else made.name
                unique, number = name, 1
                while unique in taken:
                    unique, number = f"{name}_{number}", number + 1
                taken.append(unique)
                vars(made).setdefault("_told_name", made.name)
                vars(made)["_name"] = unique
                kept.append(made)
                found.append(made)
    return found


def _metrics_by_output(metrics: Any, names: Sequence[str]) -> list[list[Any]]:
    if not metrics:
        return [[] for _ in names]
    if isinstance(metrics, Mapping):
        unknown = sorted(set(metrics) - set(names))
        if unknown:
            raise InvalidArgumentError(f"Unknown entries in metrics dictionary: {unknown}. Outputs: {list(names)}")
        return [_as_list(metrics.get(name)) for name in names]
    if isinstance(metrics, list | tuple):
        if any(isinstance(item, list | tuple) for item in metrics):
            if len(metrics) != len(names):
                raise InvalidArgumentError(
                    f"When passing a list of lists as `metrics`, it should have one entry per model output. The model "
                    f"has {len(names)} outputs, but you passed metrics={metrics}"
                )
            return [_as_list(item) for item in metrics]
        if len(names) == 1:
            return [list(metrics)]
        return [[_copy_of(item) for item in metrics] for _ in names]
    raise InvalidArgumentError(
        f"Type of `metrics` argument not understood. Expected a list or dictionary, found: {metrics}"
    )


def _as_list(item: Any) -> list[Any]:
    return [] if item is None else list(item) if isinstance(item, list | tuple) else [item]


def _copy_of(metric: Any) -> Any:
    if not isinstance(metric, Metric):
        return metric
    return type(metric).from_config({**metric.get_config(), "name": vars(metric).get("_told_name", metric.name)})


def copied_metrics(told: Any) -> Any:
    """Metrics as `compile` was told them, for another model: those that are objects are made anew."""
    if isinstance(told, Mapping):
        return {name: copied_metrics(item) for name, item in told.items()}
    return [copied_metrics(item) for item in told] if isinstance(told, list | tuple) else _copy_of(told)


def _metric_of(metric: Any, endpoint: Endpoint, is_weighted: bool) -> Metric:
    name = _metric_name(metric, is_weighted)
    found = by_name.metric_for_output(metric, endpoint.shape, endpoint.loss_fn)
    return found if isinstance(found, Metric) else MeanMetricWrapper(found, name=name)


def _metric_name(metric: Any, is_weighted: bool) -> str:
    """What logs call a metric: "acc" for "accuracy", as TensorFlow 1 does."""
    prefix = "weighted_" if is_weighted else ""
    short = {"accuracy": "acc", "acc": "acc", "crossentropy": "ce", "ce": "ce"}
    if isinstance(metric, str) and metric in short:
        return prefix + short[metric]
    found = by_name.get(metric)
    return prefix + str(found.name if hasattr(found, "name") else found.__name__)
