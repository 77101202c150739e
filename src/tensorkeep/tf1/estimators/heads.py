"""What all heads do: a head makes predictions, losses, metrics and a training step of a model's last numbers.

Losses are as TensorFlow 1.15's heads compute them. What a head reports is called by its name where it has one:
"loss/NAME".
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeAlias

from tensorkeep.dtypes import FLOAT32, STRING
from tensorkeep.errors import InvalidArgumentError, WrongTypeError
from tensorkeep.graph.arguments import TensorLike
from tensorkeep.graph.building import control_dependencies, current_graph, name_scope
from tensorkeep.graph.collections import GraphKeys, get_collection
from tensorkeep.graph.composites import SparseTensor
from tensorkeep.graph.conversion import convert
from tensorkeep.graph.graph import Tensor
from tensorkeep.tf1.columns.column import DenseColumn, FeatureColumn, Features
from tensorkeep.tf1.columns.numeric import numeric_column
from tensorkeep.tf1.columns.state import ScopeState
from tensorkeep.tf1.estimators.export_outputs import ExportOutput
from tensorkeep.tf1.estimators.keys import MetricKeys, ModeKeys
from tensorkeep.tf1.estimators.model_specs import EstimatorSpec
from tensorkeep.tf1.functions.arrays.shapes import concat, expand_dims, identity, ones_like
from tensorkeep.tf1.functions.arrays.shapes import shape as shape_of
from tensorkeep.tf1.functions.control.assertions import (
    assert_equal,
    assert_less_equal,
    assert_non_negative,
    assert_rank_at_least,
)
from tensorkeep.tf1.functions.control.grouping import group
from tensorkeep.tf1.functions.data.lookup_tables import index_table_from_tensor
from tensorkeep.tf1.functions.data.summaries import scalar
from tensorkeep.tf1.functions.nn.losses import Reduction, compute_weighted_loss
from tensorkeep.tf1.functions.numbers.elementwise import add_n, cast
from tensorkeep.tf1.functions.numbers.reductions import reduce_sum
from tensorkeep.tf1.training.metrics.means import mean
from tensorkeep.tf1.variables.global_step import get_global_step

if TYPE_CHECKING:
    from tensorkeep.tf1.training.optimizers.base import Optimizer, Update

_REDUCTIONS: Final = {"sum": Reduction.SUM, "sum_over_batch_size": Reduction.SUM_OVER_BATCH_SIZE}
"""What Keras calls reductions that `tf.losses` has too."""

LossFunction = Callable[..., Tensor]
WeightColumn: TypeAlias = "str | DenseColumn | None"
"""The feature that says how much each example counts, by name or as a column."""
FeatureColumns: TypeAlias = Collection[FeatureColumn]
LabelsLike: TypeAlias = "TensorLike | SparseTensor | Mapping[str, LabelsLike] | None"
"""Labels; by the name of the head where there are several."""


class LossSpec(NamedTuple):
    """The loss of a batch, that of each example, their weights, and the labels as the loss took them."""

    training_loss: Tensor
    unreduced_loss: Tensor
    weights: Tensor | float
    processed_labels: Tensor


class Head:
    """What is made of a model's last numbers, its logits."""

    def __init__(
        self,
        weight_column: WeightColumn = None,
        loss_reduction: str = Reduction.SUM_OVER_BATCH_SIZE,
        loss_fn: LossFunction | None = None,
        name: str | None = None,
    ) -> None:
        reduction = _REDUCTIONS.get(loss_reduction, loss_reduction)
        if reduction not in Reduction.all() or reduction == Reduction.NONE:
            raise InvalidArgumentError(f"Invalid loss_reduction: {loss_reduction}")
        self._weight_column = weight_column
        self._reduction = reduction
        self._loss_fn = loss_fn
        self._name = name

    @property
    def name(self) -> str | None:
        return self._name

    @property
    def loss_reduction(self) -> str:
        return self._reduction

    @property
    def logits_dimension(self) -> int:
        """How many numbers the head takes of each example."""
        raise NotImplementedError

    def predictions(self, logits: Tensor, keys: Sequence[str] | None = None) -> dict[str, Tensor]:
        """What the head predicts, by name; of the given names only, if there are any."""
        found = self._predictions(checked_logits(logits, self.logits_dimension))
        return found if keys is None else {key: found[key] for key in keys}

    def loss(
        self,
        labels: TensorLike,
        logits: Tensor,
        features: Mapping[str, Any] | None = None,
        mode: str | None = None,
        regularization_losses: Sequence[Tensor] | None = None,
    ) -> Tensor:
        """The loss of a batch, with the losses of regularization."""
        training = self.create_loss(features or {}, mode, logits, labels).training_loss
        return add_n([training, *regularization_losses]) if regularization_losses else training

    # ------------------------------------------------------------------------------------------ for each kind

    def _predictions(self, logits: Tensor) -> dict[str, Tensor]:
        raise NotImplementedError

    def _labels(self, labels: Any, logits: Tensor) -> Tensor:
        """Labels as the loss takes them."""
        raise NotImplementedError

    def _losses(self, labels: Tensor, logits: Tensor) -> Tensor:
        """The loss of each example, [batch, 1] or [batch, dimension]."""
        raise NotImplementedError

    def _metrics(self, spec: LossSpec, predictions: Mapping[str, Tensor]) -> dict[str, Any]:
        """Metrics by name, without the average loss and that of regularization."""
        raise NotImplementedError

    def _outputs(self, predictions: Mapping[str, Tensor]) -> dict[str, ExportOutput]:
        raise NotImplementedError

    _per_logit_weights = False

    # ------------------------------------------------------------------------------------------ losses

    def create_loss(
        self, features: Mapping[str, Any], mode: str | None, logits: Tensor, labels: LabelsLike
    ) -> LossSpec:
        """The loss of a batch and its parts."""
        logits = convert(logits)
        processed = self._labels(labels, logits)
        if self._loss_fn is None:
            unreduced = self._losses(processed, logits)
        else:
            unreduced = called_loss(self._loss_fn, processed, logits, features)
        weights = checked_weights(features, self._weight_column, logits, self._per_logit_weights)
        training = compute_weighted_loss(unreduced, weights=weights, reduction=self._reduction)
        return LossSpec(training, unreduced, weights, processed)

    def create_estimator_spec(
        self,
        features: Mapping[str, Any],
        mode: str,
        logits: Tensor,
        labels: LabelsLike = None,
        optimizer: Optimizer | None = None,
        trainable_variables: Sequence[Any] | None = None,
        train_op_fn: Callable[[Tensor], Any] | None = None,
        update_ops: Sequence[Any] | None = None,
        regularization_losses: Sequence[Tensor] | None = None,
    ) -> EstimatorSpec:
        """What a model function returns for a model that ends in this head."""
        with name_scope(self._name or "head"):
            logits = checked_logits(logits, self.logits_dimension)
            predictions = self._predictions(logits)
            if mode == ModeKeys.PREDICT:
                return EstimatorSpec(mode, predictions=predictions, export_outputs=self._outputs(predictions))
            spec = self.create_loss(features, mode, logits, labels)
            extra = add_n(list(regularization_losses)) if regularization_losses else None
            loss = spec.training_loss if extra is None else add_n([spec.training_loss, extra])
            if mode == ModeKeys.EVAL:
                with name_scope("metrics"):
                    metrics = self._all_metrics(spec, predictions, extra)
                return EstimatorSpec(mode, predictions=predictions, loss=loss, eval_metric_ops=metrics)
            train_op = training_step(loss, optimizer, train_op_fn, trainable_variables, update_ops)
            average = self._average(spec)
        with name_scope(""):
            self._summarize(loss, average, extra)
        return EstimatorSpec(mode, predictions=predictions, loss=loss, train_op=train_op)

    def _average(self, spec: LossSpec) -> Tensor | None:
        """The mean of the losses of a batch, where they are summed."""
        if self._reduction != Reduction.SUM:
            return None
        total = reduce_sum(spec.weights * ones_like(spec.unreduced_loss))
        found: Tensor = spec.training_loss / total
        return found

    def _summarize(self, loss: Tensor, average: Tensor | None, regularization: Tensor | None) -> None:
        scalar(self.key(MetricKeys.LOSS), loss)
        if average is not None:
            scalar(self.key(MetricKeys.LOSS_MEAN), average)
        if regularization is not None:
            scalar(self.key(MetricKeys.LOSS_REGULARIZATION), regularization)

    def _all_metrics(
        self, spec: LossSpec, predictions: Mapping[str, Tensor], regularization: Tensor | None
    ) -> dict[str, Any]:
        found = {
            MetricKeys.LOSS_MEAN: mean(spec.unreduced_loss, spec.weights, name=MetricKeys.LOSS_MEAN),
            **self._metrics(spec, predictions),
        }
        if regularization is not None:
            found[MetricKeys.LOSS_REGULARIZATION] = mean(regularization, name=MetricKeys.LOSS_REGULARIZATION)
        return {self.key(name): value for name, value in found.items()}

    def key(self, name: str) -> str:
        """What a metric or summary is called for this head."""
        return f"{name}/{self._name}" if self._name else name


