# Written by tools/write_stubs.py. Where the names are is said in tables.

from tensorkeep.v1.estimators import (
    BinaryClassHead as binary_classification_head, LogisticRegressionHead as logistic_regression_head,
    MultiClassHead as multi_class_head, MultiHead as multi_head, MultiLabelHead as multi_label_head,
    PoissonRegressionHead as poisson_regression_head, RegressionHead as regression_head,
)

__all__ = [
    "binary_classification_head", "logistic_regression_head", "multi_class_head", "multi_head", "multi_label_head",
    "poisson_regression_head", "regression_head",
]
