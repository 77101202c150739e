"""Networks of dense layers on columns: classifiers, regressors, and with a head of one's own.

Variables are those of TensorFlow 1: "dnn/input_from_feature_columns/input_layer/COLUMN/embedding_weights",
"dnn/hiddenlayer_0/kernel", "dnn/logits/kernel".
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from tensorkeep.errors import InvalidArgumentError
from tensorkeep.graph.graph import Tensor
from tensorkeep.io.files.filesystem import PathLike
from tensorkeep.tf1.columns.dense_layers import DenseFeatures
from tensorkeep.tf1.columns.input_layer import layer_of_columns
from tensorkeep.tf1.columns.shared import SharedEmbeddingColumn
from tensorkeep.tf1.estimators.classification import binary_or_multi_class_head
from tensorkeep.tf1.estimators.estimator import Estimator, WarmStartSettings
from tensorkeep.tf1.estimators.heads import FeatureColumns, Head, WeightColumn
from tensorkeep.tf1.estimators.keys import ModeKeys
from tensorkeep.tf1.estimators.model_specs import EstimatorSpec
from tensorkeep.tf1.estimators.optimizers import OptimizerLike, optimizer_of
from tensorkeep.tf1.estimators.regression import RegressionHead
from tensorkeep.tf1.estimators.run_config import RunConfig
from tensorkeep.tf1.functions.data.summaries import histogram, scalar
from tensorkeep.tf1.functions.nn.activations import relu, zero_fraction
from tensorkeep.tf1.functions.nn.losses import Reduction
from tensorkeep.tf1.layers.core import dense
from tensorkeep.tf1.layers.core import dropout as dropped
from tensorkeep.tf1.layers.normalization import batch_normalization
from tensorkeep.tf1.variables.initializers import GlorotUniform
from tensorkeep.tf1.variables.options import Partitioner
from tensorkeep.tf1.variables.partitioners import min_max_variable_partitioner
from tensorkeep.tf1.variables.scopes import variable_scope

_LEARNING_RATE: Final = 0.05

Activation = Callable[..., Tensor]


def whole_partitioner(smallest: int = 256 << 10) -> Partitioner:
    """Cuts a variable into one part, as TensorFlow's canned models do in one process.

    What is saved of an optimizer's slots is called after that: "dnn/hiddenlayer_0/kernel/t_0/Adagrad".
    """
    return min_max_variable_partitioner(max_partitions=0, min_slice_size=smallest)


LARGE_SLICES: Final = 64 << 20
"""The smallest part of a table of rows, in bytes."""


def checked_features(features: object) -> Mapping[str, Any]:
    """Features, if they are by name."""
    if not isinstance(features, Mapping):
        raise InvalidArgumentError(f"features should be a dictionary of `Tensor`s. Given type: {type(features)}")
    return features


def add_layer_summaries(value: Tensor, tag: str) -> None:
    """Reports how much of a layer is zero, and how its numbers are spread."""
    scalar(f"{tag}/fraction_of_zero_values", zero_fraction(value))
    histogram(f"{tag}/activation", value)


def dnn_logit_fn_builder(
    units: int,
    hidden_units: Sequence[int],
    feature_columns: Sequence[Any],
    activation_fn: Activation,
    dropout: float | None,
    input_layer_partitioner: Partitioner | None,
    batch_norm: bool,
) -> Callable[..., Tensor]:
    """A function of features and mode that builds a network, and gives its last numbers."""
    if not isinstance(units, int):
        raise InvalidArgumentError(f"units must be an int.  Given type: {type(units)}")

    def dnn_logit_fn(features: Mapping[str, Any], mode: str) -> Tensor:
        is_training = mode == ModeKeys.TRAIN
        partitioner = input_layer_partitioner or whole_partitioner(LARGE_SLICES)
        with variable_scope("input_from_feature_columns", partitioner=partitioner):
            net = _input_of(features, feature_columns)
        for number, width in enumerate(hidden_units):
            with variable_scope(f"hiddenlayer_{number}") as scope:
                net = dense(net, width, activation_fn, kernel_initializer=GlorotUniform(), name=scope)
                if dropout is not None and is_training:
                    net = dropped(net, rate=dropout, training=True)
                if batch_norm:
                    net = batch_normalization(net, momentum=0.999, training=is_training, name=f"batchnorm_{number}")
            add_layer_summaries(net, scope.name)
        with variable_scope("logits") as scope:
            logits: Tensor = dense(net, units, None, kernel_initializer=GlorotUniform(), name=scope)
        add_layer_summaries(logits, scope.name)
        return logits

    return dnn_logit_fn


def _input_of(features: Mapping[str, Any], columns: Sequence[Any]) -> Tensor:
    """The first layer. Columns that share a table by a collection of the graph are of TensorFlow's older layer."""
    if any(isinstance(column, SharedEmbeddingColumn) for column in columns):
        with variable_scope("input_layer", values=list(features.values())):
            return layer_of_columns(features, columns)
    found: Tensor = DenseFeatures(columns, name="input_layer")(features)
    return found