# ---------------------------------------------------------------------------------------------------- Training


def training_step(
    loss: Tensor,
    optimizer: Optimizer | None,
    train_op_fn: Callable[[Tensor], Any] | None,
    variables: Sequence[Any] | None = None,
    update_ops: Sequence[Any] | None = None,
) -> Update:
    """A step of an optimizer, or what a function makes of the loss; and what has to be updated with it."""
    if (optimizer is None) == (train_op_fn is None):
        word = "None" if optimizer is None else "set"
        raise InvalidArgumentError(f"train_op_fn and optimizer cannot both be {word}.")
    if train_op_fn is not None:
        train_op = train_op_fn(loss)
    else:
        assert optimizer is not None
        train_op = optimizer.minimize(loss, global_step=get_global_step(), var_list=variables)
    updates = get_collection(current_graph(), GraphKeys.UPDATE_OPS) if update_ops is None else list(update_ops)
    return group(train_op, *updates) if updates else train_op


# ---------------------------------------------------------------------------------------------------- Checks


def checked_logits(logits: TensorLike, dimension: int) -> Tensor:
    """Logits as floats, whose last dimension is as long as it should be."""
    with name_scope("logits") as scope:
        found: Tensor = cast(logits, FLOAT32)
        sizes = shape_of(found)
        said = f"logits shape must be [D0, D1, ... DN, logits_dimension={dimension}]"
        with control_dependencies([assert_rank_at_least(found, 2, data=[sizes], message=said)]):
            dims = found.static_shape.dims
            if dims is not None and dims[-1] is not None:
                if dims[-1] != dimension:
                    raise InvalidArgumentError(f"{said}, got {found.shape}.")
                return found
            with control_dependencies([assert_equal(dimension, sizes[-1], data=[sizes], message=said)]):
                return identity(found, name=scope)


