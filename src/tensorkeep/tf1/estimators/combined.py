"""A linear model and a network together: wide and deep. Their logits are added, and each has its optimizer."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from tensorkeep.errors import InvalidArgumentError
from tensorkeep.graph.building import control_dependencies, current_graph
from tensorkeep.graph.collections import GraphKeys, get_collection
from tensorkeep.graph.graph import Tensor
from tensorkeep.io.files.filesystem import PathLike
from tensorkeep.tf1.estimators.classification import binary_or_multi_class_head
from tensorkeep.tf1.estimators.estimator import Estimator, WarmStartSettings
from tensorkeep.tf1.estimators.heads import FeatureColumns, Head, WeightColumn
from tensorkeep.tf1.estimators.linear import linear_logit_fn_builder
from tensorkeep.tf1.estimators.model_specs import EstimatorSpec
from tensorkeep.tf1.estimators.networks import (
    LARGE_SLICES,
    Activation,
    add_layer_summaries,
    checked_features,
    dnn_logit_fn_builder,
    whole_partitioner,
)
from tensorkeep.tf1.estimators.optimizers import OptimizerLike, optimizer_of
from tensorkeep.tf1.estimators.regression import RegressionHead
from tensorkeep.tf1.estimators.run_config import RunConfig
from tensorkeep.tf1.functions.control.grouping import group
from tensorkeep.tf1.functions.nn.activations import relu
from tensorkeep.tf1.functions.nn.losses import Reduction
from tensorkeep.tf1.variables.assignments import assign_add
from tensorkeep.tf1.variables.global_step import get_global_step
from tensorkeep.tf1.variables.options import Partitioner
from tensorkeep.tf1.variables.scopes import variable_scope

_DNN_LEARNING_RATE: Final = 0.001
_LINEAR_LEARNING_RATE: Final = 0.005


class _Combined:
    """The model function of both; one of them may be missing."""

    def __init__(
        self,
        head: Head,
        linear_feature_columns: FeatureColumns | None,
        linear_optimizer: OptimizerLike,
        dnn_feature_columns: FeatureColumns | None,
        dnn_optimizer: OptimizerLike,
        dnn_hidden_units: Sequence[int] | None,
        dnn_activation_fn: Activation,
        dnn_dropout: float | None,
        input_layer_partitioner: Partitioner | None,
        batch_norm: bool,
        linear_sparse_combiner: str,
    ) -> None:
        self._head, self._partitioner = head, input_layer_partitioner or whole_partitioner(LARGE_SLICES)
        self._linear, self._dnn = tuple(linear_feature_columns or ()), tuple(dnn_feature_columns or ())
        if not self._linear and not self._dnn:
            raise InvalidArgumentError("Either linear_feature_columns or dnn_feature_columns must be defined.")
        if self._dnn and not dnn_hidden_units:
            raise InvalidArgumentError("dnn_hidden_units must be defined when dnn_feature_columns is specified.")
        self._optimizers = {"linear": linear_optimizer, "dnn": dnn_optimizer}
        self._hidden_units = list(dnn_hidden_units or ())
        self._activation_fn, self._dropout, self._batch_norm = dnn_activation_fn, dnn_dropout, batch_norm
        self._combiner = linear_sparse_combiner

    def __call__(self, features: Any, labels: Any, mode: str, config: RunConfig) -> EstimatorSpec:
        named = checked_features(features)
        scopes: dict[str, str] = {}
        logits = [part for part in (self._deep(named, mode, scopes), self._wide(named, scopes)) if part is not None]
        whole: Any = logits[0] if len(logits) == 1 else logits[0] + logits[1]
        step = self._step(scopes)
        return self._head.create_estimator_spec(named, mode, whole, labels, train_op_fn=step)

    def _deep(self, features: Mapping[str, Any], mode: str, scopes: dict[str, str]) -> Tensor | None:
        if not self._dnn:
            return None
        with variable_scope("dnn", values=list(features.values()), partitioner=whole_partitioner()) as scope:
            scopes["dnn"] = scope.name
            build = dnn_logit_fn_builder(
                self._head.logits_dimension,
                self._hidden_units,
                self._dnn,
                self._activation_fn,
                self._dropout,
                self._partitioner,
                self._batch_norm,
            )
            return build(features, mode)

    def _wide(self, features: Mapping[str, Any], scopes: dict[str, str]) -> Tensor | None:
        if not self._linear:
            return None
        with variable_scope("linear", values=list(features.values()), partitioner=self._partitioner) as scope:
            scopes["linear"] = scope.name
            logits = linear_logit_fn_builder(self._head.logits_dimension, self._linear, self._combiner)(features)
            add_layer_summaries(logits, scope.name)
            return logits

    def _step(self, scopes: Mapping[str, str]) -> Callable[[Tensor], Any]:
        """A step of both optimizers, each for the variables of its scope."""
        wide = min(_LINEAR_LEARNING_RATE, 1.0 / math.sqrt(len(self._linear))) if self._linear else 0.0
        rates = {"dnn": _DNN_LEARNING_RATE, "linear": wide}
        optimizers = {name: optimizer_of(self._optimizers[name], rates[name]) for name in scopes}

        def step(loss: Tensor) -> Any:
            steps = []
            for name, scope in scopes.items():
                variables = get_collection(current_graph(), GraphKeys.TRAINABLE_VARIABLES, scope)
                steps.append(optimizers[name].minimize(loss, var_list=variables))
            with control_dependencies([group(*steps)]):
                count: Any = get_global_step()
                counted: Any = assign_add(count, 1)
                return counted.op

        return step


class DNNLinearCombinedClassifier(Estimator):
    """A linear model and a network that classify together."""

    def __init__(
        self,
        model_dir: PathLike | None = None,
        linear_feature_columns: FeatureColumns | None = None,
        linear_optimizer: OptimizerLike = "Ftrl",
        dnn_feature_columns: FeatureColumns | None = None,
        dnn_optimizer: OptimizerLike = "Adagrad",
        dnn_hidden_units: Sequence[int] | None = None,
        dnn_activation_fn: Activation = relu,
        dnn_dropout: float | None = None,
        n_classes: int = 2,
        weight_column: WeightColumn = None,
        label_vocabulary: Sequence[str] | None = None,
        input_layer_partitioner: Partitioner | None = None,
        config: RunConfig | None = None,
        warm_start_from: PathLike | WarmStartSettings | None = None,
        loss_reduction: str = Reduction.SUM,
        batch_norm: bool = False,
        linear_sparse_combiner: str = "sum",
    ) -> None:
        head = binary_or_multi_class_head(n_classes, weight_column, label_vocabulary, loss_reduction)
        model = _Combined(
            head, linear_feature_columns, linear_optimizer, dnn_feature_columns, dnn_optimizer, dnn_hidden_units,
            dnn_activation_fn, dnn_dropout, input_layer_partitioner, batch_norm, linear_sparse_combiner,
        )  # fmt: skip
        super().__init__(model, model_dir, config, None, warm_start_from)


class DNNLinearCombinedRegressor(Estimator):
    """A linear model and a network that predict numbers together."""

    def __init__(
        self,
        model_dir: PathLike | None = None,
        linear_feature_columns: FeatureColumns | None = None,
        linear_optimizer: OptimizerLike = "Ftrl",
        dnn_feature_columns: FeatureColumns | None = None,
        dnn_optimizer: OptimizerLike = "Adagrad",
        dnn_hidden_units: Sequence[int] | None = None,
        dnn_activation_fn: Activation = relu,
        dnn_dropout: float | None = None,
        label_dimension: int = 1,
        weight_column: WeightColumn = None,
        input_layer_partitioner: Partitioner | None = None,
        config: RunConfig | None = None,
        warm_start_from: PathLike | WarmStartSettings | None = None,
        loss_reduction: str = Reduction.SUM,
        batch_norm: bool = False,
        linear_sparse_combiner: str = "sum",
    ) -> None:
        head = RegressionHead(label_dimension, weight_column, loss_reduction)
        model = _Combined(
            head, linear_feature_columns, linear_optimizer, dnn_feature_columns, dnn_optimizer, dnn_hidden_units,
            dnn_activation_fn, dnn_dropout, input_layer_partitioner, batch_norm, linear_sparse_combiner,
        )  # fmt: skip
        super().__init__(model, model_dir, config, None, warm_start_from)


class DNNLinearCombinedEstimator(Estimator):
    """Both, ending in a head of the program's own."""

    def __init__(
        self,
        head: Head,
        model_dir: PathLike | None = None,
        linear_feature_columns: FeatureColumns | None = None,
        linear_optimizer: OptimizerLike = "Ftrl",
        dnn_feature_columns: FeatureColumns | None = None,
        dnn_optimizer: OptimizerLike = "Adagrad",
        dnn_hidden_units: Sequence[int] | None = None,
        dnn_activation_fn: Activation = relu,
        dnn_dropout: float | None = None,
        input_layer_partitioner: Partitioner | None = None,
        config: RunConfig | None = None,
        batch_norm: bool = False,
        linear_sparse_combiner: str = "sum",
    ) -> None:
        model = _Combined(
            head, linear_feature_columns, linear_optimizer, dnn_feature_columns, dnn_optimizer, dnn_hidden_units,
            dnn_activation_fn, dnn_dropout, input_layer_partitioner, batch_norm, linear_sparse_combiner,
        )  # fmt: skip
        super().__init__(model, model_dir, config)