class _Network:
    """The model function of a network."""

    def __init__(self, head: Head, optimizer: OptimizerLike, **options: Any) -> None:
        self._head, self._optimizer, self._options = head, optimizer, options

    def __call__(self, features: Any, labels: Any, mode: str, config: RunConfig) -> EstimatorSpec:
        named = checked_features(features)
        optimizer = optimizer_of(self._optimizer, _LEARNING_RATE)
        with variable_scope("dnn", values=list(named.values()), partitioner=whole_partitioner()):
            logits = dnn_logit_fn_builder(self._head.logits_dimension, **self._options)(named, mode)
            return self._head.create_estimator_spec(named, mode, logits, labels, optimizer)


def _options(
    hidden_units: Sequence[int],
    feature_columns: FeatureColumns,
    activation_fn: Activation,
    dropout: float | None,
    partitioner: Partitioner | None,
    batch_norm: bool,
) -> dict[str, Any]:
    return {
        "hidden_units": list(hidden_units),
        "feature_columns": tuple(feature_columns or ()),
        "activation_fn": activation_fn,
        "dropout": dropout,
        "input_layer_partitioner": partitioner,
        "batch_norm": batch_norm,
    }


class DNNClassifier(Estimator):
    """A network that classifies."""

    def __init__(
        self,
        hidden_units: Sequence[int],
        feature_columns: FeatureColumns,
        model_dir: PathLike | None = None,
        n_classes: int = 2,
        weight_column: WeightColumn = None,
        label_vocabulary: Sequence[str] | None = None,
        optimizer: OptimizerLike = "Adagrad",
        activation_fn: Activation = relu,
        dropout: float | None = None,
        input_layer_partitioner: Partitioner | None = None,
        config: RunConfig | None = None,
        warm_start_from: PathLike | WarmStartSettings | None = None,
        loss_reduction: str = Reduction.SUM,
        batch_norm: bool = False,
    ) -> None:
        head = binary_or_multi_class_head(n_classes, weight_column, label_vocabulary, loss_reduction)
        options = _options(hidden_units, feature_columns, activation_fn, dropout, input_layer_partitioner, batch_norm)
        super().__init__(_Network(head, optimizer, **options), model_dir, config, None, warm_start_from)


class DNNRegressor(Estimator):
    """A network that predicts numbers."""

    def __init__(
        self,
        hidden_units: Sequence[int],
        feature_columns: FeatureColumns,
        model_dir: PathLike | None = None,
        label_dimension: int = 1,
        weight_column: WeightColumn = None,
        optimizer: OptimizerLike = "Adagrad",
        activation_fn: Activation = relu,
        dropout: float | None = None,
        input_layer_partitioner: Partitioner | None = None,
        config: RunConfig | None = None,
        warm_start_from: PathLike | WarmStartSettings | None = None,
        loss_reduction: str = Reduction.SUM,
        batch_norm: bool = False,
    ) -> None:
        head = RegressionHead(label_dimension, weight_column, loss_reduction)
        options = _options(hidden_units, feature_columns, activation_fn, dropout, input_layer_partitioner, batch_norm)
        super().__init__(_Network(head, optimizer, **options), model_dir, config, None, warm_start_from)


class DNNEstimator(Estimator):
    """A network that ends in a head of the program's own."""

    def __init__(
        self,
        head: Head,
        hidden_units: Sequence[int],
        feature_columns: FeatureColumns,
        model_dir: PathLike | None = None,
        optimizer: OptimizerLike = "Adagrad",
        activation_fn: Activation = relu,
        dropout: float | None = None,
        input_layer_partitioner: Partitioner | None = None,
        config: RunConfig | None = None,
        warm_start_from: PathLike | WarmStartSettings | None = None,
        batch_norm: bool = False,
    ) -> None:
        options = _options(hidden_units, feature_columns, activation_fn, dropout, input_layer_partitioner, batch_norm)
        super().__init__(_Network(head, optimizer, **options), model_dir, config, None, warm_start_from)