def checked_labels(labels: TensorLike, logits: Tensor, dimension: int) -> Tensor:
    """Labels as [batch, dimension]; a dimension of one may be missing."""
    if labels is None:
        raise InvalidArgumentError(
            "You must provide a labels Tensor. Given: None. Suggested troubleshooting steps: Check that your data "
            "contain your label feature. Check that your input_fn properly parses and returns labels."
        )
    with name_scope("labels") as scope:
        if isinstance(labels, SparseTensor):
            raise InvalidArgumentError(
                "SparseTensor labels are not supported. labels must be a Tensor of shape [D0, D1, ..., DN, "
                f"{dimension}]. Suggested Fix: in your input_fn, use tf.sparse_tensor_to_dense() to turn labels into a "
                "Tensor."
            )
        found = convert(labels)
        known, wanted = found.static_shape.rank, logits.static_shape.rank
        if known is not None and wanted is not None and known == wanted - 1:
            found = expand_dims(found, -1)
        said = (
            f"labels shape must be [D0, D1, ... DN, {dimension}]. Suggested Fix: check your n_classes argument to the "
            "estimator and/or the shape of your label."
        )
        with control_dependencies([assert_rank_at_least(found, 2, message=said)]):
            dims = found.static_shape.dims
            if dims is not None and dims[-1] is not None and dims[-1] != dimension:
                raise InvalidArgumentError(
                    f"Mismatched label shape. Expected labels dimension={dimension}.  Received {dims[-1]}. {said}"
                )
            expected = concat([shape_of(logits)[:-1], [dimension]], axis=0)
            with control_dependencies([assert_equal(expected, shape_of(found), message=said)]):
                return identity(found, name=scope)


