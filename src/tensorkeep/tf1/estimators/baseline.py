"""Models that learn the mean of the labels, and look at no feature: what others should be better than."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from tensorkeep.graph.building import control_dependencies
from tensorkeep.io.files.filesystem import PathLike
from tensorkeep.tf1.columns.numeric import NumericColumn
from tensorkeep.tf1.estimators.classification import binary_or_multi_class_head
from tensorkeep.tf1.estimators.estimator import Estimator
from tensorkeep.tf1.estimators.heads import Head, WeightColumn
from tensorkeep.tf1.estimators.model_specs import EstimatorSpec
from tensorkeep.tf1.estimators.networks import checked_features
from tensorkeep.tf1.estimators.optimizers import OptimizerLike, optimizer_of
from tensorkeep.tf1.estimators.regression import RegressionHead
from tensorkeep.tf1.estimators.run_config import RunConfig
from tensorkeep.tf1.functions.arrays.shapes import ones, stack
from tensorkeep.tf1.functions.arrays.shapes import shape as shape_of
from tensorkeep.tf1.functions.control.assertions import assert_equal
from tensorkeep.tf1.functions.nn.losses import Reduction
from tensorkeep.tf1.functions.numbers.elementwise import multiply
from tensorkeep.tf1.variables.initializers import Zeros
from tensorkeep.tf1.variables.scopes import get_variable, variable_scope

_LEARNING_RATE: Final = 0.3


class _Baseline:
    """The model function: a bias for each example."""

    def __init__(self, head: Head, optimizer: OptimizerLike, weight_column: WeightColumn = None) -> None:
        self._head, self._optimizer = head, optimizer
        self._weights = weight_column.key if isinstance(weight_column, NumericColumn) else weight_column

    def __call__(self, features: Any, labels: Any, mode: str, config: RunConfig) -> EstimatorSpec:
        named = checked_features(features)
        sizes = [shape_of(value)[0] for name, value in named.items() if name != self._weights]
        checks = [assert_equal(sizes[0], other) for other in sizes[1:]]
        with control_dependencies(checks), variable_scope("baseline"):
            units = self._head.logits_dimension
            bias: Any = get_variable("bias", shape=[units], initializer=Zeros())
            logits = multiply(bias, ones(stack([sizes[0], units])))
        optimizer = optimizer_of(self._optimizer, _LEARNING_RATE)
        return self._head.create_estimator_spec(named, mode, logits, labels, optimizer)


class BaselineClassifier(Estimator):
    """Predicts how often each class is."""

    def __init__(
        self,
        model_dir: PathLike | None = None,
        n_classes: int = 2,
        weight_column: WeightColumn = None,
        label_vocabulary: Sequence[str] | None = None,
        optimizer: OptimizerLike = "Ftrl",
        config: RunConfig | None = None,
        loss_reduction: str = Reduction.SUM,
    ) -> None:
        head = binary_or_multi_class_head(n_classes, weight_column, label_vocabulary, loss_reduction)
        super().__init__(_Baseline(head, optimizer, weight_column), model_dir, config)


class BaselineRegressor(Estimator):
    """Predicts the mean of the labels."""

    def __init__(
        self,
        model_dir: PathLike | None = None,
        label_dimension: int = 1,
        weight_column: WeightColumn = None,
        optimizer: OptimizerLike = "Ftrl",
        config: RunConfig | None = None,
        loss_reduction: str = Reduction.SUM,
    ) -> None:
        head = RegressionHead(label_dimension, weight_column, loss_reduction)
        super().__init__(_Baseline(head, optimizer, weight_column), model_dir, config)


class BaselineEstimator(Estimator):
    """The same, with a head of the program's own."""

    def __init__(
        self,
        head: Head,
        model_dir: PathLike | None = None,
        optimizer: OptimizerLike = "Ftrl",
        config: RunConfig | None = None,
    ) -> None:
        super().__init__(_Baseline(head, optimizer), model_dir, config)
