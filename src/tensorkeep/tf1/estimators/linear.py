"""Linear models on columns; variables are under "linear/linear_model/"."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tensorkeep.dtypes import FLOAT32, INT64
from tensorkeep.errors import InvalidArgumentError
from tensorkeep.graph.building import name_scope
from tensorkeep.graph.graph import Tensor
from tensorkeep.io.files.filesystem import PathLike
from tensorkeep.tf1.columns.linear_model import linear_model
from tensorkeep.tf1.estimators.classification import binary_or_multi_class_head
from tensorkeep.tf1.estimators.estimator import Estimator, WarmStartSettings
from tensorkeep.tf1.estimators.heads import FeatureColumns, Head, WeightColumn
from tensorkeep.tf1.estimators.model_specs import EstimatorSpec
from tensorkeep.tf1.estimators.networks import LARGE_SLICES, checked_features, whole_partitioner
from tensorkeep.tf1.estimators.optimizers import OptimizerLike, optimizer_of
from tensorkeep.tf1.estimators.regression import RegressionHead
from tensorkeep.tf1.estimators.run_config import RunConfig
from tensorkeep.tf1.functions.arrays.shapes import size
from tensorkeep.tf1.functions.data.summaries import histogram, scalar
from tensorkeep.tf1.functions.embedding.keys import is_embedding_variable
from tensorkeep.tf1.functions.nn.activations import zero_fraction
from tensorkeep.tf1.functions.nn.losses import Reduction
from tensorkeep.tf1.functions.numbers.elementwise import add_n, cast
from tensorkeep.tf1.variables.options import Partitioner
from tensorkeep.tf1.variables.scopes import variable_scope

_LEARNING_RATE = 0.2


def linear_logit_fn_builder(
    units: int, feature_columns: Sequence[Any], sparse_combiner: str = "sum"
) -> Callable[..., Tensor]:
    """A function of features that builds a linear model, reports on its weights, and gives its sums."""

    def linear_logit_fn(features: Mapping[str, Any]) -> Tensor:
        variables: dict[Any, list[Any]] = {}
        logits = linear_model(features, feature_columns, units, sparse_combiner, cols_to_vars=variables)
        bias = variables.pop("bias")
        if units > 1:
            histogram("bias", bias[0])
        else:
            scalar("bias", bias[0][0])
        weights = [weight for found in variables.values() for weight in found if not is_embedding_variable(weight)]
        if weights:
            scalar("fraction_of_zero_weights", fraction_of_zero(weights))
        return logits

    return linear_logit_fn


def fraction_of_zero(weights: Sequence[Any]) -> Tensor:
    """How much of some variables, together, is zero."""
    with name_scope("zero_fraction"):
        sizes = [cast(size(weight, out_type=INT64), FLOAT32) for weight in weights]
        zeros = [zero_fraction(weight) * count for weight, count in zip(weights, sizes, strict=True)]
        found: Tensor = add_n(zeros) / add_n(sizes)
        return found


class _Linear:
    """The model function of a linear model."""

    def __init__(
        self,
        head: Head,
        columns: FeatureColumns,
        optimizer: OptimizerLike,
        partitioner: Partitioner | None,
        combiner: str,
    ) -> None:
        if not columns:
            raise InvalidArgumentError("feature_columns must not be empty.")
        self._head, self._columns, self._optimizer = head, tuple(columns), optimizer
        self._partitioner, self._combiner = partitioner, combiner

    def __call__(self, features: Any, labels: Any, mode: str, config: RunConfig) -> EstimatorSpec:
        named = checked_features(features)
        partitioner = self._partitioner or whole_partitioner(LARGE_SLICES)
        with variable_scope("linear", values=list(named.values()), partitioner=partitioner):
            logits = linear_logit_fn_builder(self._head.logits_dimension, self._columns, self._combiner)(named)
            optimizer = optimizer_of(self._optimizer, _LEARNING_RATE)
            return self._head.create_estimator_spec(named, mode, logits, labels, optimizer)


class LinearClassifier(Estimator):
    """A linear model that classifies."""

    def __init__(
        self,
        feature_columns: FeatureColumns,
        model_dir: PathLike | None = None,
        n_classes: int = 2,
        weight_column: WeightColumn = None,
        label_vocabulary: Sequence[str] | None = None,
        optimizer: OptimizerLike = "Ftrl",
        config: RunConfig | None = None,
        partitioner: Partitioner | None = None,
        warm_start_from: PathLike | WarmStartSettings | None = None,
        loss_reduction: str = Reduction.SUM,
        sparse_combiner: str = "sum",
    ) -> None:
        head = binary_or_multi_class_head(n_classes, weight_column, label_vocabulary, loss_reduction)
        model = _Linear(head, feature_columns, optimizer, partitioner, sparse_combiner)
        super().__init__(model, model_dir, config, None, warm_start_from)


class LinearRegressor(Estimator):
    """A linear model that predicts numbers."""

    def __init__(
        self,
        feature_columns: FeatureColumns,
        model_dir: PathLike | None = None,
        label_dimension: int = 1,
        weight_column: WeightColumn = None,
        optimizer: OptimizerLike = "Ftrl",
        config: RunConfig | None = None,
        partitioner: Partitioner | None = None,
        warm_start_from: PathLike | WarmStartSettings | None = None,
        loss_reduction: str = Reduction.SUM,
        sparse_combiner: str = "sum",
    ) -> None:
        head = RegressionHead(label_dimension, weight_column, loss_reduction)
        model = _Linear(head, feature_columns, optimizer, partitioner, sparse_combiner)
        super().__init__(model, model_dir, config, None, warm_start_from)


class LinearEstimator(Estimator):
    """A linear model that ends in a head of the program's own."""

    def __init__(
        self,
        head: Head,
        feature_columns: FeatureColumns,
        model_dir: PathLike | None = None,
        optimizer: OptimizerLike = "Ftrl",
        config: RunConfig | None = None,
        partitioner: Partitioner | None = None,
        sparse_combiner: str = "sum",
        warm_start_from: PathLike | WarmStartSettings | None = None,
    ) -> None:
        model = _Linear(head, feature_columns, optimizer, partitioner, sparse_combiner)
        super().__init__(model, model_dir, config, None, warm_start_from)