def checked_range(labels: Tensor, n_classes: int) -> Tensor:
    """Labels, if all are numbers of classes when they are run."""
    with name_scope("assert_range"):
        most = convert(n_classes - 1, labels.dtype.base_dtype)
        checks = (
            assert_less_equal(labels, most, message="Labels must be <= n_classes - 1"),
            assert_non_negative(labels, message="Labels must be >= 0"),
        )
        with control_dependencies(checks):
            return identity(labels)


def checked_weights(
    features: Mapping[str, Any], column: WeightColumn, logits: Tensor, per_logit: bool
) -> Tensor | float:
    """The weights of examples: 1, or what a numeric column or a feature says, as [batch, 1]."""
    if column is None:
        return 1.0
    with name_scope("weights") as scope:
        if isinstance(column, str):
            column = numeric_column(column, shape=(1,))
        if not isinstance(column, DenseColumn):
            raise WrongTypeError(f"Weight column must be either a string or DenseColumn. Given type: {type(column)}.")
        weights = cast(column.dense(Features(features, ScopeState((), trainable=False))), FLOAT32, name="weights")
        sizes, wanted = shape_of(weights), shape_of(logits)
        if per_logit and weights.static_shape.dims and weights.static_shape.dims[-1] != 1:
            expected = wanted
        else:
            expected = concat([wanted[:-1], [1]], axis=0)
        said = "weights shape must be [D0, D1, ... DN] or [D0, D1, ... DN, 1]"
        with control_dependencies([assert_equal(expected, sizes, message=said)]):
            return identity(weights, name=scope)


def called_loss(loss_fn: LossFunction, labels: Tensor, logits: Tensor, features: Mapping[str, Any]) -> Tensor:
    """What a program's own loss function gives: a loss for each example."""
    with name_scope("call_loss_fn"):
        takes = loss_fn.__code__.co_varnames[: loss_fn.__code__.co_argcount] if hasattr(loss_fn, "__code__") else ()
        more = {"features": features} if "features" in takes else {}
        found = convert(loss_fn(labels=labels, logits=logits, **more))
        said = "loss_fn must return Tensor of shape [D0, D1, ... DN, 1]."
        with control_dependencies([assert_equal(shape_of(found)[:-1], shape_of(logits)[:-1], message=said)]):
            return identity(found)


def label_ids(labels: Tensor, vocabulary: Sequence[str] | None) -> Tensor:
    """Labels as numbers of classes: as they are, or looked up in a vocabulary."""
    if vocabulary is None:
        if not labels.dtype.base_dtype.is_integer:
            raise InvalidArgumentError(f"Labels dtype should be integer. Instead got {labels.dtype.name}.")
        return labels
    if labels.dtype.base_dtype is not STRING:
        raise InvalidArgumentError(
            f"Labels dtype should be string if there is a vocabulary. Instead got {labels.dtype.name}"
        )
    table: Any = index_table_from_tensor(list(vocabulary), name="class_id_lookup")
    found: Tensor = table.lookup(labels)
    return found


def checked_vocabulary(vocabulary: Sequence[str] | None) -> list[str] | None:
    """A vocabulary as a list, which it must be, or a tuple."""
    if vocabulary is None:
        return None
    if not isinstance(vocabulary, list | tuple):
        raise WrongTypeError(f"label_vocabulary should be a list or tuple. Given type: {type(vocabulary)}")
    return list(vocabulary)
