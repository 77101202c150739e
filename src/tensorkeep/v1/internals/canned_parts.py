"""What `estimator.canned` has for estimators of a program's own: heads, whose losses are sums, and other parts.

The public heads of later versions, `tf.estimator.BinaryClassHead` and its like, take means. The functions of
TensorFlow 1 have names that begin with an underscore, and programs use them all the same.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, Final

from tensorkeep.tf1.estimators.classification import BinaryClassHead, MultiClassHead, MultiLabelHead
from tensorkeep.tf1.estimators.heads import Head, LossFunction, WeightColumn
from tensorkeep.tf1.estimators.regression import PoissonRegressionHead, RegressionHead
from tensorkeep.tf1.functions.nn.losses import Reduction

_SUM: Final = Reduction.SUM
_MOST_LINEAR_RATE: Final = 0.005


def binary_logistic_head(
    weight_column: WeightColumn = None,
    thresholds: Sequence[float] | None = None,
    label_vocabulary: Sequence[str] | None = None,
    loss_reduction: str = _SUM,
    loss_fn: LossFunction | None = None,
    name: str | None = None,
) -> Head:
    """The head of a classifier of two classes."""
    return BinaryClassHead(weight_column, thresholds, label_vocabulary, loss_reduction, loss_fn, name)


def multi_class_head(
    n_classes: int,
    weight_column: WeightColumn = None,
    label_vocabulary: Sequence[str] | None = None,
    loss_reduction: str = _SUM,
    loss_fn: LossFunction | None = None,
    name: str | None = None,
) -> Head:
    """The head of a classifier of more than two classes."""
    return MultiClassHead(n_classes, weight_column, label_vocabulary, loss_reduction, loss_fn, name)


def binary_or_multi_class_head(
    n_classes: int,
    weight_column: WeightColumn,
    label_vocabulary: Sequence[str] | None,
    loss_reduction: str,
    loss_fn: LossFunction | None = None,
) -> Head:
    """The head of a classifier of so many classes."""
    if n_classes == 2:
        return binary_logistic_head(weight_column, None, label_vocabulary, loss_reduction, loss_fn)
    return multi_class_head(n_classes, weight_column, label_vocabulary, loss_reduction, loss_fn)


def multi_label_head(
    n_classes: int,
    weight_column: WeightColumn = None,
    thresholds: Sequence[float] | None = None,
    label_vocabulary: Sequence[str] | None = None,
    loss_reduction: str = _SUM,
    loss_fn: LossFunction | None = None,
    name: str | None = None,
) -> Head:
    """The head of a classifier of several classes at once."""
    return MultiLabelHead(n_classes, weight_column, thresholds, label_vocabulary, loss_reduction, loss_fn, name)


def regression_head(
    weight_column: WeightColumn = None,
    label_dimension: int = 1,
    loss_reduction: str = _SUM,
    loss_fn: LossFunction | None = None,
    inverse_link_fn: Callable[[Any], Any] | None = None,
    name: str | None = None,
) -> Head:
    """The head of a regression, whose arguments stand in another order than those of the public one."""
    return RegressionHead(label_dimension, weight_column, loss_reduction, loss_fn, inverse_link_fn, name)


def poisson_regression_head(
    weight_column: WeightColumn = None,
    label_dimension: int = 1,
    loss_reduction: str = _SUM,
    compute_full_loss: bool = True,
    name: str | None = None,
) -> Head:
    """The head of a regression of counts."""
    return PoissonRegressionHead(label_dimension, weight_column, loss_reduction, compute_full_loss, name)


def summary_key(head_name: str | None, key: str) -> str:
    """What a metric is called for a head."""
    return f"{key}/{head_name}" if head_name else key


def linear_learning_rate(num_linear_feature_columns: int) -> float:
    """The learning rate of the linear part of a model that also has a deep one."""
    return min(_MOST_LINEAR_RATE, 1.0 / math.sqrt(num_linear_feature_columns))
