"""How to parse the examples of a classifier or regressor: features of columns, labels and weights."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from tensorkeep.dtypes import FLOAT32, INT64, DType
from tensorkeep.errors import InvalidArgumentError
from tensorkeep.graph.arguments import DTypeLike, TensorLike
from tensorkeep.tf1.columns.column import FeatureColumn, make_parse_example_spec
from tensorkeep.tf1.columns.numeric import NumericColumn, numeric_column
from tensorkeep.tf1.estimators.heads import WeightColumn
from tensorkeep.tf1.functions.parsing.feature_configs import FixedLenFeature


def classifier_parse_example_spec(
    feature_columns: Iterable[FeatureColumn],
    label_key: str,
    label_dtype: DTypeLike = INT64,
    label_default: TensorLike | None = None,
    weight_column: WeightColumn = None,
) -> dict[str, Any]:
    """What `tf.parse_example` has to be told for a classifier: a label for each example."""
    label = FixedLenFeature((1,), DType.of(label_dtype), label_default)
    return _with_label_and_weight(make_parse_example_spec(feature_columns), label_key, label, weight_column)


def regressor_parse_example_spec(
    feature_columns: Iterable[FeatureColumn],
    label_key: str,
    label_dtype: DTypeLike = FLOAT32,
    label_default: TensorLike | None = None,
    label_dimension: int = 1,
    weight_column: WeightColumn = None,
) -> dict[str, Any]:
    """The same for a regressor: `label_dimension` numbers for each example."""
    label = FixedLenFeature((label_dimension,), DType.of(label_dtype), label_default)
    return _with_label_and_weight(make_parse_example_spec(feature_columns), label_key, label, weight_column)


def _with_label_and_weight(
    spec: dict[str, Any], label_key: str, label: FixedLenFeature, weight_column: WeightColumn
) -> dict[str, Any]:
    if label_key in spec:
        raise InvalidArgumentError(
            f"label should not be used as feature. label_key: {label_key}, features: {sorted(spec)}"
        )
    found = {**spec, label_key: label}
    if weight_column is None:
        return found
    column = numeric_column(weight_column) if isinstance(weight_column, str) else weight_column
    if not isinstance(column, NumericColumn):
        raise InvalidArgumentError(
            "weight_column should be an instance of tf.feature_column.numeric_column. Given type: "
            f"{type(column)} value: {column}"
        )
    if column.key in found:
        raise InvalidArgumentError(
            f"weight_column should not be used as feature. weight_column: {column.key}, features: {sorted(found)}"
        )
    return {**found, **column.parse_example_spec}
